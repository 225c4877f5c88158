"""Constants of tuning have a home: block sizes that follow from caches in kernels/blocks.h, prefetch distances in
kernels/prefetch.h, what is concluded from a machine in core/machine.h. No kernel asks an instruction set what machine it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HOME = Path(__file__).parent.parent / "runtime_c"
TABLES = {"blocks.h", "blocks.c", "prefetch.h", "variant.h"}
"""Of kernels/: what the others may not have."""

NAME = re.compile(
    r"^(?:PTE_)?(?:\w+_)?(?:AHEAD|ALIAS|ALIKE|BAND|FAR|NEAR|PREFETCH\w*|(?:BLOCK|BAND|CACHE|FEW|L[123]|PACKED|TURN)_(?:BYTES|FLOATS|WORDS|ELEMENTS))(?:_\d+)?$"
)
CACHE = 64 << 10
"""A number so large, or larger, in a name of bytes, floats or words is one of a cache."""


def sources() -> list[Path]:
    found = [p for p in (HOME / "kernels").rglob("*") if p.suffix in (".c", ".h", ".inc")]
    return sorted(p for p in found if p.name not in TABLES)


def code(path: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)


def constants(text: str) -> list[tuple[str, str]]:
    """Names of enumerators and macros without arguments, and what stands for them."""
    enums = "\n".join(re.findall(r"\benum\b[^{;]*\{([^}]*)\}", text))
    rows = [*re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\S[^\n]*)", text, re.MULTILINE)]
    return rows + [(n, v.strip()) for n, v in re.findall(r"(\w+)\s*=\s*([^,]+)", enums)]


def value(text: str) -> int | None:
    """Of numbers alone, by any operator; None: of something else, or no number stands in it."""
    plain = re.sub(r"(?<=\d)[uUlL]+\b", "", text)
    if not re.fullmatch(r"[\d\sxXa-fA-F+*/()<>-]+", plain) or not re.search(r"\d", plain):
        return None
    try:
        return int(eval(plain.replace("/", "//"), {"__builtins__": {}}))
    except (SyntaxError, NameError, TypeError):
        return None


def strays(text: str) -> set[str]:
    """Constants of tuning that a file defines, and distances that it prefetches at."""
    found = set()
    for name, stands in constants(text):
        number = value(stands)
        by_size = re.search(r"BYTES|FLOATS|WORDS", name) and (number or 0) >= CACHE
        choices = [value(part) or 0 for part in re.split(r"[?:]", stands)]
        if (NAME.match(name) and any(choices)) or by_size:
            found.add(name)
    for call in re.findall(r"prefetch\(([^;]*);", text):
        found |= set(re.findall(r"\+ (\d{3,})\b", call))
    return found


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(HOME / "kernels")))
def test_constants_of_tuning_stand_in_the_tables(path: Path) -> None:
    assert not strays(code(path)), (
        "a block size is a row of kernels/blocks.h, a prefetch distance one of kernels/prefetch.h"
    )


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(HOME / "kernels")))
def test_no_kernel_reads_a_machine_out_of_its_instruction_sets(path: Path) -> None:
    assert not re.search(r"\bPTE_CPU_\w+|->cpu\s*&|\.cpu\s*&|\bcpu\s*&", code(path)), (
        "variants are picked by call->cpu; what a machine is like says call->machine (core/machine.h)"
    )


def test_what_was_strewn_is_found() -> None:
    """Lines that stood in kernels once, and lines like them."""
    for line, name in {
        "enum {\n  BLOCK_PANELS = 32,\n  ALIKE = 1024 /* floats */\n};": "ALIKE",
        "enum { FEWER = 1, AHEAD = 4096, AHEAD_6 = 3072 };": "AHEAD_6",
        "enum { BLOCK_BYTES = 1 << 19, LEAST_ROWS = 60 };": "BLOCK_BYTES",
        "enum { BLOCK_BYTES = SMALL ? 1024 : 131072, FEW_ROWS = 64 };": "BLOCK_BYTES",
        "  enum { ALIAS = 2048 / 4 };": "ALIAS",
        "enum { TURN_BYTES = 256 << 10 };": "TURN_BYTES",
        "#define READ_AHEAD 8192\n": "READ_AHEAD",
        "enum { HELD_BYTES = 128 * 1024 };": "HELD_BYTES",
        "__builtin_prefetch(at + 2048, 0, 3);": "2048",
    }.items():
        assert name in strays(re.sub(r"/\*.*?\*/", "", line)), line


def test_other_constants_are_left_alone() -> None:
    for line in ("enum { UNIT_BYTES = A * B, HEAD_BYTES = 64 };", "enum { PTE_NEAR_MOST = 22 };", "__builtin_prefetch(at + i, 0, 3);"):  # fmt: skip
        assert not strays(line), line

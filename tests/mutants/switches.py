"""What is turned in the C runtime: an operator or a boolean (a mutant), or a refusal, which is taken away.

All turns of a file stand in one text, each behind a switch: `mutant_holds(k)` says whether it is turn k that holds now. So
everything is built once.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from verdicts import ROOT

TURNS: Final = {
    "==": ["!="], "!=": ["=="], "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"], "^": ["&"], "<<": [">>"],
    ">>": ["<<"], "&&": ["||"], "||": ["&&"], "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "!": ["!!"],
    "true": ["false"], "false": ["true"],
}  # fmt: skip
HOLDERS: Final = ("binary_expression", "assignment_expression", "unary_expression")
FAILS: Final = r"(?:pte_refuse|pte_bad_index|pte_fail|pte_kernel_fail|pte_fault_at|pte_fault_text|fail\w*|bad\w*|too_large|extent_unknown|pte_value_misfit)"
RETURN: Final = re.compile(
    rf"\breturn\s+(?:(?P<ternary>[^;?]*\?\s*PTE_OK\s*:\s*){FAILS}|{FAILS}|PTE_(?!OK\b|CANCELLED\b|NONE\b)[A-Z_]+\s*;|false\s*;)"
)
"""A refusal; a kernel's PTE_CANCELLED is what its watch says, none of its own."""

END: Final = re.compile(r'(?:[^";]|"(?:[^"\\]|\\.)*")*;')
CHECKS: Final = re.compile(r"^(?:static )?pte_status \w*check\w*\(.*?^}", re.MULTILINE | re.DOTALL)
"""Of a kernel's file, only these refuse: all else depends on data."""


@dataclass(frozen=True, slots=True)
class Turn:
    key: str
    file: str  # below the root
    line: int
    start: int  # of the bytes that it takes the place of
    end: int
    put: str  # instead; `{k}` is the turn's number
    alone: str  # what stands there where it holds
    source: str  # what stood there, or its line


def turned(file: str, turns: Iterable[tuple[int, Turn]]) -> str:
    """The file with these turns behind their switches."""
    data = (ROOT / file).read_bytes()
    for k, t in sorted(turns, key=lambda each: -each[1].start):
        data = data[: t.start] + t.put.replace("{k}", str(k)).encode() + data[t.end :]
    return data.decode()


def alone(t: Turn) -> str:
    data = (ROOT / t.file).read_bytes()
    return (data[: t.start] + t.alone.encode() + data[t.end :]).decode()


def apart(turns: Iterable[Turn]) -> list[Turn]:
    """Those that do not stand inside one before them."""
    kept: list[Turn] = []
    for t in turns:
        if all(t.file != o.file or t.end <= o.start or o.end <= t.start for o in kept):
            kept.append(t)
    return kept


# --- refusals -------------------------------------------------------------------------------------------------------------


def refusals(file: Path) -> Iterator[Turn]:
    text, path = file.read_text(), str(file.relative_to(ROOT))
    parts = [m.span() for m in CHECKS.finditer(text)] if "kernels" in path else [(0, len(text))]
    alike: Counter[str] = Counter()
    for found in RETURN.finditer(text):
        begin, end = found.start(), END.match(text, found.start()).end()  # type: ignore[union-attr]
        if not any(a <= begin < b for a, b in parts):
            continue
        was = text[begin:end]
        only = text[:begin].rstrip().endswith((")", "else"))  # of an if, which goes on
        none = "true" if "false" in found.group(0) else "PTE_OK"
        if only and not found["ternary"]:
            put, here = f"{{ if (!mutant_holds({{k}})) {was} }}", "{}"
        else:
            put, here = f"{{ if (mutant_holds({{k}})) return {none}; {was} }}", f"return {none};"
        said, line = " ".join(was.split()), text.count("\n", 0, begin) + 1
        alike[said] += 1
        start, stop = (len(text[:n].encode()) for n in (begin, end))
        yield Turn(f"{path}:{said}:{alike[said]}", path, line, start, stop, put, here, said)


# --- mutants --------------------------------------------------------------------------------------------------------------


def mutants(file: Path, r: random.Random) -> Iterator[Turn]:
    """One of each place in a function where an operator or a boolean stands."""
    import tree_sitter_c  # pyright: ignore[reportMissingImports]
    from tree_sitter import Language, Parser  # pyright: ignore[reportMissingImports]

    data, path = file.read_bytes(), str(file.relative_to(ROOT))
    lines = data.decode().splitlines()
    todo = [Parser(Language(tree_sitter_c.language())).parse(data).root_node]
    while todo:
        node = todo.pop()
        if node.type.startswith("preproc_if"):  # its condition: another build
            todo += [c for c in node.children if c != node.child_by_field_name("condition")]
            continue
        todo += node.children
        whole = node if node.type in ("true", "false") else node.parent
        if node.type not in TURNS or whole is None or not (whole is node or whole.type in HOLDERS):
            continue
        if not runs(whole):
            continue
        new, (line, column) = r.choice(TURNS[node.type]), node.start_point
        before, after = (data[whole.start_byte : node.start_byte].decode(), data[node.end_byte : whole.end_byte].decode())  # fmt: skip
        one = f"{before}{new}{after}"
        put = f"(mutant_holds({{k}}) ? ({one}) : ({before}{node.type}{after}))"
        key = f"{path}:{lines[line].strip()}:{column}:{node.type}:{new}"
        yield Turn(key, path, line + 1, whole.start_byte, whole.end_byte, put, one, lines[line].strip())  # fmt: skip


def runs(node: Any) -> bool:
    """Whether it is evaluated while the program runs, in a function."""
    inner = node
    while node.parent is not None:
        node, inner = node.parent, node
        if node.type == "case_statement" and inner == node.child_by_field_name("value"):
            return False
        if node.type == "declaration" and any(c.type == "storage_class_specifier" for c in node.children):  # fmt: skip
            return False
        if node.type in ("array_declarator", "enumerator", "bitfield_clause"):
            return False
        if node.type == "function_definition":
            return inner == node.child_by_field_name("body")
    return False

"""What the compiler made of the innermost loops of products: sums stay in registers.

GCC 12 turns a tile of 24 sums of `vpdpbusd` into copies and spills unless partial redundancy elimination is off
(runtime_c/CMakeLists.txt), which halves its speed and no other test would notice.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import trees

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in ("cmake", "objdump")),
    reason="needs cmake and binutils",
)

PRODUCT = re.compile(r"vfn?m(add|sub)\d|vpdpbusd|vpdpwssd|vpmadd")
"""Instructions that a loop of products has."""
SPILL = re.compile(r"v?mov\w+ +%[xyz]mm\d+,(-?0x[0-9a-f]+)?\(%r[sb]p")
"""A vector register on its way to the stack."""
PRODUCTS = ("depthwise", "gemm", "gemm_int8", "rotate", "winograd")
"""Folders of runtime_c/kernels with loops over products."""
DECODERS = ("gemm_blocks__avx2.c.o",)
"""Codes become numbers within the loop: constants, tables and sums are more than the sixteen registers of AVX2."""
FEW: Final = 2
"""Of a loop: the end of a row through a buffer, one constant too many."""
Line = tuple[int, str]


def functions(listing: str) -> Iterator[tuple[str, list[Line]]]:
    """name -> (address, instruction) of `objdump -d`."""
    for part in re.split(r"\n(?=[0-9a-f]+ <)", listing):
        head = re.match(r"[0-9a-f]+ <([\w.]+)>:", part)
        lines = re.findall(r"^ +([0-9a-f]+):\t(.*)$", part, re.MULTILINE)
        if head:
            yield head.group(1), [(int(at, 16), text) for at, text in lines]


def innermost(lines: list[Line]) -> Iterator[list[Line]]:
    """Bodies of loops that hold no other: from where a jump backwards leads to the jump."""
    jumps = []
    for at, text in lines:
        jump = re.match(r"j\w+ +([0-9a-f]+)", text)
        if jump and lines[0][0] <= int(jump.group(1), 16) <= at:
            jumps.append((int(jump.group(1), 16), at))
    for begin, end in jumps:
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in jumps):
            yield [line for line in lines if begin <= line[0] <= end]


@pytest.fixture(scope="module")
def objects() -> list[Path]:
    kernels = trees.library() / "runtime_c/CMakeFiles/pteron_objects.dir/kernels"
    found = sorted(p for folder in PRODUCTS for p in kernels.glob(f"{folder}/*__*.o"))
    return [p for p in found if "__portable" not in p.name and p.name not in DECODERS]


def test_the_reader_finds_a_spill() -> None:
    listing = """
0000000000000000 <tile>:
   0:\tvpxor  %xmm0,%xmm0,%xmm0
   4:\tvmovdqa %ymm1,(%rsp)
   8:\tvpdpbusd %zmm1,%zmm2,%zmm3
   c:\tvmovdqa64 %zmm1,0x40(%rsp)
  10:\tjne    8 <tile+0x8>
  14:\tjmp    0 <tile>
"""
    ((name, lines),) = functions(listing)
    (loop,) = innermost(lines)
    assert name == "tile" and [at for at, _ in loop] == [8, 12, 16]
    assert [at for at, text in loop if SPILL.match(text)] == [12]


def test_functions_of_pointwise_programs_are_on_vectors(objects: list[Path]) -> None:
    """exp, sin and their like are inline functions: one more call in that file, and GCC's allowance for inlining may end before
    them, which leaves their loops without vectors (203 fused products then were 28)."""
    (path,) = {p.parents[1] / "pointwise/pointwise__avx2.c.o" for p in objects}
    listing = subprocess.run(["objdump", "-d", path], check=True, capture_output=True, text=True)
    assert len(re.findall(r"vfn?m(?:add|sub)\d+ps .*%ymm", listing.stdout)) > 180


def test_sums_of_products_stay_in_registers(objects: list[Path]) -> None:
    loops, spills = 0, {}
    for path in objects:
        command = ["objdump", "-d", "--no-show-raw-insn", str(path)]
        listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for name, lines in functions(listing):
            for loop in innermost(lines):
                if not any(PRODUCT.match(text) for _, text in loop):
                    continue
                loops += 1
                count = sum(SPILL.match(text) is not None for _, text in loop)
                if count > FEW:
                    spills[f"{path.name} {name} {loop[0][0]:#x}"] = count
    assert loops > 60
    assert not spills

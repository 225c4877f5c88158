"""What the inner loops for 64-bit Arm would reach on cores that are not at hand: python benchmarks/mca.py [CPU...]

Compiles the NEON variants of products with clang and asks llvm-mca how many cycles an iteration of their widest innermost loop
takes. A share is of the same instruction on registers alone, on that core. LLVM 19 has models of its own for these cores;
cortex-a76, a78 and x1 it takes for an A57, so neoverse-n1 stands for the A76, n2 for the A710, v1 for the X1. Nothing of caches
is in it, and in-order cores are approximate: it ranks loops and shows what spills, it promises no milliseconds.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CPUS = ("cortex-a55", "cortex-a510", "neoverse-n1", "neoverse-n2", "neoverse-v1")
TOOLS = ("clang-19", "llvm-mca-19")
GCC = "aarch64-linux-gnu-gcc"
TARGET = "aarch64-linux-gnu"
ITERATIONS = 200
DOT = "armv8.2-a+dotprod"
MATRIX = "armv8.6-a+i8mm"
BEFORE_SMMLA = ("cortex-a55", "neoverse-n1")
SDOT = "sdot v{0}.4s, v{1}.16b, v{2}.16b"
SMMLA = "smmla v{0}.4s, v{1}.16b, v{2}.16b"


@dataclasses.dataclass(frozen=True)
class Kernel:
    file: str  # of runtime_c/kernels
    function: str  # in which the loop lies, after inlining
    product: str  # the instruction that multiplies and adds, as a pattern
    peak: str  # the same on registers alone: {0} .. {2} are vectors
    arch: str = "armv8-a"

    def runs_on(self, cpu: str) -> bool:
        return self.arch != MATRIX or cpu not in BEFORE_SMMLA


KERNELS = {
    "f32 tile": Kernel("gemm/gemm_f32__neon", "tile_neon", r"fmla\s+v", "fmla v{0}.4s, v{1}.4s, v{2}.4s"),
    "f32 row": Kernel("gemm/gemm_f32__neon", "vector_neon", r"fmla\s+v", "fmla v{0}.4s, v{1}.4s, v{2}.4s"),
    "f32 depthwise": Kernel("depthwise/depthwise_f32__neon", "row_neon", r"fmla\s+v", "fmla v{0}.4s, v{1}.4s, v{2}.4s"),
    "i8 tile, SMMLA": Kernel("gemm_int8/gemm_static__i8mm", "tile_neon", r"smmla\s+v", SMMLA, MATRIX),
    "i8 tile, SDOT": Kernel("gemm_int8/gemm_static__dotprod", "tile_neon", r"sdot\s+v", SDOT, DOT),
    "i8 tile, no SDOT": Kernel("gemm_int8/gemm_static__neon", "tile_neon", r"smull2?\s+v", "smull v{0}.8h, v{1}.8b, v{2}.8b"),
    "i8 depthwise": Kernel("depthwise/depthwise_i8__neon", "taps", r"smlal2?\s+v", "smlal v{0}.4s, v{1}.4h, v{2}.4h"),
    "i4 rows, SDOT": Kernel("gemm_int8/gemm_blocks__dotprod", "panel_I4", r"sdot\s+v", SDOT, DOT),
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Share:
    share: float  # of the peak
    spills: int  # loads and stores of vectors on the stack, in the loop


def missing() -> list[str]:
    return [tool for tool in TOOLS if shutil.which(tool) is None]


def assembly(kernel: Kernel, compiler: tuple[str, ...] = (TOOLS[0], f"--target={TARGET}")) -> str:
    """What the compiler makes of the variant, with the build's flags and no core in particular."""
    flags = ["-std=c11", "-O2", "-ftree-vectorize", "-ffp-contract=off", "-fno-math-errno", f"-march={kernel.arch}"]  # fmt: skip
    folders = [f"-I{ROOT / 'runtime_c'}", f"-I{ROOT / 'runtime_c/include'}"]
    source = ROOT / f"runtime_c/kernels/{kernel.file}.c"
    command = [*compiler, *flags, "-DPTE_HAVE_NEON=1", *folders, "-S", "-o", "-", str(source)]  # fmt: skip
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def innermost(text: str, function: str) -> Iterator[list[str]]:
    """Bodies of the function's loops that hold no other: from a label to the branch back to it."""
    begin = re.search(rf"^{function}:", text, re.MULTILINE)
    if begin is None:
        raise ValueError(f"{function}: not in the assembly; was it renamed or inlined?")
    lines = re.split(r"\n(?:\.Lfunc_end|\s+\.size)", text[begin.start() :])[0].splitlines()
    places = {line.split(":")[0]: i for i, line in enumerate(lines) if re.match(r"[.\w]+:", line)}
    jumps = []
    for at, line in enumerate(lines):
        to = re.match(r"\s+(?:b|b\.\w+|b\w\w|cbn?z\s+\w+,|tbn?z\s+\w+,\s*#\d+,)\s+(\.L\w+)", line)
        if to and places.get(to.group(1), at) < at:
            jumps.append((places[to.group(1)], at))
    for first, last in jumps:
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in jumps):
            yield [line for line in lines[first : last + 1] if not re.match(r"\s+\.|#", line)]


def widest(kernel: Kernel, text: str = "") -> list[str]:
    """Of the loops with products the one with most; `text`: what another compiler makes of the variant."""
    loops = list(innermost(text or assembly(kernel), kernel.function))
    body = max(loops, key=lambda loop: _products(kernel, loop), default=[])
    if _products(kernel, body) == 0:
        raise ValueError(f"{kernel.file} {kernel.function}: no innermost loop has {kernel.product}")
    return body


def _products(kernel: Kernel, loop: list[str]) -> int:
    return sum(re.match(rf"\s+{kernel.product}", line) is not None for line in loop)


def cycles(loop: list[str], cpu: str) -> float:
    """Of an iteration."""
    command = ["llvm-mca-19", f"-mtriple={TARGET}", f"-mcpu={cpu}", f"-iterations={ITERATIONS}"]
    text = "\n".join(loop) + "\n"
    said = subprocess.run(command, check=True, input=text, capture_output=True, text=True).stdout
    found = re.search(r"Total Cycles:\s+(\d+)", said)
    if found is None:
        raise ValueError(f"llvm-mca-19 says no cycles: {said[:200]}")
    return int(found.group(1)) / ITERATIONS


def share(kernel: Kernel, loop: list[str], cpu: str) -> Share:
    many = [kernel.peak.format(i, 30, 31) for i in range(24)]
    peak = len(many) / cycles(many, cpu)
    spills = sum(re.search(r"\b[qv]\d+,.*\[sp", line) is not None for line in loop)
    return Share(_products(kernel, loop) / cycles(loop, cpu) / peak, spills)


def shares(cpus: tuple[str, ...] = CPUS) -> dict[tuple[str, str], Share]:
    """By loop and core that has its instructions."""
    found = {}
    for name, kernel in KERNELS.items():
        loop = widest(kernel)
        found |= {(name, cpu): share(kernel, loop, cpu) for cpu in cpus if kernel.runs_on(cpu)}
    return found


def main() -> None:
    cpus = tuple(sys.argv[1:]) or CPUS
    if gone := missing():
        sys.exit(
            f"mca: {', '.join(gone)} not found; Debian and Ubuntu have them in clang-19 and llvm-19"
        )
    found = shares(cpus)
    print(f"{'share of peak':18s}" + "".join(f"{cpu:>14s}" for cpu in cpus) + "  spills")
    for name in KERNELS:
        row = [found.get((name, cpu)) for cpu in cpus]
        line = "".join(f"{s.share:14.0%}" if s else f"{'-':>14s}" for s in row)
        print(f"{name:18s}{line}  {max(s.spills for s in row if s)}")


if __name__ == "__main__":
    main()

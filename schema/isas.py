"""Instruction sets that kernels are compiled for: one row each.

A kernel's file is named after its row, kernels/<family>/<stem>__<name>.c. From the row come the build's flags, the constant
PTE_CPU_<NAME>, the question put to the processor, the table of variants, and the names in Python.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Final


@dataclasses.dataclass(frozen=True, slots=True)
class Isa:
    """`feature`: its bit in PTE_CPU_*, never used again. `machine`: x86_64, aarch64, riscv64 or armv8.1m. `flags`: of the compiler, which is
    asked whether it knows them, and the header of intrinsics where older compilers lack it. `needs`: a row above, without which it does not count. `says`: what it is, for the C header.
    `option`: of the build, which leaves it out.

    How it is found. On x86 `cpuid`: words "leaf.register bit" (7.1 is leaf 7, subleaf 1), all of which must be set, and `state`,
    the registers that the system must save (XCR0), some of them only for a process that asked (core/cpu.h). On Arm and RISC-V `hwcap` and `hwcap2` of Linux, `sysctl` of Apple's systems; where
    none is given, each such processor has it. `macro`: the compiler's, of a target that always has it; such a variant takes the
    portable one's place in what `pteron amalgamate` writes.
    """

    name: str
    feature: int
    machine: str
    flags: str
    says: str
    needs: str = ""
    option: str = ""
    cpuid: str = ""
    state: int = 0
    hwcap: int = 0
    hwcap2: int = 0
    sysctl: str = ""
    macro: str = ""


AVX512: Final = "-mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mprefer-vector-width=512"

ROWS: Final = (
    Isa(
        "avx2", 0, "x86_64", "-mavx2 -mfma -mf16c", "with FMA and F16C",
        cpuid="1.c12 1.c28 1.c29 7.b5", state=0x06,
    ),
    Isa(
        "avxvnni", 6, "x86_64", "-mavx2 -mfma -mf16c -mavxvnni", "VNNI without AVX-512", needs="avx2",
        cpuid="7.1.a4",
    ),
    Isa(
        "avx512", 4, "x86_64", AVX512, "F, BW, DQ and VL", needs="avx2", option="PTE_AVX512",
        cpuid="7.b16 7.b17 7.b30 7.b31", state=0xE6,
    ),
    Isa(
        "avx512vnni", 5, "x86_64", f"{AVX512} -mavx512vnni -mavx512vbmi", "VNNI and VBMI", needs="avx512",
        option="PTE_AVX512", cpuid="7.c1 7.c11",
    ),
    Isa(
        "amx", 8, "x86_64", f"{AVX512} -mavx512vnni -mavx512vbmi -mamx-tile -mamx-int8", "tiles of int8", needs="avx512vnni",
        option="PTE_AVX512", cpuid="7.d24 7.d25", state=0x60000,
    ),
    Isa("neon", 1, "aarch64", "", "on every 64-bit Arm"),
    Isa(
        "dotprod", 2, "aarch64", "-march=armv8.2-a+dotprod", "sdot", needs="neon",
        hwcap=1 << 20, sysctl="hw.optional.arm.FEAT_DotProd",
    ),
    Isa(
        "i8mm", 3, "aarch64", "-march=armv8.6-a+i8mm", "smmla", needs="dotprod",
        hwcap2=1 << 13, sysctl="hw.optional.arm.FEAT_I8MM",
    ),
    Isa(
        "rvv", 7, "riscv64", "-march=rv64gcv -include riscv_vector.h", "vectors 1.0", hwcap=1 << (ord("V") - ord("A")),
    ),
    Isa("mve", 9, "armv8.1m", "", "vectors of Cortex-M, Helium", macro="__ARM_FEATURE_MVE"),
)  # fmt: skip
"""Of a machine the better ones stand lower: a kernel is taken for the last row that the processor has and the family knows."""

ISAS: Final = {row.name: row for row in ROWS}


def cpuid_masks(row: Isa) -> dict[str, int]:
    """leaf.register -> the bits that must be set.

    Raises:
        ValueError: a word is not one that core/cpu.c looks at.
    """
    masks = dict.fromkeys(("1.c", "7.b", "7.c", "7.1.a", "7.d"), 0)
    for word in row.cpuid.split():
        found = re.fullmatch(r"(.+)\.([abcd])(\d+)", word)
        place = f"{found.group(1)}.{found.group(2)}" if found else word
        if found is None or place not in masks:
            raise ValueError(
                f"isa {row.name}: cpuid: expected one of {[*masks]} and a bit, got {word}"
            )
        masks[place] |= 1 << int(found.group(3))
    return masks

"""What the processor under us can do."""

from __future__ import annotations

from pteron._pteron import lib

ANY: int = lib.PTE_CPU_ANY
DETECT: int = lib.PTE_CPU_DETECT

_NAMES = {
    "avx2": lib.PTE_CPU_AVX2,
    "avx512": lib.PTE_CPU_AVX512,
    "avx512vnni": lib.PTE_CPU_AVX512VNNI,
    "neon": lib.PTE_CPU_NEON,
    "dotprod": lib.PTE_CPU_DOTPROD,
    "i8mm": lib.PTE_CPU_I8MM,
}


def features() -> list[str]:
    """Names of the kernel variants that sessions pick from, best last."""
    mask = lib.pte_host_cpu()
    return ["portable", *(name for name, bit in _NAMES.items() if mask & bit)]

"""The generated files about instruction sets: gen/isas.c, gen/variants.inc, cmake/isas.cmake; constants of pteron/types.h."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

from ..isas import ISAS, ROWS, Isa, cpuid_masks
from .ops import head

PORTABLE = "portable"
MACROS: Final = {
    "x86_64": "defined(__x86_64__) || defined(__i386__)",
    "aarch64": "defined(__aarch64__)",
    "riscv64": "defined(__riscv) && __riscv_xlen == 64",
    "armv8.1m": "defined(__ARM_FEATURE_MVE)",
}
"""A build has the rows of its machine."""


def constants() -> list[str]:
    """PTE_CPU_* of the public header."""
    out = ["/* CPU features: instruction sets that kernels are compiled for. */"]
    width = max(len(row.name) for row in ROWS)
    for row in sorted(ROWS, key=lambda row: row.feature):
        needs = f"; with PTE_CPU_{row.needs.upper()}" if row.needs else ""
        out.append(
            f"#define PTE_CPU_{row.name.upper():{width}} {1 << row.feature}u /* {row.says}{needs} */"
        )
    known = sum(1 << row.feature for row in ROWS)
    return [*out, f"#define PTE_CPU_FEATURES {known}u /* all of them */", ""]


def isas_c() -> str:
    out = [head("What instruction sets are known by.", "schema/isas.py"), '#include "core/cpu.h"\n']
    out += ["const pte_isa pte_isas[] = {"]
    for i, machine in enumerate(MACROS):
        out.append(f"#{'elif' if i else 'if'} {MACROS[machine]}")
        out += [_isa(row) for row in ROWS if row.machine == machine]
    out += ["#endif", "  {0} /* none stands behind it */", "};"]
    out.append("const size_t pte_isa_count = sizeof pte_isas / sizeof *pte_isas - 1;")
    return "\n".join(out) + "\n"


def _isa(row: Isa) -> str:
    needs = 1 << ISAS[row.needs].feature if row.needs else 0
    if row.machine == "x86_64":
        masks = ", ".join(f"{mask:#x}u" for mask in cpuid_masks(row).values())
        found = f"{{{masks}}}, {row.state:#x}u"
    else:
        sysctl = f'"{row.sysctl}"' if row.sysctl else "NULL"
        found = f"{row.hwcap:#x}u, {row.hwcap2:#x}u, {sysctl}"
    return f"  {{{1 << row.feature}u, {needs}u, {found}}},"


def variants_inc(files: Iterable[PurePath]) -> str:
    """The kernels/<folder>/<family>__<isa>.c of each family: the best first, the portable one last; and <family>.h beside them,
    which declares it.

    Raises:
        ValueError: a file's ISA has no row, or a family has no portable variant.
    """
    found: dict[str, set[str]] = {}
    headers: dict[str, None] = {}
    for path in sorted(files):
        family, _, isa = path.stem.partition("__")
        if isa != PORTABLE and isa not in ISAS:
            raise ValueError(
                f"{path.name}: expected portable or one of {[*ISAS]} behind __, got {isa}; "
                "add a row to schema/isas.py"
            )
        found.setdefault(family, set()).add(isa)
        headers[f'#include "kernels/{path.parent.name}/{family}.h"'] = None
    what = "PTE_VARIANT(family, isa, features): the best of a family first, the portable one last."
    out = [
        head(what, "schema/isas.py and the names of the files in kernels/"),
        *headers,
        "",
        *_least(),
    ]
    for family, isas in found.items():
        if PORTABLE not in isas:
            raise ValueError(f"{family}: there is no {family}__{PORTABLE}.c")
        out.append(f"PTE_VARIANTS({family})")
        better: list[str] = []
        for row in reversed(ROWS):
            if row.name in isas:
                name = row.name.upper()
                out += _row(family, row.name, f"PTE_CPU_{name}", [f"PTE_HAVE_{name}", *better])
                better.append(f"!PTE_LEAST_{name}")
        out += _row(family, PORTABLE, "PTE_CPU_ANY", better)
        out.append("PTE_VARIANTS_END")
    return "\n".join(out) + "\n"


def _row(family: str, name: str, features: str, conditions: list[str]) -> list[str]:
    row = f"PTE_VARIANT({family}, {name}, {features})"
    return [f"#if {' && '.join(conditions)}", row, "#endif"] if conditions else [row]


def _least() -> list[str]:
    """A row that every processor of the build has takes the place of those below it."""
    out = []
    for row in ROWS:
        name = row.name.upper()
        out.append(f"#define PTE_LEAST_{name} (PTE_HAVE_{name} && (PTE_LEAST & PTE_CPU_{name}))")
    return out


def _mask(row: Isa) -> int:
    """Its feature and those that it needs."""
    return 1 << row.feature | (_mask(ISAS[row.needs]) if row.needs else 0)


def isas_cmake() -> str:
    out = ["# Instruction sets: of which machine, flags of the compiler, option of the build."]
    out += ["# Written by schema/gen from schema/isas.py; do not edit.", ""]
    out.append(f"set(PTE_ISAS {' '.join(ISAS)})")
    for row in ROWS:
        out.append(f"set(PTE_ISA_{row.name}_MACHINE {row.machine})")
        out.append(f"set(PTE_ISA_{row.name}_FLAGS {row.flags})")
        out.append(f"set(PTE_ISA_{row.name}_OPTION {row.option})")
        out.append(f"set(PTE_ISA_{row.name}_LEAST {_mask(row)})")
    return "\n".join(out) + "\n"

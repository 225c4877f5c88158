"""What a runtime must have to run a program, as a header for its build: operators, steps of pointwise programs, element types,
storage formats."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ...schema.formats import FORMATS
from ...schema.ops import OPS
from ...schema.signature import Attr, signature
from ...schema.steps import Step
from . import Program


@dataclasses.dataclass(frozen=True, slots=True)
class Kernels:
    """Names of operators; (operator, attribute, word) of attributes that are one of some words; whether there are states, and
    dimensions that are set while running; (step, compute type), element types and rows of storage formats."""

    ops: frozenset[str]
    words: frozenset[tuple[str, str, str]]
    states: bool
    counted: bool
    steps: frozenset[tuple[str, str]]
    dtypes: frozenset[str]
    formats: frozenset[str]

    def __or__(self, other: Kernels) -> Kernels:
        return Kernels(
            self.ops | other.ops,
            self.words | other.words,
            self.states or other.states,
            self.counted or other.counted,
            self.steps | other.steps,
            self.dtypes | other.dtypes,
            self.formats | other.formats,
        )


def kernels_of(program: Program) -> Kernels:
    """Those of every method, fallbacks of delegates included."""
    instrs = [i for block in program.blocks for i in block.instrs]
    steps = {(s.op, s.type) for i in instrs for v in i.attrs.values() for s in _steps(v)}
    held = {v.dtype for v in program.values} | {s.dtype for s in program.states}
    held |= {c.dtype for c in program.constants}
    stored = {v.format for v in program.values} | {c.format for c in program.constants}
    return Kernels(
        frozenset(i.op for i in instrs),
        frozenset(
            (i.op, a.name, i.attrs.get(a.name, a.default)) for i in instrs for a in _enums(i.op)
        ),
        bool(program.states),
        any(d.kind == "counted" for d in program.dims),
        frozenset(steps),
        frozenset(held),
        frozenset({"plain", *(FORMATS[name].row for name in stored)}),
    )


def _enums(op: str) -> Iterable[Attr]:
    return (a for a in signature(OPS[op]).attrs if a.kind == "enum")


def _steps(value: object) -> Iterable[Step]:
    return [v for v in value if isinstance(v, Step)] if isinstance(value, tuple) else []


def header(kernels: Kernels, what: str) -> str:
    """A header that the build includes before each source (PTE_KERNEL_LIST): what is not listed is left out."""
    out = [f"/* Kernels of {what}; pteron export --kernel-list. */"]
    out += ["#ifndef PTE_KERNEL_LIST_H", "#define PTE_KERNEL_LIST_H", ""]
    for name in OPS:
        if name not in kernels.ops:
            out.append(f"#define PTE_WITHOUT_{name.upper()}")
    for what, kept in (("STATES", kernels.states), ("COUNTED", kernels.counted)):
        if not kept:
            out.append(f"#define PTE_WITHOUT_{what}")
    rows = [f"K({op.upper()}, {type.upper()}, op, type)" for op, type in sorted(kernels.steps)]
    out += ["", "#define PTE_KEPT_STEPS(K, op, type) \\"]
    out += [f"  {row} \\" for row in rows or ["/* none */"]]
    lists = {"DTYPES": kernels.dtypes, "FORMATS": kernels.formats}
    for op, attr in sorted({(op, attr) for op, attr, _ in kernels.words}):
        lists[f"{op}_{attr}".upper()] = frozenset(
            w for o, a, w in kernels.words if (o, a) == (op, attr)
        )
    for what, names in lists.items():
        rows = [f"K({name.upper()}, x)" for name in sorted(names)]
        out += ["", f"#define PTE_KEPT_{what}(K, x) {' '.join(rows)}"]
    return "\n".join([*out, "", "#endif", ""])

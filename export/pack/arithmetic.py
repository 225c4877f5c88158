"""Which arithmetic the products of quantized weights run in: asked for at export, stored in the file, told by reports.

auto    of a model that came quantized: exact, what it says in ONNX. Of one that Pteron rounded, or that goes to a delegate:
        what each storage format's row says, int8 where it has sums in integers (`dot`) and that pays (`choices.NARROW`), and static int8 where activations
        are quantized too (`passes.integer`)
exact   everywhere the bits of DequantizeLinear and the f32 operator, static int8 activations included
int8    activations in 8 bits by 32 wherever a format has sums in integers, and static int8; a note names what has none
turned  as int8; and float weights of products are rounded to 8 bits a row, activations to 8 bits a token, both turned (`turned`)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import onnx_ir as ir

from pteron.schema.formats import FORMATS

from .. import graph as g
from ..program import Instr, Program

EXACT, INT8, TURNED, STATIC = "exact", "int8", "turned", "static"
INTEGER: Final = {"matmul_int8": INT8, "matmul_turned": TURNED}
LOOKUP: Final = "gather_rows"
CAME_QUANTIZED: Final = "the model came quantized: it is computed exactly as its DequantizeLinear says; --exec-mode int8 computes in integers"


@dataclasses.dataclass(frozen=True, slots=True)
class Product:
    """A node that computes with a quantized weight, by instruction `op`: `format` of the weight, `arithmetic` exact, int8, turned or static."""

    node: str
    operator: str
    op: str
    format: str
    arithmetic: str


def resolved(mode: str, model: ir.Model, delegated: bool, notes: list[str]) -> str:
    """The mode for a model; `delegated`: some of it may go to a delegate, whose products are integer ones."""
    if mode != "auto" or delegated or g.ROUNDED in model.metadata_props:
        return mode
    if g.came_quantized(model):
        notes.append(CAME_QUANTIZED)
    return EXACT


def product_of(mode: str, format: str) -> str:
    """The operator for a matmul whose weight has the format."""
    return "matmul_int8" if mode != EXACT and FORMATS[format].dot else "matmul"


def products(program: Program) -> Iterator[Product]:
    """Of a packed program, in order; looking up rows (an embedding) is one."""
    for block in program.blocks:
        for instr in block.instrs:
            found = product(program, instr)
            if found is not None:
                yield found


def product(program: Program, instr: Instr) -> Product | None:
    """What the instruction does with a quantized weight; None where it reads none."""
    values = [program.values[v] for v in instr.inputs if v is not None]
    static = instr.op in ("conv_i8", "conv_i16")
    formats = ["i8"] if static else [v.format for v in values if v.format != "plain"]
    if not formats:
        return None
    arithmetic = STATIC if static else INTEGER.get(instr.op, EXACT)
    if instr.node >= len(program.nodes):  # stripped
        return Product("", instr.op, instr.op, formats[0], arithmetic)
    node = program.nodes[instr.node]
    return Product(node.name, node.op_type, instr.op, formats[0], arithmetic)


def summary(rows: Iterable[Product], delegates: Iterable[str] = ()) -> str:
    """What the manifest says: "int8: nf4; exact: mxfp8", "f32" where nothing multiplies by a quantized weight.

    `delegates` have weights of which no fallback tells: "delegate: hexagon".
    """
    pairs = dict.fromkeys((row.arithmetic, row.format) for row in rows if row.op != LOOKUP)
    modes = [
        (mode, [f for m, f in pairs if m == mode]) for mode in sorted({m for m, _ in pairs})[::-1]
    ]
    if names := list(dict.fromkeys(delegates)):
        modes.append(("delegate", names))
    return "; ".join(f"{mode}: {', '.join(formats)}" for mode, formats in modes) or "f32"


def unmet(rows: Sequence[Product], mode: str, asked: Collection[str] = ()) -> list[str]:
    """Notes on what cannot follow `--exec-mode int8` or `--exec-mode turned`; `asked`: operators of a choice, which may have gone
    against them."""
    if not rows and INTEGER.keys().isdisjoint(asked):
        weights = "weight is quantized"
        if mode == TURNED:
            weights = "product has a constant weight of K 64 or more"
        return [f"{mode} was asked for, but no {weights}: nothing is computed in integers"]
    exact = [row for row in rows if row.arithmetic == EXACT and row.op != LOOKUP]
    exact = [row for row in exact if row.op == product_of(mode, row.format) or row.op != "matmul"]
    kinds = dict.fromkeys((row.operator, row.format) for row in exact)
    return [
        f"{mode} was asked for, but {operator} with {format} weights has no sums in integers: "
        f"{sum((r.operator, r.format) == (operator, format) for r in exact)} exact"
        for operator, format in kinds
    ]

"""What the activations of quantized products are: asked for at export, stored in the file, told by reports.

Of a program, in the words of `schema.activations`:

auto          of a model that came quantized: float, what it says in ONNX. Of one that Pteron rounded, or that goes to a delegate: what
              each storage format's row says, int8-block where it has sums in integers (`dot`) and that pays (`choices.NARROW`), and
              integers where activations have Q/DQ, too (`passes.integer`)
float         everywhere the bits of DequantizeLinear and the f32 operator, between Q and DQ of activations, too
int8-block    int8 by blocks of 32 wherever a format has sums in integers, and what has Q/DQ; a note names what has none
int8-token    likewise; and float weights of products are rounded to int8 a row, activations to int8 a token, both rotated (`turned`)
int8-static   what has Q/DQ of int8 or int16 in integers; other products as auto has them in what Pteron rounded, else in f32
int16-static  the same
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import onnx_ir as ir

from pteron.schema.activations import (
    AUTO,
    CHOICES,
    FLOAT,
    INT8_BLOCK,
    INT8_STATIC,
    INT8_TOKEN,
    INT16_STATIC,
    STATIC,
)
from pteron.schema.formats import FORMATS

from .. import graph as g
from ..program import Instr, Program

INTEGER: Final = {
    "matmul_int8": INT8_BLOCK,
    "matmul_turned": INT8_TOKEN,
    "conv_i8": INT8_STATIC,
    "conv_i16": INT16_STATIC,
}
"""What the activations of an operator are; of others float."""
LOOKUP: Final = "gather_rows"
NO_STATIC: Final = "no activations are rounded: add format int8 and samples (calibrate), or bring a model with Q/DQ of activations"
CAME_QUANTIZED: Final = "the model came quantized: it is computed in f32, exactly as its DequantizeLinear says; --activations {} computes in integers what has integer sums"


@dataclasses.dataclass(frozen=True, slots=True)
class Product:
    """A node that computes with a quantized weight, by instruction `op`: `format` of the weight, `activations` but auto."""

    node: str
    operator: str
    op: str
    format: str
    activations: str


def resolved(asked: str, model: ir.Model, delegated: bool, notes: list[str]) -> str:
    """The activations of a model; `delegated`: some of it may go to a delegate, whose products are integer ones."""
    rounds = any(node.op_type == "QuantizeLinear" for node in model.graph)
    if asked in STATIC and g.ROUNDED in model.metadata_props:
        notes += [] if rounds else [f"{asked} was asked for, but {NO_STATIC}"]
        return AUTO
    if asked != AUTO or delegated or g.ROUNDED in model.metadata_props:
        return asked
    if g.came_quantized(model):
        notes.append(CAME_QUANTIZED.format(INT8_STATIC if rounds else INT8_BLOCK))
    return FLOAT


def product_of(activations: str, format: str) -> str:
    """The operator for a matmul whose weight has the format."""
    integer = activations not in (FLOAT, *STATIC) and FORMATS[format].dot
    return "matmul_int8" if integer else "matmul"


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
    activations = INTEGER.get(instr.op, FLOAT)
    static = activations in STATIC
    formats = ["i8"] if static else [v.format for v in values if v.format != "plain"]
    if not formats:
        return None
    if instr.node >= len(program.nodes):  # stripped
        return Product("", instr.op, instr.op, formats[0], activations)
    node = program.nodes[instr.node]
    return Product(node.name, node.op_type, instr.op, formats[0], activations)


def summary(rows: Iterable[Product], delegates: Iterable[str] = ()) -> str:
    """What the manifest says: "int8-block: nf4; float: mxfp8", "f32" where nothing multiplies by a quantized weight.

    `delegates` have weights of which no fallback tells: "delegate: hexagon".
    """
    pairs = dict.fromkeys((row.activations, row.format) for row in rows if row.op != LOOKUP)
    found = [(a, [f for b, f in pairs if b == a]) for a in CHOICES if any(b == a for b, _ in pairs)]
    found = [pair for pair in found if pair[0] != FLOAT] + [p for p in found if p[0] == FLOAT]
    if names := list(dict.fromkeys(delegates)):
        found.append(("delegate", names))
    return "; ".join(f"{what}: {', '.join(formats)}" for what, formats in found) or "f32"


def unmet(rows: Sequence[Product], wanted: str, asked: Collection[str] = ()) -> list[str]:
    """Notes on what cannot follow `--activations` of integers; `asked`: operators of a choice, which may have gone against them."""
    found = {row.activations for row in rows}
    if wanted in STATIC:
        return [] if found & {*STATIC} else [f"{wanted} was asked for, but {NO_STATIC}"]
    if not rows and INTEGER.keys().isdisjoint(asked):
        weights = "weight is quantized"
        if wanted == INT8_TOKEN:
            weights = "product has a constant weight of K 64 or more"
        return [f"{wanted} was asked for, but no {weights}: nothing is computed in integers"]
    floats = [row for row in rows if row.activations == FLOAT and row.op != LOOKUP]
    floats = [
        row for row in floats if row.op == product_of(wanted, row.format) or row.op != "matmul"
    ]
    kinds = dict.fromkeys((row.operator, row.format) for row in floats)
    return [
        f"{wanted} was asked for, but {operator} with {format} weights has no sums in integers: "
        f"{sum((r.operator, r.format) == (operator, format) for r in floats)} in f32"
        for operator, format in kinds
    ]

"""QuantizeLinear and DequantizeLinear by exact float steps, per tensor, axis or block.

Codes of constants stay codes: what a weight costs is the packing pass's decision. DynamicQuantizeLinear is expanded by
its ONNX body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.dtypes import DTYPES
from pteron.schema.formats import ROWS

from ...program import Blocks, Coded
from ...program.arrays import decode
from ...program.terms import Term, cast, stored, term
from ...program.views import Shape
from ...sizes import Extent
from ...sizes.extents import add, ceildiv, mul, same, sub
from ..context import Lowering
from ..elementwise import cast_term
from ..node import NAMES, Node
from ..refs import Codes, Ref
from ..table import lowers


@lowers("QuantizeLinear")
def lower_quantize(l: Lowering, n: Node) -> Ref:
    """saturate(round(x / scale) + zero); the quotient is rounded to `precision`, or to the scale's type."""
    x, scale, zero = n[0], n[1], n.get(2)
    dtype = zero.dtype if zero is not None else _type(n, "output_dtype") or "u8"
    between = _type(n, "precision") or ("f32" if DTYPES[scale.dtype].packed else scale.dtype)
    x, parts, undo = _aligned(l, n, x, [scale] if zero is None else [scale, zero])
    row = DTYPES[dtype]
    limits = (row.least, row.most) if row.is_integer else None

    def quotient(t: Term, by: Term) -> Term:
        kind = "f64" if between == "f64" else "f32"
        exact = cast_term(t, x.dtype, kind) / cast(by, kind)
        return cast(stored(exact, between), "f32")

    def codes(t: Term, by: Term, shift: Term | None = None) -> Term:
        assert limits is not None
        far = 2.0 * (limits[1] - limits[0] + 1)
        near = term("max", term("min", term("nearest", quotient(t, by)), far), -far)
        code = cast(near, "i64")
        code = code if shift is None else code + shift
        return term("max", term("min", code, limits[1]), limits[0])

    if limits is None:
        wide = l.pointwise(lambda t, by, *_: quotient(t, by), [x, *parts], "f32")
        y = l.one("repack", [wide], {"saturate": bool(n.integer("saturate", 1))}, dtype, wide.shape)
    else:
        y = l.pointwise(codes, [x, *parts], dtype)
    return undo(l, y)


@lowers("DequantizeLinear")
def lower_dequantize(l: Lowering, n: Node) -> Ref:
    """(x - zero) * scale, the difference exact."""
    x, scale, zero = n[0], n[1], n.get(2)
    dtype = _type(n, "output_dtype") or scale.dtype
    if DTYPES[dtype].packed:
        dtype = "f32"
    array = None if zero is None else l.values.array(zero)
    if array is not None and not np.any(array.astype(np.float32)):
        zero = None
    coded = _codes(l, n, x, scale, zero, dtype)
    if coded is not None:
        return Codes(dtype, coded, lambda: _decoded(l, n, x, scale, zero, dtype))
    return _decoded(l, n, x, scale, zero, dtype)


LEVELS = {f"Dequantize{name.upper()}": name for name, f in ROWS.items() if f.levels is not None}


@lowers(*LEVELS, domain="pteron")
def lower_dequantize_levels(l: Lowering, n: Node) -> Ref:
    """The format's levels[codes] * scale of the block, both constants [n, k] and [n, ceil(k / block_size)]."""
    codes, scale = l.values.array(n[0]), l.values.array(n[1])
    if codes is None or scale is None:
        l.fail("codes or scales are computed while running; expected constants")
    each = Blocks(scale, 1, n.integer("block_size"), _nested(n[1]))
    if codes.dtype == ml_dtypes.uint4:
        codes = codes.view(np.uint8)  # a byte each as it is
    coded = Coded(codes.astype(np.uint8, copy=False), each, format=LEVELS[n.op_type])
    return Codes("f32", coded, lambda: l.values.constant(decode(coded, "f32"), "f32"))


SHIFTED: Final = "DequantizeShifted"


@lowers(SHIFTED, domain="pteron")
def lower_dequantize_shifted(l: Lowering, n: Node) -> Ref:
    """codes * scale + shift of the block, each rounded: codes [n, k], the others [n, ceil(k / block_size)], all constants."""
    codes, scale, shift = (l.values.array(n[i]) for i in range(3))
    if codes is None or scale is None or shift is None:
        l.fail("codes, scales or shifts are computed while running; expected constants")
    size = n.integer("block_size")
    each, more = (Blocks(part, 1, size, _nested(n[i])) for i, part in ((1, scale), (2, shift)))
    coded = Coded(codes, each, shift=more)
    return Codes("f32", coded, lambda: l.values.constant(decode(coded, "f32"), "f32"))


def _nested(ref: Ref) -> Coded | None:
    """What a scale is decoded from, where it has a scale itself."""
    return ref.coded if isinstance(ref, Codes) and ref.coded.scale is not None else None


def _codes(l: Lowering, n: Node, x: Ref, scale: Ref, zero: Ref | None, dtype: str) -> Coded | None:
    """A quantized constant: it stays codes."""
    if dtype == "f64" or not all(r is None or l.values.is_constant(r) for r in (x, scale, zero)):
        return None
    codes = l.values.array(x)
    assert codes is not None

    def shared(part: Ref | None) -> NDArray[Any] | Blocks | None:
        array = None if part is None else l.values.array(part)
        if array is None or array.size == 1:
            return None if array is None else array.reshape(())
        axis = n.integer("axis", 1) % codes.ndim
        if array.ndim == 1 and not n.integer("block_size"):
            return array.reshape([-1 if a == axis else 1 for a in range(codes.ndim)])
        block = n.integer("block_size") or -(-codes.shape[axis] // array.shape[axis])
        assert part is not None
        return Blocks(array, axis, block, _nested(part))

    return Coded(codes, shared(scale), shared(zero), dtype)


def _decoded(l: Lowering, n: Node, x: Ref, scale: Ref, zero: Ref | None, dtype: str) -> Ref:
    x, parts, undo = _aligned(l, n, x, [scale] if zero is None else [scale, zero])
    kind = "f64" if dtype == "f64" else "f32"

    def build(t: Term, by: Term, shift: Term | None = None) -> Term:
        t = t if shift is None else t - shift
        return cast(t, kind) * cast(by, kind)

    return undo(l, l.pointwise(build, [x, *parts], dtype))


def _type(n: Node, name: str) -> str:
    code = n.integer(name)
    return NAMES[ir.DataType(code)] if code else ""


class _Undo:
    """Brings a result that was split into blocks back to the operand's shape."""

    def __init__(self, shape: Sequence[Extent] | None) -> None:
        self.shape = shape

    def __call__(self, l: Lowering, y: Ref) -> Ref:
        return y if self.shape is None else l.reshape(y, self.shape)


def _aligned(l: Lowering, n: Node, x: Ref, parts: list[Ref]) -> tuple[Ref, list[Ref], _Undo]:
    """x, and scale and zero point so that they broadcast against it."""
    scale = parts[0]
    x, parts = l.unpacked(x), [l.unpacked(p) for p in parts]
    if scale.rank == 0 or (scale.rank == 1 and same(scale.shape[0], 1) and x.rank != 1):
        return x, [l.reshape(p, ()) for p in parts], _Undo(None)
    axis = n.integer("axis", 1) % x.rank
    block = n.integer("block_size")
    if not block and scale.rank == 1:
        rest = [i for i in range(x.rank) if i != axis]
        return x, [l.unsqueeze(p, rest) for p in parts], _Undo(None)
    block = block or _block(l, x.shape[axis], scale.shape[axis])
    x = _of_blocks(l, x, axis, block, scale.shape)
    size = x.shape[axis]
    if not isinstance(size, int) or size % block:
        return x, [_repeated(l, p, axis, block, size) for p in parts], _Undo(None)
    split = (*x.shape[:axis], size // block, block, *x.shape[axis + 1 :])
    parts = [l.unsqueeze(p, [axis + 1]) for p in parts]
    return l.reshape(x, split), parts, _Undo(x.shape)


def _of_blocks(l: Lowering, x: Ref, axis: int, block: int, scales: Shape) -> Ref:
    """x with the sizes that its scales say."""
    text = "an element of each block has a scale"
    for a, count in enumerate(scales):
        if a != axis or block == 1:
            x = l.agree(x, a, count, text)
        else:
            l.sizes.require_equal(ceildiv(x.shape[a], block), count, text)
    return x


def _block(l: Lowering, size: Extent, count: Extent) -> int:
    block = ceildiv(size, count)
    if not isinstance(block, int):
        l.fail(f"block_size is absent and {size} / {count} is not a number; set block_size")
    return block


def _repeated(l: Lowering, part: Ref, axis: int, block: int, size: Extent) -> Ref:
    """Each element `block` times along the axis, the last ones as often as they are needed."""
    wide = l.unsqueeze(part, [axis + 1])
    shape = (*wide.shape[: axis + 1], block, *wide.shape[axis + 2 :])
    flat = (*part.shape[:axis], mul(part.shape[axis], block), *part.shape[axis + 1 :])
    whole = l.reshape(l.expand(wide, shape), flat)
    surplus = sub(add(size, 0), flat[axis])
    return whole if same(surplus, 0) else l.slice(whole, axis, 0, size)

"""Elementwise work as one `pointwise` instruction, and casts: operands broadcast by views, constants of one element as literals.

All operands are permuted by one view, so that the largest of them lies row-major; the dense result is viewed back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pteron.schema.dtypes import DTYPES, FLOATS

from ..program import Coded, terms, views
from ..program.terms import Term, cast, literal, load, lt, register, select, term
from ..program.views import Shape, View
from ..sizes.extents import is_narrow, same
from .refs import Codes, Known, Ref

if TYPE_CHECKING:
    from .context import Lowering


def compute(
    l: Lowering,
    build: Callable[..., list[Term]],
    operands: Sequence[Ref],
    dtypes: Sequence[str],
    shape: Shape,
) -> list[Ref]:
    """What Lowering.pointwise_many says."""
    refs = _met(l, [l.unpacked(x) for x in operands])
    full = l.sizes.broadcast([*(x.shape for x in refs), shape])
    loaded: list[View] = []
    given: list[Term] = []
    for x in refs:
        lone = _literal(l, x)
        if lone is None:
            loaded.append(l.real(l.expand(l.real(x), full)))
            lone = load(len(loaded) - 1, x.dtype)
        given.append(lone)
    outputs = build(*given)
    order = _axis_order(l, loaded, len(full))
    if order == tuple(range(len(full))):
        return _run(l, outputs, loaded, dtypes, full)
    turned = {
        t: terms.index(order.index(int(t.arg))) for t in terms.walk(outputs) if t.op == "index"
    }
    ys = _run(
        l,
        terms.substitute(outputs, turned),
        [l.transpose(x, order) for x in loaded],
        dtypes,
        tuple(full[a] for a in order),
    )
    back = [order.index(a) for a in range(len(full))]
    return [l.transpose(y, back) for y in ys]


def _met(l: Lowering, refs: list[Ref]) -> list[Ref]:
    """Operands that agree as far as a run must look: where one has an axis that only it can compare with another's, a reshape
    to that one's extent does."""
    for axis in range(-max((x.rank for x in refs), default=0), 0):
        there = [x.shape[axis] for x in refs if x.rank >= -axis and not is_narrow(x.shape[axis])]
        size = min(there, key=lambda n: (l.sizes.is_counted(n), str(n)), default=1)
        for i, x in enumerate(refs):
            if x.rank < -axis or is_narrow(x.shape[axis]) or same(x.shape[axis], size):
                continue
            either = l.sizes.is_counted(x.shape[axis]) or l.sizes.is_counted(size)
            if either and l.sizes.is_left_to_runs(x.shape[axis], size):
                shape = list(x.shape)
                shape[axis] = size
                refs[i] = l.reshape(x, shape)
    return refs


def _run(
    l: Lowering, outputs: list[Term], operands: Sequence[Ref], dtypes: Sequence[str], shape: Shape
) -> list[Ref]:
    """Drops operands nobody loads, emits, and packs outputs of packed dtypes."""
    loads = terms.loads(outputs)
    used = sorted({int(t.arg) for t in loads})
    if len(used) < len(operands):
        again = {t: terms.make("load", t.type, arg=used.index(int(t.arg))) for t in loads}
        outputs = terms.substitute(outputs, again)
    try:
        steps = terms.compile_terms(outputs)
    except terms.TooLongError as e:
        l.fail(f"the element program is too long ({e})")
    plain = [DTYPES[d].register if DTYPES[d].packed else d for d in dtypes]
    ys = l.emit(
        "pointwise", [operands[i] for i in used], {"steps": steps}, [(d, shape) for d in plain]
    )
    return [
        y if d == y.dtype else l.one("repack", [y], {}, d, shape)
        for y, d in zip(ys, dtypes, strict=True)
        if y is not None
    ]


def _literal(l: Lowering, x: Ref) -> Term | None:
    """The literal of a constant with one element."""
    if any(n != 1 for n in x.shape):
        return None
    array = l.values.array(x)
    if array is None:
        return None
    kind = terms.register(x.dtype)
    if x.dtype == "u64":
        return terms.literal(int(array.reshape(-1).view(np.int64)[0]), kind)
    return terms.literal(array.reshape(-1)[0].item(), kind)


def _axis_order(l: Lowering, operands: Sequence[View], rank: int) -> tuple[int, ...]:
    """The order of the first operand that is computed and has the full shape."""
    for x in operands:
        if not views.is_expanded(x) and l.values.all[x.base].storage != "constant":
            return views.memory_order(x)
    return tuple(range(rank))


# --- casts --------------------------------------------------------------------------------------------------------------

TOP_BIT = -(2**63)


def convert(l: Lowering, x: Ref, dtype: str, *, saturate: bool = True) -> Ref:
    """ONNX Cast: integers wrap, floats to integers truncate, 8-bit and narrower floats round and saturate if told."""
    if x.dtype == dtype:
        return x
    coded = as_codes(l, x, dtype)
    if coded is not None:
        return Codes(dtype, coded, lambda: _convert(l, x, dtype, saturate=saturate))
    return _convert(l, x, dtype, saturate=saturate)


def as_codes(l: Lowering, x: Ref, dtype: str) -> Coded | None:
    """A narrow constant that is widened to a float stays what it was until it is known what reads it."""
    if dtype not in ("f32", "f16", "bf16") or isinstance(x, Known):
        return None
    if isinstance(x, Codes):
        return x.coded if dtype == "f32" else dataclasses.replace(x.coded, dtype=dtype)
    if dtype != "f32" or x.dtype == "bool" or x.dtype in ("f64", "i64", "u64", "i32", "u32"):
        return None
    array = l.values.array(x)
    return None if array is None else Coded(array, dtype="f32")


def _convert(l: Lowering, x: Ref, dtype: str, *, saturate: bool) -> Ref:
    x = l.unpacked(x)
    if not DTYPES[dtype].packed:
        if x.dtype == dtype:
            return x
        return l.pointwise(lambda t: cast_term(t, x.dtype, dtype), [x], dtype)
    wide = DTYPES[dtype].register
    bits = int(dtype[1]) if wide == "i64" else 0
    if x.dtype != wide or bits:
        x = l.pointwise(
            lambda t: _wrap_bits(cast_term(t, x.dtype, wide), bits, dtype[0] == "i"), [x], wide
        )
    return l.one("repack", [x], {"saturate": saturate}, dtype, x.shape)


def cast_term(t: Term, source: str, dtype: str) -> Term:
    """A register of a `source` value as the register of a `dtype` value."""
    if source == "u64" and dtype in FLOATS:
        return term("from_u64", t, type=register(dtype))
    if dtype == "u64" and source in FLOATS:
        return term("to_u64", cast(t, "f64"), type="i64")
    return cast(t, register(dtype))


def rounded(l: Lowering, y: Ref, dtype: str) -> Ref:
    """A float as an element of any type: integers are the nearest, ties to even, and saturate."""
    row = DTYPES[dtype]
    if not row.is_integer:
        return convert(l, y, dtype)
    y = l.pointwise(lambda t: term("nearest", t), [y], y.dtype)
    if row.bits == 64:
        return convert(l, y, dtype)
    y = l.pointwise(
        lambda t: term("max", term("min", t, row.most), row.least), [convert(l, y, "i64")], "i64"
    )
    return convert(l, y, dtype)


def _wrap_bits(t: Term, bits: int, signed: bool) -> Term:
    """The low bits of an integer, as a number of that width."""
    if not bits:
        return t
    low = t & (2**bits - 1)
    return select(lt(low, 2 ** (bits - 1)), low, low - 2**bits) if signed else low


def ordered(l: Lowering, x: Ref) -> Ref:
    """In its register type, ordered as it is: for kernels that compare. u64 has its top bit turned, or it would be the sign."""
    if x.dtype != "u64":
        return convert(l, x, register(x.dtype))
    return l.pointwise(lambda t: term("xor", t, literal(TOP_BIT, "i64")), [x], "i64")


def unordered(l: Lowering, y: Ref, dtype: str) -> Ref:
    """The other way round: elements that `ordered` made, as `dtype`."""
    if dtype != "u64":
        return convert(l, y, dtype)
    return l.pointwise(lambda t: term("xor", t, literal(TOP_BIT, "i64")), [y], "u64")

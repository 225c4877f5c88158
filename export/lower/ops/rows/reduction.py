"""Reductions, softmax and its kin: the reduced axes are brought last by a view; f16 and bf16 are widened in front."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pteron.schema.dtypes import DTYPES, INTEGERS

from ....program.terms import Term, cast, eq, index, register, select, term
from ....program.views import Elements, as_elements
from ....sizes.extents import at_most, minimum, product
from ...context import Lowering
from ...elementwise import convert, ordered, unordered
from ...node import Node
from ...refs import Known, Ref
from ...table import lowers
from ..moving.movement import axes_of, concat

BEFORE: dict[str, Callable[[Term], Term]] = {
    "ReduceL1": lambda x: term("abs", x),
    "ReduceL2": lambda x: x * x,
    "ReduceSumSquare": lambda x: x * x,
}
"""What happens to each element in front of the sum."""

AFTER: dict[str, Callable[[Term], Term]] = {
    "ReduceL2": lambda x: term("sqrt", x),
    "ReduceLogSum": lambda x: term("log", x),
}

KINDS = {"ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "prod"}


COMPARED = ("ReduceMax", "ReduceMin")


def wide(dtype: str) -> str:
    """What `reduce` computes a dtype in."""
    return dtype if dtype in ("f64", "bool") else register(dtype)


@lowers(
    "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
    "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
)  # fmt: skip
def lower_reduce(l: Lowering, n: Node) -> Ref:
    x = n[0]
    axes = axes_of(l, n, 1)
    if not axes:
        if (n.integer("noop_with_empty_axes") and axes is not None) or (
            n.integer("noop_with_empty_axes") and not n.has("axes")
        ):
            return _around(l, n.op_type, x, lambda y: y)
        axes = tuple(range(x.rank))
    keep = n.integer("keepdims", 1)
    if x.rank and any(
        not -x.rank <= a < x.rank for a in axes
    ):  # in bodies of functions nothing has looked
        l.fail(f"expected axes from {-x.rank} to {x.rank - 1}, got {list(axes)}; correct the node")
    over = sorted({a % x.rank for a in axes}) if x.rank else []
    if n.op_type == "ReduceLogSumExp":
        return log_sum_exp(l, x, over, bool(keep))
    kind = KINDS.get(n.op_type, "sum")
    divide = "div_u64" if x.dtype == "u64" else "div"
    return _around(
        l, n.op_type, x, lambda y: reduce(l, y, over, kind, keep=bool(keep), divide=divide)
    )


def _around(l: Lowering, op: str, x: Ref, middle: Callable[[Ref], Ref]) -> Ref:
    """Widening and squaring in front, root and rounding behind, each one pointwise program."""
    kind = wide(x.dtype)
    before, after = BEFORE.get(op), AFTER.get(op)
    floats = kind if kind in ("f32", "f64") else "f64"
    if x.dtype == "u64" and op in COMPARED:
        return unordered(l, middle(ordered(l, x)), x.dtype)
    if x.dtype == "u64" and op == "ReduceL1":
        before = None  # nothing is below 0
    y = convert(l, x, kind) if before is None else l.pointwise(before, [x], kind)
    y = middle(y)
    if op in COMPARED and DTYPES[x.dtype].bits < 64 and kind == "i64" and not _has_some(x):
        row = DTYPES[x.dtype]  # of nothing: the dtype's own end, not that of 64 bits
        most, least = row.most, row.least
        y = l.pointwise(lambda t: term("max", term("min", t, most), least), [y], kind)
    if after is not None:
        y = l.pointwise(lambda t: cast(after(cast(t, floats)), kind), [y], y.dtype)
    return convert(l, y, x.dtype)


def _has_some(x: Ref) -> bool:
    """At least one element, whatever the sizes."""
    return all(n > 0 if isinstance(n, int) else bool(n.is_positive) for n in x.shape)


def reduce(
    l: Lowering, x: Ref, axes: Sequence[int], kind: str, *, keep: bool, divide: str = "div"
) -> Ref:
    """Over `axes` (sorted) of a tensor that `reduce` takes as it is; `divide`: the step that makes a mean of integers."""
    if x.rank and not axes:
        return x
    rest = [a for a in range(x.rank) if a not in axes]
    shape = tuple(x.shape[a] for a in rest)
    if x.dtype == "bool" and kind in ("sum", "prod", "mean"):
        l.fail(f"reduces bool by {kind}; cast it to an integer first")
    if kind == "mean" and x.dtype == "i64":
        total = reduce(l, x, axes, "sum", keep=keep)
        count = l.real(Known("i64", _one(product(x.shape[a] for a in axes))))
        return l.pointwise(lambda a, b: term(divide, a, b), [total, count], "i64")
    y = l.one(
        "reduce",
        [l.transpose(x, [*rest, *axes])],
        {"kind": kind, "count": len(axes)},
        x.dtype,
        shape,
    )
    return l.unsqueeze(y, axes) if keep and axes else y


def _one(value: object) -> Elements:
    return as_elements([value], ())


def log_sum_exp(l: Lowering, x: Ref, axes: Sequence[int], keep: bool) -> Ref:
    """max + log(sum(exp(x - max))): no overflow; a maximum that is infinite is not subtracted. Of integers in f64."""
    wide_x = convert(l, x, "f64" if x.dtype in INTEGERS else wide(x.dtype))
    top = reduce(l, wide_x, axes, "max", keep=True)
    safe = l.pointwise(lambda t: select(term("is_inf", t), 0.0, t), [top], wide_x.dtype)
    powers = l.pointwise(lambda a, b: term("exp", a - b), [wide_x, safe], wide_x.dtype)
    total = reduce(l, powers, axes, "sum", keep=True)
    y = l.pointwise(lambda a, b: term("log", a) + b, [total, safe], wide_x.dtype)
    y = convert(l, y, x.dtype)
    return y if keep or not axes else l.squeeze(y, axes)


@lowers("Softmax", "LogSoftmax", "Hardmax")
def lower_softmax(l: Lowering, n: Node) -> Ref:
    axis = n.integer("axis", -1) % n[0].rank
    return l.move_axis(_softmax(l, n.op_type, l.move_axis(n[0], axis, -1)), -1, axis)


def _softmax(l: Lowering, op: str, x: Ref) -> Ref:
    if op == "Hardmax":
        last = x.rank - 1
        y = extreme_places(l, _some(l, x), "max")
        return l.pointwise(
            lambda a: cast(eq(a, index(last)), register(x.dtype)),
            [l.unsqueeze(y, [last])],
            x.dtype,
            x.shape,
        )
    if x.dtype == "f64":
        return _softmax_f64(l, op, x)
    y = l.one("softmax", [convert(l, x, "f32")], {"log": op == "LogSoftmax"}, "f32", x.shape)
    return convert(l, y, x.dtype)


def _some(l: Lowering, x: Ref) -> Ref:
    """Rows of at least one element, for what compares them: where there may be none, the least number stands behind."""
    if at_most(1, x.shape[-1]):
        return x
    least = l.expand(l.values.scalar(-math.inf, x.dtype), (*x.shape[:-1], 1))
    return concat(l, [x, least], -1)


def extreme_places(l: Lowering, x: Ref, kind: str, *, last: bool = False) -> Ref:
    """Where the largest (max) or least (min) of each row stands: the first, or the last, of equals. NaN counts as either."""
    if x.dtype == "f64":  # found, then looked for
        best = reduce(l, x, [x.rank - 1], kind, keep=True)
        x = l.pointwise(
            lambda a, b: cast(eq(a, b) | term("is_nan", a), "i64"), [x, best], "i64", x.shape
        )
        kind = "max"
    else:
        x = ordered(l, x)
    some = minimum(1, product(x.shape[:-1]))
    l.sizes.require_at_most(some, x.shape[-1], "the place of an extreme, of some elements")
    return l.one("arg_reduce", [x], {"kind": kind, "last": last}, "i64", x.shape[:-1])


def _softmax_f64(l: Lowering, op: str, x: Ref) -> Ref:
    """`softmax` computes f32; f64 is written out."""
    last = [x.rank - 1]
    top = reduce(l, x, last, "max", keep=True)
    powers = l.pointwise(lambda a, b: term("exp", a - b), [x, top], "f64")
    total = reduce(l, powers, last, "sum", keep=True)
    if op == "Softmax":
        return l.pointwise(lambda a, b: a / b, [powers, total], "f64")
    return l.pointwise(lambda a, b, c: a - b - term("log", c), [x, top, total], "f64")

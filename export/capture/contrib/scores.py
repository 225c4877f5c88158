"""What ai.onnx.ml makes of scores: labels, and the transforms behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from .foreign import Foreign

FLOAT: Final = ir.DataType.FLOAT
TRANSFORMS: Final = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
"""By their numbers in TreeEnsemble."""
TINY: Final = 1e-7
"""What softmax_zero takes for zero."""


def rows_of(n: Foreign, i: int = 0, *, wide: bool = False) -> ir.Value:
    """Input i as rows of f32 [n, features]; `wide`: f64 stays."""
    x = n[i]
    if n.rank(x, f"input {i}") == 1:
        x = n("Unsqueeze", x, n.ints(0))
    if x.dtype == FLOAT or (wide and x.dtype == ir.DataType.DOUBLE):
        return x
    return n("Cast", x, to=int(FLOAT))


def transformed(n: Foreign, scores: ir.Value, transform: str, columns: int) -> ir.Value:
    """[n, columns]; onnxruntime leaves one column as it is, but for PROBIT."""
    n.only("post_transform", transform, *TRANSFORMS)
    if transform == "PROBIT":
        return _probit(n, scores)
    if columns == 1 or transform == "NONE":
        return scores
    if transform == "LOGISTIC":
        return n("Sigmoid", scores)
    return n("Softmax", scores, axis=1) if transform == "SOFTMAX" else _softmax_zero(n, scores)


def _softmax_zero(n: Foreign, x: ir.Value) -> ir.Value:
    """A softmax in which zeros have no part."""
    most = n("ReduceMax", x, n.ints(1))
    seen = n("Greater", n("Abs", x), n.like(TINY, x))
    powers = n("Where", seen, n("Exp", n("Sub", x, most)), n.like(0.0, x))
    kept = n("Where", seen, powers, n("Mul", x, n("Exp", n("Neg", most))))
    return n("Div", kept, n("ReduceSum", powers, n.ints(1)))


def _probit(n: Foreign, x: ir.Value) -> ir.Value:
    """sqrt(2) erfinv(2 x - 1) by Winitzki's approximation, as onnxruntime computes it."""
    two, one = n.like(2.0, x), n.like(1.0, x)
    y = n("Sub", n("Mul", two, x), one)
    log = n("Log", n("Mul", n("Sub", one, y), n("Add", one, y)))
    half = n("Add", n.like(2 / (3.14159 * 0.147), x), n("Mul", n.like(0.5, x), log))
    inner = n("Sub", n("Mul", half, half), n("Mul", n.like(1 / 0.147, x), log))
    root = n("Sqrt", n("Sub", n("Sqrt", inner), half))
    sign = n("Where", n("Less", y, n.like(0.0, x)), n.like(-1.41421356, x), n.like(1.41421356, x))
    return n("Mul", sign, root)


def labels_of(n: Foreign, ints: Sequence[int] | None, strings: Sequence[str] | None) -> int:
    """How many classes there are."""
    if strings:
        if n.wants(0):
            n.refuse(
                f"its labels are strings ({strings[0]!r} ...), which no program has",
                "train with numbers as labels, or keep the scores alone as the model's output",
            )
        return len(strings)
    if not ints:
        n.refuse("expected classlabels, got none")
    return len(ints)


def label(n: Foreign, ints: Sequence[int] | None, at: ir.Value) -> ir.Value | None:
    """The labels at the places `at` [n]; None where they are strings that nobody reads."""
    if not ints or not n.wants(0):
        return None
    return n("Gather", n.constant(np.array(ints, np.int64), "labels"), at)


def best(n: Foreign, scores: ir.Value) -> ir.Value:
    """Where the largest of each row stands, the first of equals; [n]."""
    return n("ArgMax", scores, axis=1, keepdims=0)


def above(n: Foreign, score: ir.Value, limit: float) -> ir.Value:
    """1 where a score [n, 1] is above the limit; i64 [n]."""
    flat = n("Squeeze", n("Greater", score, n.like(limit, score)), n.ints(1))
    return n("Cast", flat, to=int(ir.DataType.INT64))


def both(n: Foreign, score: ir.Value, transform: str, *, complement: bool) -> ir.Value:
    """The two columns that a score [n, 1] of the second class stands for."""
    n.only("post_transform", transform, *(t for t in TRANSFORMS if t != "PROBIT"))
    if transform == "LOGISTIC" or not complement:
        pair = n("Concat", n("Neg", score), score, axis=1)
        return n("Sigmoid", pair) if transform == "LOGISTIC" else pair
    return n("Concat", n("Sub", n.like(1.0, score), score), score, axis=1)

"""Linear models and support vector machines of ai.onnx.ml."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .foreign import LEARNED, Foreign, means
from .scores import above, best, both, label, labels_of, rows_of, transformed

Floats = Sequence[float]


def _matrix(n: Foreign, numbers: Floats, rows: int, what: str) -> g.Array:
    if rows < 1 or len(numbers) % rows or not numbers:
        n.refuse(f"expected {what} of {rows} rows, got {len(numbers)} numbers", "correct the node")
    return np.array(numbers, np.float32).reshape(rows, -1)


def _product(n: Foreign, x: ir.Value, rows: g.Array, bias: Floats | None) -> ir.Value:
    """x rows^T + bias."""
    weight = n.constant(np.ascontiguousarray(rows.T), "weight")
    y = n("MatMul", x, weight)
    return n("Add", y, n.constant(np.array(bias, np.float32), "bias")) if bias else y


@means("LinearRegressor", domain=LEARNED)
def linear_regressor(
    n: Foreign,
    *,
    coefficients: Floats,
    intercepts: Floats = (),
    targets: int = 1,
    post_transform: str = "NONE",
) -> ir.Value:
    rows = _matrix(n, coefficients, targets, "coefficients")
    _long(n, intercepts, (0, targets), "intercepts")
    return transformed(n, _product(n, rows_of(n), rows, intercepts), post_transform, targets)


def _long(n: Foreign, numbers: Sequence[object], allowed: Sequence[int], what: str) -> None:
    if len(numbers) not in allowed:
        n.refuse(
            f"expected {what} of {allowed[-1]} numbers, got {len(numbers)}", "correct the node"
        )


@means("LinearClassifier", domain=LEARNED)
def linear_classifier(
    n: Foreign,
    *,
    coefficients: Floats,
    intercepts: Floats = (),
    classlabels_ints: Sequence[int] | None = None,
    classlabels_strings: Sequence[str] | None = None,
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> Sequence[ir.Value | None]:
    """A row of coefficients a class, or one of two classes, whose score is the second's."""
    classes = labels_of(n, classlabels_ints, classlabels_strings)
    count = len(intercepts) or classes
    _long(n, intercepts, (0, count) if classes == 2 and count == 1 else (0, classes), "intercepts")
    y = _product(n, rows_of(n), _matrix(n, coefficients, count, "coefficients"), intercepts)
    if count == 1 and classes == 2:
        scores = both(n, y, post_transform, complement=True)
        return label(n, classlabels_ints, above(n, y, 0.0)), scores
    return label(n, classlabels_ints, best(n, y)), transformed(n, y, post_transform, count)


# --- support vectors ------------------------------------------------------------------------------------------------------


def _kernel(n: Foreign, x: ir.Value, vectors: g.Array, kind: str, parameters: Floats) -> ir.Value:
    """K(x, v) of each row and each vector, [n, vectors]."""
    gamma, shift, degree = (*parameters, 0.0, 0.0, 0.0)[:3]
    n.only("kernel_type", kind, "LINEAR", "POLY", "RBF", "SIGMOID")
    if kind == "RBF":
        return n("Exp", n("Mul", _distances(n, x, vectors), n.like(-gamma, x)))
    dot = _product(n, x, vectors, None)
    if kind == "LINEAR":
        return dot
    inner = n("Add", n("Mul", dot, n.like(gamma, x)), n.like(shift, x))
    return n("Tanh", inner) if kind == "SIGMOID" else n("Pow", inner, n.like(degree, x))


def _distances(n: Foreign, x: ir.Value, vectors: g.Array) -> ir.Value:
    """|x - v|^2 as |x|^2 - 2 x v + |v|^2, seen from the middle of the vectors, where the parts are no larger than need be."""
    wide = vectors.astype(np.float64)
    middle = wide.mean(axis=0).astype(np.float32)
    near = (wide - middle).astype(np.float32)
    x = n("Sub", x, n.constant(middle, "middle"))
    own = n("ReduceSum", n("Mul", x, x), n.ints(1))
    others = n.constant(np.square(near, dtype=np.float64).sum(axis=1).astype(np.float32), "squares")
    total = n("Add", _product(n, x, -2 * near, None), n("Add", own, others))
    return n("Max", total, n.like(0.0, x))


@means("SVMRegressor", domain=LEARNED)
def svm_regressor(
    n: Foreign,
    *,
    coefficients: Floats,
    rho: Floats,
    support_vectors: Floats = (),
    n_supports: int = 0,
    kernel_type: str = "LINEAR",
    kernel_params: Floats = (),
    one_class: int = 0,
    post_transform: str = "NONE",
) -> ir.Value:
    """onnxruntime ignores post_transform."""
    n.only("post_transform", post_transform, "NONE")
    _long(n, rho, (1,), "rho")
    x, weights = rows_of(n), _matrix(n, coefficients, 1, "coefficients")
    if n_supports > 0:
        vectors = _matrix(n, support_vectors, n_supports, "support_vectors")
        x = _kernel(n, x, vectors, kernel_type, kernel_params)
    y = _product(n, x, weights, rho)
    if not one_class:
        return y
    inside = n("Greater", y, n.like(0.0, y))
    return n("Where", inside, n.like(1.0, y), n.like(-1.0, y))


@means("SVMClassifier", domain=LEARNED)
def svm_classifier(
    n: Foreign,
    *,
    coefficients: Floats,
    rho: Floats,
    support_vectors: Floats = (),
    vectors_per_class: Sequence[int] = (),
    classlabels_ints: Sequence[int] | None = None,
    classlabels_strings: Sequence[str] | None = None,
    kernel_type: str = "LINEAR",
    kernel_params: Floats = (),
    prob_a: Floats = (),
    prob_b: Floats = (),
    post_transform: str = "NONE",
) -> Sequence[ir.Value | None]:
    """Each pair of classes votes; scores are those of the pairs, or probabilities that agree with them (Wu, Lin and Weng 2004)."""
    classes = labels_of(n, classlabels_ints, classlabels_strings)
    x, count = rows_of(n), sum(vectors_per_class)
    if count == 0:
        rows = _matrix(n, coefficients, classes, "coefficients")
        y = _product(n, x, rows, [rho[0]] * classes if rho else None)
        return label(n, classlabels_ints, best(n, y)), transformed(n, y, post_transform, classes)
    pairs = list(itertools.combinations(range(classes), 2))
    _long(n, vectors_per_class, (classes,), "vectors_per_class")
    _long(n, rho, (len(pairs),), "rho")
    _long(n, prob_a, (0, len(pairs)), "prob_a")
    _long(n, prob_b, (len(prob_a),), "prob_b")
    vectors = _matrix(n, support_vectors, count, "support_vectors")
    weights = _of_pairs(n, coefficients, vectors_per_class, pairs)
    scores = _product(n, _kernel(n, x, vectors, kernel_type, kernel_params), weights, rho)
    at = best(n, _votes(n, scores, classes, pairs))
    labels = label(n, classlabels_ints, at)
    if prob_a:
        chances = _chances(n, scores, classes, pairs, prob_a, prob_b)
        return labels, transformed(n, chances, post_transform, classes)
    if classes > 2:
        return labels, transformed(n, scores, post_transform, len(pairs))
    return labels, both(n, scores, post_transform, complement=post_transform != "NONE")


def _of_pairs(
    n: Foreign, coefficients: Floats, per_class: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> g.Array:
    """[pairs, vectors] of coefficients [classes - 1, vectors]: a vector of class i has those against j in row j - (j > i)."""
    dual = _matrix(n, coefficients, len(per_class) - 1, "coefficients")
    begin = np.cumsum([0, *per_class])
    made = np.zeros((len(pairs), int(begin[-1])), np.float32)
    if dual.shape[1] != begin[-1]:
        n.refuse(
            f"expected coefficients of {begin[-1]} vectors, got {dual.shape[1]}", "correct the node"
        )
    for k, (i, j) in enumerate(pairs):
        of_i, of_j = slice(begin[i], begin[i + 1]), slice(begin[j], begin[j + 1])
        made[k, of_i], made[k, of_j] = dual[j - 1, of_i], dual[i, of_j]
    return made


def _votes(
    n: Foreign, scores: ir.Value, classes: int, pairs: Sequence[tuple[int, int]]
) -> ir.Value:
    """[n, classes]: the first of a pair has it where its score is above 0."""
    first, second = (np.zeros((classes, len(pairs)), np.float32) for _ in range(2))
    for k, (i, j) in enumerate(pairs):
        first[i, k] = second[j, k] = 1
    won = n("Cast", n("Greater", scores, n.like(0.0, scores)), to=int(ir.DataType.FLOAT))
    # those of the second, and of the first less the second where it won: whole numbers, exact in f32
    return _product(n, won, first - second, list(map(float, second.sum(axis=1))))


def _chances(
    n: Foreign, scores: ir.Value, classes: int, pairs: Sequence[tuple[int, int]], a: Floats, b: Floats
) -> ir.Value:  # fmt: skip
    """[n, classes] of the pairs' own chances: those p that make sum (r_ji p_i - r_ij p_j)^2 least. Of two classes the pair's."""
    if classes != 2:
        n.refuse(
            f"chances of {classes} classes are found by iterating, which is not covered",
            "convert the classifier without probabilities, or calibrate it (CalibratedClassifierCV)",
        )
    slope = n.constant(np.array(a, np.float32), "slope")
    shifted = n("Add", n("Mul", scores, slope), n.constant(np.array(b, np.float32), "shift"))
    low, high = n.like(1e-7, scores), n.like(1 - 1e-7, scores)
    first = n("Clip", n("Sigmoid", n("Neg", shifted)), low, high)
    return n("Concat", first, n("Sub", n.like(1.0, scores), first), axis=1)

"""Determinants of small matrices, by their minors."""

from __future__ import annotations

from collections.abc import Mapping

from ....program.terms import Term
from ...context import Lowering
from ...elementwise import convert
from ...node import Node
from ...refs import Ref
from ...table import lowers

MOST = 3
"""Rows; of n there are n! products."""


@lowers("Det")
def lower_det(l: Lowering, n: Node) -> Ref:
    """[*b, n, n] to [*b]."""
    x = convert(l, n[0], "f64" if n[0].dtype == "f64" else "f32")
    size = x.shape[-1]
    if not isinstance(size, int) or not 1 <= size <= MOST:
        l.fail(f"is of matrices of {size} rows; expected 1 to {MOST}, known at export")
    l.sizes.require_equal(x.shape[-2], size, "matrices are square")
    a = x.rank - 2
    places = [(r, c) for r in range(size) for c in range(size)]
    each = [l.squeeze(l.slice(l.slice(x, a, r, 1), a + 1, c, 1), [a, a + 1]) for r, c in places]

    def whole(*elements: Term) -> Term:
        return _minor(dict(zip(places, elements, strict=True)), 0, tuple(range(size)))

    return convert(l, l.pointwise(whole, each, x.dtype), n[0].dtype)


def _minor(of: Mapping[tuple[int, int], Term], row: int, columns: tuple[int, ...]) -> Term:
    """The determinant of the rows from `row` on and these columns, along the first of the rows."""
    if len(columns) == 1:
        return of[row, columns[0]]
    total: Term | None = None
    for k, c in enumerate(columns):
        part = of[row, c] * _minor(of, row + 1, columns[:k] + columns[k + 1 :])
        total = part if total is None else (total - part if k % 2 else total + part)
    assert total is not None
    return total

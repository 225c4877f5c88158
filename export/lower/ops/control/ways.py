"""Axes that a run decides: the operator is lowered once for each set of axes that there may be, and the run takes one of them.

All of a node's ways give results of one rank; what differs in extent is counted, as of the branches of If.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from pteron.schema.shape import MAX_RANK

from ....program.terms import le, lt
from ...context import Lowering
from ...elementwise import convert
from ...graphs import lower_one
from ...node import Node
from ...refs import Ref
from ...table import WAYS
from ..moving.counted import asserted
from .blocks import either

MOST: Final = 32
"""Ways of a node, each lowered."""
AXES: Final = {
    **dict.fromkeys(
        ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
         "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp", "Squeeze", "Unsqueeze", "CumSum", "CumProd"), 1,
    ),
    "DFT": 2,
}  # fmt: skip
"""The operand that has the axes; their order does not matter."""


def by_axes(l: Lowering, n: Node) -> list[Ref | None] | None:
    """The node's results where only a run knows its axes; None where they are known.

    Raises:
        RefusedError: there are too many ways.
    """
    at = AXES[n.op_type]
    axes = n.get(at)
    if axes is None or l.values.array(axes) is not None:
        return None
    if axes.rank > 1:
        l.fail(
            f"its axes have the shape [{', '.join(map(str, axes.shape))}]; expected a row of them"
        )
    count = axes.shape[0] if axes.rank else 1
    if not isinstance(count, int):
        l.fail(f"the number of its axes is {count}; expected a number")
    rank = n[0].rank + (count if n.op_type == "Unsqueeze" else 0)
    if count > rank or rank > MAX_RANK:
        l.fail(f"{count} axes of rank {rank}; expected each once, and a rank of at most {MAX_RANK}")
    ways = [c for c in itertools.combinations(range(rank), count) if _may_be(n, c)]
    if not 1 <= len(ways) <= MOST:
        l.fail(
            f"its axes are computed while running, which leaves {len(ways)} ways; expected 1 to {MOST}: make them a "
            "constant in the model, or give --example with the input that they come from"
        )
    place = _place(l, l.reshape(axes, (count,)), rank, ways)

    def made(i: int) -> list[Ref]:
        given = l.values.constant(
            np.array(ways[i], np.int64).reshape((count,) if axes.rank else ())
        )
        inputs = (*n.inputs[:at], given, *n.inputs[at + 1 :])
        results = lower_one(l, dataclasses.replace(n, inputs=inputs))
        return [r for r in results if r is not None]

    return list(_among(l, place, 0, len(ways), made))


def _may_be(n: Node, axes: Sequence[int]) -> bool:
    """Whether the axes fit the operand: those that are squeezed have extent 1; a transform is not along real and imaginary parts."""
    if n.op_type == "DFT":
        return n[0].rank - 1 not in axes
    return n.op_type != "Squeeze" or all(n[0].shape[a] == 1 for a in axes)


def _place(l: Lowering, axes: Ref, rank: int, ways: Sequence[Sequence[int]]) -> Ref:
    """Which way the axes say, by the sum of 2^axis; the run fails where they are none of the ways: out of range, or one twice."""
    powers = l.values.constant(2 ** np.arange(rank, dtype=np.int64))
    bits = l.one("gather", [powers, convert(l, axes, "i64")], {}, "i64", axes.shape)
    count = int(axes.shape[0])
    total: Ref = l.values.scalar(0, "i64")
    for i in range(count):
        one = l.reshape(l.slice(bits, 0, i, 1), ())
        total = l.pointwise(lambda a, b: a + b, [total, one], "i64")
    table = np.full(count * 2 ** (rank - 1) + 1, len(ways), np.int64)
    for i, way in enumerate(ways):
        table[sum(2**a for a in way)] = i
    place = l.one("gather", [l.values.constant(table), total], {}, "i64", ())
    return asserted(l, place, lambda p: le(len(ways), p))


def _among(
    l: Lowering, place: Ref, first: int, last: int, make: Callable[[int], list[Ref]]
) -> Sequence[Ref]:
    """What `make` gives for the place that the run finds, by halves."""
    if last - first == 1:
        return make(first)
    middle = (first + last) // 2
    low = l.pointwise(lambda p: lt(p, middle), [place], "bool")
    return either(
        l,
        low,
        lambda: _among(l, place, first, middle, make),
        lambda: _among(l, place, middle, last, make),
    )


WAYS.update(dict.fromkeys(AXES, by_axes))

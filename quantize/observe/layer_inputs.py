"""How a layer reads its input: as rows of what it sums over, in the order of the columns of its matrix (`recipe/layers`).

MatMul, Gemm  x [.., k]       => [1, m, k]
Conv          x [b, c, *s]    => [groups, m, kernel positions * c / groups], a row for each place of the result
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.schema.meaning.windows import same_pads

from ..recipe.layers import Layer

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """Geometry of a Conv, one number an axis; `pads` (before, after); `same`: SAME_UPPER or SAME_LOWER decide them."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[tuple[int, int], ...]
    same: str
    groups: int


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """`value` is read over its last axis (`turned`: the one before it), or through `window`."""

    value: str
    turned: bool = False
    window: Window | None = None

    @property
    def groups(self) -> int:
        return 1 if self.window is None else self.window.groups

    @property
    def text(self) -> str:
        """Unequal for unequal readings."""
        return repr(dataclasses.astuple(self))


def reading(layer: Layer, main: ir.Graph) -> Reading | None:
    """None: nothing is summed (tables), the input is constant, or a body of If, Loop or Scan has the layer."""
    x = layer.node.inputs[0]
    inside = layer.node.graph is not main
    if layer.kind == "gather" or x is None or graphs.constant_tensor(x) is not None or inside:
        return None
    if layer.kind != "conv":
        turned = layer.node.op_type == "Gemm" and bool(graphs.attr(layer.node, "transA", 0))
        return Reading(str(x.name), turned)
    kernel = layer.shape[2:]
    rank = len(kernel)
    ones, none = [1] * rank, [0] * (2 * rank)
    pads = [int(p) for p in graphs.attr(layer.node, "pads", none)]
    auto = str(graphs.attr(layer.node, "auto_pad", "NOTSET"))
    window = Window(
        kernel,
        tuple(int(n) for n in graphs.attr(layer.node, "strides", ones)),
        tuple(int(n) for n in graphs.attr(layer.node, "dilations", ones)),
        tuple(zip(pads[:rank], pads[rank:], strict=True)),
        auto if auto.startswith("SAME") else "",
        int(graphs.attr(layer.node, "group", 1)),
    )
    return Reading(str(x.name), window=window)


def rows(how: Reading, x: Array, most: int = sys.maxsize, turn: int = 0) -> Array:
    """What a layer sums over, [groups, m, k]; of a Conv each column is dense: rows of the picture are copied, or none where it has one tap.

    Args:
        most: Of the places of a Conv's result that are more, about so many, evenly spaced;
        turn: other ones at each turn, so that the first and last of an axis have their share.
    """
    if how.window is None:
        wide = x.swapaxes(-1, -2) if how.turned else x
        return wide.reshape(1, -1, wide.shape[-1])
    seen, groups = _seen(how.window, x), how.window.groups
    rank = x.ndim - 2
    seen = seen[(slice(None), slice(None), *_spaced(seen.shape[2 : x.ndim], most, turn))]
    places, kernel = seen.shape[2 : x.ndim], how.window.kernel
    each = seen.reshape(len(x), groups, x.shape[1] // groups, *places, *kernel)
    order = (1, *range(3 + rank, 3 + 2 * rank), 2, 0, *range(3, 3 + rank))
    k = math.prod(kernel) * (x.shape[1] // groups)
    return each.transpose(order).reshape(groups, k, -1).swapaxes(1, 2)


def _spaced(places: Sequence[int], most: int, turn: int) -> list[slice]:
    """Of each axis where to begin and how far to go, so that at least `most` places are met, or all."""
    left, found = math.prod(places) / most, list[slice]()
    for i in range(len(places)):
        step = min(max(int(left ** (1 / (len(places) - i))), 1), max(places[i], 1))
        left /= step
        turn, begin = divmod(turn, step)
        found.append(slice(begin, None, step))
    return found


def _seen(w: Window, x: Array) -> Array:
    """A view of what the window sees, [b, c, *places, *kernel]."""
    reach = tuple((k - 1) * d + 1 for k, d in zip(w.kernel, w.dilations, strict=True))
    pads = [
        same_pads(n, s, r, w.same) if w.same else pair
        for n, s, r, pair in zip(x.shape[2:], w.strides, reach, w.pads, strict=True)
    ]
    padded = np.pad(x, [(0, 0), (0, 0), *pads]) if any(map(any, pads)) else x
    axes = tuple(range(2, x.ndim))
    seen = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=axes)
    steps = [slice(None, None, s) for s in w.strides]
    taps = [slice(None, None, d) for d in w.dilations]
    return seen[(slice(None), slice(None), *steps, *taps)]

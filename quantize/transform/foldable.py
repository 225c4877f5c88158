"""What can take a factor for each channel of a value, or a matrix: constants before it, through what keeps channels apart.

    y = LayerNormalization(x, g, b)        y / s: g / s, b / s
    y = Mul(x, g), Add(x, b), x not const  y / s: g / s; b / s and x / s
    y = MatMul(x, w), Gemm(x, w, c)        y / s: columns of w / s, c / s
    y = Relu(x), Mul(gate, x)              y / s: x / s
    y = Attention(q, k, v)                 y / s: v / s; heads of y that share one of v share factors

A matrix of all channels of a head of attention goes through what is linear: products, sums with constants, Attention, Identity.

Reshape and Transpose are followed by the numbers of the channels themselves: an array of them lies behind a value as its elements do.
Nobody else may read a value on the way. Shapes are those of two sets of sizes, and known where both say the same.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph.extents import shapes_at
from pteron.export.graph.fix import symbols

Array = NDArray[Any]

SIZES: Final = ((3, 5, 7, 11, 13), (17, 19, 23, 29, 31))
"""Of symbolic dimensions: no two alike, and no number of channels or heads that is usual."""
UNKNOWN: Final = -1
EVEN: Final = ("Relu", "LeakyRelu", "Identity")
"""f(x / s) = f(x) / s for s > 0."""


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """Input `slot` of `node`, a constant, takes the factors of `channels`, which spread over it as over an operand."""

    node: ir.Node
    slot: int
    channels: Array


@dataclasses.dataclass(frozen=True, slots=True)
class Fold:
    """`places` take the factors of `count` channels; `tied` [count]: the channel whose factor each one has."""

    places: tuple[Place, ...]
    tied: Array


class Shapes:
    """Extents of values, UNKNOWN where they differ with the sizes of inputs."""

    def __init__(self, model: ir.Model) -> None:
        names = sorted(symbols(model))
        self._each: list[dict[ir.Value, list[int]]] = []
        for sizes in SIZES:
            more = sizes * (len(names) // len(sizes) + 1)
            self._each.append(shapes_at(model, dict(zip(names, more, strict=False)).get))

    def of(self, value: ir.Value | None) -> list[int] | None:
        """None: not even the rank is known."""
        if value is None or any(value not in shapes for shapes in self._each):
            return None
        first, second = (shapes[value] for shapes in self._each)
        if len(first) != len(second):
            return None
        return [a if a == b else UNKNOWN for a, b in zip(first, second, strict=True)]

    def same(self, a: ir.Value | None, b: ir.Value | None) -> bool:
        """Whether two values are alike, whatever the sizes."""
        if a is None or b is None:
            return False
        return all(a in shapes and shapes[a] == shapes.get(b) for shapes in self._each)


def fold(value: ir.Value, readers: Sequence[ir.Node], shapes: Shapes) -> Fold | None:
    """How what makes `value` takes a factor for each of its channels, the last axis; None: it cannot.

    Args:
        readers: Nodes that make up for it; nobody else may read the value.
    """
    walk = Walk(shapes, STEPS)
    if not _alone(value, readers) or not walk.back(value):
        return None
    return Fold(tuple(walk.places), walk.tied)


def _alone(value: ir.Value, readers: Sequence[ir.Node]) -> bool:
    """Nobody else reads it."""
    return not value.is_graph_output() and all(use.node in readers for use in value.uses())


class Walk:
    """From a value back to constants: each step asks what made it, with the numbers of the channels in its elements' order.

    `places`, `tied`: as `Fold` has them. `apart` [count]: the head of attention that each channel is of; `meets_attention`: on the way,
    whether it takes anything or not. `stopped`: the first node that takes nothing.
    """

    def __init__(self, shapes: Shapes, steps: Steps) -> None:
        self.shapes, self.steps = shapes, steps
        self.places: list[Place] = []
        self.tied = self.apart = np.arange(0)
        self.stopped: ir.Node | None = None
        self.meets_attention = False

    def back(self, value: ir.Value) -> bool:
        """Whether what makes the value takes something for each of its channels, the last axis."""
        extents = self.shapes.of(value)
        if extents is None or extents[-1:] in ([], [UNKNOWN]):
            return False
        self.tied, self.apart = np.arange(extents[-1]), np.zeros(extents[-1], np.int64)
        return self.made(value, self.tied.reshape((1,) * (len(extents) - 1) + (-1,)))

    def made(self, value: ir.Value, ids: Array) -> bool:
        """Whether what makes the value takes the factors; then the places are known. `ids` has the rank of the value."""
        node = value.producer()
        if node is None or node.domain != "" or value is not node.outputs[0]:
            self.stopped = self.stopped or node
            return False
        step = self.steps.get(node.op_type)
        takes = step is not None and step(self, node, ids)
        self.stopped = self.stopped or (None if takes else node)
        return takes

    def before(self, value: ir.Value | None, ids: Array) -> bool:
        """As `made`, of a value that one node reads."""
        return value is not None and graphs.read_once(value) and self.made(value, ids)

    def norm(self, node: ir.Node, ids: Array) -> bool:
        channels = _last(ids)
        if channels is None or any(v.uses() for v in node.outputs[1:]):
            return False
        return self._constants(node, range(1, len(node.inputs)), channels)

    def product(self, node: ir.Node, ids: Array) -> bool:
        """By a constant weight that nobody else has, or the second of two values."""
        if graphs.constant_tensor(node.inputs[1]) is None:
            return self._of_values(node, ids)
        channels = _last(ids)
        return channels is not None and self._weight(node, channels)

    def _weight(self, node: ir.Node, channels: Array) -> bool:
        weight, extents = node.inputs[1], self.shapes.of(node.inputs[1])
        turned = graphs.is_op(node, "Gemm") and bool(graphs.attr(node, "transB", 0))
        if weight is None or not graphs.read_once(weight) or extents is None or len(extents) != 2:
            return False
        if extents[0 if turned else 1] != len(channels):
            return False
        wide = channels[:, None] if turned else channels
        return self._constants(node, [1], wide) and self._constants(
            node, range(2, len(node.inputs)), channels
        )

    def _of_values(self, node: ir.Node, ids: Array) -> bool:
        """p @ v: channels of v, where each belongs to a column of one matrix."""
        v = node.inputs[1]
        row = ids.ndim >= 2 and ids.shape[-2] == 1
        if not row or not self._whole(v, ids):
            return False
        self.meets_attention = True
        each = ids.reshape(-1, ids.shape[-1])
        self._part(each, np.arange(len(each))[:, None])
        return self.before(v, ids)

    def _whole(self, value: ir.Value | None, ids: Array) -> bool:
        """Each element of the operand meets one channel: it is as long as the result where channels differ."""
        extents = self.shapes.of(value)
        if extents is None or len(extents) != ids.ndim:
            return False
        return all(c in (1, n) for c, n in zip(ids.shape, extents, strict=True))

    def sum(self, node: ir.Node, ids: Array) -> bool:
        """Of a value and a constant."""
        slot = _constant_of(node, ids.ndim)
        if slot is None:
            return False
        other = node.inputs[1 - slot]
        return (
            self._whole(other, ids)
            and self.before(other, ids)
            and self._constants(node, [slot], ids)
        )

    def scaled(self, node: ir.Node, ids: Array) -> bool:
        """By a constant, which takes all; of two values, one of which does."""
        slot = _constant_of(node, ids.ndim)
        if slot is not None:
            return self._constants(node, [slot], ids)
        for value in reversed(node.inputs):
            kept = list(self.places), self.tied
            if self._whole(value, ids) and self.before(value, ids):
                return True
            self.places, self.tied = kept
        return False

    def looked_up(self, node: ir.Node, ids: Array) -> bool:
        """Rows of a table."""
        channels, extents = _last(ids), self.shapes.of(node.inputs[0])
        if channels is None or extents is None or extents[-1:] != [len(channels)]:
            return False
        along = graphs.attr(node, "axis", 0) in (-1, len(extents) - 1)
        return not along and self._constants(node, [0], channels)

    def even(self, node: ir.Node, ids: Array) -> bool:
        return self.before(node.inputs[0], ids)

    def transposed(self, node: ir.Node, ids: Array) -> bool:
        perm = [int(p) for p in graphs.attr(node, "perm", range(ids.ndim)[::-1])]
        return self.before(node.inputs[0], np.transpose(ids, np.argsort(perm)))

    def reshaped(self, node: ir.Node, ids: Array) -> bool:
        """The axes at the end that have the channels keep their elements together, or nothing changes."""
        if self.shapes.same(node.inputs[0], node.outputs[0]):
            return self.before(node.inputs[0], ids)
        after, before = self.shapes.of(node.outputs[0]), self.shapes.of(node.inputs[0])
        if after is None or before is None:
            return False
        first = next((i for i, n in enumerate(ids.shape) if n != 1), ids.ndim)
        tail = after[first:]
        if UNKNOWN in tail:
            return False
        count, at = int(np.prod(tail)), len(before)
        while at and UNKNOWN not in before[at - 1 :] and np.prod(before[at:]) < count:
            at -= 1
        if UNKNOWN in before[at:] or np.prod(before[at:]) != count:
            return False
        whole = np.broadcast_to(ids.reshape(ids.shape[first:]), tail)
        return self.before(node.inputs[0], whole.reshape((1,) * at + tuple(before[at:])))

    def attended(self, node: ir.Node, ids: Array) -> bool:
        self.meets_attention = True
        v, mine, of_v = (
            node.inputs[2],
            self.shapes.of(node.outputs[0]),
            self.shapes.of(node.inputs[2]),
        )
        past = any(x is not None for x in node.inputs[4:6])
        present = any(map(graphs.is_read, node.outputs[1:3]))
        if v is None or mine is None or of_v is None or len(mine) != len(of_v) or past or present:
            return False
        if len(mine) == 4:
            heads, shared, size = mine[1], of_v[1], mine[3]
        else:
            heads, shared = (int(graphs.attr(node, f"{x}_num_heads", 0)) for x in ("q", "kv"))
            size = mine[-1] // max(heads, 1)
        apart = (1, heads, 1, size) if len(mine) == 4 else (1, 1, heads * size)
        if min(heads, shared, size) < 1 or heads % shared or ids.shape != apart:
            return False
        each = ids.reshape(shared, heads // shared, size)
        self._tie(each)
        self._part(each, np.arange(heads).reshape(shared, -1, 1))
        kept = each[:, 0]
        wide = kept.reshape(1, shared, 1, size) if len(mine) == 4 else kept.reshape(1, 1, -1)
        return self.before(v, wide)

    def _tie(self, each: Array) -> None:
        """Channels [heads of v, heads of q by one, size]: those of one head of v have one factor."""
        as_first = self.tied.copy()
        as_first[each] = each[:, :1]
        self.tied = as_first[self.tied]

    def _part(self, each: Array, heads: Array) -> None:
        """Channels are of these heads, within those that they were of."""
        self.apart = self.apart * heads.size
        self.apart[each] += heads

    def _constants(self, node: ir.Node, slots: Sequence[int], channels: Array) -> bool:
        """The node's constants at these inputs take the factors; absent ones need none."""
        for slot in slots:
            value = node.inputs[slot]
            if value is None:
                continue
            tensor = graphs.constant_tensor(value)
            if tensor is None or tensor.dtype != ir.DataType.FLOAT:
                return False
            self.places.append(Place(node, slot, channels))
        return True


def _last(ids: Array) -> Array | None:
    """The channels, where the last axis alone has them."""
    return ids.reshape(-1) if ids.shape[-1] == ids.size else None


def _constant_of(node: ir.Node, rank: int) -> int | None:
    """The operand that is a constant of no more axes than the result."""
    for slot in (0, 1):
        tensor = graphs.constant_tensor(node.inputs[slot])
        if tensor is not None:
            return slot if len(tensor.shape) <= rank else None
    return None


Steps = Mapping[str, Callable[[Walk, ir.Node, Array], bool]]

STEPS: Final[Steps] = {
    "LayerNormalization": Walk.norm,
    "RMSNormalization": Walk.norm,
    "MatMul": Walk.product,
    "Gemm": Walk.product,
    "Add": Walk.sum,
    "Mul": Walk.scaled,
    "Transpose": Walk.transposed,
    "Reshape": Walk.reshaped,
    "Attention": Walk.attended,
    **dict.fromkeys(EVEN, Walk.even),
}
"""What takes a factor for each channel."""
LINEAR: Final[Steps] = {name: STEPS[name] for name in ("MatMul", "Gemm", "Add", "Transpose", "Reshape", "Attention", "Identity")}  # fmt: skip
"""What takes a matrix of the channels of a head."""

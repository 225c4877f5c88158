"""Residual streams: values that sums join, which take one matrix of their channels all together, with all that writes and reads them.

    x = Add(x, y)                        y, x: both take it
    MatMul(.., w), Gather(table, i)      write: columns take it; so do constants that are added
    MatMul(x, w)                         reads: rows take it
    y = RMSNormalization(x, g)           y takes what x takes, where g is one number or layers alone read y: their rows take g, too
    y = LayerNormalization(x, g, b)      likewise, and b / g; the matrix has to keep the mean of the channels
    Mul(x, r), Div(x, r), r [.., 1]      the same value, scaled by tokens; Reshape, Gather, Slice of other axes: moved

So do the norms' parts where they are written out: Mul by a gain, sums of squares, Sub of the mean. Anything else that makes or reads such a
value is the reason why the stream stays as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph.weights import read

from ..observe.layer_inputs import reading
from ..recipe.layers import Layer
from .foldable import LINEAR, Place, Shapes, Steps, Walk

F64 = NDArray[np.float64]

NORMS: Final = ("LayerNormalization", "RMSNormalization")
SUMS: Final = ("Add", "Sub")
LOUD: Final = 2.0**10
"""A bias may be so many times its gain: in f32 their quotient is added and what it is multiplied by taken away."""
SUM, MEAN, BIAS, GAIN, NORM, MOVED = range(6)
"""What a node makes of values of a stream; MEAN: a sum with one number for all channels."""
WRITES: Final[Steps] = {**LINEAR, "Gather": Walk.looked_up}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """A constant that takes the matrix, its channels times `gain` [size] before; None: 1."""

    place: Place
    gain: F64 | None = None


@dataclasses.dataclass(slots=True, eq=False)
class Stream:
    """`size` channels. `gains`: of norms, which become 1. `why`: it stays as it is."""

    name: str
    size: int
    turns: list[Turn] = dataclasses.field(default_factory=list)
    gains: list[Place] = dataclasses.field(default_factory=list)
    keeps_mean: bool = False
    why: str = ""

    def refuse(self, why: str) -> None:
        self.why = self.why or why


def streams(model: ir.Model, shapes: Shapes, layers: Mapping[ir.Node, Layer]) -> Iterator[Stream]:
    """In the order of the graph: those that begin with a sum of which a product or a table writes a part."""
    seen: set[ir.Value] = set()
    for node in model.graph:
        if not graphs.is_op(node, "Add") or node.outputs[0] in seen:
            continue
        found = _Found(model.graph, shapes, layers, node)
        if found.is_stream:
            yield found.stream()
            seen |= found.members.keys()


class _Found:
    """The values of the stream that a sum is of. `members`: each with the gain that it has over x."""

    def __init__(self, graph: ir.Graph, shapes: Shapes, layers: Mapping[ir.Node, Layer], node: ir.Node) -> None:  # fmt: skip
        self.graph, self.shapes, self.layers = graph, shapes, layers
        self.members: dict[ir.Value, F64 | None] = {}
        extents = shapes.of(node.outputs[0]) or [0]
        self.made = Stream(node.name or "", extents[-1])
        kind, parts = self._carried(node) if extents[-1] > 1 else (None, [])
        self.is_stream = kind == SUM and any(self._written(part) for part in parts)
        if self.is_stream:
            self._spread(node.outputs[0])

    def stream(self) -> Stream:
        made = self.made
        for value in self.members:
            maker = value.producer()
            if value.is_graph_output():
                made.refuse(f"{value.name} is an output of the model")
            elif maker is None or value is not maker.outputs[0]:
                of = "an input of the model" if maker is None else f"made by {_said(maker)}"
                made.refuse(f"{value.name} is {of}")
            for use in value.uses():
                if use.node.graph is not self.graph:
                    made.refuse(f"{_said(use.node)} reads {value.name} in a body")
        for node in self.graph:
            if node.outputs and node.outputs[0] in self.members:
                self._makes(node, node.outputs[0])
            for slot, x in enumerate(node.inputs):
                if x is not None and x in self.members:
                    self._reads(node, slot, x)
        self._shared()
        return made

    def _spread(self, start: ir.Value) -> None:
        """All values that the stream carries on to."""
        todo = [start]
        while todo:
            value = todo.pop()
            if value in self.members:
                continue
            self.members[value] = None
            maker = value.producer()
            for node in [*([] if maker is None else [maker]), *(use.node for use in value.uses())]:
                kind, parts = self._carried(node)
                if kind is not None and value in (*parts, node.outputs[0]):
                    todo += [*parts, node.outputs[0]]

    def _carried(self, node: ir.Node) -> tuple[int | None, list[ir.Value]]:
        """What a node makes of which of its inputs, where its result has the channels of these; None: something else."""
        if node.domain != "" or not node.inputs or node.inputs[0] is None:
            return None, []
        x, y = node.inputs[0], node.outputs[0]
        extents = self.shapes.of(x)
        if node.op_type in (*SUMS, "Mul", "Div"):
            return self._pair(node)
        if (
            extents is None
            or extents[-1:] != [self.made.size]
            or graphs.constant_tensor(x) is not None
        ):
            return None, []
        rank = len(extents)
        if node.op_type in NORMS:
            last = graphs.attr(node, "axis", -1) in (-1, rank - 1)
            return (NORM, [x]) if last else (None, [])
        if node.op_type == "Slice":
            axes = graphs.ints(node.inputs[3]) if len(node.inputs) > 3 else None
            moved = axes is not None and not {-1, rank - 1} & set(axes)
        elif node.op_type == "Gather":
            moved = graphs.attr(node, "axis", 0) not in (-1, rank - 1)
        else:
            after = self.shapes.of(y)
            moved = node.op_type in ("Reshape", "Identity") and (after or [])[-1:] == extents[-1:]
        return (MOVED, [x]) if moved else (None, [])

    def _pair(self, node: ir.Node) -> tuple[int | None, list[ir.Value]]:
        """Of a sum, a product or a quotient of two."""
        a, b = node.inputs
        if a is None or b is None or a is b:
            return None, []
        wide = [self._wide(v) for v in (a, b)]
        fixed = [graphs.constant_tensor(v) is not None for v in (a, b)]
        many, adds = node.op_type != "Div", node.op_type in SUMS
        for x, other, swapped in ((0, 1, False), (1, 0, True)):
            value = node.inputs[x]
            if not wide[x] or fixed[x] or (swapped and not many) or value is None:
                continue
            if wide[other] and not fixed[other]:
                return (SUM, [a, b]) if adds else (None, [])
            if fixed[other] and adds:
                return (BIAS, [value]) if node.op_type == "Add" else (None, [])
            if fixed[other] and wide[other]:
                return (GAIN, [value]) if node.op_type == "Mul" else (None, [])
            extents = self.shapes.of(node.inputs[other])
            if extents is not None and extents[-1:] in ([], [1]):
                return (MEAN if adds else MOVED), [value]
        return None, []

    def _wide(self, value: ir.Value | None) -> bool:
        extents = self.shapes.of(value)
        return extents is not None and extents[-1:] == [self.made.size]

    def _written(self, value: ir.Value) -> Walk | None:
        """What makes a value of products and tables alone, of all channels together."""
        walk = Walk(self.shapes, WRITES)
        return walk if walk.back(value) and not walk.apart.any() else None

    # --- what is asked of each node -----------------------------------------------------------------------------------

    def _makes(self, node: ir.Node, y: ir.Value) -> None:
        kind, parts = self._carried(node)
        if kind is None:
            walk = self._written(y)
            if walk is None:
                self.made.refuse(
                    f"{_said(node)} makes {y.name}, and is no product by a weight of its own"
                )
            else:
                self.made.turns += [Turn(place) for place in walk.places]
            return
        gain = self.members[parts[0]]
        if kind in (SUM, MEAN, NORM, GAIN) and any(self.members[p] is not None for p in parts):
            self.made.refuse(f"{_said(node)} reads what a norm has scaled by gains that differ")
        self.made.keeps_mean |= kind == MEAN or graphs.is_op(node, "LayerNormalization")
        channels = np.arange(self.made.size)
        if kind in (NORM, GAIN):
            slot = 1 if kind == NORM else node.inputs.index(_other(node, parts[0]))
            gain = self._gain(node, slot)
            if gain is not None:
                self.made.gains.append(Place(node, slot, channels))
        bias = 2 if kind == NORM else 1 - node.inputs.index(parts[0])
        if kind == BIAS or (kind == NORM and len(node.inputs) > 2 and node.inputs[2] is not None):
            self._bias(Place(node, bias, channels), gain)
        self.members[y] = gain

    def _gain(self, node: ir.Node, slot: int) -> F64 | None:
        """By channels; None: it is one number, which stays where it is."""
        tensor = graphs.constant_tensor(node.inputs[slot])
        if tensor is None or tensor.dtype != ir.DataType.FLOAT or tensor.size not in (1, self.made.size):  # fmt: skip
            self.made.refuse(f"{_said(node)}: its gain is no constant of {self.made.size} channels")
            return None
        gain = np.asarray(read(tensor), np.float64).reshape(-1)
        return None if (gain == gain[0]).all() else gain

    def _bias(self, place: Place, gain: F64 | None) -> None:
        tensor = graphs.constant_tensor(place.node.inputs[place.slot])
        if tensor is None or tensor.dtype != ir.DataType.FLOAT:
            self.made.refuse(f"{_said(place.node)}: its bias is no constant")
            return
        if gain is None:
            self.made.turns.append(Turn(place))
        else:
            bias = np.atleast_1d(read(tensor))
            most = np.abs(np.broadcast_to(bias, (*bias.shape[:-1], len(gain)))).reshape(
                -1, len(gain)
            )
            if (most > LOUD * np.abs(gain)).any():
                self.made.refuse(f"{_said(place.node)}: gains are too small beside the bias")
            inverse = np.divide(1.0, gain, out=np.zeros_like(gain), where=gain != 0)
            self.made.turns.append(Turn(place, inverse))

    def _reads(self, node: ir.Node, slot: int, value: ir.Value) -> None:
        kind, parts = self._carried(node)
        gain, layer = self.members[value], self.layers.get(node)
        if (kind is not None and value in parts) or graphs.is_op(node, "Shape"):
            return
        how = None if layer is None or slot != 0 else reading(layer, self.graph)
        if layer is not None and how is not None and not how.turned and how.window is None:
            channels = np.arange(self.made.size)
            rows = channels[:, None] if layer.kind == "matmul" else channels
            self.made.turns.append(Turn(Place(node, layer.slot, rows), gain))
            return
        length, mean = _is_length(node, self.shapes), _over_last(node, self.shapes, "ReduceMean")
        self.made.keeps_mean |= mean
        if not (length or mean) or gain is not None:
            self.made.refuse(f"{_said(node)} reads {value.name}, and is no product by a weight")

    def _shared(self) -> None:
        """A weight that layers share takes the same for all of them."""
        takes: dict[tuple[ir.Node, int], set[object]] = {}
        for turn in self.made.turns:
            takes.setdefault((turn.place.node, turn.place.slot), set()).add(
                (id(turn.gain), turn.place.channels.shape)
            )
        for (node, slot), mine in takes.items():
            layer, value = self.layers.get(node), node.inputs[slot]
            if layer is None or layer.slot != slot or value is None:
                continue
            for use in value.uses():
                other = self.layers.get(use.node)
                if other is None or other.kind != layer.kind:
                    continue
                if takes.get((use.node, use.idx)) != mine:
                    self.made.refuse(f"{_said(use.node)} and {_said(node)} share {value.name}")


def _said(node: ir.Node) -> str:
    return f"{node.name} ({node.op_type})"


def _other(node: ir.Node, value: ir.Value) -> ir.Value | None:
    return node.inputs[1] if node.inputs[0] is value else node.inputs[0]


def _is_length(node: ir.Node, shapes: Shapes) -> bool:
    """Whether it is a sum of squares of the last axis, or goes into such alone."""
    if graphs.is_op(node, "Pow", "Mul"):
        a, b = node.inputs
        square = a is b if node.op_type == "Mul" else graphs.scalar(b) == 2.0
        uses = node.outputs[0].uses()
        over = all(_over_last(use.node, shapes, "ReduceMean", "ReduceSum") for use in uses)
        return square and over and not node.outputs[0].is_graph_output()
    return _over_last(node, shapes, "ReduceL2", "ReduceSumSquare")


def _over_last(node: ir.Node, shapes: Shapes, *kinds: str) -> bool:
    extents = shapes.of(node.inputs[0]) if graphs.is_op(node, *kinds) else None
    return extents is not None and graphs.axes_of(node) in ([-1], [len(extents) - 1])

"""Rotations of channels, folded into constants, so that no weight has a few that are large: in f32 the network computes the same but for rounding.

    stream   x R for the residual stream x: what writes it takes R, what reads it R^T (`residual`)
    heads    v R for the values of each head of attention: w_v R, R^T w_o (`foldable`)

Orthogonal R spreads a large weight, or a large channel of the input, over a row, so that steps that are shared get finer.
Ashkboos et al. 2024, QuaRot, https://arxiv.org/abs/2404.00456; Liu et al. 2024, SpinQuant, https://arxiv.org/abs/2405.16406: their R1 and R2.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph.weights import read, rows_of
from pteron.schema.errors import RecipeError

from ..observe.layer_inputs import reading
from ..recipe.layers import Layer, layers
from ..recipe.rules import ROTATIONS
from ..report import Rotated
from .foldable import LINEAR, Place, Shapes, Walk
from .hadamard import Rotation, rotation
from .residual import Stream, Turn, streams

Array = NDArray[Any]
F64 = NDArray[np.float64]
F32 = NDArray[np.float32]
NONE, HEADS, STREAM, ALL = ROTATIONS


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What is told of it, and how its constants are turned; `made` None: they are not. `ones`: gains that become 1."""

    row: Rotated
    made: Rotation | None = None
    turns: Sequence[Turn] = ()
    ones: Sequence[Place] = ()


def rotated(model: ir.Model, how: str, seed: int) -> list[Rotated]:
    """Rotates, in place, what can be: the residual streams, the values of heads, or all of them.

    Returns:
        What was rotated, and what stays as it is and why.

    Raises:
        RecipeError: nothing can be; nothing is changed then.
    """
    shapes, every = Shapes(model), layers(model, True)
    found: list[_Found] = []
    if how in (STREAM, ALL):
        by_node = {layer.node: layer for layer in every}
        found += [_of_stream(one, seed) for one in streams(model, shapes, by_node)]
    if how in (HEADS, ALL):
        each = (_of_heads(model.graph, layer, shapes, seed) for layer in every)
        found += [one for one in each if one is not None]
    if all(one.made is None for one in found):
        told = "; ".join(f"{one.row.name}: {one.row.why}" for one in found[:3])
        raise RecipeError(
            f"rotation {how}: expected {_SAID[how]}, got {told or 'none'}; drop the rotation"
        )
    used = graphs.names(model)
    for one in found:
        _turn(model.graph, one, used)
    graphs.drop_unread(model)
    return [one.row for one in found]


_SAID: Final = {
    STREAM: "a residual stream that products, tables and norms alone make and read",
    HEADS: "values of attention between two products",
    ALL: "a residual stream or values of attention that products alone make and read",
}


def _of_stream(stream: Stream, seed: int) -> _Found:
    row = Rotated(stream.name, STREAM, stream.size, 1, stream.why)
    if stream.why:
        return _Found(row)
    channels = np.arange(stream.size)
    text = f"{seed} {STREAM} {stream.name}"
    made = rotation(np.zeros_like(channels), channels, text, keeps_mean=stream.keeps_mean)
    return _Found(row, made, stream.turns, stream.gains)


def _of_heads(graph: ir.Graph, layer: Layer, shapes: Shapes, seed: int) -> _Found | None:
    """The values that a layer reads, where they come from attention."""
    how, weight, value = (
        reading(layer, graph),
        layer.node.inputs[layer.slot],
        layer.node.inputs[0],
    )
    if how is None or how.turned or how.window is not None or value is None or weight is None:
        return None
    walk = Walk(shapes, LINEAR)
    whole = walk.back(value)
    if not walk.meets_attention:
        return None
    k, why = layer.extents[1], ""
    if not whole and walk.stopped is not None:
        why = f"{walk.stopped.name} ({walk.stopped.op_type}) is on the way"
    elif not (graphs.read_once(value) and graphs.read_once(weight)):
        why = "others read them, or its weight"
    made = rotation(walk.apart, walk.tied, f"{seed} {HEADS} {layer.name}")
    rows = np.arange(k)[:, None] if layer.kind == "matmul" else np.arange(k)
    places = [*walk.places, Place(layer.node, layer.slot, rows)]
    sizes = {made.size(place.channels.reshape(-1)) for place in places}
    if not why and (len(sizes) > 1 or 0 in sizes):
        why = "its heads are not alike"
    if why:
        return _Found(Rotated(layer.name, HEADS, k, 0, why))
    size = sizes.pop()
    return _Found(
        Rotated(layer.name, HEADS, size, k // size), made, [Turn(place) for place in places]
    )


# --- the graph ------------------------------------------------------------------------------------------------------------


def _turn(graph: ir.Graph, one: _Found, used: set[str]) -> None:
    """Each constant is one of its reader's own then; those that had one and take the same share one again."""
    done: dict[tuple[object, ...], ir.Value] = {}
    for turn in one.turns if one.made is not None else ():
        place, tensor = turn.place, _constant(turn.place)
        key = (place.node.inputs[place.slot], id(turn.gain), str(place.channels.shape), place.channels.tobytes())  # fmt: skip
        if key not in done:
            assert one.made is not None
            done[key] = _new(graph, place, _later(tensor, turn, one.made), used)
        place.node.replace_input_with(place.slot, done[key])
    for place in one.ones:
        ones = ir.tensor(np.ones([int(str(n)) for n in _constant(place).shape], np.float32))
        place.node.replace_input_with(place.slot, _new(graph, place, ones, used))


def _constant(place: Place) -> ir.TensorProtocol:
    tensor = graphs.constant_tensor(place.node.inputs[place.slot])
    assert tensor is not None
    return tensor


def _new(graph: ir.Graph, place: Place, tensor: ir.TensorProtocol, used: set[str]) -> ir.Value:
    old = place.node.inputs[place.slot]
    assert old is not None
    return graphs.initializer(graph, tensor, f"{old.name}.rotated", used)


def _later(tensor: ir.TensorProtocol, turn: Turn, made: Rotation) -> ir.TensorProtocol:
    """Rotated whenever it is read."""
    channels = turn.place.channels
    shape = np.broadcast_shapes(tuple(int(str(n)) for n in tensor.shape), channels.shape)

    def now() -> ir.TensorProtocol:
        return ir.tensor(turned(np.broadcast_to(read(tensor), shape), channels, made, turn.gain))

    return ir.LazyTensor(now, dtype=ir.DataType.FLOAT, shape=ir.Shape(shape))


def turned(x: Array, channels: Array, made: Rotation, gain: F64 | None = None) -> F32:
    """A constant whose channels lie along the axes of `channels` that are longer than 1: each vector of them times `gain`, then times R."""
    axes = [i - channels.ndim for i, n in enumerate(channels.shape) if n > 1]
    front = list(range(len(axes)))
    moved, flat = np.moveaxis(x, axes, front), channels.reshape(-1)
    wide = moved.reshape(len(flat), -1)
    out = np.empty(wide.shape, np.float32)
    for begin, end in rows_of(wide.shape[1], 128 * len(flat), 64):  # 1 MiB of f64: near the caches
        some = wide[:, begin:end].astype(np.float64)
        out[:, begin:end] = made.of(some if gain is None else some * gain[flat, None], flat)
    return np.ascontiguousarray(np.moveaxis(out.reshape(moved.shape), front, axes))

"""Caches with room, written in place; Attention that counts its keys; the session's position."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Mapping
from typing import Final

import onnx_ir as ir

from ... import graph as g
from .caches import Cache, capacity_of
from .places import Places, Runs, settle
from .probe import Probe

DTYPES: Final = {
    "f32": ir.DataType.FLOAT,
    "f16": ir.DataType.FLOAT16,
    "f8": ir.DataType.FLOAT8E4M3FN,
}
INT64 = ir.TensorType(ir.DataType.INT64)


@dataclasses.dataclass(frozen=True, slots=True)
class Context:
    """`states`: past -> present of what the session keeps, `position` among them; `axes`: of those that hold a row a token, its
    axis; `windows`: keys that a query sees (0: all before it), and of how many Attentions."""

    states: dict[str, str]
    position: str
    axes: dict[str, int]
    windows: dict[int, int]
    capacity: int

    def as_text(self) -> str:
        seen = [f"{n} see {w or 'all'}" for w, n in sorted(self.windows.items())]
        return f"context of {self.capacity} tokens in {len(self.axes)} states; attention: {', '.join(seen)}"


@dataclasses.dataclass(frozen=True, slots=True)
class Room:
    """How many tokens caches have room for, and what they are kept in where that is narrower than what is computed."""

    capacity: int
    dtype: ir.DataType

    def narrows(self, value: ir.Value) -> bool:
        return value.dtype == ir.DataType.FLOAT and self.dtype != value.dtype


def rewrite(
    model: ir.Model,
    found: list[Cache],
    tokens: ir.Value,
    room: Room,
    told: tuple[Probe, set[ir.Value], bool],
    windows: Mapping[ir.Node, int],
) -> Context:
    """The last step of keep_context; masks are gone. `windows`: of each Attention that reads a cache.

    Raises:
        ModelError: something follows from the number of earlier tokens that is no position.
    """
    probe, moving, has_past = told
    graph, used = model.graph, g.names(model)
    position = ir.Value(name=g.fresh(used, "position"), shape=ir.Shape([1]), type=INT64)
    count = ir.node("Shape", [tokens], {"start": 1, "end": 2})
    end = ir.node("Add", [position, count.outputs[0]])
    for node, name in ((count, "new_tokens"), (end, "next_position")):
        node.outputs[0].name, node.outputs[0].type = g.fresh(used, name), INT64
        node.outputs[0].shape = ir.Shape([1])
    sizes = [probe.extents(c.new, 0, 1) for c in found]
    places = Places(graph, position, count.outputs[0], [count, end])
    settle(model, probe, moving, Runs.of(room.capacity, has_past), places)
    graph.insert_before(next(iter(graph)), places.made)
    graph.inputs.append(position)
    graph.outputs.append(end.outputs[0])
    states = {str(position.name): str(end.outputs[0].name)}
    axes: dict[str, int] = {}
    wholes: dict[ir.Value, ir.Value] = {}
    for i, cache in enumerate(found):
        past = _past(
            graph,
            cache,
            capacity_of(cache, sizes[i], room.capacity),
            g.fresh(used, f"past.{i // 2}.{('key', 'value')[i % 2]}"),
        )
        narrow = room.narrows(cache.past or cache.new)
        new = ir.node("Cast", [cache.new], {"to": int(room.dtype)}) if narrow else None
        if new is not None:
            past.type = ir.TensorType(room.dtype)
        of = cache.new if new is None else new.outputs[0]
        scatter = ir.node("TensorScatter", [past, of, position], {"axis": cache.axis})
        whole = scatter.outputs[0]
        whole.type, whole.shape = past.type, past.shape
        wide = ir.node("Cast", [whole], {"to": int(ir.DataType.FLOAT)}) if narrow else None
        made = [node for node in (new, scatter, wide) if node is not None]
        g.carry(made, [cache.node])
        graph.insert_before(cache.node, made)
        read = whole if wide is None else wide.outputs[0]
        wholes[cache.whole] = wholes[cache.new] = wholes[whole] = read
        if cache.past is None:
            whole.name = g.fresh(used, str(past.name).replace("past", "present"))
            graph.outputs.append(whole)
        else:
            g.take_over(graph, cache.whole, whole)
            if g.is_op(cache.node, "Concat"):
                g.remove_idle(graph, [cache.node])
        states[str(past.name)], axes[str(past.name)] = str(whole.name), cache.axis
    for node, window in windows.items():
        _attend(node, window, end.outputs[0], wholes)
    model.metadata_props[g.CONTEXT] = json.dumps({"position": position.name, "axes": axes})
    counted = dict(collections.Counter(windows.values()))
    return Context(states, str(position.name), axes, counted, room.capacity)


def _past(graph: ir.Graph, cache: Cache, shape: ir.Shape, name: str) -> ir.Value:
    if cache.past is not None:
        cache.past.shape = shape
        return cache.past
    past = ir.Value(name=name, shape=shape, type=cache.new.type)
    graph.inputs.append(past)
    return past


def _attend(
    node: ir.Node, window: int, count: ir.Value, wholes: Mapping[ir.Value, ir.Value]
) -> None:
    """Keys and values are those kept; a query stands where its token does, and sees `window` keys, or all before it."""
    keys, values = (wholes.get(v, v) if v is not None else None for v in node.inputs[1:3])
    attributes = {
        k: a for k, a in node.attributes.items() if k not in ("is_causal", "left_window_size")
    }
    attributes["is_causal"] = ir.AttrInt64("is_causal", 1)
    if window:
        attributes["left_window_size"] = ir.AttrInt64("left_window_size", window - 1)
    new = ir.Node(
        "",
        "Attention",
        [node.inputs[0], keys, values, None, None, None, count],
        attributes.values(),
    )
    g.replace([node], [new], node.outputs[0], new.outputs[0])

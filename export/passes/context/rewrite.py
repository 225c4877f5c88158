"""Caches with room, written in place; Attention that counts its keys; the session's position."""

from __future__ import annotations

import collections
import dataclasses
import json
from collections.abc import Mapping

import onnx_ir as ir

from ... import graph as g
from .caches import Cache, capacity_of
from .keep import Kept, Room, attend, keep
from .places import Places, Runs, settle
from .probe import Probe
from .sight import Sight

INT64 = ir.TensorType(ir.DataType.INT64)


@dataclasses.dataclass(frozen=True, slots=True)
class Context:
    """`states`: past -> present of what the session keeps, `position` among them; `axes`: of those that hold a row a token, its
    axis; `windows`: keys that a query sees (0: all before it), and of how many Attentions."""

    states: dict[str, str]
    position: str
    axes: dict[str, int]
    windows: dict[int, int]
    rings: dict[int, int]  # tokens that are kept for a window, where that is not all
    capacity: int

    def as_text(self) -> str:
        kept = {w: f" (kept: {n})" for w, n in self.rings.items()}
        seen = [f"{n} see {w or 'all'}{kept.get(w, '')}" for w, n in sorted(self.windows.items())]
        return f"context of {self.capacity} tokens in {len(self.axes)} states; attention: {', '.join(seen)}"


def rewrite(
    model: ir.Model,
    found: list[Cache],
    tokens: ir.Value,
    rooms: Mapping[Cache, Room],
    told: tuple[Probe, set[ir.Value], bool],
    sights: Mapping[ir.Node, Sight],
    capacity: int,
) -> Context:
    """The last step of keep_context; masks are gone. `sights`: of each Attention that reads a cache; `rooms`: of each cache.

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
    settle(model, probe, moving, Runs.of(capacity, has_past), places)
    graph.insert_before(next(iter(graph)), places.made)
    graph.inputs.append(position)
    graph.outputs.append(end.outputs[0])
    states = {str(position.name): str(end.outputs[0].name)}
    axes: dict[str, int] = {}
    reach: dict[str, int] = {}
    kept: dict[ir.Value, Kept] = {}
    for i, cache in enumerate(found):
        room = rooms[cache]
        shape = capacity_of(cache, sizes[i], room.capacity)
        name = g.fresh(used, f"past.{i // 2}.{('key', 'value')[i % 2]}")
        past = _past(graph, cache, shape, name)
        this = keep(cache, past, position, room, sights)
        g.carry(this.nodes, [cache.node])
        graph.insert_before(cache.node, this.nodes)
        kept |= dict.fromkeys((cache.whole, cache.new, this.whole), this)
        if this.past_scale is not None and this.scale is not None:
            this.scale.name = g.fresh(used, f"{this.past_scale.name}.present")
            graph.inputs.append(this.past_scale)
            graph.outputs.append(this.scale)
            name = str(this.past_scale.name)
            states[name], axes[name] = this.scale.name, cache.axis
            reach |= {name: room.reach} if this.ring else {}
        if cache.past is None:
            this.whole.name = g.fresh(used, str(past.name).replace("past", "present"))
            graph.outputs.append(this.whole)
        else:
            g.take_over(graph, cache.whole, this.whole)
            if g.is_op(cache.node, "Concat"):
                g.remove_idle(graph, [cache.node])
        states[str(past.name)], axes[str(past.name)] = str(this.whole.name), cache.axis
        reach |= {str(past.name): room.reach} if this.ring else {}
    for node, seen in sights.items():
        new = attend(graph, node, seen, end.outputs[0], kept, capacity)
        g.replace([node], [new], node.outputs[0], new.outputs[0])
    told_of = {"position": position.name, "axes": axes}
    if reach:
        told_of["reach"] = {**reach, str(position.name): capacity}
    model.metadata_props[g.CONTEXT] = json.dumps(told_of)
    counted = dict(collections.Counter(s.window for s in sights.values()))
    rings = {r.reach + 1: r.capacity for r in rooms.values() if r.reach}
    return Context(states, str(position.name), axes, counted, rings, capacity)


def _past(graph: ir.Graph, cache: Cache, shape: ir.Shape, name: str) -> ir.Value:
    if cache.past is not None:
        cache.past.shape = shape
        return cache.past
    past = ir.Value(name=name, shape=shape, type=cache.new.type)
    graph.inputs.append(past)
    return past

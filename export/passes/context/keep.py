"""A cache that grew is kept in place: in the type that was computed, a narrower one, or as codes of 8 bits with a scale a token."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .caches import KEYS, Cache
from .sight import Sight

DTYPES: Final = {
    "f32": ir.DataType.FLOAT,
    "f16": ir.DataType.FLOAT16,
    "f8": ir.DataType.FLOAT8E4M3FN,
    "int8": ir.DataType.INT8,
}
FLOAT: Final = ir.TensorType(ir.DataType.FLOAT)
TILE: Final = 64
"""Tokens of a tile of attention: rings are whole ones."""
RUN: Final = 256
"""Tokens that a run may have at least beside those of a window."""
TURNED: Final = 64
"""Keys whose size is a multiple of it are turned before they are rounded: a large channel would take the steps of all."""


@dataclasses.dataclass(frozen=True, slots=True)
class Room:
    """How many tokens a cache has room for, and what it is kept in where that is narrower than what is computed."""

    capacity: int
    dtype: ir.DataType
    reach: int = 0  # of a ring: how many tokens before its own a query sees

    def narrows(self, value: ir.Value) -> bool:
        return value.dtype == ir.DataType.FLOAT and self.dtype not in (
            value.dtype,
            ir.DataType.INT8,
        )


def in_rings(
    room: Room, found: Sequence[Cache], sights: Mapping[ir.Node, Sight]
) -> dict[Cache, Room]:
    """The room of each cache. A window's is a ring, the last tokens alone, where that takes less; all that read a cache see no
    more, and keys and values that meet have the same."""
    if not any(s.window for s in sights.values()):
        return dict.fromkeys(found, room)
    windows = {c: [s.window for n, s in sights.items() if reads(n, c)] for c in found}
    seen = {c: 0 if 0 in w else max(w, default=0) for c, w in windows.items()}
    for _ in found:  # what meets agrees; once more for each that it changes
        for node in sights:
            both = [c for c in found if reads(node, c)]
            widest = max((seen[c] for c in both), default=0)
            seen |= dict.fromkeys(both, widest if all(seen[c] for c in both) else 0)
    made = dict.fromkeys(found, room)
    for cache, width in seen.items():
        rows = -(-(width - 1 + RUN) // TILE) * TILE
        if width and rows < room.capacity:
            made[cache] = dataclasses.replace(room, capacity=rows, reach=width - 1)
    return made


def reads(node: ir.Node, cache: Cache) -> bool:
    """Whether the Attention reads the cache."""
    return any(v in (cache.whole, cache.new) for v in node.inputs[1:3] if v is not None)


@dataclasses.dataclass(frozen=True, slots=True)
class Kept:
    """`nodes` write `whole` from `past`, `read` is what Attention reads; as codes: `scale` from `past_scale`, of keys that are
    `turned` or not."""

    nodes: list[ir.Node]
    whole: ir.Value
    read: ir.Value
    past_scale: ir.Value | None = None
    scale: ir.Value | None = None
    turned: bool = False
    ring: bool = False


def keep(
    cache: Cache, past: ir.Value, position: ir.Value, room: Room, readers: Collection[ir.Node]
) -> Kept:
    """`past` gets the type that it is kept in. `readers`: the Attentions."""
    ports = {
        i
        for node in readers
        for i in KEYS
        if node.inputs[i] in (cache.whole, cache.new) and node.inputs[i] is not None
    }
    if room.dtype == ir.DataType.INT8 and ports:
        size = past.shape[3] if past.shape is not None else 0
        turned = ports == {KEYS[0]} and isinstance(size, int) and size % TURNED == 0
        return _coded(cache, past, position, room, turned)
    narrow = room.narrows(cache.past or cache.new)
    new = ir.node("Cast", [cache.new], {"to": int(room.dtype)}) if narrow else None
    if new is not None:
        past.type = ir.TensorType(room.dtype)
    scatter = _scatter(cache, past, cache.new if new is None else new.outputs[0], position, room)
    whole = scatter.outputs[0]
    wide = ir.node("Cast", [whole], {"to": int(ir.DataType.FLOAT)}) if narrow else None
    nodes = [node for node in (new, scatter, wide) if node is not None]
    return Kept(nodes, whole, whole if wide is None else wide.outputs[0], ring=room.reach > 0)


def _coded(cache: Cache, past: ir.Value, position: ir.Value, room: Room, turned: bool) -> Kept:
    assert past.shape is not None
    past.type = ir.TensorType(ir.DataType.INT8)
    rows = ir.Shape([*past.shape[:3], 1])
    past_scale = ir.Value(name=f"{past.name}.scale", shape=rows, type=FLOAT)
    nodes, new = [], cache.new
    if new.dtype != ir.DataType.FLOAT:
        nodes.append(ir.node("Cast", [new], {"to": int(ir.DataType.FLOAT)}))
        new = nodes[0].outputs[0]
    codes = ir.node("CodeRows", [new], {"turned": int(turned)}, domain=g.OURS, num_outputs=2)
    types = past.type, FLOAT
    sizes = cache.new.shape, None if cache.new.shape is None else [*cache.new.shape[:3], 1]
    for made, kind, shape in zip(codes.outputs, types, sizes, strict=True):
        made.type, made.shape = kind, None if shape is None else ir.Shape(shape)
    scatters = [
        _scatter(cache, of, made, position, room)
        for of, made in zip((past, past_scale), codes.outputs, strict=True)
    ]
    whole, scale = (s.outputs[0] for s in scatters)
    ring = room.reach > 0
    return Kept([*nodes, codes, *scatters], whole, whole, past_scale, scale, turned, ring)


def _scatter(
    cache: Cache, past: ir.Value, new: ir.Value, position: ir.Value, room: Room
) -> ir.Node:
    mode = {"mode": "circular"} if room.reach else {}
    node = ir.node("TensorScatter", [past, new, position], {"axis": cache.axis, **mode})
    node.outputs[0].type, node.outputs[0].shape = past.type, past.shape
    return node


def attend(
    graph: ir.Graph,
    node: ir.Node,
    sight: Sight,
    count: ir.Value,
    kept: Mapping[ir.Value, Kept],
    capacity: int,
) -> ir.Node:
    """Attention whose keys and values are those kept; a query stands where its token does, and sees what `sight` says. With scales,
    slopes, a sink or a ring: ours, with those behind the count; `capacity`: tokens that pass through a ring at most."""
    told = [kept.get(v) if v is not None else None for v in node.inputs[1:3]]
    sides = [v if k is None else k.read for k, v in zip(told, node.inputs[1:3], strict=True)]
    more = [None if k is None else k.scale for k in told]
    more.append(_bias(graph, sight))
    attributes = {
        k: a for k, a in node.attributes.items() if k not in ("is_causal", "left_window_size")
    }
    attributes["is_causal"] = ir.AttrInt64("is_causal", 1)
    if sight.window:
        attributes["left_window_size"] = ir.AttrInt64("left_window_size", sight.window - 1)
    inputs, domain = [node.inputs[0], *sides, None, None, None, count], ""
    ring = any(k is not None and k.ring for k in told)
    if ring or any(v is not None for v in more):
        domain, inputs = g.OURS, inputs + more
        attributes["turned"] = ir.AttrInt64("turned", int(told[0] is not None and told[0].turned))
        attributes["ring"] = ir.AttrInt64("ring", capacity if ring else 0)
    new = ir.Node(domain, "Attention", inputs, attributes.values())
    new.outputs[0].type, new.outputs[0].shape = node.outputs[0].type, node.outputs[0].shape
    return new


def _bias(graph: ir.Graph, sight: Sight) -> ir.Value | None:
    """Slopes and scores of sinks, [2, heads]."""
    given = [x for x in (sight.slopes, sight.sink) if x is not None]
    if not given:
        return None
    heads = len(given[0])
    slopes = np.zeros(heads) if sight.slopes is None else sight.slopes
    sink = np.full(heads, -np.inf) if sight.sink is None else sight.sink
    return g.initializer(graph, np.stack([slopes, sink]).astype(np.float32), "bias")

"""A cache that grew is kept in place: in the type that was computed, a narrower one, or as codes of 8 bits with a scale a token."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
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
TURNED: Final = 64
"""Keys whose size is a multiple of it are turned before they are rounded: a large channel would take the steps of all."""


@dataclasses.dataclass(frozen=True, slots=True)
class Room:
    """How many tokens caches have room for, and what they are kept in where that is narrower than what is computed."""

    capacity: int
    dtype: ir.DataType

    def narrows(self, value: ir.Value) -> bool:
        return value.dtype == ir.DataType.FLOAT and self.dtype not in (
            value.dtype,
            ir.DataType.INT8,
        )


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
        return _coded(cache, past, position, turned)
    narrow = room.narrows(cache.past or cache.new)
    new = ir.node("Cast", [cache.new], {"to": int(room.dtype)}) if narrow else None
    if new is not None:
        past.type = ir.TensorType(room.dtype)
    scatter = _scatter(cache, past, cache.new if new is None else new.outputs[0], position)
    whole = scatter.outputs[0]
    wide = ir.node("Cast", [whole], {"to": int(ir.DataType.FLOAT)}) if narrow else None
    nodes = [node for node in (new, scatter, wide) if node is not None]
    return Kept(nodes, whole, whole if wide is None else wide.outputs[0])


def _coded(cache: Cache, past: ir.Value, position: ir.Value, turned: bool) -> Kept:
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
        _scatter(cache, of, made, position)
        for of, made in zip((past, past_scale), codes.outputs, strict=True)
    ]
    whole, scale = (s.outputs[0] for s in scatters)
    return Kept([*nodes, codes, *scatters], whole, whole, past_scale, scale, turned)


def _scatter(cache: Cache, past: ir.Value, new: ir.Value, position: ir.Value) -> ir.Node:
    node = ir.node("TensorScatter", [past, new, position], {"axis": cache.axis})
    node.outputs[0].type, node.outputs[0].shape = past.type, past.shape
    return node


def attend(
    graph: ir.Graph, node: ir.Node, sight: Sight, count: ir.Value, kept: Mapping[ir.Value, Kept]
) -> ir.Node:
    """Attention whose keys and values are those kept; a query stands where its token does, and sees what `sight` says. With scales,
    slopes or a sink: ours, with those behind the count."""
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
    if any(v is not None for v in more):
        domain, inputs = g.OURS, inputs + more
        attributes["turned"] = ir.AttrInt64("turned", int(told[0] is not None and told[0].turned))
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

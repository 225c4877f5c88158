"""Where a decoder keeps what it computed of earlier tokens: caches that grow by Concat, inside of Attention, or not at all yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import ModelError

from ... import graph as g
from ...graph.fix import symbols

KEYS, MASK, VALUES, PAST = (1, 2), 3, (4, 5), 2
"""Inputs of Attention; the axis of tokens in [batch, heads, tokens, size]."""


@dataclasses.dataclass(frozen=True, slots=True)
class Cache:
    """Of earlier tokens `past`, an input or None where the model computes them again; `new`, those of this run; both together
    `whole`. `node` puts them together, or reads `new` where there is no past."""

    node: ir.Node
    past: ir.Value | None
    new: ir.Value
    whole: ir.Value
    axis: int = PAST

    @property
    def name(self) -> str:
        return str((self.past or self.whole).name)


def find_caches(model: ir.Model) -> list[Cache]:
    """The model's caches: past -> Concat -> output, or past and present of Attention; without any, K and V of each Attention."""
    grown = [c for node in model.graph for c in _grown(node)]
    if grown:
        return grown
    fresh = [c for node in model.graph if g.is_op(node, "Attention") for c in _fresh(node)]
    return list({c.new: c for c in reversed(fresh)}.values())[
        ::-1
    ]  # what several read is kept once


def _grown(node: ir.Node) -> Iterator[Cache]:
    if g.is_op(node, "Concat") and len(node.inputs) == 2:
        past, new = node.inputs
        rank = g.rank(past) or g.rank(new)
        whole = node.outputs[0]
        if _is_input(past) and new is not None and rank and whole.is_graph_output():
            yield Cache(node, past, new, whole, int(g.attr(node, "axis")) % rank)
    if g.is_op(node, "Attention") and len(node.inputs) > VALUES[1] and len(node.outputs) >= 3:
        for of, at, whole in zip(KEYS, VALUES, node.outputs[1:3], strict=True):
            past, new = node.inputs[at], node.inputs[of]
            if _is_input(past) and new is not None and whole.is_graph_output():
                yield Cache(node, past, new, whole)


def _fresh(node: ir.Node) -> Iterator[Cache]:
    for of in KEYS:
        value = node.inputs[of]
        if value is not None:
            yield Cache(node, None, value, value)


def _is_input(value: ir.Value | None) -> bool:
    return value is not None and value.is_graph_input() and not value.is_initializer()


def grows_by(found: list[Cache]) -> set[str]:
    """Names of the dimension along which the caches grow."""
    names = set()
    for cache in found:
        dim = (g.dims(cache.past) or [None] * (cache.axis + 1))[cache.axis]
        if cache.past is not None and isinstance(dim, str):
            names.add(dim)
    return names


def one_sequence(model: ir.Model, found: list[Cache]) -> dict[str, int]:
    """Batches of caches that are named, as sizes to fix: a session is one sequence.

    Raises:
        ModelError: a batch of another number.
    """
    names: dict[str, int] = {}
    firsts = [(c.past, c.name) for c in found if c.past is not None]
    for value, name in firsts:
        batch = (g.dims(value) or [None])[0]
        if isinstance(batch, str) and batch in symbols(model):
            names[batch] = 1
        elif batch != 1:
            raise ModelError(
                f"max_context: cache {name!r}: expected a batch of 1 or a named one, got {batch}; export one sequence"
            )
    return names


def capacity_of(cache: Cache, extents: list[int] | None, capacity: int) -> ir.Shape:
    """The shape of a cache with room for so many tokens. `extents`: those of its new part.

    Raises:
        ModelError: another of its sizes is not known.
    """
    if extents is None or len(extents) <= cache.axis:
        raise ModelError(
            f"max_context: cache {cache.name!r}: expected sizes apart from tokens and batch to be numbers, got "
            f"{g.dims(cache.past or cache.new)}; fix them: --fix NAME=SIZE"
        )
    return ir.Shape([capacity if i == cache.axis else n for i, n in enumerate(extents)])


def take_sinks(model: ir.Model) -> dict[ir.Node, g.Array]:
    """Attention over keys and values with one of zeros behind them, whose score is a constant by head => over those before it, and
    that constant (recognise_attention makes them of sinks).

    Raises:
        ModelError: the score is no constant.
    """
    found: dict[ir.Node, g.Array] = {}
    for node in model.graph:
        column = node.inputs[MASK] if len(node.inputs) > MASK else None
        both = column.producer() if column is not None else None
        if not g.is_op(node, "Attention") or both is None or not g.is_op(both, "Concat"):
            continue
        sides = [_unpadded(node.inputs[i]) for i in KEYS]
        if None in sides:
            continue
        mask, sink = both.inputs
        of = sink.producer() if sink is not None else None
        array = g.constant(of.inputs[0] if of is not None and g.is_op(of, "Expand") else sink)
        if array is None or array.ndim != 4 or array.shape[2:] != (1, 1) or len(array) != 1:
            raise ModelError(
                f"max_context: node {node.name!r} (Attention): its sink is computed from data, expected a constant by head"
            )
        for i, value in zip(KEYS, sides, strict=True):
            node.replace_input_with(i, value)
        wide = mask.producer() if mask is not None else None
        node.replace_input_with(MASK, wide.inputs[0] if g.is_op(wide, "Expand") and wide else mask)
        found[node] = array.reshape(-1).astype(np.float32)
    return found


def _unpadded(value: ir.Value | None) -> ir.Value | None:
    """x, where `value` is x with one token of zeros behind it."""
    node = value.producer() if value is not None else None
    if node is None or not g.is_op(node, "Pad") or len(node.inputs) != 2 or node.attributes:
        return None
    return node.inputs[0] if g.ints(node.inputs[1]) == [0, 0, 0, 0, 0, 0, 1, 0] else None


def all_apart(model: ir.Model) -> None:
    """Attention with heads side by side in rank 3 => with heads apart in rank 4, between moves."""
    for node in list(model.graph):
        if g.is_op(node, "Attention") and g.rank(node.inputs[0]) == 3:
            _apart(model.graph, node)


def _apart(graph: ir.Graph, node: ir.Node) -> None:
    heads = [int(g.attr(node, name)) for name in ("q_num_heads", "kv_num_heads", "kv_num_heads")]
    made: list[ir.Node] = []
    for i, count in enumerate(heads):
        x = node.inputs[i]
        assert x is not None
        shape = g.initializer(graph, np.array([0, 0, count, -1], np.int64), "heads")
        made.append(ir.node("Reshape", [x, shape]))
        made.append(ir.node("Transpose", made[-1].outputs, {"perm": [0, 2, 1, 3]}))
        extents = g.dims(x)
        if extents is not None and isinstance(extents[2], int):
            made[-1].outputs[0].shape = ir.Shape(
                [extents[0], count, extents[1], extents[2] // count]
            )
            made[-1].outputs[0].type = x.type
    kept = {k: a for k, a in node.attributes.items() if not k.endswith("_num_heads")}
    new = ir.Node("", "Attention", [*(m.outputs[0] for m in made[1::2]), *node.inputs[3:]],
                  kept.values(), num_outputs=len(node.outputs))  # fmt: skip
    back = ir.node("Transpose", [new.outputs[0]], {"perm": [0, 2, 1, 3]})
    flat = g.initializer(graph, np.array([0, 0, -1], np.int64), "beside")
    result = ir.node("Reshape", [back.outputs[0], flat])
    for old, now in zip(node.outputs[1:], new.outputs[1:], strict=True):
        now.type, now.shape = old.type, old.shape
        g.take_over(graph, old, now)
    g.replace([node], [*made, new, back, result], node.outputs[0], result.outputs[0])

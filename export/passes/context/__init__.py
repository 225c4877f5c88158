"""A decoder whose caches grow, or that has none, becomes one that keeps them in place: `keep_context`.

    past -> Concat -> Attention(mask)  =>  past -> TensorScatter(at position) -> Attention(nonpad_kv_seqlen)

The caches have room for a number of tokens; `position`, how many they hold, is a state beside them. Masks and positions are
what the graph made of the lengths of its inputs; here they follow from `position`.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import ModelError

from ... import graph as g
from ...graph import bounds
from ...graph.fix import fix
from ..clean import remove_unused
from . import sight
from .caches import Cache, all_apart, find_caches, grows_by, one_sequence, take_sinks
from .keep import DTYPES, Room, in_rings
from .last import last_token, name_rows
from .places import Runs
from .probe import Given, Probe
from .rewrite import Context, rewrite
from .tokens import tokens_meet_in_attention

MASK, COUNT = 3, 6
"""Inputs of Attention: the mask, how many keys count."""
NAMED: Final[Mapping[str, Given]] = {
    "attention_mask": lambda past, new: np.ones((1, past + new), np.int64),
    "position_ids": lambda past, new: past + np.arange(new)[None],
    "cache_position": lambda past, new: past + np.arange(new),
    "seqlens_k": lambda past, new: np.array([past + new - 1]),
    "total_sequence_length": lambda past, new: np.array(past + new),
}
"""Inputs that every decoder's caller fills in the same way, by the names that exporters give them."""


def keep_context(
    model: ir.Model, capacity: int, cache: str = "f32", *, all_logits: bool = False
) -> Context:
    """See above; in place. The model's inputs are tokens alone afterwards, its outputs what is not kept.

    Requires: one sequence, a named number of tokens, caches that are an input, a Concat and an output (or past and present of
    Attention), masks that are causal or a window, the same for every head and without padding. Without caches: nothing but causal
    Attention mixes tokens.

    Raises:
        ModelError: the model is no such decoder; the node is named.
    """
    all_apart(model)
    found = find_caches(model)
    if not found:
        raise ModelError(
            "max_context: expected Attention, got a model without; where one is written out in a way "
            "that is not recognised, it cannot be kept"
        )
    fix([model], one_sequence(model, found))
    g.infer(model)
    sinks = take_sinks(model)
    found = find_caches(model)
    tokens = _tokens(model, found)
    new, past = str((g.dims(tokens) or [])[1]), grows_by(found)
    has_past = found[0].past is not None
    if has_past and (not past or new in past):
        raise ModelError(
            f"max_context: cache {found[0].name!r}: expected a named number of earlier tokens, got {g.dims(found[0].past)}; "
            "export the model with a dynamic past"
        )
    probe, moving = _probe(model, found, new, past)
    sights = _masks(model, found, probe, capacity, has_past)
    sights = {n: dataclasses.replace(s, sink=sinks.get(n)) for n, s in sights.items()}
    if not has_past:
        remove_unused(model)
        tokens_meet_in_attention(model, tokens, probe)
    rooms = in_rings(Room(capacity, DTYPES[cache]), found, sights)
    longest = min(r.capacity - r.reach for r in rooms.values())
    _run_of(model, new, longest, has_past)
    _guards(model, probe, moving, capacity, has_past)
    name_rows(model, probe, new)
    remove_unused(model)
    context = rewrite(model, found, tokens, rooms, (probe, moving, has_past), sights, capacity)
    remove_unused(model)
    for value in [v for v in model.graph.inputs if v.name in NAMED]:
        if value.uses():
            user = next(iter(value.uses())).node
            raise ModelError(
                f"max_context: node {user.name!r} ({user.op_type}) reads {value.name!r}, which the session does not have"
            )
        model.graph.inputs.remove(value)
    if not all_logits:
        last_token(model, new)
    return context


def _tokens(model: ir.Model, found: list[Cache]) -> ir.Value:
    """The input that is neither cache nor made by every caller in the same way.

    Raises:
        ModelError: there are several, or its number of tokens has no name.
    """
    pasts = {c.past for c in found}
    rest = [
        v
        for v in model.graph.inputs
        if v not in pasts and v.name not in NAMED and not v.is_initializer()
    ]
    if len(rest) != 1:
        raise ModelError(
            f"max_context: expected one input of tokens beside {', '.join(NAMED)} and caches, got "
            f"{', '.join(str(v.name) for v in rest) or 'none'}"
        )
    dims = g.dims(rest[0]) or []
    if len(dims) < 2 or not isinstance(dims[1], str):
        raise ModelError(
            f"max_context: input {rest[0].name!r}: expected [1, tokens] with a named number of tokens, got {dims}; export it with a "
            "dynamic number of tokens"
        )
    if isinstance(dims[0], str):
        fix([model], {dims[0]: 1})
        g.infer(model)
    elif dims[0] != 1:
        raise ModelError(
            f"max_context: input {rest[0].name!r}: expected a batch of 1, got {dims[0]}; export one sequence"
        )
    return rest[0]


def _run_of(model: ir.Model, new: str, capacity: int, has_past: bool) -> None:
    """A run has no more tokens than there is room for. Without caches it may have one, whatever number was traced: each token was
    shown to follow from itself and those before it alone.

    Raises:
        ModelError: the model takes more at least.
    """
    told = bounds.read(model)
    least, most = told.sizes.get(new, (1, bounds.MOST))
    least = least if has_past else 1
    if least > capacity:
        raise ModelError(
            f"max_context: dimension {new}: expected room for at least the {least} tokens that a run has, got {capacity}"
        )
    sizes = {**told.sizes, new: (least, min(most, capacity))}
    bounds.write(model, dataclasses.replace(told, sizes=sizes))


def _probe(
    model: ir.Model, found: list[Cache], new: str, past: set[str]
) -> tuple[Probe, set[ir.Value]]:
    """What follows from numbers of tokens, and which of that from those before a run (without caches: from any)."""
    symbols: dict[str, Callable[[int, int], int]] = {name: lambda p, n: p for name in past}
    symbols[new] = lambda p, n: n
    given: dict[ir.Value, Given] = {}
    for value in model.graph.inputs:
        if value.name in NAMED:
            given[value] = _as(value, NAMED[str(value.name)])
            for dim in g.dims(value) or []:
                if isinstance(dim, str) and re.fullmatch(r"\w+", dim):
                    symbols.setdefault(dim, lambda p, n: p + n)
    probe = Probe(model, given, symbols)
    moving = set(given)
    for node in model.graph:
        asks = g.is_op(node, "Shape", "Size") and _is_long(
            node.inputs[0], probe, found[0].past is not None
        )
        if asks or any(v in moving for v in node.inputs):
            moving |= {v for v in node.outputs if v in probe.sized}
    return probe, moving


def _as(value: ir.Value, given: Given) -> Given:
    """In the rank and dtype that the model declares."""
    dtype = value.dtype.numpy() if value.dtype is not None else np.dtype(np.int64)
    rank = g.rank(value)

    def shaped(past: int, new: int) -> g.Array:
        array = given(past, new).astype(dtype)
        return (
            array if rank is None else array.reshape([1] * (rank - array.ndim) + list(array.shape))
        )

    return shaped


def _is_long(value: ir.Value | None, probe: Probe, has_past: bool) -> bool:
    """Whether an extent of it counts earlier tokens, or (without caches) tokens at all."""
    runs = ((2, 3), (7, 3)) if has_past else ((0, 3), (0, 8))
    few, many = (probe.extents(value, *run) for run in runs)
    return few != many


def _attentions(model: ir.Model, found: list[Cache]) -> list[ir.Node]:
    """Those that read the caches.

    Raises:
        ModelError: something else does.
    """
    readers: list[ir.Node] = []
    for cache in found:
        if g.is_op(cache.node, "Attention"):
            readers.append(cache.node)
            continue
        for use in cache.whole.uses():
            if g.is_op(use.node, "Shape"):
                continue
            if not g.is_op(use.node, "Attention") or use.idx not in (1, 2) or cache.axis != 2:
                raise ModelError(
                    f"max_context: cache {cache.name!r} is read by {use.node.name!r} ({use.node.op_type}), expected Attention as keys "
                    "or values [batch, heads, tokens, size]; attention written in another way was not recognised"
                )
            readers.append(use.node)
    return list(dict.fromkeys(readers))


def _masks(
    model: ir.Model, found: list[Cache], probe: Probe, capacity: int, has_past: bool
) -> dict[ir.Node, sight.Sight]:
    """What a query of each Attention sees; they lose their masks.

    Raises:
        ModelError: a mask says something else.
    """
    sights: dict[ir.Node, sight.Sight] = {}
    known: dict[ir.Value, sight.Sight] = {}
    for node in _attentions(model, found):
        mask = node.inputs[MASK] if len(node.inputs) > MASK else None
        causal = bool(g.attr(node, "is_causal", 0))
        own = int(g.attr(node, "left_window_size", -1)) + 1
        if mask is None and not causal:
            raise ModelError(
                f"max_context: node {node.name!r} (Attention) sees every key, expected a causal mask; it is no decoder's"
            )
        if mask is not None and mask not in probe.sized:
            raise ModelError(
                f"max_context: node {node.name!r} (Attention): its mask {mask.name!r} is computed from data, expected of positions"
            )
        if mask is not None and mask not in known:
            at = partial(_elements, probe, mask)
            said = _open(at) if causal else sight.sight_of(at, capacity, has_past)
            if isinstance(said, str):
                raise ModelError(
                    f"max_context: node {node.name!r} (Attention): its mask {mask.name!r} is neither causal nor a window: {said}"
                )
            known[mask] = said
        told = sight.Sight() if mask is None else known[mask]
        window = min((w for w in (own, told.window) if w > 0), default=0)
        sights[node] = dataclasses.replace(told, window=window)
        if mask is not None:
            node.replace_input_with(MASK, None)
    return sights


def _elements(probe: Probe, value: ir.Value, past: int, new: int) -> g.Array:
    return probe([value], past, new)[0]


def _open(mask: sight.Mask) -> sight.Sight | str:
    """A mask beside is_causal hides nothing more."""
    for run in ((0, 3), (4, 2)):
        array = mask(*run)
        if not np.all(array if array.dtype == np.bool_ else array == 0):
            return "it hides keys beside is_causal"
    return sight.Sight()


def _guards(
    model: ir.Model, probe: Probe, moving: set[ir.Value], capacity: int, has_past: bool
) -> None:
    """Where(condition on lengths alone, a, b) => what it is for every number of tokens, where that is one of them."""
    for node in list(model.graph):
        condition = node.inputs[0] if g.is_op(node, "Where") else None
        if condition is None or condition not in moving or node.outputs[0] in probe.sized:
            continue
        runs = Runs.of(capacity, has_past).tried
        said = {bool(x) for run in runs for x in np.unique(probe([condition], *run)[0])}
        if len(said) == 1:
            chosen = node.inputs[1 if said == {True} else 2]
            assert chosen is not None
            g.replace([node], [], node.outputs[0], chosen)

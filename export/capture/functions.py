"""Functions of a model: each call becomes the nodes of the body, where what that makes of a file is bounded by the file."""

from __future__ import annotations

import graphlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Final, TypeAlias

import onnx_ir as ir

from pteron.schema.errors import ModelError

from .. import graph as g

Body: TypeAlias = ir.Graph | ir.Function
Names: TypeAlias = Callable[[str | None], str]

FREE: Final = 10_000
"""Nodes that calls may become in any file,"""
GROWTH: Final = 8
"""and so many for each that is written where that is more."""


def inline(model: ir.Model, where: str) -> None:
    """y = F(x) => the nodes of F, in place, attributes filled in; functions that are not ours go.

    A body of another opset than the model's keeps it, node by node. A node takes the metadata of its call where it has none.

    Raises:
        ModelError: a call of too many operands, functions that call each other in a circle or take a graph, or more nodes than
            the size of the file allows.
    """
    if not model.functions:
        return
    _check_calls(model, where)
    _check_growth(model, where)
    ours = [f for f in model.functions.values() if f.domain == g.OURS]
    names = _namer({n.name for n in g.nodes(model) if n.name}), _namer(g.names(model))
    pending = [n for body in (model.graph, *ours) for n in _calls(model, g.nodes_of(body))]
    while pending:
        pending += _calls(model, _expand(model, pending.pop(), *names))
    for name in [n for n, f in model.functions.items() if f.domain != g.OURS]:
        del model.functions[name]


def _calls(model: ir.Model, nodes: Iterator[ir.Node]) -> list[ir.Node]:
    """Those that become nodes."""
    return [n for n in nodes if n.domain != g.OURS and n.op_identifier() in model.functions]


def _check_calls(model: ir.Model, where: str) -> None:
    """Nodes of the model's functions give no more than these take, and want no more than they give; no graphs."""
    for node in (n for body in (model.graph, *model.functions.values()) for n in g.nodes_of(body)):
        for name, a in node.attributes.items():
            if a.is_ref() and a.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS):
                raise ModelError(
                    f"{where}: node {node.name!r} ({node.op_type}): attribute {name!r} is a graph that a call gives its "
                    "function: not supported; inline the function before"
                )
        called = model.functions.get(node.op_identifier())
        if called is None:
            continue
        for what, got, most in (
            ("inputs", len(node.inputs), len(called.inputs)),
            ("outputs", len(node.outputs), len(called.outputs)),
        ):
            if got > most:
                raise ModelError(
                    f"{where}: node {node.name!r} ({node.domain}.{node.op_type}): expected at most {most} {what}, got {got}; "
                    "correct the node"
                )


def _check_growth(model: ir.Model, where: str) -> None:
    """Counts what all calls become before any does."""
    bodies: dict[ir.OperatorIdentifier | None, Body] = {None: model.graph}
    bodies.update(model.functions)
    written = {
        name: Counter(n.op_identifier() for n in g.nodes_of(b)) for name, b in bodies.items()
    }
    called = {name: [c for c in ops if c in model.functions] for name, ops in written.items()}
    try:
        order = list(graphlib.TopologicalSorter(called).static_order())
    except graphlib.CycleError as error:
        names = " calls ".join(repr(i[1]) for i in reversed(error.args[1]) if i is not None)
        raise ModelError(
            f"{where}: expected functions without recursion, got one that calls itself: {names}; write the loop as a Loop"
        ) from None
    total = sum(ops.total() for ops in written.values())
    most = max(FREE, GROWTH * total)
    sizes: dict[ir.OperatorIdentifier | None, int] = {}
    for name in order:
        count = sum(n * sizes.get(op, 1) for op, n in written[name].items())
        sizes[name] = min(count, most + 1)
    if max(sizes[name] for name in sizes if name is None or name[0] == g.OURS) > most:
        raise ModelError(
            f"{where}: functions that call functions: expected at most {most} nodes of {total} that are written, got more; "
            "write what repeats as a Loop"
        )


def _expand(model: ir.Model, call: ir.Node, nodes: Names, values: Names) -> Iterator[ir.Node]:
    """Puts a copy of the function's body in the call's place; its nodes."""
    function, graph = model.functions[call.op_identifier()], call.graph
    assert graph is not None
    copy = function.clone()
    formals, results, made = list(copy.inputs), list(copy.outputs), list(copy)
    copy.outputs.clear()
    copy.remove(made)
    given = {a.name: a for a in function.attributes.values() if a.value is not None}
    for node in g.nodes_of(made):
        _fill(node, {**given, **call.attributes})
        node.name = nodes(node.name)
        for value in node.outputs:
            value.name = values(value.name) if value.name != "" else ""
        for key, text in call.metadata_props.items():
            node.metadata_props.setdefault(key, text)
        if node.domain == "" and function.opset_imports.get("") != model.opset_imports.get(""):
            node.version = node.version or function.opset_imports.get("")
    actual = dict(zip_longest(formals, call.inputs))
    for formal, argument in actual.items():
        for use in list(formal.uses()):
            use.node.replace_input_with(use.idx, argument)
    graph.insert_before(call, made)
    for value, result in zip(call.outputs, results, strict=False):
        _hand_over(graph, value, actual.get(result, result))
    graph.remove(call, safe=True)
    return g.nodes_of(made)


def _fill(node: ir.Node, given: Mapping[str, ir.Attr]) -> None:
    """Attributes that name one of the function's become its value, or go where the call has none."""
    for name, attribute in list(node.attributes.items()):
        found = given.get(attribute.ref_attr_name or "") if attribute.is_ref() else attribute
        if found is None:
            del node.attributes[name]
        elif found is not attribute:
            node.attributes[name] = ir.Attr(name, found.type, found.value)


def _hand_over(graph: Body, value: ir.Value, by: ir.Value | None) -> None:
    """`by` is what the call made as `value`, under its name where it is of the body; an input that is left out gives none."""
    if by is None:
        return
    producer = by.producer()
    own = producer is not None and producer.graph is graph and not by.is_graph_output()
    if own and not value.is_graph_output() and value.name:
        name, value.name = value.name, None
        by.name = name
    by.type, by.shape = by.type or value.type, by.shape or value.shape
    g.take_over(graph, value, by)


def _namer(used: set[str]) -> Names:
    """Gives names that nothing has: the wanted one, or that with the next number, in a time that does not grow with how many there are."""
    counts: dict[str, int] = {}

    def name(wanted: str | None) -> str:
        made = base = wanted or "value"
        while made in used:
            counts[base] = counts.get(base, 0) + 1
            made = f"{base}_{counts[base]}"
        used.add(made)
        return made

    return name

"""Whether nodes are what ONNX says of their operators (export/graph/allowed.py), as far as capture knows them.

`check_forms` reads a graph as it was written, each node by its own opset; `check_types` one whose types and shapes have
been inferred.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import onnx
import onnx_ir as ir

from pteron.schema.errors import ModelError

from .. import graph as g
from ..graph import allowed
from ..graph.definitions import NotAllowedError
from ..graph.inference import operands_of


def check_forms(model: ir.Model, where: str) -> None:
    """Attributes and numbers of operands.

    Raises:
        ModelError: the text names the node.
    """
    start = model.graph.opset_imports.get("")
    for node in g.nodes(model):
        if node.domain == "" and start is not None:
            try:
                _check_form(node, node.version or start)
            except NotAllowedError as error:
                raise _refusal(node, where, error) from error


def check_types(model: ir.Model, where: str) -> None:
    """Types of operands, axes, permutations, sizes. Not of what stands in a branch of an If, which may be for other sizes: lowering
    looks at the branches that are left.

    Raises:
        ModelError: the text names the node.
    """
    seen: set[Any] = set()
    for node in _always(model.graph):
        if node.domain == "" and node.op_type != "Constant" and "Sequence" not in node.op_type:
            try:
                _check_types(node, seen)
            except NotAllowedError as error:
                raise _refusal(node, where, error) from error


def _always(graph: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The nodes of a graph and of the graphs in them, but for the branches of Ifs."""
    for node in graph:
        yield node
        if node.op_type != "If":
            for body in g.bodies(node):
                yield from _always(body)


def _refusal(node: ir.Node, where: str, error: NotAllowedError) -> ModelError:
    return ModelError(f"{where}: node {node.name!r} ({node.op_type}): {error}; correct the node")


def _check_form(node: ir.Node, version: int) -> None:
    schema = allowed.schema_of(node.op_type, version)
    if schema is None:
        raise NotAllowedError(f"opset {version} has no such operator")
    there = [value is not None and bool(value.name) for value in node.inputs]
    allowed.check_form(schema, node.attributes, there, len(node.outputs))


def _check_types(node: ir.Node, seen: set[Any]) -> None:
    operands = operands_of(node)
    if operands is None:
        return
    types, data = operands
    names = ["" if v is None else v.name or "" for v in node.inputs]
    told: list[onnx.TypeProto | None] = [types.get(name) for name in names]
    known = {i: data[name] for i, name in enumerate(names) if name in data}
    schema = allowed.schema_of(node.op_type, g.OPSET)
    allowed.check_types(schema, node.attributes, told, known, len(node.outputs), seen)

"""How nodes and values are called: `encoder.layer.0.query/MatMul`, by the module that they are part of, where the model says.

Names are unique: reports, rules of a recipe and the debug segment go by them.
"""

from __future__ import annotations

import re

import onnx_ir as ir

from .. import graph as g


class Names:
    """Names given so far; the next free number of each is kept, so that a thousand equal wishes take a thousand steps."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next: dict[str, int] = {}

    def take(self, name: str) -> bool:
        """Whether it was free."""
        free = name not in self._used
        self._used.add(name)
        return free

    def fresh(self, wanted: str) -> str:
        """`wanted`, or `wanted_1` ... where it is taken."""
        name = wanted
        while not self.take(name):
            self._next[wanted] = self._next.get(wanted, 0) + 1
            name = f"{wanted}_{self._next[wanted]}"
        return name


def name_nodes(model: ir.Model) -> None:
    """Every node gets a name of its own: module/Operator where it has a module, numbered where a module has several.

    Names that are right stay: a second call changes only what came after the first.
    """
    names, wanting = Names(), list[tuple[int, ir.Node]]()
    for i, node in enumerate(g.nodes(model)):
        if not node.name or not _fits(node) or not names.take(node.name):
            wanting.append((i, node))
    for i, node in wanting:
        node.name = names.fresh(_wanted(node) or f"{node.op_type}_{i}")


def name_values(model: ir.Model) -> None:
    """Values between nodes that have modules are called like the nodes that make them; those of other nodes stay.

    What a value was called by the exporter stays with it, for those who know the program that the graph was written from.
    """
    for node in g.nodes(model):
        if g.module(node) is not None:
            for i, value in enumerate(node.outputs):
                if value.name and not value.name.startswith("/") and not value.is_graph_output():
                    value.metadata_props.setdefault(g.TRACED, value.name)
                    value.name = f"{node.name}.{i}" if i else node.name


def title(op_type: str, name: str) -> str:
    """What texts say of a node: "encoder.layer.0.query/MatMul", or "MatMul name" where the name does not tell the operator."""
    leaf = name.rpartition("/")[2]
    return (
        name if re.fullmatch(rf"{re.escape(op_type)}(_\d+)?", leaf) else f"{op_type} {name}".strip()
    )


def _fits(node: ir.Node) -> bool:
    path, name = g.module(node), node.name or ""
    return path is None or (name == _wanted(node) and bool(name))


def _tells(node: ir.Node, leaf: str) -> bool:
    """Whether it is the operator's name, numbered or not."""
    return bool(re.fullmatch(rf"{re.escape(node.op_type)}(_\d+)?", leaf))


def _wanted(node: ir.Node) -> str:
    path, name = g.module(node), node.name or ""
    if path is None:
        return name
    leaf = name.rpartition("/")[2]
    leaf = leaf if _tells(node, leaf) else node.op_type
    return f"{path}/{leaf}" if path else leaf

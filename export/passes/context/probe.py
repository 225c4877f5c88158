"""What of a graph follows from sizes alone: from how many tokens came before a run, and how many come in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from pteron.schema.errors import ModelError

from ... import graph as g
from ...graph import randomness
from ...graph.dimensions import arithmetic
from ...graph.extents import shapes_at

Given = Callable[[int, int], g.Array]
"""Elements of an input, of (tokens before the run, tokens in it)."""
RANDOM: Final = randomness.NODES | {"Dropout"}
POINTS: Final = ((97, 101), (113, 101), (97, 131), (113, 131))
"""Numbers of tokens for which shapes are inferred: the others follow."""


class GatherElements(OpRun):
    """The reference's own takes no more than 64 rows."""

    op_domain = ""

    def _run(self, data: Any, indices: Any, axis: int = 0) -> tuple[Any]:
        along = axis % data.ndim
        near = tuple(slice(None if i == along else n) for i, n in enumerate(indices.shape))
        return (np.take_along_axis(data[near], indices, along),)


class Probe:
    """Evaluates, for numbers of tokens, the values that depend on nothing else (`sized`), by onnx's reference.

    Args:
        given: Inputs that every caller fills in the same way (masks of ones, positions).
        symbols: Sizes of the graph's symbolic dimensions, of (tokens before, tokens now).
    """

    def __init__(
        self,
        model: ir.Model,
        given: Mapping[ir.Value, Given],
        symbols: Mapping[str, Callable[[int, int], int]],
    ) -> None:
        self._model, self._given, self._symbols = model, given, symbols
        self._shapes: dict[tuple[int, int], dict[ir.Value, list[int]]] = {}
        self.sized: set[ir.Value] = set(given)
        for node in model.graph:
            if self._is_sized(node):
                self.sized |= set(node.outputs)

    def _is_sized(self, node: ir.Node) -> bool:
        if node.domain != "" or node.op_type in RANDOM or any(_bodies(node)):
            return False
        if self._asks_shape(node):
            return True
        known = [v for v in node.inputs if v is not None and v not in self.sized]
        return bool(node.inputs) and all(g.constant_tensor(v) is not None for v in known)

    def _asks_shape(self, node: ir.Node) -> bool:
        """Shape of a value that holds data, where each of its extents is a number of tokens or fixed."""
        x = node.inputs[0] if g.is_op(node, "Shape", "Size") else None
        return x is not None and x not in self.sized and self.extents(x, 97, 101) is not None

    def extents(self, value: ir.Value | None, past: int, new: int) -> list[int] | None:
        """The value's shape; None where it is not known, or no sum of numbers of tokens.

        Inferred at sizes above 1, which broadcast nothing, and continued from there.
        """
        points = [self._inferred(*run).get(value) if value is not None else None for run in POINTS]
        if any(p is None or len(p) != len(points[0] or ()) for p in points):
            return None
        first, more_past, more_new = (np.array(p, np.int64) for p in points[:3])
        (p0, n0), (p1, n1) = POINTS[0], POINTS[3]
        by_past, by_new = (more_past - first) // (p1 - p0), (more_new - first) // (n1 - n0)

        def at(p: int, n: int) -> g.Array:
            made: g.Array = first + by_past * (p - p0) + by_new * (n - n0)
            return made

        same = all(
            np.array_equal(at(*run), np.array(p)) for run, p in zip(POINTS, points, strict=True)
        )
        return [int(n) for n in at(past, new)] if same else None

    def _inferred(self, past: int, new: int) -> dict[ir.Value, list[int]]:
        if (past, new) not in self._shapes:
            at = {name: size(past, new) for name, size in self._symbols.items()}

            def size(text: str) -> int | None:
                extent = at.get(text, arithmetic(text, at))
                return extent if isinstance(extent, int) else None

            self._shapes[past, new] = shapes_at(self._model, size)
        return self._shapes[past, new]

    def __call__(self, targets: Sequence[ir.Value], past: int, new: int) -> list[g.Array]:
        """Elements of sized values for so many tokens."""
        nodes, feeds, held = self._needed(targets, past, new)
        if not targets:
            return []
        graph = onnx.GraphProto(name="probe")
        graph.node.extend(ir.serde.serialize_node(node) for node in nodes)
        for name in feeds:
            graph.input.add(name=name)
        for value in held:
            tensor = g.constant_tensor(value)
            assert tensor is not None
            graph.initializer.append(
                ir.serde.serialize_tensor(ir.tensor(tensor.numpy(), name=value.name))
            )
        for value in targets:
            graph.output.add(name=value.name)
        model = onnx.ModelProto(graph=graph, ir_version=self._model.ir_version)
        for domain, version in self._model.graph.opset_imports.items():
            model.opset_import.add(domain=domain, version=version)
        try:
            results: Any = ReferenceEvaluator(model, new_ops=[GatherElements]).run(None, feeds)
        except Exception as error:
            raise ModelError(
                f"max_context: value {targets[0].name!r} cannot be computed for {past} tokens and {new} behind them, expected it of any "
                f"numbers: {error}"
            ) from error
        return list(results)

    def _needed(
        self, targets: Sequence[ir.Value], past: int, new: int
    ) -> tuple[list[ir.Node], dict[str, g.Array], list[ir.Value]]:
        """Nodes in order, what is fed, and constants."""
        wanted, seen = list(targets), set[ir.Value]()
        nodes: set[ir.Node] = set()
        feeds: dict[str, g.Array] = {}
        held: list[ir.Value] = []
        while wanted:
            value = wanted.pop()
            if value in seen:
                continue
            seen.add(value)
            node, name = value.producer(), str(value.name)
            if value in self._given:
                feeds[name] = self._given[value](past, new)
            elif g.constant_tensor(value) is not None:
                held.append(value)
            elif node is not None and self._asks_shape(node):
                feeds[name] = self._shape(node, past, new)
            elif node is not None:
                nodes.add(node)
                wanted += [v for v in node.inputs if v is not None]
        return [n for n in self._model.graph if n in nodes], feeds, held

    def _shape(self, node: ir.Node, past: int, new: int) -> g.Array:
        assert node.inputs[0] is not None
        extents = self.extents(node.inputs[0], past, new)
        assert extents is not None
        if node.op_type == "Size":
            return np.array(np.prod(extents), np.int64)
        return np.array(extents[g.attr(node, "start", 0) : g.attr(node, "end")], np.int64)


def _bodies(node: ir.Node) -> list[ir.Attr]:
    kinds = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
    return [a for a in node.attributes.values() if a.type in kinds]

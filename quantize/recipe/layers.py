"""Which weights of a Graph can be quantized, and what each looks like as a matrix: a row for each output, K what is summed over."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

import pteron.export.graph as graphs

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Layer:
    """A weight that can be quantized: input `slot` of `node`, its matrix [n, k] and the way back to its shape."""

    node: ir.Node
    slot: int
    name: str
    kind: str
    shape: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Those that a rule may match."""
        weight = self.node.inputs[self.slot]
        return self.name, self.node.name or "", str(weight.name or "") if weight is not None else ""

    @property
    def extents(self) -> tuple[int, int]:
        """n, k of the matrix."""
        if self.kind == "matmul":
            return self.shape[1], self.shape[0]
        return self.shape[0], math.prod(self.shape[1:])

    def matrix(self, w: Array) -> Array:
        if self.kind == "matmul":
            return w.T
        return w.reshape(len(w), -1) if w.ndim == 2 else np.moveaxis(w, 1, -1).reshape(len(w), -1)

    def shaped(self, matrix: Array) -> Array:
        """`matrix` [n, k] as the weight is shaped."""
        if self.kind == "matmul":
            return np.ascontiguousarray(matrix.T)
        if len(self.shape) == 2:
            return np.ascontiguousarray(matrix)
        wide = matrix.reshape(self.shape[0], *self.shape[2:], self.shape[1])
        return np.ascontiguousarray(np.moveaxis(wide, -1, 1))

    @property
    def bias(self) -> ir.Value | None:
        """The constant [n] that the node itself adds, once, to what it makes."""
        values = self.node.inputs[2:3] if self.kind != "gather" else ()
        value = next(iter(values), None)
        tensor = graphs.constant_tensor(value)
        once = all(graphs.attr(self.node, name, 1.0) == 1.0 for name in ("alpha", "beta"))
        if tensor is None or tensor.dtype != ir.DataType.FLOAT or not once:
            return None
        n = self.extents[0]
        return value if [int(str(d)) for d in tensor.shape][-1:] == [n] == [tensor.size] else None


def layers(model: ir.Model, tables: bool = False) -> list[Layer]:
    """Every constant weight of MatMul, Gemm, Conv and, with `tables`, Gather, in order; weights of no elements stay as they are."""
    found = list(_layers(model, tables))
    names = layer_names([(layer.node, layer.node.inputs[layer.slot]) for layer in found])
    return [dataclasses.replace(layer, name=name) for layer, name in zip(found, names, strict=True)]


def _layers(model: ir.Model, tables: bool) -> Iterator[Layer]:
    slots = {"MatMul": 1, "Gemm": 1, "Conv": 1} | ({"Gather": 0} if tables else {})
    for node in graphs.nodes(model):
        slot = slots.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        if slot is None or slot >= len(node.inputs):
            continue
        value = node.inputs[slot]
        tensor = graphs.constant_tensor(value)
        if value is None or tensor is None or tensor.dtype != ir.DataType.FLOAT:
            continue
        shape = tuple(int(str(d)) for d in tensor.shape)
        kind = node.op_type.lower()
        if kind == "gemm" and not graphs.attr(node, "transB", 0):
            kind = "matmul"
        if kind == "gather" and graphs.attr(node, "axis", 0) != 0:
            continue
        if 0 not in shape and (len(shape) == 2 or (kind == "conv" and len(shape) > 2)):
            yield Layer(node, slot, "", kind, shape)


def layer_names(layers: Sequence[tuple[ir.Node, ir.Value | None]]) -> list[str]:
    """What layers are called, by their nodes and weights: module, else weight, else node.

    A module of several weights does not tell them apart: these are called by their nodes.
    """
    paths = [graphs.module(node) for node, _ in layers]
    weights: dict[str | None, set[int]] = {}
    for path, (node, weight) in zip(paths, layers, strict=True):
        weights.setdefault(path, set()).add(id(node if weight is None else weight))
    return [
        path if path and len(weights[path]) == 1
        else str((node.name if path or weight is None or not weight.name else weight.name) or "")
        for path, (node, weight) in zip(paths, layers, strict=True)
    ]  # fmt: skip

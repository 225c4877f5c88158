"""Mixtures of experts: a token is multiplied by the matrices of the experts that it chose, and others are not read."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
import onnx_ir as ir

from .. import graph as g

SAME: Final = ("Reshape", "Unsqueeze", "Squeeze", "Expand", "Cast", "Identity", "Flatten")
"""What leaves the choices in their order."""


@dataclasses.dataclass(frozen=True, slots=True)
class Product:
    """`matmul` of rows `x` with the matrices that `gather` picks from `stack` by `index`, one a row; `left`: the matrix is its left
    operand, [out, in], and x has its 1 behind; else [in, out]."""

    gather: ir.Node
    matmul: ir.Node
    stack: ir.TensorProtocol
    index: ir.Value
    x: ir.Value
    left: bool


def split_experts(model: ir.Model) -> bool:
    """stack[choice] x  =>  for each expert e: rows = NonZero(choice == e); y[rows] = x[rows] W_e, written in place.

    A matrix a row is a copy of it; this way each is a weight of its own, stored in any format, and is read where somebody chose it.
    A row's sums are the same. Requires: a constant stack; choices of TopK over as many as there are experts; one row a choice.
    """
    graph = model.graph
    found = [p for node in graph if (p := _product(node)) is not None]
    if not found:
        return False
    makers = _Makers(graph, g.names(model))
    for product in found:
        makers.split(product)
    return True


def _product(matmul: ir.Node) -> Product | None:
    if not g.is_op(matmul, "MatMul"):
        return None
    for at in (0, 1):
        gathered, x = matmul.inputs[at], matmul.inputs[1 - at]
        gather = gathered.producer() if gathered is not None else None
        if gather is None or x is None or not g.is_op(gather, "Gather", "GatherND"):
            continue
        stack, index, extents = g.constant_tensor(gather.inputs[0]), gather.inputs[1], g.dims(x)
        if stack is None or index is None or len(stack.shape) != 3 or extents is None:
            continue
        one = len(extents) == 3 and extents[2 - at] == 1
        if one and stack.dtype == ir.DataType.FLOAT and _picks(gather, index, g.sizes(stack)[0]):
            return Product(gather, matmul, stack, index, x, at == 0)
    return None


def _picks(gather: ir.Node, index: ir.Value, experts: object) -> bool:
    """Whether the node picks a matrix for each choice of a TopK over the experts: all are there, and counted from the first."""
    extents = g.dims(index) or []
    if g.is_op(gather, "Gather"):
        fits = g.attr(gather, "axis", 0) == 0 and len(extents) == 1
    else:
        fits = g.attr(gather, "batch_dims", 0) == 0 and len(extents) == 2 and extents[1] == 1
    value: ir.Value | None = index
    while value is not None and (maker := value.producer()) is not None and g.is_op(maker, *SAME):
        value = maker.inputs[0]
    if not fits or value is None or maker is None or not g.is_op(maker, "TopK"):
        return False
    of = g.dims(maker.inputs[0]) or [None]
    last = int(g.attr(maker, "axis", -1)) % len(of) == len(of) - 1
    return last and of[-1] == experts and value is maker.outputs[1]


class _Makers:
    """Makes the nodes; rows of an expert are found once for all products with the same choices."""

    def __init__(self, graph: ir.Graph, used: set[str]) -> None:
        self.graph, self.used = graph, used
        self.rows: dict[ir.Value, list[tuple[ir.Value, ir.Value]]] = {}
        self.numbers: dict[tuple[int, ...], ir.Value] = {}

    def split(self, product: Product) -> None:
        made: list[ir.Node] = []
        stack, name = product.stack.numpy(), product.stack.name
        experts, width = len(stack), stack.shape[1 if product.left else 2]
        rows = self._rows(product, experts)
        x = self._op(made, "Squeeze", product.x, self._ints(2 if product.left else 1))
        count = self._op(made, "Shape", x, start=0, end=1)
        shape = self._op(made, "Concat", count, self._ints(width), axis=0)
        zero = ir.tensor(np.zeros(1, np.float32))
        y = self._op(made, "ConstantOfShape", shape, value=zero)
        for e, (flat, at) in enumerate(rows):
            matrix = stack[e].T if product.left else stack[e]
            weight = self._constant(matrix, f"{name}.{e}")
            mine = self._op(made, "Gather", x, flat, axis=0)
            y = self._op(made, "ScatterND", y, at, self._op(made, "MatMul", mine, weight))
        y = self._op(made, "Unsqueeze", y, self._ints(2 if product.left else 1))
        g.replace([product.gather, product.matmul], made, product.matmul.outputs[0], y)

    def _rows(self, product: Product, experts: int) -> list[tuple[ir.Value, ir.Value]]:
        """Of each expert, which rows chose it: [n], and [n, 1]."""
        index = product.index
        if index not in self.rows:
            made: list[ir.Node] = []
            wide = self._op(made, "Cast", index, to=int(ir.DataType.INT64))
            chosen = self._op(made, "Reshape", wide, self._ints(-1))
            self.rows[index] = []
            for e in range(experts):
                number = self._constant(np.array(e, np.int64), "expert")
                at = self._op(made, "NonZero", self._op(made, "Equal", chosen, number))
                flat = self._op(made, "Squeeze", at, self._ints(0))
                column = self._op(made, "Transpose", at, perm=[1, 0])
                self.rows[index].append((flat, column))
            g.carry(made, [product.gather])
            self.graph.insert_before(product.gather, made)
        return self.rows[index]

    def _op(self, made: list[ir.Node], kind: str, *inputs: ir.Value, **attributes: Any) -> ir.Value:
        node = ir.node(kind, inputs, attributes)
        node.outputs[0].name = g.fresh(self.used, f"experts.{kind}")
        made.append(node)
        return node.outputs[0]

    def _ints(self, *numbers: int) -> ir.Value:
        if numbers not in self.numbers:
            self.numbers[numbers] = self._constant(np.array(numbers, np.int64), "experts.axis")
        return self.numbers[numbers]

    def _constant(self, array: g.Array, name: str) -> ir.Value:
        tensor = ir.tensor(array)
        value = ir.Value(
            name=g.fresh(self.used, name),
            shape=g.sizes(tensor),
            type=ir.TensorType(tensor.dtype),
            const_value=tensor,
        )
        self.graph.register_initializer(value)
        return value

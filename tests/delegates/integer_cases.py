"""Random integer graphs, one for each kind of node and a few chains, for every delegate that computes the integer contract."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.export.graph import int8 as integer
from pteron.schema.meaning import int8 as arithmetic

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """Nodes in order; `arrays` for the inputs."""

    nodes: tuple[ir.Node, ...]
    inputs: tuple[ir.Value, ...]
    outputs: tuple[ir.Value, ...]
    arrays: tuple[Array, ...]

    def expected(self) -> list[Array]:
        """schema/meaning/int8.py's answer."""
        known = dict(zip(self.inputs, self.arrays, strict=True))
        for node in self.nodes:
            arrays = [
                known[v] if v in known else v.const_value.numpy()  # type: ignore[union-attr, index]
                for v in node.inputs
            ]
            known[node.outputs[0]] = integer.run(node, *arrays)
        return [known[v] for v in self.outputs]


class Maker:
    """Builds a graph node by node, each value with its shape."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.graph = ir.Graph([], [], nodes=[], opset_imports={"": 28, integer.DOMAIN: 1})
        self.nodes: list[ir.Node] = []
        self.arrays: dict[ir.Value, Array] = {}
        self.inputs: list[ir.Value] = []

    def codes(self, *shape: int) -> Array:
        return self.rng.integers(-128, 128, shape).astype(np.int8)

    def input(self, *shape: int) -> ir.Value:
        value = ir.Value(
            name=f"x{len(self.inputs)}", shape=ir.Shape(shape), type=ir.TensorType(ir.DataType.INT8)
        )
        self.inputs.append(value)
        self.arrays[value] = self.codes(*shape)
        return value

    def zero(self) -> int:
        return int(
            self.rng.choice([0, *self.rng.integers(-40, 40, 3), *self.rng.choice([-128, 127], 1)])
        )

    def factors(self, n: int, terms: int) -> tuple[Array, Array]:
        """Per-channel factors that use the whole range of int8."""
        scales = self.rng.uniform(0.5, 2.0, n) / (74 * 74 * np.sqrt(terms)) * 60
        return arithmetic.multipliers_shifts(scales)

    def bounds(self) -> dict[str, int]:
        low, high = [(-128, 127), (-100, 127), (-17, 90)][int(self.rng.integers(3))]
        return {"low": low, "high": high}

    def own(self, row: Any, *values: ir.Value) -> ir.Value:
        return self.append(integer.build(row, values, self.graph, f"n{len(self.nodes)}"))

    def plain(self, op: str, value: ir.Value, *constants: Array, **attributes: Any) -> ir.Value:
        found = [ir.Value(name=f"c{i}", const_value=ir.tensor(c)) for i, c in enumerate(constants)]
        out = ir.Value(name=f"y{len(self.nodes)}", type=ir.TensorType(ir.DataType.INT8))
        return self.append(
            ir.Node(
                "",
                op,
                [value, *found],
                ir.convenience.convert_attributes(attributes),
                outputs=[out],
            )
        )

    def append(self, node: ir.Node) -> ir.Value:
        self.nodes.append(node)
        out = node.outputs[0]
        arrays = [
            self.arrays[v] if v in self.arrays else v.const_value.numpy()  # type: ignore[union-attr, index]
            for v in node.inputs
        ]
        self.arrays[out] = integer.run(node, *arrays)
        out.shape = ir.Shape(self.arrays[out].shape)
        return out

    def case(self, *outputs: ir.Value) -> Case:
        arrays = tuple(self.arrays[v] for v in self.inputs)
        return Case(tuple(self.nodes), tuple(self.inputs), outputs, arrays)

    # --- kinds of nodes ---------------------------------------------------------------------------

    def conv(
        self, x: ir.Value, n: int, kernel: int = 3, stride: int = 1, pads: Any = None,
        dilation: int = 1, group: int = 1,
    ) -> ir.Value:  # fmt: skip
        c = int(self.arrays[x].shape[1])
        w = self.rng.integers(-127, 128, (n, c // group, kernel, kernel)).astype(np.int8)
        bias = self.rng.integers(-3000, 3000, n).astype(np.int32)
        factors = self.factors(n, w[0].size)
        pads = pads or (kernel // 2,) * 4
        strides, dilations = (stride, stride), (dilation, dilation)
        zeros = {"x_zero": self.zero(), "y_zero": self.zero()}
        row = integer.Conv(
            w, bias, *factors, strides, pads, dilations, group, **zeros, **self.bounds()
        )
        return self.own(row, x)

    def linear(self, x: ir.Value, n: int) -> ir.Value:
        k = int(self.arrays[x].shape[-1])
        w = self.rng.integers(-127, 128, (n, k)).astype(np.int8)
        bias = self.rng.integers(-3000, 3000, n).astype(np.int32)
        zeros = {"x_zero": self.zero(), "y_zero": self.zero()}
        return self.own(integer.Linear(w, bias, *self.factors(n, k), **zeros, **self.bounds()), x)

    def add(self, a: ir.Value, b: ir.Value) -> ir.Value:
        scales = self.rng.uniform(0.2, 2.0, 3)
        left, right, total = (
            arithmetic.multiplier_shift(f) for f in arithmetic.add_factors(*map(float, scales))
        )
        row = integer.Add(
            self.zero(), *left, self.zero(), *right, self.zero(), *total, **self.bounds()
        )
        return self.own(row, a, b)

    def average_pool(self, x: ir.Value, kernel: int, stride: int) -> ir.Value:
        factor = arithmetic.multiplier_shift(float(self.rng.uniform(0.3, 0.8)) / kernel)
        row = integer.AveragePool(
            (kernel, kernel),
            (stride, stride),
            (0,) * 4,
            self.zero(),
            self.zero(),
            *factor,
            **self.bounds(),
        )
        return self.own(row, x)

    def rescale(self, x: ir.Value) -> ir.Value:
        factor = arithmetic.multiplier_shift(float(self.rng.uniform(0.05, 3.0)))
        return self.own(integer.Rescale(self.zero(), self.zero(), *factor, **self.bounds()), x)


def _conv(m: Maker) -> Case:
    return m.case(m.conv(m.input(1, 8, 9, 7), 16))


def _conv_stride(m: Maker) -> Case:
    """Windows that do not end where the image ends, with and without padding to take from."""
    return m.case(m.conv(m.conv(m.input(2, 5, 16, 15), 12, 3, 2), 6, 2, 3, (0, 1, 0, 0)))


def _conv_dilated(m: Maker) -> Case:
    return m.case(m.conv(m.input(1, 3, 12, 11), 5, 3, 1, (2, 0, 1, 2), 2))


def _depthwise(m: Maker) -> Case:
    return m.case(m.conv(m.input(1, 6, 9, 8), 6, 3, 2, None, 1, 6))


def _depthwise_twice(m: Maker) -> Case:
    return m.case(m.conv(m.input(1, 4, 5, 6), 8, 3, 1, None, 1, 4))


def _groups(m: Maker) -> Case:
    return m.case(m.conv(m.input(1, 6, 5, 6), 9, 3, 1, None, 1, 3))


def _linear(m: Maker) -> Case:
    return m.case(m.linear(m.input(3, 24), 10))


def _linear_rank3(m: Maker) -> Case:
    return m.case(m.linear(m.input(2, 3, 17), 5))


def _add(m: Maker) -> Case:
    return m.case(m.add(m.input(2, 3, 5), m.input(2, 3, 5)))


def _average_pool(m: Maker) -> Case:
    return m.case(m.average_pool(m.input(1, 5, 9, 8), 3, 2))


def _average_whole(m: Maker) -> Case:
    return m.case(m.average_pool(m.input(2, 5, 6, 6), 6, 1))


def _max_pool(m: Maker) -> Case:
    x = m.input(1, 4, 9, 8)
    return m.case(m.plain("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 0]))


def _rescale(m: Maker) -> Case:
    return m.case(m.rescale(m.input(4, 33)))


def _transpose(m: Maker) -> Case:
    return m.case(m.plain("Transpose", m.input(2, 3, 5), perm=[2, 0, 1]))


def _reshape(m: Maker) -> Case:
    return m.case(m.plain("Reshape", m.input(2, 3, 4), np.array([4, 6])))


def _nothing(m: Maker) -> Case:
    """An output that is an input; one value as two outputs."""
    x = m.input(2, 3)
    return m.case(m.plain("Reshape", x, np.array([2, 3])), m.plain("Transpose", x, perm=[0, 1]))


def _signal(m: Maker) -> Case:
    """Convolution, pooling and an average over one axis."""
    x = m.input(2, 3, 19)
    w = m.rng.integers(-127, 128, (5, 3, 4)).astype(np.int8)
    bias = m.rng.integers(-3000, 3000, 5).astype(np.int32)
    factors = m.factors(5, w[0].size)
    row = integer.Conv(w, bias, *factors, (2,), (1, 2), (1,), 1, 7, -3, -128, 127)
    y = m.plain("MaxPool", m.own(row, x), kernel_shape=[2], strides=[2])
    factor = arithmetic.multiplier_shift(0.3)
    return m.case(m.own(integer.AveragePool((4,), (1,), (0, 0), -3, 5, *factor, -128, 127), y))


def _residual(m: Maker) -> Case:
    x = m.input(1, 4, 8, 8)
    y = m.conv(x, 8)
    z = m.conv(y, 8, 3, 1, None, 1, 8)
    return m.case(m.plain("Flatten", m.average_pool(m.add(z, y), 8, 1), axis=1))


def _two_outputs(m: Maker) -> Case:
    y = m.conv(m.input(1, 3, 6, 6), 4)
    z = m.plain("Transpose", m.rescale(y), perm=[0, 2, 3, 1])
    return m.case(y, m.linear(z, 7))


def _classifier(m: Maker) -> Case:
    """The shape of the digit classifier: convolutions, pooling, a linear layer."""
    x = m.plain("MaxPool", m.conv(m.input(1, 1, 16, 16), 8), kernel_shape=[2, 2], strides=[2, 2])
    x = m.plain("MaxPool", m.conv(x, 16), kernel_shape=[2, 2], strides=[2, 2])
    return m.case(m.linear(m.plain("Reshape", x, np.array([1, -1])), 10))


CASES: dict[str, Callable[[Maker], Case]] = {
    f.__name__.removeprefix("_"): f
    for f in (
        _conv, _conv_stride, _conv_dilated, _depthwise, _depthwise_twice, _groups, _linear, _linear_rank3, _add,
        _average_pool, _average_whole, _max_pool, _rescale, _transpose, _reshape, _nothing, _signal, _residual, _two_outputs, _classifier,
    )
}  # fmt: skip


def make(name: str, seed: int = 0) -> Case:
    return CASES[name](Maker(seed))

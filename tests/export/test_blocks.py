"""conv_block: which convolutions become one instruction, and that no bit changes by it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import pteron
from pteron.export.capture import capture
from pteron.export.file.read import read
from pteron.export.lower import lower
from pteron.export.optimize import blocks
from pteron.export.optimize.fuse import fuse
from pteron.export.program import interpret
from pteron.schema.isas import ROWS

RNG = np.random.default_rng(9)
NONE: list[str] = []
RELU, RELU6 = ["Relu"], ["Clip"]


class Net:
    """Convolutions one behind the other, as a model of ONNX."""

    def __init__(self, *shape: Any) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights = [
            numpy_helper.from_array(np.float32(n), name) for name, n in (("zero", 0), ("six", 6))
        ]
        self.shape, self.last = shape, "x"

    def add(self, op: str, *inputs: str, **attrs: Any) -> str:
        self.last = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [*inputs], [self.last], **attrs))
        return self.last

    def conv(self, *w: int, bias: bool = True, then: list[str] = NONE, **attrs: Any) -> str:
        names = [self.last]
        for shape in (w, w[:1])[: 1 + bias]:
            names.append(f"w{len(self.weights)}")
            array = RNG.standard_normal(shape) * (2 / np.prod(w[1:])) ** 0.5
            self.weights.append(numpy_helper.from_array(array.astype(np.float32), names[-1]))
        self.add("Conv", *names, **attrs)
        for op in then:
            self.add(op, self.last, *(("zero", "six") if op == "Clip" else ()))
        return self.last

    def block(self, c: int, m: int, n: int, kernel: int = 3, stride: int = 1, first: list[str] = RELU6,
              second: list[str] = RELU6, bias: bool = True, **attrs: Any) -> Net:  # fmt: skip
        x = self.last
        if c > 0:
            self.conv(m, c, 1, 1, then=first, bias=bias)
        pads = attrs.pop("pads", [kernel // 2] * 4)
        side = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": pads, **attrs}
        self.conv(m, 1, kernel, kernel, then=second, group=m, bias=bias, **side)
        self.conv(n, m, 1, 1, bias=bias)
        if c == n and stride == 1:
            self.add("Add", self.last, x)
        return self

    def save(self, path: Path) -> Path:
        """With a first and a last layer, between which channels are last."""
        ends = [
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)]
            for n, s in (("x", self.shape), (self.last, None))
        ]
        graph = helper.make_graph(self.nodes, "g", *ends, self.weights)
        opset = [helper.make_opsetid("", 20)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=9), path)
        return path


def operators(path: Path, **options: Any) -> list[str]:
    target = path.with_suffix(".pte")
    pteron.export_model(path, target, **options)
    return [i.op for b in read(target.read_bytes()).blocks for i in b.instrs]


@pytest.fixture
def all_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "LEAST_BYTES", 0)


def varied(folder: Path) -> Path:
    """Lines of every kind: more images, windows of two strides, narrow and wide ones, both kinds of blocks."""
    net = Net(2, 3, 30, 26)
    net.conv(12, 3, 3, 3, then=RELU6, pads=[1, 1, 1, 1])
    net.block(0, 12, 8, second=RELU)
    net.block(8, 48, 24, stride=2).block(24, 33, 24).block(24, 72, 24, kernel=5, first=RELU)
    net.block(24, 40, 16, stride=2, first=NONE, second=NONE, bias=False)
    net.block(16, 20, 10, kernel=2, pads=[0] * 4)
    return net.save(folder / "net.onnx")


@pytest.mark.usefixtures("all_pay")
def test_no_bit_changes(tmp_path: Path) -> None:
    path = varied(tmp_path)
    assert operators(path).count("conv_block") == 6
    joined = path.with_suffix(".pte").rename(tmp_path / "joined.pte")
    assert "conv_block" not in operators(path, fuse=False)
    x = RNG.standard_normal((2, 3, 30, 26)).astype(np.float32)
    want = pteron.load(path.with_suffix(".pte"), threads=1, cpu=0)(x)
    for mask in itertools.accumulate((1 << row.feature for row in ROWS), initial=0):
        for threads in (1, 2, 3):
            got = pteron.load(joined, threads=threads, cpu=mask)(x)
            np.testing.assert_array_equal(bits(got), bits(want))


@pytest.mark.usefixtures("all_pay")
def test_the_interpreter_computes_the_same(tmp_path: Path) -> None:
    program = lower(capture(varied(tmp_path)))
    joined = fuse(program)
    assert sum(i.op == "conv_block" for b in joined.blocks for i in b.instrs) == 6
    x = RNG.standard_normal((2, 3, 30, 26)).astype(np.float32)
    (got,), (want,) = (interpret.run(each, {"x": x}).values() for each in (joined, program))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def bits(y: Any) -> Any:
    return np.asarray(y).view(np.int32)


LARGE = (1, 16, 56, 56)


@pytest.mark.parametrize(
    ("shape", "block", "count"),
    [
        (LARGE, {}, 1),
        (LARGE, {"stride": 2, "kernel": 5}, 1),
        (LARGE, {"first": NONE, "second": RELU}, 1),
        (("n", 16, 56, 56), {}, 1),
        ((4, 16, 28, 28), {}, 1),
        ((1, 16, 28, 28), {}, 0),  # what is between stays in a cache
        ((1, 16, "h", 56), {}, 0),
        (LARGE, {"second": ["Sigmoid"]}, 0),
        (LARGE, {"first": ["Sigmoid"]}, 1),  # without the first
        (LARGE, {"dilations": [2, 2], "pads": [2] * 4}, 0),
        (LARGE, {"pads": [1, 0, 1, 2]}, 0),
        (LARGE, {"pads": [1, 1, 2, 2]}, 1),
    ],
)
def test_which_blocks_are_joined(
    tmp_path: Path, shape: tuple[Any, ...], block: dict[str, Any], count: int
) -> None:
    net = Net(*shape)
    net.conv(16, 16, 1, 1, then=["Sigmoid"])
    net.block(16, 96, 24, **block).conv(8, 24, 1, 1)
    assert operators(net.save(tmp_path / "m.onnx")).count("conv_block") == count


def test_what_others_read_stays(tmp_path: Path) -> None:
    """The sums between are a result of the model, or an input of a second reader."""
    net = Net(*LARGE)
    x = net.conv(16, 16, 1, 1, then=["Sigmoid"])
    wide = net.conv(96, 16, 1, 1, then=RELU6)
    net.conv(96, 1, 3, 3, then=RELU6, group=96, pads=[1, 1, 1, 1])
    net.conv(16, 96, 1, 1)
    net.add("Add", net.last, x)
    last = net.last
    net.add("ReduceMean", wide, keepdims=1)
    net.add("Add", net.last, last)
    assert operators(net.save(tmp_path / "m.onnx")).count("conv_block") == 1  # without the first

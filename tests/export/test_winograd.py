"""`--fast-conv`: convolutions of 3 x 3 by Winograd's F(4 x 4, 3 x 3). Its matrices, which convolutions, models against f64."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import pteron
from pteron.export.file.read import read
from pteron.export.pack import winograd
from pteron.schema.meaning.windows import WINOGRAD_IN, WINOGRAD_OUT, WINOGRAD_WEIGHT

RNG = np.random.default_rng(3)


def test_the_matrices_give_the_correlation_of_a_line() -> None:
    d, g = RNG.standard_normal(6), RNG.standard_normal(3)
    got = WINOGRAD_OUT @ ((WINOGRAD_WEIGHT @ g / 24) * (WINOGRAD_IN @ d))
    np.testing.assert_allclose(got, np.correlate(d, g), rtol=0, atol=1e-13)


def test_weights_are_rounded_once() -> None:
    w = RNG.standard_normal((4, 9, 3))
    for e in (0, 7, 14, 35):
        g = WINOGRAD_WEIGHT[[e // 6, e % 6]] / 24
        want = np.einsum("i,k,nikc->nc", g[0], g[1], w.reshape(4, 3, 3, 3))
        np.testing.assert_allclose(winograd.transformed(w, e), want, rtol=2**-23)


def model(
    path: Path, x: tuple[Any, ...], w: tuple[int, ...], layers: int = 1, **attrs: Any
) -> Path:
    """Convolutions with a bias and ReLU6, the last one beside what it reads."""
    weights, nodes, last = [], [], "x"
    attrs = {"pads": [1, 1, 1, 1], **attrs}
    for i in range(layers):
        kernel = RNG.standard_normal(w) * (2 / np.prod(w[1:])) ** 0.5
        for name, array in ((f"w{i}", kernel), (f"b{i}", RNG.standard_normal(w[0]) / 4)):
            weights.append(numpy_helper.from_array(array.astype(np.float32), name))
        nodes.append(helper.make_node("Conv", [last, f"w{i}", f"b{i}"], [f"c{i}"], **attrs))
        nodes.append(helper.make_node("Clip", [f"c{i}", "low", "high"], [f"y{i}"]))
        last = f"y{i}"
    if layers == 1:  # as it is a result, it would have channels first and stay what it is
        head = RNG.standard_normal((8, w[0], *(1 for _ in w[2:]))).astype(np.float32)
        weights.append(numpy_helper.from_array(head, "head"))
        nodes.append(helper.make_node("Conv", [last, "head"], ["y"]))
        last = "y"
    for name, value in (("low", 0), ("high", 6)):
        weights.append(numpy_helper.from_array(np.float32(value), name))
    ends = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)]
        for n, s in (("x", x), (last, None))
    ]
    graph = helper.make_graph(nodes, "g", *ends, weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path
    )
    return path


def operators(path: Path, **options: Any) -> list[str]:
    target = path.with_suffix(".pte")
    pteron.export_model(path, target, **options)
    return [i.op for b in read(target.read_bytes()).blocks for i in b.instrs]


FITS = (1, 32, 16, 16), (48, 32, 3, 3)


@pytest.mark.parametrize(
    ("x", "w"),
    [
        FITS,
        ((1, 16, 16, 32), (16, 16, 3, 3)),
        (("n", 32, 13, 16), FITS[1]),
        ((2, 64, 7, 7), (80, 64, 3, 3)),
        ((8, 64, 4, 4), (64, 64, 3, 3)),
    ],
)
def test_such_a_convolution_becomes_one(
    tmp_path: Path, x: tuple[Any, ...], w: tuple[int, ...]
) -> None:
    assert "conv_winograd" in operators(model(tmp_path / "m.onnx", x, w), fast_conv=True)


@pytest.mark.parametrize(
    ("x", "w", "attrs"),
    [
        ((1, 32, 32, 32), FITS[1], {"strides": [2, 2]}),
        (*FITS, {"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
        (FITS[0], (48, 16, 3, 3), {"group": 2}),
        (FITS[0], (48, 32, 1, 3), {"pads": [0, 1, 0, 1]}),
        ((1, 16, 16, 28), (48, 16, 3, 3), {}),  # 28 tiles of 16 channels
        ((1, 40, 16, 16), (48, 40, 3, 3), {}),
        (FITS[0], (24, 32, 3, 3), {}),
        ((1, 32, 12, 20), FITS[1], {}),  # 15 tiles of 32
        ((7, 64, 4, 4), (64, 64, 3, 3), {}),  # 7 tiles of 64
        (("n", 512, 7, 7), (64, 512, 3, 3), {}),  # 4 tiles an image
        ((1, 32, "h", 16), FITS[1], {}),
        ((1, 32, 64), (48, 32, 3), {"pads": [1, 1]}),
        (*FITS, {"pads": [0, 1, 2, 1]}),
        (*FITS, {"pads": [3, 3, 3, 3]}),
    ],
)
def test_other_convolutions_stay(
    tmp_path: Path, x: tuple[Any, ...], w: tuple[int, ...], attrs: dict[str, Any]
) -> None:
    assert "conv_winograd" not in operators(
        model(tmp_path / "m.onnx", x, w, **attrs), fast_conv=True
    )


def test_without_the_option_they_all_stay(tmp_path: Path) -> None:
    assert "conv_winograd" not in operators(model(tmp_path / "m.onnx", *FITS))


def test_quantized_weights_stay(tmp_path: Path) -> None:
    found = operators(model(tmp_path / "m.onnx", *FITS), fast_conv=True, quantize="nf4")
    assert "conv_winograd" not in found


@pytest.mark.parametrize(
    ("x", "layers", "pads"),
    [((2, 64, 18, 21), 3, (1, 1, 1, 1)), (("n", 64, 30, 30), 2, (2, 2, 1, 0))],
)
def test_a_model_is_near_f64(
    tmp_path: Path, x: tuple[Any, ...], layers: int, pads: tuple[int, ...]
) -> None:
    """An error of 3e-6 at most, 5 times that of conv: what the option says is 3 times."""
    path = model(tmp_path / "m.onnx", x, (64, 64, 3, 3), layers, pads=pads)
    found = operators(path, fast_conv=True)
    assert found.count("conv_winograd") == layers - 1  # the last one writes channels first
    assert "pointwise" not in found
    feeds = {"x": RNG.standard_normal((2, *x[1:])).astype(np.float32)}
    want = doubled(path, feeds)
    got = pteron.load(path.with_suffix(".pte")).run(feeds)[f"y{layers - 1}"]
    operators(path)
    direct = pteron.load(path.with_suffix(".pte")).run(feeds)[f"y{layers - 1}"]
    error = np.linalg.norm(got - want)
    assert error < 3e-6 * np.linalg.norm(want)
    assert error < 5 * np.linalg.norm(direct - want)


def doubled(path: Path, feeds: dict[str, np.ndarray]) -> np.ndarray:
    """The model's results in f64."""
    m = onnx.load(path)
    for w in m.graph.initializer:
        w.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(w).astype(np.float64), w.name))
    for v in (*m.graph.input, *m.graph.output):
        v.type.tensor_type.elem_type = TensorProto.DOUBLE
    return ReferenceEvaluator(m).run(None, {k: v.astype(np.float64) for k, v in feeds.items()})[0]

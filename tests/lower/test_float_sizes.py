"""Sizes that a model scales in floats are what ONNX's float arithmetic makes of them; an input's elements are values there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

import pteron

KINDS = {"f32": (T.FLOAT, np.float32), "f64": (T.DOUBLE, np.float64)}


def model(nodes: list[onnx.NodeProto], inputs: dict[str, list[int | str]], **constants: object):
    graph = h.make_graph(
        nodes,
        "g",
        [
            h.make_tensor_value_info(n, T.INT64 if n == "i" else T.FLOAT, s)
            for n, s in inputs.items()
        ],
        [h.make_tensor_value_info("y", T.FLOAT if inputs.keys() != {"i"} else T.INT64, None)],
        [nh.from_array(np.asarray(a), n) for n, a in constants.items()],
    )
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


def loaded(tmp_path: Path, source: onnx.ModelProto) -> pteron.Model:
    pteron.export_model(source, tmp_path / "m.pte")
    return pteron.load(tmp_path / "m.pte", threads=1)


def chain(source: str, kind: str, op: str, factor: float, rounding: str) -> list[onnx.NodeProto]:
    to, _ = KINDS[kind]
    return [
        h.make_node("Cast", [source], ["f"], to=to),
        h.make_node(op, ["f", "c"], ["g"]),
        *([h.make_node(rounding, ["g"], ["r"])] if rounding else []),
        h.make_node("Cast", ["r" if rounding else "g"], ["n"], to=T.INT64),
    ]


def expected(n: np.ndarray, kind: str, op: str, factor: float, rounding: str) -> np.ndarray:
    dtype = KINDS[kind][1]
    a, c = n.astype(dtype), dtype(factor)
    made = a * c if op == "Mul" else a / c
    pick = {"": np.trunc, "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint}[rounding]
    return pick(made).astype(np.int64)


CHAINS = [
    ("f64", "Mul", 0.7, ""),
    ("f32", "Mul", 0.1, "Floor"),
    ("f64", "Div", 0.1, "Ceil"),
    ("f32", "Mul", 1.1, "Round"),
    ("f32", "Div", 1.9999999, ""),
]


@pytest.mark.parametrize("kind, op, factor, rounding", CHAINS)
def test_a_length_is_rounded_as_its_float(
    tmp_path: Path, kind: str, op: str, factor: float, rounding: str
) -> None:
    nodes = [
        h.make_node("Shape", ["x"], ["s"]),
        *chain("s", kind, op, factor, rounding),
        h.make_node("ConstantOfShape", ["n"], ["y"]),
    ]
    run = loaded(tmp_path, model(nodes, {"x": ["n"]}, c=KINDS[kind][1](factor)))
    for n in (1, 2, 3, 10, 20, 57, 99, 100, 1001):
        want = expected(np.array([n]), kind, op, factor, rounding)[0]
        assert run(np.ones(n, np.float32)).shape == (want,)


@pytest.mark.parametrize("kind, op, factor, rounding", CHAINS)
def test_small_integers_through_floats_are_values(
    tmp_path: Path, kind: str, op: str, factor: float, rounding: str
) -> None:
    nodes = chain("i", kind, op, factor, rounding)
    nodes[-1].output[0] = "y"
    run = loaded(tmp_path, model(nodes, {"i": [2]}, c=KINDS[kind][1](factor)))
    for n in (*range(0, 130, 9), -1, -10, 2**24 + 1, 2**31, 2**40 + 1):
        x = np.array([n, n + 1])
        assert np.array_equal(run(x), expected(x, kind, op, factor, rounding))


def test_a_float_range_over_a_size(tmp_path: Path) -> None:
    nodes = [
        h.make_node("Shape", ["x"], ["s"]),
        h.make_node("Cast", ["s"], ["f"], to=T.FLOAT),
        h.make_node("Squeeze", ["f"], ["q"]),
        h.make_node("Mul", ["q", "c"], ["end"]),
        h.make_node("Range", ["a", "end", "c"], ["y"]),
    ]
    for step in (np.float32(0.5), np.float32(0.1)):
        run = loaded(tmp_path, model(nodes, {"x": ["n"]}, a=np.float32(0), c=step))
        for n in (1, 3, 7, 30):
            end = np.float32(n) * step
            count = int(np.ceil(np.float64(end) / np.float64(step)))
            want = np.arange(count).astype(np.float32) * step
            assert np.array_equal(run(np.ones(n, np.float32)), want)


def test_half_a_size_in_a_reshape(tmp_path: Path) -> None:
    nodes = [
        h.make_node("Shape", ["x"], ["s"], end=1),
        *chain("s", "f32", "Mul", 0.5, ""),
        h.make_node("Concat", ["n", "rest"], ["to"], axis=0),
        h.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    source = model(nodes, {"x": ["b", 4]}, c=np.float32(0.5), rest=np.array([-1]))
    run = loaded(tmp_path, source)
    assert run(np.ones((6, 4), np.float32)).shape == (3, 8)
    with pytest.raises(pteron.ArgumentError):
        run(np.ones((1, 4), np.float32))


def test_windows_by_a_quotient_of_two_sizes(tmp_path: Path) -> None:
    nodes = [
        h.make_node("Shape", ["x"], ["s"], end=1),
        h.make_node("Shape", ["w"], ["t"]),
        h.make_node("Cast", ["s"], ["f"], to=T.FLOAT),
        h.make_node("Cast", ["t"], ["g"], to=T.FLOAT),
        h.make_node("Div", ["f", "g"], ["q"]),
        h.make_node("Cast", ["q"], ["n"], to=T.INT64),
        h.make_node("Concat", ["n", "t", "rest"], ["to"], axis=0),
        h.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    run = loaded(tmp_path, model(nodes, {"x": ["b", 3], "w": ["k"]}, rest=np.array([-1])))
    assert run(np.ones((12, 3), np.float32), np.ones(4, np.float32)).shape == (3, 4, 3)


def test_scales_that_are_a_size_by_the_axis(tmp_path: Path) -> None:
    nodes = [
        h.make_node("Shape", ["z"], ["s"]),
        h.make_node("Shape", ["x"], ["t"]),
        h.make_node("Cast", ["s"], ["f"], to=T.FLOAT),
        h.make_node("Cast", ["t"], ["g"], to=T.FLOAT),
        h.make_node("Div", ["f", "g"], ["q"]),
        h.make_node("Resize", ["x", "", "q"], ["y"], mode="nearest"),
    ]
    source = model(nodes, {"x": [1, 1, "h", 4], "z": [1, 1, "H", 8]})
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    got = loaded(tmp_path, source)(x, np.ones((1, 1, 6, 8), np.float32))
    assert np.array_equal(got, x.repeat(2, 2).repeat(2, 3))


@pytest.mark.parametrize("extent", [-1, "?", None])
def test_a_size_without_a_name_is_named_by_its_axis(tmp_path: Path, extent: object) -> None:
    relu = [h.make_node("Relu", ["x"], ["y"])]
    source = model(relu, {"x": [extent, 3]})  # type: ignore[list-item]
    assert loaded(tmp_path, source).inputs[0].shape == ("x.0", 3)
    pteron.export_model(source, tmp_path / "f.pte", fix={"x.0": 2})
    assert pteron.load(tmp_path / "f.pte").inputs[0].shape == (2, 3)


def test_two_factors_whose_exact_product_no_integer_holds(tmp_path: Path) -> None:
    """2.3 and 0.7 in f64 are fractions over 2^51 and 2^53."""
    nodes = [
        h.make_node("Shape", ["x"], ["s"]), h.make_node("Cast", ["s"], ["f"], to=T.DOUBLE), h.make_node("Mul", ["f", "a"], ["g"]),
        h.make_node("Mul", ["g", "b"], ["m"]), h.make_node("Floor", ["m"], ["e"]), h.make_node("Cast", ["e"], ["k"], to=T.INT64),
        h.make_node("Slice", ["x", "zero", "k"], ["y"]),
    ]  # fmt: skip
    zero = np.zeros(1, np.int64)
    made = loaded(
        tmp_path, model(nodes, {"x": ["n"]}, a=np.array([2.3]), b=np.array([0.7]), zero=zero)
    )
    for n in (1, 3, 10, 1000):
        x = np.arange(n, dtype=np.float32)
        want = x[: int(np.floor(np.float64(n) * 2.3 * 0.7))]
        np.testing.assert_array_equal(made.run({"x": x})["y"], want)


def test_the_least_of_as_many_as_a_float_says(tmp_path: Path) -> None:
    nodes = [
        h.make_node("Shape", ["x"], ["s"]), h.make_node("Cast", ["s"], ["f"], to=T.DOUBLE), h.make_node("Mul", ["f", "a"], ["m"]),
        h.make_node("Squeeze", ["m"], ["e"]), h.make_node("Range", ["b", "e", "c"], ["r"]),
        h.make_node("ArgMin", ["r"], ["p"], axis=0, select_last_index=1), h.make_node("Cast", ["p"], ["y"], to=T.FLOAT),
    ]  # fmt: skip
    numbers = {"a": np.array([0.7]), "b": np.array(0.0), "c": np.array(0.5)}
    made = loaded(tmp_path, model(nodes, {"x": ["n"]}, **numbers))
    assert made.run({"x": np.zeros(5, np.float32)})["y"].tolist() == [0.0]

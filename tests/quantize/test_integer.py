"""The integer operators: schema/meaning/int8.py equals the TOSA reference model to the bit, and nodes keep what they are given."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

import pteron
import pteron.export.graph as graphs
from pteron.export.graph import int8 as nodes
from pteron.export.graph.int8_resize import between
from pteron.export.graph.text import onnx_text
from pteron.schema.meaning import int8 as integer

Case = tuple[dict[str, Any], dict[str, np.ndarray]]


def codes(rng: np.random.Generator, *shape: int, low: int = -128) -> np.ndarray:
    return rng.integers(low, 128, shape).astype(np.int8)


def factors(rng: np.random.Generator, n: int, around: float) -> dict[str, np.ndarray]:
    multiplier, shift = integer.multipliers_shifts(around * rng.uniform(0.2, 5, n))
    bias = rng.integers(-3000, 3000, n).astype(np.int32)
    return {"bias": bias, "multiplier": multiplier, "shift": shift}


def zeros(rng: np.random.Generator) -> dict[str, int]:
    low, high = sorted(int(v) for v in rng.integers(-128, 128, 2))
    x_zero, y_zero = (int(v) for v in rng.integers(-128, 128, 2))
    return {"x_zero": x_zero, "y_zero": y_zero, "low": low - (low == high), "high": high}


def conv_case(
    rng: np.random.Generator, size: int, k: int, stride: int, pads: list[int], dilation: int, c: int,
    n: int, group: int,
) -> Case:  # fmt: skip
    row = {
        "op": "conv", "strides": [stride] * 2, "pads": pads, "dilations": [dilation] * 2,
        "group": group, **zeros(rng),
    }  # fmt: skip
    arrays = {"x": codes(rng, 2, c, size, size), "w": codes(rng, n, c // group, k, k, low=-127)}
    return row, arrays | factors(rng, n, 1e-3)


LINES: dict[str, tuple[list[int], list[tuple[int, int, int]]]] = {
    "twice": ([10, 14], [(4, 2, -1), (4, 2, -1)]),
    "half, thrice": ([2, 21], [(2, 4, 1), (6, 2, -2)]),
    "corners": ([9, 10], [(8, 4, 0), (9, 6, 0)]),
    "one axis, by a fraction": ([5, 4], [(1, 1, 0), (8, 14, 3)]),
}
"""Extents from 5 x 7, and (numerator, denominator, offset) of each axis."""


def cases() -> dict[str, Case]:
    rng = np.random.default_rng(7)
    found: dict[str, Case] = {
        "conv": conv_case(rng, 9, 3, 2, [1, 1, 1, 1], 1, 8, 16, 1),
        "conv uneven pads": conv_case(rng, 6, 3, 1, [0, 2, 1, 0], 1, 3, 5, 1),
        "conv dilated": conv_case(rng, 9, 3, 1, [2, 2, 2, 2], 2, 4, 7, 1),
        "conv pixel": conv_case(rng, 4, 1, 1, [0, 0, 0, 0], 1, 33, 9, 1),
        "conv depthwise": conv_case(rng, 7, 3, 2, [1, 1, 1, 1], 1, 6, 6, 6),
        "conv depthwise twice": conv_case(rng, 5, 3, 1, [1, 1, 1, 1], 1, 4, 8, 4),
    }
    linear = {"x": codes(rng, 5, 70), "w": codes(rng, 10, 70, low=-127)} | factors(rng, 10, 1e-3)
    found["linear"] = {"op": "linear", **zeros(rng)}, linear
    for i, (a, b, y) in enumerate([(0.02, 0.05, 0.06), (0.3, 1e-4, 0.3), (1.0, 1.0, 0.01)]):
        made = [integer.multiplier_shift(f) for f in integer.add_factors(a, b, y)]
        parts = ("a_", "b_", "")
        row = {f"{p}multiplier": m for p, (m, _) in zip(parts, made, strict=True)}
        row |= {f"{p}shift": s for p, (_, s) in zip(parts, made, strict=True)}
        row |= {"a_zero": -7, "b_zero": 100, **zeros(rng)}
        del row["x_zero"]
        found[f"add {i}"] = {"op": "add", **row}, {"x": codes(rng, 3, 77), "b": codes(rng, 3, 77)}
    for scale in (1.0, 0.5, 0.25, 1.7, 3e-3, 40.0, 2.0**-40):
        multiplier, shift = integer.multiplier_shift(scale)
        row = {"op": "rescale", "multiplier": multiplier, "shift": shift, **zeros(rng)}
        every = np.arange(-128, 128).astype(np.int8)[None]
        found[f"rescale {scale}"] = row, {"x": every}
    for kernel, stride in ((4, 4), (2, 2), (3, 1)):
        multiplier, shift = integer.multiplier_shift(0.9 / kernel**2)
        row = {
            "op": "average_pool",
            "kernel_shape": [kernel] * 2,
            "strides": [stride] * 2,
            "pads": [0] * 4,
        }
        row |= {"multiplier": multiplier, "shift": shift, **zeros(rng)}
        found[f"average_pool {kernel}"] = row, {"x": codes(rng, 2, 5, 8, 8)}
    padded = {**found["average_pool 3"][0], "pads": [1, 0, 2, 1]}
    found["average_pool padded"] = padded, {"x": codes(rng, 2, 5, 8, 8)}
    for name, (extents, lines) in LINES.items():
        n, d, offset = (list(part) for part in zip(*lines, strict=True))
        multiplier, shift = integer.multiplier_shift(1 / (n[0] * n[1]))
        row = {"op": "interpolate", "extents": extents, "numerators": n, "denominators": d, "offsets": offset}  # fmt: skip
        row |= {"multiplier": multiplier, "shift": shift}
        found[f"interpolate {name}"] = row, {"x": codes(rng, 2, 3, 5, 7)}
    row = {"op": "max_pool", "kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    found["max_pool"] = row, {"x": codes(rng, 2, 5, 9, 9)}
    return found


CASES = cases()
MEANING: dict[str, Callable[..., np.ndarray]] = {
    "conv": integer.conv, "linear": integer.linear, "add": integer.add, "max_pool": integer.max_pool,
    "rescale": integer.requantize, "average_pool": integer.average_pool, "interpolate": integer.interpolate,
}  # fmt: skip


def meant(row: dict[str, Any], arrays: dict[str, np.ndarray]) -> np.ndarray:
    given = {k: v for k, v in row.items() if k != "op"}
    if row["op"] == "max_pool":
        given["dilations"] = [1, 1]
    return MEANING[row["op"]](*arrays.values(), **given)


@pytest.fixture(scope="module")
def tosa(npu_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """What the TOSA reference model computes, by case."""
    folder = tmp_path_factory.mktemp("tosa")
    packed: dict[str, Any] = {f"{name}/row": json.dumps(row) for name, (row, _) in CASES.items()}
    packed |= {f"{name}/{k}": v for name, (_, a) in CASES.items() for k, v in a.items()}
    np.savez(folder / "cases.npz", **packed)
    script = Path(__file__).with_name("tosa_cases.py")
    command = [str(npu_python), str(script), str(folder / "cases.npz"), str(folder / "results.npz")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(np.load(folder / "results.npz"))


@pytest.mark.parametrize("name", CASES)
def test_numpy_and_the_tosa_reference_model_agree_to_the_bit(
    name: str, tosa: dict[str, np.ndarray]
) -> None:
    row, arrays = CASES[name]
    np.testing.assert_array_equal(meant(row, arrays), tosa[name])


@pytest.mark.parametrize("name", CASES)
def test_sums_in_python_integers_agree(name: str) -> None:
    """RESCALE written out in unbounded integers, for the middle element of each result of one product."""
    row, a = CASES[name]
    got = meant(row, a)
    assert got.dtype == np.int8
    assert got.min() >= row.get("low", -128) and got.max() <= row.get("high", 127)
    if row["op"] != "linear":
        return
    for i, j in np.ndindex(*got.shape):
        total = int(a["bias"][j]) + sum(
            (int(x) - row["x_zero"]) * int(w) for x, w in zip(a["x"][i], a["w"][j], strict=True)
        )
        shift = int(a["shift"][j])
        v = ((total * int(a["multiplier"][j]) + (1 << (shift - 1))) >> shift) + row["y_zero"]
        assert got[i, j] == min(max(v, row["low"]), row["high"])


@pytest.mark.parametrize("scale", [1.0, 0.5, 1 / 3, 0.99999999999, 1e-5, 123.4, 2.0**28, 2.0**-25])
def test_a_factor_is_within_half_a_unit_of_31_bits(scale: float) -> None:
    multiplier, shift = integer.multiplier_shift(scale)
    assert 2**30 <= multiplier < 2**31 and 2 <= shift <= 55
    assert abs(multiplier / 2**shift - scale) <= scale * 2.0**-31


@pytest.mark.parametrize("scale", [0.999 * 2**-25, 1e-8, 1.7e-9, 2.0**-31, 2.0**-32])
def test_a_tiny_factor_has_a_shift_that_narrow_lanes_take(scale: float) -> None:
    """Channels whose weights are nearly nothing would make those beside them slow."""
    multiplier, shift = integer.multiplier_shift(scale)
    assert 2**23 <= multiplier < 2**30 and shift == 55
    assert abs(multiplier / 2**shift - scale) * 2**31 <= 2.0**-25


def test_factors_that_round_everything_to_zero_do_so() -> None:
    ends = np.array([-(2**31), -1, 0, 1, 2**31 - 1])
    assert not integer.scaled(ends, *integer.multiplier_shift(1e-30)).any()
    for wrong in (0.0, -1.0, float("nan"), float("inf"), 2.0**29):
        with pytest.raises(ValueError, match="expected a factor"):
            integer.multiplier_shift(wrong)


def test_half_goes_up() -> None:
    half = integer.multiplier_shift(0.5)
    assert integer.scaled(np.array([-3, -2, -1, 0, 1, 2, 3]), *half).tolist() == [
        -1, -1, 0, 0, 1, 1, 2,
    ]  # fmt: skip


@pytest.mark.parametrize(
    "attributes",
    [{"pads": [1, 1, 1, 1]}, {"pads": [1, 0, 2, 1], "strides": [2, 3]}, {"auto_pad": "SAME_LOWER", "strides": [2, 2]},
     {"ceil_mode": 1, "strides": [3, 3]}, {"ceil_mode": 1, "strides": [4, 2], "pads": [1, 1, 1, 1], "count_include_pad": 1},
     {"dilations": [2, 1], "pads": [1, 1, 1, 0]}],
)  # fmt: skip
def test_counted_windows_are_those_of_onnx(attributes: dict[str, Any]) -> None:
    """The sum over a window times its count's share is ONNX's mean, and beside one count's share that of `average_pool`."""
    x = codes(np.random.default_rng(1), 2, 3, 8, 7)
    value = ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape(x.shape))
    node = ir.node("AveragePool", [value], {"kernel_shape": [3, 2], **attributes})
    found = nodes.counted(node, x.shape)
    assert found is not None and len(np.unique(found.counts)) > 1
    node.outputs[0].name = "y"
    proto = ir.serde.serialize_node(node)
    session = onnxruntime_of(proto, x.shape)
    want = session.run(None, {"x": x.astype(np.float32) - 5})[0]
    assert want.shape[2:] == found.counts.shape
    multiplier, shift = integer.shares(0.739, found.counts)
    ends = {"x_zero": 5, "y_zero": -7, "low": -128, "high": 127}
    given: dict[str, Any] = {"strides": found.strides, "pads": found.pads, **ends}
    got = integer.inner_average(
        x, kernel_shape=(3, 2), dilations=found.dilations, multiplier=multiplier, shift=shift, **given
    )  # fmt: skip
    steps = np.clip(np.floor(want.astype(np.float64) * 0.739 + 0.5) - 7, -128, 127)
    np.testing.assert_array_equal(got, steps)
    full = found.counts == found.counts.max()
    if max(found.dilations) == 1 and found.counts.max() == 6:
        one, other = integer.multiplier_shift(0.739 / 6)
        plain = integer.average_pool(x, kernel_shape=(3, 2), multiplier=one, shift=other, **given)
        np.testing.assert_array_equal(got[..., full], plain[..., full])


def onnxruntime_of(proto: Any, shape: tuple[int, ...]) -> Any:
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
    y = onnx.helper.make_tensor_value_info(proto.output[0], onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph([proto], "g", [x], [y])
    imports = [onnx.helper.make_opsetid("", 20)]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=9)
    return ort.InferenceSession(model.SerializeToString())


def test_windows_of_pads_alone_have_no_mean() -> None:
    value = ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([1, 1, 4, 4]))
    node = ir.node("AveragePool", [value], {"kernel_shape": [1, 1], "pads": [1, 1, 1, 1]})
    assert nodes.counted(node, (1, 1, 4, 4)) is None
    assert nodes.counted(node, (1, 1, "h", 4)) is None and nodes.counted(node, None) is None


ROWS: dict[str, Any] = {
    "conv": nodes.Conv, "linear": nodes.Linear, "add": nodes.Add, "rescale": nodes.Rescale,
    "average_pool": nodes.AveragePool,
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in CASES if CASES[n][0]["op"] in ROWS])
def test_a_node_is_read_as_it_was_built_and_runs(name: str) -> None:
    row, arrays = CASES[name]
    kind = ROWS[row["op"]]
    given = {**row, **arrays}
    fields = {
        f.name: tuple(v) if isinstance(v := given[f.name], list) else v
        for f in dataclasses.fields(kind)
        if f.name in given
    }
    graph = ir.Graph([], [], nodes=[], opset_imports={"": 28})
    activations = [ir.Value(name=k) for k in ("x", "b") if k in arrays]
    node = nodes.build(kind(**fields), activations, graph, "n")
    read = nodes.read(node)
    assert type(read) is kind
    for field, value in fields.items():
        np.testing.assert_array_equal(getattr(read, field), value)
    got = nodes.run(node, *(arrays[str(v.name)] for v in activations))
    np.testing.assert_array_equal(got, meant(row, arrays))


def test_plain_operators_are_integer_nodes_where_they_read_int8() -> None:
    x = codes(np.random.default_rng(0), 2, 3, 4, 5)
    for op, attributes, inputs, want in (
        ("Transpose", {"perm": [0, 2, 3, 1]}, (), x.transpose(0, 2, 3, 1)),
        ("Flatten", {"axis": -1}, (), x.reshape(24, 5)),
        ("Reshape", {}, (np.array([0, -1]),), x.reshape(2, 60)),
        ("Unsqueeze", {}, (np.array([1]),), x[:, None]),
    ):
        value = ir.Value(name="x", type=ir.TensorType(ir.DataType.INT8), shape=ir.Shape(x.shape))
        node = ir.node(op, [value, *(ir.Value(name="c") for _ in inputs)], attributes)
        np.testing.assert_array_equal(nodes.run(node, x, *inputs), want)
        value.type = ir.TensorType(ir.DataType.FLOAT)
        assert nodes.read(node) is None


RESIZES = [
    f"[{h}, {w}], axes=[2, 3], mode='linear', coordinate_transformation_mode='{mode}'"
    for mode in (
        "half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric",
    )
    for h, w in ((10, 14), (20, 28), (3, 5), (8, 7), (2, 15))
]  # fmt: skip


@pytest.mark.parametrize("call", RESIZES)
def test_resize_between_elements_is_that_of_onnx_rounded_once(call: str) -> None:
    model = onnx_text(f"y = Resize(x, None, None, {call})", x="f32[2, 3, 5, 7]")
    graphs.infer(model)
    row = between(model.graph[0])
    assert row is not None
    x = codes(np.random.default_rng(3), 2, 3, 5, 7)
    proto = ir.serde.serialize_model(model)
    (want,) = ReferenceEvaluator(proto).run(None, {"x": x.astype(np.float32)})
    got = integer.interpolate(x, **dataclasses.asdict(row))
    assert np.abs(got - want).max() <= 0.5 + 1e-4


@pytest.mark.parametrize("call", RESIZES)
def test_a_program_is_within_a_step_of_onnxruntime(call: str, tmp_path: Path) -> None:
    """Which resizes floats between the Q and DQ that the program has none of."""
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    text = f"d = DequantizeLinear(QuantizeLinear(x, s, z), s, z); r = Resize(d, None, None, {call}); y = DequantizeLinear(QuantizeLinear(r, s, z), s, z)"
    constants = {"s": np.array(0.5, np.float32), "z": np.array(-7, np.int8)}
    model = onnx_text(text, x="f32[2, 3, 5, 7]", **constants)
    proto = ir.serde.serialize_model(model)
    proto.ir_version, proto.opset_import[0].version = 10, 21  # what it reads
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(4).uniform(-60, 66, (2, 3, 5, 7)).astype(np.float32)
    (want,) = session.run(None, {"x": x})
    onnx.save(proto, tmp_path / "m.onnx")
    pteron.export_model(tmp_path / "m.onnx", tmp_path / "m.pte", activations="int8-block")
    program = pteron.load(tmp_path / "m.pte")
    assert np.abs(program(x) - want).max() <= 0.5


def scaled(scales: list[float], size: str = "f32[1, 3, 6, 8]", **attributes: Any) -> ir.Model:
    words = ", ".join(f"{k}={v!r}" for k, v in attributes.items())
    text = f"y = Resize(x, None, s, mode='linear'{', ' if words else ''}{words})"
    model = onnx_text(text, x=size, s=np.array(scales, np.float32))
    graphs.infer(model)
    return model


@pytest.mark.parametrize(
    ("scales", "mode", "want"),
    [([2, 2], "half_pixel", [(4, 2, -1)] * 2), ([1, 4], "half_pixel", [(1, 1, 0), (8, 2, -3)]), ([0.5, 2 / 3], "asymmetric", [(1, 2, 0), (2, 3, 0)]),
     ([3, 1.25], "half_pixel", [(3, 1, -1), (10, 8, -1)]), ([1.5, 2], "align_corners", [(8, 5, 0), (15, 7, 0)])],
)  # fmt: skip
def test_scales_become_small_fractions(
    scales: list[float], mode: str, want: list[tuple[int, int, int]]
) -> None:
    row = between(scaled([1, 1, *scales], coordinate_transformation_mode=mode).graph[0])
    assert row is not None
    assert list(zip(row.numerators, row.denominators, row.offsets, strict=True)) == want


@pytest.mark.parametrize(
    "model",
    [
        scaled([1, 1, 0.5, 0.5], antialias=1),
        scaled([1, 2, 1, 2]),
        scaled([1, 1, 2, 2, 2], "f32[1, 2, 3, 4, 5]"),
        scaled([1, 1, 2, 2], "f32[1, 2, h, 5]"),
        scaled([1, 1, 1 / 17, 1], "f32[1, 2, 40, 5]"),
        scaled([1, 1, 0.7123456, 2]),
        scaled([1, 1, 2, 2], coordinate_transformation_mode="tf_crop_and_resize"),
        scaled([1, 1, 3, 3], "f32[1, 2, 1, 1]", coordinate_transformation_mode="align_corners"),
        scaled([1, 1, 2, 2], "f32[1, 2, 1500, 1500]", coordinate_transformation_mode="align_corners"),
    ],
)  # fmt: skip
def test_what_has_no_such_form_is_left(model: ir.Model) -> None:
    assert between(model.graph[0]) is None

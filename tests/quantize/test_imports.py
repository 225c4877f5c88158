"""Weights as other tools leave them in graphs: stored in their own bits, the values those of the tool to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import pteron
from pteron.export.file.read import read
from pteron.export.pack.codes import decode
from pteron.schema.formats import FORMATS

F = np.float32
RNG = np.random.default_rng(0)
N, K = 48, 128
X = RNG.standard_normal((3, K)).astype(F)
OPSET = 28
node = helper.make_node


def model(nodes: list[Any], weights: dict[str, Any], **inputs: Any) -> onnx.ModelProto:
    declared = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
        for n, a in inputs.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    stored = [numpy_helper.from_array(a, n) for n, a in weights.items()]
    graph = helper.make_graph(nodes, "g", declared, [output], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=13)


def dequantized(codes: Any, scale: Any, zero: Any = None, **attributes: Any) -> tuple[Any, Any]:
    """Nodes and constants that make w [N, K]."""
    parts = {"q": codes, "s": scale} | ({} if zero is None else {"z": zero})
    return [node("DequantizeLinear", list(parts), ["w"], **attributes)], parts


def imported(nodes: list[Any], parts: dict[str, Any], folder: Path) -> tuple[str, Any]:
    """The storage format of the weight of a product, and the values that the program has for it."""
    out = folder / "m.pte"
    pteron.export_model(model([*nodes, node("Gemm", ["x", "w"], ["y"], transB=1)], parts, x=X), out)
    (kept,) = (c for c in read(out.read_bytes()).constants if c.layout == "panels")
    assert kept.format != "plain"
    w = decode(kept.format, kept.array, (N, K))
    y = pteron.load(out).run({"x": X})["y"]
    used = np.nan_to_num(w.astype(np.float64), nan=0, posinf=0, neginf=0)
    clean = np.isfinite(w).all(axis=1)
    np.testing.assert_allclose(
        y[:, clean],
        (X @ used.T)[:, clean],
        rtol=1e-4,
        atol=1e-4 * np.abs(used[clean]).max(initial=1e-30),
    )
    assert np.isnan(y[:, np.isnan(w).any(axis=1)]).all()
    return kept.format, w


def same(nodes: list[Any], parts: dict[str, Any], folder: Path) -> str:
    """The format; the values are those of ONNX' reference."""
    graph = helper.make_graph(
        nodes, "g", [], [helper.make_tensor_value_info("w", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, n) for n, a in parts.items()],
    )  # fmt: skip
    alone = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=13)
    want = ReferenceEvaluator(alone).run(None, {})[0]
    format, got = imported(nodes, parts, folder)
    assert got.tobytes() == np.asarray(want, F).tobytes()
    return format


def codes_of(dtype: Any, bits: int) -> Any:
    """Every code, and more of them at random."""
    kind = np.dtype(dtype)
    raw = RNG.integers(0, 1 << bits, (N, K)).astype(np.uint8)
    raw.reshape(-1)[: 1 << bits] = np.arange(1 << bits)
    if kind.name.startswith("int"):
        return (raw.astype(np.int16) - (1 << (bits - 1))).astype(np.int8).astype(kind)
    return raw.astype(kind) if kind.name.startswith("uint") else raw.view(kind)


TYPES = {
    "int8": (np.int8, 8, {"tensor": "i8_channel", "row": "i8_channel", "32": "i8_32", "e8m0": "mxint8"}),
    "uint8": (np.uint8, 8, dict.fromkeys(("tensor", "row"), "i8_zero_channel") | {"32": "i8_zero_32", "e8m0": "i8_zero_32"}),
    "int4": (ml_dtypes.int4, 4, dict.fromkeys(("tensor", "row"), "i4_f32_channel") | {"32": "i4_f32", "e8m0": "i4"}),
    "uint4": (ml_dtypes.uint4, 4, dict.fromkeys(("tensor", "row"), "i4_zero_f32_channel") | {"32": "i4_zero_f32", "e8m0": "i4_zero"}),
    "int2": (ml_dtypes.int2, 2, dict.fromkeys(("tensor", "row"), "i2_f32_channel") | {"32": "i2_f32_32", "e8m0": "i2_32"}),
    "e4m3": (ml_dtypes.float8_e4m3fn, 8, dict.fromkeys(("tensor", "row"), "e4m3_channel") | {"32": "e4m3_32", "e8m0": "mxfp8"}),
    "e5m2": (ml_dtypes.float8_e5m2, 8, dict.fromkeys(("tensor", "row"), "e5m2_channel") | {"32": "e5m2_32", "e8m0": "mxfp8_e5m2"}),
    "e2m1": (ml_dtypes.float4_e2m1fn, 4, dict.fromkeys(("tensor", "row"), "e2m1_channel") | {"32": "e2m1", "e8m0": "mxfp4"}),
    "e2m3": (ml_dtypes.float6_e2m3fn, 6, dict.fromkeys(("tensor", "row"), "e2m3_channel") | {"32": "e2m3", "e8m0": "mxfp6"}),
    "e3m2": (ml_dtypes.float6_e3m2fn, 6, dict.fromkeys(("tensor", "row"), "e3m2_channel") | {"32": "e3m2", "e8m0": "mxfp6_e3m2"}),
}  # fmt: skip
SCALES = {
    "tensor": (np.array(0.013, F), {}),
    "row": ((RNG.random(N) / 8).astype(F), {"axis": 0}),
    "32": ((RNG.random((N, K // 32)) / 8).astype(F), {"axis": 1, "block_size": 32}),
    "e8m0": (
        RNG.integers(110, 140, (N, K // 32)).astype(np.uint8).view(ml_dtypes.float8_e8m0fnu),
        {"axis": 1, "block_size": 32, "output_dtype": TensorProto.FLOAT},
    ),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("scales", SCALES)
def test_every_code_of_onnx(kind: str, scales: str, tmp_path: Path) -> None:
    dtype, bits, formats = TYPES[kind]
    scale, attributes = SCALES[scales]
    assert (
        same(*dequantized(codes_of(dtype, bits), scale, **attributes), tmp_path) == formats[scales]
    )


@pytest.mark.parametrize("kind", ["uint8", "uint4", "int8", "int4", "uint2", "int2"])
@pytest.mark.parametrize("scales", ["tensor", "row", "32"])
def test_every_zero_point(kind: str, scales: str, tmp_path: Path) -> None:
    bits = int(kind[-1])
    dtype = np.dtype(kind) if bits == 8 else np.dtype(getattr(ml_dtypes, kind))
    scale, attributes = SCALES[scales]
    codes = codes_of(dtype, bits)
    zero = np.ascontiguousarray(codes.reshape(-1)[: scale.size][::-1]).reshape(scale.shape)
    format = same(*dequantized(codes, scale, zero, **attributes), tmp_path)
    kept = FORMATS[format]  # differences of 2 bits, -3 .. 3, need no zero point in 3
    assert kept.row == "i8_zero" if bits == 8 else kept.bits == max(bits, 3)


@pytest.mark.parametrize("kind", ["int8", "int4", "e4m3", "e5m2", "e2m1", "e2m3", "e3m2"])
@pytest.mark.parametrize("scale", [0.0, -0.0, 1e-45, 3e-39, -1.5, 3e38, np.nan])
def test_scales_that_are_none_to_speak_of(kind: str, scale: float, tmp_path: Path) -> None:
    dtype, bits, formats = TYPES[kind]
    scales = SCALES["32"][0].copy()
    scales[::3, 1] = scale
    with np.errstate(all="ignore"):
        parts = dequantized(codes_of(dtype, bits), scales, **SCALES["32"][1])
        assert same(*parts, tmp_path) == formats["32"]


@pytest.mark.parametrize("kind", ["e4m3", "e2m1", "e2m3", "e3m2", "e5m2", "int8"])
def test_every_scale_of_e8m0(kind: str, tmp_path: Path) -> None:
    dtype, bits, formats = TYPES[kind]
    scales = np.resize(np.arange(256), (N, K // 32)).astype(np.uint8)
    scales[0] = 0, 1, 254, 255
    parts = dequantized(
        codes_of(dtype, bits), scales.view(ml_dtypes.float8_e8m0fnu), **SCALES["e8m0"][1]
    )
    with np.errstate(all="ignore"):
        assert same(*parts, tmp_path) == formats["e8m0"]


FNUZ = {
    "e4m3": (ml_dtypes.float8_e4m3fnuz, 0.0156, 224, 240),
    "e5m2": (ml_dtypes.float8_e5m2fnuz, 1e-4, 28672, 57344),
}


@pytest.mark.parametrize("kind", FNUZ)
@pytest.mark.parametrize("large", [True, False])
def test_floats_of_other_processors(kind: str, large: bool, tmp_path: Path) -> None:
    """E4M3FNUZ and E5M2FNUZ in the codes of E4M3FN and E5M2: the same values, or half the scale."""
    dtype, least, most, end = FNUZ[kind]
    codes = np.arange(256, dtype=np.uint8).view(dtype)
    size = np.abs(codes.astype(F))
    fit = (size >= least) | (size == 0) if large else size <= most
    given = RNG.choice(codes[fit & ~np.isnan(size)], (N, K))
    assert np.abs(given.astype(F)).max() == (end if large else most)
    for scales in ("tensor", "row", "32"):
        scale, attributes = SCALES[scales]
        format = same(*dequantized(given, scale, **attributes), tmp_path)
        assert format == TYPES[kind][2][scales]


@pytest.mark.parametrize("kind", FNUZ)
def test_floats_that_have_no_such_codes_are_kept_whole(kind: str, tmp_path: Path) -> None:
    given = codes_of(FNUZ[kind][0], 8)
    given[0, 0] = given[1, 1]
    nodes, parts = dequantized(given, *SCALES["row"][:1], axis=0)
    out = tmp_path / "m.pte"
    pteron.export_model(model([*nodes, node("Gemm", ["x", "w"], ["y"], transB=1)], parts, x=X), out)
    (kept,) = (c for c in read(out.read_bytes()).constants if c.layout == "panels")
    assert kept.format == "plain"


@pytest.mark.parametrize("kind", FNUZ)
def test_every_number_of_fnuz_is_that_of_ml_dtypes(kind: str, tmp_path: Path) -> None:
    """All 256 codes but that of NaN, which would be each sum's: a row of the product is a column of the weight."""
    codes = np.resize(np.arange(256), (N, K)).astype(np.uint8)
    codes[codes == 0x80] = 0
    given, scale = codes.view(FNUZ[kind][0]), SCALES["row"][0]
    nodes, parts = dequantized(given, scale, axis=0)
    out, x = tmp_path / "m.pte", np.eye(K, dtype=F)
    pteron.export_model(model([*nodes, node("Gemm", ["x", "w"], ["y"], transB=1)], parts, x=x), out)
    want = given.astype(F) * scale[:, None]
    np.testing.assert_array_equal(pteron.load(out).run({"x": x})["y"], want.T)
    assert len(np.unique(given.astype(F))) == 255


# --- weights of recurrences ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("op", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
@pytest.mark.parametrize("bits", [8, 4])
def test_recurrences_with_quantized_weights(op: str, gates: int, bits: int, tmp_path: Path) -> None:
    """The inputs' weight stays codes; that of the recurrence, which is read at every step, becomes floats."""
    import onnxruntime as ort

    dtype = np.int8 if bits == 8 else ml_dtypes.int4
    h, k = 48, 32
    most = 1 << (bits - 1)
    wq, rq = (
        RNG.integers(-most, most, (1, gates * h, n)).astype(np.int8).astype(dtype) for n in (k, h)
    )
    x = RNG.standard_normal((5, 2, k)).astype(F)
    nodes = [
        node("DequantizeLinear", ["wq", "s"], ["w"]),
        node("DequantizeLinear", ["rq", "s"], ["r"]),
        node(op, ["x", "w", "r"], ["y"], hidden_size=h),
    ]
    made = model(nodes, {"wq": wq, "rq": rq, "s": np.array(0.2 / most, F)}, x=x)
    made.opset_import[0].version = 21
    made.ir_version = 10
    report = pteron.export_model(made, tmp_path / "m.pte")
    assert [p.format for p in report.products] == ["i8_channel" if bits == 8 else "i4_f32"]
    got = pteron.load(tmp_path / "m.pte").run({"x": x})["y"]
    want = ort.InferenceSession(made.SerializeToString()).run(None, {"x": x})[0]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


# --- torchao ------------------------------------------------------------------------------------------------------------


def torchao_weights(module: Any) -> list[Any]:
    """What torchao's own classes say the weights are."""
    return [m.weight.dequantize().detach().float().numpy() for m in module if hasattr(m, "weight")]


CONFIGS: dict[str, tuple[Any, str]] = {
    "int8": (lambda q, t: q.Int8WeightOnlyConfig(), "i8_channel"),
    "float8": (lambda q, t: q.Float8WeightOnlyConfig(), "e4m3_channel"),
    "int8 rows": (lambda q, t: q.IntxWeightOnlyConfig(t.int8, q.PerAxis(0)), "i8_channel"),
    "int4": (lambda q, t: q.IntxWeightOnlyConfig(t.int4, q.PerGroup(32)), "i4_f32"),
    "int3": (lambda q, t: q.IntxWeightOnlyConfig(t.int3, q.PerGroup(64)), "i3_f32_64"),
    "int2": (lambda q, t: q.IntxWeightOnlyConfig(t.int2, q.PerGroup(64)), "i2_f32_64"),
}


@pytest.mark.parametrize("config", CONFIGS)
def test_torchao(config: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    q = pytest.importorskip("torchao.quantization")
    make, expected = CONFIGS[config]
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(K, N), torch.nn.ReLU()).eval()
    q.quantize_(module, make(q, torch))
    x = torch.tensor(X)
    pteron.export_model(module, tmp_path / "m.pte", args=(x,))
    (kept,) = (c for c in read((tmp_path / "m.pte").read_bytes()).constants if c.layout == "panels")
    assert kept.format == expected
    (want,) = torchao_weights(module)
    got = decode(kept.format, kept.array, (N, K))
    if config == "int8":  # its scales come after the product
        np.testing.assert_array_equal(got * module[0].weight.scale.numpy(), want)
    else:
        assert got.tobytes() == want.tobytes()
    (y,) = pteron.load(tmp_path / "m.pte").run({"input": X}).values()
    with torch.no_grad():
        np.testing.assert_allclose(y, module(x).numpy(), rtol=1e-5, atol=1e-5)

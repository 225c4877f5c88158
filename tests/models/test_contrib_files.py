"""Weights in blocks of few bits, and the files of onnxruntime's own tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from models.contrib import RNG, Fixed, check, f, model_of, results
from models.through import Arrays, close, operators, ort, reference, same

import pteron
from pteron.export.capture import capture
from pteron.export.capture.contrib.foreign import DOMAIN, TRANSLATIONS
from pteron.export.graph import nodes
from pteron.schema.errors import ModelError

# --- weights in blocks of few bits --------------------------------------------------------------------------------------


def packed(codes: np.ndarray, bits: int) -> np.ndarray:
    """Low bits first, along the last axis, which is filled up with zeros to whole bytes."""
    each = 8 // bits
    wide = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % each)])
    parts = wide.reshape(*wide.shape[:-1], -1, each).astype(np.uint8)
    return np.bitwise_or.reduce(parts << (np.arange(each, dtype=np.uint8) * bits), axis=-1)


def nbits(
    n: int, k: int, block: int, bits: int, zeros: str, *, half: bool = False, bias: bool = False
) -> tuple[str, list[Any], dict[str, Any], list[str]]:
    blocks = -(-k // block)
    float_type = np.float16 if half else np.float32
    codes = RNG.integers(0, 1 << bits, (n, blocks, block), dtype=np.uint8)
    scale = ((RNG.random((n, blocks)) + 0.1) / (1 << bits)).astype(np.float16).astype(float_type)
    zero: Any = RNG.integers(0, 1 << bits, (n, blocks), dtype=np.uint8)
    given = {"none": None, "packed": packed(zero, bits), "float": (zero + 0.25).astype(float_type)}
    b = packed(codes, bits).reshape(n, blocks, -1)
    x = (RNG.standard_normal((2, 3, k)) * 0.5).astype(float_type)
    at = given[zeros]
    inputs = [x, Fixed(b), Fixed(scale), None if at is None else Fixed(at), None]
    inputs.append(Fixed(RNG.standard_normal(n).astype(float_type)) if bias else None)
    attributes = {"K": k, "N": n, "block_size": block, "bits": bits}
    return "MatMulNBits", inputs, attributes, ["FLOAT16" if half else "FLOAT"]


@pytest.mark.parametrize(
    ("bits", "zeros"),  # onnxruntime has no 8 bits with float zero points
    [(4, "none"), (4, "packed"), (4, "float"), (8, "none"), (8, "packed")],
)
@pytest.mark.parametrize("block", [16, 32, 128])
@pytest.mark.parametrize(("n", "k"), [(5, 128), (20, 72), (3, 256)])
def test_products_with_weights_in_blocks(
    bits: int, block: int, zeros: str, n: int, k: int, tmp_path: Path
) -> None:
    report = check(tmp_path, *nbits(n, k, block, bits, zeros, bias=n == 5), tolerance=1e-4)
    groups = "channel" if k <= block else block
    behind = "" if block == 32 else f"_{groups}"
    eight = {16: "q8_0_16", 32: "q8_0", 128: "q8_0_128"}[block]
    row = "i8_channel" if k <= block else eight  # one scale a row, or a block
    zeroed = {("packed", 4): f"i4_zero{behind}", ("packed", 8): f"i8_zero_{groups}"}
    kept = ({("none", 4): f"i4{behind}", ("none", 8): row} | zeroed).get((zeros, bits))
    if kept is not None:  # scales that f16 holds
        assert [p.format for p in report.products] == [kept]
    else:
        assert not report.products


def test_scales_of_f32_stay_with_codes_of_four_bits(tmp_path: Path) -> None:
    op, inputs, attributes, outputs = nbits(64, 512, 32, 4, "none")
    inputs[2] = Fixed((RNG.random((64, 16)) / 16).astype(np.float32))
    report = check(tmp_path, op, inputs, attributes, outputs, tolerance=1e-4)
    assert [p.format for p in report.products] == ["i4_f32"]
    assert report.constants_bytes < 64 * 512 * 5.1 / 8  # 4 bits and a scale of 32


@pytest.mark.parametrize("zeros", ["none", "packed"])
def test_half_floats_times_weights_in_blocks(zeros: str, tmp_path: Path) -> None:
    check(tmp_path, *nbits(16, 64, 32, 4, zeros, half=True), tolerance=4e-3)


@pytest.mark.parametrize("k", [128, 72])
@pytest.mark.parametrize("zeros", ["none", "packed", "float"])
@pytest.mark.parametrize("groups", ["turned", "uneven", "in order"])
def test_blocks_in_another_order(groups: str, zeros: str, k: int, tmp_path: Path) -> None:
    """onnxruntime 1.31 reads packed zero points beside g_idx as 8: there it judges the same numbers given as floats."""
    op, inputs, attributes, outputs = nbits(5, k, 32, 4, zeros)
    index = np.arange(k, dtype=np.int32) // 32
    if groups == "turned":
        index = RNG.permutation(index)
    elif groups == "uneven":
        index = RNG.integers(0, -(-k // 32), k, dtype=np.int32)
    inputs[4] = Fixed(index)
    stored = groups != "uneven" and zeros != "float"
    model, feeds = model_of(op, inputs, attributes, outputs)
    report = pteron.export_model(model, tmp_path / "m.pte")
    formats = {"none": "i4", "packed": "i4_zero"}
    assert [p.format for p in report.products] == ([formats[zeros]] if stored else [])
    if zeros == "packed":
        low = inputs[3].array.reshape(5, -1)
        each = np.stack([low & 15, low >> 4], -1).reshape(5, -1)[:, : -(-k // 32)]
        inputs[3] = Fixed(each.astype(np.float32))
        model, feeds = model_of(op, inputs, attributes, outputs)
    got = pteron.load(tmp_path / "m.pte").run(feeds)
    close(got, reference(model, feeds), 1e-5)


def test_weights_in_another_order_are_the_same_to_the_bit(tmp_path: Path) -> None:
    """Rows of the identity give the weight back, each a product with one element that is not 0."""
    op, inputs, attributes, outputs = nbits(5, 128, 32, 4, "float")
    inputs[0] = np.eye(128, dtype=np.float32)
    inputs[4] = Fixed(RNG.permutation(np.arange(128, dtype=np.int32) // 32))
    for zero in (None, inputs[3]):
        inputs[3] = zero
        got, want = results(*model_of(op, inputs, attributes, outputs), tmp_path)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("bits", [4, 8])
def test_rows_of_a_table_in_blocks(zeros: bool, bits: int, tmp_path: Path) -> None:
    codes = RNG.integers(0, 1 << bits, (10, 64), dtype=np.uint8)
    scale = (RNG.random((10, 2)) + 0.1).astype(np.float32)
    zero = packed(RNG.integers(0, 1 << bits, (10, 2), dtype=np.uint8), bits) if zeros else None
    inputs = [Fixed(packed(codes, bits)), RNG.integers(0, 10, (2, 3)), Fixed(scale)]
    inputs += [Fixed(zero)] if zero is not None else []
    attributes = {"bits": bits, "block_size": 32, "quantize_axis": 1}
    check(tmp_path, "GatherBlockQuantized", inputs, attributes, ["FLOAT"])


# --- files of onnxruntime's own tools -----------------------------------------------------------------------------------


def encoder(folder: Path) -> tuple[Path, Arrays]:
    """A small BERT by TorchScript, as the tools expect it, with named sizes."""
    torch = pytest.importorskip("torch", reason="torch is not installed: make dev-torch")
    from models.encoder import Bert

    path = folder / "bert.onnx"
    torch.manual_seed(3)
    ids = torch.randint(0, 50, (2, 6))
    args = (ids, torch.zeros_like(ids), torch.ones_like(ids))
    names = ["input_ids", "token_type_ids", "attention_mask"]
    axes = {name: {0: "batch", 1: "sequence"} for name in names}
    torch.onnx.export(
        Bert().eval(), args, str(path), dynamo=False, input_names=names, output_names=["y"],
        opset_version=17, dynamic_axes=axes,
    )  # fmt: skip
    mask = np.ones((3, 5), np.int64)
    mask[1, 3:] = 0
    ids = RNG.integers(0, 50, (3, 5))
    return path, {"input_ids": ids, "token_type_ids": ids % 2, "attention_mask": mask}


def optimized(path: Path, level: str) -> Path:
    options = ort.SessionOptions()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    out = path.with_name(f"{path.stem}_{level}.onnx")
    options.optimized_model_filepath = str(out)
    options.log_severity_level = 4
    ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return out


def by_transformers(path: Path) -> Path:
    from onnxruntime.transformers import optimizer

    out = path.with_name("fused.onnx")
    done = optimizer.optimize_model(str(path), model_type="bert", num_heads=4, hidden_size=32)
    done.save_model_to_file(str(out))
    return out


def dynamic(path: Path) -> Path:
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(str(path), str(path.with_name("dynamic.onnx")), reduce_range=True)  # as `i7`
    return optimized(path.with_name("dynamic.onnx"), "ORT_ENABLE_EXTENDED")


def in_blocks(path: Path) -> Path:
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    made = MatMulNBitsQuantizer(onnx.load(path), block_size=32, is_symmetric=True)
    made.process()
    out = path.with_name("blocks.onnx")
    made.model.save_model_to_file(str(out))
    return out


def in_floats(path: Path, kind: int) -> Path:
    """4-bit floats of bitsandbytes: 0 is FP4, 1 NF4; rows are no multiple of the blocks."""
    from onnxruntime.quantization.matmul_bnb4_quantizer import MatMulBnb4Quantizer

    made = MatMulBnb4Quantizer(onnx.load(path), quant_type=kind, block_size=16 << (2 * kind))
    made.process()
    out = path.with_name("floats.onnx")
    made.model.save_model_to_file(str(out))
    return out


TOOLS: dict[str, tuple[Any, set[str]]] = {
    "extended": (lambda p: optimized(p, "ORT_ENABLE_EXTENDED"), {"BiasGelu"}),
    "all": (lambda p: optimized(p, "ORT_ENABLE_ALL"), {"BiasGelu"}),
    "transformers": (
        by_transformers,
        {"Attention", "SkipLayerNormalization", "BiasGelu", "EmbedLayerNormalization"},
    ),
    "dynamic": (dynamic, {"DynamicQuantizeMatMul", "MatMulIntegerToFloat"}),
    "blocks": (in_blocks, {"MatMulNBits"}),
    "fp4": (lambda p: in_floats(p, 0), {"MatMulBnb4"}),
    "nf4": (lambda p: in_floats(p, 1), {"MatMulBnb4"}),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_files_that_onnxruntime_writes(tool: str, tmp_path: Path) -> None:
    path, feeds = encoder(tmp_path)
    make, expected = TOOLS[tool]
    made = make(path)
    model = onnx.load(made)
    foreign = {n.op_type for n in model.graph.node if n.domain == "com.microsoft"}
    assert expected <= foreign <= TRANSLATIONS[DOMAIN].keys()
    report = same(model, [feeds], tmp_path, 2e-2 if tool == "dynamic" else 1e-4)
    assert report.methods[0].nodes_out < 400
    if tool == "transformers":
        assert operators(report)["attention"] == 2


def test_nodes_of_the_other_domain_keep_their_modules(tmp_path: Path) -> None:
    path, _ = encoder(tmp_path)
    model = capture(by_transformers(path))
    names = {str(n.name) for n in nodes(model)}
    assert any(name.startswith("layer.0.") for name in names), sorted(names)
    assert not any(n.domain for n in nodes(model))


class Images:
    """Calibration data for onnxruntime's static quantization of the digit classifier."""

    def __init__(self) -> None:
        self.left = [{"image": np.abs(f(8, 1, 8, 8))} for _ in range(3)]

    def get_next(self) -> Arrays | None:
        return self.left.pop() if self.left else None


@pytest.mark.parametrize("level", ["ORT_ENABLE_EXTENDED", "ORT_ENABLE_ALL"])
@pytest.mark.parametrize("form", ["QOperator", "QDQ"])
@pytest.mark.parametrize("kind", ["QUInt8", "QInt8"])
def test_classifiers_that_onnxruntime_quantized(
    level: str, form: str, kind: str, root: Path, tmp_path: Path
) -> None:
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    source, made = root / "examples/digits/digits.onnx", tmp_path / "q.onnx"
    quantize_static(
        str(source), str(made), Images(), quant_format=QuantFormat[form], per_channel=True,
        activation_type=QuantType[kind], weight_type=QuantType.QInt8, reduce_range=True,  # as `i7`
    )  # fmt: skip
    model = onnx.load(optimized(made, level))
    assert any(n.domain == "com.microsoft" for n in model.graph.node)
    feeds = {"image": np.abs(f(32, 1, 8, 8))}
    got, want = results(model, feeds, tmp_path)
    step = np.abs(want).max() / 128
    assert np.abs(got - want).max() <= 3 * step
    assert (got.argmax(1) == want.argmax(1)).mean() > 0.9


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
@pytest.mark.parametrize("by_channel", [True, False])
@pytest.mark.parametrize("weight", ["QInt8", "QInt16", "QUInt16"])
@pytest.mark.parametrize("kind", ["QInt16", "QUInt16"])
def test_classifiers_in_sixteen_bits(
    kind: str, weight: str, by_channel: bool, domain: str, root: Path, tmp_path: Path
) -> None:
    """Both compute in f32 between the same roundings, whose sums may fall to the other side of a tie: a few steps of 1 / 65,536 of the
    range; between QuantizeLinear and DequantizeLinear of the same floats nothing differs."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    source, made = root / "examples/digits/digits.onnx", tmp_path / "q.onnx"
    quantize_static(
        str(source), str(made), Images(), quant_format=QuantFormat.QDQ, per_channel=by_channel,
        activation_type=QuantType[kind], weight_type=QuantType[weight],
        extra_options={"UseQDQContribOps": domain != "", "ActivationSymmetric": kind == "QInt16"},
    )  # fmt: skip
    model = onnx.load(made)
    found = {n.domain for n in model.graph.node if n.op_type == "QuantizeLinear"}
    assert domain in found
    first = next(
        n for n in model.graph.node if n.op_type == "DequantizeLinear" and "image" in n.output[0]
    )
    model.graph.output.append(onnx.helper.make_tensor_value_info(first.output[0], 1, None))
    feeds = {"image": np.abs(f(32, 1, 8, 8))}
    pteron.export_model(model, tmp_path / "m.pte")
    got, want = pteron.load(tmp_path / "m.pte").run(feeds), reference(model, feeds)
    assert got[first.output[0]].tobytes() == want[first.output[0]].tobytes()
    (name,) = set(want) - {first.output[0]}
    step = np.ptp(want[name]) / (1 << 16)
    assert np.abs(got[name] - want[name]).max() <= 16 * step


def test_fused_convolutions_and_layouts_of_one_processor(root: Path, tmp_path: Path) -> None:
    source = tmp_path / "d.onnx"
    source.write_bytes((root / "examples/digits/digits.onnx").read_bytes())
    extended = onnx.load(optimized(source, "ORT_ENABLE_EXTENDED"))
    assert any(n.op_type == "FusedConv" for n in extended.graph.node)
    same(extended, [{"image": f(4, 1, 8, 8)}], tmp_path, 1e-4)
    blocked = onnx.load(optimized(source, "ORT_ENABLE_ALL"))
    if any(n.domain == "com.microsoft.nchwc" for n in blocked.graph.node):
        with pytest.raises(ModelError, match="ORT_ENABLE_EXTENDED"):
            capture(blocked)

"""MoE and QMoE of com.microsoft against onnxruntime's CPU: weights, activations, routing; what only other processors define is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from models.contrib import RNG, Fixed, check, model_of
from models.test_contrib_files import packed
from models.through import reference

import pteron
from pteron.export.file.read import read
from pteron.export.pack.codes import decode
from pteron.schema.errors import ModelError

E, H, INNER, T = 4, 64, 32, 7
Case = tuple[str, list[Any], dict[str, Any], list[str]]


def weight(
    out: int, inner: int, bits: int, block: int, zero: bool
) -> tuple[Any, Any, Any, np.ndarray]:
    """Packed codes, scales and zero points, and the floats that they are."""
    blocks = inner // block if block else 1
    codes = RNG.integers(0, 1 << bits, (E, out, inner), dtype=np.uint8)
    scale = ((RNG.random((E, out, blocks)) + 0.1) / (1 << bits)).astype(np.float32)
    zeros = np.full((E, out, blocks), 1 << (bits - 1), np.uint8)
    stored = None
    if zero:
        zeros = RNG.integers(0, 1 << bits, (E, out, blocks), dtype=np.uint8)
        stored = packed(zeros if block else zeros[..., 0], bits)
    each = [np.repeat(part.astype(np.float32), inner // blocks, axis=2) for part in (zeros, scale)]
    floats = (codes.astype(np.float32) - each[0]) * each[1]
    return packed(codes, bits), scale if block else scale[..., 0], stored, floats


def mixture(
    *,
    bits: int = 4,
    second: int = 0,
    block: int = 0,
    zero: bool = False,
    bias: bool = False,
    gates: bool = False,
    half: bool = False,
    batch: bool = False,
    act: str = "relu",
    k: int = 2,
    **attributes: Any,
) -> tuple[Case, list[np.ndarray]]:
    """The node, and the floats of fc1 and fc2."""
    kind = np.float16 if half else np.float32
    width = INNER * (2 if act == "swiglu" else 1)
    one, two = weight(width, H, bits, block, zero), weight(H, INNER, second or bits, block, zero)
    fixed = [None if p is None else Fixed(p) for p in (*one[:3], *two[:3])]
    scales = [Fixed(p.array.astype(kind)) for p in (fixed[1], fixed[4]) if p is not None]
    biases = [Fixed(RNG.standard_normal((E, n)).astype(kind)) if bias else None for n in (width, H)]
    x = RNG.standard_normal((2, 3, H) if batch else (T, H)).astype(kind)
    rows = x.size // H
    order = np.argsort(RNG.random((rows, E)), axis=1)  # no two alike: who is first is not said
    scores = (order * 0.5 + 0.1).astype(kind)
    inputs = [
        x,
        scores,
        fixed[0],
        scales[0],
        biases[0],
        fixed[3],
        scales[1],
        biases[1],
        None,
        None,
        None,
    ]
    inputs += [fixed[2], fixed[5], None, RNG.random((rows, E)).astype(kind) if gates else None]
    while inputs[-1] is None:
        inputs.pop()
    given: dict[str, Any] = {"k": k, "activation_type": act, "expert_weight_bits": bits}
    given |= {"block_size": block} if block else {}
    given |= {"swiglu_fusion": 1} if act == "swiglu" else {}
    given |= {"fc2_expert_weight_bits": second} if second else {}
    case = ("QMoE", inputs, given | attributes, ["FLOAT16" if half else "FLOAT"])
    return case, [one[3], two[3]]


@pytest.mark.parametrize("zero", [True, False])
@pytest.mark.parametrize("block", [0, 16, 32])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_experts_of_few_bits(bits: int, block: int, zero: bool, tmp_path: Path) -> None:
    """The values are those of the definition to the bit, and no matrix is stored as floats. onnxruntime rounds activations to int8
    where experts have 8 bits in blocks: a step of 1/127 of a row's largest."""
    case, floats = mixture(bits=bits, block=block, zero=zero, bias=True)
    check(tmp_path, *case, tolerance=2e-2 if bits == 8 and block else 2e-5)
    kept = [
        c for c in read((tmp_path / "fused.pte").read_bytes()).constants if c.layout == "panels"
    ]
    assert len(kept) == 2 * E
    for c, (w, e) in zip(kept, [(w, e) for e in range(E) for w in floats], strict=True):
        assert c.format != "plain"
        assert decode(c.format, c.array, w[e].shape).tobytes() == w[e].tobytes()


@pytest.mark.parametrize("act", ["relu", "gelu", "silu", "identity", "swiglu"])
@pytest.mark.parametrize("bias", [True, False])
def test_activations(act: str, bias: bool, tmp_path: Path) -> None:
    check(tmp_path, *mixture(act=act, bias=bias)[0])


def test_a_swiglu_with_limits(tmp_path: Path) -> None:
    limits = {"activation_alpha": 1.7, "activation_beta": 1.0, "swiglu_limit": 0.5}
    check(tmp_path, *mixture(act="swiglu", bias=True, **limits)[0])


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("normalize", [0, 1])
@pytest.mark.parametrize("gates", [True, False])
def test_gates(gates: bool, normalize: int, k: int, tmp_path: Path) -> None:
    case, _ = mixture(gates=gates, k=k, normalize_routing_weights=normalize)
    check(tmp_path, *case)


def test_batches_and_halves(tmp_path: Path) -> None:
    check(tmp_path, *mixture(batch=True)[0])
    check(tmp_path, *mixture(half=True, bias=True)[0], tolerance=1e-3)


def test_layers_of_two_widths(tmp_path: Path) -> None:
    """onnxruntime's CPU does not run them; their definition is the same."""
    case, (one, two) = mixture(bits=4, second=8, k=1)
    model, feeds = model_of(*case)
    pteron.export_model(model, tmp_path / "m.pte")
    x, scores = feeds.values()
    best = scores.argmax(axis=1)
    h = np.maximum(np.einsum("eoi,ti->teo", one, x)[np.arange(T), best], 0)
    want = np.einsum("toi,ti->to", two[best], h)
    got = pteron.load(tmp_path / "m.pte").run(feeds)["y0"]
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4 * np.abs(want).max())


def test_rows_of_a_size_to_come(tmp_path: Path) -> None:
    check(tmp_path, *mixture()[0], symbols={(0, 0): "n", (1, 0): "n"})


def test_weights_beside_the_file(tmp_path: Path) -> None:
    model, _ = model_of(*mixture(block=16, zero=True)[0])
    pteron.export_model(model, tmp_path / "a.pte")
    path = tmp_path / "m.onnx"
    ir.save(
        ir.from_proto(onnx.ModelProto.FromString(model.SerializeToString())),
        path,
        external_data="m.data",
    )
    pteron.export_model(path, tmp_path / "b.pte")
    assert (tmp_path / "a.pte").read_bytes() == (tmp_path / "b.pte").read_bytes()


def of_floats(
    *, bias: bool = False, half: bool = False, act: str = "relu", k: int = 2, **attributes: Any
) -> Case:
    kind = np.float16 if half else np.float32
    width = INNER * (2 if act == "swiglu" else 1)
    parts: list[Any] = [
        RNG.standard_normal((T, H)),
        np.argsort(RNG.random((T, E)), axis=1) * 0.5 + 0.1,
    ]
    for out, inner in ((width, H), (H, INNER)):
        parts.append(Fixed((RNG.standard_normal((E, out, inner)) / 8).astype(kind)))
        parts.append(Fixed(RNG.standard_normal((E, out)).astype(kind)) if bias else None)
    parts[:2] = [p.astype(kind) for p in parts[:2]]
    if not bias:
        parts.pop()
    given = {"k": k, "activation_type": act} | ({"swiglu_fusion": 1} if act == "swiglu" else {})
    return "MoE", parts, given | attributes, ["FLOAT16" if half else "FLOAT"]


@pytest.mark.parametrize("act", ["relu", "gelu", "silu", "identity", "swiglu"])
@pytest.mark.parametrize("bias", [True, False])
def test_experts_of_floats(act: str, bias: bool, tmp_path: Path) -> None:
    check(tmp_path, *of_floats(act=act, bias=bias))


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("normalize", [0, 1])
def test_gates_of_floats(normalize: int, k: int, tmp_path: Path) -> None:
    check(tmp_path, *of_floats(k=k, normalize_routing_weights=normalize))


def test_experts_of_halves(tmp_path: Path) -> None:
    """The same numbers in f32 are what onnxruntime gets: in f16 its CPU gives others, which no reading of the definition explains."""
    op, parts, given, _ = of_floats(half=True, bias=True)
    wide = [
        Fixed(p.array.astype(np.float32)) if isinstance(p, Fixed) else p.astype(np.float32)
        for p in parts
    ]
    model, feeds = model_of(op, wide, given, ["FLOAT"])
    want = reference(model, feeds)["y0"]
    model, feeds = model_of(op, parts, given, ["FLOAT16"])
    pteron.export_model(model, tmp_path / "m.pte")
    got = pteron.load(tmp_path / "m.pte").run(feeds)["y0"]
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3 * np.abs(want).max())


@pytest.mark.parametrize("half", [True, False])
def test_floats_beside_the_file(half: bool, tmp_path: Path) -> None:
    model, _ = model_of(*of_floats(half=half))
    pteron.export_model(model, tmp_path / "a.pte")
    path = tmp_path / "m.onnx"
    loaded = ir.from_proto(onnx.ModelProto.FromString(model.SerializeToString()))
    ir.save(loaded, path, external_data="m.data")
    pteron.export_model(path, tmp_path / "b.pte")
    assert (tmp_path / "a.pte").read_bytes() == (tmp_path / "b.pte").read_bytes()


@pytest.mark.parametrize("name", ["nf4", "int8-g32"])
def test_experts_of_floats_are_quantized(name: str, tmp_path: Path) -> None:
    """Each expert is a layer."""
    model, _ = model_of(*of_floats())
    pteron.export_model(model, tmp_path / "m.pte", quantize=name)
    kept = [c for c in read((tmp_path / "m.pte").read_bytes()).constants if c.layout == "panels"]
    assert len(kept) == 2 * E
    assert all(c.format != "plain" for c in kept)


def test_experts_of_another_shape_are_refused(tmp_path: Path) -> None:
    op, parts, attributes, outputs = of_floats()
    parts[2] = Fixed(parts[2].array.swapaxes(1, 2).copy())
    model, _ = model_of(op, parts, attributes, outputs)
    with pytest.raises(ModelError, match="expected fc2 of 4 experts over 64, got 4 over 32"):
        pteron.export_model(model, tmp_path / "m.pte")


REFUSED = {
    "quant_type 'int', got 'fp8'": {"quant_type": "fp8"},
    "use_sparse_mixer 0, got 1": {"use_sparse_mixer": 1},
    "weights_prepacked -1 or 0, got 1": {"weights_prepacked": 1},
    "swiglu_fusion 1, got 2": {"act": "swiglu", "swiglu_fusion": 2},
    "k of 1 to 4, got 5": {"k": 5},
    "k of 1 to 4, got 0": {"k": 0},
    "block_size that divides 64, got 48": {"block_size": 48},
    "block_size that divides 64, got -16": {"block_size": -16},
    "bits 2 or 4 or 8, got 3": {"expert_weight_bits": 3},
    r"input 3 \(scales\) of \[4, 32, 4\], got \[4, 32\]": {"block_size": 16},
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_defined_is_refused(text: str, tmp_path: Path) -> None:
    model, _ = model_of(*mixture(**REFUSED[text])[0])
    with pytest.raises(ModelError, match=text):
        pteron.export_model(model, tmp_path / "m.pte")

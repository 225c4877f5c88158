"""Weights that other tools quantized: read to the bit, placed by name, stored in as few bits, and run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from models.llama_gguf import llama_file

from pteron import export_model, load
from pteron.export.checkpoint import ggml, read_checkpoint
from pteron.export.checkpoint.weight import Weight
from pteron.export.file.read import read
from pteron.export.graph.text import onnx_text
from pteron.export.pack.codes import decode
from pteron.schema.errors import ArgumentError, QuantError

RNG = np.random.default_rng(0)
N, K = 48, 512
W = RNG.standard_normal((N, K)).astype(np.float32) / 16
X = RNG.standard_normal((3, K)).astype(np.float32)
FORMAT_OF = {
    "Q4_0": "i4", "Q4_1": "q4_1", "Q5_0": "q5_0", "Q8_0": "q8_0", "Q4_K": "q4_k", "Q5_K": "q5_k", "Q6_K": "q6_k",
    "IQ4_NL": "iq4_nl", "Q5_1": "q5_1", "Q2_K": "q2_k", "Q3_K": "q3_k", "IQ4_XS": "iq4_xs", "MXFP4": "mxfp4", "NVFP4": "nvfp4",
}  # fmt: skip


def raw_of(layout: ggml.Layout, rows: int = N, k: int = K) -> np.ndarray[Any, Any]:
    """Blocks of any codes; scales of ordinary size, which lie where each struct has them."""
    raw = RNG.integers(0, 256, (rows, k // layout.block, layout.nbytes)).astype(np.uint8)
    halves = {
        "Q4_1": (0, 2),
        "Q5_1": (0, 2),
        "Q4_K": (0, 2),
        "Q5_K": (0, 2),
        "Q6_K": (208,),
        "Q2_K": (80, 82),
        "Q3_K": (108,),
    }
    if layout.name == "MXFP4":
        raw[..., 0] = RNG.integers(110, 130, raw.shape[:-1])
    elif layout.name == "NVFP4":
        raw[..., :4] &= 0x7F
    else:
        for at in halves.get(layout.name, (0,)):
            some = (RNG.random((*raw.shape[:-1], 1)) / 8).astype(np.float16)
            raw[..., at : at + 2] = some.view(np.uint8)
    return raw


@pytest.mark.parametrize("kind", ggml.LAYOUTS, ids=lambda kind: ggml.LAYOUTS[kind].name)
def test_blocks_of_ggml_are_what_its_own_package_reads(kind: int) -> None:
    quants = pytest.importorskip("gguf.quants")
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    layout, own = ggml.LAYOUTS[kind], GGMLQuantizationType(kind)
    assert (layout.name, (layout.block, layout.nbytes)) == (own.name, GGML_QUANT_SIZES[own])
    raw = raw_of(layout)
    want = quants.dequantize(raw.reshape(len(raw), -1), own)
    assert layout.read(raw).decoded().tobytes() == want.tobytes()


def gguf_file(path: Path, kind: int, raw: np.ndarray[Any, Any], name: str = "fc.weight") -> Path:
    gguf = pytest.importorskip("gguf")
    writer = gguf.GGUFWriter(path, "none")
    writer.add_tensor(name, raw.reshape(len(raw), -1), raw_dtype=gguf.GGMLQuantizationType(kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def model(w: np.ndarray[Any, Any] = W, name: str = "fc.weight") -> Any:
    graph = onnx_text("y = MatMul(x, w)", x=f"f32[n, {K}]", w=np.ascontiguousarray(w.T))
    graph.graph.initializers["w"].name = name
    return graph


def placed(path: Path, want: np.ndarray[Any, Any], tmp_path: Path, graph: Any = None) -> str:
    """The storage format; the program has these weights to the bit, and computes with them."""
    out = tmp_path / "m.pte"
    export_model(model(want) if graph is None else graph, out, weights=path)
    program = read(out.read_bytes())
    (stored,) = (c for c in program.constants if c.layout == "panels")
    if stored.format == "plain":
        return "plain"
    assert decode(stored.format, stored.array, (N, K)).tobytes() == want.tobytes()
    y = load(out).run({"x": X})
    np.testing.assert_allclose(
        next(iter(y.values())), X @ want.T, rtol=1e-3, atol=1e-3 * np.abs(want).max()
    )
    return stored.format


@pytest.mark.parametrize("kind", ggml.LAYOUTS, ids=lambda kind: ggml.LAYOUTS[kind].name)
def test_a_gguf_file_becomes_a_program_of_as_few_bits(kind: int, tmp_path: Path) -> None:
    layout = ggml.LAYOUTS[kind]
    raw = raw_of(layout)
    path = gguf_file(tmp_path / "m.gguf", kind, raw)
    want = layout.read(raw).decoded()
    assert placed(path, want, tmp_path) == FORMAT_OF[layout.name]


def kind_of(name: str) -> str:
    """Keys stay floats: files mix types."""
    return "F32" if "k_proj" in name else "Q8_0"


@pytest.mark.parametrize("each", [True, False])
def test_rows_of_llama_are_those_of_transformers(each: bool, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=64, num_attention_heads=4, num_key_value_heads=2, num_hidden_layers=2,
        intermediate_size=96, vocab_size=32, attention_bias=True,
    )  # fmt: skip
    llama = LlamaForCausalLM(config)
    state = {name: value.detach().normal_() for name, value in llama.state_dict().items()}
    told: tuple[Any, Any] = ([4, 4], [2, 2]) if each else (4, 2)
    found = read_checkpoint(llama_file(tmp_path / "m.gguf", state, *told, kind_of))
    for name, value in state.items():
        got = found[name.removeprefix("model.")].read()
        new = got.decoded() if isinstance(got, Weight) else got
        most = float(value.abs().max()) / 127 if isinstance(got, Weight) else 0
        np.testing.assert_allclose(new, value.numpy(), rtol=0, atol=most, err_msg=name)


@pytest.mark.parametrize("heads", [0, 3, 5, [4]])
def test_heads_that_cannot_be_are_refused(heads: Any, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    state = {"model.layers.1.self_attn.o_proj.weight": torch.zeros(64, 64)}
    path = llama_file(tmp_path / "m.gguf", state, heads, 2, kind_of)
    raw = (
        path.read_bytes()
        .replace(b"attn_output.weight", b"attn_q.weight")
        .replace(
            (len("blk.1.attn_output.weight")).to_bytes(8, "little") + b"blk.1.",
            (len("blk.1.attn_q.weight")).to_bytes(8, "little") + b"blk.1.",
        )
    )
    path.write_bytes(raw)
    with pytest.raises(QuantError, match=r"blk\.1\.attn_q\.weight: expected rows of whole pairs"):
        read_checkpoint(path)


def packed(codes: np.ndarray[Any, Any], bits: int = 4) -> np.ndarray[Any, Any]:
    """Codes [r, c] as int32 [r, c * bits / 32], the first in the low bits."""
    words = codes.reshape(len(codes), -1, 32 // bits).astype(np.uint32)
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    return np.bitwise_or.reduce(words << shifts, axis=-1).view(np.int32)


def save(path: Path, **tensors: Any) -> Path:
    numpy = pytest.importorskip("safetensors.numpy")
    numpy.save_file(
        {k.replace("__", "."): np.ascontiguousarray(v) for k, v in tensors.items()}, path
    )
    return path


def groups(size: int = 128) -> tuple[Any, Any, Any]:
    codes = RNG.integers(0, 16, (N, K)).astype(np.uint8)
    zero = RNG.integers(1, 16, (N, K // size)).astype(np.uint8)
    scale = (RNG.random((N, K // size)) / 8 + 0.01).astype(np.float16)
    return codes, zero, scale


def meant(codes: Any, zero: Any, scale: Any) -> Any:
    size = codes.shape[1] // zero.shape[1]
    each = np.repeat(zero.astype(np.float32), size, 1), np.repeat(scale.astype(np.float32), size, 1)
    return (codes.astype(np.float32) - each[0]) * each[1]


def test_autoawq(tmp_path: Path) -> None:
    """Its packing: columns 0, 2, 4, 6, 1, 3, 5, 7 from the low bits up (awq/utils/packing_utils.py)."""
    codes, zero, scale = groups()
    order = [0, 2, 4, 6, 1, 3, 5, 7]

    def turned(rows: Any) -> Any:
        return packed(rows.T.reshape(rows.shape[1], -1, 8)[..., order].reshape(rows.shape[1], -1))

    path = save(
        tmp_path / "m.safetensors",
        fc__qweight=turned(codes),
        fc__qzeros=turned(zero),
        fc__scales=scale.T,
    )
    assert placed(path, meant(codes, zero, scale), tmp_path) == "i4_zero_128"


@pytest.mark.parametrize("size", [32, 128])
@pytest.mark.parametrize("version", ["gptq", "gptq_v2"])
def test_gptq(version: str, size: int, tmp_path: Path) -> None:
    codes, zero, scale = groups(size)
    less = zero - (version == "gptq")
    path = save(
        tmp_path / "m.safetensors", fc__qweight=packed(codes).T, fc__qzeros=packed(less.T), fc__scales=scale.T,
        fc__g_idx=np.arange(K, dtype=np.int32) // size,
    )  # fmt: skip
    facts = {"quantization_config": {"bits": 4, "checkpoint_format": version}}
    (tmp_path / "config.json").write_text(json.dumps(facts))
    expected = {32: "i4_zero", 128: "i4_zero_128"}[size]
    assert placed(path, meant(codes, zero, scale), tmp_path) == expected


def test_gptq_by_the_order_of_activations(tmp_path: Path) -> None:
    codes, zero, scale = groups(32)
    group = RNG.permutation(np.arange(K) // 32).astype(np.int32)
    save(
        tmp_path / "m.safetensors", fc__qweight=packed(codes).T, fc__qzeros=packed(zero.T), fc__scales=scale.T,
        fc__g_idx=group,
    )  # fmt: skip
    facts = {"quantization_config": {"bits": 4, "checkpoint_format": "gptq_v2"}}
    (tmp_path / "config.json").write_text(json.dumps(facts))
    each = zero.astype(np.float32)[:, group], scale.astype(np.float32)[:, group]
    want = (codes.astype(np.float32) - each[0]) * each[1]
    (tensor,) = read_checkpoint(tmp_path / "m.safetensors").values()
    assert tensor.read().decoded().tobytes() == want.tobytes()
    out = tmp_path / "m.pte"
    report = export_model(model(want), out, weights=tmp_path / "m.safetensors")
    assert [row.format for row in report.products] == ["i4_zero"]
    (y,) = load(out).run({"x": X}).values()
    np.testing.assert_allclose(y, X @ want.T, rtol=1e-4, atol=1e-4)
    bad = group.copy()
    bad[:2] = bad[0] + 1
    save(
        tmp_path / "m.safetensors", fc__qweight=packed(codes).T, fc__qzeros=packed(zero.T), fc__scales=scale.T,
        fc__g_idx=bad,
    )  # fmt: skip
    with pytest.raises(QuantError, match=r"fc.g_idx: expected groups of 32 of 512 elements"):
        export_model(model(want), None, weights=tmp_path / "m.safetensors")


@pytest.mark.parametrize("symmetric", [True, False])
def test_compressed_tensors(symmetric: bool, tmp_path: Path) -> None:
    tool = pytest.importorskip("compressed_tensors.compressors.pack_quantized.helpers")
    torch = pytest.importorskip("torch")
    codes, zero, scale = groups()
    zero = np.full_like(zero, 8) if symmetric else zero
    parts = {
        "fc__weight_packed": tool.pack_to_int32(torch.tensor(codes.astype(np.int8) - 8), 4).numpy()
    }
    if not symmetric:
        points = torch.tensor(zero.astype(np.int8) - 8)
        parts["fc__weight_zero_point"] = tool.pack_to_int32(points, 4, packed_dim=0).numpy()
    path = save(
        tmp_path / "m.safetensors",
        fc__weight_scale=scale,
        fc__weight_shape=np.array([N, K]),
        **parts,
    )
    assert placed(path, meant(codes, zero, scale), tmp_path) == (
        "i4_128" if symmetric else "i4_zero_128"
    )


def test_fp8_with_a_scale_of_blocks_of_rows_and_columns(tmp_path: Path) -> None:
    st = pytest.importorskip("safetensors.torch")
    torch = pytest.importorskip("torch")
    codes = torch.tensor(RNG.standard_normal((N, K)).astype(np.float32) * 30).to(
        torch.float8_e4m3fn
    )
    scale = torch.tensor(RNG.random((3, 4)).astype(np.float32))
    path = tmp_path / "m.safetensors"
    st.save_file({"fc.weight": codes, "fc.weight_scale": scale}, path)
    want = codes.float().numpy() * np.repeat(np.repeat(scale.numpy(), 16, 0), 128, 1)
    assert placed(path, want, tmp_path) == "e4m3_128"


FLOATS = {
    "nvfp4": ("float", 4, 16, "tensor_group", None, "e2m1_16"),
    "mxfp4": ("float", 4, 32, "group", "uint8", "mxfp4"),
    "mxfp6": ("float", 6, 32, "group", "uint8", "mxfp6"),
    "mxfp8": ("float", 8, 32, "group", "uint8", "mxfp8"),
}


@pytest.mark.parametrize("kind", FLOATS)
def test_floats_of_compressed_tensors(kind: str, tmp_path: Path) -> None:
    """Its own compressors pack and unpack; they unpack to bfloat16, ours is that before it is rounded."""
    ct = pytest.importorskip("compressed_tensors.quantization")
    base = pytest.importorskip("compressed_tensors.compressors.base")
    st, torch = pytest.importorskip("safetensors.torch"), pytest.importorskip("torch")
    pytest.importorskip("compressed_tensors.compressors")
    type_, bits, group, strategy, scale_dtype, expected = FLOATS[kind]
    args = ct.QuantizationArgs(
        num_bits=bits, type=type_, group_size=group, strategy=strategy, symmetric=True,
        scale_dtype=None if scale_dtype is None else getattr(torch, scale_dtype),
    )  # fmt: skip
    scheme = ct.QuantizationScheme(targets=["Linear"], weights=args)
    name = "mxfp8-quantized" if kind == "mxfp8" else f"{kind}-pack-quantized"
    tool = base.BaseCompressor.get_value_from_registry(name)
    absmax = torch.tensor(np.abs(W).reshape(N, -1, group).max(-1))
    parts = {"weight": torch.tensor(W)}
    if kind == "nvfp4":
        parts["weight_global_scale"] = torch.tensor([448 * 6 / np.abs(W).max()])
        parts["weight_scale"] = absmax / 6 * parts["weight_global_scale"]
        parts["weight_scale"] = parts["weight_scale"].to(torch.float8_e4m3fn).float()
    else:
        parts["weight_scale"] = torch.exp2(
            torch.floor(torch.log2(absmax)) - {4: 2, 6: 2, 8: 8}[bits]
        )
    kept = tool.compress(parts, scheme)
    path = tmp_path / "m.safetensors"
    st.save_file({f"fc.{k}": v.contiguous() for k, v in kept.items()}, path)
    theirs = tool.decompress(kept, scheme)["weight"].float().numpy()
    (tensor,) = read_checkpoint(path).values()
    want = tensor.read().decoded()
    np.testing.assert_array_equal(want.astype(ml_dtypes.bfloat16).astype(np.float32), theirs)
    assert placed(path, want, tmp_path) == expected


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize("k", [K, 96])
def test_four_bits_of_bitsandbytes(kind: str, k: int, tmp_path: Path) -> None:
    """Every code; of 96 columns blocks of 64 run on over rows.

    There its kernel for AVX-512 (0.50.2) takes scales as if each row began a block, and its zeros have another sign than its other
    kernels' have: what it means by a code is its table's number times the block's largest.
    """
    bnb = pytest.importorskip("bitsandbytes.functional")
    st, torch = pytest.importorskip("safetensors.torch"), pytest.importorskip("torch")
    w = torch.tensor(W[:, :k].copy())
    kept, state = bnb.quantize_4bit(w, blocksize=64, quant_type=kind)
    kept = torch.arange(kept.numel()).to(torch.uint8).reshape(kept.shape)
    path = tmp_path / "m.safetensors"
    st.save_file(
        {"fc.weight": kept} | {f"fc.weight.{n}": v for n, v in state.as_dict(packed=True).items()},
        path,
    )
    raw, largest = kept.numpy().reshape(-1), state.absmax.numpy()[:, None]
    each = np.stack([raw >> 4, raw & 15], axis=1).reshape(-1, 64)
    want = (state.code.numpy()[each] * largest).reshape(w.shape)
    (tensor,) = read_checkpoint(path).values()
    got = tensor.read().decoded()
    np.testing.assert_array_equal(got, want)
    if k == K:
        np.testing.assert_array_equal(got, bnb.dequantize_4bit(kept, state).numpy())
        expected = {"nf4": "nf4_f32", "fp4": "fp4"}[kind]
        assert placed(path, got, tmp_path) == expected


def test_int8_of_bitsandbytes(tmp_path: Path) -> None:
    """Its own dequantization rounds twice, after the largest magnitude of the row and after 1 / 127."""
    bnb = pytest.importorskip("bitsandbytes")
    st, torch = pytest.importorskip("safetensors.torch"), pytest.importorskip("torch")
    layer = bnb.nn.Linear8bitLt(K, N, bias=False, has_fp16_weights=False)
    layer.load_state_dict({"weight": torch.tensor(W)})
    layer = layer.to("cpu")
    layer(torch.tensor(X))
    path = tmp_path / "m.safetensors"
    st.save_file({f"fc.{n}": v for n, v in layer.state_dict().items()}, path)
    state = layer.state_dict()
    theirs = bnb.functional.int8_vectorwise_dequant(state["weight"], state["SCB"]).numpy()
    (tensor,) = read_checkpoint(path).values()
    want = tensor.read().decoded()
    np.testing.assert_allclose(want, theirs, rtol=2**-22)
    assert placed(path, want, tmp_path) == "i8_channel"


@pytest.mark.parametrize("nested", [True, False])
def test_bitsandbytes(nested: bool, tmp_path: Path) -> None:
    bnb = pytest.importorskip("bitsandbytes.functional")
    st, torch = pytest.importorskip("safetensors.torch"), pytest.importorskip("torch")
    kept, state = bnb.quantize_4bit(
        torch.tensor(W), blocksize=64, quant_type="nf4", compress_statistics=nested
    )
    path = tmp_path / "m.safetensors"
    st.save_file(
        {"fc.weight": kept} | {f"fc.weight.{k}": v for k, v in state.as_dict(packed=True).items()},
        path,
    )
    want = bnb.dequantize_4bit(kept, state).numpy()
    assert placed(path, want, tmp_path) == "nf4_f32"


def test_names_and_shapes_that_do_not_fit_are_said(tmp_path: Path) -> None:
    path = gguf_file(tmp_path / "a.gguf", 8, raw_of(ggml.LAYOUTS[8]), "other.weight")
    with pytest.raises(
        QuantError, match=r"no tensor has the name of a parameter; it has other\.weight"
    ):
        export_model(model(), None, weights=path)
    path = gguf_file(tmp_path / "b.gguf", 8, raw_of(ggml.LAYOUTS[8], N, 256))
    with pytest.raises(QuantError, match=r"expected \[48, 512\] as fc has it, got \[48, 256\]"):
        export_model(model(), None, weights=path)


def test_rows_in_another_order_are_found_out(tmp_path: Path) -> None:
    a, b = RNG.standard_normal((2, K, K)).astype(np.float32)
    graph = onnx_text("y = MatMul(MatMul(x, a), b)", x=f"f32[n, {K}]", a=a, b=b)
    good = a.T
    save(tmp_path / "m.safetensors", a=good, b=b.T[::-1])
    with pytest.raises(QuantError, match="1 of 2 weights do not resemble"):
        export_model(graph, None, weights=tmp_path / "m.safetensors")


@pytest.mark.parametrize("cut", [2, 10, 30, 100, -1])
def test_damaged_files(cut: int, tmp_path: Path) -> None:
    path = gguf_file(tmp_path / "a.gguf", 8, raw_of(ggml.LAYOUTS[8]))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises((ArgumentError, QuantError)):
        read_checkpoint(path)
    other = save(tmp_path / "b.safetensors", fc=W)
    other.write_bytes(other.read_bytes()[:cut])
    with pytest.raises(QuantError):
        read_checkpoint(other)


def test_weight_of_levels_and_zero_points() -> None:
    codes = np.array([[0, 15]], np.uint8)
    assert Weight(codes, np.ones((1, 1), np.float32), 0, levels="nf4").decoded().tolist() == [
        [-1, 1]
    ]
    made = Weight(
        codes.astype(ml_dtypes.uint4), np.full((1, 1), 2, np.float32), 0, np.array([[8]], np.uint8)
    )
    assert made.decoded().tolist() == [[-16, 14]]

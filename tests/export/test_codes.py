"""Codes of quantized weights in panels: there and back, and only where nothing is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from ops.stored import planes_of

import pteron
from pteron.export import pack
from pteron.export.export import export
from pteron.export.graph.text import onnx_text
from pteron.export.graph.weights import whole
from pteron.export.lower import rearrange
from pteron.export.pack import codes
from pteron.export.program import Blocks, Coded, arrays
from pteron.export.program.arrays import spread
from pteron.quantize.quantize import transformer
from pteron.schema.formats import FORMATS

PACKED = [f for f in FORMATS.values() if f.bits]


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("k", [0, 1, 7, 32, 33, 144])
@pytest.mark.parametrize("fmt", PACKED, ids=lambda f: f.name)
def test_codes_and_planes_come_back(fmt, k: int, groups: int) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(k)
    n = 3 * 11
    raw = rng.integers(0, 1 << fmt.bits, (n, k)).astype(np.uint8)
    behind = planes_of(fmt, n, k, rng)
    data = codes.pack(fmt, raw, *behind, groups=groups)
    rows = groups * -(-(n // groups) // 16) * 16
    step = {8: 4, 4: 8, 6: 16, 3: 32, 2: 16}[fmt.bits]
    more = sum(plane.shape[1] * plane.itemsize for plane in behind)
    assert data.size == rows * -(-k // step) * step * fmt.bits // 8 + rows * more
    back = codes.unpack(fmt, data, (n, k), groups)
    for got, want in zip(back, [raw, *behind], strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("fmt", PACKED, ids=lambda f: f.name)
def test_large_weights_are_written_in_bands_of_rows(fmt) -> None:  # type: ignore[no-untyped-def]
    rng, (n, k) = np.random.default_rng(1), (601, 131)
    q = rng.integers(0, 1 << (fmt.bits - 1), (n, k)).astype(np.int8)
    behind = planes_of(fmt, n, k, rng)
    bands = codes._packed(fmt, q, behind, 1)
    want = codes.pack(fmt, codes._raw(fmt, q), *behind)
    assert not isinstance(bands, np.ndarray) and bands.size == want.size
    np.testing.assert_array_equal(np.concatenate([b.reshape(-1) for b in bands.bands()]), want)


def test_the_place_of_a_four_bit_code() -> None:
    raw = np.zeros((16, 16), np.uint8)
    raw[5, 8 + 6] = 9
    data = codes.pack(FORMATS["mxfp4"], raw, np.full((16, 1), 127, np.uint8))
    assert data[64 + 5 * 4 + 2] == 9 << 4 and np.count_nonzero(data[:128]) == 1


def test_scales_that_do_not_fit_the_format_are_left_alone() -> None:
    q = np.full((2, 64), 7, np.int8).astype(ml_dtypes.int4)
    fits = Coded(q, np.full((2, 64), 0.5, np.float32))
    assert codes.stored(fits) is not None
    assert form(Coded(q, np.full((2, 64), 0.1, np.float32))) == "i4_f32_channel"  # no f16
    uneven = np.arange(128, dtype=np.float32).reshape(2, 64) + 1
    assert codes.stored(Coded(q, uneven)) is None


@pytest.mark.parametrize("k", [64, 100, 129])
@pytest.mark.parametrize("size", [8, 16, 32, 48, 64, 128, 256])
@pytest.mark.parametrize("kind", ["int8", "int4"])
def test_blocks_are_stored_as_what_they_spread_to(kind: str, size: int, k: int) -> None:
    rng = np.random.default_rng(size + k)
    q = (
        rng.integers(-7, 8, (5, k))
        .astype(np.int8)
        .astype(ml_dtypes.int4 if kind == "int4" else np.int8)
    )
    for parts in (rng.integers(1, 9, (5, -(-k // size))), np.ones((5, -(-k // size)))):
        blocks = Blocks(parts.astype(np.float32), 1, size)
        each = spread(blocks, q.shape)
        assert all(each[2, i] == blocks.parts[2, i // size] for i in range(k))
        got, want = codes.stored(Coded(q, blocks)), codes.stored(Coded(q, each))
        assert (got is None) == (want is None)
        if got is not None and want is not None:
            assert got[0] == want[0] and whole(got[1]).tobytes() == whole(want[1]).tobytes()


def test_scales_of_blocks_come_to_the_file_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("spread")

    for module in (codes, pack, rearrange, arrays):
        monkeypatch.setattr(module, "spread", never)
    weight = np.random.default_rng(1).standard_normal((200, 96)).astype(np.float32)
    program = export(
        onnx_text("y = MatMul(x, w)", x="f32[b, 200]", w=weight), transform=transformer("nf4")
    )
    assert "nf4" in {c.format for c in program.constants}


def form(coded: Coded) -> str | None:
    """The format that stores it, which must give back the weights to the bit."""
    found = codes.stored(coded)
    if found is None:
        return None
    shape = coded.codes.shape
    zero, shift = (
        np.zeros(shape, np.float32) if p is None else spread(p, shape).astype(np.float32)
        for p in (coded.zero, coded.shift)
    )
    want = (coded.codes.astype(np.float32) - zero) * spread(coded.scale, shape) + shift
    got = codes.decode(found[0], found[1], coded.codes.shape)
    np.testing.assert_array_equal(got, want.astype(np.float32))
    return found[0]


RNG = np.random.default_rng(4)
HALF, WIDE = np.full((1, 1), 0.5, np.float32), np.full((1, 1), 0.1, np.float32)
HALVES = np.repeat((RNG.random((20, 2)) + 0.1).astype(np.float16).astype(np.float32), 32, axis=1)
BY_BLOCK = np.repeat(RNG.random((20, 2)).astype(np.float32) + 0.1, 32, axis=1)


@pytest.mark.parametrize(
    ("kind", "low", "high", "zero", "scale", "name"),
    [
        (ml_dtypes.uint4, 0, 16, 8, HALF, "i4_channel"),
        (ml_dtypes.uint4, 0, 16, 8, WIDE, "i4_f32_channel"),
        (ml_dtypes.uint4, 0, 16, 8, BY_BLOCK, "i4_f32"),
        (ml_dtypes.uint4, 0, 16, 3, BY_BLOCK, "i4_zero_f32"),
        (ml_dtypes.uint4, 0, 16, 5, HALVES, "i4_zero"),
        (np.int8, -32, 32, None, HALVES, "q5_0"),
        (np.int8, -33, 32, None, HALVES, "q8_0"),
        (ml_dtypes.uint4, 0, 16, None, BY_BLOCK, "i4_zero_f32"),
        (ml_dtypes.uint4, 5, 8, 5, BY_BLOCK, "i3_f32_32"),
        (ml_dtypes.uint2, 0, 4, 2, BY_BLOCK, "i2_f32_32"),
        (ml_dtypes.int4, -8, 8, 0, HALF, "i4_channel"),
        (ml_dtypes.int4, -8, 8, -8, BY_BLOCK, "i4_zero_f32"),
        (np.int8, -128, 128, None, WIDE, "i8_channel"),
        (np.int8, -128, 128, None, HALF, "i8_channel"),
        (np.int8, -128, 128, 0, BY_BLOCK, "i8_32"),
        (np.uint8, 0, 256, 128, BY_BLOCK, "i8_32"),
        (np.uint8, 0, 256, 128, WIDE, "i8_channel"),
        (np.uint8, 0, 256, 127, BY_BLOCK, "i8_zero_32"),
        (np.uint8, 0, 256, None, BY_BLOCK, "i8_zero_32"),
        (np.int8, -128, 128, 1, BY_BLOCK, "i8_zero_32"),
    ],
)
def test_zero_points_go_into_signed_codes(
    kind: Any, low: int, high: int, zero: int | None, scale: Any, name: str
) -> None:
    q = RNG.integers(low, high, (20, 64))
    q[0, 0], q[0, 1] = low, high - 1
    shift = None if zero is None else np.full((20, 64), zero, np.int8 if zero < 0 else np.uint8)
    each = np.broadcast_to(scale, (20, 64))
    assert form(Coded(q.astype(kind), each, shift)) == name


def test_a_zero_point_of_each_block() -> None:
    q = RNG.integers(0, 16, (20, 64)).astype(ml_dtypes.uint4)
    zero = Blocks(RNG.integers(0, 16, (20, 2)).astype(ml_dtypes.uint4), 1, 32)
    assert form(Coded(q, BY_BLOCK, zero)) == "i4_zero_f32"
    assert form(Coded(q, HALVES, zero)) == "i4_zero"


def test_blocks_of_128() -> None:
    q = RNG.integers(0, 16, (20, 300)).astype(ml_dtypes.uint4)
    zero = Blocks(RNG.integers(0, 16, (20, 3)).astype(ml_dtypes.uint4), 1, 128)
    scale = Blocks((RNG.random((20, 3)) + 0.1).astype(np.float16).astype(np.float32), 1, 128)
    assert form(Coded(q, scale, zero)) == "i4_zero_128"


@pytest.mark.parametrize("shift", [True, False])
@pytest.mark.parametrize(("top", "name"), [(16, "q4_k"), (32, "q5_k")])
def test_scales_of_scales_stay_bytes(top: int, name: str, shift: bool) -> None:
    def nested(seed: int, sign: int) -> Blocks:
        rng = np.random.default_rng(seed)
        few = rng.integers(0, 64, (20, 16)).astype(np.uint8)
        outer = (sign * rng.random((20, 2))).astype(np.float16).astype(np.float32)
        inner = Coded(few, Blocks(outer, 1, 8))
        return Blocks(decoded_of(inner), 1, 32, inner)

    q = RNG.integers(0, top, (20, 512)).astype(np.uint8)
    q[0, :2] = 0, top - 1
    coded = Coded(q, nested(1, 1), shift=nested(2, -1) if shift else None)
    assert (form(coded) == name) == shift


def decoded_of(coded: Coded) -> Any:
    return arrays.decode(coded, "f32")


def test_a_scale_of_eight_bits_times_one_of_the_row() -> None:
    rng = np.random.default_rng(1)
    few = (rng.random((20, 4)) * 300).astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    for outer in (np.float32(0.0123), Blocks(rng.random((20, 1)).astype(np.float32), 1, 4)):
        inner = Coded(few, np.asarray(outer) if isinstance(outer, np.float32) else outer)
        q = rng.integers(-6, 7, (20, 64)).astype(np.float32).astype(ml_dtypes.float4_e2m1fn)
        assert form(Coded(q, Blocks(decoded_of(inner), 1, 16, inner))) == "nvfp4"


@pytest.mark.parametrize("kind", [ml_dtypes.float8_e4m3fn, ml_dtypes.float4_e2m1fn])
@pytest.mark.parametrize("factor", [0.75, 2.0**-130, 2.0**-3])
def test_scales_of_eight_bits_are_powers_of_two(kind: Any, factor: float) -> None:
    """Others are stored in another format that keeps them, or not at all: `form` compares the bits."""
    q = RNG.integers(-3, 4, (20, 64)).astype(np.float32).astype(kind)
    each = np.repeat(np.exp2(RNG.integers(-3, 4, (20, 2))).astype(np.float32), 32, axis=1)
    found = form(Coded(q, each * np.float32(factor)))
    eight = found is not None and FORMATS[found].scale == "f8e8m0"
    assert eight == (factor == 2.0**-3)


@pytest.mark.parametrize("kind", [TensorProto.INT8, TensorProto.INT4, TensorProto.UINT4])
@pytest.mark.parametrize("shape", [(0, 5), (4, 0)])
def test_a_weight_without_elements(kind: int, shape: tuple[int, int], tmp_path: Path) -> None:
    k, n = shape
    weight = helper.make_tensor("w", kind, [k, n], [])
    scale = helper.make_tensor("s", TensorProto.FLOAT, [n], [0.5] * n)
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=1),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    x, y = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
        for name, dims in (("x", [3, k]), ("y", [3, n]))
    )
    graph = helper.make_graph(nodes, "none", [x], [y], [weight, scale])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    pteron.export_model(model, tmp_path / "m.pte")
    got = pteron.load(tmp_path / "m.pte")(np.ones((3, k), np.float32))
    np.testing.assert_array_equal(got, np.zeros((3, n), np.float32))

"""Weights in the storage formats: decoding, and products that equal those of the decoded weight."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ops import harness
from ops.cases_matrix_int8 import NAMES as INT8
from ops.cases_matrix_int8 import hostile
from ops.cases_stored import CASES
from ops.harness import Array, Case, Weight, canonical, weight
from ops.stored import FP8, NAMES, planes_of, weight_of

from pteron.schema.formats import FORMATS, NF4_SEVEN
from pteron.schema.meaning.narrow import eight_codes


@pytest.mark.parametrize("case", [c for c in CASES if c.op in ("matmul", "conv")], ids=str)
def test_exact_products_have_the_bits_of_the_decoded_weight(case: Case) -> None:
    w = case.inputs[1]
    assert isinstance(w, Weight)
    plain = list(case.inputs)
    plain[1] = weight(w.array, w.groups)
    outs = harness.outs_of(case)
    for cpu in harness.variants():
        got = harness.run(case, outs, cpu=cpu, threads=2)
        want = harness.run(case, outs, cpu=cpu, inputs=plain)
        assert (got.status, want.status) == (0, 0), got.text
        assert canonical(got.outputs[0]) == canonical(want.outputs[0])


SCALES: dict[str, Array] = {
    "f8e8m0": np.arange(256, dtype=np.uint8),
    "f8e4m3": np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn),
    "u8": np.arange(256, dtype=np.uint8),
    "i8": np.arange(256, dtype=np.uint8).view(np.int8),
    "f16": np.arange(0, 1 << 16, 61, dtype=np.uint16).view(np.float16),
    "f32": np.array(
        [0, 1, -1, 1.1, 1e-38, 1e-45, 1e38, 3e38, np.inf, np.nan, 2.0**-126, 0.3], np.float32
    ),
}


def every_code(name: str, at: int, among: slice = slice(None)) -> Weight:
    """A row for each number (as stored) in plane `at`, with every code in it, or those `among` them."""
    fmt = FORMATS[name]
    numbers = SCALES[fmt.planes[at][0]]
    codes = np.tile(np.arange(1 << fmt.bits, dtype=np.uint8)[among], (len(numbers), 1))
    behind = planes_of(fmt, *codes.shape, np.random.default_rng(1))
    behind[at] = np.repeat(numbers[:, None], behind[at].shape[1], 1)
    return weight_of(fmt, codes, *behind)


@pytest.mark.parametrize(
    ("name", "at"), [(name, i) for name in NAMES for i in range(len(FORMATS[name].planes))]
)
def test_every_code_with_every_kind_of_number(name: str, at: int) -> None:
    """To the bit, with subnormal results, infinities and NaN."""
    with np.errstate(all="ignore"):
        w = every_code(name, at)
    case = Case("gather_rows", [w, np.arange(len(w.array))])
    outs = harness.outs_of(case)
    for cpu in harness.variants():
        assert canonical(harness.run(case, outs, cpu=cpu).outputs[0]) == canonical(w.array)


@pytest.mark.parametrize("rows", (1, 2, 4, 7))
@pytest.mark.parametrize("among", (slice(None), slice(0, 120), slice(128, 248)), ids=str)
@pytest.mark.parametrize("name", FP8)
def test_few_rows_by_every_code_and_scale(name: str, among: slice, rows: int) -> None:
    """Products decode on the way what is ordinary alone; with anything else they go as of many rows."""
    with np.errstate(all="ignore"):
        w = every_code(name, 0, among)
    x = np.random.default_rng(5).standard_normal((rows, w.array.shape[1])).astype(np.float32)
    case = Case("matmul", (x, w, None))
    outs = harness.outs_of(case)
    want = canonical(harness.run(case, outs, inputs=(x, weight(w.array), None)).outputs[0])
    for cpu in harness.variants():
        assert canonical(harness.run(case, outs, cpu=cpu).outputs[0]) == want


def integers(name: str, codes: Array) -> Array:
    """t of kernels/gemm_int8/gemm_blocks.h, from what the codes mean."""
    if name == "nf4":
        return NF4_SEVEN.astype(np.int64)[codes] - 64
    one = np.ones((len(codes), -(-codes.shape[1] // 32)), np.float32)
    given: Any = codes.view(np.int8) if name == "i8_channel" else codes
    scale = one[:, 0] if name == "i8_channel" else one * 127
    value = FORMATS[name].meaning(given, scale.astype(np.float32 if scale.ndim == 1 else np.uint8))
    if FORMATS[name].codes == "i4":
        return codes.astype(np.int64) - 8
    return np.asarray(np.rint(value * {"mxfp4": 2, "mxfp6": 8}.get(name, 1)), np.int64)


FACTORS = {"nf4": np.float32(1 / 63), "mxfp4": np.float32(0.5), "mxfp6": np.float32(0.125)}


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs 64 bits to imitate the fma")
@pytest.mark.parametrize("name", INT8)
def test_integer_products_are_the_formula_to_the_bit(name: str) -> None:
    fmt, rng = FORMATS[name], np.random.default_rng(3)
    n, k = 37, 150
    codes = rng.integers(0, 1 << fmt.bits, (n, k)).astype(np.uint8)
    (scale,) = planes_of(fmt, n, k, rng)
    x = np.concatenate([hostile(), rng.standard_normal((9, 50)).astype(np.float32)], 1)
    case = Case("matmul_int8", (x, weight_of(fmt, codes, scale), None))
    eight, x_scale = eight_codes(x)
    t = np.pad(integers(name, codes), ((0, 0), (0, -k % 32))).reshape(n, -1, 32)
    w_scale = np.exp2(scale.astype(np.float32) - 127) if fmt.scale == "f8e8m0" else scale
    acc = np.zeros((len(x), n), np.float32)
    with np.errstate(all="ignore"):
        for b in range(t.shape[1]):
            total = (eight[:, b].astype(np.int64) @ t[:, b].T).astype(np.float32)
            at = b * 32 // fmt.block if fmt.block else 0
            step = (x_scale[:, b] * FACTORS.get(name, np.float32(1))).astype(np.float32)
            both = step[:, None] * w_scale[:, at].astype(np.float32)
            exact = total.astype(np.longdouble) * both + acc
            acc = exact.astype(np.float32)
    for cpu in harness.variants():
        got = harness.run(case, harness.outs_of(case), cpu=cpu)
        assert got.status == 0, got.text
        assert canonical(got.outputs[0]) == canonical(acc)

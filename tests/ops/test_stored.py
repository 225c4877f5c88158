"""Weights in the storage formats: decoding, and products that equal those of the decoded weight."""

from __future__ import annotations

import numpy as np
import pytest
from ops import harness
from ops.cases_stored import CASES
from ops.harness import Array, Case, Weight, canonical, weight
from ops.stored import NAMES, weight_of

from pteron.schema.formats import FORMATS


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


def every_code(name: str, scale: Array) -> Weight:
    """A row for each scale [n] (as stored), with every code in it."""
    fmt = FORMATS[name]
    codes = np.tile(np.arange(1 << fmt.bits, dtype=np.uint8), (len(scale), 1))
    blocks = -(-codes.shape[1] // fmt.block) if fmt.block else 1
    return weight_of(fmt, codes, np.repeat(scale[:, None], blocks, 1))


@pytest.mark.parametrize("name", NAMES)
def test_every_code_with_every_kind_of_scale(name: str) -> None:
    """To the bit, with subnormal results, infinities and NaN."""
    scales = {
        "f8e8m0": np.arange(256, dtype=np.uint8),
        "f16": np.arange(0, 1 << 16, 61, dtype=np.uint16).view(np.float16),
        "f32": np.array(
            [0, 1, -1, 1.1, 1e-38, 1e-45, 1e38, 3e38, np.inf, np.nan, 2.0**-126, 0.3], np.float32
        ),
    }[FORMATS[name].scale]
    with np.errstate(all="ignore"):
        w = every_code(name, scales)
    case = Case("gather_rows", [w, np.arange(len(scales))])
    outs = harness.outs_of(case)
    for cpu in harness.variants():
        assert canonical(harness.run(case, outs, cpu=cpu).outputs[0]) == canonical(w.array)

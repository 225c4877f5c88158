"""Many rows of few columns stay exact by default: rounding them costs more than sums in integers give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pteron
from pteron.export.graph.text import onnx_text


@pytest.mark.parametrize(
    ("rows", "columns", "options", "op"),
    [
        ("512", 64, {}, "matmul"),
        ("batch, 2048", 64, {}, "matmul"),
        ("512", 128, {}, "matmul_int8"),
        ("1", 64, {}, "matmul_int8"),
        ("batch", 64, {}, "matmul_int8"),
        ("512", 64, {"activations": "int8-block"}, "matmul_int8"),
    ],
)
def test_narrow_products(rows: str, columns: int, options: dict[str, Any], op: str) -> None:
    w = np.random.default_rng(0).standard_normal((256, columns)).astype(np.float32)
    model = onnx_text("y = MatMul(x, w)", x=f"f32[{rows}, 256]", w=w)
    report = pteron.export_model(model, None, quantize="int8", **options)
    assert [product.op for product in report.products] == [op]

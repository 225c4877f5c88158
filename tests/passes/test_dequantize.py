from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx_ir as ir
import pytest

from pteron.export.graph.text import as_text, onnx_text
from pteron.export.passes.dequantize import recognise_dequantize

CODES = np.arange(-12, 12, dtype=np.int8).reshape(4, 6)


def graph(codes: Any, scale: Any, text: str = "c = Cast(q, to=1); y = Mul(c, s)") -> ir.Model:
    return onnx_text(text, q=codes, s=np.asarray(scale, np.float32))


@pytest.mark.parametrize(
    "dtype", [np.int8, ml_dtypes.int4, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
)
@pytest.mark.parametrize("turned", [False, True])
def test_codes_times_scales_are_dequantized(dtype: Any, turned: bool) -> None:
    text = "c = Cast(q, to=1); y = Mul(s, c)" if turned else "c = Cast(q, to=1); y = Mul(c, s)"
    model = graph((CODES % 8).astype(dtype), np.ones((4, 1)), text)
    assert recognise_dequantize(model)
    (node,) = model.graph
    assert node.op_type == "DequantizeLinear" and node.attributes["axis"].value == 0
    assert tuple(node.inputs[1].shape) == (4,)
    assert not recognise_dequantize(model)


@pytest.mark.parametrize(("shape", "axis"), [((), 0), ((1, 1), 0), ((6,), 1), ((1, 6), 1)])
def test_the_axis_is_that_of_the_scales(shape: tuple[int, ...], axis: int) -> None:
    model = graph(CODES, np.ones(shape))
    assert recognise_dequantize(model)
    assert next(iter(model.graph)).attributes["axis"].value == axis


@pytest.mark.parametrize(
    ("codes", "scale", "to"),
    [
        (CODES, np.ones((4, 6)), 1),  # a scale each
        (CODES, np.ones((2, 4, 1)), 1),  # the result is larger
        (CODES, np.ones(()), 10),
        (CODES.astype(np.int16), np.ones(()), 1),
        (CODES[0], np.ones(()), 1),
    ],
)
def test_other_products_stay(codes: Any, scale: Any, to: int) -> None:
    dtype = np.float16 if to == 10 else np.float32
    model = onnx_text(f"c = Cast(q, to={to}); y = Mul(c, s)", q=codes, s=scale.astype(dtype))
    before = as_text(model)
    assert not recognise_dequantize(model) and as_text(model) == before

"""Unique along an axis, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import pteron
from pteron.export.export import export
from pteron.export.file.emit import emit_bytes
from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.schema.errors import LoweringError

SHAPES = {0: ("n, 2, 3", (9, 2, 3)), 1: ("2, n, 3", (2, 9, 3)), -1: ("3, 2, n", (3, 2, 9))}


def wanted(x: np.ndarray, axis: int, is_sorted: bool) -> tuple[np.ndarray, ...]:
    y, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if is_sorted:
        return y, first, inverse, counts
    order = np.argsort(first)
    back = np.argsort(order)
    return y.take(order, axis), first[order], back[inverse], counts[order]


@pytest.mark.parametrize("axis", SHAPES)
@pytest.mark.parametrize("dtype", ["f32", "i64", "u8"])
def test_slices_along_an_axis(dtype: str, axis: int) -> None:
    text, shape = SHAPES[axis]
    kind = {"f32": np.float32, "i64": np.int64, "u8": np.uint8}[dtype]
    x = np.random.default_rng(3).integers(0, 2, shape).astype(kind)
    x = x.take([0, 1, 2, 1, 0, 5, 5, 7, 8], axis)
    for is_sorted in (True, False):
        node = f"y, i, v, c = Unique(x, axis={axis}, sorted={int(is_sorted)})"
        model = onnx_text(node, outputs="y i v c", x=f"{dtype}[{text}]")
        with pteron.load(emit_bytes(export(model)), threads=1) as program:
            for count in (9, 4, 1):
                part = x.take(range(count), axis)
                got = program.run({"x": part})
                for name, want in zip("yivc", wanted(part, axis, is_sorted), strict=True):
                    np.testing.assert_array_equal(got[name], want, f"{name} of {count}")


def test_long_slices_are_refused() -> None:
    with pytest.raises(
        LoweringError, match="slices of 65 elements; expected a number from 1 to 64"
    ):
        lower(onnx_text("y = Unique(x, axis=0)", x="f32[n, 65]"))
    with pytest.raises(LoweringError, match="slices of m elements"):
        lower(onnx_text("y = Unique(x, axis=0)", x="f32[n, m]"))

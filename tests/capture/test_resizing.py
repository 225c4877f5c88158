"""PyTorch's interpolation: what it computes is what the exported program computes, also where scales are no whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make dev-torch")

from pteron.export.export import export  # noqa: E402
from pteron.export.options import Options  # noqa: E402
from pteron.export.program.interpret import run  # noqa: E402
from pteron.schema.errors import ModelError  # noqa: E402

X = {
    1: torch.linspace(-2, 3, 14).reshape(1, 2, 7).sin() * 3,
    2: (torch.arange(70.0).reshape(1, 2, 5, 7) * 1.7).sin(),
    3: (torch.arange(120.0).reshape(1, 2, 3, 4, 5) * 1.7).sin(),
}
CASES = [
    (1, {"mode": "nearest", "scale_factor": 0.6}),
    (1, {"mode": "linear", "scale_factor": 0.6, "align_corners": True}),
    (2, {"mode": "nearest", "scale_factor": 0.6}),
    (2, {"mode": "nearest-exact", "scale_factor": 1.7}),
    (2, {"mode": "bilinear", "scale_factor": 1.7, "align_corners": True}),
    (2, {"mode": "bilinear", "scale_factor": 0.6, "align_corners": True}),
    (2, {"mode": "bilinear", "scale_factor": 1.7}),
    (2, {"mode": "bicubic", "scale_factor": [2.0, 0.7], "align_corners": True}),
    (2, {"mode": "bicubic", "size": [9, 4], "align_corners": True}),
    (2, {"mode": "bilinear", "scale_factor": 1.7, "antialias": True}),
    (2, {"mode": "bilinear", "scale_factor": 0.6, "antialias": True}),
    (2, {"mode": "bicubic", "scale_factor": 0.6, "antialias": True}),
    (2, {"mode": "bicubic", "size": [3, 9], "antialias": True}),
    (3, {"mode": "trilinear", "scale_factor": 1.7, "align_corners": True}),
]


class Interpolate(torch.nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self, how: dict[str, Any]) -> None:
        super().__init__()
        self.how = how

    def forward(self, x: Any) -> Any:
        return torch.nn.functional.interpolate(x, **self.how)


@pytest.mark.parametrize(("axes", "how"), CASES, ids=[str(how) for _, how in CASES])
def test_interpolation_is_pytorchs(axes: int, how: dict[str, Any]) -> None:
    x, module = X[axes], Interpolate(how)
    want = module(x).numpy()
    (got,) = run(export(module.eval(), Options(args=(x,))), {"x": x.numpy()}).values()
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=1e-5)


def test_what_onnx_cannot_say_is_refused() -> None:
    how = {"mode": "bilinear", "scale_factor": 1.7, "antialias": True, "align_corners": True}
    with pytest.raises(ModelError, match="align_corners"):
        export(Interpolate(how).eval(), Options(args=(X[2],)))

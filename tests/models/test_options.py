"""Options of resizing, pools and padding in PyTorch: many sets in one module, exported, run, compared with eager."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
nn, F = torch.nn, torch.nn.functional

Call = tuple[Callable[..., Any], dict[str, Any]]
SHAPES = {1: (1, 2, 11), 2: (1, 2, 7, 10), 3: (1, 2, 5, 6, 5)}
MODES = {1: ("linear",),
         2: ("nearest", "nearest-exact", "bilinear", "bicubic", "area"),
         3: ("nearest", "nearest-exact", "trilinear", "area")}  # fmt: skip


class Each(nn.Module):
    """Every call on the same input; a call's results one after the other."""

    def __init__(self, calls: list[Call]) -> None:
        super().__init__()
        self.calls = calls

    def forward(self, x: Any) -> Any:
        results = [function(x, **how) for function, how in self.calls]
        return [y if isinstance(y, tuple) else (y,) for y in results]


def agree(folder: Path, calls: list[Call], *shape: int) -> None:
    x = torch.randn(*shape, generator=torch.Generator().manual_seed(5))
    module = Each(calls)
    pteron.export_model(module, folder / "m.pte", args=(x,), check=False)
    got = list(pteron.load(folder / "m.pte", threads=1)(x))
    for (function, how), wanted in zip(calls, module(x), strict=True):
        for want in wanted:
            said = f"{function.__name__} {how}"
            result = got.pop(0)
            assert result.shape == want.shape, said
            np.testing.assert_allclose(result, want.numpy(), rtol=1e-4, atol=1e-5, err_msg=said)
    assert not got


def sets(**choices: Any) -> Iterator[dict[str, Any]]:
    """Every combination; None leaves an option out."""
    for chosen in itertools.product(*choices.values()):
        yield {k: v for k, v in zip(choices, chosen, strict=True) if v is not None}


def resizes(axes: int) -> Iterator[Call]:
    lengths: list[dict[str, Any]] = [{"scale_factor": s} for s in (0.6, 1.7)]
    lengths += [{"scale_factor": s, "recompute_scale_factor": True} for s in (1.7,)]
    lengths += [{"size": s} for s in ([1] * axes, [5, 12, 6][:axes])]
    for mode, length in itertools.product(MODES[axes], lengths):
        if "linear" not in mode and mode != "bicubic":
            yield F.interpolate, {"mode": mode, **length}
            continue
        for align in (False, True):
            yield F.interpolate, {"mode": mode, "align_corners": align, **length}
        if axes == 2:
            yield F.interpolate, {"mode": mode, "antialias": True, **length}


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_interpolate(tmp_path: Path, axes: int) -> None:
    agree(tmp_path, list(resizes(axes)), *SHAPES[axes])


def filtered(x: Any, size: Any, scales: Any) -> Any:
    return torch.ops.aten._upsample_bilinear2d_aa(x, size, False, *scales)


def test_scales_beside_other_sizes(tmp_path: Path) -> None:
    scales = (0.8, 0.6)  # of 5 x 6: 4 x 3
    fitting = [(filtered, {"size": size, "scales": scales}) for size in ([4, 3], [3, 3], [4, 2])]
    agree(tmp_path, fitting, 1, 2, 5, 6)
    with pytest.raises(pteron.ModelError, match="no more elements than the scales say"):
        agree(tmp_path, [(filtered, {"size": [4, 4], "scales": scales})], 1, 2, 5, 6)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_pools(tmp_path: Path, axes: int) -> None:
    most = getattr(F, f"max_pool{axes}d")
    mean = getattr(F, f"avg_pool{axes}d")
    windows = {"kernel_size": (3,), "stride": (2,), "padding": (0, 1), "ceil_mode": (False, True)}
    calls: list[Call] = [(most, how) for how in sets(**windows, dilation=(1, 2))]
    calls += [
        (most, {"kernel_size": 2, "ceil_mode": c, "return_indices": True}) for c in (False, True)
    ]
    divisors = (None, 5) if axes > 1 else (None,)
    more = {"count_include_pad": (False, True), "divisor_override": divisors}
    calls += [(mean, how) for how in sets(**windows, **more)]
    adaptive = getattr(F, f"adaptive_avg_pool{axes}d")
    calls += [(adaptive, {"output_size": n}) for n in (1, 3, 4)]
    agree(tmp_path, calls, *SHAPES[axes])


def padded(x: Any, axes: int, **how: Any) -> Any:
    """Of the last axes: other modes than a constant take two more in front."""
    return F.pad(x[(0,) * (3 - axes)], **how)


def test_padding(tmp_path: Path) -> None:
    amounts = ([1, 2], [-2, -1], [1, 2, -1, 1], [1, 1, 2, 0, -1, 2])
    calls: list[Call] = []
    for pad in amounts:
        told = {"axes": len(pad) // 2, "pad": pad}
        calls += [(padded, {**told, "value": value}) for value in (2.5,)]
        calls += [(padded, {**told, "mode": m}) for m in ("reflect", "replicate", "circular")]
    agree(tmp_path, calls, 2, 3, 5, 6, 4)

"""Truth values and integers where ONNX's operators take floats, places and counts, values without elements; compared with eager."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models.test_operators import agree, randn

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
A = torch.ops.aten


def whole(*shape: int) -> Any:
    return torch.randint(-9, 9, shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_truth_values_are_0_and_1(tmp_path: Path) -> None:
    x, y = whole(3, 4) > 0, whole(4) > 2
    functions = [
        lambda x, y: x + y, lambda x, y: torch.addr(x, x[:, 0], y),
        lambda x, y: x.clamp_max(-3), lambda x, y: x.max(1).values, lambda x, y: x.square(), lambda x, y: torch.sgn(x),
        lambda x, y: x.prod(1), lambda x, y: torch.isclose(x, y),
    ]  # fmt: skip
    agree(tmp_path, functions, (x, y), (~x, ~y))


def test_windows_of_integers_are_as_pytorch_has_them() -> None:
    from pteron.export.capture.windows import table

    known, x = table(torch), whole(2, 4, 9, 8)
    calls = [
        (A.conv2d.default, x, whole(6, 2, 3, 2), whole(6), [2, 1], [1], [2], 2), (A.conv1d.padding, x[0], whole(6, 9, 2), None, [1], "same"),
        (A.conv_transpose2d.input, x, whole(4, 3, 3, 2), whole(6), [2, 1], [1, 0], [1, 0], 2, [2]),
        (A.max_pool2d_with_indices.default, x, [3, 2], [2], [1], [1], True),
        *((A.avg_pool2d.default, x, [3], [2], [1], True, has_pads, by) for has_pads in (True, False) for by in (None, 5)),
    ]  # fmt: skip
    for op, *args in calls:
        both = [y if isinstance(y, tuple) else (y,) for y in (known[op](*args), op(*args))]
        assert all(torch.equal(got, want) for got, want in zip(*both, strict=True)), op
    assert known[A.conv2d.default](randn(1, 1, 2, 2), randn(1, 1, 1, 1)) is NotImplemented


def test_counts_and_places(tmp_path: Path) -> None:
    x, w = whole(5, 3).abs() // 4, randn(15)
    functions = [
        lambda x, w: torch.bincount(x.flatten(), w, 4), lambda x, w: torch.nonzero_static(x, size=9, fill_value=-2),
        lambda x, w: x.scatter(0, x % 3, x + 1, reduce="multiply"), lambda x, w: w.scatter(0, x[0], 2.0, reduce="add"),
        *(lambda x, w, k=k: torch.unique_consecutive(x[[0, 0, 1, 2, 2]], True, True, 0)[k] for k in range(3)),
        lambda x, w: x.trunc(), lambda x, w: torch.roll(x[:0], 1), lambda x, w: torch.nn.functional.conv1d(x.T, x[:2, :, None]),
        lambda x, w: torch.cat([x[:0, 0], x[:0, 1]]).sum(),
    ]  # fmt: skip
    agree(tmp_path, functions, (x, w))

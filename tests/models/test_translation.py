"""Operators of torch.library by translations that are registered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron
from pteron.export.capture.registered import KNOWN
from pteron.schema.errors import ArgumentError, ModelError

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")


@torch.library.custom_op("pterontest::parts", mutates_args=())  # type: ignore[untyped-decorator]
def parts(x: torch.Tensor, factor: float, low: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
    return x * factor, x[:low].clone()


@parts.register_fake  # type: ignore[untyped-decorator]
def _(x: Any, factor: float, low: int = 2) -> Any:
    return torch.empty_like(x), x.new_empty(low, *x.shape[1:])


class Uses(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return parts(x, 2.5, low=3)


@pytest.fixture
def known() -> Iterator[None]:
    before = dict(KNOWN)
    yield
    KNOWN.clear()
    KNOWN.update(before)


@pytest.mark.parametrize("how", ["name", "packet", "definition"])
def test_names(known: None, how: str) -> None:
    names = {"name": "pterontest::parts", "packet": torch.ops.pterontest.parts, "definition": parts}
    pteron.export.translation(names[how])(len)
    assert KNOWN["pterontest.parts.default"] is len


def test_a_translation_that_is_right_is_used_and_one_that_is_wrong_found(
    known: None, tmp_path: Path
) -> None:
    x = torch.arange(12.0).reshape(4, 3)
    with pytest.raises(ModelError, match=r"pterontest.*register one: pteron\.export\.translation"):
        pteron.export_model(Uses(), args=(x,))

    @pteron.export.translation("pterontest::parts")
    def translated(op: Any, x: Any, factor: float, low: int = 2) -> Any:
        first = (op.Constant(value_ints=[n]) for n in (0, low, 0))
        return op.Mul(x, op.CastLike(op.Constant(value_float=factor), x)), op.Slice(x, *first)

    pteron.export_model(Uses(), tmp_path / "m.pte", args=(x,))
    got = pteron.load(tmp_path / "m.pte", threads=1)(x.numpy())
    for a, b in zip(got, Uses()(x), strict=True):
        np.testing.assert_array_equal(a, b.numpy())

    @pteron.export.translation("pterontest::parts")
    def clamped(op: Any, x: Any, factor: float, low: int = 2) -> Any:
        y, z = translated(op, x, factor, low)
        return op.Clip(y, None, op.CastLike(op.Constant(value_float=50.0), x)), z

    with pytest.raises(
        ModelError, match=r"beside the example's .* is 'parts/.*pterontest\.parts|getitem"
    ):
        pteron.export_model(Uses(), args=(x,))


def test_what_is_no_operator_is_refused() -> None:
    for bad in ("scale", 3, "a b::c d", None):
        with pytest.raises(ArgumentError, match=r"expected an operator of torch\.library"):
            pteron.export.translation(bad)

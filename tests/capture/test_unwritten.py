"""Writes of a value that has one name need no second trace; those that somebody else sees keep what PyTorch makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron
from pteron.export.capture import state_pairs
from pteron.pipeline import export_model
from pteron.schema.errors import ModelError

torch: Any = pytest.importorskip("torch")
F = torch.nn.functional


class Plain(torch.nn.Module):
    """What vision networks write: activations, sums, dropout of no training."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4)

    def forward(self, x: Any) -> Any:
        a = F.relu(self.norm(self.conv(x)), inplace=True)
        b = F.hardswish(self.conv(x), inplace=True)
        b += a
        c = F.silu(b * 2, inplace=True)
        d = c.add_(c.sigmoid(), alpha=0.5)
        return F.dropout(c * d, 0.3, self.training, inplace=True), F.relu6(a + d, inplace=True)


def view_before(x: Any) -> Any:
    a = x + 1
    b = a.flatten()
    a.relu_()
    return b, a


def of_a_view(x: Any) -> Any:
    a = x + 1
    a[:, 1:].mul_(3)
    return a


def twice_named(x: Any) -> Any:
    a = x * 2
    b = torch.atleast_1d(a)
    c = F.dropout(a, 0.5, False)
    a.neg_()
    return a, b, c


def read_before_and_after(x: Any) -> Any:
    a = x * 2
    b = a.exp()
    a.sigmoid_()
    return a + b, a


def halves(x: Any) -> Any:
    a = x * 2
    b, c = torch.unsafe_chunk(a, 2, 1)
    return b.clone(), a.tanh_(), c


def returned(x: Any) -> Any:
    a = x * 2
    a.add_(1)
    b = F.dropout(a, 0.5, False, inplace=True)
    return b, a


def of_two_types(x: Any) -> Any:
    a = (x * 9).to(torch.float16)
    a.add_(x)
    return a.float()


def by_a_body(x: Any) -> Any:
    a = x * 2
    a.relu_()
    return torch.cond(a.sum() > 0, lambda v: v + 1, lambda v: v - 1, (a,))


def of_the_input(x: Any) -> Any:
    x.mul_(2)
    return x + 1


class Module(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


def runs(module: Any, x: Any, tmp_path: Path) -> None:
    out = tmp_path / "m.pte"
    export_model(module.eval(), out, args=(x,))
    with torch.no_grad():
        want = module(x.clone())
    got = pteron.load(out)(x.numpy())
    want, got = (v if isinstance(v, tuple) else (v,) for v in (want, got))
    for a, b in zip(want, got, strict=False):  # an input that is written is an output, too
        np.testing.assert_allclose(b, a.numpy(), rtol=1e-5, atol=1e-6)


def test_what_networks_write_is_traced_once(tmp_path: Path, monkeypatch: Any) -> None:
    torch.manual_seed(0)

    def again(*args: Any) -> None:
        raise AssertionError("traced again")

    monkeypatch.setattr(state_pairs, "decomposed", again)
    runs(Plain(), torch.randn(2, 3, 6, 6), tmp_path)


@pytest.mark.parametrize(
    "function",
    [
        view_before,
        of_a_view,
        read_before_and_after,
        of_two_types,
        by_a_body,
        of_the_input,
        returned,
    ],
)
def test_writes_that_others_see(function: Any, tmp_path: Path) -> None:
    torch.manual_seed(0)
    runs(Module(function), torch.randn(2, 4), tmp_path)


@pytest.mark.parametrize("function", [twice_named, halves])
def test_names_that_torch_export_takes_for_values(function: Any, tmp_path: Path) -> None:
    """Its program differs from the module, and the check says so."""
    with pytest.raises(ModelError, match="that is where the module differs"):
        runs(Module(function), torch.randn(2, 4), tmp_path)

"""nn.LSTM, nn.GRU and nn.RNN over a number of steps that is not known, beside PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")


class Layer(torch.nn.Module):
    def __init__(self, kind: str, **options: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = getattr(torch.nn, kind)(4, 5, **options)

    def forward(self, x: Any, *states: Any) -> Any:
        return self.layer(x, states) if states else self.layer(x)


def normal(*shape: int) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


LAYERS = [
    ("LSTM", {"num_layers": 2, "bidirectional": True, "batch_first": True}),
    ("GRU", {"bidirectional": True, "bias": False}),
    ("RNN", {"nonlinearity": "relu"}),
]


@pytest.mark.parametrize("kind, options", LAYERS, ids=[kind for kind, _ in LAYERS])
def test_the_number_of_steps_is_dynamic(kind: str, options: Any, tmp_path: Path) -> None:
    module = Layer(kind, **options).eval()
    dims = {"x": {0: "a", 1: "b"}}
    pteron.export_model(module, tmp_path / "m.pte", args=(normal(3, 5, 4),), dynamic_shapes=dims)
    same(module, tmp_path, normal(3, 5, 4))
    same(module, tmp_path, normal(7, 2, 4))
    same(module, tmp_path, normal(1, 9, 4))


@pytest.mark.parametrize("steps", [None, {0: "t"}], ids=["fixed", "dynamic"])
def test_projections_begin_with_a_state(steps: Any, tmp_path: Path) -> None:
    module = Layer("LSTM", proj_size=3, bidirectional=True).eval()
    args = (normal(5, 2, 4), normal(2, 2, 3), normal(2, 2, 5))
    dims = None if steps is None else {"x": steps, "states": (None, None)}
    pteron.export_model(module, tmp_path / "m.pte", args=args, dynamic_shapes=dims)
    same(module, tmp_path, *args)
    if steps:
        same(module, tmp_path, normal(8, 2, 4), *args[1:])


def same(module: Any, folder: Path, *inputs: Any) -> None:
    with torch.no_grad():
        want = torch.utils._pytree.tree_leaves(module(*inputs))
    got = pteron.load(folder / "m.pte", threads=1)(*(x.numpy() for x in inputs))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b.numpy(), atol=1e-6)

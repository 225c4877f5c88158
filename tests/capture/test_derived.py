"""Sizes of torch.export that are arithmetic on a Dim: the Dim is a dimension of the program, which the runtime finds of an axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")
Dim = torch.export.Dim


class Apply(torch.nn.Module):
    """A function as a module."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *xs: Any) -> Any:
        return self.function(*xs)


def exported(tmp_path: Path, module: Any, args: Any, dynamic_shapes: Any) -> pteron.Model:
    pteron.export_model(module, tmp_path / "m.pte", args=args, dynamic_shapes=dynamic_shapes)
    return pteron.load(tmp_path / "m.pte", threads=1)


FORMULAS = {
    "twice": lambda x: x * 2,
    "chunk": lambda x: x.chunk(2, 0)[0],
    "half": lambda x: x[: x.shape[0] // 2] * 2,
    "both": lambda x: torch.cat([x[x.shape[0] // 2 :], x[: x.shape[0] // 2]]),
    "sum": lambda x: x.sum(0) / x.shape[0],
}


@pytest.mark.parametrize(
    "formula, factor, offset",
    [("twice", 4, 0), ("chunk", 2, 1), ("half", 2, 0), ("both", 3, -1), ("sum", 2, 1)],
)
def test_an_axis_may_be_arithmetic_on_a_dim(
    tmp_path: Path, formula: str, factor: int, offset: int
) -> None:
    h = Dim("h", min=1, max=32)
    dim = factor * h + offset if offset else factor * h
    module = Apply(FORMULAS[formula])
    model = exported(tmp_path, module, (torch.randn(factor * 3 + offset, 2),), (({0: dim},),))
    for n in (1, 3, 5):
        x = torch.randn(factor * n + offset, 2)
        assert np.allclose(model(x.numpy()), module(x).numpy(), atol=1e-6)
    with pytest.raises(pteron.ArgumentError, match=rf"expected {factor} \* h \+ {offset}"):
        model(np.ones((factor * 3 + offset + 1, 2), np.float32))
    with pytest.raises(pteron.ArgumentError, match="expected 1 to 32, got 33"):
        model(np.ones((factor * 33 + offset, 2), np.float32))


def test_a_dim_without_bounds_is_found_of_its_multiple(tmp_path: Path) -> None:
    model = exported(tmp_path, Apply(lambda x: x + 1), (torch.ones(8, 2),), (({0: 2 * Dim("k")},),))
    assert model.inputs[0].shape == ("2*k", 2)
    assert model.inputs[0].at({"k": 5}) == (10, 2)
    assert model(np.ones((12, 2), np.float32)).shape == (12, 2)


def test_a_dim_and_its_multiple_are_one_size(tmp_path: Path) -> None:
    k = Dim("k", max=64)
    module = Apply(lambda x, y: x[::2] + y)
    model = exported(
        tmp_path, module, (torch.randn(8, 2), torch.randn(4, 2)), (({0: 2 * k}, {0: k}),)
    )
    x, y = torch.randn(10, 2), torch.randn(5, 2)
    assert np.allclose(model(x.numpy(), y.numpy()), module(x, y).numpy())
    with pytest.raises(pteron.ArgumentError, match="axis 0"):
        model(x.numpy(), np.ones((4, 2), np.float32))


def test_a_name_of_the_users_may_stand_for_a_multiple(tmp_path: Path) -> None:
    program = torch.export.export(
        Apply(lambda x: x[: x.shape[0] // 2]),
        (torch.ones(8, 2),),
        dynamic_shapes=(({0: 2 * Dim("h", max=50)},),),
    )
    pteron.export_model(program, tmp_path / "m.pte", dynamic_shapes=({0: "rows"},))
    model = pteron.load(tmp_path / "m.pte")
    assert model(np.ones((12, 2), np.float32)).shape == (6, 2)
    with pytest.raises(pteron.ArgumentError):
        model(np.ones((13, 2), np.float32))


def test_dims_that_torch_names(tmp_path: Path) -> None:
    module = Apply(lambda x: torch.relu(x) @ x.mT)
    dims = ({0: Dim.AUTO, 1: Dim.DYNAMIC},)
    model = exported(tmp_path, module, (torch.randn(2, 3, 4),), (dims,))
    x = torch.randn(5, 7, 4)
    assert np.allclose(model(x.numpy()), module(x).numpy(), atol=1e-5)


def test_fix_makes_the_multiple_a_number(tmp_path: Path) -> None:
    pteron.export_model(
        Apply(lambda x: x.reshape(2, -1)),
        tmp_path / "m.pte",
        args=(torch.ones(8, 2),),
        dynamic_shapes=(({0: 2 * Dim("h", max=50)},),),
        fix={"h": 3},
    )
    assert pteron.load(tmp_path / "m.pte").inputs[0].shape == (6, 2)


class Permuted(torch.nn.Module):
    """As ConvNeXt's blocks: how a convolution's strides are chosen assumes a batch of more than one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm = torch.nn.Conv2d(3, 8, 4, 4), torch.nn.LayerNorm(8)
        self.deep = torch.nn.Conv2d(8, 8, 7, padding=3, groups=8)

    def forward(self, x: Any) -> Any:
        x = self.norm(self.first(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return (x + self.deep(x)).mean((2, 3))


class Masked(torch.nn.Module):
    """As masks of transformers: rows of the second input by the first one's batch, which torch takes for two sizes."""

    def forward(self, x: Any, mask: Any) -> Any:
        rows, columns = torch.arange(x.shape[0])[:, None], torch.arange(x.shape[1])[None]
        return x * mask[rows, columns]


AUTO = torch.export.Dim.AUTO


def test_a_batch_of_one_runs_where_only_strides_need_more(tmp_path: Path) -> None:
    module, path = Permuted().eval(), tmp_path / "m.pte"
    make = lambda b, h, w: torch.randn(b, 3, h, w)  # noqa: E731
    shapes = ({0: Dim("b"), 2: 32 * Dim("h"), 3: 32 * Dim("w")},)
    pteron.export_model(module, path, args=(make(2, 64, 64),), dynamic_shapes=shapes)
    model = pteron.load(path, threads=1)
    for x in (make(1, 64, 96), make(3, 32, 64)):
        np.testing.assert_allclose(model(x), module(x).detach(), rtol=1e-4, atol=1e-5)


def test_inputs_of_one_batch_shrink_together(tmp_path: Path) -> None:
    module, path = Masked(), tmp_path / "m.pte"
    make = lambda *shape: (torch.randn(shape), torch.randn(shape))  # noqa: E731
    shapes = ({0: AUTO, 1: AUTO}, {0: AUTO, 1: AUTO})
    pteron.export_model(module, path, args=make(2, 8), dynamic_shapes=shapes)
    model = pteron.load(path, threads=1)
    for case in (make(3, 9), make(1, 5)):
        np.testing.assert_allclose(model(*case), module(*case), rtol=1e-6)
    with pytest.raises(pteron.PteronError, match="out of range"):
        model(make(2, 8)[0], make(1, 8)[1])

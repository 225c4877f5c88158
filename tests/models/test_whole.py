"""Quotients, remainders and truth values that torch.onnx has wrong: exported, run, compared with eager PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models.test_operators import Each, agree, randn

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
INF, NAN = float("inf"), float("nan")
WIDE = {
    "int64": [2**40 + 1, -(2**40) - 3, 2**24 + 1, 7, -5, 2**53 + 1, -(2**63), 3],
    "int32": [2**24 + 1, -(2**24) - 3, 2**30 + 1, 7, -5, 2**31 - 1, -(2**31), 3],
    "int8": [127, -128, 12, 7, -5, 100, -100, 3],
    "uint8": [255, 0, 12, 7, 200, 100, 128, 3],
}


def modes() -> list[Any]:
    return [lambda x, y, m=m: torch.div(x, y, rounding_mode=m) for m in ("floor", "trunc")] + [
        lambda x, y: x // y,
        lambda x, y: x % y,
    ]


@pytest.mark.parametrize("dtype", WIDE)
def test_quotients_of_integers_are_exact(dtype: str, tmp_path: Path) -> None:
    kind = getattr(torch, dtype)
    x, y = torch.tensor(WIDE[dtype], dtype=kind), torch.tensor([3, 2, 5, 1, 7, 6, 4, 9], dtype=kind)
    functions = [*modes(), *(lambda x, y, f=f: f(x, 3) for f in modes()), lambda x, y: -x]
    exact(tmp_path, functions, (x, y), (x.flip(0), y), (x.roll(3), y if dtype == "uint8" else -y))


@pytest.mark.parametrize("dtype", WIDE)
def test_shifts_of_every_width(dtype: str, tmp_path: Path) -> None:
    kind = getattr(torch, dtype)
    x, by = (
        torch.tensor(WIDE[dtype], dtype=kind),
        torch.tensor([3, 2, 5, 1, 7, 6, 0, 4], dtype=kind),
    )
    functions = [lambda x, y: x >> y, lambda x, y: x << y, lambda x, y: x >> 2, lambda x, y: x << 1]
    functions += [torch.bitwise_right_shift, torch.bitwise_left_shift]
    exact(tmp_path, functions, (x, by), (x.flip(0), by), (x, by * 0 + torch.iinfo(kind).bits))


def exact(folder: Path, functions: list[Any], *cases: tuple[Any, ...]) -> None:
    pteron.export_model(Each(functions), folder / "m.pte", args=cases[0])
    model = pteron.load(folder / "m.pte", threads=1)
    for inputs in cases:
        for i, (g, w) in enumerate(zip(model(*inputs), Each(functions)(*inputs), strict=True)):
            assert g.dtype == w.numpy().dtype and g.tolist() == w.tolist(), f"result {i}"


def test_quotients_of_floats_are_not_rounded_first(tmp_path: Path) -> None:
    x = torch.tensor([1.0, -1.0, 0.3, 7.5, -7.5, 0.0, 1e8, 5.0])
    y = torch.tensor([0.1, 0.1, -0.1, 2.5, 2.0, 3.0, 0.3, -2.0])
    whole = torch.tensor([7, -7, 3, 1, -1, 0, 2**20, 5])
    functions = [*modes(), lambda x, y: x // 0.1, lambda x, y: x % -0.1]
    agree(tmp_path, functions, (x, y), (x.flip(0), y))
    agree(tmp_path, [*modes(), lambda x, y: torch.div(x, 2.5, rounding_mode="trunc")], (whole, y))


@pytest.mark.parametrize("axes", [None, 0, 1, (0, 1)])
def test_any_and_all_of_nothing(axes: Any, tmp_path: Path) -> None:
    given = {} if axes is None else {"dim": axes}
    functions = [
        lambda x: torch.any(x, **given),
        lambda x: torch.all(x, **given),
        lambda x: torch.any(x > 0, **given, **({"keepdim": True} if given else {})),
        lambda x: torch.all((x * 2).to(torch.uint8), **given),
    ]
    x = torch.tensor([[0.0, 0.5, 3], [0, 0, NAN], [0, -0.0, 1], [0, 2, 0]])
    many = [(x[:n],) for n in (0, 1, 3)]
    agree(tmp_path, functions, (x,), *many, dynamic=({0: torch.export.Dim("n", min=0, max=9)},))


def test_signs_and_the_kth(tmp_path: Path) -> None:
    x = torch.tensor([1.0, NAN, INF, -INF, -0.0, -3.0])
    agree(tmp_path, [torch.sign, lambda x: torch.sign(x[:1].long())], (x,))
    functions = [
        lambda x: x.kthvalue(2, 1)[0],
        lambda x: x.kthvalue(3, 0, keepdim=True)[1],
        lambda x: x[0, 0].kthvalue(1)[0],
    ]
    agree(
        tmp_path,
        functions,
        (randn(4, 5),),
        (randn(7, 5),),
        dynamic=({0: torch.export.Dim("n", min=3)},),
    )


def test_a_size_that_the_traced_program_alone_fails_for_is_refused(tmp_path: Path) -> None:
    """ONNX has a least of no elements, PyTorch an error."""

    class Least(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.amin((0, 1)) if x.shape[0] else x.sum()

    n = torch.export.Dim("n", min=0, max=9)
    pteron.export_model(Least(), tmp_path / "m.pte", args=(randn(4, 3),), dynamic_shapes=({0: n},))
    model = pteron.load(tmp_path / "m.pte")
    assert model(randn(2, 3)).item() == randn(2, 3).min().item()
    with pytest.raises(pteron.ArgumentError, match="expected 1 to 9, got 0"):
        model(randn(0, 3))


def test_softmax_in_another_type_and_questions_to_integers(tmp_path: Path) -> None:
    half = torch.linspace(-3, 9, 24).reshape(4, 6).half()
    functions = [
        lambda x, n: x.softmax(1, dtype=torch.float32),
        lambda x, n: n.softmax(-1, dtype=torch.float32) + n[0, 0].log_softmax(0, torch.float32),
        lambda x, n: n.isnan() | n.isfinite(),
        lambda x, n: n.angle(),
    ]
    agree(tmp_path, functions, (half, (half * 10).long()))

"""Operators of PyTorch that torch.onnx has no translation for, or a wrong one: exported, run, compared with eager."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
nn, F = torch.nn, torch.nn.functional


class Each(nn.Module):
    """Every function on the same inputs: one export for many operators."""

    def __init__(self, functions: list[Callable[..., Any]]) -> None:
        super().__init__()
        self.functions = functions

    def forward(self, *x: Any) -> Any:
        return tuple(f(*x) for f in self.functions)


def agree(folder: Path, functions: list[Any], *cases: tuple[Any, ...], dynamic: Any = None) -> None:
    """The first case is the example; all run on the program and in eager."""
    module = Each(functions)
    pteron.export_model(
        module, folder / "m.pte", args=cases[0], dynamic_shapes=dynamic and (dynamic,)
    )
    model = pteron.load(folder / "m.pte", threads=1)
    for inputs in cases:
        got = model(*inputs)
        pairs = zip(got if isinstance(got, tuple) else (got,), module(*inputs), strict=True)
        for i, (g, w) in enumerate(pairs):
            want = w.detach().numpy() if isinstance(w, torch.Tensor) else np.asarray(w)
            assert g.shape == want.shape, f"result {i}"
            assert g.dtype == want.dtype or not isinstance(w, torch.Tensor), f"result {i}"
            np.testing.assert_allclose(g, want, rtol=1e-4, atol=1e-5, err_msg=f"result {i}")


def randn(*shape: int) -> Any:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(len(shape)))


def test_attention_of_every_rank(tmp_path: Path) -> None:
    q, k, m = randn(2, 4, 3, 8), randn(2, 1, 5, 8), randn(2, 1, 3, 5)
    attend = F.scaled_dot_product_attention
    functions = [
        lambda q, k, m: attend(q, k, k, enable_gqa=True),
        lambda q, k, m: attend(q, k.expand(2, 4, 5, 8), k.expand(2, 4, 5, 8), attn_mask=m),
        lambda q, k, m: attend(q[0], k.expand(2, 4, 5, 8)[0], k.expand(2, 4, 5, 8)[1]),
        lambda q, k, m: attend(q[0], q[1], q[1], is_causal=True, scale=0.3),
        lambda q, k, m: attend(q[0], q[1], q[1], attn_mask=m[0, :, :, :3] > 0),
        lambda q, k, m: attend(q[None], q[None], q[None], attn_mask=m[..., :1] > 0),
        lambda q, k, m: attend(q, q, q, attn_mask=m[..., :1] > 0),
        lambda q, k, m: attend(q[0, 0], q[0, 1], q[0, 2]),
    ]
    agree(tmp_path, functions, (q, k, m))


class Biased(nn.Module):
    """Attention with a learned bias of places, heads joined, as timm's BEiT has it."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(32, 96)
        self.bias = nn.Parameter(randn(7, 4))
        self.register_buffer("place", torch.arange(25).view(5, 5) % 7)

    def forward(self, x: Any) -> Any:
        qkv = self.qkv(x).reshape(x.shape[0], 5, 3, 4, 8).permute(2, 0, 3, 1, 4)
        bias = self.bias[self.place.view(-1)].view(5, 5, -1).permute(2, 0, 1)[None]
        y = F.scaled_dot_product_attention(*qkv.unbind(0), attn_mask=bias)
        return y.transpose(1, 2).reshape(x.shape[0], 5, 32)


def test_attention_with_a_learned_bias(tmp_path: Path) -> None:
    """What takes gradients is laid out otherwise: torch.onnx refused the view of it that torch.export had traced."""
    module, x = Biased().eval(), randn(2, 5, 32)
    pteron.export_model(module, tmp_path / "m.pte", args=(x,))
    (y,) = pteron.load(tmp_path / "m.pte", check=True).run({"x": x.numpy()}).values()
    np.testing.assert_allclose(y, module(x).detach().numpy(), atol=1e-5)


def test_convolutions_without_a_bias(tmp_path: Path) -> None:
    """torch.onnx writes one of two axes for three spatial ones."""
    x, w = randn(2, 4, 5, 6, 7), randn(6, 2, 3, 3, 3)
    functions = [
        lambda x, w: F.conv3d(x, w, groups=2, padding=(1, 0, 2), stride=(2, 1, 1)),
        lambda x, w: F.conv3d(x[0], w, w[:, 0, 0, 0, 0], groups=2, padding="same", dilation=2),
        lambda x, w: F.conv2d(x[:, :, 0], w[:, :, 0], groups=2),
        lambda x, w: F.conv1d(x[:, :, 0, 0], w[:, :, 0, 0], groups=2),
    ]
    agree(tmp_path, functions, (x, w))


def test_random_attention_is_refused() -> None:
    def forward(q: Any) -> Any:
        return F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)

    with pytest.raises(pteron.ModelError, match=r"dropout_p=0.5 gives random results"):
        pteron.export_model(Each([forward]), args=(randn(1, 2, 3, 4),))


def test_moving_by_what_data_decides(tmp_path: Path) -> None:
    x, mask = randn(4, 3), torch.tensor([True, False, True, False])
    n = torch.tensor([1, 0, 2, 3])
    functions = [
        lambda x, m, n: x.clone().index_put((m,), torch.ones(3)),
        lambda x, m, n: x.clone().index_put((m,), torch.tensor(2.0), accumulate=True),
        lambda x, m, n: x.clone().index_put((m,), x[:2] * 10),
        lambda x, m, n: x.clone().index_put((x > 0,), torch.tensor(-1.0)),
        lambda x, m, n: x.repeat_interleave(n, 0, output_size=6),
        lambda x, m, n: torch.zeros(4, 3).masked_scatter(m[:, None].expand(4, 3), x[:3]),
        lambda x, m, n: torch.zeros(4, 3).masked_scatter(m[:, None], x[1:3]),
        lambda x, m, n: x.topk(2)[0],
        lambda x, m, n: x[0, 0].topk(1)[0],
        lambda x, m, n: x.roll(1, 0) + x.roll((5, -1), (0, 1)) + x.roll(2),
        lambda x, m, n: torch.cat(x.split([1, 3])),
        lambda x, m, n: x[:, :0].flip(1),
    ]
    other = (randn(4, 3) * -2, ~mask, torch.tensor([2, 2, 1, 1]))
    agree(tmp_path, functions, (x, mask, n), other)


def test_places_of_two_integer_types(tmp_path: Path) -> None:
    """torchvision's roi_align indexes by int32 and int64."""
    x, i, j = randn(4, 5, 6), torch.tensor([0, -2, 1]), torch.tensor([[2], [0]])
    functions = [
        lambda x, i, j: x[i.int()],
        lambda x, i, j: x[:, i.int()] + x[:, i],
        lambda x, i, j: x[i.int(), :, j],
        lambda x, i, j: x[j.int(), i],
        lambda x, i, j: x[j.int(), i.int()],
        lambda x, i, j: torch.ops.aten._unsafe_index.Tensor(x, [None, i.int(), j]),
        lambda x, i, j: x.clone().index_put((i.int(), j), x[0, 0]),
        lambda x, i, j: x.clone().index_put((i.int(),), x[1], accumulate=True),
    ]
    agree(tmp_path, functions, (x, i, j), (x * 2, i + 1, -j))


def test_moving_over_a_dynamic_axis(tmp_path: Path) -> None:
    functions = [
        lambda x: x.roll(1, 0),
        lambda x: x.roll(-3, 0),
        lambda x: x.roll(2),
        lambda x: x.flip(0),
        lambda x: F.linear(x, torch.ones(2, 3)),
        lambda x: x.softmax(1),
        lambda x: (x.shape[0], x.shape[0] * 2 + 1)[1],
        lambda x: 2.5,
    ]
    agree(
        tmp_path,
        functions,
        (randn(4, 3),),
        (randn(7, 3),),
        (randn(1, 3),),
        (randn(0, 3),),
        dynamic=({0: "n"},),
    )


def test_parts_of_a_dynamic_tensor(tmp_path: Path) -> None:
    """torch.onnx writes a sequence, whose parts nobody counts."""
    functions = [
        lambda x: torch.cat(x.chunk(2, 1)[::-1], 1),
        lambda x: x.split(x.shape[1] // 2, dim=1)[1],
        lambda x: x.view(*x.shape[:2], 2, -1).permute(0, 2, 1, 3).chunk(3, dim=-1)[2],
        lambda x: x.chunk(5, 2)[2] + x.split(3, -1)[1],
    ]
    cases = [(randn(b, n, 12),) for b, n in ((2, 6), (1, 2), (3, 4))]
    agree(tmp_path, functions, *cases, dynamic=({0: "batch", 1: "seq"},))


def test_an_axis_of_no_or_one_element_broadcasts(tmp_path: Path) -> None:
    """Slices whose start is clipped by a size: 1 element where there is any, which torch.export says without a guard."""

    def biased(x: Any, k: Any) -> Any:
        bias, n = torch.arange(20.0).view(1, 20), x.shape[0]
        return x @ x.T + bias[max(0, 1 - n) :, max(0, 20 - n) :]

    functions = [
        biased,
        lambda x, k: x + x[:1],
        lambda x, k: x + k[:1],
        lambda x, k: x * k[:1].sum(1, keepdim=True),
        lambda x, k: torch.where(k[:1] > 0, x, x[:1]),
    ]
    cases = [(randn(n, 3), randn(k, 3)) for n, k in ((4, 5), (7, 1), (1, 2), (0, 0), (0, 3))]
    agree(tmp_path, functions, *cases, dynamic=({0: "n"}, {0: "k"}))
    model = pteron.load(tmp_path / "m.pte", threads=1)
    with pytest.raises(pteron.PteronError, match=r"broadcast"):
        model(randn(2, 3), randn(0, 3))


def test_results_whose_size_data_decides(tmp_path: Path) -> None:
    x, i = torch.tensor([1.0, 0.0, 2.0]), torch.tensor([1, 1, 3])
    functions = [lambda x, i: x.nonzero(), lambda x, i: torch.bincount(i, minlength=4)]
    agree(tmp_path, functions, (x, i), (torch.tensor([0.0, 0.0, 5.0]), torch.tensor([0, 2, 2])))


def test_places_in_a_number_have_no_axis(tmp_path: Path) -> None:
    functions = [lambda x: x.nonzero(), lambda x: x.nonzero(as_tuple=True)[0], torch.argwhere]
    agree(tmp_path, functions, (torch.tensor(2.0),), (torch.tensor(0.0),))


def test_checks_of_data_do_not_stand_in_the_way(tmp_path: Path) -> None:
    def forward(x: Any) -> Any:
        torch._check_tensor_all(x < 100)
        return x + 1

    agree(tmp_path, [forward, nn.RMSNorm(4, elementwise_affine=False)], (randn(3, 4),))


def test_pools_with_their_own_divisor(tmp_path: Path) -> None:
    functions = [
        lambda x: F.avg_pool2d(x, 2, divisor_override=3),
        lambda x: F.avg_pool2d(x, (3, 2), 2, (1, 0), divisor_override=5),
        lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, divisor_override=2),
        lambda x: F.avg_pool2d(
            x, 2, 2, ceil_mode=True, count_include_pad=False, divisor_override=1
        ),
        lambda x: F.avg_pool2d(x[0], 2, divisor_override=3),
        lambda x: F.avg_pool3d(x, 2, 2, ceil_mode=True, divisor_override=7),
        lambda x: F.avg_pool2d(x, 2),
    ]
    agree(tmp_path, functions, (randn(2, 3, 7, 6),))


def test_cross_entropy(tmp_path: Path) -> None:
    weight = torch.tensor([0.5, 1.0, 2.0, 0.25])
    ways = [
        {},
        {"weight": weight, "label_smoothing": 0.1},
        {"reduction": "sum", "label_smoothing": 0.2, "ignore_index": 2},
        {"reduction": "none", "weight": weight, "ignore_index": 1},
    ]
    functions = [
        lambda x, p, t, w=w, f=f: f(x, p, t, w)
        for w in ways
        for f in (
            lambda x, p, t, w: F.cross_entropy(x, t, **w),
            lambda x, p, t, w: F.cross_entropy(x[..., 0], t[:, 0], **w),
            lambda x, p, t, w: F.cross_entropy(
                x, p, **{k: v for k, v in w.items() if k[:2] != "ig"}
            ),
        )
    ]
    target = torch.tensor([[0, 2, 1], [3, 1, 2]])
    agree(tmp_path, functions, (randn(2, 4, 3), randn(2, 4, 3).softmax(1), target))


def test_inputs_that_require_grad_and_a_lone_tensor(tmp_path: Path) -> None:
    x = randn(2, 4).requires_grad_()
    agree(tmp_path, [nn.Linear(4, 3)], (x,))
    with pytest.raises(pteron.ModelError, match=r"args: expected a tuple of inputs, got Tensor"):
        pteron.export_model(nn.Linear(4, 3), args=x)


class Pooled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 4, 3), nn.AvgPool2d(2, divisor_override=3)

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x)).relu()


def test_what_a_translation_loses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from onnxscript.function_libs.torch_lib.ops.nn import aten_avg_pool2d

    from pteron.export.capture import translations

    monkeypatch.setitem(translations.ATEN, "avg_pool2d.default", aten_avg_pool2d)
    given = {"args": (randn(1, 3, 8, 8),)}
    with pytest.raises(
        pteron.ModelError,
        match=r"'second/AveragePool' of module 'second' \(AvgPool2d\), aten.avg_pool2d.default at .*test_operators.py",
    ):
        pteron.export_model(Pooled(), **given)
    pteron.export_model(Pooled(), **given, check=False)


def test_a_program_in_training_mode_is_refused() -> None:
    module = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5)).train()
    program = torch.export.export(module, (randn(3, 4),))
    with pytest.raises(pteron.ModelError, match=r"dropout of 0\.5 in training mode gives random"):
        pteron.export_model(program)


def test_states_are_compared_too() -> None:
    class Sum(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.full((4,), 2.0))

        def forward(self, x: Any) -> Any:
            self.total.add_(x.sum(0))
            return x * 2

    pteron.export_model(Sum(), args=(randn(3, 4),))


def test_a_number_in_front_of_integers(tmp_path: Path) -> None:
    n = torch.tensor([[3, -2, 7], [1, 5, -4]])
    functions = [
        lambda n: 1.0 - n,
        lambda n: 2 - n,
        lambda n: torch.rsub(n, 0.5, alpha=2),
        lambda n: torch.rsub(n, n + 1, alpha=3),
        lambda n: 1.0 - n.float(),
        lambda n: 2.5**n,
        lambda n: 2 ** n.abs(),
        lambda n: 1.0 / n,
        lambda n: 7.5 // n,
        lambda n: 7 % n,
        lambda n: torch.remainder(7.5, n),
        lambda n: torch.where(n > 0, 1.0, n),
        lambda n: torch.maximum(n, torch.tensor(0.5)),
    ]
    agree(tmp_path, functions, (n,), (n[:1],), dynamic=({0: "b"},))


def test_sizes_below_zero_divide_as_pytorch_says(tmp_path: Path) -> None:
    """The remainder has the divisor's sign, which models use to round a size up."""
    functions = [
        lambda x: F.pad(x, (0, (8 - x.shape[1] % 8) % 8)),
        lambda x: F.pad(x, (0, -x.shape[1] % 5), value=2.0),
        lambda x: x.new_ones(-(-x.shape[1] // 3)) + (2 - x.shape[1]) // 4,
    ]
    cases = [(randn(2, n),) for n in (5, 1, 8, 11)]
    agree(tmp_path, functions, *cases, dynamic=({0: "b", 1: "n"},))


def test_sorting(tmp_path: Path) -> None:
    x = torch.tensor([[3, 1, 3, 0, 1], [2, 2, 2, 2, 2]])
    functions = [
        lambda x: x.argsort(stable=True),
        lambda x: torch.sort(x, dim=0, descending=True, stable=True)[1],
        lambda x: torch.sort(x.float(), stable=True)[0],
        lambda x: torch.sort(x[0, 0], stable=True)[0],
        lambda x: torch.sort(x > 1)[0],
        lambda x: torch.argsort(x > 1, stable=True, descending=True),
    ]
    agree(tmp_path, functions, (x,), (x[:, :3].flip(0),), dynamic=({1: "n"},))


def test_running_extremes(tmp_path: Path) -> None:
    x = randn(2, 5, 3)
    functions = [
        lambda x: x.cummax(1)[0],
        lambda x: (x * 2).round().cummin(-1)[1],
        lambda x: (x * 2).long().cummax(0)[1],
        lambda x: x[0, 0, 0].cummax(0)[0],
    ]
    agree(tmp_path, functions, (x,), (x[:, :1],), (x[:1],), dynamic=({0: "b", 1: "n"},))


def test_places_in_sorted_rows(tmp_path: Path) -> None:
    row, x = torch.tensor([-1.0, 0.0, 0.0, 0.5, 2.0]), (randn(2, 3) * 2).round()
    rows = torch.stack([row, row * 2])
    functions = [
        lambda r, rs, x: torch.searchsorted(r, x),
        lambda r, rs, x: torch.searchsorted(rs, x, right=True),
        lambda r, rs, x: torch.searchsorted(rs, x, side="right", out_int32=True),
        lambda r, rs, x: torch.searchsorted(r, 0.0),
        lambda r, rs, x: torch.bucketize(x, r, right=True),
        lambda r, rs, x: torch.bucketize(x.long(), r.long()),
        lambda r, rs, x: torch.bucketize(x[0, 0], r),
    ]
    shapes = ({}, {}, {1: "n"})
    agree(tmp_path, functions, (row, rows, x), (row, rows, x[:, :1]), dynamic=shapes)


def test_the_largest_of_adapting_windows(tmp_path: Path) -> None:
    x = randn(2, 3, 7, 5, 6)
    functions = [
        lambda x: F.adaptive_max_pool3d(x, (3, 2, 6)),
        lambda x: F.adaptive_max_pool2d(x[:, :, 0], (3, 4)),
        lambda x: F.adaptive_max_pool2d(x[:, :, 0], (2, 9), return_indices=True)[1],
        lambda x: F.adaptive_max_pool2d((x[:, :, 0] * 2).round(), 3, return_indices=True)[1],
        lambda x: F.adaptive_max_pool1d(x[:, :, 0, 0], 4),
        lambda x: F.adaptive_max_pool1d(x[0, :, 0, 0], 1),
        lambda x: F.adaptive_max_pool2d(x[:, :, 0], 1),
    ]
    agree(tmp_path, functions, (x,), (x[:1],), dynamic=({0: "b"},))


class Experts(nn.Module):
    """A product each for the rows that go to it; how many these are, the data decide."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(randn(3, 4, 5))

    def forward(self, x: Any, to: Any) -> Any:
        order = to.argsort(stable=True)
        counts = (to[:, None] == torch.arange(3)).sum(0).tolist()
        for n in counts:
            torch._check(n >= 0)
            torch._check(n <= x.shape[0])
        parts = x[order].split(counts)
        y = torch.cat([F.linear(p, w) for p, w in zip(parts, self.weight)])
        return torch.zeros(x.shape[0], 4).index_add(0, order, y)


def test_rows_are_split_as_the_data_say(tmp_path: Path) -> None:
    x = randn(6, 5)
    module, path = Experts(), tmp_path / "m.pte"
    pteron.export_model(module, path, args=(x, torch.tensor([0, 2, 1, 2, 0, 2])))
    model = pteron.load(path, threads=1)
    for to in ([0, 2, 1, 2, 0, 2], [1] * 6, [2, 2, 2, 0, 0, 0], [0, 1, 2, 2, 1, 0]):
        want = module(x, torch.tensor(to)).detach()
        np.testing.assert_allclose(model(x, torch.tensor(to)), want, rtol=1e-4, atol=1e-5)


class Branching(nn.Module):
    """Takes another way for one size, which torch.export decides without a guard."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: Any, y: Any) -> Any:
        return x.sum(0) + (2 if x.shape[0] == self.size else 1), y.sum(0)


@pytest.mark.parametrize("size", [0, 1])
def test_a_branch_for_the_smallest_sizes_is_out_of_bounds(tmp_path: Path, size: int) -> None:
    x, y, path = randn(3, 2), randn(4, 2), tmp_path / "m.pte"
    shapes = ({0: "n"}, {0: "m"})
    module = Branching(size)
    pteron.export_model(module, path, args=(x, y), dynamic_shapes=shapes)
    model = pteron.load(path, threads=1)
    for n in (size + 1, 5):
        got, total = model(randn(n, 2), y[:0])
        np.testing.assert_allclose(got, module(randn(n, 2), y[:0])[0], rtol=1e-5, atol=1e-6)
        assert not np.any(total)
    with pytest.raises(pteron.ArgumentError, match="n"):
        model(randn(size, 2), y)


class Aliasing(nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x.view(-1), lambda x: (x + 1).view(-1), (x,))


def test_a_branch_may_give_a_view_of_its_input(tmp_path: Path) -> None:
    x, path = torch.ones(2, 3), tmp_path / "m.pte"
    pteron.export_model(Aliasing(), path, args=(x,))
    model = pteron.load(path, threads=1)
    assert model(x).tolist() == [1.0] * 6
    assert model(-3 * x).tolist() == [-2.0] * 6


def test_slices_that_count_a_size_from_the_end(tmp_path: Path) -> None:
    """Of a size 0, -n is the start."""
    functions = [
        lambda x, y: x[:, -y.shape[0] :],
        lambda x, y: x[:, : -y.shape[0]],
        lambda x, y: x[:, -x.shape[1] :],
        lambda x, y: x[:, -y.shape[0] - 1 : -1],
        lambda x, y: x[:, -y.shape[0] :: 2],
    ]
    cases = [(randn(4, m), randn(n)) for m, n in ((6, 3), (6, 9), (6, 0), (6, 6), (1, 3), (9, 1))]
    agree(tmp_path, functions, *cases, dynamic=({1: "m"}, {0: "n"}))


def test_padding_up_to_a_multiple(tmp_path: Path) -> None:
    def padded(x: Any) -> Any:
        return F.pad(x, (0, (64 - x.shape[1] % 64) % 64))

    functions = [
        lambda x: padded(x).reshape(x.shape[0], -1, 64).sum(-1),
        lambda x: (padded(x).reshape(x.shape[0], -1, 64) * 2).reshape(x.shape[0], -1)[:, : x.shape[1]] + x,
        lambda x: F.pad(x, (0, -x.shape[1] % 8)),
    ]  # fmt: skip
    cases = [(randn(2, n),) for n in (70, 64, 1, 128, 63)]
    agree(tmp_path, functions, *cases, dynamic=({0: "b", 1: "n"},))

"""Defects that the example hides, and honest modules that look like them: the check of an export must tell them apart.

    python tests/models/planted.py [REGEX]

A defect is a module whose trace is another one: `traced()` holds while torch.export looks. It agrees on the example and differs elsewhere.
Prints a line for each that was missed, and each honest one that was refused; the last line counts.
"""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

import pteron

traced = torch.compiler.is_exporting
Case = tuple[Callable[..., Any], tuple[Any, ...], Any]


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *xs: Any) -> Any:
        return self.function(*xs)


def either(there: Callable[..., Any], here: Callable[..., Any]) -> Callable[..., Any]:
    """One function while it is traced, another where it runs."""
    return lambda *xs: (there if traced() else here)(*xs)


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


X, SMALL, POSITIVE = normal(4, 6), normal(4, 6) * 0.1, normal(4, 6).abs() + 0.5
IDS, ZEROS, MASK = (
    torch.tensor([[1, 2, 3, 4]]),
    torch.zeros(1, 4, dtype=torch.long),
    torch.ones(4, 6, dtype=torch.bool),
)
COUNTS = torch.arange(1, 71)
ROWS, LENGTH = ({0: "n"},), ({1: "length"},)
TABLE = nn.Embedding(50, 8)
FROZEN = torch.compiler.assume_constant_result

DEFECTS: dict[str, Case] = {
    "clamped at 50": (either(lambda x: x.clamp(-50, 50), lambda x: x), (X,), None),
    "clamped at 0": (either(lambda x: x.clamp(min=0), lambda x: x), (POSITIVE,), None),
    "clamped at 6, of a network": (either(lambda x: F.relu6(x * 0.1), lambda x: F.relu(x * 0.1)), (X,), None),
    "absolute value lost": (either(lambda x: x, abs), (POSITIVE,), None),
    "branch on the sign of a sum": (either(lambda x: x * 2, lambda x: x * 2 if x.sum() > 0 else x), (POSITIVE,), None),
    "branch on a maximum": (either(lambda x: x + 1, lambda x: x + 1 if x.max() < 100 else x - 1), (X,), None),
    "branch on an element": (either(lambda x: x.sin(), lambda x: x.sin() if x[0, 0] < 2 else x.cos()), (SMALL,), None),
    "mask ignored": (either(lambda x, m: x, lambda x, m: x.masked_fill(~m, -1)), (X, MASK), None),
    "mask by value ignored": (either(lambda x: x, lambda x: torch.where(x == 0, 9.0, x)), (POSITIVE,), None),
    "padding ignored": (either(lambda i: TABLE(i), lambda i: TABLE(i) * (i != 0)[..., None]), (IDS,), None),
    "one class of ids": (either(lambda i: TABLE(i).sum(1), lambda i: (TABLE(i) * (1 + (i > 4))[..., None]).sum(1)), (IDS,), None),
    "only the first id": (either(lambda i: TABLE.weight[0].expand(1, 4, 8) * 1, lambda i: TABLE(i)), (ZEROS,), None),
    "overflow of int32": (either(lambda x: x.long() * 70000, lambda x: (x * 70000).long()), (COUNTS.int(),), None),
    "int64 as int32": (either(lambda x: x.int().long() + 1, lambda x: x + 1), (COUNTS,), None),
    "int64 as f32": (either(lambda x: x.float().long(), lambda x: x * 1), (COUNTS,), None),
    "int16 wraps": (either(lambda x: x.short().long(), lambda x: x * 1), (COUNTS,), None),
    "u8 wraps": (either(lambda x: x.int() * 2, lambda x: (x * 2).int()), (COUNTS.to(torch.uint8),), None),
    "division towards zero": (either(lambda x: x.div(2, rounding_mode="trunc"), lambda x: x // 2), (COUNTS,), None),
    "remainder of negatives": (either(lambda x: x.fmod(3), lambda x: x % 3), (COUNTS,), None),
    "remainder of negative floats": (either(lambda x: x.fmod(3.0), lambda x: x % 3.0), (POSITIVE,), None),
    "halves away from zero": (either(lambda x: (x + 0.5).floor(), lambda x: x.round()), (POSITIVE,), None),
    "f64 constant as f32": (either(lambda x: (x.double() * 0.699999988079071).long(), lambda x: (x.double() * 0.7).long()), (COUNTS[:6],), None),
    "f64 as f32": (either(lambda x: x * 1, lambda x: (x.double() + 2.0**30 - 2.0**30).float()), (SMALL * 0 + 1,), None),
    "mean by the example's size": (either(lambda x: x.sum(0) / 4, lambda x: x.mean(0)), (X,), ROWS),
    "position table of the example": (either(lambda x: x + torch.arange(4.0)[:, None].sum() * 0 + x.shape[0] * 0 + 4, lambda x: x + x.shape[0]), (X,), ROWS),
    "reversed by the example's size": (either(lambda x: x[:4].flip(0).sum(0), lambda x: x.flip(0).sum(0)), (X,), ROWS),
    "last row by number": (either(lambda x: x[3], lambda x: x[-1]), (X,), ROWS),
    "causal up to the example's length": (either(lambda x: x.cumsum(0) * (torch.arange(x.shape[0])[:, None] < 4), lambda x: x.cumsum(0)), (X,), ROWS),
    "scale of the example's length": (either(lambda x: x / 6**0.5, lambda x: x / x.shape[1] ** 0.5), (X,), LENGTH),
    "a constant of the values": (either(lambda x: x - -0.0, lambda x: x - x.min().clamp(max=0)), (POSITIVE,), None),
    "unstable softmax": (either(lambda x: x.exp() / x.exp().sum(-1, keepdim=True), lambda x: x.softmax(-1)), (X * 30,), None),
    "gelu for relu of far values": (either(F.relu, lambda x: F.softplus(x, beta=1, threshold=0.0)), (X * 0 + 30,), None),
    "square root of what is below zero": (either(lambda x: x.clamp(min=0).sqrt(), lambda x: x.abs().sqrt()), (POSITIVE,), None),
    "threshold far above": (either(lambda x: F.hardtanh(x, -1000, 1000) * 0.5, lambda x: x * 0.5), (X,), None),
    "second output alone": (either(lambda x: (x, x * 0), lambda x: (x, (x > 3).float())), (SMALL,), None),
    "index that wraps": (either(lambda x, i: x[i.clamp(min=0)], lambda x, i: x[i]), (X, torch.tensor([0, 1, 3])), None),
    "eval for train": (either(lambda x: F.batch_norm(x, X.mean(0), X.var(0, correction=0)), lambda x: F.batch_norm(x, None, None, training=True)), (X,), None),
}  # fmt: skip


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table = nn.Embedding(100, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)

    def forward(self, ids: Any, mask: Any) -> Any:
        return self.layer(self.table(ids), src_key_padding_mask=mask == 0)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.net = nn.Sequential(
            *(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.SiLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3)),
            *(nn.GroupNorm(2, 8), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        y = self.net(x)
        return y.softmax(-1), y.argmax(-1)


class Deep(nn.Module):
    """Residual layers of tanh that nearly copy: what rounding does grows."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(8))

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = x + torch.sin(3 * layer(x))
        return x


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(6))

    def forward(self, x: Any) -> Any:
        self.total.add_(x.sum(0))
        return x * self.total


HONEST: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "a network of convolutions": (Net(), (normal(2, 3, 12, 12),), ROWS),
    "attention over tokens": (Attention(), (IDS, torch.ones(1, 4, dtype=torch.long)), ({1: "t"}, {1: "t"})),
    "what rounding grows in": (Deep(), (X,), ROWS),
    "a state": (Counter(), (X,), None),
    "largest of equals": (lambda x: (x.topk(3), x.sort(-1)[1]), (X,), None),
    "of equal integers": (lambda x: (x.sort()[1], x.topk(2)[1], x.argmax(), x.max(0)[1]), (COUNTS,), None),
    "a root of a negative as an integer": (lambda x: x.float().sqrt().long(), (torch.arange(5, 9),), None),
    "sampled nowhere": (lambda x, p: F.grid_sample(x, p[..., :2] / p[..., 2:]), (torch.rand(1, 1, 4, 4), torch.rand(1, 4, 4, 3) + 1), None),
    "integers beyond their type": (lambda x: (x * 0.3).int(), (torch.arange(5, 9),), None),
    "median and mode": (lambda x: (x.median(-1), x.mode(-1), x.kthvalue(2)), (X,), None),
    "logarithm": (lambda x: (x.log(), x.sqrt(), 1 / x, x.log1p(), x.asin()), (POSITIVE,), None),
    "exponential": (lambda x: (x.exp(), x.expm1(), x.sinh(), x.exp().sum()), (X,), None),
    "variance": (lambda x: (x.var(-1), F.layer_norm(x, (6,)), F.normalize(x)), (X,), None),
    "norms of far values": (lambda x: F.instance_norm(x[None] + 1000), (X,), None),
    "cosines": (lambda x: (x.sin(), x.cos(), (x * 100).tan()), (X,), None),
    "rounding": (lambda x: (x.round(), x.floor(), x.int(), (x * 3).trunc()), (X,), None),
    "comparison": (lambda x: (x > x.mean(), x == x.max(), x.sign()), (X,), None),
    "cumulative": (lambda x: (x.cumsum(-1), x.cumprod(-1), x.logcumsumexp(-1)), (X,), None),
    "places": (lambda x: x.nonzero(), (X > 0,), None),
    "as many as data says": (lambda x: x[x > 0], (X,), None),
    "lengths": (lambda x, n: torch.arange(6) < n[:, None], (X, torch.tensor([1, 2, 3, 6])), None),
    "gathered": (lambda x, i: x.gather(1, i), (X, torch.tensor([[0, 5], [1, 2], [3, 4], [0, 0]])), None),
    "repeated": (lambda x, n: x.repeat_interleave(n, 0), (X, torch.tensor([1, 2, 0, 3])), None),
    "one-hot": (lambda i: F.one_hot(i, 7), (IDS,), None),
    "bag": (lambda i: F.embedding_bag(i, TABLE.weight), (IDS,), None),
    "a loss": (lambda x, i: F.cross_entropy(x, i), (X, torch.tensor([0, 1, 5, 2])), None),
    "integers": (lambda x: (x * 3, x // 2, x % 5, x >> 1, x.abs(), x.float() / 3), (COUNTS,), None),
    "truth": (lambda m: (m.any(), m.all(1), m.sum(), ~m), (MASK,), None),
    "masked softmax": (lambda x, m: x.masked_fill(m, float("-inf")).softmax(-1), (X, ~MASK), None),
    "masked by zeros and infinities": (lambda x, m: (x + m).softmax(-1), (X, torch.zeros(4, 6).index_fill(1, torch.tensor([5]), float("-inf"))), None),
    "f16": (lambda x: (x * x).sum(-1) + F.gelu(x).sum(-1), (X.half(),), None),
    "bf16": (lambda x: F.layer_norm(x, (6,)) @ x.T, (X.bfloat16(),), None),
    "f64": (lambda x: (x.double() * 0.7).long(), (COUNTS,), None),
    "resized": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), (normal(1, 2, 5, 7),), ({2: "h"},)),
    "sampled": (lambda x, g: F.grid_sample(x, g, align_corners=False), (normal(1, 2, 5, 7), normal(1, 3, 3, 2).tanh()), None),
    "halves of an even size": (lambda x: x.view(2, -1, 6).sum(0), (X,), ({0: 2 * torch.export.Dim("h")},)),
    "windows": (lambda x: x.unfold(0, 3, 1).mean(-1), (normal(9, 2),), ROWS),
    "recurrent": (nn.GRU(6, 5, batch_first=True), (normal(2, 4, 6),), None),
    "searched": (lambda x, s: torch.searchsorted(s, x), (X, torch.arange(6.0)), None),
    "distances": (lambda x: (torch.cdist(x, x), x @ x.T, x.norm(dim=-1)), (X,), None),
}  # fmt: skip


def refusal(case: Any) -> str | None:
    """What the export with its check says against the module."""
    function, args, dynamic = case
    module = function if isinstance(function, nn.Module) else Call(function)
    if dynamic is not None and not isinstance(module, Call):
        spec: Any = (*dynamic, *[None] * (len(args) - len(dynamic)))
    elif dynamic is not None:
        spec = ((*dynamic, *[None] * (len(args) - len(dynamic))),)
    else:
        spec = None
    try:
        pteron.export_model(module.eval(), args=args, dynamic_shapes=spec)
    except pteron.PteronError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def main() -> None:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    wanted = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    found = right = defects = honest = 0
    for name, case in DEFECTS.items():
        if wanted.search(name):
            started = time.process_time()
            text = refusal(case)
            caught = text is not None and "beside the example's" in text
            defects, found = defects + 1, found + caught
            if not caught:
                print(f"missed ({time.process_time() - started:.1f} s): {name}: {text}", flush=True)
    for name, case in HONEST.items():
        if wanted.search(name):
            started = time.process_time()
            text = refusal(case)
            honest, right = honest + 1, right + (text is None)
            if text is not None:
                print(
                    f"refused ({time.process_time() - started:.1f} s): {name}: {text}", flush=True
                )
    print(f"{found} of {defects} defects found, {right} of {honest} honest modules exported")


if __name__ == "__main__":
    main()

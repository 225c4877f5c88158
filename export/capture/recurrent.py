"""Recurrent layers while torch.export traces: PyTorch's kernels take the number of steps for a constant, operators of our own do not.

`kept_whole` puts them in the place of torch._VF's functions, which nn.LSTM, nn.GRU and nn.RNN call; `aten_recurrent` translates them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any, Final

NAMES: Final = ("lstm", "gru", "rnn_tanh", "rnn_relu")


@functools.cache
def _library(torch: Any) -> Any:
    """Defines pteron::lstm and pteron::recurrent; what it gives must live as long as they do."""
    library = torch.library.Library("pteron", "DEF")
    common = "Tensor[] weights, bool has_biases, int layers, bool bidirectional, bool batch_first"
    library.define(f"lstm(Tensor x, Tensor h, Tensor c, {common}) -> (Tensor, Tensor, Tensor)")
    library.define(f"recurrent(str kind, Tensor x, Tensor h, {common}) -> (Tensor, Tensor)")
    lstm = torch._VF.lstm
    others = {name: getattr(torch._VF, name) for name in NAMES[1:]}

    def run(
        kernel: Any, x: Any, h: Any, weights: Any, biased: bool, layers: int, *flags: bool
    ) -> Any:
        return kernel(x, h, weights, biased, layers, 0.0, False, *flags)

    def run_lstm(x: Any, h: Any, c: Any, *rest: Any) -> Any:
        return run(lstm, x, (h, c), *rest)

    def run_other(kind: str, x: Any, h: Any, *rest: Any) -> Any:
        return run(others[kind], x, h, *rest)

    def like(x: Any, h: Any, bidirectional: bool) -> Any:
        return x.new_empty(*x.shape[:2], h.shape[-1] * (2 if bidirectional else 1))

    def lstm_like(x: Any, h: Any, c: Any, weights: Any, *flags: Any) -> Any:
        return like(x, h, flags[2]), torch.empty_like(h), torch.empty_like(c)

    def other_like(kind: str, x: Any, h: Any, weights: Any, *flags: Any) -> Any:
        return like(x, h, flags[2]), torch.empty_like(h)

    for name, real, fake in (("lstm", run_lstm, lstm_like), ("recurrent", run_other, other_like)):
        library.impl(name, real, "CPU")
        torch.library.register_fake(f"pteron::{name}", fake, lib=library)
    return library


@contextlib.contextmanager
def kept_whole(torch: Any) -> Iterator[None]:
    """Recurrent layers of tensors that are not packed become the operators above."""
    _library(torch)
    before = {name: getattr(torch._VF, name) for name in NAMES}
    for name, kernel in before.items():
        setattr(torch._VF, name, _replaced(torch, name, kernel))
    try:
        yield
    finally:
        for name, kernel in before.items():
            setattr(torch._VF, name, kernel)


def _replaced(torch: Any, name: str, kernel: Any) -> Callable[..., Any]:
    def call(x: Any, h: Any, weights: Any, *rest: Any) -> Any:
        is_packed = not isinstance(weights, (list, tuple))
        if is_packed or len(rest) != 6 or (rest[2] > 0 and rest[3]):
            return kernel(x, h, weights, *rest)
        biased, layers, _, _, bidirectional, batch_first = rest
        common = (list(weights), biased, layers, bidirectional, batch_first)
        if name == "lstm":
            return torch.ops.pteron.lstm(x, *h, *common)
        return torch.ops.pteron.recurrent(name, x, h, *common)

    return call

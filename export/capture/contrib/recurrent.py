"""Recurrent layers with weights of 8 bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .foreign import Foreign, means


@means("DynamicQuantizeLSTM")
def dynamic_quantize_lstm(
    n: Foreign,
    *,
    hidden_size: int,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str | None = None,
    input_forget: int | None = None,
) -> Sequence[ir.Value]:
    """X, W, R, B, lengths, hidden, cell, peephole of LSTM with W and R transposed and as codes, then scale and zero point of each.
    Both become DequantizeLinear: X and the hidden state stay floats, which onnxruntime rounds to 8 bits at each step."""
    return n.several(
        "LSTM", 3, n[0], _weight(n, 1, 8), _weight(n, 2, 10), *(n.get(i) for i in range(3, 8)),
        activation_alpha=activation_alpha, activation_beta=activation_beta, activations=activations, clip=clip,
        direction=direction, hidden_size=hidden_size, input_forget=input_forget,
    )  # fmt: skip


def _weight(n: Foreign, i: int, scale: int) -> ir.Value:
    """f32 [directions, 4 hidden, inputs] of codes [directions, inputs, 4 hidden] and a scale a direction, or a row of each."""
    tensor = g.constant_tensor(n[i])
    extents = g.dims(n[i])
    if extents is None or len(extents) != 3 or not isinstance(extents[1], int) or not extents[1]:
        n.refuse(f"expected input {i} as [directions, inputs, 4 hidden] of numbers, got {extents}")
    if tensor is None:
        codes = n("Transpose", n[i], perm=[0, 2, 1])
    else:
        codes = n.constant(np.ascontiguousarray(tensor.numpy().transpose(0, 2, 1)), "codes")
    rank = n.rank(n[scale], f"input {scale}")
    by, zero = n[scale], n[scale + 1]
    if rank == 1:
        return n("DequantizeLinear", codes, by, zero, axis=0)
    by, zero = (n("Unsqueeze", v, n.ints(2)) for v in (by, zero))
    return n("DequantizeLinear", codes, by, zero, axis=2, block_size=extents[1])

"""Translations of norms, distances and paddings whose form torch.onnx has for some ranks and signs alone, and of what is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import ModelError

from .aten import FLOAT, full_like, ints, op, rank
from .aten_indexing import distance


def vector_norm(
    x: Any, ord: float = 2.0, dim: Any = None, keepdim: bool = False, dtype: int = -1
) -> Any:
    """torch.onnx takes no number, and drops keepdim where it reduces all."""
    from onnxscript.function_libs.torch_lib.ops.linalg import aten_linalg_vector_norm as known

    if rank(x) and dim is not None and (isinstance(dim, int) or len(dim)):
        return known(x, ord, dim, keepdim, dtype)
    y = known(op.Reshape(x, ints(-1)), ord, None, False, dtype)
    return op.Reshape(y, ints(*[1] * rank(x))) if keepdim and rank(x) else y


def pdist(x: Any, p: float = 2.0) -> Any:
    """Distances of each row from those behind it."""
    n = x.shape[0]
    if not isinstance(n, int):
        raise ModelError("pdist of a dynamic number of rows: give it a fixed one, or use cdist")
    pairs = [op.Gather(x, op.Constant(value=ir.tensor(at))) for at in np.triu_indices(n, 1)]
    return distance(op.Sub(*pairs), p)


def pad(x: Any, padding: Sequence[Any], mode: str = "constant", value: float | None = None) -> Any:
    """Edges of less than nothing are the nearest element of the whole axis, where ONNX cuts first."""
    from onnxscript.function_libs.torch_lib.ops import nn

    is_plain = mode != "replicate" or min(p if isinstance(p, int) else 0 for p in padding) >= 0
    numbers = [*padding, *x.shape[rank(x) - len(padding) // 2 :]]
    if is_plain or not all(isinstance(n, int) for n in numbers):
        return nn.aten_pad(x, padding, mode, value)
    y = x
    for i in range(len(padding) // 2):
        axis, (left, right) = rank(x) - 1 - i, padding[2 * i : 2 * i + 2]
        places = np.clip(np.arange(-left, x.shape[axis] + right), 0, x.shape[axis] - 1)
        y = op.Gather(y, op.Constant(value=ir.tensor(places)), axis=axis)
    return y


def rrelu(
    x: Any,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> Any:
    """A slope for each below 0, drawn; outside of training one for all."""
    slope = full_like(x, (lower + upper) / 2)
    if training:
        slope = op.RandomUniformLike(x, low=lower, high=upper)
    return op.Where(op.LessOrEqual(x, full_like(x, 0)), op.Mul(x, slope), x)


def rrelu_with_noise(x: Any, noise: Any, *args: Any, **options: Any) -> tuple[Any, Any]:
    return rrelu(x, *args, **options), op.Identity(noise)


def uniform(x: Any, low: float = 0.0, high: float = 1.0, generator: Any = None) -> Any:
    return op.RandomUniformLike(x, low=low, high=high)


def geometric(x: Any, p: float, generator: Any = None) -> Any:
    """By the logarithm of a number drawn from 0 to 1; of integers, too."""
    drawn = op.RandomUniformLike(x, dtype=FLOAT)
    by = op.Constant(value_float=math.log1p(-p))
    return op.CastLike(op.Ceil(op.Div(op.Log(drawn), by)), x)


TRANSLATED: Final[dict[str, Callable[..., Any]]] = {
    "linalg_vector_norm.default": vector_norm, "pdist.default": pdist, "_pdist_forward.default": pdist,
    "pad.default": pad,
    "rrelu.default": rrelu, "rrelu_with_noise_functional.default": rrelu_with_noise,
    "uniform.default": uniform, "geometric.default": geometric,
}  # fmt: skip

"""Translations of what a program does that was made in training mode: batch norms by the batch's own statistics, for which torch.onnx
writes the running ones, and dropout."""

from __future__ import annotations

from typing import Any

import onnx_ir as ir

from pteron.schema.errors import ModelError

from .aten import cross_entropy, full_like, ints, op, rank

Norm = tuple[Any, Any, Any, Any, Any]


def batch_norm(
    x: Any,
    weight: Any,
    bias: Any,
    mean: Any,
    variance: Any,
    is_training: bool,
    momentum: float,
    eps: float,
) -> Norm:
    """The result, what was subtracted and multiplied by, and the running mean and variance afterwards."""
    if not is_training:
        y, subtracted, factor = _normal(x, weight, bias, mean, variance, eps)
        return y, subtracted, factor, op.Identity(mean), op.Identity(variance)
    axes = ints(*(a for a in range(rank(x)) if a != 1))
    ours = op.ReduceMean(x, axes, keepdims=0)
    apart = op.Sub(x, _by_channel(ours, x))
    spread = op.ReduceMean(op.Mul(apart, apart), axes, keepdims=0)
    y, subtracted, factor = _normal(x, weight, bias, ours, spread, eps)
    if mean is None:
        return y, subtracted, factor, None, None
    count = op.CastLike(op.Div(op.Size(x), op.Size(ours)), x)
    wide = op.Mul(spread, op.Div(count, op.Sub(count, full_like(x, 1))))
    new = (
        op.Add(op.Mul(old, full_like(x, 1 - momentum)), op.Mul(now, full_like(x, momentum)))
        for old, now in ((mean, ours), (variance, wide))
    )
    return (y, subtracted, factor, *new)


def batch_norm_without_stats(
    x: Any, weight: Any, bias: Any, is_training: bool, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    return batch_norm(x, weight, bias, None, None, True, momentum, eps)[:3]


def _normal(
    x: Any, weight: Any, bias: Any, mean: Any, variance: Any, eps: float
) -> tuple[Any, Any, Any]:
    factor = op.Reciprocal(op.Sqrt(op.Add(variance, full_like(variance, eps))))
    y = op.Mul(op.Sub(x, _by_channel(mean, x)), _by_channel(factor, x))
    if weight is not None:
        y = op.Mul(y, _by_channel(weight, x))
    if bias is not None:
        y = op.Add(y, _by_channel(bias, x))
    return op.CastLike(y, x), mean, factor


def _by_channel(v: Any, x: Any) -> Any:
    return op.Unsqueeze(v, ints(*range(1, rank(x) - 1))) if rank(x) > 2 else v


def dropout(x: Any, p: float, is_training: bool | None = True) -> tuple[Any, Any]:
    """In eval mode nothing is dropped.

    Raises:
        ModelError: which elements are dropped is random.
    """
    if is_training and p > 0:
        raise ModelError(random_dropout(p))
    zero = full_like(x, 0)
    return op.Identity(x), op.Or(op.Equal(x, zero), op.Not(op.Equal(x, zero)))


def random_dropout(p: float) -> str:
    return (
        f"dropout of {p:g} in training mode gives random results; export the module in eval mode (module.eval(), dropout with "
        "training=False)"
    )


REDUCTIONS = ("none", "mean", "sum")


def linear_cross_entropy(
    x: Any,
    weight: Any,
    target: Any,
    bias: Any,
    by_class: Any,
    reduction: str,
    ignore_index: int,
    smoothing: float,
    *rest: Any,
) -> tuple[Any, ...]:
    """The loss of x W^T + b, which PyTorch computes in pieces; it has its gradients, too, where somebody wants them."""
    if any(rest[-3:]):
        raise ModelError(
            "linear_cross_entropy with gradients: expected a module in eval mode under torch.no_grad()"
        )
    way = REDUCTIONS.index(reduction)
    loss = cross_entropy(_logits(x, weight, bias), target, by_class, way, ignore_index, smoothing)
    none = [op.Expand(full_like(x, 0), ints(*shape)) for shape in ((0, 0), (0, 0), (0,))]
    return loss, *none


def linear_cross_entropies(
    x: Any, weight: Any, target: Any, bias: Any, by_class: Any, ignore_index: int, *rest: Any
) -> Any:
    """The loss of each row."""
    way = REDUCTIONS.index("none")
    return cross_entropy(_logits(x, weight, bias), target, by_class, way, ignore_index, 0.0)


def _logits(x: Any, weight: Any, bias: Any) -> Any:
    logits = op.MatMul(x, op.Transpose(weight, perm=[1, 0]))
    logits = logits if bias is None else op.Add(logits, bias)
    logits.shape, logits.dtype = ir.Shape([*x.shape[:-1], weight.shape[0]]), x.dtype
    return logits

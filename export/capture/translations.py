"""The table of translations that torch.onnx lacks or has wrong: aten's (`aten`), quantized_decomposed operators, and the grouped
matmul of MoE layers.

torch.onnx drops quant_min and quant_max: a range narrower than the dtype becomes a Clip of the codes here. Imported only while a
program is converted.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import torch

from pteron.schema.dtypes import DTYPES

from . import (
    aten,
    aten_bessel,
    aten_constants,
    aten_counts,
    aten_factors,
    aten_gamma,
    aten_indexing,
    aten_integers,
    aten_norms,
    aten_polynomials,
    aten_recurrent,
    aten_singular,
    aten_special,
    aten_training,
    aten_waves,
)
from .aten import DOUBLE, FLOAT, INT64, extent, op, reached
from .registered import registered
from .traced import overload

KINDS: Final = {
    getattr(torch, DTYPES[name].word): DTYPES[name] for name in ("i8", "u8", "i16", "u16", "i32")
}
"""What quantized_decomposed makes codes of."""


def translations(program: Any) -> dict[Any, Callable[..., Any]]:
    """A table for torch.onnx.export: aten's always, as decompositions may bring them; others where the program has them."""
    used = {str(n.target) for n in program.graph.nodes if n.op == "call_function"}
    table = {overload(torch.ops.aten, name): function for name, function in ATEN.items()}
    table[operator.floordiv] = aten.floordiv
    for name, function in QUANTIZED.items():
        if f"quantized_decomposed.{name}" in used:
            table[overload(torch.ops.quantized_decomposed, name)] = function
    for name, function in OWN.items():
        if f"pteron.{name}.default" in used:
            table[overload(torch.ops.pteron, f"{name}.default")] = function
    for name, function in CHUNKED.items():
        if f"torch_nn.{name}" in used:
            table[overload(torch.ops.torch_nn, name)] = function
    if AFFINE in used:
        table[torch.ops.torchao.dequantize_affine.default] = dequantize_affine
    if "transformers.grouped_mm_fallback.default" in used:
        table[torch.ops.transformers.grouped_mm_fallback.default] = grouped_mm
    return table | registered(program, op)


def grouped_mm(a: Any, b: Any, offs: Any, bias: Any = None, out_dtype: Any = None) -> Any:
    """Rows of `a` below offs[n] (and not below offs[n - 1]) times b[n]."""
    one = op.Constant(value_ints=[1])
    expert = reached(extent(a, 0), op.Cast(offs, to=INT64))
    return op.Squeeze(op.MatMul(op.Unsqueeze(a, one), op.Gather(b, expert)), one)


def _kind(dtype: Any) -> Any:
    known = {row.onnx: kind for kind, row in KINDS.items()}
    return dtype if isinstance(dtype, torch.dtype) else known.get(int(dtype), dtype)


def _codes(x: Any, scale: Any, zero: Any, lo: int, hi: int, dtype: Any, **attributes: Any) -> Any:
    codes = op.QuantizeLinear(x, scale, _zero(zero, dtype), **attributes)
    row = KINDS[dtype]
    if (lo, hi) == (row.least, row.most):
        return codes
    low, high = (op.Cast(op.Constant(value_int=limit), to=row.onnx) for limit in (lo, hi))
    return op.Clip(codes, low, high)


def _zero(zero: Any, dtype: Any) -> Any:
    return op.Cast(
        op.Constant(value_int=zero) if isinstance(zero, int) else zero, to=KINDS[dtype].onnx
    )


def _scale(scale: Any) -> Any:
    return op.Constant(value_float=scale) if isinstance(scale, float) else op.Cast(scale, to=FLOAT)


def quantize(x: Any, scale: Any, zero: Any, quant_min: int, quant_max: int, dtype: Any) -> Any:
    return _codes(x, _scale(scale), zero, quant_min, quant_max, _kind(dtype))


def quantize_channel(
    x: Any, scale: Any, zero: Any, axis: int, quant_min: int, quant_max: int, dtype: Any
) -> Any:
    return _codes(x, _scale(scale), zero, quant_min, quant_max, _kind(dtype), axis=axis)


def dequantize(
    q: Any, scale: Any, zero: Any, quant_min: int, quant_max: int, dtype: Any, out_dtype: Any = None
) -> Any:
    return op.DequantizeLinear(q, _scale(scale), _zero(zero, _kind(dtype)))


def dequantize_group(
    q: Any,
    scale: Any,
    zero: Any,
    quant_min: int,
    quant_max: int,
    dtype: Any,
    group_size: int = 32,
    output_dtype: Any = None,
) -> Any:
    return op.DequantizeLinear(q, scale, _zero(zero, _kind(dtype)), axis=1, block_size=group_size)


def choose_qparams(x: Any, quant_min: int, quant_max: int, eps: float, dtype: Any) -> Any:
    """Scale (f64, as torch promises) and zero point of one asymmetric range over the whole tensor."""
    zero = op.Constant(value_float=0.0)
    low, high = op.Constant(value_float=float(quant_min)), op.Constant(value_float=float(quant_max))
    least = op.Min(op.ReduceMin(x, keepdims=0), zero)
    most = op.Max(op.ReduceMax(x, keepdims=0), zero)
    span = op.Constant(value_float=float(quant_max - quant_min))
    scale = op.Max(op.Div(op.Sub(most, least), span), op.Constant(value_float=eps))
    point = op.Clip(op.Sub(low, op.Round(op.Div(least, scale))), low, high)
    return op.Cast(scale, to=DOUBLE), op.Cast(point, to=INT64)


CHUNKED: Final[dict[str, Callable[..., Any]]] = {
    "_linear_cross_entropy_batch_chunked.default": aten_training.linear_cross_entropy,
    "_linear_cross_entropy_batch_chunked_no_reduction.default": aten_training.linear_cross_entropies,
}
AFFINE: Final = "torchao.dequantize_affine.default"


def dequantize_affine(
    q: Any,
    block_size: Any,
    scale: Any,
    zero: Any,
    input_dtype: Any,
    quant_min: Any = None,
    quant_max: Any = None,
    output_dtype: Any = FLOAT,
) -> Any:
    """torchao's, of blocks along the last axis of a matrix, or of whole rows: (q - zero) * scale."""
    rows, block = (int(n) for n in block_size)
    shape = [int(n) for n in q.shape]
    if rows != 1 or int(output_dtype) != FLOAT:
        raise ValueError(
            f"torchao: blocks of {rows} x {block} or a result of type {output_dtype}; expected rows and f32"
        )
    parts = [op.Cast(scale, to=FLOAT)]
    if zero is not None:
        parts.append(_zero(zero, _kind(input_dtype)))
    if block == shape[1]:
        flat = [op.Reshape(part, op.Constant(value_ints=[shape[0]])) for part in parts]
        return op.DequantizeLinear(q, *flat, axis=0)
    return op.DequantizeLinear(q, *parts, axis=1, block_size=block)


OWN: Final[dict[str, Callable[..., Any]]] = {
    "lstm": aten_recurrent.lstm, "recurrent": aten_recurrent.recurrent, "jacobi": aten_singular.jacobi, "basis": aten_singular.basis,
    "lu": aten_factors.lu, "order": aten_factors.order, "cholesky": aten_factors.cholesky, "triangular": aten_factors.triangular,
    "qr": aten_factors.qr, "reflected": aten_factors.reflected,
}  # fmt: skip
"""Operators of `pteron::`, which decompositions put into a program."""
QUANTIZED: Final[dict[str, Callable[..., Any]]] = {
    "quantize_per_tensor.default": quantize,
    "quantize_per_tensor.tensor": quantize,
    "dequantize_per_tensor.tensor": dequantize,
    "quantize_per_channel.default": quantize_channel,
    "choose_qparams.tensor": choose_qparams,
    "dequantize_per_channel_group.default": dequantize_group,
}
WINDOWS: Final = {
    "bartlett": (),
    "blackman": (),
    "hann": (),
    "hamming": ("periodic_alpha", "periodic_alpha_beta"),
    "kaiser": ("beta",),
}
"""Windows, and overloads beside the two that all have."""
ATEN: Final[dict[str, Callable[..., Any]]] = {
    "_upsample_bilinear2d_aa.default": aten.antialiased("linear"),
    "_upsample_bicubic2d_aa.default": aten.antialiased("cubic"),
    "_grouped_mm.default": grouped_mm,
    "conv3d.default": aten.conv3d,
    "_int_mm.default": op.MatMulInteger,
    "linalg_matrix_exp.default": aten_singular.matrix_exp,
    "scaled_dot_product_attention.default": aten.attention,
    "scalar_tensor.default": aten_constants.scalar_tensor,
    "full.default": aten_constants.full,
    "full_like.default": aten_constants.full_like,
    "new_full.default": aten_constants.new_full,
    "fill.Scalar": aten_constants.fill,
    "_native_batch_norm_legit_functional.default": aten_training.batch_norm,
    "_native_batch_norm_legit.no_stats": aten_training.batch_norm_without_stats,
    "native_dropout.default": aten_training.dropout,
    **{
        f"{name}.default": function
        for names, function in (
            (("i0", "special_i0"), aten_bessel.i0),
            (("special_i0e",), aten_bessel.i0e),
            (("special_i1",), aten_bessel.i1),
            (("special_i1e",), aten_bessel.i1e),
            (("polygamma", "special_polygamma"), aten_bessel.polygamma),
        )
        for name in names
    },
    "frexp.Tensor": aten_bessel.frexp,
    "nextafter.default": aten_bessel.nextafter,
    "gcd.default": aten_integers.gcd,
    "softmax.int": aten_integers.softmax("Softmax"),
    "log_softmax.int": aten_integers.softmax("LogSoftmax"),
    "isnan.default": aten_integers.of_floats("IsNaN"),
    "isinf.default": aten_integers.of_floats("IsInf"),
    "isfinite.default": aten_integers.isfinite,
    "angle.default": aten_integers.angle,
    "lstm.input": aten_recurrent.aten_lstm,
    **{f"{k}.input": aten_recurrent.aten_recurrent(k) for k in ("gru", "rnn_tanh", "rnn_relu")},
    "rsub.Scalar": aten.rsub,
    "rsub.Tensor": aten.rsub,
    "roll.default": aten.roll,
    "squeeze.default": aten.squeeze,
    "squeeze.dim": aten.squeeze,
    "squeeze.dims": aten.squeeze,
    "split_with_sizes.default": aten.split_with_sizes,
    **{f"atleast_{n}d.Sequence": aten_counts.at_least(n) for n in (1, 2, 3)},
    "repeat_interleave.Tensor": aten.repeat_interleave,
    "masked_scatter.default": aten.masked_scatter,
    "index.Tensor": aten_indexing.index,
    "_unsafe_index.Tensor": aten_indexing.index,
    "index_put.default": aten.index_put,
    "_unsafe_index_put.default": aten.index_put,
    "sort.default": aten.sort,
    "sort.stable": aten.stable_sort,
    "topk.default": aten.topk,
    "rms_norm.default": aten.rms_norm,
    "avg_pool2d.default": aten.avg_pool2d,
    "avg_pool3d.default": aten.avg_pool3d,
    "_adaptive_avg_pool3d.default": aten.adaptive_avg_pool3d,
    "adaptive_max_pool1d.default": aten.adaptive_max_pool,
    "adaptive_max_pool2d.default": aten.adaptive_max_pool,
    "adaptive_max_pool3d.default": aten.adaptive_max_pool,
    "searchsorted.Tensor": aten.searchsorted,
    "searchsorted.Scalar": aten.searchsorted,
    "bucketize.Tensor": aten.bucketize,
    "bucketize.Scalar": aten.bucketize,
    "cummax.default": aten.cummax,
    "cummin.default": aten.cummin,
    "cross_entropy_loss.default": aten.cross_entropy,
    "copy.default": aten_indexing.copy,
    "diagonal.default": aten_indexing.diagonal,
    "diagonal_copy.default": aten_indexing.diagonal,
    "histc.default": aten_indexing.histc,
    "diagonal_scatter.default": aten_indexing.diagonal_scatter,
    "as_strided_scatter.default": aten_indexing.as_strided_scatter,
    "put.default": aten_indexing.put,
    "scatter_reduce.two": aten_indexing.scatter_reduce,
    "index_reduce.default": aten_indexing.index_reduce,
    "nonzero.default": aten_indexing.nonzero,
    "masked_select.default": aten_indexing.masked_select,
    "median.default": aten_indexing.median,
    "median.dim": aten_indexing.median_dim,
    "nanmedian.default": aten_indexing.nanmedian,
    "nanmedian.dim": aten_indexing.nanmedian_dim,
    "amax.default": aten_indexing.amax,
    "amin.default": aten_indexing.amin,
    "aminmax.default": aten_indexing.aminmax,
    "cumprod.default": aten_indexing.cumprod,
    "ceil.default": aten_indexing.to_whole("Ceil"),
    "floor.default": aten_indexing.to_whole("Floor"),
    "round.default": aten_indexing.to_whole("Round"),
    "fmax.default": aten_indexing.fmax,
    "fmin.default": aten_indexing.fmin,
    "signbit.default": aten_indexing.signbit,
    "copysign.Tensor": aten_indexing.copysign,
    "copysign.Scalar": aten_indexing.copysign,
    "hypot.default": aten_indexing.hypot,
    "_cdist_forward.default": aten_indexing.cdist,
    "lgamma.default": aten_special.lgamma,
    "special_gammaln.default": aten_special.lgamma,
    "digamma.default": aten_special.digamma,
    "special_digamma.default": aten_special.digamma,
    "special_psi.default": aten_special.digamma,
    "erfinv.default": aten_special.erfinv,
    "special_erfinv.default": aten_special.erfinv,
    "log_sigmoid.default": aten_special.log_sigmoid,
    "log_sigmoid_forward.default": aten_special.log_sigmoid_forward,
    "logaddexp.default": aten_special.logaddexp,
    "logaddexp2.default": aten_special.logaddexp2,
    "multilabel_margin_loss.default": aten_special.multilabel_margin_loss,
    "logcumsumexp.default": aten_special.logcumsumexp,
    "log1p.default": aten_special.log1p,
    "log2.default": aten_special.logarithm(2),
    "log10.default": aten_special.logarithm(10),
    "special_log1p.default": aten_special.log1p,
    "expm1.default": aten_special.expm1,
    "special_expm1.default": aten_special.expm1,
    "erfc.default": aten_special.erfc,
    "special_erfc.default": aten_special.erfc,
    "special_erfcx.default": aten_special.erfcx,
    "special_ndtr.default": aten_special.ndtr,
    "special_log_ndtr.default": aten_special.log_ndtr,
    "logit.default": aten_special.logit,
    "special_logit.default": aten_special.logit,
    "heaviside.default": aten_special.heaviside,
    "atan2.default": aten_special.atan2,
    "mode.default": aten_special.mode,
    "unique_consecutive.default": aten_counts.unique_consecutive,
    "embedding_bag.default": aten_special.embedding_bag,
    "embedding_bag.padding_idx": aten_special.embedding_bag_padded,
    "_embedding_bag.default": aten_special.embedding_bag,
    "_embedding_bag_forward_only.default": aten_special.embedding_bag,
    "div.Tensor_mode": aten_integers.div_mode,
    "div.Scalar_mode": aten_integers.div_mode,
    "floor_divide.default": aten_integers.floor_divide,
    "floor_divide.Scalar": aten_integers.floor_divide,
    "remainder.Tensor": aten_integers.remainder,
    "remainder.Scalar": aten_integers.remainder,
    "any.default": aten_integers.some,
    "any.dim": aten_integers.some,
    "any.dims": aten_integers.some,
    "all.default": aten_integers.every,
    "all.dim": aten_integers.every,
    "all.dims": aten_integers.every,
    "_is_all_true.default": aten_integers.every,
    "_is_any_true.default": aten_integers.some,
    "sign.default": aten_integers.sign,
    "neg.default": aten_integers.neg,
    "_neg_view.default": aten_integers.neg,
    "kthvalue.default": aten_integers.kthvalue,
    **{
        f"{name}.{overload}": function
        for names, function in (
            (("__rshift__", "bitwise_right_shift"), aten_integers.shift_right),
            (("__lshift__", "bitwise_left_shift"), aten_integers.shift_left),
        )
        for name in names
        for overload in ("Tensor", "Scalar" if name.startswith("__") else "Tensor_Scalar")
    },
    **aten_counts.TRANSLATED,
    **aten_gamma.TRANSLATED,
    **aten_norms.TRANSLATED,
    **aten_polynomials.TRANSLATED,
    **aten_waves.TRANSLATED,
    "hstack.default": aten_indexing.hstack,
    "vstack.default": aten_indexing.vstack,
    "dstack.default": aten_indexing.dstack,
    "grid_sampler_3d.default": aten_indexing.grid_sampler_3d,
    **{
        f"{name}_window.{overload}": aten_indexing.window(getattr(torch, f"{name}_window"))
        for name, more in WINDOWS.items()
        for overload in ("default", "periodic", *more)
    },
}

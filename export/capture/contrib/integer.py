"""Integer products that give floats, and operators between quantized tensors."""

from __future__ import annotations

from collections.abc import Sequence

import onnx_ir as ir

from .foreign import Foreign, means

FLOAT = int(ir.DataType.FLOAT)


@means("MatMulIntegerToFloat")
def matmul_integer_to_float(n: Foreign) -> ir.Value:
    """A, B, a_scale, b_scale, a_zero, b_zero, bias."""
    return _product(n, n[0], n[1], (n[2], n[3]), (n.get(4), n.get(5)), n.get(6))


@means("DynamicQuantizeMatMul")
def dynamic_quantize_matmul(n: Foreign) -> ir.Value:
    """A float, B, b_scale, b_zero, bias."""
    a, scale, zero = n.several("DynamicQuantizeLinear", 3, n[0])
    return _product(n, a, n[1], (scale, n[2]), (zero, n.get(3)), n.get(4))


def _product(
    n: Foreign,
    a: ir.Value,
    b: ir.Value,
    scales: tuple[ir.Value, ir.Value],
    zeros: tuple[ir.Value | None, ir.Value | None],
    bias: ir.Value | None,
) -> ir.Value:
    total = n("Cast", n("MatMulInteger", a, b, *zeros), to=FLOAT)
    return n.plus(n("Mul", total, n("Mul", *scales)), bias)


def projected(n: Foreign) -> ir.Value:
    """QAttention's input times weight: input, weight, bias, input_scale, weight_scale, mask, input_zero, weight_zero, past."""
    return _product(n, n[0], n[1], (n[3], n[4]), (n.get(6), n.get(7)), n[2])


@means("QGemm")
def qgemm(n: Foreign, *, alpha: float = 1.0, transA: int = 0, transB: int = 0) -> ir.Value:
    """A, a_scale, a_zero, B, b_scale, b_zero, C int32, y_scale, y_zero; without y_scale the result is float."""
    a = n("Transpose", n[0], perm=[1, 0]) if transA else n[0]
    b = n("Transpose", n[3], perm=[1, 0]) if transB else n[3]
    total = n.plus(n("MatMulInteger", a, b, n.get(2), n.get(5)), n.get(6))
    scale = n("Mul", n[1], n[4])
    scale = scale if alpha == 1.0 else n("Mul", scale, n.like(alpha, n[1]))
    y = n("Mul", n("Cast", total, to=FLOAT), scale)
    return y if n.get(7) is None else n("QuantizeLinear", y, n[7], n.get(8))


@means("QuantizeLinear")
def quantize_linear(n: Foreign, *, axis: int | None = None) -> ir.Value:
    return n("QuantizeLinear", n[0], n[1], n.get(2), axis=axis)


@means("DequantizeLinear")
def dequantize_linear(n: Foreign, *, axis: int | None = None) -> ir.Value:
    return n("DequantizeLinear", n[0], n[1], n.get(2), axis=axis)


# --- the quantized forms of float operators: dequantize, compute, quantize ----------------------------------------------


def _read(n: Foreign, i: int) -> ir.Value:
    """Operand i with its scale and zero point behind it."""
    return n("DequantizeLinear", n[i], n[i + 1], n.get(i + 2))


def _write(n: Foreign, y: ir.Value, i: int) -> ir.Value:
    """y in the codes of the scale at input i and the zero point behind it, which has the result's type."""
    return n("QuantizeLinear", y, n[i], n[i + 1])


@means("QLinearAdd")
def qlinear_add(n: Foreign) -> ir.Value:
    return _write(n, n("Add", _read(n, 0), _read(n, 3)), 6)


@means("QLinearMul")
def qlinear_mul(n: Foreign) -> ir.Value:
    return _write(n, n("Mul", _read(n, 0), _read(n, 3)), 6)


@means("QLinearSigmoid")
def qlinear_sigmoid(n: Foreign) -> ir.Value:
    return _write(n, n("Sigmoid", _read(n, 0)), 3)


@means("QLinearLeakyRelu")
def qlinear_leaky_relu(n: Foreign, *, alpha: float = 0.01) -> ir.Value:
    return _write(n, n("LeakyRelu", _read(n, 0), alpha=alpha), 3)


@means("QLinearSoftmax")
def qlinear_softmax(n: Foreign, *, opset: int, axis: int = -1) -> ir.Value:
    """Before opset 13 all axes from `axis` on are one."""
    x = _read(n, 0)
    if opset >= 13 or axis == -1 or axis == n.rank(n[0], "x") - 1:
        return _write(n, n("Softmax", x, axis=axis), 3)
    flat = n("Softmax", n("Flatten", x, axis=axis), axis=-1)
    return _write(n, n("Reshape", flat, n("Shape", x)), 3)


@means("QLinearReduceMean")
def qlinear_reduce_mean(n: Foreign, *, axes: Sequence[int], keepdims: int) -> ir.Value:
    return _write(n, n("ReduceMean", _read(n, 0), n.ints(*axes), keepdims=keepdims), 3)


@means("QLinearConcat")
def qlinear_concat(n: Foreign, *, axis: int) -> ir.Value:
    """Scale and zero point of the result, then operand, scale, zero point of each."""
    parts = [_read(n, i) for i in range(2, len(n.node.inputs), 3)]
    return _write(n, n("Concat", *parts, axis=axis), 0)


@means("QLinearWhere")
def qlinear_where(n: Foreign) -> ir.Value:
    return _write(n, n("Where", n[0], _read(n, 1), _read(n, 4)), 7)


@means("QLinearGlobalAveragePool")
def qlinear_global_average_pool(n: Foreign, *, channels_last: int = 0) -> ir.Value:
    x = _read(n, 0)
    if not channels_last:
        return _write(n, n("GlobalAveragePool", x), 3)
    return _write(n, n("ReduceMean", x, n.ints(*range(1, n.rank(n[0], "x") - 1))), 3)


@means("QLinearAveragePool")
def qlinear_average_pool(
    n: Foreign,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str | None = None,
    ceil_mode: int | None = None,
    channels_last: int = 0,
    count_include_pad: int | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> ir.Value:
    x = _read(n, 0)
    rank = len(kernel_shape) + 2
    if channels_last:
        x = _first(n, x, rank)
    y = n(
        "AveragePool", x, kernel_shape=kernel_shape, auto_pad=auto_pad, ceil_mode=ceil_mode,
        count_include_pad=count_include_pad, pads=pads, strides=strides,
    )  # fmt: skip
    return _write(n, _last(n, y, rank) if channels_last else y, 3)


# --- channels last: what onnxruntime writes for one processor, but means for all -----------------------------------------


def _first(n: Foreign, x: ir.Value, rank: int) -> ir.Value:
    """Channels go before the spatial axes."""
    return n("Transpose", x, perm=[0, rank - 1, *range(1, rank - 1)])


def _last(n: Foreign, x: ir.Value, rank: int) -> ir.Value:
    return n("Transpose", x, perm=[0, *range(2, rank), 1])


@means("QLinearConv")
def qlinear_conv(
    n: Foreign,
    *,
    auto_pad: str | None = None,
    channels_last: int = 0,
    dilations: Sequence[int] | None = None,
    group: int | None = None,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> ir.Value:
    """ONNX's operands; the weight has its channels first in both layouts."""
    rank = n.rank(n[3], "w")
    x = _first(n, n[0], rank) if channels_last else n[0]
    y = n(
        "QLinearConv", x, *(n.get(i) for i in range(1, 9)), auto_pad=auto_pad, dilations=dilations, group=group,
        kernel_shape=kernel_shape, pads=pads, strides=strides,
    )  # fmt: skip
    return _last(n, y, rank) if channels_last else y


@means("NhwcMaxPool")
def nhwc_max_pool(
    n: Foreign,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str | None = None,
    ceil_mode: int | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> ir.Value:
    rank = len(kernel_shape) + 2
    y = n(
        "MaxPool", _first(n, n[0], rank), kernel_shape=kernel_shape, auto_pad=auto_pad, ceil_mode=ceil_mode,
        dilations=dilations, pads=pads, strides=strides,
    )  # fmt: skip
    return _last(n, y, rank)

"""Products with what is fused into them, and products with weights in blocks of few bits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .activations import activated
from .foreign import Foreign, means

FP4: Final = (0, 5.208333333e-3, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4)
NF4: Final = (
    -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1,
)  # fmt: skip
BNB4: Final = np.array([[*FP4, *(-x for x in FP4)], NF4], np.float32)
"""What the codes of bitsandbytes stand for, by quant_type."""
CODES: Final = {2: ir.DataType.UINT2, 4: ir.DataType.UINT4, 8: ir.DataType.UINT8}


@means("FusedMatMul", "TransposeMatMul")
def fused_matmul(
    n: Foreign,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    transBatchA: int = 0,
    transBatchB: int = 0,
) -> ir.Value:
    a = _transposed(n, n[0], transA, transBatchA)
    y = n("MatMul", a, _transposed(n, n[1], transB, transBatchB))
    return y if alpha == 1.0 else n("Mul", y, n.like(alpha, n[0]))


@means("FusedMatMulActivation")
def fused_matmul_activation(
    n: Foreign,
    *,
    activation: str,
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> ir.Value:
    a = _transposed(n, n[0], transA, 0)
    y = n("MatMul", a, _transposed(n, n[1], transB, 0))
    y = y if alpha == 1.0 else n("Mul", y, n.like(alpha, n[0]))
    return activated(n, y, activation, {"alpha": activation_alpha, "beta": activation_beta})


def _transposed(n: Foreign, x: ir.Value, last: int, batch: int) -> ir.Value:
    """`batch`: the first axis goes behind those before the last; `last`: then the last two change places."""
    rank = g.rank(x)
    if not (last or batch) or rank == 1:
        return x
    if rank is None:
        if batch:
            n.refuse(f"the rank of {x.name!r} is not known, which transBatchA and transBatchB need")
        return _swapped(n, x)
    order = list(range(rank))
    if batch:
        order = [*order[1:-1], order[0], order[-1]]
    if last:
        order[-2:] = order[-2:][::-1]
    return n("Transpose", x, perm=order)


def _swapped(n: Foreign, x: ir.Value) -> ir.Value:
    """The last two axes change places, whatever the rank is."""
    lead, m, k = n("Shape", x, end=-2), n("Shape", x, start=-2, end=-1), n.size(x, -1)
    flat = n("Reshape", x, n("Concat", n.ints(-1), m, k, axis=0))
    turned = n("Transpose", flat, perm=[0, 2, 1])
    return n("Reshape", turned, n("Concat", lead, k, m, axis=0))


@means("FusedGemm")
def fused_gemm(
    n: Foreign,
    *,
    activation: str = "",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> ir.Value:
    y = n("Gemm", n[0], n[1], n.get(2), alpha=alpha, beta=beta, transA=transA, transB=transB)
    return activated(n, y, activation, {"alpha": activation_alpha, "beta": activation_beta})


@means("FusedConv")
def fused_conv(
    n: Foreign,
    *,
    activation: str = "",
    activation_params: Sequence[float] = (),
    auto_pad: str | None = None,
    dilations: Sequence[int] | None = None,
    group: int | None = None,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> ir.Value:
    """Input 3 is added before the activation."""
    y = n(
        "Conv", n[0], n[1], n.get(2), auto_pad=auto_pad, dilations=dilations, group=group,
        kernel_shape=kernel_shape, pads=pads, strides=strides,
    )  # fmt: skip
    given = dict(zip(("alpha", "beta"), activation_params, strict=False))
    return activated(n, n.plus(y, n.get(3)), activation, {"alpha": None, "beta": None, **given})


# --- weights in blocks --------------------------------------------------------------------------------------------------


@means("MatMulNBits")
def matmul_nbits(
    n: Foreign,
    *,
    K: int,
    N: int,
    block_size: int,
    bits: int = 4,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
) -> ir.Value:
    """A [.., K] times the transpose of B [N, K], whose blocks of K have scales and zero points: the weight stays codes."""
    n.only("weight_prepacked", weight_prepacked, 0)
    n.only("bits", bits, *CODES)
    if min(K, N) < 1 or block_size < 1:
        n.refuse(f"expected K, N and block_size above 0, got {K}, {N}, {block_size}")
    blocks = -(-K // block_size)
    codes = _codes(n, 1, (N, blocks * block_size), bits)
    scale = _shaped(n, 2, (N, blocks), "scales")
    zero = _zeros(n, 3, (N, blocks), bits)
    x, groups = n[0], _groups(n, K, blocks)
    # K by block: a row of x is brought into that order, which costs less than floats in place of codes
    order = None if groups is None else np.argsort(groups, kind="stable")
    if groups is None or order is None or np.array_equal(groups, np.arange(K) // block_size):
        w = decoded(n, codes, scale, zero, block_size, K)
    elif np.array_equal(groups[order], np.arange(K) // block_size):
        codes = ir.tensor(np.ascontiguousarray(codes.numpy()[:, order]))
        w = decoded(n, codes, scale, zero, block_size, K)
        x = n("Gather", x, n.constant(order, "order"), axis=-1)
    else:
        each = [part.astype(np.float32)[:, groups] for part in (scale, zero)]
        floats = (codes.numpy()[:, :K].astype(np.float32) - each[1]) * each[0]
        w = n.constant(np.ascontiguousarray(floats), "weight")
    wide = x.dtype == ir.DataType.FLOAT or scale.dtype == ir.DataType.FLOAT
    y = n(
        "MatMul",
        x if wide else n("Cast", x, to=int(ir.DataType.FLOAT)),
        n("Transpose", w, perm=[1, 0]),
    )
    y = y if wide else n("CastLike", y, x)
    return n.plus(y, n.get(5))


@means("MatMulBnb4")
def matmul_bnb4(
    n: Foreign,
    *,
    K: int,
    N: int,
    block_size: int,
    quant_type: int,
    training_mode: int = 0,
    transB: int = 1,
) -> ir.Value:
    """A [.., K] times the transpose of B [N, K], 4-bit floats as bitsandbytes packs them: blocks run on over rows, each has its
    largest magnitude. No format of ours has such blocks: the weight becomes floats, which `--quantize` makes few bits again."""
    n.only("quant_type", quant_type, 0, 1)
    n.only("training_mode", training_mode, 0)
    n.only("transB", transB, 1)
    count = K * N
    if min(K, N, block_size) < 1:
        n.refuse(f"expected K, N and block_size above 0, got {K}, {N}, {block_size}")
    packed, most = constant_of(n, 1, "B").numpy().reshape(-1), constant_of(n, 2, "absmax").numpy()
    if packed.dtype != np.uint8 or packed.size != -(-count // 2):
        n.refuse(
            f"expected B as uint8 with {-(-count // 2)} bytes, got {packed.dtype} {packed.size}"
        )
    if most.size != -(-count // block_size):
        n.refuse(f"expected absmax of {-(-count // block_size)} numbers, got {most.size}")
    codes = np.stack([packed >> 4, packed & 15], axis=1).reshape(-1)[:count]
    scale = np.repeat(most.reshape(-1).astype(np.float32), block_size)[:count]
    w = (BNB4[quant_type][codes] * scale).reshape(N, K)
    weight = n.constant(np.ascontiguousarray(w.T), "weight")
    if n[0].dtype == ir.DataType.FLOAT:
        return n("MatMul", n[0], weight)
    return n("CastLike", n("MatMul", n("Cast", n[0], to=int(ir.DataType.FLOAT)), weight), n[0])


def decoded(
    n: Foreign, codes: ir.TensorProtocol, scale: g.Array, zero: g.Array, block: int, k: int
) -> ir.Value:
    """f32 [N, K]: DequantizeLinear where zero points are integers, else the weight itself."""
    wide = scale.astype(np.float32)
    if np.array_equal(zero, np.rint(zero)):
        kind = codes.dtype.numpy()
        if k < int(str(codes.shape[1])):
            codes = ir.tensor(np.ascontiguousarray(codes.numpy()[:, :k]))
        parts = [n.constant(codes, "codes"), n.constant(wide, "scale")]
        parts.append(n.constant(zero.astype(np.uint8).astype(kind), "zero"))
        return n("DequantizeLinear", *parts, axis=1, block_size=block)
    each = [np.repeat(part, block, axis=1)[:, :k] for part in (wide, zero.astype(np.float32))]
    w = (codes.numpy()[:, :k].astype(np.float32) - each[1]) * each[0]
    return n.constant(np.ascontiguousarray(w), "weight")


def constant_of(n: Foreign, i: int, what: str) -> ir.TensorProtocol:
    tensor = g.constant_tensor(n[i])
    if tensor is None:
        n.refuse(f"input {i} ({what}) is computed while running, expected a constant")
    return tensor


def _shaped(n: Foreign, i: int, shape: tuple[int, int], what: str) -> g.Array:
    array = constant_of(n, i, what).numpy()
    if array.size != shape[0] * shape[1]:
        n.refuse(f"expected {what} of {list(shape)} elements, got {list(array.shape)}")
    return np.asarray(array.reshape(shape))


def _codes(n: Foreign, i: int, shape: tuple[int, int], bits: int) -> ir.TensorProtocol:
    """Packed bytes, low bits first, are the bytes of ONNX's own packed type."""
    tensor = constant_of(n, i, "B")
    if tensor.size * 8 != shape[0] * shape[1] * bits or tensor.dtype != ir.DataType.UINT8:
        n.refuse(
            f"expected B as uint8 with {shape[0] * shape[1] * bits // 8} bytes, got {tensor.dtype.name} {list(tensor.shape)}"
        )
    return retyped(tensor, CODES[bits], shape)


def retyped(
    tensor: ir.TensorProtocol, dtype: ir.DataType, shape: Sequence[int]
) -> ir.TensorProtocol:
    """The same bytes as elements of another type; they stay where they are."""
    name = tensor.name or ""
    if isinstance(tensor, ir.ExternalTensor):
        return ir.ExternalTensor(
            tensor.location, tensor.offset, tensor.length, dtype, shape=ir.Shape(shape), name=name,
            base_dir=tensor.base_dir,
        )  # fmt: skip
    raw = tensor.tobytes()
    return ir.Tensor(unpacked(np.frombuffer(raw, np.uint8), dtype, shape), dtype=dtype, name=name)


def unpacked(raw: g.Array, dtype: ir.DataType, shape: Sequence[int]) -> g.Array:
    bits = dtype.bitwidth
    if bits == 8:
        return raw.reshape(shape)
    if bits > 8:
        return raw.view(dtype.numpy()).reshape(shape)
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    codes = (raw[:, None] >> shifts) & np.uint8((1 << bits) - 1)
    return codes.reshape(-1)[: int(np.prod(shape))].reshape(shape).view(dtype.numpy())


def _zeros(n: Foreign, i: int, shape: tuple[int, int], bits: int) -> g.Array:
    """Zero points as numbers [N, blocks]: packed like B row by row, in A's type, or the middle of the codes."""
    if n.get(i) is None:
        return np.full(shape, float(1 << (bits - 1)), np.float32)
    tensor = constant_of(n, i, "zero_points")
    if tensor.dtype != ir.DataType.UINT8:
        return _shaped(n, i, shape, "zero_points").astype(np.float32)
    width = -(-shape[1] * bits // 8)
    if tensor.size != shape[0] * width:
        n.refuse(f"expected zero_points of {[shape[0], width]} bytes, got {list(tensor.shape)}")
    raw = np.frombuffer(tensor.tobytes(), np.uint8)
    wide = unpacked(raw, CODES[bits], (shape[0], width * 8 // bits))
    return wide[:, : shape[1]].astype(np.uint8).astype(np.float32)


def _groups(n: Foreign, k: int, blocks: int) -> g.Array | None:
    """g_idx, the block whose scale each element of K has; None: in order."""
    if n.get(4) is None:
        return None
    groups = constant_of(n, 4, "g_idx").numpy().reshape(-1)[:k]
    if groups.size < k:
        n.refuse(f"expected g_idx of {k} elements, got {groups.size}")
    groups = np.where(groups < 0, groups + blocks, groups).astype(np.int64)
    if groups.min() < 0 or groups.max() >= blocks:
        n.refuse(
            f"expected g_idx of blocks 0 to {blocks - 1}, got {groups.min()} to {groups.max()}"
        )
    return groups


@means("GatherBlockQuantized")
def gather_block_quantized(
    n: Foreign,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
) -> ir.Value:
    """Rows of a table in blocks: Gather(DequantizeLinear(table))."""
    n.only("bits", bits, *CODES)
    data, scale = constant_of(n, 0, "data"), n[2]
    rank = len(data.shape)
    zero = n.get(3)
    if data.dtype == ir.DataType.UINT8:
        shape = [int(str(d)) for d in data.shape]
        shape[-1] = shape[-1] * 8 // bits
        blocks = [int(str(d)) for d in constant_of(n, 2, "scales").shape]
        data = retyped(data, CODES[bits], shape)
        kind = CODES[bits].numpy()
        if zero is None:
            zeros = np.full(blocks, 1 << (bits - 1), np.uint8)
        else:
            raw = np.frombuffer(constant_of(n, 3, "zero_points").tobytes(), np.uint8)
            width = -(-blocks[-1] * bits // 8) * 8 // bits
            zeros = unpacked(raw, CODES[bits], [*blocks[:-1], width])[..., : blocks[-1]]
        zero = n.constant(zeros.astype(np.uint8).astype(kind), "zero")
    axis = quantize_axis % rank
    codes = n.constant(data, "codes")
    table = n("DequantizeLinear", codes, scale, zero, axis=axis, block_size=block_size)
    return n("Gather", table, n[1], axis=gather_axis)

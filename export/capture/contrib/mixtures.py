"""Mixtures of experts, with weights of floats or of few bits."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .foreign import Foreign, means
from .products import CODES, constant_of, decoded, retyped, unpacked


class Layer(Protocol):
    """A product of each expert with a matrix [out, inner]; `bias` [experts, out]."""

    @property
    def experts(self) -> int: ...
    @property
    def out(self) -> int: ...
    @property
    def inner(self) -> int: ...
    @property
    def bias(self) -> g.Array | None: ...
    def matrix(self, n: Foreign, e: int) -> ir.Value:
        """Of one expert, in f32; bytes of a file stay there."""


@dataclasses.dataclass(frozen=True, slots=True)
class Floats:
    """`weights` [experts, out, inner]."""

    weights: ir.TensorProtocol
    bias: g.Array | None

    @property
    def experts(self) -> int:
        return int(str(self.weights.shape[0]))

    @property
    def out(self) -> int:
        return int(str(self.weights.shape[1]))

    @property
    def inner(self) -> int:
        return int(str(self.weights.shape[2]))

    def matrix(self, n: Foreign, e: int) -> ir.Value:
        w = n.constant(
            _expert(self.weights, e, self.weights.dtype, (self.out, self.inner)), "experts"
        )
        wide = int(ir.DataType.FLOAT)
        return w if self.weights.dtype == ir.DataType.FLOAT else n("Cast", w, to=wide)


@dataclasses.dataclass(frozen=True, slots=True)
class Codes:
    """`codes` uint8 [experts, out, inner * bits / 8], `scale` and `zero` [experts, out, blocks]."""

    codes: ir.TensorProtocol
    scale: g.Array
    zero: g.Array
    bias: g.Array | None
    bits: int

    @property
    def experts(self) -> int:
        return len(self.scale)

    @property
    def out(self) -> int:
        return int(self.scale.shape[1])

    @property
    def inner(self) -> int:
        return int(str(self.codes.shape[2])) * 8 // self.bits

    def matrix(self, n: Foreign, e: int) -> ir.Value:
        codes = _expert(self.codes, e, CODES[self.bits], (self.out, self.inner))
        block = self.inner // self.scale.shape[2]
        return decoded(n, codes, self.scale[e], self.zero[e], block, self.inner)


@dataclasses.dataclass(frozen=True, slots=True)
class Activation:
    """Between an expert's products."""

    kind: str
    alpha: float
    beta: float
    limit: float

    @property
    def fused(self) -> int:
        """How many columns make one."""
        return 2 if self.kind == "swiglu" else 1


@means("MoE")
def moe(
    n: Foreign,
    *,
    k: int = 1,
    activation_type: str = "relu",
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    swiglu_limit: float = float("inf"),
    swiglu_fusion: int = 0,
    normalize_routing_weights: int = 0,
    use_sparse_mixer: int = 0,
) -> ir.Value:
    """As `qmoe`, with weights of floats, and gates that are the softmax of all scores: of the chosen ones' alone where normalized."""
    n.without(6, "fc3_experts_weights", "fc3_experts_bias")
    act = _activation(
        n, activation_type, activation_alpha, activation_beta, swiglu_limit, swiglu_fusion
    )
    n.only("use_sparse_mixer", use_sparse_mixer, 0)
    gates = None
    if not normalize_routing_weights:
        gates = n("Softmax", _wide(n, n[1]), axis=-1)
    return _mixed(n, _floats(n, 2), _floats(n, 4), act, k, gates, 0)


@means("QMoE")
def qmoe(
    n: Foreign,
    *,
    k: int = 1,
    activation_type: str = "relu",
    activation_alpha: float = 1.0,
    activation_beta: float = 0.0,
    swiglu_limit: float = float("inf"),
    swiglu_fusion: int = 0,
    block_size: int = 0,
    expert_weight_bits: int = 4,
    fc1_expert_weight_bits: int = 0,
    fc2_expert_weight_bits: int = 0,
    normalize_routing_weights: int = 0,
    quant_type: str = "int",
    use_sparse_mixer: int = 0,
    weights_prepacked: int = -1,
    accuracy_level: int = 0,
) -> ir.Value:
    """Of each token, the sum of its k experts' results times their gates: each expert meets the tokens that chose it, and its weights
    stay codes. As onnxruntime's CPU has it: gates are the softmax of the k chosen, whether they are normalized or not; where
    router_weights are given, those. accuracy_level allows int8 activations, which nothing here needs."""
    n.only("quant_type", quant_type, "int")
    n.only("use_sparse_mixer", use_sparse_mixer, 0)
    n.only("weights_prepacked", weights_prepacked, -1, 0)
    act = _activation(
        n, activation_type, activation_alpha, activation_beta, swiglu_limit, swiglu_fusion
    )
    n.without(8, "fc3_experts_weights", "fc3_scales", "fc3_experts_bias")
    n.without(13, "fc3_zero_points")
    n.without(15, "fc1_global_scale", "fc2_global_scale", "fc1_act_scale", "fc2_act_scale")
    first = _codes(n, 2, 11, fc1_expert_weight_bits or expert_weight_bits, block_size)
    second = _codes(n, 5, 12, fc2_expert_weight_bits or expert_weight_bits, block_size)
    return _mixed(n, first, second, act, k, n.get(14), normalize_routing_weights)


def _activation(
    n: Foreign, kind: str, alpha: float, beta: float, limit: float, fusion: int
) -> Activation:
    n.only("activation_type", kind, "relu", "gelu", "silu", "swiglu", "identity")
    if kind == "swiglu":
        n.only("swiglu_fusion", fusion, 1)
    return Activation(kind, alpha, beta, limit)


def _mixed(
    n: Foreign,
    first: Layer,
    second: Layer,
    act: Activation,
    k: int,
    given: ir.Value | None,
    normalized: int,
) -> ir.Value:
    experts, middle = first.experts, first.out // act.fused
    if second.experts != experts or second.inner * act.fused != first.out:
        n.refuse(
            f"expected fc2 of {experts} experts over {middle}, got {second.experts} over {second.inner}"
        )
    if not 1 <= k <= experts:
        n.refuse(f"expected k of 1 to {experts}, got {k}")
    x = _wide(n, n[0])
    rows = n("Reshape", x, n.ints(-1, first.inner))
    chosen, gates = _routed(n, k, given, normalized)
    shape = n("Concat", n("Shape", chosen), n.ints(second.out), axis=0)
    y = n("ConstantOfShape", shape, value=ir.tensor(np.zeros(1, np.float32)))
    for e in range(experts):
        at = n("NonZero", n("Equal", chosen, n.constant(np.array(e, np.int64), "expert")))
        token = n("Squeeze", at, n.ints(0))
        if k > 1:
            token = n("Div", token, n.constant(np.array(k, np.int64), "k"))
        h = _product(n, first, e, n("Gather", rows, token, axis=0))
        h = _activated(n, h, act)
        y = n("ScatterND", y, n("Transpose", at, perm=[1, 0]), _product(n, second, e, h))
    each = n("Mul", n("Reshape", y, n.ints(-1, k, second.out)), n("Unsqueeze", gates, n.ints(2)))
    total = n("ReduceSum", each, n.ints(1), keepdims=0)
    total = n("Reshape", total, n("Shape", x))
    return total if x is n[0] else n("CastLike", total, n[0])


def _routed(
    n: Foreign, k: int, given: ir.Value | None, normalized: int
) -> tuple[ir.Value, ir.Value]:
    """Of each token its k experts, [tokens * k], and their gates, [tokens, k]."""
    best, top = n.several("TopK", 2, _wide(n, n[1]), n.ints(k), axis=-1)
    if given is None:
        gates = n("Softmax", best, axis=-1)
    else:
        gates = _wide(n, n("GatherElements", given, top, axis=-1))
        if normalized:
            gates = n("Div", gates, n("ReduceSum", gates, n.ints(-1), keepdims=1))
    return n("Reshape", top, n.ints(-1)), gates


def _wide(n: Foreign, x: ir.Value) -> ir.Value:
    """In f32."""
    return x if x.dtype == ir.DataType.FLOAT else n("Cast", x, to=int(ir.DataType.FLOAT))


def _product(n: Foreign, layer: Layer, e: int, x: ir.Value) -> ir.Value:
    """x [rows, inner] times the transpose of the expert's matrix."""
    y = n("MatMul", x, n("Transpose", layer.matrix(n, e), perm=[1, 0]))
    return y if layer.bias is None else n("Add", y, n.constant(layer.bias[e], "bias"))


def _activated(n: Foreign, x: ir.Value, act: Activation) -> ir.Value:
    kind = act.kind
    if kind == "swiglu":  # g and l take turns in a row
        end = n.ints(np.iinfo(np.int64).max)
        gate, linear = (n("Slice", x, n.ints(i), end, n.ints(-1), n.ints(2)) for i in (0, 1))
        if np.isfinite(act.limit):
            gate = n("Clip", gate, None, n.like(act.limit, x))
            linear = n("Clip", linear, n.like(-act.limit, x), n.like(act.limit, x))
        turned = gate if act.alpha == 1 else n("Mul", gate, n.like(act.alpha, x))
        gate = n("Mul", gate, n("Sigmoid", turned))
        return n("Mul", gate, linear if act.beta == 0 else n("Add", linear, n.like(act.beta, x)))
    if kind == "silu":
        return n("Mul", x, n("Sigmoid", x))
    if kind == "gelu":
        return n("Gelu", x, approximate="tanh")
    return n("Relu", x) if kind == "relu" else x


def _floats(n: Foreign, at: int) -> Floats:
    """Weights and biases from input `at` on."""
    weights = constant_of(n, at, "weights")
    if len(weights.shape) != 3 or not weights.dtype.is_floating_point():
        n.refuse(
            f"expected input {at} (weights) as floats [experts, out, inner], got {weights.dtype.name} {list(weights.shape)}"
        )
    experts, out = (int(str(d)) for d in weights.shape[:2])
    bias = None if n.get(at + 1) is None else _sized(n, at + 1, (experts, out), "bias")
    return Floats(weights, bias)


def _codes(n: Foreign, at: int, zeros: int, bits: int, block: int) -> Codes:
    """Weights, scales and biases from input `at` on."""
    n.only("bits", bits, *CODES)
    codes = constant_of(n, at, "weights")
    sizes = [int(str(d)) for d in codes.shape]
    if codes.dtype != ir.DataType.UINT8 or len(sizes) != 3:
        n.refuse(
            f"expected input {at} (weights) as uint8 [experts, out, bytes], got {codes.dtype.name} {sizes}"
        )
    experts, out, inner = sizes[0], sizes[1], sizes[2] * 8 // bits
    if block < 0 or (block and inner % block):
        n.refuse(f"expected a block_size that divides {inner}, got {block}")
    blocks = inner // block if block else 1
    scale = _sized(n, at + 1, (experts, out, blocks), "scales")
    bias = None if n.get(at + 2) is None else _sized(n, at + 2, (experts, out), "bias")
    zero = _zeros(n, zeros, (experts, out, blocks), bits, block)
    return Codes(codes, scale, zero, bias, bits)


def _sized(n: Foreign, i: int, shape: tuple[int, ...], what: str) -> g.Array:
    array = constant_of(n, i, what).numpy()
    if array.size != int(np.prod(shape)):
        n.refuse(f"expected input {i} ({what}) of {list(shape)}, got {list(array.shape)}")
    return np.asarray(array.reshape(shape), np.float32)


def _zeros(n: Foreign, i: int, shape: tuple[int, int, int], bits: int, block: int) -> g.Array:
    """Zero points [experts, out, blocks]: bytes along the blocks, or along `out` where each row is one block."""
    if n.get(i) is None:
        return np.full(shape, float(1 << (bits - 1)), np.float32)
    tensor = constant_of(n, i, "zero_points")
    *lead, count = shape if block else shape[:2]
    width = -(-count * bits // 8)
    if tensor.dtype != ir.DataType.UINT8 or tensor.size != int(np.prod(lead)) * width:
        n.refuse(
            f"expected input {i} (zero_points) as uint8 {[*lead, width]}, got {tensor.dtype.name} {list(tensor.shape)}"
        )
    raw = np.frombuffer(tensor.tobytes(), np.uint8)
    wide = unpacked(raw, CODES[bits], (*lead, width * 8 // bits))[..., :count]
    return np.asarray(wide.astype(np.uint8).astype(np.float32).reshape(shape))


def _expert(
    tensor: ir.TensorProtocol, e: int, kind: ir.DataType, shape: tuple[int, int]
) -> ir.TensorProtocol:
    """What one expert has of a tensor of all; bytes of a file stay there."""
    name = f"{tensor.name or 'experts'}.{e}"
    if isinstance(tensor, ir.ExternalTensor):
        length = shape[0] * shape[1] * kind.bitwidth // 8
        part = ir.ExternalTensor(
            tensor.location, (tensor.offset or 0) + e * length, length, ir.DataType.UINT8, name=name,
            shape=ir.Shape([length]), base_dir=tensor.base_dir,
        )  # fmt: skip
        return retyped(part, kind, shape)
    return retyped(ir.tensor(tensor.numpy()[e], name=name), kind, shape)

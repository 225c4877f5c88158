"""What a model came quantized with: its weights as they are stored, and how its activations are rounded. The graph is read as it was
written; no weight is.

A stored weight is a constant that a DequantizeLinear, a function of ours, or an operator of onnxruntime reads as codes. What else the
reader takes as a constant (scales, zero points, tables of scales) counts to its bits.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, Final

import onnx_ir as ir

import pteron.export.graph as graphs

from .write.functions import DOMAIN as OURS
from .write.functions import SHIFTED

CODES: Final[dict[str, tuple[tuple[int, tuple[int, ...]], ...]]] = {
    "MatMulNBits": ((1, (2, 3, 4)),),
    "MatMulBnb4": ((1, (2,)),),
    "GatherBlockQuantized": ((0, (2, 3)),),
    "QMoE": ((2, (3, 11)), (5, (6, 12)), (8, (9, 13))),
    **dict.fromkeys(("QLinearConv", "QLinearMatMul", "QGemm"), ((3, (4, 5)),)),
    **dict.fromkeys(("ConvInteger", "MatMulInteger"), ((1, (3,)),)),
    "MatMulIntegerToFloat": ((1, (3, 5)),),
    "DynamicQuantizeMatMul": ((1, (2, 3)),),
    "QAttention": ((1, (4, 7)),),
}
"""Operators that read codes themselves: the slot of the codes, and those of their scales, zero points, and what else belongs to them."""
STEPS: Final = (
    "Cast",
    "Identity",
    "Reshape",
    "Transpose",
    "Unsqueeze",
    "Squeeze",
    "DequantizeLinear",
)
"""What may lie between a constant and its reader."""
FLOATS: Final = (
    ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.DOUBLE,
)  # fmt: skip


@dataclasses.dataclass(frozen=True, slots=True)
class Stored:
    """A weight of `count` numbers: `format` of its codes, how many share a scale (a number, "row" or "tensor"; "" without scales), whether
    they have zero points, and all `bits` that it takes."""

    name: str
    format: str
    block: str
    zero: bool
    count: int
    bits: int


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """`weights` in order; `activations`: how many are rounded how."""

    weights: tuple[Stored, ...]
    activations: dict[str, int]

    @property
    def is_quantized(self) -> bool:
        return bool(self.activations) or any(w.block for w in self.weights)

    @property
    def bits(self) -> float:
        """A weight, of all."""
        return sum(w.bits for w in self.weights) / max(sum(w.count for w in self.weights), 1)


def found(model: ir.Model) -> Found:
    """Each constant once: as codes of its first reader, or as floats of two axes or more."""
    reads = [(node, *each) for node in graphs.nodes(model) for each in _stored(node)]
    taken = {v for _, _, parts in reads for part in parts for v in _behind(part)}
    weights: list[Stored] = []
    activations: dict[str, int] = {}
    for node, codes, parts in reads:
        source = _constant(codes)
        if source is not None and source not in taken:
            row = _row(node, source, parts)
            taken |= {source}
            weights += [] if row is None else [row]
    for node in graphs.nodes(model):
        how = _rounding(node)
        if how:
            activations[how] = activations.get(how, 0) + 1
    for node in graphs.nodes(model):
        for value in node.inputs:
            tensor = None if value is None or value in taken else graphs.constant_tensor(value)
            if value is not None and tensor is not None and _is_float(tensor):
                taken.add(value)
                bits = tensor.size * tensor.dtype.bitwidth
                name = _kind(tensor.dtype)
                weights.append(Stored(str(value.name), name, "", False, tensor.size, bits))
    return Found(tuple(weights), dict(sorted(activations.items())))


def _is_float(tensor: ir.TensorProtocol) -> bool:
    return tensor.dtype in FLOATS and len(tensor.shape) > 1


def _kind(dtype: ir.DataType) -> str:
    return dtype.name.lower()


def _stored(node: ir.Node) -> Iterator[tuple[ir.Value | None, Sequence[ir.Value | None]]]:
    """Codes that a node reads, and what belongs to them."""
    inputs = [*node.inputs, *[None] * 16]
    if node.op_type == "DequantizeLinear" or node.domain == OURS:
        yield inputs[0], inputs[1 : len(node.inputs)]
    for slot, parts in CODES.get(node.op_type, ()):
        yield inputs[slot], [inputs[p] for p in parts]


def _constant(value: ir.Value | None) -> ir.Value | None:
    """The constant that `value` is or is made from without arithmetic."""
    while value is not None and graphs.constant_tensor(value) is None:
        node = value.producer()
        if node is None or not graphs.is_op(node, *STEPS[:-1]):
            return None
        value = node.inputs[0]
    return value


def _behind(value: ir.Value | None) -> Iterator[ir.Value]:
    """Constants that a scale or zero point is made from."""
    if value is None:
        return
    if graphs.constant_tensor(value) is not None:
        yield value
        return
    node = value.producer()
    if node is not None and (graphs.is_op(node, *STEPS) or node.domain == OURS):
        for each in node.inputs[: None if node.op_type == "DequantizeLinear" else 1]:
            yield from _behind(each)


def _row(node: ir.Node, source: ir.Value, parts: Sequence[ir.Value | None]) -> Stored | None:
    tensor = graphs.constant_tensor(source)
    if (
        tensor is None
        or tensor.size == 0
        or (tensor.dtype == ir.DataType.INT32 and node.op_type == "DequantizeLinear")
    ):
        return None  # a bias: sums of products, at their scale
    name, count = _format(node, tensor)
    more = [graphs.constant_tensor(v) for part in dict.fromkeys(parts) for v in _behind(part)]
    bits = sum(t.size * t.dtype.bitwidth for t in (tensor, *more) if t is not None)
    scale = next((graphs.constant_tensor(v) for v in _behind(parts[0] if parts else None)), None)
    rows = 0 if scale is None else scale.size
    size = int(graphs.attr(node, "block_size", 0) or 0)
    block = str(size) if size and size < count else "tensor" if rows <= 1 else "row"
    return Stored(str(source.name), name, block, _has_zero(node, parts), count, bits)


def _format(node: ir.Node, tensor: ir.TensorProtocol) -> tuple[str, int]:
    """What codes stand for, and how many there are."""
    if node.domain == OURS and node.op_type != SHIFTED:
        return node.op_type.removeprefix("Dequantize").lower(), tensor.size
    if node.op_type == "MatMulBnb4":
        kind = "nf4" if graphs.attr(node, "quant_type", 1) else "fp4"
        return kind, int(graphs.attr(node, "K")) * int(graphs.attr(node, "N"))
    bits = int(graphs.attr(node, "bits", 0) or graphs.attr(node, "expert_weight_bits", 0) or 0)
    packed = (
        node.op_type in ("MatMulNBits", "QMoE", "GatherBlockQuantized")
        and tensor.dtype == ir.DataType.UINT8
    )
    if packed:
        bits = bits or 4
        count = tensor.size * 8 // bits
        if node.op_type == "MatMulNBits":
            count = int(graphs.attr(node, "K")) * int(graphs.attr(node, "N"))
        return f"uint{bits}", count
    return _kind(tensor.dtype), tensor.size


def _has_zero(node: ir.Node, parts: Sequence[ir.Value | None]) -> bool:
    """Zero points that are not all 0."""
    constants = [graphs.constant_tensor(v) for part in parts[1:2] for v in _behind(part)]
    return any(t is not None and t.size > 0 and bool(t.numpy().any()) for t in constants)


def _rounding(node: ir.Node) -> str:
    """How a node rounds an activation; empty: it rounds none."""
    if graphs.is_op(node, "DynamicQuantizeLinear") or node.op_type == "DynamicQuantizeMatMul":
        return "uint8, ranges found while running"
    if node.op_type != "QuantizeLinear" or graphs.constant_tensor(node.inputs[0]) is not None:
        return ""
    value = node.inputs[2] if len(node.inputs) > 2 else None
    zero: Any = graphs.constant_tensor(value)
    told = graphs.attr(node, "output_dtype", 0)
    dtype = zero.dtype if zero is not None else ir.DataType(told) if told else ir.DataType.UINT8
    still = graphs.constant_tensor(node.inputs[1]) is not None
    return f"{_kind(dtype)}, {'ranges fixed' if still else 'ranges found while running'}"

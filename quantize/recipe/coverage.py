"""How many of a model's layers are quantized, and why the others are not: what a report says first."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Container, Iterable
from typing import Any, Final

import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.graph.int8 import form
from pteron.schema.errors import several

from .layers import layer_names
from .units import TERMS

SLOTS: Final = {
    "Conv": (1,), "ConvTranspose": (1,), "Gemm": (1,), "MatMul": (1, 0), "LSTM": (1, 2), "GRU": (1, 2), "RNN": (1, 2), "Gather": (0,),
}  # fmt: skip
"""Where operators have weights."""
BETWEEN: Final = ("Transpose", "Reshape", "Identity", "Cast")
"""What stands between a quantized weight and the layer."""
RULE: Final = "a rule leaves them out"
TABLE: Final = "Gather reads them as tables, which embeddings (--embeddings) rounds"
FLOATS: Final = frozenset(
    {ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.BFLOAT16, ir.DataType.DOUBLE}
)
MOST: Final = 0.1
"""Of the weights, which may stay as they are without a warning."""


@dataclasses.dataclass(frozen=True, slots=True)
class Left:
    """A layer that stays as it is: its weights, and why."""

    name: str
    operator: str
    weights: int
    why: str


@dataclasses.dataclass(frozen=True, slots=True)
class Coverage:
    """`layers` of how many there are were quantized to `format`, with `weights`; the others are `left`."""

    format: str
    layers: int
    weights: int
    left: tuple[Left, ...]

    @property
    def of(self) -> int:
        return self.layers + len(self.left)

    @property
    def reasons(self) -> dict[str, int]:
        """Layers by why they stay, the most first."""
        return dict(Counter(row.why for row in self.left).most_common())

    @property
    def unasked(self) -> float:
        """The share of all weights that stay without having been left out by a rule."""
        left = sum(row.weights for row in self.left if row.why != RULE)
        return left / max(self.weights + sum(row.weights for row in self.left), 1)

    @property
    def text(self) -> str:
        """int8: 19 of 21 layers; the others because their bias is computed (2)"""
        why = ", ".join(f"{reason} ({count})" for reason, count in self.reasons.items())
        rest = f"; the others because {why}" if why else ""
        return f"{self.format}: {self.layers} of {several(self.of, 'layer')}{rest}"

    @property
    def warning(self) -> str | None:
        """Where more than a tenth of the weights stay that nobody left out."""
        if self.unasked <= MOST:
            return None
        return f"{self.unasked:.0%} of the weights stay as they are; {self.text}"

    def as_dict(self) -> dict[str, Any]:
        rows = [dataclasses.asdict(row) for row in self.left]
        facts: dict[str, Any] = {
            "format": self.format,
            "layers": self.layers,
            "of": self.of,
            "weights": self.weights,
        }
        facts["text"] = self.text
        return {**facts, "reasons": self.reasons, "left": rows}


def mix_of(formats: Iterable[str]) -> str:
    """int8, or 20 mxfp6, 9 nf4: what layers are quantized to, the most first."""
    counts = Counter(formats).most_common()
    return counts[0][0] if len(counts) == 1 else ", ".join(f"{n} {name}" for name, n in counts)


def coverage(
    model: ir.Model,
    format: str,
    done: Container[ir.Node],
    ruled: Container[ir.Node],
    *,
    static: bool = False,
    tables: bool = False,
) -> Coverage:
    """Of a model before its weights are replaced: `done` are the nodes that will be quantized, `ruled` those that rules
    leave out. What came quantized is neither. `tables`: Gather's were asked for."""
    found = [(node, value) for node in graphs.nodes(model) if (value := _weight(node)) is not None]
    names = layer_names([(node, value) for node, value in found])
    left, count, weights = [], 0, 0
    for (node, value), name in zip(found, names, strict=True):
        if node in done:
            count, weights = count + 1, weights + _size(node)
        else:
            why = RULE if node in ruled else _why(model, node, value, static, tables)
            left.append(Left(name, node.op_type, _size(node), why))
    return Coverage(format, count, weights, tuple(left))


def _weight(node: ir.Node) -> ir.Value | None:
    """The first weight of a layer; None for other nodes, for products of two activations and for what came quantized."""
    slots = SLOTS.get(node.op_type, ()) if node.domain == "" else ()
    values = [node.inputs[i] for i in slots if i < len(node.inputs) and node.inputs[i] is not None]
    held = [v for v in values if graphs.constant_tensor(v) is not None]
    if node.op_type == "Gather":
        tensor = graphs.constant_tensor(held[0]) if held else None
        is_table = tensor is not None and len(tensor.shape) == 2 and tensor.dtype in FLOATS
        return held[0] if is_table and graphs.attr(node, "axis", 0) == 0 else None
    if any(v is not None and _came_quantized(v) for v in values):
        return None
    if held:
        tensor = graphs.constant_tensor(held[0])
        return held[0] if tensor is not None and tensor.dtype in FLOATS else None
    return None if node.op_type == "MatMul" or not values else values[0]


def _came_quantized(value: ir.Value) -> bool:
    node = value.producer()
    while node is not None and graphs.is_op(node, *BETWEEN) and node.inputs[0] is not None:
        node = node.inputs[0].producer()
    return node is not None and (
        node.domain == graphs.OURS or graphs.is_op(node, "DequantizeLinear")
    )


def _size(node: ir.Node) -> int:
    values = [node.inputs[i] for i in SLOTS[node.op_type] if i < len(node.inputs)]
    tensors = [graphs.constant_tensor(v) for v in values]
    return sum(t.size for t in tensors if t is not None)


def _why(model: ir.Model, node: ir.Node, value: ir.Value, static: bool, tables: bool) -> str:
    tensor = graphs.constant_tensor(value)
    if node.op_type == "Gather":
        return (
            "int8 activations have no tables"
            if static
            else "a table of this form stays"
            if tables
            else TABLE
        )
    if tensor is None:
        return "their weight is computed"
    if tensor.dtype != ir.DataType.FLOAT:
        return f"their weight is {tensor.dtype.name.lower()}, not f32"
    if node.op_type not in ("Conv", "Gemm", "MatMul"):
        return f"{node.op_type} is not quantized"
    if node.op_type == "MatMul" and node.inputs[1] is not value:
        return "their weight stands first in the MatMul"
    if len(tensor.shape) != 2 and node.op_type != "Conv":
        return f"their weight has {len(tensor.shape)} axes, not 2"
    return _why_static(model, node, tensor) if static else "a weight of this form stays"


def _why_static(model: ir.Model, node: ir.Node, weight: ir.TensorProtocol) -> str:
    """Of a layer with a weight that could be int8."""
    shape = [int(str(n)) for n in weight.shape]
    if node.graph is not model.graph:
        return "they lie in a body of If, Loop or Scan"
    if graphs.constant_tensor(node.inputs[0]) is not None:
        return "they read a constant"
    if form(node) is None:
        return f"there is no integer {node.op_type} of this form"
    if weight.size // max(shape[0], 1) > TERMS:
        return f"they add more than {TERMS:,} products"
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if bias is not None and graphs.constant_tensor(bias) is None:
        return "their bias is computed"
    if bias is not None:
        return "their bias is not one number a channel in f32"
    return f"the integer {node.op_type} has no such attributes or types"

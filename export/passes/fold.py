"""Folding of constants: small integers, data movement, f32 + - * / sqrt.

Only what gives the same bytes on every machine: moves, integers, comparisons, and float operations that IEEE 754 rounds
exactly. Never a matmul, convolution, sum or transcendental of floats; never a Cast or Dequantize of a low-precision
constant, which would store the weight in the wider type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from .. import graph as g
from ..graph.weights import read

# fmt: off
MOVES: Final = frozenset({
    "Reshape", "Transpose", "Slice", "Concat", "Gather", "Expand", "Squeeze", "Unsqueeze", "Split", "Flatten", "Tile",
    "GatherND", "GatherElements", "ScatterND", "ScatterElements", "ConstantOfShape", "Trilu", "DepthToSpace",
    "SpaceToDepth", "Where", "Pad",
})
INTEGERS: Final = frozenset({
    "Add", "Sub", "Mul", "Neg", "Abs", "Min", "Max", "Mod", "Sign", "Equal", "Less", "LessOrEqual", "Greater",
    "GreaterOrEqual", "And", "Or", "Not", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseNot", "Range", "Shape", "Size",
    "ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin", "CumSum", "NonZero", "OneHot",
})
# fmt: on
EXACT: Final[dict[str, Callable[..., Any]]] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Sqrt": np.sqrt,
    "Neg": np.negative,
    "Abs": np.abs,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Reciprocal": lambda x: np.divide(x.dtype.type(1), x),
}
SMALL: Final = 4096
"""Elements of a result that may be larger than the operands."""
FLOATS: Final = (ir.DataType.FLOAT, ir.DataType.DOUBLE)


def fold_constants(model: ir.Model) -> bool:
    """y = Op(constants) => y an initializer, in every graph.

    Requires: all operands are constants. Declines: results above 4096 elements that exceed their operands, float operations
    other than + - * / sqrt neg abs floor ceil reciprocal and QuantizeLinear to 8 bits, Cast and Dequantize from a low-precision constant, graph outputs.
    """
    changed = False
    for node in list(g.nodes(model)):
        if node.domain != "" or node.graph is None or not isinstance(node.graph, ir.Graph):
            continue
        if any(v.is_graph_output() for v in node.outputs) or any(
            a.type in (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)
            for a in node.attributes.values()
        ):
            continue
        try:
            results = _fold(node)
        except MemoryError:  # a run may have more, or is refused by the node's name
            results = None
        if results is None:
            continue
        graph = node.graph
        for value, tensor in zip(node.outputs, results, strict=True):
            value.replace_all_uses_with(g.initializer(graph, tensor, _name(node, value)))
        graph.remove(node, safe=True)
        changed = True
    return changed


def _name(node: ir.Node, value: ir.Value) -> str:
    """A moved weight is still known by its own name."""
    x = node.inputs[0] if node.inputs else None
    if node.op_type == "Transpose" and x is not None and x.name:
        return f"{x.name}.t"
    return f"{value.name}_folded"


def _fold(node: ir.Node) -> list[ir.TensorProtocol] | None:
    tensors = [g.constant_tensor(v) for v in node.inputs]
    if (
        any(v is not None and t is None for v, t in zip(node.inputs, tensors, strict=True))
        or not tensors
    ):
        return None
    first = tensors[0]
    if first is None or any(t is not None and t.dtype == ir.DataType.STRING for t in tensors):
        return None
    operand_size = sum(t.size for t in tensors if t is not None)
    if node.op_type == "Transpose" and first.size > SMALL:
        return [_lazy_transpose(node, first)]
    if node.op_type == "QuantizeLinear":
        return _quantize(node, first, tensors[1:])
    if node.op_type not in MOVES and operand_size > (1 << 20):
        return None
    if node.op_type == "Cast":
        return _cast(node, first)
    whole = all(
        t is None or t.dtype in (ir.DataType.INT64, ir.DataType.INT32, ir.DataType.BOOL)
        for t in tensors
    )
    if node.op_type == "Div" and whole:
        return (
            [ir.tensor(_divide(*(t.numpy() for t in tensors if t is not None)))]
            if _no_zero(tensors[1])
            else None
        )
    if node.op_type in MOVES or (whole and node.op_type in INTEGERS):
        if not whole and node.op_type in MOVES and operand_size > (1 << 22):
            return None
        return _evaluate(node, tensors, operand_size)
    if (
        node.op_type in EXACT
        and all(t is not None and t.dtype == first.dtype for t in tensors)
        and first.dtype in FLOATS
    ):
        with np.errstate(all="ignore"):
            array = EXACT[node.op_type](*(t.numpy() for t in tensors if t is not None))
        return [ir.tensor(array)] if array.size <= max(SMALL, operand_size) else None
    return None


def _cast(node: ir.Node, x: ir.TensorProtocol) -> list[ir.TensorProtocol] | None:
    to = ir.DataType(g.attr(node, "to"))
    if x.dtype in g.LOW_PRECISION or to in g.LOW_PRECISION or to == ir.DataType.STRING:
        return None
    if x.size > SMALL or (x.dtype in (ir.DataType.FLOAT16, ir.DataType.BFLOAT16) and x.size > 16):
        return None
    array = x.numpy()
    floats_to_whole = array.dtype.kind not in "iub" and to not in (
        *FLOATS,
        ir.DataType.FLOAT16,
        ir.DataType.BFLOAT16,
    )
    if (
        floats_to_whole
        and to != ir.DataType.BOOL
        and not bool(np.all(np.abs(array.astype(np.float64)) < 2.0**31))
    ):
        return None
    return [ir.tensor(array.astype(to.numpy()), dtype=to)]


def _quantize(
    node: ir.Node, x: ir.TensorProtocol, grid: list[ir.TensorProtocol | None]
) -> list[ir.TensorProtocol] | None:
    """int8 and uint8 of f32, one scale or one along an axis: a weight as some tools that train with Q/DQ leave it."""
    scale, zero = grid[0], grid[1] if len(grid) > 1 else None
    if scale is None or zero is None or zero.dtype not in (ir.DataType.INT8, ir.DataType.UINT8):
        return None
    plain = not g.attr(node, "block_size", 0) and not g.attr(node, "precision", 0)
    if not plain or x.dtype != ir.DataType.FLOAT or scale.dtype != ir.DataType.FLOAT:
        return None
    array, rank = x.numpy(), len(x.shape)
    shape = [1] * rank
    if scale.size > 1:
        shape[g.attr(node, "axis", 1) % rank] = -1
    if len(scale.shape) > 1 or not np.isfinite(array).all():
        return None
    with np.errstate(all="ignore"):
        steps = np.rint(array / scale.numpy().reshape(shape if rank else ()))
    limits = np.iinfo(zero.dtype.numpy())
    shifted = steps.astype(np.float64) + zero.numpy().reshape(shape if rank else ())
    if np.isnan(shifted).any():
        return None
    return [ir.tensor(np.clip(shifted, limits.min, limits.max).astype(limits.dtype))]


def _no_zero(x: ir.TensorProtocol | None) -> bool:
    return x is not None and bool(np.all(x.numpy() != 0))


def _divide(a: g.Array, b: g.Array) -> g.Array:
    """ONNX divides integers toward zero; NumPy toward minus infinity."""
    with np.errstate(over="ignore"):  # the lowest number by -1 wraps
        down, rest = np.divmod(a, b)
    return np.asarray(down + ((rest != 0) & ((a < 0) != (b < 0)))).astype(a.dtype)


def _lazy_transpose(node: ir.Node, x: ir.TensorProtocol) -> ir.TensorProtocol:
    """A large weight is transposed when somebody reads it."""
    perm = [int(p) for p in g.attr(node, "perm", range(len(x.shape))[::-1])]
    sizes = g.sizes(x)
    dtype = x.dtype
    return ir.LazyTensor(
        lambda: ir.tensor(np.array(read(x).transpose(perm), order="C"), dtype=dtype),
        dtype=dtype,
        shape=ir.Shape([sizes[p] for p in perm]),
        cache=False,
    )


def _evaluate(
    node: ir.Node, tensors: list[ir.TensorProtocol | None], operand_size: int
) -> list[ir.TensorProtocol] | None:
    """onnx's reference evaluator on the one node; None where it fails or the result is too large."""
    if node.op_type in ("ConstantOfShape", "Expand", "Tile", "Range", "OneHot", "Pad") and _grows(
        node
    ):
        return None
    feeds = {f"i{k}": t.numpy() for k, t in enumerate(tensors) if t is not None}
    inputs = ["" if t is None else f"i{k}" for k, t in enumerate(tensors)]
    outputs = [f"o{k}" for k in range(len(node.outputs))]
    proto = onnx.helper.make_node(node.op_type, inputs, outputs)
    proto.attribute.extend(ir.to_proto(a) for a in node.attributes.values())
    graph = onnx.helper.make_graph(
        [proto],
        "fold",
        [onnx.ValueInfoProto(name=k) for k in feeds],
        [onnx.ValueInfoProto(name=k) for k in outputs],
    )
    model = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", node.version or g.OPSET)]
    )
    try:
        results = ReferenceEvaluator(model).run(None, feeds)
    except Exception:
        return None
    if sum(np.size(r) for r in results) > max(SMALL, operand_size):
        return None
    made = []
    for value, result in zip(node.outputs, results, strict=True):
        dtype = value.dtype if value.dtype in g.LOW_PRECISION else None
        made.append(ir.tensor(np.asarray(result), dtype=dtype))
    return made


def _grows(node: ir.Node) -> bool:
    """Whether the inferred result has more than 4096 elements, or a size that inference does not know."""
    extents = g.dims(node.outputs[0])
    if extents is None or any(not isinstance(d, int) for d in extents):
        return True
    return int(np.prod([d for d in extents if isinstance(d, int)])) > SMALL

"""Folding of constants: small integers, data movement, f32 + - * / sqrt.

Only what gives the same bytes on every machine: moves, integers, comparisons, and float operations that IEEE 754 rounds
exactly. Never a matmul, convolution, sum or transcendental of floats; never a Cast or Dequantize of a low-precision
constant, which would store the weight in the wider type.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from pteron.schema.errors import ModelError

from .. import graph as g
from ..graph import weights
from ..graph.inference import infer_node
from ..graph.weights import read
from .sizes import RULES, Element, constants, made_of, taken

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
GROWTH: Final = 1 << 22
"""Elements that all results together may have more than what they replace; as many as the model's constants where these are more."""
LARGEST: Final = 1 << 31
"""Elements of a value that follows from constants alone, whoever computes it."""
GROWN: Final = "pteron.grown"
"""Key in a model's `meta`: elements that may still be added."""
FLOATS: Final = (ir.DataType.FLOAT, ir.DataType.DOUBLE)
WHOLE: Final = {
    ir.DataType.INT64: np.int64,
    ir.DataType.INT32: np.int32,
    ir.DataType.BOOL: np.bool_,
}


def fold_constants(model: ir.Model) -> bool:
    """y = Op(constants) => y an initializer, in every graph; so what follows from known sizes, of a Shape, too.

    Requires: all operands are constants, or all elements follow from sizes that inference knows (not in bodies of loops, where
    these may change). Declines: results above 4096 elements that exceed their operands, float operations
    other than + - * / sqrt neg abs floor ceil reciprocal and QuantizeLinear to 8 bits, Cast and Dequantize from a low-precision constant, graph outputs.

    Raises:
        ModelError: constants alone give a value of more than 2^31 elements.
    """
    return Folding(model).run()


class Folding:
    """One walk over a model. What is folded tells the shapes of what follows, so that one walk is enough for most models."""

    def __init__(self, model: ir.Model) -> None:
        self.model = model
        held = [v.const_value for graph in g.graphs(model) for v in graph.initializers.values()]
        model.meta.setdefault(GROWN, max(GROWTH, sum(t.size for t in held if t is not None)))
        self._used = g.names(model)
        self._elements: dict[ir.Value, list[Element]] = {}
        self._told: set[ir.Value] = (
            set()
        )  # of whose shape or elements more is known than was inferred
        self._derived: set[ir.Value] = set()  # from constants alone, but not folded
        self._loops = {graph for node in g.nodes(model) for graph in _loops(node)}

    def run(self) -> bool:
        changed = False
        for node in list(g.nodes(self.model)):
            graph = node.graph
            if node.domain != "" or not isinstance(graph, ir.Graph) or g.bodies(node):
                continue
            self._infer(node)
            results = None
            if not any(v.is_graph_output() for v in node.outputs):
                try:
                    results = self._sized(node) or self._folded(node)
                except MemoryError:  # a run may have more, or is refused by the node's name
                    results = None
            if results is None:
                self._mark(node)
                continue
            for value, tensor in zip(node.outputs, results, strict=True):
                made = g.initializer(graph, tensor, _name(node, value), self._used)
                self._told.add(made)
                if node.op_type == "Transpose" and isinstance(tensor, ir.LazyTensor):
                    weights.note_transposed(made, node.inputs[0], _perm(node))
                value.replace_all_uses_with(made)
            graph.remove(node, safe=True)
            changed = True
        return changed

    def _infer(self, node: ir.Node) -> None:
        """Shapes of the outputs anew, where more is known of an input than when they were inferred."""
        given = [v for v in node.inputs if v is not None]
        unknown = any(v.shape is None for v in node.outputs)
        alone = unknown and all(g.constant_tensor(v) is not None for v in given)
        if not alone and not self._told.intersection(given):
            return
        before = [v.shape for v in node.outputs]
        if any(v.is_graph_output() for v in node.outputs):
            return
        for value in node.outputs:
            value.shape = None
        infer_node(node, self.model.graph.opset_imports)
        for value, shape in zip(node.outputs, before, strict=True):
            if value.shape is None:
                value.shape = shape
            elif value.shape != shape:
                self._told.add(value)

    def _sized(self, node: ir.Node) -> list[ir.TensorProtocol] | None:
        """What all elements of the outputs are known to be."""
        if node.op_type not in RULES or node.graph in self._loops:
            return None
        for value in node.outputs:
            made = made_of(value, self._of)
            if made is not None:
                self._elements[value] = made
        found: list[ir.TensorProtocol] = []
        for value in node.outputs:
            kind, extents = WHOLE.get(value.dtype or ir.DataType.FLOAT), g.dims(value)
            known = [e for e in self._elements.get(value, ()) if isinstance(e, int)]
            sizes = [n for n in extents or () if isinstance(n, int)]
            whole = value in self._elements and len(known) == len(self._elements[value])
            if kind is None or extents is None or not whole or len(sizes) != len(extents):
                return None
            if math.prod(sizes) != len(known):
                return None
            found.append(ir.tensor(np.array(known, kind).reshape(sizes)))
        return found

    def _of(self, value: ir.Value | None) -> list[Element] | None:
        if value is None:
            return None
        found = self._elements.get(value)
        return constants(value) if found is None else found

    def _mark(self, node: ir.Node) -> None:
        """Raises ModelError: nothing but constants gives a value that is too large for any of them."""
        given = [v for v in node.inputs if v is not None]
        alone = all(v in self._derived or g.constant_tensor(v) is not None for v in given)
        if not given or not alone:
            return
        self._derived.update(node.outputs)
        for value in node.outputs:
            size = _count(value)
            if size is not None and size > LARGEST:
                raise ModelError(
                    f"node {node.name!r} ({node.op_type}): makes {size:,} elements of constants alone, expected at most "
                    f"{LARGEST:,}; make them smaller, or an input"
                )

    def _folded(self, node: ir.Node) -> list[ir.TensorProtocol] | None:
        """Results that are small, or no larger than the operands, while there is room for what they add."""
        operands = dict.fromkeys(v for v in node.inputs if v is not None)
        tensors = [g.constant_tensor(v) for v in operands]
        if not operands or any(t is None or t.dtype == ir.DataType.STRING for t in tensors):
            return None
        held = sum(t.size for t in tensors if t is not None)
        most = min(max(SMALL, held), self._room(node))
        size = _result_size(node, held)
        if size is None or size > most:
            return None
        results = _fold(node, held, self.model.graph.opset_imports[""])
        if results is None or sum(t.size for t in results) > most:
            return None
        self.model.meta[GROWN] -= max(0, sum(t.size for t in results) - self._freed(node))
        return results

    def _freed(self, node: ir.Node) -> int:
        """Elements of constants that nothing else reads."""
        read = dict.fromkeys(v for v in node.inputs if v is not None)
        alone = [
            v for v in read if all(u.node is node for u in v.uses()) and not v.is_graph_output()
        ]
        return sum(t.size for t in map(g.constant_tensor, alone) if t is not None)

    def _room(self, node: ir.Node) -> int:
        return int(self.model.meta[GROWN]) + self._freed(node)


def _loops(node: ir.Node) -> list[ir.Graph]:
    """Graphs in a loop."""
    if not g.is_op(node, "Loop", "Scan"):
        return []
    inner = [n for body in g.bodies(node) for n in g.nodes_of(body)]
    return [*g.bodies(node), *(body for n in inner for body in g.bodies(n))]


def _count(value: ir.Value) -> int | None:
    extents = g.dims(value)
    sizes = [n for n in extents or () if isinstance(n, int)]
    return math.prod(sizes) if extents is not None and len(sizes) == len(extents) else None


def _result_size(node: ir.Node, held: int) -> int | None:
    """Elements of all results, before they are computed; None where nobody knows."""
    if node.op_type == "NonZero":
        return held * (g.rank(node.inputs[0]) or 1)
    counts = [_count(v) for v in node.outputs if v.name]
    known = [n for n in counts if n is not None]
    return sum(known) if len(known) == len(counts) else None


def _name(node: ir.Node, value: ir.Value) -> str:
    """A moved weight is still known by its own name."""
    x = node.inputs[0] if node.inputs else None
    if node.op_type == "Transpose" and x is not None and x.name:
        return f"{x.name}.t"
    return f"{value.name}_folded"


def _fold(node: ir.Node, operand_size: int, opset: int) -> list[ir.TensorProtocol] | None:
    tensors = [g.constant_tensor(v) for v in node.inputs]
    first = tensors[0]
    if first is None:
        return None
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
        return _evaluate(node, tensors, opset)
    if (
        node.op_type in EXACT
        and all(t is not None and t.dtype == first.dtype for t in tensors)
        and first.dtype in FLOATS
    ):
        with np.errstate(all="ignore"):
            array = EXACT[node.op_type](*(t.numpy() for t in tensors if t is not None))
        return [ir.tensor(array)]
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


def _perm(node: ir.Node) -> list[int]:
    axes = range(g.rank(node.inputs[0]) or 0)
    return [int(p) for p in g.attr(node, "perm", axes[::-1])]


def _lazy_transpose(node: ir.Node, x: ir.TensorProtocol) -> ir.TensorProtocol:
    """A large weight is transposed when somebody reads it."""
    perm = _perm(node)
    sizes = g.sizes(x)
    dtype = x.dtype
    return ir.LazyTensor(
        lambda: ir.tensor(np.array(read(x).transpose(perm), order="C"), dtype=dtype),
        dtype=dtype,
        shape=ir.Shape([sizes[p] for p in perm]),
        cache=False,
    )


def _sliced(x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> g.Array:
    axes = range(len(starts)) if axes is None else axes.tolist()
    steps = [1] * len(starts) if steps is None else steps.tolist()
    places = [slice(None)] * x.ndim
    for axis, first, last, step in zip(axes, starts.tolist(), ends.tolist(), steps, strict=True):
        places[axis] = taken(x.shape[axis], first, last, step)
    return np.ascontiguousarray(x[tuple(places)])


def _evaluate(
    node: ir.Node, tensors: list[ir.TensorProtocol | None], opset: int
) -> list[ir.TensorProtocol] | None:
    """onnx's reference evaluator on the one node, but that its slices are NumPy's; None where it fails."""
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
        graph, opset_imports=[onnx.helper.make_opsetid("", node.version or opset)]
    )
    try:
        results: Any
        if node.op_type == "Slice":
            results = [_sliced(*(None if t is None else t.numpy() for t in tensors))]
        else:
            results = ReferenceEvaluator(model).run(None, feeds)
    except Exception:
        return None
    made = []
    for value, result in zip(node.outputs, results, strict=True):
        dtype = value.dtype if value.dtype in g.LOW_PRECISION else None
        made.append(ir.tensor(np.asarray(result), dtype=dtype))
    return made

"""What a Graph is: an onnx_ir.Model, and the few things that capture and passes need beyond onnx_ir.

A Graph is mutable; a pass is a function `(ir.Model) -> bool` that says whether it changed anything. Every node may carry
`metadata_props["pteron.source"]`, "file:line" of what the user wrote, and `["pteron.module"]`, the path of the module that it is
part of; `replace` hands them on, and nodes are named by them (naming.py). Values hold inferred types and shapes only
as a hint for matching (`infer`); lowering states every shape anew.
"""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import onnx
import onnx.shape_inference
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.errors import ModelError

SOURCE: Final = "pteron.source"
"""Metadata key of a node: "file:line" of the user's code."""
MODULE: Final = "pteron.module"
"""Metadata key of a node: path of its module in the user's code, "encoder.layer.0"; "" is the model itself."""
TRACED: Final = "pteron.traced"
"""Metadata key of a value: what its exporter called it, where it is called by a module now."""
STATE: Final = "pteron.state"
"""Metadata key of a model: JSON list of {"input", "output", "initial"}, the pairs that the session keeps."""
CONTEXT: Final = "pteron.context"
"""Metadata key of a model: JSON of {"position": state, "axes": {state: axis of its tokens}}; see passes/context."""
ROUNDED: Final = "pteron.quantized"
"""Metadata key of a model, all of whose quantized weights Pteron rounded: the format; see arithmetic.py."""
PARAMETERS: Final = "pteron.parameters"
"""Key of `model.meta`: names of all that the PyTorch module's state holds, as the initializers are called."""
NOTES: Final = "pteron.notes"
"""Key of `model.meta`: lines for the report on what capture made of something else."""
OPSET: Final = 28
IR_VERSION: Final = 14
OURS: Final = "pteron"
"""Domain of our own functions (NF4 and other formats that ONNX has no type for): never inlined."""
INTEGER: Final = "pteron.integer"
"""Domain of the integer nodes, which state their own shapes: see integer.py."""
LOW_PRECISION: Final = frozenset(
    t
    for t in ir.DataType
    if t.name.startswith(
        ("FLOAT8", "FLOAT6", "FLOAT4", "INT4", "UINT4", "INT2", "UINT2", "INT8", "UINT8")
    )
)

TOLD_BYTES: Final = 1000
"""Initializers of up to so many bytes are told to onnx's inference: they may decide a shape."""
LONGEST: Final = 1 << 16
"""Elements of a vector that onnx's inference follows."""

Array = NDArray[Any]


def nodes(model: ir.Model) -> Iterator[ir.Node]:
    """All nodes of the main graph and its subgraphs, outer before inner, in order."""
    return nodes_of(model.graph)


def nodes_of(these: Iterable[ir.Node]) -> Iterator[ir.Node]:
    """The nodes of a graph, function or list, and of the graphs in them, outer before inner, in order."""
    # as ir.traversal.RecursiveGraphIterator, which costs a passage over a graph several times as much
    for node in these:
        yield node
        for body in bodies(node):
            yield from nodes_of(body)


def bodies(node: ir.Node) -> list[ir.Graph]:
    """The graphs among its attributes, in order; those that name one of a function are none."""
    found: list[ir.Graph] = []
    for a in node.attributes.data.values():  # of the dict itself: most nodes have few or none
        if a.is_ref():
            continue
        if a.type == ir.AttributeType.GRAPH:
            found.append(a.as_graph())
        elif a.type == ir.AttributeType.GRAPHS:
            found += a.as_graphs()
    return found


def graphs(model: ir.Model) -> list[ir.Graph]:
    """The main graph, then every subgraph; functions are not included."""
    return [model.graph, *(body for node in nodes(model) for body in bodies(node))]


def is_op(node: ir.Node | None, *names: str) -> bool:
    return node is not None and node.domain == "" and node.op_type in names


def is_read(value: ir.Value) -> bool:
    """Whether a node reads it, or it is a result of its graph."""
    return bool(value.uses()) or value.is_graph_output()


def read_once(value: ir.Value) -> bool:
    """Whether one input of one node is all that reads it."""
    return len(value.uses()) == 1 and not value.is_graph_output()


def came_quantized(model: ir.Model) -> bool:
    return any(node.op_type == "DequantizeLinear" for node in nodes(model))


def constant(value: ir.Value | None, limit: int = 1 << 16) -> Array | None:
    """The elements of a constant value with at most `limit` elements, else None.

    An initializer that is also a graph input may be overridden by the caller and is no constant.
    """
    tensor = constant_tensor(value)
    if tensor is None or tensor.size > limit or tensor.dtype == ir.DataType.STRING:
        return None
    return tensor.numpy()


def is_sequence(value: ir.Value) -> bool:
    made = value.producer()
    named = made is not None and is_op(made, *SEQUENCES)
    return named or isinstance(value.type, ir.SequenceType)


SEQUENCES: Final = (
    "SequenceEmpty",
    "SequenceConstruct",
    "SequenceInsert",
    "SequenceErase",
    "SplitToSequence",
)
"""Operators whose result is a sequence."""


def constant_tensor(value: ir.Value | None) -> ir.TensorProtocol | None:
    if value is None or value.is_graph_input():
        return None
    producer = value.producer()
    if producer is not None and not is_op(producer, "Constant"):
        return None
    return ir.convenience.get_const_tensor(value)


def scalar(value: ir.Value | None) -> float | None:
    """The number in a constant of one element, else None."""
    array = constant(value, 1)
    return None if array is None or array.size != 1 else float(array.reshape(()))


def ints(value: ir.Value | None) -> list[int] | None:
    """The integers of a small constant, else None."""
    array = constant(value)
    if array is None or array.dtype.kind not in "iu" or array.ndim > 1:
        return None
    return [int(i) for i in array.reshape(-1)]


def attr(node: ir.Node, name: str, default: Any = None) -> Any:
    """An attribute's Python value, `default` where the node has none."""
    found = node.attributes.get(name)
    return default if found is None else found.value


def rank(value: ir.Value | None) -> int | None:
    return None if value is None or value.shape is None else len(value.shape)


def dims(value: ir.Value | None) -> list[int | str | None] | None:
    """Extents: a number, a symbol's name, or None for one that is unknown."""
    if value is None or value.shape is None:
        return None
    return [d if isinstance(d, int) else d.value for d in value.shape]


def axes_of(node: ir.Node) -> list[int] | None:
    """Axes of a Reduce*, Squeeze or Unsqueeze, as an input or (older) an attribute; None: absent or unknown."""
    if "axes" in node.attributes:
        return [int(a) for a in node.attributes["axes"].as_ints()]
    return ints(node.inputs[1]) if len(node.inputs) > 1 else None


def names(model: ir.Model) -> set[str]:
    """Every value name that is taken, in any graph."""
    used = {v.name for n in nodes(model) for v in n.outputs if v.name}
    for graph in graphs(model):
        used |= {v.name for v in graph.inputs if v.name} | set(graph.initializers)
    return used


def fresh(used: set[str], wanted: str) -> str:
    """`wanted`, or `wanted_1` ... where it is taken; the result is added to `used`."""
    name = wanted
    for i in range(1, len(used) + 2):
        if name not in used:
            break
        name = f"{wanted}_{i}"
    used.add(name)
    return name


def names_in(graph: ir.Graph) -> set[str]:
    """Of the graph's own values."""
    made = {v.name for n in graph for v in n.outputs if v.name}
    return made | set(graph.initializers) | {v.name for v in graph.inputs if v.name}


def initializer(
    graph: ir.Graph,
    array: Array | ir.TensorProtocol,
    name: str,
    used: set[str] | None = None,
) -> ir.Value:
    """Adds a constant to `graph`, its name made unique among `used`, which it is added to.

    None: among the graph's own values, in a walk over all its nodes; who adds one for each node keeps `used`.
    """
    tensor = ir.tensor(array) if isinstance(array, np.ndarray) else array
    used = names_in(graph) if used is None else used
    value = ir.Value(
        name=fresh(used, name),
        shape=sizes(tensor),
        type=ir.TensorType(tensor.dtype),
        const_value=tensor,
    )
    graph.register_initializer(value)
    return value


def replace_tensors(model: ir.Model, by: Callable[[ir.TensorProtocol], ir.TensorProtocol]) -> None:
    """Each initializer, and each tensor in an attribute, of functions too, becomes what `by` makes of it."""
    for graph in graphs(model):
        for value in graph.initializers.values():
            if value.const_value is not None:
                value.const_value = by(value.const_value)
    for node in itertools.chain(nodes(model), *map(nodes_of, model.functions.values())):
        for name, a in list(node.attributes.items()):
            if a.type == ir.AttributeType.TENSOR and not a.is_ref():
                new = by(a.as_tensor())
                if new is not a.value:
                    node.attributes[name] = ir.AttrTensor(name, new)


def sizes(tensor: ir.TensorProtocol) -> ir.Shape:
    """The shape of a tensor that has elements: numbers only."""
    return ir.Shape([int(str(n)) for n in tensor.shape])


def source(node: ir.Node) -> str:
    return node.metadata_props.get(SOURCE, "")


def module(node: ir.Node) -> str | None:
    """The path of the module that the node is part of; None where the model does not say."""
    return node.metadata_props.get(MODULE)


def common_module(paths: Iterable[str]) -> str:
    """The longest path that all of them begin with: a.b.c and a.b.d lie in a.b."""
    columns = zip(*(path.split(".") for path in paths), strict=False)
    return ".".join(c[0] for c in itertools.takewhile(lambda c: len(set(c)) == 1, columns))


def carry(new: Iterable[ir.Node], old: Sequence[ir.Node]) -> None:
    """New nodes take name (where they have none) and metadata of the last of the old nodes that has a source.

    Their module is the one that all the old nodes lie in.
    """
    giver = next((n for n in reversed(old) if SOURCE in n.metadata_props), old[-1])
    modules = [path for path in map(module, old) if path is not None]
    for i, node in enumerate(new):
        node.name = node.name or (old[-1].name if i == 0 else f"{old[-1].name}_{i}")
        if modules:
            node.metadata_props.setdefault(MODULE, common_module(modules))
        for key, text in giver.metadata_props.items():
            node.metadata_props.setdefault(key, text)


def replace(old: Sequence[ir.Node], new: Sequence[ir.Node], value: ir.Value, by: ir.Value) -> None:
    """Puts `new` where the last of `old` stands, `by` in the place of `value`; removes those of `old` that fall idle.

    `old` is in graph order, its last node makes `value`. Names, types, sources and graph outputs are kept.
    """
    last = old[-1]
    graph = last.graph
    if graph is None:
        raise ValueError(f"node {last.name} is in no graph")
    carry(new, old)
    if by.producer() in new:
        by.type, by.shape = by.type or value.type, by.shape or value.shape
    graph.insert_before(last, list(new))
    if by.producer() in new and not value.is_graph_output():
        name, value.name = value.name, f"{value.name}_replaced"
        by.name = name
    take_over(graph, value, by)
    remove_idle(graph, old)


def take_over(graph: ir.Graph | ir.Function, value: ir.Value, by: ir.Value) -> None:
    """All uses of `value` become uses of `by`; a graph output keeps its name, by an Identity where `by` has one itself."""
    if value.is_graph_output():
        name = value.name
        if (
            by.is_graph_input()
            or by.is_graph_output()
            or by.is_initializer()
            or by.graph is not graph
        ):
            keep = ir.node("Identity", [by], name=f"{name}_out")
            producer = value.producer()
            if producer is not None:
                carry([keep], [producer])
                graph.insert_after(producer, keep)
            else:
                graph.append(keep)
            keep.outputs[0].type, keep.outputs[0].shape = value.type, value.shape
            by = keep.outputs[0]
        value.name = f"{name}_replaced"
        by.name = name
    value.replace_all_uses_with(by, replace_graph_outputs=True)


def remove_idle(graph: ir.Graph | ir.Function, candidates: Sequence[ir.Node]) -> None:
    """Removes those of `candidates` whose outputs nobody uses, last first."""
    for node in reversed(candidates):
        if node.graph is graph and not any(map(is_read, node.outputs)):
            graph.remove(node, safe=True)


def drop_unread(model: ir.Model) -> None:
    """Removes the initializers that nobody reads."""
    for graph in graphs(model):
        for name, value in list(graph.initializers.items()):
            if not is_read(value) and not value.is_graph_input():
                del graph.initializers[name]


def can_follow(model: ir.Model) -> bool:
    """Whether onnx may follow the elements of vectors: no Slice whose steps may overflow there, after which it reads and writes
    anywhere, and no Concat of Concats that grow, whose every result it holds."""
    lengths: dict[ir.Value, int] = {}
    for node in nodes(model):
        steps = node.inputs[4] if is_op(node, "Slice") and len(node.inputs) > 4 else None
        known = [0] if steps is None else ints(steps)
        if known is None or any(abs(step) >= 2**30 for step in known):
            return False
        parts = [lengths[v] if v in lengths else _length(v) for v in node.inputs if v is not None]
        longest = sum(parts) if is_op(node, "Concat") else max(parts, default=0)
        if longest > LONGEST:
            return False
        lengths.update(dict.fromkeys(node.outputs, longest))
    return True


def _length(value: ir.Value) -> int:
    """Elements of a constant that inference is told."""
    tensor = constant_tensor(value)
    return tensor.size if tensor is not None and tensor.nbytes <= TOLD_BYTES else 0


def infer(model: ir.Model) -> None:
    """Fills types and ranks of all values by onnx's own inference, where it can; never raises.

    The result is a hint: dims that onnx invents are symbols of no meaning, a claim that fails at run time is possible.
    """
    for node in nodes(model):
        for value in node.outputs:
            if not value.is_graph_output() and node.domain != INTEGER:
                value.shape = None
    try:
        told = onnx.shape_inference.infer_shapes(
            _without_weights(model),
            check_type=False,
            strict_mode=False,
            data_prop=can_follow(model),
        )
        _take_types(model.graph, told.graph)
    except Exception:
        return


def _without_weights(model: ir.Model) -> onnx.ModelProto:
    """The model's protobuf with all initializers as inputs and the elements of small ones. (onnx_ir's pass takes the square
    of their number for that, and reads the whole result back for the types in it.)"""
    proto = onnx.ModelProto(ir_version=model.ir_version)
    for domain, version in model.graph.opset_imports.items():
        proto.opset_import.add(domain=domain, version=version)
    for function in model.functions.values():
        ir.serde.serialize_function_into(proto.functions.add(), function)
    graph = model.graph
    initializers = [v for v in graph.initializers.values() if not v.is_graph_input()]
    for value in initializers:
        if value.const_value is not None:
            value.shape, value.dtype = (
                value.shape or sizes(value.const_value),
                value.dtype or value.const_value.dtype,
            )
    for value in (*graph.inputs, *initializers):
        ir.serde.serialize_value_into(proto.graph.input.add(), value)
    for name, value in graph.initializers.items():
        if value.const_value is not None and value.const_value.nbytes <= TOLD_BYTES:
            value.const_value.name = name
            ir.serde.serialize_tensor_into(proto.graph.initializer.add(), value.const_value)
    for node in graph:
        ir.serde.serialize_node_into(proto.graph.node.add(), node)
        for value in node.outputs:
            if value.name and not value.is_graph_output() and (value.type or value.shape):
                ir.serde.serialize_value_into(proto.graph.value_info.add(), value)
    for value in graph.outputs:
        ir.serde.serialize_value_into(proto.graph.output.add(), value)
    return proto


def _take_types(graph: ir.Graph, told: onnx.GraphProto) -> None:
    """Types and shapes from the protobuf of the same graph."""
    known = {v.name: v.type for v in (*told.input, *told.value_info, *told.output)}
    for value in (*graph.inputs, *(v for node in graph for v in node.outputs)):
        if value.name in known:
            _take_type(value, known[value.name])
    for node, proto in zip(graph, told.node, strict=True):
        for a in proto.attribute:
            if a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS):
                inner = node.attributes[a.name]
                mine = [inner.as_graph()] if a.HasField("g") else inner.as_graphs()
                for body, theirs in zip(mine, [a.g] if a.HasField("g") else a.graphs, strict=True):
                    _take_types(body, theirs)


def _take_type(value: ir.Value, told: onnx.TypeProto) -> None:
    shape = ir.serde.deserialize_type_proto_for_shape(told)
    kind = ir.serde.deserialize_type_proto_for_type(told)
    if shape is not None and value.shape != shape:
        value.shape = shape
    if kind is not None and value.dtype != kind.dtype:
        value.dtype = kind.dtype


def verify(model: ir.Model, stage: str) -> None:
    """Checks what every stage promises: values defined once and before use, outputs made, names unique.

    Raises:
        ModelError: the stage is named; such a model would come from a broken pass or a malformed file.
    """
    seen: collections.Counter[str] = collections.Counter()
    seen.update(v.name or "?" for v in model.graph.inputs)
    seen.update(n for n, v in model.graph.initializers.items() if not v.is_graph_input())
    _verify_graph(model.graph, set(), seen, stage)
    twice = [name for name, count in seen.items() if count > 1]
    if twice:
        raise ModelError(
            f"{stage}: value names must be unique, got {twice[0]!r} {seen[twice[0]]} times"
        )


def _verify_graph(
    graph: ir.Graph, defined: set[int], seen: collections.Counter[str], stage: str
) -> None:
    """`defined`: values of the graphs around; it is as it was afterwards."""
    mine = {id(v) for v in (*graph.inputs, *graph.initializers.values())} - defined
    defined |= mine
    for node in graph:
        for i, value in enumerate(node.inputs):
            if value is not None and id(value) not in defined:
                raise ModelError(
                    f"{stage}: node {node.name!r} ({node.op_type}): input {i} ({value.name!r}) must be defined before it"
                )
        for body in bodies(node):
            seen.update(v.name or "?" for v in body.inputs)
            seen.update(n for n, v in body.initializers.items() if not v.is_graph_input())
            _verify_graph(body, defined, seen, stage)
        made = {id(v) for v in node.outputs}
        seen.update(v.name for v in node.outputs if v.name)
        mine |= made
        defined |= made
    for value in graph.outputs:
        if id(value) not in defined:
            raise ModelError(
                f"{stage}: output {value.name!r} of graph {graph.name!r} is made by no node"
            )
    defined -= mine


def proto(model: ir.Model) -> onnx.ModelProto:
    """The model as protobuf, for oracles and tests; weights are copied into it."""
    return ir.to_proto(model)

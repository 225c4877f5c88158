"""Raising a model to a later opset, in place: names, sources and weights are kept.

A table of changes, found by comparing all schemas of opsets 6 to 28: what an operator says otherwise from an opset on.
Operators that are not in it mean the same at 28 as written. A node that has no conversion is an error that names it, so
that whoever reads the graph behind it knows one opset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import ModelError

from .. import graph as g
from ..graph import allowed
from ..graph.definitions import NotAllowedError
from ..graph.inference import infer_rest

Change = Callable[["Raising", ir.Node], None]
CHANGES: Final[dict[str, list[tuple[int, Change]]]] = {}
"""Operator -> (the first opset that says it otherwise, what to do with a node of the opset before), ascending."""

ALLOWZERO: Final = 14
"""The opset in which Reshape got that attribute."""

F32_MAX: Final = float(np.finfo(np.float32).max)
INFERRED: Final = 18
"""Older models are inferred first: some changes depend on a rank or an element type."""


def raise_opset(model: ir.Model, target: int = g.OPSET) -> ir.Model:
    """The same model at opset `target`, or as it is where it is at a later one. Node names are unique.

    Raises:
        ModelError: a node has no form at the target; the text names it.
    """
    start = model.graph.opset_imports[""]
    if start >= target:
        return model
    if start < INFERRED:
        g.infer(model)
        infer_rest(model)
    raising = Raising(g.names(model), target)
    for node in list(g.nodes(model)):
        if node.domain == "":
            raising.check(node, node.version or start)
            raising.node(node, node.version or start, target)
            node.version = None
    for graph in g.graphs(model):
        if "" in graph.opset_imports:
            graph.opset_imports[""] = target
    model.ir_version = g.IR_VERSION if target == g.OPSET else max(model.ir_version or 0, 10)
    return model


def changes(*op_types: str, at: int) -> Callable[[Change], Change]:
    """Enters what opset `at` changed."""

    def enter(change: Change) -> Change:
        for op_type in op_types:
            rows = CHANGES.setdefault(op_type, [])
            rows.append((at, change))
            rows.sort(key=lambda row: row[0])
        return change

    return enter


class Raising:
    """Changes nodes one at a time; `used`: the names that are taken; `target`: the opset that they get."""

    def __init__(self, used: set[str], target: int) -> None:
        self._used = used
        self.target = target

    def node(self, node: ir.Node, version: int, target: int) -> None:
        """Everything that changed from `version` to `target`; an operator that took another's place goes on as that."""
        at = version
        while True:
            rows = CHANGES.get(node.op_type, [])
            row = next((r for r in rows if at < r[0] <= target), None)
            if row is None:
                return
            at = row[0]
            row[1](self, node)

    def check(self, node: ir.Node, version: int) -> None:
        """Operands that the node's own opset gives one type have one: a later opset may give them two, and decide by one of them
        what the result is."""
        schema = allowed.schema_of(node.op_type, version)
        types = [
            "" if v is None or v.dtype is None else allowed.text_of(v.dtype) for v in node.inputs
        ]
        if schema is not None:
            try:
                allowed.check_agreement(schema, types)
            except NotAllowedError as error:
                self.refuse(node, f"{error}")

    def refuse(self, node: ir.Node, text: str) -> NoReturn:
        raise ModelError(f"node {node.name!r} ({node.op_type}): {text}")

    def operand(
        self, node: ir.Node, index: int, what: Any, name: str, dtype: Any = np.int64
    ) -> None:
        """Makes `what` input `index`, which an attribute was."""
        value = self.constant(node, np.asarray(what).astype(dtype), name)
        if len(node.inputs) <= index:
            node.resize_inputs(index + 1)
        node.replace_input_with(index, value)

    def constant(self, node: ir.Node, array: Any, name: str) -> ir.Value:
        assert isinstance(node.graph, ir.Graph)
        return g.initializer(
            node.graph, np.asarray(array), g.fresh(self._used, f"{node.name}_{name}")
        )

    def before(
        self, node: ir.Node, index: int, op_type: str, operands: Iterable[Any], **attrs: Any
    ) -> None:
        """A node in front of input `index` that takes it and `operands`."""
        assert node.graph is not None
        made = self._made(node, op_type, [node.inputs[index], *operands], attrs)
        node.graph.insert_before(node, made)
        node.replace_input_with(index, made.outputs[0])

    def behind(self, node: ir.Node, op_type: str, operands: Iterable[Any]) -> ir.Node:
        """A node that takes the first output and `operands`, and gives what has that output's name."""
        assert node.graph is not None
        old = node.outputs[0]
        made = self._made(node, op_type, [old, *operands], {})
        node.graph.insert_after(node, made)
        new = made.outputs[0]
        new.type, new.shape = old.type, old.shape
        old.replace_all_uses_with(new, replace_graph_outputs=True)
        made.replace_input_with(0, old)
        old.name, new.name = new.name, old.name
        return made

    def shape_of(self, node: ir.Node, index: int) -> ir.Value:
        """The shape of input `index`, computed in front of the node."""
        assert node.graph is not None
        made = self._made(node, "Shape", [node.inputs[index]], {})
        node.graph.insert_before(node, made)
        return made.outputs[0]

    def _made(
        self, node: ir.Node, op_type: str, operands: list[Any], attrs: dict[str, Any]
    ) -> ir.Node:
        made = ir.node(op_type, operands, attrs, name=g.fresh(self._used, f"{node.name}_{op_type}"))
        made.outputs[0].name = g.fresh(self._used, f"{made.name}_out")
        made.metadata_props.update(node.metadata_props)
        return made


def _taken(node: ir.Node, name: str, default: Any = None) -> Any:
    """An attribute that the next opset has not."""
    value = g.attr(node, name, default)
    node.attributes.pop(name, None)
    return value


def _dtype(r: Raising, node: ir.Node) -> Any:
    """The NumPy type of input 0."""
    x = node.inputs[0]
    if x is None or x.dtype is None:
        r.refuse(
            node,
            "the element type of its input is not known; declare the types of the model's inputs",
        )
    return x.dtype.numpy()


# --- opset 7: broadcasting as NumPy's -----------------------------------------------------------------------------------


@changes(
    "Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less", at=7
)  # fmt: skip
def _broadcast(r: Raising, node: ir.Node) -> None:
    """The first axis of the second operand stood at `axis` of the first."""
    axis, wanted = _taken(node, "axis"), _taken(node, "broadcast", 0)
    if axis is None or not wanted:
        return
    a, b = g.rank(node.inputs[0]), g.rank(node.inputs[1])
    if a is None or b is None:
        r.refuse(
            node,
            f"broadcasts along axis {axis}, but the ranks of its operands are not known; declare input shapes",
        )
    behind = list(range(b, a - axis % a))
    if behind:
        r.before(node, 1, "Unsqueeze", [r.constant(node, np.array(behind, np.int64), "axes")])


@changes("PRelu", at=7)
def _slope_by_channel(r: Raising, node: ir.Node) -> None:
    """A slope [c] belonged to axis 1."""
    slope, rank = node.inputs[1], g.rank(node.inputs[0])
    known = g.dims(slope)
    if known is None or rank is None:
        r.refuse(node, "the ranks of its operands are not known; declare input shapes")
    if len(known) == 1 and known[0] != 1 and rank > 2:
        r.before(node, 1, "Unsqueeze", [r.constant(node, np.arange(1, rank - 1), "axes")])


@changes("Gemm", at=7)
def _gemm(r: Raising, node: ir.Node) -> None:
    _taken(node, "broadcast")


@changes("GRU", "LSTM", "RNN", at=7)
def _recurrent(r: Raising, node: ir.Node) -> None:
    """It said whether the first output is wanted."""
    _taken(node, "output_sequence")


# --- training ------------------------------------------------------------------------------------------------------------


@changes("BatchNormalization", at=7)
def _normalization_is_test(r: Raising, node: ir.Node) -> None:
    _taken(node, "is_test")


@changes("BatchNormalization", at=9)
def _normalization_spatial(r: Raising, node: ir.Node) -> None:
    if not _taken(node, "spatial", 1):
        r.refuse(
            node,
            "normalizes each element by itself (spatial 0); expected one mean and variance a channel",
        )


@changes("BatchNormalization", at=14)
def _normalization_outputs(r: Raising, node: ir.Node) -> None:
    """More than one output was training, also where nobody reads the others."""
    if any(v.name for v in node.outputs[1:]):
        r.refuse(
            node,
            f"has {len(node.outputs)} outputs, which is training: it normalizes by the batch; export the model for inference, with one output",
        )


@changes("Dropout", at=7)
def _dropout_is_test(r: Raising, node: ir.Node) -> None:
    _taken(node, "is_test")


@changes("Dropout", at=10)
def _dropout_mask(r: Raising, node: ir.Node) -> None:
    if any(map(g.is_read, node.outputs[1:])):
        r.refuse(node, "somebody reads its mask of floats; export the model for inference")


@changes("Dropout", at=12)
def _dropout_ratio(r: Raising, node: ir.Node) -> None:
    _taken(node, "ratio")


# --- attributes that became inputs ---------------------------------------------------------------------------------------


@changes("Clip", at=11)
def _clip(r: Raising, node: ir.Node) -> None:
    """A bound that was not given was the largest f32, which an infinity lies beyond."""
    dtype = _dtype(r, node)
    for index, (name, usual) in enumerate((("min", -F32_MAX), ("max", F32_MAX)), start=1):
        with np.errstate(over="ignore"):
            r.operand(node, index, np.asarray(_taken(node, name, usual)).astype(dtype), name, dtype)


@changes("Slice", at=10)
def _slice(r: Raising, node: ir.Node) -> None:
    for index, name in enumerate(("starts", "ends", "axes"), start=1):
        if name in node.attributes:
            r.operand(node, index, _taken(node, name), name)


@changes("Pad", at=11)
def _pad(r: Raising, node: ir.Node) -> None:
    r.operand(node, 1, _taken(node, "pads"), "pads")
    if "value" in node.attributes:
        r.operand(node, 2, _taken(node, "value"), "value", _dtype(r, node))


@changes("TopK", at=10)
def _top_k(r: Raising, node: ir.Node) -> None:
    r.operand(node, 1, [_taken(node, "k")], "k")


@changes("ReduceSum", "Squeeze", "Unsqueeze", at=13)
@changes(
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSumSquare", at=18,
)  # fmt: skip
def _axes(r: Raising, node: ir.Node) -> None:
    axes = _taken(node, "axes")
    if axes:
        r.operand(node, 1, axes, "axes")


@changes("Split", at=13)
def _split_sizes(r: Raising, node: ir.Node) -> None:
    sizes = _taken(node, "split")
    if sizes:
        r.operand(node, 1, sizes, "split")


@changes("Split", at=18)
def _split_count(r: Raising, node: ir.Node) -> None:
    if len(node.inputs) < 2 or node.inputs[1] is None:
        node.attributes["num_outputs"] = ir.AttrInt64("num_outputs", len(node.outputs))


@changes("DFT", at=20)
def _dft(r: Raising, node: ir.Node) -> None:
    """The axis was counted with the batch axis first, 1 by default; from opset 20 on -2."""
    if len(node.inputs) < 2:
        node.resize_inputs(2)
    r.operand(node, 2, _taken(node, "axis", 1), "axis")


# --- another meaning, another name ---------------------------------------------------------------------------------------


@changes("Softmax", "LogSoftmax", "Hardmax", at=13)
def _softmax(r: Raising, node: ir.Node) -> None:
    """All axes from `axis` on were one; 1 by default."""
    axis, rank = int(_taken(node, "axis", 1)), g.rank(node.inputs[0])
    node.attributes["axis"] = ir.AttrInt64("axis", -1)
    if axis == -1 or (rank is not None and axis == rank - 1):
        return
    shape = r.shape_of(node, 0)
    r.before(node, 0, "Flatten", [], axis=axis)
    made = r.behind(node, "Reshape", [shape])
    if r.target >= ALLOWZERO:
        made.attributes["allowzero"] = ir.AttrInt64("allowzero", 1)  # an extent of 0 is one


@changes("Upsample", at=7)
def _upsample_image(r: Raising, node: ir.Node) -> None:
    scales = [1.0, 1.0, _taken(node, "height_scale"), _taken(node, "width_scale")]
    node.attributes["scales"] = ir.AttrFloat32s("scales", scales)


@changes("Upsample", at=9)
def _upsample_scales(r: Raising, node: ir.Node) -> None:
    r.operand(node, 1, _taken(node, "scales"), "scales", np.float32)


@changes("Upsample", at=10)
def _upsample(r: Raising, node: ir.Node) -> None:
    node.op_type = "Resize"


@changes("Resize", at=11)
def _resize(r: Raising, node: ir.Node) -> None:
    """Coordinates were those of the source divided by the scale, the nearest the one below."""
    scales = node.inputs[1]
    node.resize_inputs(3)
    node.replace_input_with(1, None)
    node.replace_input_with(2, scales)
    _text(node, "coordinate_transformation_mode", "asymmetric")
    _text(node, "nearest_mode", "floor")
    if g.attr(node, "mode", "nearest") == "bilinear":
        _text(node, "mode", "linear")


def _text(node: ir.Node, name: str, text: str) -> None:
    node.attributes[name] = ir.AttrString(name, text)


@changes("RoiAlign", at=16)
def _roi_align(r: Raising, node: ir.Node) -> None:
    _text(node, "coordinate_transformation_mode", "output_half_pixel")


@changes("Scatter", at=11)
def _scatter(r: Raising, node: ir.Node) -> None:
    node.op_type = "ScatterElements"


@changes("Scan", at=9)
def _scan(r: Raising, node: ir.Node) -> None:
    r.refuse(
        node,
        "Scan before opset 9 has a batch axis of its own; convert the model to opset 9 or later",
    )


@changes("GridSample", at=20)
def _grid_sample(r: Raising, node: ir.Node) -> None:
    mode = g.attr(node, "mode", "bilinear")
    _text(node, "mode", {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode))


@changes("GroupNormalization", at=21)
def _group_norm(r: Raising, node: ir.Node) -> None:
    """Scale and bias were one a group; from opset 21 on one a channel."""
    extents, groups = g.dims(node.inputs[0]), int(g.attr(node, "num_groups"))
    channels = extents[1] if extents is not None and len(extents) > 1 else None
    if not isinstance(channels, int):
        r.refuse(
            node,
            f"opset 18 scales groups; expected a known number of channels, got {channels}; export for opset 21",
        )
    for i in (1, 2):
        known = g.constant(node.inputs[i], 1 << 20)
        if known is not None:
            r.operand(node, i, np.repeat(known, channels // groups), str(i), known.dtype)
            continue
        for op_type, numbers in (
            ("Unsqueeze", [1]), ("Expand", [groups, channels // groups]), ("Reshape", [channels])
        ):  # fmt: skip
            r.before(node, i, op_type, [r.constant(node, np.array(numbers, np.int64), op_type)])

"""Whether a node is one that ONNX's definition of its operator allows: attributes, operands, types, shapes, axes.

`check_form` asks what is written, `check_types` what is known of operands. What comes behind relies on the definition:
attributes are there, of their kind and range, axes lie in their ranks. Operators that the standard does not know are
nobody's business here.

Two ask, and each tells what it knows in its own terms: capture/nodes.py of an ir.Node by the opset that it was written
for, from the types of ir.Values, so that raising and the passes may rely on it; lower/standard.py of a lowered Node, from
Refs, whose sizes and elements are known by then where no ir.Value says them: in function bodies, behind arithmetic on
sizes, in what the passes made. Neither has what the other is told from.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

import onnx
import onnx.checker
import onnx.defs
import onnx.shape_inference
import onnx_ir as ir

from . import definitions
from .definitions import NotAllowedError, Shape

LENIENT: Final = {"ReduceLogSum": 13, "ReduceLogSumExp": 13}
"""Operators that once had integers and still compute them, and an opset that says which."""

STRICTER: Final = ("Einsum", "Range")
"""Operators whose inference refuses what their definition, or ONNX's own models, allow: an ellipsis that broadcasts, a
limit of one element and rank 1."""

WHOLE: Final = frozenset({onnx.TensorProto.INT64, onnx.TensorProto.INT32})
SCALED: Final = ("Resize", "Upsample", "Range", "OneHot")
"""Operators whose results have sizes that other numbers than these may decide."""

PLAIN: Final = tuple(
    ir.AttributeType[name] for name in ("INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS")
)
"""Attributes that can be compared: the first three by value, the others by element."""

MANY: Final = 2**31 - 1


@functools.lru_cache(maxsize=4096)
def schema_of(op_type: str, version: int, domain: str = "") -> Any:
    """The operator's definition at an opset, None where there is none. Names come from files: not every one is kept."""
    try:
        return onnx.defs.get_schema(op_type, version, domain)
    except onnx.defs.SchemaError:
        return None


def check_form(
    schema: Any, attrs: Mapping[str, ir.Attr], inputs: Sequence[bool], outputs: int
) -> None:
    """Attributes, and numbers of operands and results. `inputs`: which operands are there.

    Raises:
        NotAllowedError: the definition does not allow the node.
    """
    for name, told in schema.attributes.items():
        if told.required and name not in attrs:
            raise NotAllowedError(f"expected the attribute {name!r}, got none")
    for name, given in attrs.items():
        known = schema.attributes.get(name)
        if known is None:
            raise NotAllowedError(f"opset {schema.since_version} has no attribute {name!r}")
        if given.type.name != known.type.name and not given.is_ref():
            raise NotAllowedError(
                f"expected attribute {name!r} as {known.type.name}, got {given.type.name}"
            )
    _check_count("inputs", len(inputs), schema.min_input, schema.max_input)
    _check_count("outputs", outputs, schema.min_output, schema.max_output)
    for i, is_there in enumerate(inputs):
        port = schema.inputs[min(i, len(schema.inputs) - 1)]
        if not is_there and port.option != onnx.defs.OpSchema.FormalParameterOption.Optional:
            raise NotAllowedError(f"expected input {i} ({port.name}), got none")
    values = {k: a.value for k, a in attrs.items() if not a.is_ref()}
    definitions.check_values(schema.name, values)
    if "num_outputs" in values:  # onnx's inference reads as many, whatever is there
        _check_count("outputs, as num_outputs says", outputs, 1, values["num_outputs"])
    if schema.name == "Scan" and "body" in values:
        definitions.check_scan(values, len(inputs), len(values["body"].outputs))
    if schema.name == "Loop" and "body" in values:
        body = values["body"]
        _check_count("inputs, as the body has", len(inputs), len(body.inputs), len(body.inputs))
        _check_count(
            "outputs, as the body has", outputs, len(body.outputs) - 1, len(body.outputs) - 1
        )


def _check_count(what: str, got: int, low: int, high: int) -> None:
    if not low <= got <= high:
        most = high if high < MANY else "any number of"
        raise NotAllowedError(
            f"expected {low if low == high else f'{low} to {most}'} {what}, got {got}"
        )


def check_types(
    schema: Any,
    attrs: Mapping[str, ir.Attr],
    types: Sequence[onnx.TypeProto | None],
    data: Mapping[int, onnx.TensorProto],
    outputs: int,
    seen: set[Any],
) -> None:
    """Element types, ranks, extents, axes: our rows, then whatever onnx's inference of the node refuses.

    Args:
        types: Of the operands, as far as they are known; None where one is absent.
        data: Known elements of operands that decide axes and sizes.
        seen: What was asked and allowed before: most layers of a model repeat it.

    Raises:
        NotAllowedError: the definition does not allow the node.
    """
    told = {k: t for k, t in data.items() if t.data_type in WHOLE or schema.name in SCALED}
    if not all(a.type in PLAIN for a in attrs.values()):
        _check_types(schema, attrs, types, told, outputs)
        return
    key = _question(schema, attrs, types, told, outputs)
    if key not in seen:
        _check_types(schema, attrs, types, told, outputs)
        seen.add(key)


def _question(
    schema: Any,
    attrs: Mapping[str, ir.Attr],
    types: Sequence[onnx.TypeProto | None],
    data: Mapping[int, onnx.TensorProto],
    outputs: int,
) -> Any:
    """All that an answer depends on."""
    return (
        *(schema.domain, schema.name, schema.since_version, outputs),
        tuple(t and t.SerializeToString() for t in types),
        tuple((k, t.SerializeToString()) for k, t in data.items()),
        tuple(
            (k, a.type, a.value if a.type in PLAIN[:3] else tuple(a.value))
            for k, a in attrs.items()
        ),
    )


def _check_types(
    schema: Any,
    attrs: Mapping[str, ir.Attr],
    types: Sequence[onnx.TypeProto | None],
    data: Mapping[int, onnx.TensorProto],
    outputs: int,
) -> None:
    older = schema_of(schema.name, LENIENT[schema.name]) if schema.name in LENIENT else schema
    for i, t in enumerate(types):
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        text = "" if t is None else _text(t)
        wanted = {*formal.types, *older.inputs[min(i, len(older.inputs) - 1)].types}
        if text and text not in wanted:
            raise NotAllowedError(
                f"{_named(schema, i)} is {_short(text)}; expected {_listed(wanted)}"
            )
    if schema.name in LENIENT:
        return
    check_agreement(schema, ["" if t is None else _text(t) for t in types])
    values = {k: a.value for k, a in attrs.items()}
    for i, formal in enumerate(schema.inputs):
        axes = _elements(data.get(i)) if formal.name == "axes" else None
        if axes is not None:  # an attribute in older opsets
            values["axes"] = axes
    second = _elements(data.get(1)) if definitions.AXES.get(schema.name) == 1 else None
    axis = second[0] if second is not None and len(second) == 1 else None
    definitions.check_operands(schema.name, values, [_shape(t) for t in types], axis)
    if schema.name in ("Loop", "Scan") and "body" in values:
        _check_carried(values["body"], types, 2 if schema.name == "Loop" else 0)
    has_body = any(a.type.name in ("GRAPH", "GRAPHS") for a in attrs.values())
    if not has_body and schema.name not in STRICTER:
        _infer(schema, attrs, types, data, outputs)


def _check_carried(body: ir.Graph, types: Sequence[onnx.TypeProto | None], first: int) -> None:
    """Operands from `first` on have the element types that the body says of its inputs."""
    for i, (port, t) in enumerate(zip(body.inputs, types, strict=False)):
        got = "" if t is None else _text(t)
        want = "" if port.dtype is None else text_of(port.dtype)
        if i >= first and got and want and got != want:
            raise NotAllowedError(
                f"input {i} is {_short(got)}; expected {_short(want)}, as its body has {port.name!r}"
            )


def _elements(data: onnx.TensorProto | None) -> list[int] | None:
    """In row-major order, where they lie in the model."""
    if data is None or data.data_location == onnx.TensorProto.EXTERNAL:
        return None
    return [int(n) for n in onnx.numpy_helper.to_array(data).reshape(-1)]


def _named(schema: Any, i: int) -> str:
    """Operand `i`; one of many by its place, too."""
    formal = schema.inputs[min(i, len(schema.inputs) - 1)]
    return f"{formal.name} {i}" if formal.option.name == "Variadic" else str(formal.name)


def check_agreement(schema: Any, types: Sequence[str]) -> None:
    """Operands that the definition gives one type have one; "" is one that is absent or not known.

    Raises:
        NotAllowedError: two have not.
    """
    bound: dict[str, str] = {}
    for i, t in enumerate(types):
        formal = schema.inputs[min(i, len(schema.inputs) - 1)]
        if not t or (formal.option.name == "Variadic" and not formal.is_homogeneous):
            continue
        first = bound.setdefault(formal.type_str, t)
        if first != t:
            raise NotAllowedError(
                f"{_named(schema, i)} is {_short(t)}; expected {_short(first)} as the operand before it has: cast one of them"
            )


def text_of(dtype: ir.DataType) -> str:
    return f"tensor({dtype.name.lower()})"


def _text(t: onnx.TypeProto) -> str:
    kind = t.tensor_type.elem_type
    return text_of(ir.DataType(kind)) if kind else ""


def _short(text: str) -> str:
    return text.removeprefix("tensor(").removesuffix(")")


def _listed(types: Any) -> str:
    names = sorted(_short(t) for t in types if t.startswith("tensor("))
    return ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")


def _shape(t: onnx.TypeProto | None) -> Shape:
    if t is None or not t.tensor_type.HasField("shape"):
        return None
    return tuple(d.dim_value if d.HasField("dim_value") else None for d in t.tensor_type.shape.dim)


def _infer(
    schema: Any,
    attrs: Mapping[str, ir.Attr],
    types: Sequence[onnx.TypeProto | None],
    data: Mapping[int, onnx.TensorProto],
    outputs: int,
) -> None:
    proto = onnx.NodeProto(op_type=schema.name, domain=schema.domain)
    proto.input.extend("" if t is None else f"x{i}" for i, t in enumerate(types))
    proto.output.extend(f"y{i}" for i in range(outputs))
    for key, a in attrs.items():  # in a function's body the caller's, under another name
        proto.attribute.append(ir.serde.serialize_attribute(a))
        proto.attribute[-1].name = key
    told = {f"x{i}": t for i, t in enumerate(types) if t is not None}
    try:
        onnx.shape_inference.infer_node_outputs(
            schema, proto, told, {f"x{i}": t for i, t in data.items()}
        )
    except Exception as error:  # of many kinds
        text = (str(error).strip().splitlines() or [type(error).__name__])[0]
        for tag in ("[ShapeInferenceError] ", "[TypeInferenceError] "):
            text = text.removeprefix(tag)
        raise NotAllowedError(
            f"not what the operator's definition allows: {text.rstrip('.')}"
        ) from error

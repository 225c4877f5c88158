"""Capture of ONNX models: read, check, inline, raise to opset 28.

Weights stay where they are, in the model's file or beside it, and are read when something asks for them. Every refusal is a
ModelError that names the node or value and what to do.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import onnx
import onnx_ir as ir

from pteron.schema.errors import FileError, ModelError, existing, several

from .. import graph as g
from ..graph.naming import name_nodes, name_values
from ..graph.wire import without_weights
from . import contrib
from .contrib.maps import without_map_types
from .external import beside, found, set_folder
from .foreign import kind_of, refuse_folder
from .functions import inline
from .nodes import check_forms, check_types
from .optionals import remove_optionals
from .origins import note_origins
from .raising import raise_opset
from .resizing import drop_empty, keep_corners
from .squeezes import settle_squeezes

OLDEST: Final = 6
TRANSLATED: Final = 25
"""The opset that has every operator which a foreign one becomes."""
EXTERNAL: Final = b"location"
"""A key that every tensor outside of the model's file has there."""
KNOWN_DOMAINS: Final = frozenset({"", g.OURS, "ai.onnx.preview"})
BRIEF: Final = frozenset(
    {"SplitToSequence", "SequenceConstruct", "SequenceAt", "ConcatFromSequence", "SequenceEmpty", "SequenceInsert", "SequenceErase",
     "SequenceLength", "Loop", "ReverseSequence"}
)  # fmt: skip
"""Operators of sequences that passes remove, loops that carry some, and one that only sounds like them."""
UNNAMED: Final = frozenset({"", "?", "-1", "None"})
"""What exporters write for a size that they do not name."""
STRINGLIKE: Final = frozenset({ir.DataType.STRING, ir.DataType.COMPLEX64, ir.DataType.COMPLEX128})


def capture_onnx(
    source: str | os.PathLike[str] | bytes | onnx.ModelProto | ir.Model,
    name: str | None = None,
    opset: int = g.OPSET,
) -> ir.Model:
    """Reads an ONNX model of opset 6 to 28 and raises it, functions inlined, weights untouched.

    Args:
        source: A path, the bytes of a file, a ModelProto, or an onnx_ir model (which is not changed).
        name: The model's name; default: the graph's own, else the file's stem.
        opset: Raise to 28, which lowering reads; or, for writing ONNX again, to at least this one.

    Raises:
        ModelError: not ONNX, missing external data, unknown opset or domain, strings, sequences, optionals, complex.
    """
    where = Path(source).name if isinstance(source, (str, os.PathLike)) else "model"
    model = read_onnx(source, where)
    model.graph.name = (
        name or model.graph.name or (Path(where).stem if where != "model" else "model")
    )
    _check_opsets(model, where)
    _check_external(model, where)
    _drop_inputs_with_values(model)
    inline(model, where)
    foreign = contrib.adopt(model)
    model.meta[g.NOTES] = contrib.drop_maps(model)
    remove_optionals(model)
    note_origins(model)
    name_nodes(model)
    name_values(model)
    _unique_values(model)
    _check_domains(model, where)
    _check_types(model, where)
    check_forms(model, where)
    raise_opset(model, max(opset, TRANSLATED) if foreign else opset)
    contrib.translate_contrib(model, where)
    drop_empty(model)
    keep_corners(model)
    ranks = [g.rank(v) for v in model.graph.outputs]
    _plain_sizes(model)
    _forget_shapes(model)
    g.infer(model)
    model.meta[g.NOTES] += settle_squeezes(model, ranks)
    for value, rank in zip(model.graph.outputs, ranks, strict=True):
        if value.shape is None and rank is not None:
            value.shape = ir.Shape([None] * rank)
    _check_types(model, where)
    g.verify(model, "capture")
    if model.graph.opset_imports[""] == g.OPSET:
        check_types(model, where)
    return model


def read_onnx(
    source: str | os.PathLike[str] | bytes | onnx.ModelProto | ir.Model, where: str
) -> ir.Model:
    """The model as it was written.

    Raises:
        ModelError: no such file, or bytes that are no model.
    """
    if isinstance(source, ir.Model):
        return source.clone()
    try:
        if isinstance(source, onnx.ModelProto):
            return _deserialize(source, where)
        if isinstance(source, bytes):
            return _deserialize(_parse(source, where), where)
        refuse_folder(Path(source))
        path = existing(Path(source))
        data = without_weights(path)
        model = _deserialize(_parse(path.read_bytes() if data is None else data, where), where)
    except FileError:
        raise
    except OSError as error:
        raise ModelError(f"{where}: cannot be read: {error.strerror or error}") from error
    set_folder(model, path)
    return model


def _function_tensors(model: ir.Model) -> Iterator[tuple[str, ir.TensorProtocol]]:
    for function in model.functions.values():
        for node in g.nodes_of(function):
            for attribute in node.attributes.values():
                if attribute.type == ir.AttributeType.TENSOR and not attribute.is_ref():
                    yield node.name or node.op_type, attribute.as_tensor()


def _parse(data: bytes, where: str) -> onnx.ModelProto:
    if zipped := zip_kind(data):
        raise ModelError(f"{where}: expected an ONNX model, got {zipped}")
    if other := kind_of(data):
        raise ModelError(f"{where}: expected an ONNX model, got {other}")
    try:
        return onnx.load_model_from_string(data)
    except Exception as error:
        raise ModelError(
            f"{where}: expected an ONNX model, got bytes that are not one ({_first_line(error)})"
        ) from error


def zip_kind(data: bytes) -> str:
    """What a zip file of PyTorch is, and what to do; "" where the bytes are no zip file."""
    if not data.startswith(b"PK\x03\x04"):
        return ""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            names = {name.partition("/")[2] for name in file.namelist()}
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return "a damaged zip file"
    made = "export the module that it is of: pteron.export_model(module, out, args=(x,)), or pteron export model.py:make"
    if names & {"models/model.json", "archive_format", "serialized_exported_program.json"}:
        return "a torch.export program, which is expected to be named .pt2"
    if "constants.pkl" in names:
        return f"a TorchScript archive; {made}"
    if "data.pkl" in names:
        return f"a PyTorch checkpoint, which holds weights or pickled objects without what computes; load it into its module and {made}"
    return "a zip file; unzip the model, or export it to ONNX"


def _deserialize(proto: onnx.ModelProto, where: str) -> ir.Model:
    if (
        not proto.HasField("graph")
        or not proto.opset_import
        or not (proto.graph.node or proto.graph.output)
    ):
        raise ModelError(
            f"{where}: expected an ONNX model, got one without graph or opset; export it again"
        )
    if proto.graph.sparse_initializer:
        first = proto.graph.sparse_initializer[0].values.name
        raise ModelError(f"{where}: initializer {first!r} is sparse; store it dense")
    try:
        return ir.from_proto(without_map_types(proto, where))
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(
            f"{where}: the ONNX model is malformed: {_first_line(error)}; run onnx.checker on it"
        ) from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _check_opsets(model: ir.Model, where: str) -> None:
    version = model.graph.opset_imports.get("")
    others = model.graph.opset_imports.keys() & contrib.TRANSLATIONS.keys()
    if version is None and others and not any(n.domain == "" for n in g.nodes(model)):
        version = model.graph.opset_imports[""] = TRANSLATED  # ONNX's own are what these become
    if version is None:
        _check_domains(model, where)
        raise ModelError(
            f"{where}: expected an opset of the ONNX domain, got {dict(model.graph.opset_imports)}"
        )
    if version < OLDEST:
        raise ModelError(
            f"{where}: opset {version} is older than {OLDEST}; raise it with onnx.version_converter first"
        )
    if version > g.OPSET:
        raise ModelError(
            f"{where}: opset {version} is newer than {g.OPSET}; export it for opset {g.OPSET} or lower"
        )


def _check_domains(model: ir.Model, where: str) -> None:
    bad = [
        n
        for n in g.nodes(model)
        if n.domain not in KNOWN_DOMAINS
        and n.op_identifier() not in model.functions
        and not contrib.known(n)
    ]
    if bad:
        reasons: dict[str, list[str]] = {}
        for n in bad:
            title = f"{n.name!r} ({n.domain}.{n.op_type})"
            reasons.setdefault(contrib.why_not(n), []).append(title)
        lines = [
            f"{', '.join(titles[:5])}{' ...' if len(titles) > 5 else ''}: {why}"
            for why, titles in reasons.items()
        ]
        raise ModelError(
            f"{where}: {several(len(bad), 'node')} of {several(len(model.graph), 'node')} cannot be read: {'; '.join(lines)}",
            tuple(n.name or "" for n in bad),
        )
    for node in g.nodes(model):
        if node.domain == "" and not onnx.defs.has(node.op_type, ""):
            raise ModelError(f"{where}: node {node.name!r}: ONNX has no operator {node.op_type!r}")


def files_of(path: Path) -> list[Path]:
    """The model's file and those that its weights lie in; the file alone where it is no model."""
    try:
        data = without_weights(path)
        if EXTERNAL not in (path.read_bytes() if data is None else data):
            return [path]
        model = read_onnx(path, str(path))
    except (ModelError, OSError):  # capture will say so
        return [path]
    tensors = (t for _, t in (*_tensors(model), *_function_tensors(model)))
    outside = [Path(t.path) for t in tensors if isinstance(t, ir.ExternalTensor)]
    return list(
        {p.resolve(): p for p in (*outside, path)}.values()
    )  # weights in a large file are read from it, too


def _check_external(model: ir.Model, where: str) -> None:
    """External files exist, lie where they may, and are long enough; what lies in the model is, too."""
    for owner, tensor in (*_tensors(model), *_function_tensors(model)):
        if not isinstance(tensor, ir.ExternalTensor):
            _check_inside(owner, tensor, where)
            continue
        path = found(model, tensor)
        if path is None:
            raise ModelError(
                f"{where}: external data of {owner!r} lies outside the model's folder: {str(tensor.location)!r}; move it beside the model"
            )
        if not path.is_file():
            raise ModelError(
                f"{where}: external data of {owner!r} is missing: expected {path}; put the file beside the model, or pass the model's path"
            )
        need = (tensor.offset or 0) + (tensor.length or tensor.nbytes)
        if path.stat().st_size < need:
            raise ModelError(
                f"{where}: external data of {owner!r}: expected {need} bytes in {path.name}, got {path.stat().st_size}; the file is cut off"
            )
    g.replace_tensors(model, beside)


def _check_inside(owner: str, tensor: ir.TensorProtocol, where: str) -> None:
    """The elements that a tensor of a protobuf carries are as many as its shape says."""
    if not isinstance(tensor, ir.TensorProtoTensor):
        return
    proto = tensor.raw
    if proto.HasField("raw_data"):
        got = len(proto.raw_data)
    elif tensor.dtype == ir.DataType.STRING:
        return
    else:
        try:
            got = tensor.numpy().nbytes if tensor.dtype.bitwidth >= 8 else tensor.nbytes
        except ValueError as error:
            raise ModelError(
                f"{where}: constant of {owner!r}: expected {tensor.size} elements as its shape {list(tensor.shape)} says, got others ({_first_line(error)}); the model is damaged"
            ) from error
    if got != tensor.nbytes:
        raise ModelError(
            f"{where}: constant of {owner!r}: expected {tensor.nbytes} bytes as its shape {list(tensor.shape)} says, got {got}; the model is damaged"
        )


def _tensors(model: ir.Model) -> list[tuple[str, ir.TensorProtocol]]:
    found = [
        (name, value.const_value)
        for graph in g.graphs(model)
        for name, value in graph.initializers.items()
        if value.const_value is not None
    ]
    for node in g.nodes(model):
        for a in node.attributes.values():
            if a.type == ir.AttributeType.TENSOR:
                found.append((node.name or node.op_type, a.as_tensor()))
    return found


def _drop_inputs_with_values(model: ir.Model) -> None:
    """IR 3 lists every initializer among the inputs; ones with a value are constants, as every runtime treats them."""
    kept = [v for v in model.graph.inputs if v.name not in model.graph.initializers]
    if len(kept) != len(model.graph.inputs):
        model.graph.inputs.clear()
        model.graph.inputs.extend(kept)


def _unique_values(model: ir.Model) -> None:
    """Every value gets a name of its own, inner ones renamed: branches of an If may share names, and torch repeats some."""
    used: set[str] = set()
    border = [*model.graph.inputs, *model.graph.outputs]
    fixed = {id(v) for v in border}
    used.update(v.name for v in border if v.name)
    for graph in g.graphs(model):
        for value in [
            *graph.inputs,
            *list(graph.initializers.values()),
            *(v for n in graph for v in n.outputs),
        ]:
            if id(value) in fixed or value.name == "":
                continue
            fixed.add(id(value))
            name = g.fresh(used, value.name or "value")
            if name != value.name:
                value.name = name


def _check_types(model: ir.Model, where: str) -> None:
    for owner, tensor in _tensors(model):
        if tensor.dtype in STRINGLIKE:
            raise ModelError(
                f"{where}: constant of {owner!r} is {tensor.dtype.name}: not supported; keep it out of the model"
            )
    for node in g.nodes(model):
        sequence = "Sequence" in node.op_type or node.op_type.startswith("Optional")
        if sequence and node.domain == "" and node.op_type not in BRIEF:
            made = node.outputs[0].name if node.outputs else ""
            raise ModelError(
                f"{where}: value {made!r} is sequence or optional ({node.op_type}): only tensors are supported; rewrite the model"
            )
    for value in [*model.graph.inputs, *(v for n in g.nodes(model) for v in n.outputs)]:
        producer = value.producer()
        brief = (
            producer is not None and producer.op_type in BRIEF and value not in model.graph.outputs
        )
        if value.type is not None and not isinstance(value.type, ir.TensorType) and not brief:
            kind = type(value.type).__name__.removesuffix("Type").lower()
            raise ModelError(
                f"{where}: value {value.name!r} is {kind}: only tensors are supported; rewrite the model"
            )
        if value.dtype in STRINGLIKE and not (producer is not None and contrib.known(producer)):
            assert value.dtype is not None
            what = "keep it out of the model"
            if value.dtype == ir.DataType.STRING:
                what = "encode text and categories as numbers before the model, and train with numbers as labels"
            raise ModelError(
                f"{where}: value {value.name!r} is {value.dtype.name}: not supported; {what}"
            )


def _plain_sizes(model: ir.Model) -> None:
    """A dimension of an input whose name is a number ("16", as some exporters write) is that number; one that has no name, or -1 or
    "?" in its place, is named by its input and axis, so that it can be fixed ("input.0")."""
    for value in model.graph.inputs:
        if value.shape is not None:
            dims = [d if isinstance(d, int) else d.value for d in value.shape]
            plain = [_plain_size(d, f"{value.name}.{axis}") for axis, d in enumerate(dims)]
            if plain != dims:
                value.shape = ir.Shape(plain)


def _plain_size(dim: int | str | None, name: str) -> int | str:
    if isinstance(dim, str) and dim.strip().isdecimal():
        return int(dim)
    unnamed = dim < 0 if isinstance(dim, int) else dim is None or dim.strip() in UNNAMED
    return name if unnamed or dim is None else dim


def _forget_shapes(model: ir.Model) -> None:
    """Drops declared shapes of everything but inputs: exporters leave stale symbols there, and stale beats inferred."""
    for node in g.nodes(model):
        for value in node.outputs:
            value.shape = None

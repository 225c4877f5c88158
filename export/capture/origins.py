"""Where nodes come from: the module path and the source line, in whichever form the exporter wrote them.

A node's module is, in this order,

    pkg.torch.onnx.name_scopes   ['', 'encoder', 'encoder.layer.0', 'linear']: the last but one    torch.onnx, dynamo
    namespace                    ': Model/encoder: Encoder/linear: aten.linear'                     its other exporters
    the node's name              /encoder/encoder.layer.0/query/MatMul                              torch.onnx, TorchScript
    its weights' names           encoder.layer.0.query.weight                                       anything else

and, in a file with scopes, that of those who read its result. Its source is the innermost line of a stack trace that is not torch's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

import onnx
import onnx_ir as ir

from .. import graph as g

SCOPES: Final = "pkg.torch.onnx.name_scopes"
NAMESPACE: Final = "namespace"
TORCH: Final = "pkg.torch"
TRACE: Final = "stack_trace"
FRAME: Final = re.compile(r'File "([^"]+)", line (\d+)')
PARAMETER: Final = re.compile(r"[A-Za-z_]\w*(\.\w+)+")
CALL: Final = re.compile(r"@\d+$")
"""torch.export tells the second call of a module from the first by its number."""
HANDING: Final = ("DequantizeLinear", "Transpose", "Identity", "Cast", "Reshape")
"""What stands between a weight and the node that computes with it."""


def note_origins(model: ir.Model) -> None:
    """Fills `pteron.module` and `pteron.source` of every node that has an origin; what torch wrote about it goes."""
    found = list(g.nodes(model))
    for node in found:
        props = node.metadata_props
        module = _module(node)
        if module is not None:
            props.setdefault(g.MODULE, module)
        line = _line(props.get(f"{TORCH}.onnx.{TRACE}", ""))
        if line:
            props.setdefault(g.SOURCE, line)
    if any(SCOPES in n.metadata_props or NAMESPACE in n.metadata_props for n in found):
        _hand_back(found)
    for node in found:
        for key in [k for k in node.metadata_props if k.startswith(TORCH) or k == NAMESPACE]:
            del node.metadata_props[key]


def _module(node: ir.Node) -> str | None:
    """The path that the file gives; "" is the model itself."""
    scopes = _scopes(node.metadata_props)
    if scopes:
        return CALL.sub("", scopes[-2]) if len(scopes) > 1 else ""
    name = node.name or ""
    if name.startswith("/"):
        return _path(name.split("/")[1:])
    weights = [w for w in map(_weight_name, node.inputs) if PARAMETER.fullmatch(w)]
    return g.common_module(w.rpartition(".")[0] for w in weights) or None


def _scopes(props: dict[str, str]) -> list[str]:
    """Paths from the model to the operator, which is the last."""
    text = props.get(SCOPES, "")
    if text:
        try:
            read = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return []
        return [str(s) for s in read] if isinstance(read, list) else []
    parts = props.get(NAMESPACE, "").split("/")
    return [part.split(": ")[0].removesuffix(":") for part in parts] if len(parts) > 1 else []


def _path(parts: list[str]) -> str:
    """/seq/seq.1/relu/Relu => seq.1.relu: a child of a container repeats the container's name."""
    last = next((i for i, part in enumerate(parts[:-1]) if _is_operator(part)), len(parts) - 1)
    scopes = parts[:last]
    pairs = zip(scopes, [*scopes, ""][1:], strict=True)
    return ".".join(s for s, child in pairs if not child.startswith(f"{s}."))


def _is_operator(part: str) -> bool:
    return bool(onnx.defs.has(re.sub(r"_\d+$", "", part), ""))


def _weight_name(value: ir.Value | None) -> str:
    """The initializer that `value` is, or is made of by nodes that hand it on; "" where there is none."""
    for _ in range(len(HANDING)):
        producer = None if value is None else value.producer()
        if producer is None or not g.is_op(producer, *HANDING):
            break
        value = producer.inputs[0]
    made = value is not None and value.is_initializer() and not value.is_graph_input()
    return str(value.name or "") if value is not None and made else ""


def _line(trace: str) -> str:
    """file:line of the innermost frame that is not torch's."""
    for file, line in reversed(FRAME.findall(trace)):
        if "/site-packages/torch/" not in file and not file.startswith(("<", "torch/")):
            return f"{file}:{line}"
    return ""


def _hand_back(nodes: list[ir.Node]) -> None:
    """What has no origin, helpers of a translation and constants, has that of those who read it."""
    for node in reversed(nodes):
        users = list(_users(node))
        modules = [m for m in map(g.module, users) if m is not None]
        if modules and g.module(node) is None:
            node.metadata_props[g.MODULE] = g.common_module(modules)
        sources = [g.source(user) for user in users if g.source(user)]
        if sources:
            node.metadata_props.setdefault(g.SOURCE, sources[0])


def _users(node: ir.Node) -> Iterator[ir.Node]:
    for value in node.outputs:
        yield from (use.node for use in value.uses())

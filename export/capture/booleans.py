"""Truth values as operands of arithmetic, on the traced graph: PyTorch computes with them as with 0 and 1, ONNX's operators take none."""

from __future__ import annotations

import operator
from typing import Any, Final

COUNTED: Final = frozenset(
    {"add", "addr", "clamp", "clamp_max", "clamp_min", "fmax", "fmin", "heaviside", "index_put", "isclose", "ldexp",
     "max", "min", "prod", "sgn", "sign", "signbit", "square", "unique_dim", "_unique2"}
)  # fmt: skip
"""Operators that give of 0 and 1 what they give of truth values."""
TRUE: Final = ("isclose", "signbit")
"""Those that give truth values of numbers, too."""


def as_numbers(torch: Any, graph: Any) -> None:
    """y = f(x) of truth values => f of integers, y made truth values again: of the dtype of the result where that is of numbers."""
    for node in list(graph.nodes):
        if _is_counted(torch, node):
            _widen(torch, graph, node)


def _is_counted(torch: Any, node: Any) -> bool:
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    is_known = node.target.namespace == "aten" and node.target._opname in COUNTED
    return is_known and any(_is_truth(torch, x) for x in node.args)


def _is_truth(torch: Any, x: Any) -> bool:
    value = x.meta.get("val") if isinstance(x, torch.fx.Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool


def _widen(torch: Any, graph: Any, node: Any) -> None:
    value = node.meta["val"]
    wanted = (value[0] if isinstance(value, (tuple, list)) else value).dtype
    kind = torch.int32 if wanted == torch.bool else wanted
    with graph.inserting_before(node):
        for i, x in enumerate(node.args):
            if _is_truth(torch, x):
                node.update_arg(i, _cast(torch, graph, x, kind))
    if wanted != torch.bool or node.target._opname in TRUE:
        return
    if node.kwargs.get("dtype") == torch.bool:
        node.kwargs = {**node.kwargs, "dtype": kind}
    if isinstance(value, torch.Tensor):
        _narrow(torch, graph, node, kind)
        return
    node.meta["val"] = type(value)([value[0].to(kind), *value[1:]])
    for each in list(node.users):
        if each.target is operator.getitem and each.args[1] == 0:
            _narrow(torch, graph, each, kind)


def _narrow(torch: Any, graph: Any, node: Any, kind: Any) -> None:
    """The node becomes the cast of what it was: its name may be an output's."""
    with graph.inserting_before(node):
        wide = graph.call_function(node.target, node.args, node.kwargs)
    wide.meta = {**node.meta, "val": node.meta["val"].to(kind)}
    node.target, node.args = torch.ops.aten._to_copy.default, (wide,)
    node.kwargs = {"dtype": torch.bool}


def _cast(torch: Any, graph: Any, x: Any, dtype: Any) -> Any:
    made = graph.call_function(torch.ops.aten._to_copy.default, (x,), {"dtype": dtype})
    made.meta = {k: v for k, v in x.meta.items() if k != "unbacked_bindings"}
    made.meta["val"] = x.meta["val"].to(dtype)
    return made

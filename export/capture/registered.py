"""Translations of operators of torch.library that a user of the package brings: `pteron.export.translation`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from pteron.schema.errors import ArgumentError, shown

Function = Callable[..., Any]
KNOWN: Final[dict[str, Function]] = {}
"""By the operator's name with its overload, as torch prints it: mylib.scale.default."""


def translation(operator: Any) -> Callable[[Function], Function]:
    """Registers what an operator of PyTorch becomes in ONNX, for every export of this process; the last one registered counts.

        @pteron.export.translation("mylib::scale")
        def scale(op, x, factor: float):
            return op.Mul(x, op.CastLike(op.Constant(value_float=factor), x))

    The function gets `op`, ONNX's operators at opset 24 (onnxscript), and the operator's own arguments: tensors are values of the graph
    that know `shape` and `dtype`, all else is Python's. It gives a value, or a tuple of as many as the operator has results. The export's
    check compares them with the operator itself.

    Args:
        operator: Its name, "library::name" or "library::name.overload", torch.ops.library.name, an overload of that, or what
            torch.library.custom_op made.

    Raises:
        ArgumentError: it is something else.
    """
    name = _name(operator)

    def register(function: Function) -> Function:
        KNOWN[name] = function
        return function

    return register


def _name(operator: Any) -> str:
    text = operator if isinstance(operator, str) else None
    if text is None:
        overload = getattr(operator, "_opoverload", operator)  # of custom_op
        packet = getattr(overload, "_qualified_op_name", None)  # of torch.ops.library.name
        text = packet if isinstance(packet, str) else str(overload)
    library, found, rest = text.replace("::", ".", 1).partition(".")
    if not (found and library.isidentifier() and rest and " " not in rest):
        raise ArgumentError(
            f"translation: expected an operator of torch.library such as 'mylib::scale', got {shown(operator)}"
        )
    return f"{library}.{rest}" if "." in rest else f"{library}.{rest}.default"


def registered(program: Any, op: Any) -> dict[Any, Function]:
    """A table for torch.onnx of those that the program has."""
    targets = {n.target for n in program.graph.nodes if n.op == "call_function"}
    return {t: _given(KNOWN[str(t)], op) for t in targets if str(t) in KNOWN}


def _given(function: Function, op: Any) -> Function:
    """The function without its first parameter, which is `op`."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(op, *args, **kwargs)

    signature = inspect.signature(function)
    call.__dict__.pop("__wrapped__", None)
    call.__annotations__ = {}
    setattr(  # noqa: B010
        call,
        "__signature__",
        signature.replace(parameters=list(signature.parameters.values())[1:]),
    )
    return call

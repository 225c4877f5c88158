"""A graph is quantized as a whole or stays as it was: what fails late undoes what it had done."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import onnx_ir as ir

P = ParamSpec("P")
R = TypeVar("R")


def restored_on_error(
    function: Callable[Concatenate[ir.Model, P], R],
) -> Callable[Concatenate[ir.Model, P], R]:
    """The model, the function's first operand, gets its graph as it was before when the function raises: a copy, of the same constants."""

    @functools.wraps(function)
    def whole(model: ir.Model, /, *args: P.args, **kwargs: P.kwargs) -> R:
        before = model.clone()
        try:
            return function(model, *args, **kwargs)
        except BaseException:
            model.graph = before.graph
            model.functions.clear()
            model.functions.update(before.functions)
            model.metadata_props.clear()
            model.metadata_props.update(before.metadata_props)
            raise

    return whole

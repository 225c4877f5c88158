"""A Loop in the graph that a translation writes: what a body of operators does again and again, as often as data says."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, Final

import onnx_ir as ir
from onnxscript import evaluator
from torch.onnx._internal.exporter._building import OpRecorder
from torch.onnx._internal.exporter._tensors import SymbolicTensor

from .aten import BOOL, FLOAT, INT64, op

NUMBERS: Final = itertools.count()
"""Of bodies: the name of a body's value stands nowhere else in the model."""
MOST: Final = 2**31 - 1
"""Turns of a loop that ends by its condition."""


def anywhere(mask: Any) -> Any:
    return op.Cast(op.ReduceMax(op.Cast(mask, to=INT64), keepdims=0), to=BOOL)


def loop(
    trips: Any,
    states: Sequence[Any],
    step: Callable[..., Sequence[Any]],
    dtypes: Sequence[int] = (),
) -> Sequence[Any]:
    """The states after `trips` times step(i, *states).

    Args:
        trips: An i64 scalar; none where it is below 1.
        states: Values whose shapes every step leaves as they are.
        step: Gives the states that follow; i counts from 0, a scalar.
        dtypes: ONNX's of the states; f32 where none is given.
    """
    return loop_while(trips, states, lambda i, *now: (None, *step(i, *now)), dtypes)


def loop_while(
    trips: Any,
    states: Sequence[Any],
    step: Callable[..., Sequence[Any]],
    dtypes: Sequence[int] = (),
) -> Sequence[Any]:
    """As `loop`, but that a step gives, before the states, whether another one is to follow: a bool scalar."""
    outer: Any = evaluator.default()
    recorder: Any = OpRecorder
    inner, name = recorder(outer.opset, {}), f"body_{next(NUMBERS)}"

    def value(part: str, dtype: int, shape: Any = None) -> Any:
        made = SymbolicTensor(outer.opset, name=f"{name}_{part}")
        made.dtype, made.shape = ir.DataType(dtype), shape
        return made

    i, goes_on = value("i", INT64, ir.Shape([])), value("on", BOOL, ir.Shape([]))
    dtypes = dtypes or [FLOAT] * len(states)
    held = [value(f"state_{k}", dtype) for k, dtype in enumerate(dtypes)]
    with evaluator.default_as(inner):
        on, *after = step(i, *held)
        results = [op.Identity(x) for x in (goes_on if on is None else on, *after)]
    for k, made in enumerate(v for node in inner.nodes for v in node.outputs):
        made.name = f"{name}_{k}"
    body = ir.Graph([i, goes_on, *held], results, nodes=inner.nodes, name=name)
    outputs = [value(f"result_{k}", dtype) for k, dtype in enumerate(dtypes)]
    outer.nodes.append(
        ir.Node(
            "",
            "Loop",
            [trips, op.Constant(value=ir.tensor(True)), *states],
            [ir.AttrGraph("body", body)],
            outputs=outputs,
            version=outer.opset.version,
        )
    )
    return outputs

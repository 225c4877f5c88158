"""Compares a graph with the module that it was captured from, once, on the example inputs.

Capture leaves an `Example` with the model (its inputs, what the module gave, how to see inside); who runs the graph is a parameter.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.errors import LoweringError, ModelError, PteronError

from .. import graph as g

Array = NDArray[Any]
Runner = Callable[
    [ir.Model, Sequence[str], Iterable[Mapping[str, Any]]], Iterator[Mapping[str, Any]]
]
"""(graph, wanted values, samples) -> for each sample the wanted values by name. States are inputs and outputs."""

KEY: Final = "pteron.example"
"""Where `ir.Model.meta` has the Example."""
ALLOWED: Final = {"float16": 2e-2, "bfloat16": 8e-2}
EXACTLY: Final = 1e-4
"""Of the largest element: what sums in another order may cost in f32 and f64, far below what a lost operator costs."""
FLOOR: Final = 1e-2
"""The largest element counts as at least this: what cancels to nearly nothing keeps the error of its terms."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A value inside of the captured program: its name there, where it is from, its elements."""

    name: str
    origin: str
    value: Array


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """`inputs` by the graph's names, states included. `outputs` runs the module; `steps` runs the captured program."""

    inputs: dict[str, Array]
    outputs: Callable[[], dict[str, Array]]
    steps: Callable[[], Iterator[Step]]


def check(captured: ir.Model, cleaned: ir.Model, example: Example, runner: Runner) -> None:
    """Raises ModelError where `cleaned` gives something else than the module, or cannot run; `captured` is the graph before passes.

    The text names the first value of the captured program that differs.
    """
    title = cleaned.graph.name
    wanted = example.outputs()
    try:
        (got,) = runner(cleaned, list(wanted), [example.inputs])
    except LoweringError:  # lowering says it better
        return
    except PteronError as error:
        raise ModelError(
            f"{title}: the exported graph fails on the example inputs: {error}; export without the check to look at it"
        ) from error
    for name, want in wanted.items():
        text = differs(np.asarray(got[name]), want)
        if text is not None:
            raise ModelError(
                f"{title}: the exported graph differs from the module on the example inputs: output {name!r}: {text}; "
                f"{_origin(captured, example, runner)}; if this is near a tie or random, export with check=False (--no-check)"
            )


def differs(got: Array, want: Array) -> str | None:
    """What is different beyond rounding, in words."""
    if got.shape != want.shape:
        return f"expected the shape {list(want.shape)}, got {list(got.shape)}"
    if want.size == 0:
        return None
    if want.dtype.kind in "biu":
        count = int(np.count_nonzero(got != want))
        return f"{count} of {want.size} elements are not equal" if count else None
    allowed = ALLOWED.get(want.dtype.name, EXACTLY)
    a, b = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        distance = np.where(same, 0.0, np.abs(a - b))
    finite = np.abs(b[np.isfinite(b)])
    scale = max(float(finite.max(initial=0.0)), FLOOR)
    worst = float(np.nan_to_num(distance, nan=np.inf).max())
    if worst <= allowed * scale:
        return None
    return f"largest difference {worst:.3g}, expected at most {allowed * scale:.3g}"


def _origin(captured: ir.Model, example: Example, runner: Runner) -> str:
    """The first value inside that differs, in words."""
    values = [v for node in captured.graph for v in node.outputs]
    names = {v.metadata_props.get(g.TRACED, str(v.name)): str(v.name) for v in values}
    steps = [step for step in example.steps() if step.name in names]
    try:
        (got,) = runner(captured, [names[step.name] for step in steps], [example.inputs])
    except PteronError as error:
        return f"what is first to differ cannot be told ({error})"
    for step in steps:
        name = names[step.name]
        text = differs(np.asarray(got[name]), step.value)
        if text is not None:
            return f"the first value to differ is {name!r} of {step.origin}: {text}"
    return "inside, the graph agrees with torch.export's program: that is where the module differs"


def example_of(model: ir.Model) -> Example | None:
    """Takes the example from the model, which need not be kept any longer."""
    found = model.meta.pop(KEY, None)
    return found if isinstance(found, Example) else None

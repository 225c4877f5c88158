"""Compares a graph with the module that it was captured from: on the example inputs, and on others made of them.

Capture leaves an `Example` with the model (its inputs, what the module gave, how to see inside); who runs the graph is a parameter.
A result on other inputs may differ for a reason that is no defect: the module itself gives something else when its inputs and weights
change by a rounding. Such a difference counts where one operator alone, given the graph's operands, gives something else.
"""

from __future__ import annotations

import dataclasses
import itertools
import time
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
DOUBT: Final = 16
"""Times as far as the module's own results move when its inputs and weights do by a rounding."""
LOOSE: Final = 8
"""Times what is allowed on the example: other inputs may lie where rounding costs more."""
FLOOR: Final = 1e-2
"""The largest element counts as at least this: what cancels to nearly nothing keeps the error of its terms."""


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A value inside of the captured program: its name there, where it is from, its elements."""

    name: str
    origin: str
    value: Array


@dataclasses.dataclass(frozen=True, slots=True)
class Variation:
    """Other inputs, and what the module gives for them.

    `moved`: its results with inputs and weights changed by a rounding, None where they prove nothing (ties); given True, also the
    captured program's with each operator's result changed so. `traced`: results of the captured program; `is_one_point`: for inputs
    changed by a rounding it gives what the module gives. `is_left_open`: an operator meets values there for which PyTorch leaves
    open what it gives. `alone`: given the graph's values by the captured program's names, which operator gives something else for its
    operands there, in words.
    """

    text: str
    inputs: dict[str, Array]
    outputs: dict[str, Array]
    moved: Callable[[bool], list[dict[str, Array]] | None]
    traced: Callable[[], dict[str, Array]]
    is_one_point: Callable[[], bool]
    is_left_open: Callable[[], bool]
    alone: Callable[[Mapping[str, Array]], str | None]


Shapes = Mapping[str, Sequence[int | None]]
"""Of the graph's inputs: a number where the graph takes no other size."""


def _none(shapes: Shapes) -> Iterator[Variation]:
    return iter(())


def _nobody() -> None:
    return None


@dataclasses.dataclass(frozen=True, slots=True)
class Example:
    """`inputs` by the graph's names, states included. `outputs` runs the module; `steps` runs the captured program.

    `others`: for the sizes that the graph takes, one after the other as they are asked for. `itself`: the example as one of them.
    """

    inputs: dict[str, Array]
    outputs: Callable[[], dict[str, Array]]
    steps: Callable[[], Iterator[Step]]
    others: Callable[[Shapes], Iterator[Variation]] = _none
    itself: Callable[[], Variation | None] = _nobody


def check(
    captured: ir.Model,
    cleaned: ir.Model,
    example: Example,
    runner: Runner,
    clock: Callable[[], float] = time.process_time,
) -> list[str]:
    """Raises ModelError where `cleaned` gives something else than the module, or cannot run; `captured` is the graph before passes.

    The text names the first value of the captured program that differs. Other inputs take no longer than the example took, or LEAST
    seconds, whichever is more.

    Returns:
        What the graph refused that the module takes, in words.
    """
    began = clock()
    shapes = {
        str(v.name): [n if isinstance(n, int) else None for n in v.shape or ()]
        for v in cleaned.graph.inputs
    }
    fits = all(_fits(x, shapes[name]) for name, x in example.inputs.items() if name in shapes)
    wanted = example.outputs()
    others = _until(example.others(shapes), began, clock)
    if not fits:
        return _others(captured, cleaned, others, runner)
    given: list[Variation] = []
    samples = itertools.chain([example.inputs], _taken(others, given))
    results = iter(runner(cleaned, list(wanted), samples))
    try:
        got = next(results)
    except LoweringError:  # lowering says it better
        return []
    except PteronError as error:
        raise ModelError(
            f"{cleaned.graph.name}: the exported graph fails on the example inputs: {error}; export without the check to look at it"
        ) from error
    for name, want in wanted.items():
        text = differs(np.asarray(got[name]), want)
        if text is not None:
            own = example.itself()
            if own is not None and own.is_left_open():
                _compare(captured, cleaned, own, got, runner)
                break
            raise _refusal(
                cleaned,
                "the example inputs",
                name,
                text,
                _origin(captured, example, runner),
                "near a tie or random",
            )
    return _others(captured, cleaned, others, runner, results, given)


LEAST: Final = 2.0


def _until(
    others: Iterator[Variation], began: float, clock: Callable[[], float]
) -> Iterator[Variation]:
    """Those that begin in time: the first is asked for when the example has been run."""
    limit = clock() + max(clock() - began, LEAST)
    while clock() <= limit:
        found = next(others, None)
        if found is None:
            return
        yield found


def _fits(x: Array, shape: Sequence[int | None]) -> bool:
    return all(want is None or want == got for got, want in zip(x.shape, shape, strict=True))


def _taken(others: Iterator[Variation], given: list[Variation]) -> Iterator[Mapping[str, Array]]:
    """Their inputs; `given` has those that the runner has taken."""
    for each in others:
        given.append(each)
        yield each.inputs


def _others(
    captured: ir.Model,
    cleaned: ir.Model,
    others: Iterator[Variation],
    runner: Runner,
    results: Iterator[Mapping[str, Any]] | None = None,
    given: list[Variation] | None = None,
) -> list[str]:
    """The rest of the check; where the graph refuses inputs, with the next ones in a run of its own."""
    refused: list[str] = []
    outputs = [str(v.name) for v in cleaned.graph.outputs]
    given = [] if given is None else given
    while True:
        if results is None:
            given.clear()
            results = runner(cleaned, outputs, _taken(others, given))
        try:
            for got in results:
                _compare(captured, cleaned, given[-1], got, runner)
            return refused
        except ModelError:
            raise
        except PteronError as error:
            if not given:
                return refused
            refused.append(f"check: with {given[-1].text} the graph refuses to run: {error}")
            results = None


def _compare(
    captured: ir.Model, cleaned: ir.Model, each: Variation, got: Mapping[str, Any], runner: Runner
) -> None:
    texts = {n: differs(np.asarray(got[n]), want) for n, want in each.outputs.items()}
    worst = next((n for n, text in texts.items() if text is not None), None)
    if worst is None:
        return
    text = texts[worst]
    assert text is not None
    operator = _alone(captured, each, runner)
    if operator is None:
        if each.is_left_open():
            return
        traced = each.traced()
        is_traced = all(differs(x, each.outputs[n]) is None for n, x in traced.items())
        if _is_doubtful(each, got, is_traced) and (is_traced or not each.is_one_point()):
            return
        operator = (
            "each operator of torch.export's program agrees by itself; look at the passes"
            if is_traced
            else "torch.export's program differs from the module there: something in it was fixed to what the example has"
        )
    raise _refusal(cleaned, f"inputs beside the example's ({each.text})", worst, text, operator)


def _is_doubtful(each: Variation, got: Mapping[str, Any], is_traced: bool) -> bool:
    """Whether the module's own results move as far as these differ. A traced program that differs has PyTorch's own rounding: it is
    allowed no more than on the example."""
    loose = LOOSE if is_traced else 1
    moved = each.moved(is_traced)
    if moved is None:
        return True
    for name, want in each.outputs.items():
        away = distance(np.asarray(got[name]), want)
        most = max((distance(other[name], want) for other in moved), default=0.0)
        if away > max(loose * tolerance(want), DOUBT * most):
            return False
    return True


def _alone(captured: ir.Model, each: Variation, runner: Runner) -> str | None:
    """The first operator that gives something else than PyTorch's for the operands that it has in the graph, in words."""
    names = _names(captured)
    try:
        (got,) = runner(captured, list(names.values()), [each.inputs])
    except PteronError as error:
        return f"which operator differs cannot be told ({error})"
    return each.alone({traced: np.asarray(got[name]) for traced, name in names.items()})


def _refusal(
    cleaned: ir.Model, where: str, name: str, text: str, origin: str, unless: str = "no defect"
) -> ModelError:
    return ModelError(
        f"{cleaned.graph.name}: the exported graph differs from the module on {where}: output {name!r}: {text}; "
        f"{origin}; if this is {unless}, export with check=False (--no-check)"
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
    worst, allowed = distance(got, want), tolerance(want)
    if worst <= allowed:
        return None
    return f"largest difference {worst:.3g}, expected at most {allowed:.3g}"


def distance(got: Array, want: Array) -> float:
    """The largest of all elements; of integers how many are not equal. Infinite where the shapes differ."""
    if got.shape != want.shape:
        return float("inf")
    if want.dtype.kind in "biu":
        return float(np.count_nonzero(got != want))
    return float(apart(got, want).max(initial=0.0))


def apart(got: Array, want: Array) -> NDArray[np.float64]:
    """How far each element is: 0 for equals, infinities and NaN too; infinite for one of them and a number."""
    a, b = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        away = np.abs(a - b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0.0, np.nan_to_num(away, nan=np.inf, posinf=np.inf))


def tolerance(want: Array) -> float:
    """What rounding may cost: of the largest element."""
    if want.dtype.kind in "biu":
        return 0.0
    b = want.astype(np.float64)
    scale = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)), FLOOR)
    return ALLOWED.get(want.dtype.name, EXACTLY) * scale


def _names(captured: ir.Model) -> dict[str, str]:
    """The graph's name of each value but sequences, by the captured program's."""
    values = [v for node in captured.graph for v in node.outputs if not g.is_sequence(v)]
    return {v.metadata_props.get(g.TRACED, str(v.name)): str(v.name) for v in values}


def _origin(captured: ir.Model, example: Example, runner: Runner) -> str:
    """The first value inside that differs, in words."""
    names = _names(captured)
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

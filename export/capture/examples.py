"""The example inputs as arrays of the graph, what the module gives for them, and a look inside the captured program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .check import Example, Shapes, Step, Variation
from .pairs import as_pairs

FRAME: Final = re.compile(r'File "([^"]+)", line (\d+)')
Array = NDArray[Any]


def array(torch: Any, x: Any) -> Array:
    """A tensor or number as an array of the graph's dtypes."""
    if not isinstance(x, torch.Tensor):
        kind = {bool: np.bool_, int: np.int64, float: np.float32}[type(x)]
        return np.asarray(x, kind)
    x = as_pairs(torch, x.detach()).cpu().contiguous()
    name = str(x.dtype).removeprefix("torch.")
    if hasattr(ml_dtypes, name):
        bits = torch.int16 if x.element_size() == 2 else torch.uint8
        return np.asarray(x.view(bits).numpy().view(getattr(ml_dtypes, name)))
    return np.array(x.numpy())


def tensor(torch: Any, x: Array) -> Any:
    """The array as a tensor: what `array` undoes."""
    kind = getattr(torch, x.dtype.name)
    if hasattr(ml_dtypes, x.dtype.name):
        bits = np.int16 if x.dtype.itemsize == 2 else np.uint8
        return torch.from_numpy(np.array(x).view(bits)).view(kind)
    return torch.from_numpy(np.array(x)).to(kind)


def example_of(
    torch: Any,
    captured: Any,
    run: Callable[[], tuple[Any, dict[str, Any], list[Any]]],
    inputs: Any,
    others: Callable[[Shapes], Iterator[Variation]],
    itself: Callable[[], Variation | None],
) -> Example:
    """`run` gives the module's result, and its buffers and inputs afterwards."""
    leaves = torch.utils._pytree.tree_leaves
    given = [x for x in leaves(inputs) if isinstance(x, torch.Tensor)]
    values = [*given[: len(captured.inputs)], *captured.states.values()]
    return Example(
        named_inputs(torch, captured, values),
        lambda: named_outputs(torch, captured, *run()),
        lambda: _steps(torch, captured, values),
        others,
        itself,
    )


def named_inputs(torch: Any, captured: Any, values: list[Any]) -> dict[str, Array]:
    """Tensors of the user and states, by the names of the graph's inputs."""
    names = [*captured.inputs, *(f"past.{s}" for s in captured.states)]
    return {n: array(torch, x) for n, x in zip(names, values, strict=True)}


def named_outputs(
    torch: Any, captured: Any, result: Any, buffers: dict[str, Any], inputs: list[Any]
) -> dict[str, Array]:
    """What a module gives, and its inputs and buffers afterwards, by the names of the graph's outputs."""
    tensors = (x for x in inputs if isinstance(x, torch.Tensor))
    after = dict(zip(captured.inputs, tensors, strict=False))
    leaves = [*torch.utils._pytree.tree_leaves(result), *(after[n] for n in captured.written)]
    kept = [array(torch, x) for x in leaves if x is not None]
    wanted = dict(zip(captured.outputs, kept, strict=True))
    return wanted | {f"present.{s}": array(torch, buffers[s]) for s in captured.states}


def flat_inputs(torch: Any, captured: Any, values: list[Any]) -> list[Any]:
    """What the captured program takes, for the values of `named_inputs`: weights and constants between them."""
    program = captured.program
    given = iter(values)
    user = torch.export.graph_signature.InputKind.USER_INPUT
    held = {**program.constants, **program.state_dict}
    return [
        as_pairs(torch, next(given)) if spec.kind == user else held[spec.target]
        for spec in program.graph_signature.input_specs
    ]


def _steps(torch: Any, captured: Any, values: list[Any]) -> Iterator[Step]:
    """Runs the captured program operator by operator."""
    found: list[Step] = []

    class Watched(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            if isinstance(result, torch.Tensor) and n.op == "call_function":
                found.append(Step(n.name, origin(n), array(torch, result)))
            return result

    with torch.no_grad():
        Watched(captured.program.graph_module).run(*flat_inputs(torch, captured, values))
    return iter(found)


def origin(node: Any) -> str:
    """module 'a.b' (Class), operator, file:line."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path, kind = stack[-1] if stack else ("", "")
    kind = kind if isinstance(kind, str) else kind.__name__
    frames = [
        f
        for f in FRAME.findall(node.meta.get("stack_trace") or "")
        if "/site-packages/torch/" not in f[0]
    ]
    where = f" at {frames[-1][0]}:{frames[-1][1]}" if frames else ""
    return f"module {path or 'itself'!r} ({kind.rpartition('.')[2]}), {node.target}{where}"

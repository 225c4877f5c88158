"""The example inputs as arrays of the graph, what the module gives for them, and a look inside the captured program."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .check import Example, Step

FRAME: Final = re.compile(r'File "([^"]+)", line (\d+)')
Array = NDArray[Any]


def array(torch: Any, x: Any) -> Array:
    """A tensor or number as an array of the graph's dtypes."""
    if not isinstance(x, torch.Tensor):
        kind = {bool: np.bool_, int: np.int64, float: np.float32}[type(x)]
        return np.asarray(x, kind)
    x = x.detach().cpu().contiguous()
    name = str(x.dtype).removeprefix("torch.")
    if hasattr(ml_dtypes, name):
        bits = torch.int16 if x.element_size() == 2 else torch.uint8
        return np.asarray(x.view(bits).numpy().view(getattr(ml_dtypes, name)))
    return np.array(x.numpy())


def example_of(
    torch: Any, captured: Any, run: Callable[[], tuple[Any, dict[str, Any]]], inputs: Any
) -> Example:
    """`run` gives the module's result and its buffers afterwards."""
    leaves = torch.utils._pytree.tree_leaves
    given = [x for x in leaves(inputs) if isinstance(x, torch.Tensor)]
    names = [*captured.inputs, *(f"past.{s}" for s in captured.states)]
    values = [*given[: len(captured.inputs)], *captured.states.values()]

    def outputs() -> dict[str, Array]:
        result, buffers = run()
        kept = [array(torch, x) for x in leaves(result) if x is not None]
        wanted = dict(zip(captured.outputs, kept, strict=True))
        return wanted | {f"present.{s}": array(torch, buffers[s]) for s in captured.states}

    return Example(
        {n: array(torch, x) for n, x in zip(names, values, strict=True)},
        outputs,
        lambda: _steps(torch, captured, values),
    )


def _steps(torch: Any, captured: Any, values: list[Any]) -> Iterator[Step]:
    """Runs the captured program operator by operator."""
    program = captured.program
    given = iter(values)
    kinds = torch.export.graph_signature.InputKind
    held = {**program.constants, **program.state_dict}
    flat = [
        next(given) if spec.kind == kinds.USER_INPUT else held[spec.target]
        for spec in program.graph_signature.input_specs
    ]
    found: list[Step] = []

    class Watched(torch.fx.Interpreter):  # type: ignore[misc]
        def run_node(self, n: Any) -> Any:
            result = super().run_node(n)
            if isinstance(result, torch.Tensor) and n.op == "call_function":
                found.append(Step(n.name, _origin(n), array(torch, result)))
            return result

    with torch.no_grad():
        Watched(program.graph_module).run(*flat)
    return iter(found)


def _origin(node: Any) -> str:
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

"""What torch.export found out about sizes while it traced: ranges, guards, axes that squeeze takes for longer than 1.

They become bounds and checks over the names that the inputs have in the Graph (`guards` reads the guards themselves).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import onnx_ir as ir

from pteron.schema.errors import ModelError

from ..graph import bounds
from ..graph.dimensions import arithmetic
from ..sizes import Check, Extent, extents
from ..sizes.extents import linear
from .guards import InexpressibleError, Reader, settle

INNER: Final = re.compile(r"/torch/(_|fx/|utils/)")
"""Files of torch where an operator asks for sizes, not the module."""


def overload(packets: Any, name: str) -> Any:
    """`add.Tensor` of `torch.ops.aten`, or of another namespace."""
    packet, kind = name.split(".")
    return getattr(getattr(packets, packet), kind)


def calls(torch: Any, program: Any) -> Iterator[Any]:
    """The calls of the program's graph and of those that its operators run (branches, autocast)."""
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield from (node for node in module.graph.nodes if node.op == "call_function")


def decomposed(program: Any, table: Mapping[Any, Any]) -> Any:
    """The program by other operators. Its guards are kept out of the way: torch traces them, too, and takes
    `n == min(5, n)` for n == 5 where that is the example's size.
    """
    guards, program._guards_code = program._guards_code, []
    try:
        done = program.run_decompositions(dict(table))
    finally:
        program._guards_code = guards
    done._guards_code = [*guards, *done._guards_code]
    return done


def stated(torch: Any, program: Any) -> list[str]:
    """The program's guards, without those by which an operator chose strides: its meaning is the same whichever way they are.

    Such a guard says that a size is not this or that, or neither 0 nor 1, and no line of the module asks for it.
    """
    from torch.export.exported_program import _get_shape_env
    from torch.fx.experimental.symbolic_shapes import ShapeGuardPythonPrinter

    env_of: Any = _get_shape_env
    known = env_of(program.graph_module)
    strides = set()
    if known is not None:
        sources = known.var_to_sources
        printer = ShapeGuardPythonPrinter(sources, lambda s: s.name, sources)
        for guard in known.guards:
            place = getattr(guard.sloc.framework_loc, "filename", "")
            strided = guard.expr.func.__name__ in ("Unequality", "Ne") or _is_long(guard.expr)
            if strided and INNER.search(place) and guard.expr.free_symbols <= sources.keys():
                strides.add(printer.doprint(guard.expr))
    return [guard for guard in program._guards_code if guard not in strides]


def _is_long(expression: Any) -> bool:
    """n >= 2 or n > 1."""
    least = {"GreaterThan": 2, "StrictGreaterThan": 1}.get(expression.func.__name__)
    return least is not None and bool(expression.lhs.is_Symbol and expression.rhs == least)


def _squeezed(torch: Any, graph: Any) -> list[str]:
    """Sizes of dynamic axes that squeeze leaves: with size 1 the module's result has an axis less."""
    found = []
    squeezes = {
        torch.ops.aten.squeeze.default,
        torch.ops.aten.squeeze.dim,
        torch.ops.aten.squeeze.dims,
    }
    for node in graph.nodes:
        if node.op == "call_function" and node.target in squeezes:
            shape = node.args[0].meta["val"].shape
            axes = node.args[1] if len(node.args) > 1 else range(len(shape))
            for axis in [axes] if isinstance(axes, int) else axes:
                if len(shape) and isinstance(shape[axis], torch.SymInt):
                    found.append(str(shape[axis].node.expr))
    return list(dict.fromkeys(found))


def bounds_of(
    torch: Any,
    captured: Any,
    model: ir.Model,
    guards: Sequence[str],
    least: Mapping[str, int],
    where: str,
) -> bounds.Bounds:
    """Ranges and guards of the program, over the names that the model's inputs have; `least` by the tracer's symbols.

    Raises:
        ModelError: a guard is no formula over sizes; it is named.
    """
    values = {
        n.name: n.meta.get("val") for n in captured.program.graph.find_nodes(op="placeholder")
    }
    names: dict[str, Extent] = {}
    sizes: dict[str, tuple[int, int]] = {}
    found: dict[tuple[str, int], Extent] = {}
    mixed: list[tuple[str, int, Any, str]] = []
    ranges = captured.program.range_constraints
    for port, given in zip(model.graph.inputs, captured.inputs, strict=False):
        for axis, (size, traced) in enumerate(
            zip(port.shape or (), values[given].shape, strict=True)
        ):
            if isinstance(size, int):
                found[given, axis] = size
                continue
            expression = traced.node.expr
            if not expression.is_Symbol:
                mixed.append((given, axis, expression, str(size.value)))
                continue
            name = str(size.value)
            low, high = range_of(ranges.get(expression))
            sizes[name] = max(low, least.get(str(expression), 0)), high
            found[given, axis] = names[str(expression)] = bounds.symbol(name)
    reader = Reader(names, list(captured.inputs), lambda name, axis: found[name, axis])
    checks = _derived(mixed, names, sizes, ranges, least)
    for given, axis, expression, _ in mixed:
        found[given, axis] = reader.number(ast.parse(str(expression), mode="eval").body)
    for expression, limits in ranges.items():
        if not expression.is_Symbol and {str(s) for s in expression.free_symbols} <= names.keys():
            low, high = range_of(limits)
            checks += reader.checks(
                f"{low} <= ({expression}) <= {high}",
                f"the module was traced for {low} <= {expression} <= {high}",
            )
    for left in _squeezed(torch, captured.program.graph):
        try:
            checks += reader.checks(f"({left}) != 1", "squeeze was traced for a size that is not 1")
        except (InexpressibleError, KeyError):  # a size that data decides
            continue
    for guard in dict.fromkeys(guards):
        text = _for_people(guard)
        try:
            checks += reader.checks(guard, f"the module was traced for {text}")
        except (InexpressibleError, KeyError, IndexError) as error:
            raise ModelError(
                f"{where}: torch.export traced the module under the condition {text}, which is no formula over sizes ({error}); "
                "make the axis static, or the module independent of it"
            ) from error
    return settle(sizes, checks)


def _derived(
    mixed: Sequence[tuple[str, int, Any, str]],
    names: dict[str, Extent],
    sizes: dict[str, tuple[int, int]],
    ranges: Mapping[Any, Any],
    least: Mapping[str, int],
) -> list[Check]:
    """Enters the tracer's symbols that no axis is by itself, only as 2 * s + 1: under the name that the axis has them by, or,
    where the axis has a name of its own, as what they are of it. Returns what must hold of such names."""
    checks = []
    for _, _, expression, text in mixed:
        root = linear(expression)
        if root is None or str(root.symbol) in names:
            continue
        low, high = range_of(ranges.get(root.symbol))
        low = max(low, least.get(str(root.symbol), 0))
        named = arithmetic(text, bounds.symbol)
        same = None if named is None else linear(named)
        if same is not None and (same.factor, same.offset) == (root.factor, root.offset):
            sizes[str(same.symbol)] = low, high
            names[str(root.symbol)] = same.symbol
            continue
        axis = bounds.symbol(text)
        sizes[text] = root.factor * low + root.offset, bounds.MOST
        rest = extents.sub(axis, root.offset)
        names[str(root.symbol)] = extents.floordiv(rest, root.factor)
        why = f"{text} is {root.factor} n + {root.offset}, for which the module was traced"
        checks.append(Check("divides", root.factor, rest, why))
    return checks


def range_of(limits: Any) -> tuple[int, int]:
    """Of torch's range: 2 is its assumption that an axis is neither 0 nor 1, which no guard states; it runs with 1."""
    if limits is None:
        return 0, bounds.MOST
    least, most = limits.lower, limits.upper
    low = 1 if least == 2 else max(int(least), 0)
    return low, min(int(most), bounds.MOST) if most < bounds.MOST else bounds.MOST


def _for_people(guard: str) -> str:
    """L['x'].size()[0] as x.shape[0]."""
    return re.sub(r"L\['(\w+)'\]", r"\1", guard).replace(".size()", ".shape")

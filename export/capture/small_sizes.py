"""Sizes 0 and 1: torch.export decides `x.shape[0] == 0` by assuming that an axis has more elements, and no guard says so.

So the module is asked: where it gives something else for such a size than the program that was traced, the size is out of bounds.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any


def least_sizes(torch: Any, module: Any, program: Any, example: Any) -> dict[str, int]:
    """The least size that the program holds for, by the tracer's symbol, where that is more than its range says.

    `module` writes nothing. Sizes for which it fails are left alone: nothing is wrong there. Where the traced program alone fails,
    what is made of it may not.
    """
    tree = torch.utils._pytree
    leaves, spec = tree.tree_flatten(example)
    axes = [e for _, _, e in dynamic_axes(torch, program)]
    symbols = dict.fromkeys(str(s) for e in axes for s in sorted(e.free_symbols, key=str))
    if not symbols:
        return {}
    ours = copy.deepcopy(module)
    # Hooks of the call would ask that sizes of inputs lie in the assumed ranges.
    traced = program.module(check_guards=False).forward
    least: dict[str, int] = {}
    # PyTorch ends the process where bags have no offsets.
    has_bags = any("embedding_bag" in str(n.target) for n in program.graph.nodes)
    for symbol in symbols:
        for size in (1, 0):
            small = _of_size(torch, program, leaves, symbol, size)
            if small is None:
                break
            if size == 0 and has_bags:
                least[symbol] = 1
                break
            wanted = _result(torch, ours, tree.tree_unflatten(small, spec))
            got = _result(torch, traced, tree.tree_unflatten(small, spec))
            if wanted is None or (got is not None and _agree(torch, wanted, got)):
                continue
            if got is None and _holds_together(torch, ours, traced, program, example, symbol, size):
                continue  # of it alone the program refuses the size, too
            if not _is_assumed_larger(program, symbol):
                guarded = program.module()
                if _is_guarded(guarded, tree.tree_unflatten(small, spec)):
                    continue  # the program refuses the size
            least[symbol] = size + 1
            break
    return least


def dynamic_axes(torch: Any, program: Any) -> Iterator[tuple[int, int, Any]]:
    """(input, axis, size as an expression of the tracer) of all that is dynamic."""
    values = {n.name: n.meta.get("val") for n in program.graph.find_nodes(op="placeholder")}
    for i, name in enumerate(program.graph_signature.user_inputs):
        value = values.get(name)
        for axis, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if isinstance(size, torch.SymInt):
                yield i, axis, size.node.expr


def _holds_together(
    torch: Any, ours: Any, traced: Any, program: Any, example: Any, symbol: str, size: int
) -> bool:
    """Whether module and program agree where all axes that are as long as this one in the example have the size: two inputs of one
    batch, which torch took for two where one of them broadcasts."""
    leaves, spec = torch.utils._pytree.tree_flatten(example)
    axes = [
        (leaves[i].shape[axis], str(e))
        for i, axis, e in dynamic_axes(torch, program)
        if e.is_Symbol
    ]
    mine = {length for length, name in axes if name == symbol}
    others = dict.fromkeys(name for length, name in axes if {length} == mine and name != symbol)
    small: list[Any] | None = _of_size(torch, program, leaves, symbol, size)
    for other in others:
        small = small and _of_size(torch, program, small, other, size)
    if not small or not others:
        return False
    wanted, got = (
        _result(torch, run, torch.utils._pytree.tree_unflatten(small, spec))
        for run in (ours, traced)
    )
    return wanted is not None and got is not None and _agree(torch, wanted, got)


def _of_size(
    torch: Any, program: Any, leaves: list[Any], symbol: str, size: int
) -> list[Any] | None:
    """Example inputs cut down where the symbol decides an axis; None where the program's range or the example does not allow it."""
    small = list(leaves)
    for i, axis, expression in dynamic_axes(torch, program):
        mine = [s for s in expression.free_symbols if str(s) == symbol]
        if not mine:
            continue
        limits = program.range_constraints.get(mine[0])
        wanted = expression.subs({mine[0]: size})
        fits = wanted.is_Integer and 0 <= int(wanted) <= small[i].shape[axis]
        assumed = (
            limits is not None and limits.lower == 2
        )  # for 0 and 1, and no limit of the module's
        if not fits or (limits is not None and limits.lower > size and not (assumed and size)):
            return None
        small[i] = small[i].narrow(axis, 0, int(wanted)).clone()
    return small


def _is_assumed_larger(program: Any, symbol: str) -> bool:
    """Whether the range of the size begins with 2, torch's assumption."""
    limits = program.range_constraints.items()
    return any(str(s) == symbol and limit.lower == 2 for s, limit in limits)


def _result(torch: Any, run: Any, inputs: Any) -> list[Any] | None:
    tree = torch.utils._pytree
    try:
        args, kwargs = tree.tree_map(
            lambda x: x.clone() if isinstance(x, torch.Tensor) else x, inputs
        )
        return list(tree.tree_leaves(run(*args, **kwargs)))
    except Exception:
        return None


def _is_guarded(run: Any, inputs: Any) -> bool:
    """Whether a guard refuses these, before any operator of the program could."""
    try:
        run(*inputs[0], **inputs[1])
    except Exception as error:
        return isinstance(error, AssertionError)
    return False


def _agree(torch: Any, wanted: list[Any], got: list[Any]) -> bool:
    if len(got) != len(wanted):
        return False
    for a, b in zip(wanted, got, strict=True):
        if isinstance(a, torch.Tensor) != isinstance(b, torch.Tensor):
            return False
        if not isinstance(a, torch.Tensor):
            continue
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if not torch.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True):
            return False
    return True

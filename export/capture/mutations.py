"""What a module changes when it runs, found by running a copy: the guard against state that export would lose."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
from collections.abc import Iterator
from typing import Any

from pteron.schema.errors import ModelError


@contextlib.contextmanager
def eval_mode(module: Any) -> Iterator[None]:
    """The module in eval mode; each submodule's own mode comes back. What torch.export made has one mode, and says so."""
    modes = [(m, m.training) for m in module.modules()]
    with contextlib.suppress(NotImplementedError):
        module.eval()
    try:
        yield
    finally:
        for each, mode in modes:
            each.training = mode


@dataclasses.dataclass(frozen=True, slots=True)
class Trial:
    """What a run of the module gave: names of the buffers that it writes, all buffers after it, the result, the inputs after it."""

    written: set[str]
    buffers: dict[str, Any]
    result: Any
    inputs: list[Any]


def check_writes(torch: Any, module: Any, example: Any, where: str) -> Trial:
    """Runs a copy of the module on copies of the example inputs, twice where it writes anything that is no buffer.

    An attribute that is set to the same value by the second run is a cache of something constant, and harmless.

    Raises:
        ModelError: it writes parameters, or plain attributes that carry state from run to run.
    """
    try:
        trial = copy.deepcopy(module)
    except Exception as error:
        raise ModelError(
            f"{where}: the module cannot be copied, so its state cannot be checked ({type(error).__name__}: {error}); "
            "make it deepcopy-able, or export it yourself with torch.export"
        ) from error
    buffers = {n for n, _ in trial.named_buffers()}
    parameters = {n for n, _ in trial.named_parameters()}
    before = _snapshot(torch, trial)
    ran, inputs = _run(torch, trial, example, where)
    first = torch.utils._pytree.tree_map(
        lambda x: x.detach().clone() if isinstance(x, torch.Tensor) else x, ran
    )
    middle = _snapshot(torch, trial)
    written = _differences(torch, before, middle)
    changed = sorted(written & parameters)
    if changed:
        raise ModelError(
            f"{where}: parameter {changed[0]!r} is written when the module runs; make it a buffer"
        )
    plain = written - buffers
    if plain:
        second, _ = _run(torch, trial, example, where)
        again = sorted(_differences(torch, middle, _snapshot(torch, trial)) & plain)
        if again or (not written & buffers and not _same(torch, first, second)):
            name = (again or sorted(plain))[0]
            raise ModelError(
                f"{where}: attribute {name!r} changes from run to run but is no buffer, so export would freeze it; "
                f"keep it as a tensor with register_buffer({name.rpartition('.')[2]!r}, ...)"
            )
    after = {n: middle[n] for n in buffers if n in middle}
    return Trial(written & buffers, after, first, inputs)


def _run(torch: Any, module: Any, example: Any, where: str) -> tuple[Any, list[Any]]:
    """The result, and the inputs afterwards."""

    def clone(x: Any) -> Any:
        return x.clone() if isinstance(x, torch.Tensor) else x

    tree = torch.utils._pytree
    args, kwargs = tree.tree_map(clone, example[0]), tree.tree_map(clone, example[1])
    try:
        result = module(*args, **kwargs)
    except Exception as error:
        raise ModelError(
            f"{where}: the module fails on the example inputs: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        ) from error
    return result, tree.tree_leaves((args, kwargs))


def _snapshot(torch: Any, module: Any) -> dict[str, Any]:
    """Tensors, numbers and strings held by every submodule, tensors copied; lists and dicts one level deep."""
    found: dict[str, Any] = {}

    def keep(name: str, value: Any, depth: int = 0) -> None:
        if isinstance(value, torch.Tensor):
            found[name] = value.detach().clone()
        elif value is None or isinstance(value, (int, float, bool, str)):
            found[name] = value
        elif isinstance(value, dict) and depth < 2:
            for key, item in value.items():
                keep(f"{name}[{key!r}]", item, depth + 1)
        elif isinstance(value, (list, tuple)) and depth < 2:
            for i, item in enumerate(value):
                keep(f"{name}[{i}]", item, depth + 1)

    for prefix, part in module.named_modules():
        own = {
            k: v
            for k, v in vars(part).items()
            if not k.startswith(("_buffers", "_parameters", "_modules"))
        }
        own = {k: v for k, v in own.items() if not (k.startswith("_") and "hook" in k)}
        for group in (part._buffers, part._parameters, own):
            for key, value in group.items():
                keep(f"{prefix}.{key}".lstrip("."), value)
    return found


def _differences(torch: Any, a: dict[str, Any], b: dict[str, Any]) -> set[str]:
    return {
        k for k in a.keys() | b.keys() if k not in a or k not in b or not _equal(torch, a[k], b[k])
    }


def _equal(torch: Any, x: Any, y: Any) -> bool:
    if type(x) is not type(y):
        return False
    if isinstance(x, torch.Tensor) and hasattr(x, "__tensor_flatten__"):  # of other tensors
        (parts, told), (others, also) = x.__tensor_flatten__(), y.__tensor_flatten__()
        alike = parts == others and str(told) == str(also)
        return alike and all(_equal(torch, getattr(x, n), getattr(y, n)) for n in parts)
    if isinstance(x, torch.Tensor):
        return (
            x.shape == y.shape
            and x.dtype == y.dtype
            and bool(
                torch.equal(x.nan_to_num(), y.nan_to_num())
                if x.is_floating_point() and x.element_size() > 1
                else torch.equal(x, y)
            )
        )
    return bool(x == y)


def _same(torch: Any, a: Any, b: Any) -> bool:
    x, y = torch.utils._pytree.tree_leaves(a), torch.utils._pytree.tree_leaves(b)
    return len(x) == len(y) and all(_equal(torch, p, q) for p, q in zip(x, y, strict=True))

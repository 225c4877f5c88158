"""Tables that PyTorch makes anew for every export, made once: half of what the export of a small module takes.

torch.onnx parses the source of its 700 functions (1.2 s); torch.export lists the dispatcher's operators for every namespace there is (0.3 s).
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

_FUNCTIONS: Final[dict[Any, tuple[Any, Any]]] = {}
"""Opset, as torch.onnx gives it -> the operators that there were, and the table for them, which nobody changes."""


@contextlib.contextmanager
def tables_made_once() -> Iterator[None]:
    """In it PyTorch takes copies. A version of PyTorch that keeps its tables elsewhere makes them as it did."""
    with contextlib.ExitStack() as patched:
        with contextlib.suppress(ImportError, AttributeError, KeyError):
            from torch.onnx._internal.exporter._registration import ONNXRegistry

            if isinstance(ONNXRegistry().functions, dict):
                _replace(patched, ONNXRegistry, "from_torchlib", _copied)
        with contextlib.suppress(ImportError, AttributeError, KeyError):
            from torch._export import utils

            _replace(patched, utils, "_materialize_cpp_cia_ops", _done_once)
        yield


def _replace(
    patched: contextlib.ExitStack, owner: Any, name: str, by: Callable[[Any, Any], Any]
) -> None:
    own = vars(owner)[name]
    setattr(owner, name, by(owner, own))
    patched.callback(setattr, owner, name, own)


def _copied(table: Any, own: Any) -> Any:
    """The class method that makes a table; custom translations are added to what it gives."""
    import torch

    def copied(*args: Any, **kwargs: Any) -> Any:
        known = frozenset(torch._C._dispatch_get_all_op_names())  # libraries come and go
        key = args, tuple(sorted(kwargs.items()))
        before, held = _FUNCTIONS.get(key, (None, None))
        if before != known:
            held = own.__get__(None, table)(*args, **kwargs)
            _FUNCTIONS[key] = known, held
        new = copy.copy(held)
        new.functions = {op: list(functions) for op, functions in new.functions.items()}
        return new

    return staticmethod(copied)


def _done_once(module: Any, own: Any) -> Any:
    """A call without arguments or result; while the context is open, nobody registers operators."""
    calls: list[None] = []

    def once() -> None:
        if not calls:
            calls.append(own())

    return once

"""torch.onnx's table of functions, made once in a process: it parses the source of 500 of them for every export, for two seconds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

_MADE: Final[dict[tuple[int, frozenset[str]], Any]] = {}
"""By opset, and those operators that it may name which a library brings when it is imported."""
LATE: Final = ("quantized_decomposed::", "torchvision::")


@contextlib.contextmanager
def made_once(torch: Any) -> Iterator[None]:
    """While this lasts, torch.onnx.export takes a copy of the table; what it adds to that is its own."""
    from torch.onnx._internal.exporter import _registration

    kind: Any = _registration.ONNXRegistry
    plain = kind.__dict__["from_torchlib"]

    def from_torchlib(cls: Any, opset_version: int) -> Any:
        names = torch._C._dispatch_get_all_op_names()
        key = opset_version, frozenset(name for name in names if name.startswith(LATE))
        if key not in _MADE:
            _MADE[key] = plain.__func__(cls, opset_version)
        copy = cls()
        copy._opset_version = opset_version
        copy.functions = {k: list(v) for k, v in _MADE[key].functions.items()}
        return copy

    kind.from_torchlib = classmethod(from_torchlib)
    try:
        yield
    finally:
        kind.from_torchlib = plain

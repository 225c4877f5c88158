"""Whose fault an exception is that is none of Pteron's own: the model's, where ONNX's checker refuses it, else ours."""

from __future__ import annotations

import contextlib
import os
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pteron.schema.errors import InternalError, ModelError, PteronError

_SURPRISES: Final = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError, AssertionError,
)  # fmt: skip
_OURS: Final = ("pteron", "onnx", "onnx_ir", "numpy", "sympy", "ml_dtypes", "google")
"""Packages whose code meets a model; what a caller's own function raises goes through as it is."""
_LINKED: Final = re.compile(r"it is a symbolic link|it has multiple hard links")
"""ONNX's checker refuses weights that lie behind links, which capture reads, and looks at nothing else then."""


@contextlib.contextmanager
def blaming(source: Any) -> Iterator[None]:
    """Within it an export meets a model that may be anything.

    Raises:
        ModelError: the model is none by ONNX's own rules, or nested without end.
        InternalError: it is one; the text says where it happened.
    """
    try:
        yield
    except PteronError:
        raise
    except _SURPRISES as error:
        if isinstance(error, OSError | ImportError) or not _is_ours(error):
            raise
        if isinstance(error, RecursionError):
            raise ModelError(f"{_name(source)}: nested too deep; flatten it") from error
        if refusal := _refused(source):
            raise ModelError(
                f"{_name(source)}: the ONNX model is malformed: {refusal}; run onnx.checker on it"
            ) from error
        at = traceback.extract_tb(error.__traceback__)[-1]
        raise InternalError(
            f"{_name(source)}: {type(error).__name__} at {Path(at.filename).name}:{at.lineno}: "
            f"{' '.join(str(error).split())[:200]}; a defect of Pteron: report it with the model"
        ) from error


def _is_ours(error: BaseException) -> bool:
    """Whether Pteron, or a package that it calls, raised it."""
    frames = [Path(f.filename).resolve() for f in traceback.extract_tb(error.__traceback__)]
    home = Path(__file__).resolve()
    roots = [home.parent, *(home.parents[1] / name for name in ("export", "quantize", "schema"))]
    roots += [home.parents[2] / name for name in ("export", "quantize", "schema")]
    last = frames[-1]
    return any(last.is_relative_to(root) for root in roots) or any(
        part in _OURS for part in last.parts
    )


def _refused(source: Any) -> str:
    """What ONNX's checker says against a file; "" of what is no ONNX file, or a good one."""
    if not isinstance(source, str | os.PathLike) or Path(source).suffix != ".onnx":
        return ""
    import onnx

    try:
        onnx.checker.check_model(os.fspath(source), full_check=True)
    except Exception as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        return "" if _LINKED.search(first) else first
    return ""


def _name(source: Any) -> str:
    return Path(source).name if isinstance(source, str | os.PathLike) else "model"

"""A model that a Python file makes: `model.py:make` names a module, a class of one, or a function that returns

    module                                  what it is called with comes from elsewhere (args)
    (module, args)                          args: a tuple of example inputs, or one tensor
    (module, args, dynamic_shapes)
    (module, args, kwargs, dynamic_shapes)

The file runs as Python does: its folder is on the path while it is read.
"""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import sys
import traceback
import types
from pathlib import Path
from typing import Any

from pteron.schema.errors import ModelError, existing, shown


@dataclasses.dataclass(frozen=True, slots=True)
class Made:
    """A torch module, or an ExportedProgram, and what it is captured with."""

    module: Any
    args: Any = None
    kwargs: Any = None
    dynamic_shapes: Any = None


def is_python(source: Any) -> bool:
    """Whether it names something in a Python file."""
    text = os.fspath(source) if isinstance(source, str | os.PathLike) else ""
    return isinstance(text, str) and (text.endswith(".py") or ".py:" in text)


def file_of(source: str | os.PathLike[str]) -> Path:
    """The file of `model.py:make`; of another source the file itself."""
    text = os.fspath(source)
    return Path(text.rpartition(":")[0] if is_python(text) and not text.endswith(".py") else text)


def title(source: Any) -> str:
    """What reports call it."""
    return os.fspath(source) if isinstance(source, str | os.PathLike) else type(source).__name__


def sourced(source: Any) -> Made | None:
    """What the named thing in a Python file makes; None: the source is no Python file.

    Raises:
        FileError: no such file. ModelError: it fails, has no such name, or makes something else.
    """
    if not is_python(source):
        return None
    text, path = os.fspath(source), existing(file_of(source))
    name = "" if text.endswith(".py") else text.rpartition(":")[2]
    module = _read(path)
    found = getattr(module, name, None) if name else None
    if found is None:
        there = ", ".join(_names(module)) or "none"
        what = f"no {name}" if name else "no name"
        raise ModelError(
            f"{text}: expected {path.name}:NAME, a module or a function that returns one, got {what}; there are {there}"
        )
    if callable(found) and not hasattr(found, "graph_signature") and not _is_module(found):
        found = _called(found, text)
    return _made(found, text)


def _read(path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(f"pteron_source_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # classes are looked up there
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ModelError(f"{path}: {_told(error, path)}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return module


def _called(make: Any, text: str) -> Any:
    try:
        return make()
    except Exception as error:
        raise ModelError(
            f"{text}: {_told(error, file_of(text))}; it is called without arguments"
        ) from error


def _told(error: Exception, path: Path) -> str:
    """The error and the last line of the file on the way to it."""
    own = path.resolve()
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == own
    ]
    at = f" at line {frames[-1].lineno}" if frames else ""
    first = (str(error).splitlines() or [""])[0]
    return f"{type(error).__name__}{at}: {first}"[:300]


def _is_module(value: Any) -> bool:
    return hasattr(value, "parameters") and not isinstance(value, type)


def _names(module: types.ModuleType) -> list[str]:
    """What of a file may be meant: modules, classes of modules, functions."""
    own = {k: v for k, v in vars(module).items() if not k.startswith("_")}
    return [
        name
        for name, value in own.items()
        if _is_module(value)
        or (callable(value) and getattr(value, "__module__", None) == module.__name__)
    ]


def _made(found: Any, text: str) -> Made:
    parts = list(found) if isinstance(found, tuple) else [found]
    if not parts or not (_is_module(parts[0]) or hasattr(parts[0], "graph_signature")):
        raise ModelError(
            f"{text}: expected a torch module, or (module, args) or (module, args, dynamic_shapes), got {shown(found)}"
        )
    if len(parts) > 4:
        raise ModelError(
            f"{text}: expected at most (module, args, kwargs, dynamic_shapes), got {len(parts)} parts"
        )
    args = parts[1] if len(parts) > 1 else None
    if args is not None and not isinstance(args, tuple | list):
        args = (args,)
    kwargs = parts[2] if len(parts) > 3 else None
    return Made(parts[0], args, kwargs, parts[-1] if len(parts) > 2 else None)

"""Names of a package that are imported when they are first used: loading a program imports nothing of export."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

from .extras import missing


def lazy(
    package: str, homes: Mapping[str, str], modules: Collection[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package.

    Args:
        homes: Name -> the module that has it.
        modules: Those of the package that are names of it too.
    """

    def get(name: str) -> Any:
        try:
            if name in homes:
                return getattr(importlib.import_module(homes[name]), name)
            if name in modules:
                return importlib.import_module(f"{package}.{name}")
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("pteron"):
                raise
            text = f"{package}.{name}: {missing(error.name)}"
            raise ModuleNotFoundError(text, name=error.name) from error
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        own = vars(importlib.import_module(package))
        return sorted({*(n for n in own if n.startswith("__")), *own["__all__"], *modules})

    return get, names

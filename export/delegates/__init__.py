"""Delegates as the exporter sees them: what each takes, and its compiler. A module here that has a `DELEGATE` is one.

Such a module imports nothing at its top that is not a dependency of export: what only its compiler needs is imported there,
and `missing` says how to get it. docs/delegates.md tells how to write one.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Sequence

import onnx_ir as ir

from pteron.schema.errors import ArgumentError


@dataclasses.dataclass(frozen=True, slots=True)
class Segment:
    """Nodes to compile as one, in topological order. All their values have static shapes and dtypes, in ONNX layout.

    `inputs` are made outside and no constants (those are reached by `graph.constant_tensor`); `outputs` are read outside.
    """

    nodes: tuple[ir.Node, ...]
    inputs: tuple[ir.Value, ...]
    outputs: tuple[ir.Value, ...]


def nothing() -> Sequence[tuple[str, str]]:
    """A compiler that needs nothing more than export does."""
    return ()


@dataclasses.dataclass(frozen=True, slots=True)
class Delegate:
    """One delegate.

    Attributes:
        name: As in --delegate, and of the runtime's table.
        target: What its payloads are compiled for; the runtime's `accepts` is asked for it.
        supports: None where it takes the node, else why not, and the nearest change that would make it.
        compile: The payload of a segment of nodes that it takes. DelegateError: it cannot after all; the text says why,
            and the nodes stay on the CPU.
        missing: What its compiler lacks on this machine: (what, the command that installs it).
        build: The command that installs what the runtime's half is built with, where that can be missing.
    """

    name: str
    target: str
    supports: Callable[[ir.Node], str | None]
    compile: Callable[[Segment], bytes]
    missing: Callable[[], Sequence[tuple[str, str]]] = nothing
    build: str = ""


def known() -> dict[str, Delegate]:
    """Every delegate of this package by name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    rows = (getattr(module, "DELEGATE", None) for module in modules)
    return {row.name: row for row in rows if isinstance(row, Delegate)}


def chosen(delegates: Sequence[str | Delegate]) -> tuple[Delegate, ...]:
    """Those named, in order, up to "cpu", which takes what is left.

    Raises:
        ArgumentError: a name that is not known; the text lists those that are.
    """
    rows = known()
    unknown = [d for d in delegates if not isinstance(d, Delegate) and d not in (*rows, "cpu")]
    if unknown:
        names = ", ".join([*rows, "cpu"])
        raise ArgumentError(f"delegates: expected {names}; got {', '.join(map(repr, unknown))}")
    end = list(delegates).index("cpu") if "cpu" in delegates else len(delegates)
    return tuple(d if isinstance(d, Delegate) else rows[d] for d in delegates[:end])

"""The delegates that this build can run parts of programs on, and where those of a session run."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pteron.schema.errors import ArgumentError, shown
from pteron.schema.policies import POLICIES

from .._pteron import ffi, lib
from . import layers
from .memory import new_struct


@dataclasses.dataclass(frozen=True, slots=True)
class Delegate:
    """One that programs may be given to. `pointer` is its C table."""

    name: str
    pointer: Any = dataclasses.field(repr=False, compare=False)

    def refusal(self, target: str) -> str | None:
        """Why it runs nothing for `target` here and now, or None where it does."""
        error = ffi.new("pte_error *")
        if lib.pte_delegates_accept(self.pointer, target.encode(), error):
            return None
        return str(ffi.string(error.text).decode("utf-8", "replace")) or "it gives no reason"


@dataclasses.dataclass(frozen=True, slots=True)
class Placement:
    """A part of a program that was compiled for a delegate: there where `placed`, else on the CPU because of `reason`."""

    name: str
    target: str
    policy: str
    placed: bool
    reason: str


def known() -> tuple[Delegate, ...]:
    """Those of this build, in its order."""
    layers.offer()
    found = (lib.pte_delegates_at(i) for i in range(lib.pte_delegates_count()))
    return tuple(Delegate(_name(pointer), pointer) for pointer in found)


def from_library(path: str | Path, symbol: str) -> Delegate:
    """A delegate in a shared library: `symbol` is its function `const pte_delegate_api *(void)`.

    The library runs in this process: load only what you trust.

    Raises:
        OSError: the library cannot be loaded; ArgumentError: it has no such function.
    """
    library = ctypes.CDLL(str(path))
    if not hasattr(library, symbol):
        raise ArgumentError(f"{path}: expected a function {symbol}, got a library without it")
    function = getattr(library, symbol)
    function.restype = ctypes.c_void_p
    pointer = ffi.cast("const pte_delegate_api *", function())
    return Delegate(_name(pointer), pointer)


def chosen(delegates: Sequence[str | Delegate] | None) -> tuple[Delegate, ...]:
    """All of this build, or those named; "cpu" is no delegate and always there.

    Raises:
        ArgumentError: a name that this build does not have; the text lists those it has.
    """
    rows = {d.name: d for d in known()}
    if delegates is None:
        return tuple(rows.values())
    if isinstance(delegates, str):
        delegates = [name.strip() for name in delegates.split(",")]
    if not isinstance(delegates, Iterable):
        raise ArgumentError(f"delegates: expected names, got {shown(delegates)}")
    delegates = tuple(delegates)
    known_names = (*rows, "cpu")
    unknown = [
        d
        for d in delegates
        if not (isinstance(d, Delegate) or (isinstance(d, str) and d in known_names))
    ]
    if unknown:
        raise ArgumentError(
            f"delegates: this build has {', '.join(rows)}; got {', '.join(map(shown, unknown))}"
        )
    return tuple(d if isinstance(d, Delegate) else rows[d] for d in delegates if d != "cpu")


def placements(session: Any) -> tuple[Placement, ...]:
    """What a session's method hands to delegates, by entry of the program."""
    row, out, index = new_struct("pte_placement"), [], 0
    while lib.pte_session_placement(session, index, row) == lib.PTE_OK:
        index += 1
        if row.used:
            texts = (_text(row.name), _text(row.target), POLICIES[row.policy])
            out.append(Placement(*texts, bool(row.placed), _text(row.reason)))
    return tuple(out)


def _name(pointer: Any) -> str:
    return _text(lib.pte_delegates_name(pointer))


def _text(chars: Any) -> str:
    return str(ffi.string(chars).decode("utf-8", "replace"))

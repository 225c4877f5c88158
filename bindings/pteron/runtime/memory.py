"""Memory that Python brings to the C runtime, and its statuses as exceptions."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.schema.errors import (
    ArgumentError,
    DataError,
    DelegateError,
    LimitError,
    ProgramError,
    PteronError,
)

from .._pteron import ffi, lib

ALIGN = 64

_RAISES: dict[int, type[Exception]] = {
    lib.PTE_BAD_PROGRAM: ProgramError,
    lib.PTE_UNSUPPORTED: ProgramError,
    lib.PTE_BAD_ARGUMENT: ArgumentError,
    lib.PTE_NO_MEMORY: MemoryError,
    lib.PTE_DELEGATE: DelegateError,
    lib.PTE_BAD_DATA: DataError,
    lib.PTE_LIMIT: LimitError,
    lib.PTE_CANCELLED: LimitError,
    lib.PTE_DEADLINE: LimitError,
    lib.PTE_IO: OSError,
}


class Memory:
    """`size` bytes aligned to 64, zeroed by the system when first touched; freed with the object."""

    __slots__ = ("_owner", "pointer", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._owner = np.empty(size + ALIGN, np.uint8)
        start = self._owner.ctypes.data
        self.pointer = ffi.cast("void *", (start + ALIGN - 1) // ALIGN * ALIGN)

    def as_c(self) -> Any:
        """The pte_memory that names it; valid while this object lives."""
        return ffi.new("pte_memory *", {"data": self.pointer, "size_bytes": self.size})[0]


def new_struct(name: str, **fields: Any) -> Any:
    """A public struct of the runtime that says its size, all zero but for `fields`."""
    return ffi.new(f"{name} *", {"size": ffi.sizeof(name), **fields})


def new_error() -> Any:
    return ffi.new("pte_error *")


def text_of(error: Any) -> str:
    return str(ffi.string(error.text).decode("utf-8", "replace"))


def check(status: int, error: Any = None, where: str = "", advice: str = "") -> None:
    """Raises what `status` stands for, with the runtime's own words and, behind them, what to do.

    Raises:
        PteronError: one of its kinds; MemoryError and OSError for PTE_NO_MEMORY and PTE_IO.
    """
    if status == lib.PTE_OK:
        return
    text = text_of(error) if error is not None else ""
    name = ffi.string(lib.pte_status_name(status)).decode()
    raise _RAISES.get(status, PteronError)(
        ": ".join(part for part in (where, text or name) if part) + (advice and f"; {advice}")
    )

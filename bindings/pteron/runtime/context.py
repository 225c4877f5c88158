"""What a session holds of earlier tokens: how many, back, as bytes, twice."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pteron.schema.errors import AbsentError, ArgumentError, PteronError

from .._pteron import ffi, lib
from .arguments import kind_of
from .memory import check, new_error
from .program import Bytes

ABSENT: Final = "its program keeps no context of tokens; export a decoder with max_context"


def position(pointer: Any) -> tuple[int, int]:
    """How many tokens it holds, and has room for.

    Raises:
        AbsentError: its program keeps no context.
    """
    found, error = ffi.new("int64_t[2]"), new_error()
    status = lib.pte_session_position(pointer, found, found + 1, error)
    if status == lib.PTE_BAD_ARGUMENT:
        raise AbsentError(f"session: {ABSENT}")
    check(status, error)
    return int(found[0]), int(found[1])


def full(pointer: Any) -> str:
    """What to do where no other token has room; empty while one has, and without a context."""
    try:
        held, room = position(pointer)
    except PteronError:
        return ""
    if held < room:
        return ""
    return (
        f"the context holds all {room} tokens that it has room for: rewind the session, take another, "
        "or export with a larger max_context"
    )


def rewind(pointer: Any, to: int) -> None:
    error = new_error()
    check(lib.pte_session_rewind(pointer, to, error), error)


def save(pointer: Any) -> bytes:
    size, error = ffi.new("uint64_t *"), new_error()
    check(lib.pte_session_save_size(pointer, size, error), error)
    room = np.empty(int(size[0]), np.uint8)
    data = ffi.from_buffer(room, require_writable=True)
    check(lib.pte_session_save(pointer, data, room.nbytes, error), error)
    return room.tobytes()


def restore(pointer: Any, data: Bytes) -> None:
    if not isinstance(data, Bytes):
        raise ArgumentError(f"saved session: expected bytes, got {kind_of(data)}")
    view, error = ffi.from_buffer(data), new_error()
    check(lib.pte_session_restore(pointer, view, len(view), error), error)

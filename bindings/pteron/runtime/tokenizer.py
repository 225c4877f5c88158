"""Text to a decoder's tokens and back, by the tokenizer that its program carries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pteron.schema.errors import AbsentError, ArgumentError

from .._pteron import ffi, lib
from .arguments import flag, integer, kind_of, not_pickled
from .memory import Memory, check, new_error, new_struct, text_of
from .program import Program

ROOM = 1 << 16
"""Bytes of memory that any text may have, and so many more for each of its bytes: enough for words as people write them."""
ROOM_A_BYTE = 64


class Tokenizer:
    """What `export --tokenizer` put into a program. Any number of threads may use it."""

    def __init__(self, program: Program) -> None:
        error, where = new_error(), str(program.path or "program")
        segment, size = ffi.new("const void **"), ffi.new("size_t *")
        self._held = program.held  # keeps the file mapped
        status = lib.pte_text_segment(program.pointer, segment, size, error)
        if status == lib.PTE_UNSUPPORTED:
            raise AbsentError(f"{where}: {text_of(error)}")
        check(status, error, where)
        self._memory = Memory(lib.pte_text_size())
        out = ffi.new("const pte_text **")
        status = lib.pte_text_open(segment[0], size[0], self._memory.as_c(), out, error)
        check(status, error, where)
        self._text = out[0]
        info = new_struct("pte_text_info")
        check(lib.pte_text_get_info(self._text, info))
        self.size: int = info.pieces
        self.begin, self.end = _id(info.begin), _id(info.end)
        self.unknown, self.pad = _id(info.unknown), _id(info.pad)
        self.stops: tuple[int, ...] = tuple(info.stops[i] for i in range(info.stop_count))
        self._longest: int = info.longest

    def encode(self, text: str | bytes, *, ends: bool = True, plain: bool = False) -> list[int]:
        """The ids of a text.

        Args:
            text: What is no UTF-8 of bytes becomes U+FFFD.
            ends: With the tokens that the model wants before and behind a text.
            plain: Special tokens that are written in the text are text, and not those tokens.

        Raises:
            ArgumentError: no text.
        """
        if not isinstance(text, str | bytes):
            raise ArgumentError(f"text: expected str or bytes, got {kind_of(text)}")
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        flags = lib.PTE_TEXT_ENDS * flag("ends", ends) | lib.PTE_TEXT_PLAIN * flag("plain", plain)
        most = int(lib.pte_text_room(self._text, len(data)))
        room = Memory(min(most, ROOM + ROOM_A_BYTE * len(data)))
        count, error = ffi.new("size_t *"), new_error()
        ids = np.empty(len(data) + 16, np.uint32)

        def attempt() -> int:
            view = ffi.cast("uint32_t *", ffi.from_buffer(ids))
            count[0] = 0
            given = (self._text, data, len(data), flags, room.as_c(), view, len(ids))
            return int(lib.pte_text_encode(*given, count, error))

        status = attempt()
        if status == lib.PTE_NO_MEMORY and count[0] <= len(ids):
            room = Memory(most)
            status = attempt()
        if status == lib.PTE_NO_MEMORY and count[0] > len(ids):
            ids = np.empty(count[0], np.uint32)
            status = attempt()
        check(status, error)
        found: list[int] = ids[: count[0]].tolist()
        return found

    def decode(self, ids: Iterable[int], *, skip_special: bool = False) -> str:
        """The text of ids, from its beginning. See Stream.add."""
        stream = Stream(self, skip_special=skip_special)
        return "".join([*map(stream.add, ids), stream.end()])

    def stream(self, *, skip_special: bool = True, inside: bool = True) -> Stream:
        """Takes ids one by one and gives their text as it is complete.

        Args:
            skip_special: Without tokens like <|im_end|>.
            inside: The text goes on behind another: its first token keeps its space.
        """
        return Stream(self, skip_special=skip_special, inside=inside)

    def id_of(self, piece: str) -> int | None:
        """The id of the token that is written so, "<|im_end|>"; None: there is none."""
        data, found = piece.encode(), ffi.new("uint32_t *")
        status = lib.pte_text_find(self._text, data, len(data), found)
        return int(found[0]) if status == lib.PTE_OK else None

    def __reduce__(self) -> Any:
        not_pickled(self, "load the file where it is wanted")

    def __repr__(self) -> str:
        return f"<pteron.Tokenizer of {self.size} tokens>"

    @property
    def handle(self) -> Any:
        """The C tokenizer."""
        return self._text

    @property
    def longest(self) -> int:
        """Bytes that one token puts out at most."""
        return self._longest


class Stream:
    """Text as its tokens come."""

    def __init__(
        self, tokenizer: Tokenizer, *, skip_special: bool = False, inside: bool = False
    ) -> None:
        self._tokenizer = tokenizer
        skip = lib.PTE_TEXT_SKIP * flag("skip_special", skip_special)
        flags = skip | lib.PTE_TEXT_INSIDE * flag("inside", inside)
        self._state = new_struct("pte_text_stream", flags=flags)
        self._room = ffi.new("char[]", tokenizer.longest)
        self._count, self._error = ffi.new("size_t *"), new_error()

    def add(self, token: int) -> str:
        """What a token adds: whole characters; "" while one is not complete. Models have logits for ids that no tokenizer has:
        they add nothing."""
        if integer("token", token, 0, 2**63 - 1) >= self._tokenizer.size:
            return ""
        tokenizer, room = self._tokenizer, self._room
        count, error = self._count, self._error
        given = (tokenizer.handle, self._state, token, room, tokenizer.longest)
        check(lib.pte_text_decode(*given, count, error), error)
        return bytes(ffi.buffer(room, count[0])).decode()

    def end(self) -> str:
        """U+FFFD for each part of a character that never became complete."""
        count = lib.pte_text_decode_end(self._tokenizer.handle, self._state, self._room)
        return bytes(ffi.buffer(self._room, count)).decode()


def _id(value: int) -> int | None:
    return None if value == lib.PTE_NONE else int(value)

"""A program: verified tables, shared by any number of sessions. Opening maps the file; no byte of a weight is copied."""

from __future__ import annotations

import contextlib
import dataclasses
import mmap
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from pteron.schema.errors import AbsentError, ArgumentError, ProgramError, naming_files, shown
from pteron.schema.printable import printable

from .._pteron import ffi, lib
from .arguments import flag, kind_of, named, not_pickled
from .delegates import Delegate, chosen
from .dtypes import name_of, numpy_of
from .memory import ALIGN, Memory, check, new_error, new_struct

Bytes = bytes | bytearray | memoryview


@dataclasses.dataclass(frozen=True, slots=True)
class PortInfo:
    """An input, output or state. `shape` has the size, or the symbol's name, or "2*h + 1" for what is that of a symbol, or "?" for
    another expression. `lines`: (symbol, factor, offset) of each axis that is no number; a factor of 0 for "?"."""

    name: str
    dtype: int
    shape: tuple[int | str, ...]
    bounds: tuple[tuple[int, int], ...]
    shape_input: bool
    lines: tuple[tuple[str, int, int], ...] = ()

    def at(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for these sizes of symbols; the least, but at least 1, of a symbol that has none."""
        shape = []
        for n, (low, _), (name, factor, offset) in zip(self.shape, self.bounds, self.lines):
            least = max(1, low) if factor == 0 else max(1, (low - offset) // factor)
            free = sizes.get(name, least)
            shape.append(n if isinstance(n, int) else factor * free + offset if factor else least)
        return tuple(shape)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """The dtype of its arrays; sub-byte elements lie one in a byte."""
        return numpy_of(self.dtype)

    def __str__(self) -> str:
        return printable(f"{self.name}: {name_of(self.dtype)}{list(self.shape)}".replace("'", ""))


@dataclasses.dataclass(frozen=True, slots=True)
class MethodInfo:
    name: str
    index: int
    inputs: tuple[PortInfo, ...]
    outputs: tuple[PortInfo, ...]
    states: tuple[PortInfo, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Held:
    """What the C program reads; sessions keep it, so that the file stays mapped until the last of them is closed."""

    data: Any
    memory: Memory
    keep: Any


MAGIC: Final = b"\x89PTERON"
MODELS: Final = (".onnx", ".pt2", ".pt", ".pth", ".gguf", ".safetensors", ".tflite")
"""What is compiled first."""


class Program:
    """An opened `.pte`. Immutable; keeps the mapped file until it and its sessions are closed or gone. `delegates`: those it may use; None is all of the build.

    `copy`: files are read, and bytes copied, instead of used in place; see `load`.
    """

    @naming_files()
    def __init__(
        self,
        source: str | Path | Bytes,
        externals: Mapping[str, str | Path | Bytes] | None = None,
        delegates: Sequence[str | Delegate] | None = None,
        *,
        copy: bool = False,
    ) -> None:
        copy = flag("copy", copy)
        self.delegates = chosen(delegates)
        self.path = None if isinstance(source, Bytes) else _path_of(source, "source")
        externals = {} if externals is None else named("externals", externals, "files")
        data = _bytes_of(source, copy)
        beside = {name: _bytes_of(each, copy, name) for name, each in externals.items()}
        self.size_bytes = len(data)
        where, error = str(self.path or "program"), new_error()
        if self.path is not None and self.path.suffix in MODELS and bytes(data[:7]) != MAGIC:
            raise ProgramError(
                f"{where}: expected a .pte program, got a {self.path.suffix} file; compile the model first: "
                f"pteron.export_model(...), or pteron export {where}"
            )
        view = ffi.from_buffer(data)
        needed = ffi.new("size_t *")
        check(lib.pte_program_size(view, self.size_bytes, needed, error), error, where)
        memory = Memory(needed[0])
        out = ffi.new("pte_program **")
        options, keep = _open_options(beside, self.delegates)
        status = lib.pte_program_open(view, self.size_bytes, options, memory.as_c(), out, error)
        check(status, error, where)
        self.held: Held | None = Held(data, memory, (keep, self.delegates))
        self._pointer = out[0]
        texts: dict[int, str] = {}
        count = lib.pte_program_method_count(self.pointer)
        self.methods = tuple(_method(self.pointer, i, texts) for i in range(count))

    @property
    def pointer(self) -> Any:
        """The C program.

        Raises:
            AbsentError: it was closed.
        """
        if self.held is None:
            raise AbsentError(f"{self.path or 'program'}: was closed; load it again")
        return self._pointer

    @property
    def data(self) -> bytes:
        """A copy of the file's bytes.

        Raises:
            AbsentError: it was closed.
        """
        held = self.held
        return bytes(held.data) if self.pointer and held else b""

    def close(self) -> None:
        """Lets the file go, once the sessions that are open are closed too. Closing twice does nothing."""
        self.held = None

    def __reduce__(self) -> Any:
        not_pickled(self, "load the file where it is wanted")

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def method(self, name: str | None = None) -> MethodInfo:
        """The method called `name`, or the first.

        Raises:
            ArgumentError: there is none of that name; the text lists those there are.
        """
        for method in self.methods:
            if name is None or (isinstance(name, str) and method.name == name):
                return method
        there = ", ".join(m.name for m in self.methods)
        raise ArgumentError(f"method {shown(name)}: the program has {there}")

    def check_digests(self) -> None:
        """Hashes every segment, weights too, against the table.

        Raises:
            ProgramError: a segment's bytes have changed.
        """
        held, pointer, error = self.held, self.pointer, new_error()
        check(lib.pte_program_check_digests(pointer, error), error, str(self.path or "program"))
        del held  # which another thread may let go meanwhile


def _copied(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    room = _aligned(data.size)
    room[:] = data
    return room


def _aligned(size: int) -> np.ndarray[Any, Any]:
    room = np.empty(size + ALIGN, np.uint8)
    start = -room.ctypes.data % ALIGN
    return room[start : start + size]


def _path_of(source: Any, name: str) -> Path:
    if not isinstance(source, str | os.PathLike):
        raise ArgumentError(f"{name}: expected a path or bytes, got {kind_of(source)}")
    if "\0" in str(source):
        raise ArgumentError(f"{name}: expected a path, got one with a null character: {source!r}")
    return Path(source)


def _bytes_of(source: str | Path | Bytes, copy: bool, name: str = "source") -> Any:
    """A buffer aligned to 64: the mapped file, or the bytes themselves if they lie so, or an aligned copy.

    Raises:
        OSError: the file cannot be read, or became shorter meanwhile; ArgumentError: neither a path nor dense bytes.
    """
    if isinstance(source, Bytes):
        try:
            data = np.frombuffer(source, np.uint8)
        except (BufferError, ValueError) as error:
            raise ArgumentError(f"{name}: expected dense bytes: {error}") from None
        return data if data.ctypes.data % ALIGN == 0 and not copy else _copied(data)
    with _path_of(source, name).open("rb") as file:
        if not file.seekable():  # a pipe: nothing to map
            return _copied(np.frombuffer(file.read(), np.uint8))
        size = file.seek(0, 2)
        if size == 0:
            return np.empty(0, np.uint8)
        if copy:
            room = _aligned(size)
            file.seek(0)
            if file.readinto(room.data) != size:
                raise OSError(f"{source}: became shorter while it was read")
            return room
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if hasattr(mmap, "MADV_HUGEPAGE"):  # as host/posix does; the system may refuse
            with contextlib.suppress(OSError):
                mapped.madvise(mmap.MADV_HUGEPAGE)
        return mapped


def _open_options(externals: Mapping[str, Any], delegates: Sequence[Delegate]) -> tuple[Any, Any]:
    names = [ffi.new("char[]", name.encode()) for name in externals]
    views = [ffi.from_buffer(data) for data in externals.values()]
    rows = ffi.new("pte_external[]", max(len(names), 1))
    for row, name, view in zip(rows, names, views):
        row.name, row.data, row.size_bytes = name, view, len(view)
    options = new_struct("pte_open_options")
    options.external_count, options.externals = len(names), rows
    permitted = ffi.new("pte_delegate_api const *[]", [d.pointer for d in delegates])
    options.delegate_count, options.delegates = len(delegates), permitted
    return options, (names, views, rows, permitted)


def _text(chars: Any, texts: dict[int, str]) -> str:
    """Words of a program, once for each place: ports and axes without number may name the same ones."""
    at = int(ffi.cast("uintptr_t", chars))
    if at not in texts:
        texts[at] = ffi.string(chars).decode()
    return texts[at]


def _method(program: Any, index: int, texts: dict[int, str]) -> MethodInfo:
    info = new_struct("pte_method_info")
    check(lib.pte_program_method(program, index, info))

    def ports(query: Any, count: int) -> tuple[PortInfo, ...]:
        return tuple(_port(query, program, index, i, texts) for i in range(count))

    return MethodInfo(
        _text(info.name, texts),
        index,
        ports(lib.pte_program_input, info.input_count),
        ports(lib.pte_program_output, info.output_count),
        ports(lib.pte_program_state, info.state_count),
    )


def _port(query: Any, program: Any, method: int, index: int, texts: dict[int, str]) -> PortInfo:
    info = new_struct("pte_port_info")
    check(query(program, method, index, info))
    shape: list[int | str] = []
    lines = [
        (_text(info.of[a], texts), int(info.factor[a]), int(info.offset[a]))
        for a in range(info.rank)
    ]
    for axis, line in enumerate(lines):
        shape.append(int(info.shape[axis]) if info.shape[axis] >= 0 else _line(*line))
    return PortInfo(
        _text(info.name, texts),
        int(info.dtype),
        tuple(shape),
        tuple((int(info.minimum[a]), int(info.maximum[a])) for a in range(info.rank)),
        bool(info.shape_input),
        tuple(lines),
    )


def _line(name: str, factor: int, offset: int) -> str:
    """factor * name + offset as text; "?" where there is no factor."""
    if factor == 0:
        return "?"
    term = name if factor == 1 else f"{factor}*{name}"
    sign = "-" if offset < 0 else "+"
    return f"{term} {sign} {abs(offset)}" if offset else term

"""Runs the requests of harness.py in another process, which may be one for another processor under an emulator."""

from __future__ import annotations

import ctypes
import struct
import subprocess
from typing import Any

import numpy as np

ANSWER = struct.Struct("<iIqQ64s")


class Remote:
    """A program made of remote.c and the kernels; `command` starts it. Close it."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()

    def features(self) -> int:
        """PTE_CPU_* of that processor."""
        self._send(struct.pack("<Q", 0))
        return int(struct.unpack("<I", self._receive(4))[0])

    def __call__(self, request: Any, memory: list[Any]) -> int:
        """Runs `request`, all of whose pointers lie in `memory`: arrays and ctypes structures, written back after."""
        ranges = merged([bounds(x) for x in [request, *memory]])
        before = [ctypes.string_at(low, high - low) for low, high in ranges]
        head = struct.pack("<QQ", ctypes.addressof(request), len(ranges))
        table = b"".join(struct.pack("<QQ", low, high - low) for low, high in ranges)
        self._send(head + table + b"".join(before))
        status, stage, position, scratch, text = ANSWER.unpack(self._receive(ANSWER.size))
        after = [self._receive(len(b)) for b in before]
        pointers = [
            (x, bytes(x))
            for x in [request, *memory]
            if isinstance(x, ctypes.Structure | ctypes.Array)
        ]
        for (low, _), data in zip(ranges, after):
            ctypes.memmove(low, data, len(data))
        for x, old in pointers:  # structures keep their pointers; of tensors the shape comes back
            shape = list(x.shape) if hasattr(x, "shape") else None
            ctypes.memmove(ctypes.addressof(x), old, len(old))
            if shape is not None:
                x.shape[:] = shape
        request.stage, request.scratch_bytes, request.fault.position = stage, scratch, position
        request.fault.text = text.rstrip(b"\0")
        return int(status)

    def _send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def _receive(self, size: int) -> bytes:
        assert self.process.stdout is not None
        data = self.process.stdout.read(size)
        if len(data) != size:
            raise EOFError(f"the remote program ended with {self.process.wait()}")
        return data


def bounds(x: Any) -> tuple[int, int]:
    """First byte and end of what `x` occupies."""
    if isinstance(x, np.ndarray):
        low, high = np.lib.array_utils.byte_bounds(x)
        return int(low), int(high)
    return ctypes.addressof(x), ctypes.addressof(x) + ctypes.sizeof(x)


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same bytes as ranges that do not overlap, ascending, without empty ones."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if low == high:
            continue
        if found and low < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return found

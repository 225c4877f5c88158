"""What the Hexagon image computes: its operations, the weights as it reads them, a segment's payload.

The structs are those of runtime_c/delegates/hexagon/protocol.h and plan.h. Activations are int8, dense, channels last.
"""

from __future__ import annotations

import dataclasses
import math
import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import DelegateError

from ..plan import place
from .payload import ALIGN, Kind, Payload, aligned, write

Array = NDArray[Any]

PROTOCOL: Final = 1
TARGET: Final = "hexagon-v67-hvx128"
LANES: Final = 32
CHUNK: Final = 32
MAX_EXTENT: Final = 1 << 16
MAX_KERNEL: Final = 1 << 12
MAX_TERMS: Final = 1 << 20
MAX_OPS: Final = 1 << 14
MAX_REGION: Final = 1 << 28
SLACK: Final = 256
MOVE_AXES: Final = 6
_OP: Final = struct.Struct("<I4I I4I 5i I 64s")
_PORT: Final = struct.Struct("<4I 8I 4I")


class Code(IntEnum):
    CONV = 1
    DEPTHWISE = 2
    MAX_POOL = 3
    RESCALE = 4
    ADD = 5
    CLAMP = 6
    MOVE = 7


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """[batch, in_h, in_w, groups * in_c] -> [batch, out_h, out_w, groups * out_c]; pads at the beginning."""

    batch: int
    in_h: int
    in_w: int
    in_c: int
    out_h: int
    out_w: int
    out_c: int
    kernel_h: int = 1
    kernel_w: int = 1
    stride_h: int = 1
    stride_w: int = 1
    pad_h: int = 0
    pad_w: int = 0
    dilation_h: int = 1
    dilation_w: int = 1
    groups: int = 1

    def pack(self) -> bytes:
        return struct.pack("<16I", *dataclasses.astuple(self))

    @property
    def terms(self) -> int:
        """Bytes of one gathered window."""
        return -(-self.kernel_h * self.kernel_w * self.in_c // 4) * 4

    @property
    def is_direct(self) -> bool:
        """Whether the pixels of x are the rows of the product, so that nothing is gathered."""
        one = dataclasses.replace(
            self, batch=1, in_h=1, in_w=1, in_c=4, out_h=1, out_w=1, out_c=1
        ) == Window(1, 1, 1, 4, 1, 1, 1)
        return one and self.in_c % 4 == 0 and (self.in_h, self.in_w) == (self.out_h, self.out_w)


@dataclasses.dataclass(frozen=True, slots=True)
class Tables:
    """What an operation reads of the weights; as the image lays it out."""

    weights: Array | None = None
    bias: Array | None = None
    multiplier: Array | None = None
    shift: Array | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Op:
    """One operation. Tensors by number; `detail` is the packed window, move or count."""

    code: Code
    x: int
    y: int
    detail: bytes
    x2: int | None = None
    scratch_bytes: int = 0
    tables: Tables = Tables()
    x_zero: int = 0
    x2_zero: int = 0
    y_zero: int = 0
    low: int = -128
    high: int = 127


# --- weights --------------------------------------------------------------------------------------


def folded(bias: Array, w: Array, x_zero: int) -> Array:
    """Bias with -x_zero * (sum of the channel's weights), modulo 2**32, so that codes are multiplied as they are."""
    total = w.reshape(len(w), -1).astype(np.int64).sum(axis=1)
    return np.asarray((bias.astype(np.int64) - x_zero * total).astype(np.int32))


def dense(
    w: Array, bias: Array, multiplier: Array, shift: Array, x_zero: int, groups: int
) -> Tables:
    """w i8[n, kh, kw, c // groups] -> [group][n / 32][terms / 4][32][4]; the others i32[group][n, padded to 32]."""
    rows = w.reshape(groups, len(w) // groups, -1)
    _, n, terms = rows.shape
    tiles, words = -(-n // LANES), -(-terms // 4)
    padded = np.zeros((groups, tiles * LANES, words * 4), np.int8)
    padded[:, :n, :terms] = rows
    panels = padded.reshape(groups, tiles, LANES, words, 4).transpose(0, 1, 3, 2, 4)

    return _tables(panels, (groups, n), tiles * LANES, w, bias, multiplier, shift, x_zero)


def depthwise(w: Array, bias: Array, multiplier: Array, shift: Array, x_zero: int) -> Tables:
    """w i8[c, taps] -> [c / 128][taps / 4][4][32][4]; the others i32[c, padded to 128]."""
    c, taps = w.shape
    blocks, steps = -(-c // ALIGN), -(-taps // 4)
    padded = np.zeros((blocks * ALIGN, steps * 4), np.int8)
    padded[:c, :taps] = w
    panels = padded.reshape(blocks, 4, LANES, steps, 4).transpose(0, 3, 1, 2, 4)

    return _tables(panels, (1, c), blocks * ALIGN, w, bias, multiplier, shift, x_zero)


def _tables(
    panels: Array,
    real: tuple[int, int],
    padded: int,
    w: Array,
    bias: Array,
    multiplier: Array,
    shift: Array,
    x_zero: int,
) -> Tables:
    """Rows of i32 to `padded` channels; those that are not `real` come to 0."""

    def channels(values: Array, fill: int) -> Array:
        out = np.full((real[0], padded), fill, np.int32)
        out[:, : real[1]] = values.reshape(real)
        return out

    return Tables(
        np.ascontiguousarray(panels),
        channels(folded(bias, w, x_zero), 0),
        channels(multiplier, 1 << 30),
        channels(shift, 62),
    )


def factors(*pairs: tuple[int, int]) -> Tables:
    """Multipliers and shifts of pointwise work."""
    multiplier, shift = (np.array(column, np.int32) for column in zip(*pairs, strict=True))
    return Tables(multiplier=multiplier, shift=shift)


# --- the payload ----------------------------------------------------------------------------------


class _Weights:
    """The weights section; equal tables are stored once."""

    def __init__(self) -> None:
        self.data = bytearray()
        self._known: dict[bytes, int] = {}

    def put(self, table: Array | None) -> int:
        if table is None:
            return 0
        data = table.tobytes()
        if data not in self._known:
            self.data += bytes(aligned(len(self.data)) - len(self.data))
            self._known[data] = len(self.data)
            self.data += data
        return self._known[data]


def payload(
    ops: Sequence[Op],
    shapes: Sequence[Sequence[int]],
    inputs: Sequence[tuple[int, Sequence[int]]],
    outputs: Sequence[tuple[int, Sequence[int]]],
) -> bytes:
    """The bytes of a program for the image.

    Args:
        ops: In order.
        shapes: Of the tensors.
        inputs, outputs: Tensors at the border with the shape that the caller sees.

    Raises:
        DelegateError: it needs more memory or operations than the image takes.
    """
    size = {t: aligned(math.prod(shape)) for t, shape in enumerate(shapes)}
    size |= {len(shapes) + i: aligned(op.scratch_bytes) for i, op in enumerate(ops)}
    at = _offsets(ops, size, {t for t, _ in inputs}, {t for t, _ in outputs}, len(shapes))
    weights, packed = _Weights(), bytearray()
    for i, op in enumerate(ops):
        tables = [weights.put(getattr(op.tables, f.name)) for f in dataclasses.fields(Tables)]
        scratch = (at[len(shapes) + i], op.scratch_bytes) if op.scratch_bytes else (0, 0)
        x2 = at[op.x2] if op.x2 is not None else 0
        codes = (op.x_zero, op.x2_zero, op.y_zero, op.low, op.high)
        packed += _OP.pack(op.code, at[op.x], x2, at[op.y], *scratch, *tables, *codes, 0, op.detail)
    arena = place.top(at, size)
    region = aligned(len(packed)) + aligned(len(weights.data)) + arena + SLACK
    if region > MAX_REGION or len(ops) > MAX_OPS:
        raise DelegateError(
            f"hexagon: {region} bytes and {len(ops)} operations, at most {MAX_REGION} and {MAX_OPS}; split the model"
        )
    ports = b"".join(
        _PORT.pack(at[t], len(shape), 0, 0, *shape, *[0] * (12 - len(shape)))
        for t, shape in (*inputs, *outputs)
    )
    info = struct.pack("<4I", PROTOCOL, arena, len(inputs), len(outputs))
    sections = {1: info, 2: ports, 3: bytes(packed), 4: bytes(weights.data)}
    return write(Payload(Kind.HEXAGON, TARGET, sections))


def _offsets(
    ops: Sequence[Op], size: dict[int, int], inputs: set[int], outputs: set[int], tensors: int
) -> dict[int, int]:
    """Where tensors, then the scratch of each operation, lie: apart where they are alive together, largest first."""
    first = dict.fromkeys(inputs, -1)
    last: dict[int, int] = dict.fromkeys(inputs, -1)
    for i, op in enumerate(ops):
        for t in (op.x, op.x2, op.y, tensors + i if op.scratch_bytes else None):
            if t is not None:
                first.setdefault(t, i)
                last[t] = i
    last |= dict.fromkeys(outputs, len(ops))
    conflicts = {
        t: {u for u in first if u != t and first[u] <= last[t] and first[t] <= last[u]}
        for t in first
    }
    turns = sorted(first, key=lambda t: (-size[t], t))
    return place.place(turns, size, conflicts)

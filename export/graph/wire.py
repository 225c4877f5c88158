"""Weights inside an ONNX file without parsing them: the file's protobuf with large tensors pointing back into the file.

A parsed protobuf holds a copy of every weight beside the bytes that it was parsed from. Here the few length-delimited fields
on the way to the weights are walked over (https://protobuf.dev/programming-guides/encoding), the rest is copied as it is.
"""

from __future__ import annotations

import dataclasses
import math
import mmap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

import onnx_ir as ir
from onnx import TensorProto

from .weights import LARGE

GRAPH: Final = 7  # of ModelProto
INITIALIZER: Final = 5  # of GraphProto
DIMS, DATA_TYPE, RAW_DATA, EXTERNAL_DATA, DATA_LOCATION = 1, 2, 9, 13, 14  # of TensorProto
VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """`begin` is where its tag is, the payload of a length-delimited one lies from `start` to `end`; a varint is `value`."""

    number: int
    wire: int
    begin: int
    start: int
    end: int
    value: int = 0


def without_weights(path: Path) -> bytes | None:
    """The model's protobuf, its large initializers external data that lies in the file itself.

    None where that cannot be said: the file is small, no such protobuf, or a link, whose folder is not the model's.
    """
    if path.is_symlink() or path.stat().st_size <= LARGE:
        return None
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return _model(data, path.name)
        except (ValueError, IndexError):
            return None


def _model(data: mmap.mmap, name: str) -> bytes | None:
    top = list(fields(data, 0, len(data)))
    graphs = [f for f in top if f.number == GRAPH]
    if len(graphs) != 1 or graphs[0].wire != LENGTH:
        return None
    parts = []
    for f in top:
        if f.number == GRAPH:
            graph = b"".join(_graph(data, f, name))
            parts += [_tag(GRAPH, len(graph)), graph]
        else:
            parts.append(data[f.begin : f.end])
    return b"".join(parts)


def _graph(data: mmap.mmap, graph: Field, name: str) -> Iterator[bytes]:
    for f in fields(data, graph.start, graph.end):
        large = f.number == INITIALIZER and f.wire == LENGTH and f.end - f.start >= LARGE
        tensor = _tensor(data, f, name) if large else None
        if tensor is None:
            yield data[f.begin : f.end]
        else:
            yield _tag(INITIALIZER, len(tensor))
            yield tensor
            _leave(data, f)


def _leave(data: mmap.mmap, field: Field) -> None:
    """Unmaps what a look at the ends of a field has mapped: systems map some 2 MB about each byte, which count as resident."""
    begin = field.begin // mmap.PAGESIZE * mmap.PAGESIZE
    if hasattr(data, "madvise"):
        data.madvise(mmap.MADV_DONTNEED, begin, field.end - begin)


def _tensor(data: mmap.mmap, tensor: Field, name: str) -> bytes | None:
    """The tensor without its bytes; None where they are not all of it."""
    inside = list(fields(data, tensor.start, tensor.end))
    raw = [f for f in inside if f.number == RAW_DATA]
    kinds = [f.value for f in inside if f.number == DATA_TYPE]
    external = any(f.number in (EXTERNAL_DATA, DATA_LOCATION) for f in inside)
    if len(raw) != 1 or len(kinds) != 1 or external or kinds[0] in (0, TensorProto.STRING):
        return None
    size = raw[0].end - raw[0].start
    bits = ir.DataType(kinds[0]).bitwidth
    if bits < 8 or math.prod(_dims(data, inside)) * bits != 8 * size:
        return None
    rest = b"".join(data[f.begin : f.end] for f in inside if f is not raw[0])
    place = TensorProto(data_location=TensorProto.EXTERNAL)
    for key, value in (("location", name), ("offset", raw[0].start), ("length", size)):
        place.external_data.add(key=key, value=str(value))
    return rest + bytes(place.SerializeToString(deterministic=True))


def _dims(data: mmap.mmap, inside: list[Field]) -> Iterator[int]:
    for f in inside:
        if f.number == DIMS and f.wire == VARINT:
            yield f.value
        elif f.number == DIMS:
            at = f.start
            while at < f.end:
                value, at = _varint(data, at, f.end)
                yield value


# --- and back ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Weight:
    """Bytes that are made when they are written."""

    size: int
    parts: Callable[[], Iterator[bytes | memoryview]]


def with_weights(data: bytes, weights: Mapping[bytes, Weight]) -> Iterator[bytes | memoryview]:
    """A model's protobuf whose initializers hold keys of `weights` as raw data, with those weights in their place."""
    for f in fields(data, 0, len(data)):
        if f.number != GRAPH:
            yield data[f.begin : f.end]
            continue
        pieces = list(_filled(data, f, weights))
        yield _tag(GRAPH, sum(p.size if isinstance(p, Weight) else len(p) for p in pieces))
        for piece in pieces:
            yield from piece.parts() if isinstance(piece, Weight) else (piece,)


def _filled(data: bytes, graph: Field, weights: Mapping[bytes, Weight]) -> Iterator[bytes | Weight]:
    for f in fields(data, graph.start, graph.end):
        inside = fields(data, f.start, f.end) if f.number == INITIALIZER else ()
        raw = next((r for r in inside if r.number == RAW_DATA), None)
        weight = None if raw is None else weights.get(data[raw.start : raw.end])
        if raw is None or weight is None:
            yield data[f.begin : f.end]
            continue
        before = data[f.start : raw.begin] + _tag(RAW_DATA, weight.size)
        after = data[raw.end : f.end]
        yield _tag(INITIALIZER, len(before) + weight.size + len(after)) + before
        yield weight
        yield after


def fields(data: mmap.mmap | bytes, begin: int, end: int) -> Iterator[Field]:
    """The fields of a message.

    Raises:
        ValueError: it is none.
    """
    at = begin
    while at < end:
        tag, start = _varint(data, at, end)
        number, wire, value = tag >> 3, tag & 7, 0
        if wire == VARINT:
            value, stop = _varint(data, start, end)
        elif wire == LENGTH:
            size, start = _varint(data, start, end)
            stop = start + size
        elif wire in (FIXED64, FIXED32):
            stop = start + (8 if wire == FIXED64 else 4)
        else:
            raise ValueError(f"wire type {wire}")
        if stop > end or number == 0:
            raise ValueError("a field ends outside of its message")
        yield Field(number, wire, at, start, stop, value)
        at = stop


def _varint(data: mmap.mmap | bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
    raise ValueError("a number that does not end")


def _tag(number: int, size: int) -> bytes:
    """Of a length-delimited field."""
    out = bytearray([number << 3 | LENGTH])
    while size > 127:
        out.append(size & 127 | 128)
        size >>= 7
    out.append(size)
    return bytes(out)

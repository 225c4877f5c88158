"""Codes of quantized weights in the runtime's panels, and back.

    8 bit   [n/16][ceil(k/4)][16][4]
    4 bit   [n/16][ceil(k/8)][16][4]: byte j of a row holds code k+j in its low and k+4+j in its high nibble
    2 bit   [n/16][ceil(k/16)][16][4]: byte j of a row holds codes k+j, k+4+j, k+8+j, k+12+j from bit 0 up
    6 bit   a plane of the low 4 bits, then one of the upper 2, both as above, k to 16
    3 bit   a plane of the low 2 bits, then [n/16][ceil(k/32)][16][4] with the upper bits of codes k+j, k+4+j, ... k+28+j
    then    [n/16][ceil(k/block)][16] for each of the format's planes: scales, zero points or shifts, outer ones

`n` is padded to 16 in each group and k to the step, with zeros.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from pteron.schema.dtypes import DTYPES
from pteron.schema.formats import FORMATS, Format

from ..graph.weights import LARGE, Elements, Source, rows_of, whole
from ..program import Blocks, Coded
from ..program.arrays import spread

Array = NDArray[Any]
ROWS: Final = 16
UNSIGNED: Final = {DTYPES[name].numpy: most for name, most in (("u8", 127), ("u4", 15), ("u2", 3))}
"""And the largest code that is the same byte in int8."""
SIGNED: Final = tuple(DTYPES[name].numpy for name in ("i8", "i4", "i2"))


def stored(coded: Coded, groups: int = 1) -> tuple[str, Elements] | None:
    """The format that stores exactly these weights [n, k] in the fewest bits, and its bytes; None: no format does."""
    if coded.codes.ndim != 2 or coded.dtype != "f32":
        return None
    if coded.scale is None:  # widened, and multiplied elsewhere
        coded = dataclasses.replace(coded, scale=np.ones((), np.float32))
    coded = _in_blocks(coded)
    for name, plain in _candidates(coded):
        planes = _planes(FORMATS[name], plain)
        if planes is not None:
            return name, _packed(FORMATS[name], plain.codes, planes, groups)
    return None


def _in_blocks(coded: Coded) -> Coded:
    """The same weights with scales of blocks, where views led back to how they were: a convolution's [n, k]."""
    origin, shape = coded.origin, coded.codes.shape
    if origin is None or origin.codes.shape != shape:
        return coded
    pairs = [(coded.scale, origin.scale), (coded.zero, origin.zero), (coded.shift, origin.shift)]
    same = np.array_equal(coded.codes, origin.codes) and all(
        (a is None) == (b is None)
        and (a is None or b is None or np.array_equal(spread(a, shape), spread(b, shape)))
        for a, b in pairs
    )
    return origin if same else coded


def _candidates(coded: Coded) -> Iterator[tuple[str, Coded]]:
    """Formats that have such codes, and the weights with codes as they count them."""
    dtype, order = coded.codes.dtype, _order(coded)
    if coded.format:
        rows = [f for f in FORMATS.values() if f.same_levels(FORMATS[coded.format])]
        yield from ((f.name, coded) for f in sorted(rows, key=order))
        return
    if dtype not in (*UNSIGNED, *SIGNED):
        coded = _as_fn(coded)
        if coded.zero is None or not np.any(
            spread(coded.zero, coded.codes.shape).astype(np.float32)
        ):
            coded = dataclasses.replace(coded, zero=None)
            yield from ((f.name, coded) for f in sorted(_of_codes(coded.codes.dtype), key=order))
        return
    made: dict[bool, tuple[Coded, int, int] | None] = {}
    for fmt in sorted((f for f in FORMATS.values() if f.codes.startswith("i")), key=order):
        zeroed = bool(fmt.second) and not fmt.shifts
        if zeroed not in made:
            made[zeroed] = _ends(_with_zeros(coded) if zeroed else _signed(coded))
        found = made[zeroed]
        base = 0 if fmt.shifts else -fmt.offset or -128
        if found is not None and base <= found[1] and found[2] < base + (1 << fmt.bits):
            yield fmt.name, found[0]


def _order(coded: Coded) -> Callable[[Format], tuple[int, bool, int, bool, int, bool, int, int]]:
    """Few bits a code, then powers of two where the scales are, so that a weight of OCP MX stays one, then few bits behind the
    codes where rows have several blocks, then sums in integers, which are worth more than a byte or two a row, then few bits a
    row, and of blocks that are whole rows the usual one, then the row's."""
    powers = coded.scale is not None and coded.scale.dtype == ml_dtypes.float8_e8m0fnu
    k = coded.codes.shape[1]

    def key(fmt: Format) -> tuple[int, bool, int, bool, int, bool, int, int]:
        counts = [(DTYPES[t].bits, -(-k // size) if size else 1) for t, size in fmt.planes]
        of_blocks = sum(bits * count for bits, count in counts if count > 1)
        of_rows = sum(bits * count for bits, count in counts if count <= 1)
        other = powers and fmt.scale != "f8e8m0"
        unusual = fmt.name != fmt.row
        return fmt.bits, other, of_blocks, not fmt.dot, of_rows, unusual, fmt.block, fmt.id

    return key


def _ends(coded: Coded | None) -> tuple[Coded, int, int] | None:
    """With the least and the greatest code."""
    if coded is None:
        return None
    return coded, int(coded.codes.min(initial=0)), int(coded.codes.max(initial=0))


def _bytes(codes: Array) -> Array | None:
    """int8 without a copy; None where the bytes in memory are others."""
    if codes.dtype in UNSIGNED:
        alike = codes.view(np.uint8).max(initial=0) <= UNSIGNED[codes.dtype]
        return codes.view(np.int8) if alike else None
    return codes if codes.dtype == np.int8 else None


def _signed(coded: Coded) -> Coded | None:
    """The same weights without zero point; None where the differences are no bytes."""
    codes = coded.codes
    if coded.zero is None and (plain := _bytes(codes)) is not None:
        return dataclasses.replace(coded, codes=plain)
    moved, ends = np.empty(codes.shape, np.int8), [0, 0]
    each = np.broadcast_to(np.zeros((), np.int16), codes.shape)
    each = each if coded.zero is None else spread(coded.zero, codes.shape)
    for a, b in rows_of(len(codes), 4 * codes.shape[1]):
        difference = codes[a:b].astype(np.int16) - each[a:b].astype(np.int16)
        ends = [
            min(ends[0], int(difference.min(initial=0))),
            max(ends[1], int(difference.max(initial=0))),
        ]
        if ends[0] < -128 or ends[1] > 127:
            return None
        moved[a:b] = difference
    return dataclasses.replace(coded, codes=moved, zero=None)


def _with_zeros(coded: Coded) -> Coded | None:
    """The same weights, signed, with a zero point of each block that a byte holds."""
    zero, codes = coded.zero, coded.codes
    if coded.shift is not None:
        return None
    found = np.zeros((), np.int8) if zero is None else zero
    points = (found.parts if isinstance(found, Blocks) else whole(found)).astype(np.int16)
    most = int(codes.max(initial=0))
    half = 1 << most.bit_length() >> 1 if codes.dtype in UNSIGNED else 0
    less = max(half, int(points.max(initial=0)) - 127)
    parts = points - less
    if parts.min(initial=0) < -128 or most - less > 127:
        return None
    moved, narrow = None if less else _bytes(codes), parts.astype(np.int8)
    if moved is None:
        moved = np.empty(codes.shape, np.int8)
        for a, b in rows_of(len(codes), 4 * codes.shape[1]):
            moved[a:b] = codes[a:b].astype(np.int16) - less
    if isinstance(found, Blocks):
        return dataclasses.replace(coded, codes=moved, zero=Blocks(narrow, found.axis, found.size))
    return dataclasses.replace(coded, codes=moved, zero=narrow)


FNUZ: Final = {
    np.dtype(ml_dtypes.float8_e4m3fnuz): np.dtype(ml_dtypes.float8_e4m3fn),
    np.dtype(ml_dtypes.float8_e5m2fnuz): np.dtype(ml_dtypes.float8_e5m2),
}


def _as_fn(coded: Coded) -> Coded:
    """FNUZ as the codes of the same values, or of twice them and half the scale, where all that are there have one: the former
    has not all of the smallest, the latter not those above 224 (E4M3) or 28672 (E5M2)."""
    codes, scale = coded.codes, coded.scale
    if codes.dtype not in FNUZ or scale is None:
        return coded
    kind, used = FNUZ[codes.dtype], np.unique(codes.view(np.uint8))
    with np.errstate(over="ignore", invalid="ignore"):
        means = np.arange(256, dtype=np.uint8).view(codes.dtype).astype(np.float32)
        for times in (np.float32(1), np.float32(2)):
            table = (means * times).astype(kind)
            parts = (scale.parts if isinstance(scale, Blocks) else whole(scale)).astype(np.float32)
            less = parts / times
            back = table.astype(np.float32)
            if back[used].tobytes() == (means * times)[used].tobytes() and np.array_equal(
                less * times, parts, equal_nan=True
            ):
                given = Blocks(less, scale.axis, scale.size) if isinstance(scale, Blocks) else less
                return dataclasses.replace(coded, codes=table[codes.view(np.uint8)], scale=given)
    return coded


def _planes(fmt: Format, coded: Coded) -> list[Array] | None:
    """What lies behind the codes; None: these weights are not made so, or would lose something."""
    second = coded.shift if fmt.shifts else coded.zero
    if (coded.zero is not None) != bool(fmt.second and not fmt.shifts):
        return None
    if (coded.shift is not None) != fmt.shifts or coded.scale is None:
        return None
    shape, k = coded.codes.shape, max(coded.codes.shape[1], 1)
    parts = [coded.scale] if second is None else [coded.scale, second]
    outer: list[Array | None] = []
    inner: list[Array | None] = []
    for part, dtype in zip(parts, (fmt.scale, fmt.second), strict=False):
        if not fmt.outer:
            inner.append(_behind(dtype, part, shape, fmt.block or k))
            continue
        nested = (
            part.nested
            if isinstance(part, Blocks) and (part.axis, part.size) == (1, fmt.block)
            else None
        )
        if nested is None or nested.scale is None or nested.zero is not None or nested.format:
            return None
        inner.append(_narrow(dtype, nested.codes.astype(np.float64)))
        per = fmt.outer_block // fmt.block or max(nested.codes.shape[1], 1)
        outer.append(_behind(fmt.outer, nested.scale, nested.codes.shape, per))
    found = [plane for plane in (*inner, *outer) if plane is not None]
    return found if len(found) == len(inner) + len(outer) else None


def _packed(fmt: Format, codes: Array, behind: Sequence[Array], groups: int) -> Elements:
    """`pack`: of large weights when they are written, some rows at a time, where groups allow it."""
    n, k = codes.shape
    if groups > 1 or codes.nbytes < LARGE:
        return pack(fmt, _raw(fmt, codes), *behind, groups=groups)

    def bands() -> Iterator[Array]:
        for plane in PLANES[fmt.bits]:
            for begin, end in rows_of(n, 4 * k, ROWS):
                yield plane(_grouped(_raw(fmt, codes[begin:end]), 1))
        yield from (_scale_plane(plane, 1) for plane in behind)

    tall, step = -(-n // ROWS) * ROWS, STEP[fmt.bits]
    more = sum(plane.shape[1] * plane.itemsize for plane in behind)
    size = tall * -(-k // step) * step * fmt.bits // 8 + tall * more
    return Source((size,), np.dtype(np.uint8), bands)


def pack(fmt: Format, codes: Array, *behind: Array, groups: int = 1) -> Array:
    """Codes [n, k], one a byte, and the planes behind them [n, blocks] as the bytes of a constant."""
    tall = _grouped(codes, groups)
    return np.concatenate(
        [*(plane(tall) for plane in PLANES[fmt.bits]), *(_scale_plane(p, groups) for p in behind)]
    )


def _scale_plane(scale: Array, groups: int) -> Array:
    scales = _grouped(scale, groups)
    n, blocks = scales.shape
    by_panel = np.ascontiguousarray(scales.reshape(n // ROWS, ROWS, blocks).swapaxes(1, 2))
    return by_panel.reshape(-1).view(np.uint8)


def unpack(fmt: Format, data: Array, shape: tuple[int, int], groups: int = 1) -> list[Array]:
    """The reverse of `pack`: codes [n, k], and the planes behind them [n, blocks]."""
    n, k = shape
    tall = groups * -(-(n // groups) // ROWS) * ROWS
    step = STEP[fmt.bits]
    wide = -(-k // step) * step
    size = tall * wide
    used, codes = 0, np.zeros((tall, wide), np.uint8)
    for shift, bits in zip(
        (0, LOWER[fmt.bits]), (LOWER[fmt.bits], fmt.bits - LOWER[fmt.bits]), strict=True
    ):
        if bits:
            plane = data[used : used + size * bits // 8]
            plane = plane.reshape(tall // ROWS, wide * bits // 32, ROWS, 4)
            codes |= _from_plane(plane, bits) << np.uint8(shift)
            used += size * bits // 8
    out = [_ungrouped(codes[:, :k], n, groups)]
    for dtype, elements in fmt.planes:
        kind = np.dtype(DTYPES["u8" if dtype.startswith("f8") else dtype].numpy)
        blocks = -(-k // elements) if elements else 1
        end = used + tall * blocks * kind.itemsize
        rows = data[used:end].view(kind).reshape(tall // ROWS, blocks, ROWS).swapaxes(1, 2)
        plane = _ungrouped(rows.reshape(tall, blocks), n, groups)
        out.append(plane.view(DTYPES[dtype].numpy) if dtype == "f8e4m3" else plane)
        used = end
    return out


def decode(name: str, data: Array, shape: tuple[int, int], groups: int = 1) -> Array:
    """The f32 weights [n, k] that a packed constant stands for."""
    fmt = FORMATS[name]
    return np.asarray(fmt.meaning(*unpack(fmt, data, shape, groups)))


def _of_codes(dtype: np.dtype[Any]) -> Iterator[Format]:
    """The formats that store codes of a float type; those with levels are named by their own decoder."""
    return (
        f for f in FORMATS.values()
        if f.codes in DTYPES and np.dtype(DTYPES[f.codes].numpy) == dtype
    )  # fmt: skip


def _raw(fmt: Format, codes: Array) -> Array:
    """One byte a code, the bits as the format stores them."""
    if fmt.offset:
        return (codes.astype(np.int8) + (0 if fmt.shifts else fmt.offset)).astype(np.uint8)
    return np.ascontiguousarray(codes).view(np.uint8) if fmt.codes else codes.astype(np.uint8)


def _behind(
    dtype: str, part: Elements | Blocks, shape: tuple[int, ...], block: int
) -> Array | None:
    """A number of each block, [n, blocks], where the weights [n, k] have that structure and lose nothing."""
    first = _by_block(part, shape, block)
    return None if first is None else _narrow(dtype, first.astype(np.float64))


def _narrow(dtype: str, exact: Array) -> Array | None:
    """The same numbers in another type; None where it has not all of them."""
    if dtype == "f8e8m0":
        mantissa, exponent = np.frexp(exact)
        none, byte = np.isnan(exact), exponent - 1 + 127
        fits = np.all(none | (mantissa == 0.5) & (byte >= 0) & (byte < 255))
        return np.where(none, 255, byte).astype(np.uint8) if fits else None
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = exact.astype(DTYPES[dtype].numpy)
    same = np.array_equal(narrow.astype(np.float64), exact, equal_nan=dtype == "f32")
    return narrow if same and not _loses_a_sign(narrow, exact) else None


def _loses_a_sign(narrow: Array, exact: Array) -> bool:
    """-0 became an integer."""
    return narrow.dtype.kind in "iu" and bool(np.any(np.signbit(exact) & (exact == 0)))


def _by_block(scale: Elements | Blocks, shape: tuple[int, ...], block: int) -> Array | None:
    """The scale of each `block` weights of a row; None where they have several."""
    n, k = shape
    if isinstance(scale, Blocks) and scale.axis == 1 and scale.size % block == 0:
        return np.repeat(scale.parts, scale.size // block, axis=1)[:, : -(-k // block)]
    if isinstance(scale, Blocks) and scale.axis == 1 and (block >= k or block % scale.size == 0):
        few = scale.parts[:, :: -(-block // scale.size)]
        same = np.repeat(few, -(-block // scale.size), axis=1)[:, : scale.parts.shape[1]]
        return few if np.array_equal(same, scale.parts) else None
    each = spread(scale, shape)
    first = np.ascontiguousarray(each[:, ::block])
    for a, b in rows_of(n, 4 * k):
        if not np.array_equal(np.repeat(first[a:b], block, axis=1)[:, :k], each[a:b]):
            return None
    return first


def _grouped(rows: Array, groups: int) -> Array:
    """Rows of each group filled up with zeros to a multiple of 16."""
    n, k = rows.shape
    each = n // groups
    out = np.zeros((groups, -(-each // ROWS) * ROWS, k), rows.dtype)
    out[:, :each] = rows.reshape(groups, each, k)
    return out.reshape(out.shape[0] * out.shape[1], k)


def _ungrouped(rows: Array, n: int, groups: int) -> Array:
    tall, k = rows.shape
    each = rows.reshape(groups, tall // groups, k)
    return np.ascontiguousarray(each[:, : n // groups].reshape(n, k))


def _widen(codes: Array, step: int) -> Array:
    k = codes.shape[1]
    return np.pad(codes, ((0, 0), (0, -k % step)))


def _plane8(codes: Array) -> Array:
    wide = _widen(codes, 4)
    n, k = wide.shape
    steps = wide.reshape(n // ROWS, ROWS, k // 4, 4).swapaxes(1, 2)
    return np.ascontiguousarray(steps).reshape(-1).view(np.uint8)


def _plane(codes: Array, bits: int) -> Array:
    """Codes of 1, 2 or 4 bits, k being whole steps: every fourth one in a byte."""
    each = 8 // bits
    n, k = codes.shape
    steps = codes.reshape(n // ROWS, ROWS, k // (4 * each), each, 4)
    steps = steps.swapaxes(1, 2)  # [n/16][k][16][each][4]
    whole = np.ascontiguousarray(steps[..., 0, :])
    for i in range(1, each):
        whole |= steps[..., i, :] << np.uint8(i * bits)
    return whole.reshape(-1)


STEP: Final = {8: 4, 4: 8, 2: 16, 6: 16, 3: 32}
"""Codes along k that lie side by side in a panel, by their bits."""
LOWER: Final = {8: 8, 4: 4, 2: 2, 6: 4, 3: 2}
"""Bits of the first plane."""
PLANES: Final[dict[int, tuple[Callable[[Array], Array], ...]]] = {
    8: (_plane8,),
    4: (lambda tall: _plane(_widen(tall, 8) & 15, 4),),
    2: (lambda tall: _plane(_widen(tall, 16) & 3, 2),),
    6: (
        lambda tall: _plane(_widen(tall, 16) & 15, 4),
        lambda tall: _plane(_widen(tall, 16) >> 4, 2),
    ),
    3: (
        lambda tall: _plane(_widen(tall, 32) & 3, 2),
        lambda tall: _plane(_widen(tall, 32) >> 2, 1),
    ),
}
"""The planes of rows in multiples of 16, one code a byte."""


def _from_plane(steps: Array, bits: int) -> Array:
    """[n/16][steps][16][4] bytes -> codes [n, k], 8 / bits of them in each byte."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)[:, None]
    mask = np.uint8((1 << bits) - 1)
    codes = (steps[..., None, :] >> shifts) & mask  # [n/16][steps][16][8/bits][4]
    n, k = len(steps) * ROWS, steps.shape[1] * (8 // bits) * 4
    return np.ascontiguousarray(codes.swapaxes(1, 2)).reshape(n, k)

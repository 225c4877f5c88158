"""The sizes that rules are tried at: every extent of a program, at a few sizes of its dimensions.

Extents are evaluated as the runtime does (session/expr.c): what overflows or divides by zero has no value. A point is
one assignment of sizes that the runtime would prepare for, counted dimensions at their capacities; a caller's sizes
that do not fit (a negative extent, a relation that does not hold) are no fault of the program, so such points are left
out. A program without free dimensions has one point, which must fit.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pteron.schema.dtypes import stored_bytes
from pteron.schema.errors import ProgramError
from pteron.schema.layout import ExprOp

from ..plan.lifetimes import MAX_EXTENT
from ..program import Program
from ..sizes import MAX_ELEMENTS, Check, Extent
from ..sizes.expressions import Expressions, Row, applied
from .refusal import Refusal, refuse

Sizes = tuple[int, ...]
"""An extent at each point."""

MOST: Final = 3
ALIKE: Final = (64, 2, 96, 8, 224, 16, 1, 1024)
"""Sizes that all dimensions get at once, where their own do not fit: windows want large ones, blocks multiples."""


class Points:
    """`count` points, at `sizes` of the dimensions; `of(extents)`: what extents are there."""

    def __init__(self, program: Program) -> None:
        self._program: Final = program
        self._exprs: Final = Expressions([d.name for d in program.dims])
        self._known: dict[tuple[Extent, ...], tuple[Sizes, ...]] = {}
        capacities = [None if d.capacity is None else self._add(d.capacity) for d in program.dims]
        checks = [(c, self._add(c.a), self._add(c.b)) for c in program.checks]
        self._geometries: Final = self._distinct()
        for e in _elsewhere(program):
            self._add(e)
        self._dynamic: Final = self._trace()
        self._check_capacities(capacities)
        self.sizes: list[dict[str, int]] = []
        self._full, self._empty = self._choose(capacities, checks)
        self.count = len(self._full)

    def _distinct(self) -> list[tuple[int, list[int], list[int]]]:
        """For each geometry that values have the first such value, the rows of its extents, of strides and offset."""
        first: dict[tuple[Any, ...], int] = {}
        for i, v in enumerate(self._program.values):
            first.setdefault((v.shape, v.strides, v.offset), i)
        return [
            (i, [self._add(e) for e in shape], [self._add(e) for e in (*(strides or ()), offset)])
            for (shape, strides, offset), i in first.items()
        ]

    def each(self) -> Iterator[Points]:
        """One point after the other, where there are several."""
        for p in range(self.count if self.count > 1 else 0):
            one = copy.copy(self)
            one._full, one._empty = self._full[p : p + 1], self._empty[p : p + 1]
            one._known, one.sizes, one.count = {}, self.sizes[p : p + 1], 1
            yield one

    def of(self, extents: Sequence[Extent]) -> tuple[Sizes, ...]:
        key = tuple(extents)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = tuple(self._at(self._full, e) for e in key)
        return found

    def emptied(self, extents: Sequence[Extent]) -> tuple[Sizes, ...] | None:
        """`of` with all counted dimensions at 0; None where nothing is counted or an extent has no value then."""
        if not any(self.is_dynamic(e) for e in extents):
            return None
        rows = [self._add(e) for e in extents]
        if any(point[r] is None for point in self._empty for r in rows):
            return None
        return tuple(self._at(self._empty, e) for e in extents)

    def is_dynamic(self, e: Extent) -> bool:
        """Whether a counted dimension decides it."""
        return self._dynamic[self._add(e)]

    def is_counted(self, e: Extent) -> bool:
        """Whether it is exactly a counted dimension."""
        _, a, _, op = self._exprs.rows[self._add(e)]
        return op is ExprOp.DIM and self._program.dims[a].kind == "counted"

    def _at(self, points: Sequence[Sequence[int | None]], e: Extent) -> Sizes:
        row = self._add(e)
        return tuple(-1 if p[row] is None else int(p[row] or 0) for p in points)

    def _add(self, e: Extent) -> int:
        try:
            return self._exprs.add(e)
        except (ProgramError, ValueError, TypeError, AttributeError) as error:
            raise Refusal(f"size {e}: {error}") from error

    def _trace(self) -> list[bool]:
        dims = self._program.dims
        out: list[bool] = []
        for _, a, b, op in self._exprs.rows:
            if op is ExprOp.DIM:
                out.append(dims[a].kind == "counted")
            else:
                out.append(op is not ExprOp.CONST and (out[a] or out[b]))
        return out

    def _check_capacities(self, capacities: Sequence[int | None]) -> None:
        """A capacity is known before the dimension is used."""
        for row, (_, a, _, op) in enumerate(self._exprs.rows):
            capacity = capacities[a] if op is ExprOp.DIM else None
            if capacity is not None and capacity >= row:
                name = self._program.dims[a].name
                refuse(f"dimension {name}", "capacity", "sizes known before it", "ones behind it")

    # --- which points ---------------------------------------------------------------------------------------------

    def _choose(
        self, capacities: Sequence[int | None], checks: Sequence[tuple[Check, int, int]]
    ) -> tuple[list[list[int | None]], list[list[int | None]]]:
        """The tables of values at the chosen points, counted dimensions at their capacities and at 0."""
        dims = self._program.dims
        is_free = any(d.kind != "counted" for d in dims)
        full: list[list[int | None]] = []
        empty: list[list[int | None]] = []
        for sizes in self._candidates():
            table = evaluate(self._exprs.rows, sizes, capacities, [d.kind for d in dims])
            why = self._misfit(table, checks)
            if why and not is_free:
                raise Refusal(why)
            if why or table in full:
                continue
            full.append(table)
            self.sizes.append({d.name: n for d, n in zip(dims, sizes, strict=True)})
            kinds = ["fixed" if d.kind != "counted" else "none" for d in dims]
            empty.append(evaluate(self._exprs.rows, sizes, capacities, kinds))
            if len(full) == MOST:
                break
        return full, empty

    def _candidates(self) -> Iterator[list[int]]:
        """Sizes by dimension: the hints first, then some that tell dimensions apart, then the smallest."""
        dims = self._program.dims
        yield [0 if d.kind == "counted" else d.hint for d in dims]
        if all(d.kind == "counted" for d in dims):
            return
        told = self._told()

        def within(i: int, size: int) -> int:
            d = dims[i]
            return told.get(d.name, min(max(size, d.min), d.max))

        yield [within(i, 97 + 12 * i) for i in range(len(dims))]
        yield [d.min for d in dims]
        for size in ALIKE:
            yield [within(i, size) for i in range(len(dims))]

    def _told(self) -> dict[str, int]:
        """Sizes that a relation makes one number."""
        pairs = [
            p for c in self._program.checks if c.kind == "eq" for p in ((c.a, c.b), (c.b, c.a))
        ]
        return {
            str(a): b for a, b in pairs if isinstance(b, int) and getattr(a, "is_Symbol", False)
        }

    def _misfit(
        self, table: Sequence[int | None], checks: Sequence[tuple[Check, int, int]]
    ) -> str | None:
        """Why the runtime would not prepare for these sizes."""
        for check, a, b in checks:
            x, y = table[a], table[b]
            if x is None or y is None or self._dynamic[a] or self._dynamic[b]:
                continue
            if not _holds(check.kind, x, y):
                return f"relation {check.text}: expected {x} {check.kind} {y} to hold"
        for i, shape, others in self._geometries:
            why = _value_misfit(table, shape, others)
            if why:
                return f"value {i} ({self._program.values[i].name}): {why}"
        return None


def _value_misfit(
    table: Sequence[int | None], shape: Sequence[int], others: Sequence[int]
) -> str | None:
    count = 1
    for axis, row in enumerate(shape):
        n = table[row]
        if n is None:
            return f"axis {axis}: the extent does not fit in 64 bits or is divided by zero"
        if n < 0:
            return f"axis {axis}: extent {n} is negative"
        count *= max(n, 1)
    if count > MAX_ELEMENTS:
        return "more than 2^40 elements"
    if any(table[row] is None for row in others):
        return "a stride or the offset does not fit in 64 bits or is divided by zero"
    return None


def _elsewhere(program: Program) -> Iterator[Extent]:
    from .attributes import dims_of

    for s in program.states:
        yield from s.shape
    for block in program.blocks:
        for instr in block.instrs:
            yield from dims_of(instr)


def _holds(kind: str, a: int, b: int) -> bool:
    if kind == "eq":
        return a == b
    return a <= b if kind == "le" else a != 0 and b % a == 0


def evaluate(
    rows: Sequence[Row],
    sizes: Sequence[int],
    capacities: Sequence[int | None],
    kinds: Sequence[str],
) -> list[int | None]:
    """The value of every row by the rules of session/expr.c; None: overflow, or a division by zero."""
    out: list[int | None] = []
    for value, a, b, op in rows:
        if op is ExprOp.CONST:
            y: int | None = value
        elif op is ExprOp.DIM:
            y = _dim(sizes[a], kinds[a], capacities[a], out)
        else:
            x, z = out[a], out[b]
            y = None if x is None or z is None else applied(op, x, z)
        out.append(None if y is None or not -(2**63) <= y < 2**63 else y)
    return out


def _dim(size: int, kind: str, capacity: int | None, out: Sequence[int | None]) -> int | None:
    if kind == "none":
        return 0
    if kind != "counted":
        return size
    if capacity is None:
        return MAX_EXTENT
    most = out[capacity] if capacity < len(out) else None
    return None if most is None else max(0, most)


# --- bytes --------------------------------------------------------------------------------------------------------


def room(dtype: str, shapes: Sequence[Sizes], count: int) -> Sizes:
    """Bytes of a dense tensor at each of `count` points."""
    return tuple(stored_bytes(dtype, math.prod(axis[p] for axis in shapes)) for p in range(count))

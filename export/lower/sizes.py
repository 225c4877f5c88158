"""Sizes during lowering: dimensions by name, relations that must hold, the broadcasting rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

import sympy

from pteron.schema.errors import ModelError

from ..graph.bounds import MOST
from ..program.views import Shape
from ..sizes import Check, Dim, Extent, extents
from ..sizes.extents import is_narrow, same
from ..sizes.ranges import between
from . import scaled
from .refs import RefusedError

UNBOUNDED: Final = extents.symbol("max_extent")
"""In place of every counted dimension without a capacity, which has the session's max_extent at prepare."""


def is_long(n: Extent) -> Extent:
    """0 where an axis has one element, 1 where it has more: the factor of its stride in a broadcast."""
    away = extents.sub(n, 1)
    if not extents.at_most(1, n):
        away = extents.maximum(away, extents.mul(-1, away))
    return extents.minimum(away, 1)


class Sizes:
    """The dimensions and checks of one Program."""

    def __init__(self) -> None:
        self.dims: dict[sympy.Symbol, Dim] = {}
        self.checks: list[Check] = []
        self.hints: Mapping[str, int] = {}
        self.minimums: Mapping[str, int] = {}
        self.bounds: Mapping[
            str, tuple[int, int]
        ] = {}  # of named sizes, where the graph states them
        self.open: set[tuple[Extent, Extent]] = set()
        """(extent, common extent) of axes of which a broadcast at prepare decides whether they are stretched."""
        self.where = ""  # the name of the node being lowered, for the text of checks

    def broadcast(self, shapes: Sequence[Sequence[Extent]]) -> Shape:
        """The common shape by ONNX's rule; unequal symbols are required to be equal at prepare, unless one is 0 or 1, or may be
        1 (`_met`)."""
        rank = max((len(s) for s in shapes), default=0)
        full: list[Extent] = []
        for axis in range(-rank, 0):
            found: Extent = 1
            for s in shapes:
                if len(s) < -axis or same(s[axis], 1) or same(s[axis], found):
                    continue
                if same(found, 1):
                    found = s[axis]
                elif is_narrow(s[axis]):
                    found = self._stretched(s[axis], found)
                elif is_narrow(found):
                    found = self._stretched(found, s[axis])
                else:
                    found = self._met(found, s[axis])
            self.open |= {(s[axis], found) for s in shapes if self._is_open(s, axis, found)}
            full.append(found)
        return tuple(full)

    def _is_open(self, shape: Sequence[Extent], axis: int, found: Extent) -> bool:
        """Whether only prepare tells if an axis is stretched to the common extent that was found."""
        if len(shape) < -axis or is_narrow(shape[axis]) or same(shape[axis], found):
            return False
        if self.is_counted(shape[axis]) or self.is_counted(found):
            return False  # the run compares them
        return not self._is_equal(shape[axis], found)

    def _met(self, a: Extent, b: Extent) -> Extent:
        """The common extent of two: equal ones, or where a size that an input has by itself may be 1, by ONNX's rule. Sizes that
        torch.export found out about were equal for it, and those that are equal elsewhere are so here."""
        may = [n for n in (a, b) if isinstance(n, sympy.Symbol) and not extents.at_most(2, n)]
        of_a_run = self.is_counted(a) or self.is_counted(b)
        if not may or of_a_run or self.bounds or 0 in (a, b) or self._is_equal(a, b):
            self.require_equal(a, b, "operands broadcast together")
            return extents.simpler(a, b)
        joint = self._joint(a, b)
        for n in (a, b):
            if same(n, joint) or extents.at_most(2, n):
                continue
            text = f"operands broadcast together: {a} and {b} are equal, or one is 1"
            gained = extents.mul(extents.sub(joint, n), extents.sub(1, is_long(n)))
            self.require_equal(extents.add(n, gained), joint, text)
        return joint

    def _joint(self, a: Extent, b: Extent) -> Extent:
        for n in (a, b):
            if extents.at_most(2, n):
                return n
        most = extents.maximum(a, b)
        if extents.at_most(1, a) and extents.at_most(1, b):
            return most
        return extents.minimum(extents.mul(a, b), most)

    def _is_equal(self, a: Extent, b: Extent) -> bool:
        """Whether a relation says so already."""
        return any(
            c.kind == "eq" and ((same(c.a, a) and same(c.b, b)) or (same(c.a, b) and same(c.b, a)))
            for c in self.checks
        )

    def _stretched(self, narrow: Extent, other: Extent) -> Extent:
        """The common extent of one that is 0 or 1 and another."""
        both = extents.mul(other, narrow)
        spare = extents.sub(other, both)  # what is lost where `narrow` is 0: that goes with 0 and 1
        self.require_at_most(spare, 1, "operands broadcast together")
        return other if same(both, other) else both

    def require_stretches(self, narrow: Extent, wide: Extent, text: str) -> None:
        """An axis of 0 or 1 elements has one, or as few as the axis that it is stretched to."""
        self.require_at_most(extents.sub(wide, extents.mul(wide, narrow)), 0, text)

    def require_equal(self, a: Extent, b: Extent, text: str) -> None:
        """Proves a == b, or has it checked at prepare.

        Raises:
            RefusedError: they are different numbers.
        """
        if same(a, b):
            return
        if isinstance(a, int) and isinstance(b, int):
            raise RefusedError(f"{text}: expected equal sizes, got {a} and {b}")
        self.check("eq", a, b, text)

    def require_at_most(self, a: Extent, b: Extent, text: str) -> None:
        """Proves a <= b, or has it checked at prepare.

        Raises:
            RefusedError: they are numbers and a is larger.
        """
        if extents.at_most(a, b):
            return
        if isinstance(a, int) and isinstance(b, int):
            raise RefusedError(f"{text}: expected at most {b}, got {a}")
        self.check("le", a, b, text)

    def whole(self, x: extents.Scaled) -> Extent:
        """The integer that a float of sizes becomes by Cast: by an expression over integers where one agrees with it at all sizes
        that there are, else by the float arithmetic that the model states."""
        found = None if self._is_value(x) else scaled.whole(x)
        if found is None:
            return scaled.integer(x)
        result, size, largest = found
        if largest < scaled.LIMIT:
            return scaled.integer(x)
        self.require_at_most(
            size, largest, "a size that is scaled in floats is rounded as the model says"
        )
        return result

    def _is_value(self, x: extents.Scaled) -> bool:
        """Whether an input's element is in it, which may have any value: what is said of sizes is not checked of it."""
        return any(self.dims[s].kind == "shape" for s in x.free_symbols)

    def settle(self, kind: str, a: Any, b: Any) -> bool:
        """Whether what a row compares holds (`eq`, or `le`: a <= b), at prepare at the latest: it need not be proved at export."""
        if same(a, b) or (kind == "le" and extents.at_most(a, b)):
            return True
        if isinstance(a, int) and isinstance(b, int):
            return False
        if kind == "eq":
            self.check("eq", a, b, "sizes that the operator takes to be equal")
            return True
        a, b = self._at_capacity(a), self._at_capacity(b)  # as prepare sees them
        if extents.at_most(a, b):
            return True
        if UNBOUNDED in extents.symbols_of(a) | extents.symbols_of(b) or extents.at_most(
            extents.add(b, 1), a
        ):
            return False
        self.check("le", a, b, "sizes that the operator takes to be at most others")
        return True

    def check(self, kind: str, a: Extent, b: Extent, text: str) -> None:
        """Adds a relation checked at prepare: eq, le (a <= b) or divides (a divides b). Counted sizes that are to be equal to
        others have capacities that are; whether a run's sizes are, whoever takes both operands asks.

        Raises:
            RefusedError: equality of a size that nothing bounds: prepare sees it at max_extent only.
        """
        if kind == "eq":
            self._share_capacity(a, b)
            first, second = self._at_capacity(a), self._at_capacity(b)
            if same(first, second):
                return
            if self.is_left_to_runs(first, second):
                raise RefusedError(
                    f"{text}: {a} and {b} must be equal, which only a run decides; give it a size that stays, or take both "
                    "from one value"
                )
            a, b = first, second
        check = Check(kind, a, b, f"{self.where}: {text}" if self.where else text)
        if not any(c.kind == kind and same(c.a, a) and same(c.b, b) for c in self.checks):
            self.checks.append(check)

    def _share_capacity(self, a: Extent, b: Extent) -> None:
        """Of two sizes that are to be equal, a counted one that nothing bounds is at most what the other is: a run in which it is not fails
        at its capacity already."""
        for one, other in ((a, self._at_capacity(b)), (b, self._at_capacity(a))):
            dim = self.dims.get(one) if isinstance(one, sympy.Symbol) else None
            unbounded = dim is not None and dim.kind == "counted" and dim.capacity is None
            if unbounded and UNBOUNDED not in extents.symbols_of(other):
                self.bound(one, other)

    def is_left_to_runs(self, a: Extent, b: Extent) -> bool:
        """Whether prepare cannot tell if two sizes, of which a run may count one, are equal: at their capacities they are not,
        or nothing bounds one."""
        first, second = self._at_capacity(a), self._at_capacity(b)
        free = UNBOUNDED in extents.symbols_of(first) | extents.symbols_of(second)
        numbers = isinstance(first, int) and isinstance(second, int)
        return not same(first, second) and (free or numbers)

    def is_counted(self, n: Extent) -> bool:
        """Whether a run decides it."""
        return any(s in self.dims and self.dims[s].kind == "counted" for s in extents.symbols_of(n))

    def _at_capacity(self, n: Extent) -> Extent:
        for s in extents.symbols_of(n):
            dim = self.dims.get(s)
            if dim is not None and dim.kind == "counted":
                capacity = UNBOUNDED if dim.capacity is None else self._at_capacity(dim.capacity)
                n = extents.extent(sympy.sympify(n).subs(s, capacity))
        return n

    def most(self, n: Extent) -> Extent | None:
        """What `n` is at most in any run, without counted dimensions; None where one has no bound but the session's."""
        limits: dict[sympy.Symbol, tuple[Extent, Extent]] = {}
        for s in extents.symbols_of(n):
            if self.is_counted(s):
                capacity = self.dims[s].capacity
                bound = None if capacity is None else self.most(capacity)
                if bound is None:
                    return None
                limits[s] = (0, bound)
        try:
            return extents.maximum(between(n, limits)[1], 0)
        except ValueError:
            return None

    def dim(self, name: str, **facts: Any) -> sympy.Symbol:
        """The dimension of that name; `facts` are fields of Dim."""
        s = extents.symbol(name, int(facts.get("min", 1)))
        self.dims.setdefault(s, Dim(name, **facts))
        return s

    def size(self, name: str) -> sympy.Symbol:
        """The symbolic dimension of that name."""
        past = 0 if "past" in name.lower() else 1
        least, most = self.bounds.get(name, (past, MOST))
        least = self.minimums.get(name, least)
        hint = self.hints.get(name, min(max(least, 1), most))
        s = self.dim(name, min=least, max=most, hint=hint)
        known = self.dims[s]
        if (known.min, known.max) != (least, most):
            raise ModelError(
                f"dimension {name}: one method needs {known.min} to {known.max}, another {least} to {most}; "
                "give it another name in one of them"
            )
        return s

    def counted(self, name: str, capacity: Extent | None) -> sympy.Symbol:
        """A new dimension whose extent a kernel sets while running, at most `capacity` (None: max_extent)."""
        taken = {d.name for d in self.dims.values()}
        unique = name
        for i in range(1, len(taken) + 2):
            if unique not in taken:
                break
            unique = f"{name}_{i}"
        return self.dim(unique, kind="counted", min=0, capacity=capacity)

    def bound(self, s: sympy.Symbol, capacity: Extent) -> None:
        """Gives a counted dimension without a capacity the one that was proved since."""
        self.dims[s] = dataclasses.replace(self.dims[s], capacity=capacity)

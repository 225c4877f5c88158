"""Executes the `shape=` line of a row, on numbers or on expressions: the same rule that C runs from gen/ops.c.

A port is a list of terms: one dimension by name, a number, `#attr`, `*name` (any number of dimensions), `*name#attr` (as
many as the attribute says) or `*` (anything, not compared). A port has at most one run of unknown length.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pteron.schema.row import Op
from pteron.schema.signature import signature

TERMS: Final = ("dim", "run", "number", "attr", "any")
"""Kinds of terms; the position is the number in the C table."""

Shape = tuple[Any, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Term:
    """`slot`: which of the line's dimensions (dim) or runs (run). `attr`: the attribute that says the length or the size."""

    kind: str
    name: str = ""
    slot: int = 0
    number: int = 0
    attr: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Line:
    """Terms by port in signature order; a variadic port's terms hold for each of its values."""

    inputs: tuple[tuple[Term, ...], ...]
    outputs: tuple[tuple[Term, ...], ...]
    dims: tuple[str, ...]
    runs: tuple[str, ...]


class ShapeError(ValueError):
    """Shapes that are not what the row says; the text names port and dimension."""


@functools.cache
def parse(op: Op) -> Line:
    """The row's line.

    Raises:
        ValueError: the line does not fit the signature; the message names the operator.
    """
    dims: dict[str, int] = {}
    runs: dict[str, int] = {}
    left, arrow, right = op.shape.partition("->")
    sides = [
        tuple(_terms(op, body, dims, runs) for body in re.findall(r"\[([^\]]*)\]", side))
        for side in (left, right)
    ]
    sig = signature(op)
    for side, ports in zip(sides, (sig.inputs, sig.outputs), strict=True):
        if not arrow or len(side) != len(ports):
            raise ValueError(
                f"op {op.name}: shape line has {len(side)} ports, the signature {len(ports)}"
            )
    line = Line(sides[0], sides[1], tuple(dims), tuple(runs))
    _check_runs(op, line)
    return line


def check(
    op: Op,
    inputs: Sequence[Shape | None],
    outputs: Sequence[Shape | None],
    attrs: Mapping[str, Any],
    same: Any = None,
) -> None:
    """Compares shapes with the row's line; None is an absent value. `same(a, b)` says whether two extents agree
    (default ==; pass one that knows symbols).

    Raises:
        ShapeError: they differ.
    """
    match = _Match(op, parse(op), attrs, same or (lambda a, b: a == b))
    match.ports("input", inputs, match.line.inputs)
    match.ports("output", outputs, match.line.outputs)


def infer(
    op: Op, inputs: Sequence[Shape | None], attrs: Mapping[str, Any], same: Any = None
) -> list[Shape | None]:
    """Output shapes by port (one for a variadic port); None where the line leaves a dimension free.

    Raises:
        ShapeError: the inputs are not what the row says.
    """
    match = _Match(op, parse(op), attrs, same or (lambda a, b: a == b))
    match.ports("input", inputs, match.line.inputs)
    return [match.build(terms) for terms in match.line.outputs]


def _terms(op: Op, body: str, dims: dict[str, int], runs: dict[str, int]) -> tuple[Term, ...]:
    out = []
    for word in filter(None, (part.strip() for part in body.split(","))):
        found = re.fullmatch(r"(\*?)([a-z]\w*)?(?:#([a-z]\w*))?|(\d+)", word)
        if not found or (found.group(1) == "" and found.group(2) and found.group(3)):
            raise ValueError(
                f"op {op.name}: shape line: expected a term of schema/row.py, got {word!r}"
            )
        star, name, attr, number = found.groups()
        if attr and attr not in {a.name for a in signature(op).attrs if a.kind == "int"}:
            raise ValueError(f"op {op.name}: shape line: #{attr} is not an int attribute")
        if number is not None:
            out.append(Term("number", number=int(number)))
        elif star and not name:
            out.append(Term("any"))
        elif star:
            out.append(Term("run", name, runs.setdefault(name, len(runs)), attr=attr or ""))
        elif name:
            out.append(Term("dim", name, dims.setdefault(name, len(dims))))
        else:
            out.append(Term("attr", attr=attr))
    return tuple(out)


def _check_runs(op: Op, line: Line) -> None:
    """At most one run of a port may be of unknown length, whichever optional inputs are absent."""
    known: set[str] = set()
    sig = signature(op)
    for terms, port in zip((*line.inputs, *line.outputs), (*sig.inputs, *sig.outputs), strict=True):
        open_runs = [
            t
            for t in terms
            if t.kind == "any" or (t.kind == "run" and not t.attr and t.name not in known)
        ]
        if len(open_runs) > 1:
            raise ValueError(
                f"op {op.name}: shape line: port {port.name} has more than one run of unknown length"
            )
        if not (port.optional or port.variadic):
            known |= {t.name for t in terms if t.kind == "run"}


class _Match:
    """Dimensions and runs bound so far."""

    def __init__(self, op: Op, line: Line, attrs: Mapping[str, Any], same: Any) -> None:
        self.op, self.line, self.same = op, line, same
        defaults = {a.name: a.default for a in signature(op).attrs}
        self.attrs = {**defaults, **attrs}
        self.dims: dict[str, Any] = {}
        self.runs: dict[str, Shape] = {}

    def ports(
        self, side: str, shapes: Sequence[Shape | None], terms: tuple[tuple[Term, ...], ...]
    ) -> None:
        sig = signature(self.op)
        ports = sig.inputs if side == "input" else sig.outputs
        for i, shape in enumerate(shapes):
            if i >= len(terms) and not (ports and ports[-1].variadic):
                raise ShapeError(
                    f"{self.op.name}: expected at most {len(terms)} {side}s, got {len(shapes)}"
                )
            if shape is not None:
                self.port(f"{self.op.name}: {side} {i}", shape, terms[min(i, len(terms) - 1)])

    def port(self, where: str, shape: Shape, terms: tuple[Term, ...]) -> None:
        fixed = sum(self.length(t) or 0 for t in terms)
        is_open = any(self.length(t) is None for t in terms)
        if len(shape) < fixed or (len(shape) > fixed and not is_open):
            raise ShapeError(
                f"{where}: expected rank {fixed}{' or more' if is_open else ''}, got {len(shape)}"
            )
        at = 0
        for t in terms:
            count = self.length(t)
            count = len(shape) - fixed if count is None else count
            self.term(f"{where}: axis {at}", t, tuple(shape[at : at + count]))
            at += count

    def length(self, t: Term) -> int | None:
        if t.kind == "any":
            return None
        if t.kind != "run":
            return 1
        if t.attr:
            return int(self.attrs[t.attr])
        return len(self.runs[t.name]) if t.name in self.runs else None

    def term(self, where: str, t: Term, got: Shape) -> None:
        if t.kind == "any":
            return
        if t.kind == "run":
            expected = self.runs.setdefault(t.name, got)
        elif t.kind == "dim":
            expected = (self.dims.setdefault(t.name, got[0]),)
        else:
            expected = (t.number if t.kind == "number" else self.attrs[t.attr],)
        if len(expected) != len(got) or not all(
            self.same(a, b) for a, b in zip(expected, got, strict=True)
        ):
            raise ShapeError(
                f"{where}: expected {list(expected)} ({t.name or t.attr or t.number}), got {list(got)}"
            )

    def build(self, terms: tuple[Term, ...]) -> Shape | None:
        out: list[Any] = []
        for t in terms:
            if t.kind == "any" or (t.kind == "dim" and t.name not in self.dims):
                return None
            if t.kind == "run" and t.name not in self.runs:
                return None
            if t.kind == "run":
                out += self.runs[t.name]
            else:
                out.append(
                    self.dims[t.name]
                    if t.kind == "dim"
                    else t.number
                    if t.kind == "number"
                    else self.attrs[t.attr]
                )
        return tuple(out)

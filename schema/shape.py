"""Executes what a row says of an instruction, on numbers or on expressions: the same rules that C runs from gen/ops.c.

`check_call` looks at everything: which operands there are, element types, layouts, the `shape=` line, attributes and the
relations of `where=`. `check` and `infer` look at shapes alone.

A port of the line is a list of terms: one dimension by name, a number, `#attr`, `*name` (any number of dimensions),
`*name#attr` (as many as the attribute says) or `*` (anything, not compared). A port has at most one run of unknown length.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from . import relation
from .dtypes import DTYPES
from .formats import FORMATS, ROWS
from .row import Op
from .signature import CONTROL, Attr, Port, signature

MAX_RANK: Final = 8
"""PTE_MAX_RANK."""

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


@dataclasses.dataclass(frozen=True, slots=True)
class Operand:
    """What is known of one value: extents are numbers, symbols or None (not known); so is a `dtype` or `format` "", and 0
    groups (PLAIN panels of one group, and what has none, have 1)."""

    shape: Shape
    dtype: str = ""
    layout: str = "strided"
    format: str = "plain"
    groups: int = 1


class ShapeError(ValueError):
    """Operands or attributes that are not what the row says; the text names what, what was expected and what was got."""


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


@functools.cache
def relations(op: Op) -> tuple[tuple[str, relation.Tree], ...]:
    """The row's relations: text and tree of each, in order; a later one may rely on an earlier one.

    Raises:
        ValueError: one is not in the language; the message names the operator.
    """
    line, sig = parse(op), signature(op)
    ports = tuple(p.name for p in (*sig.inputs, *sig.outputs) if not p.variadic)
    names = relation.Names(
        line.dims,
        line.runs,
        {a.name: a.kind for a in sig.attrs},
        {a.name: a.values for a in sig.attrs},
        ports,
        {name: f.id for name, f in ROWS.items()},
    )
    try:
        return tuple((text, relation.parse(text, names)) for text in op.where)
    except ValueError as e:
        raise ValueError(f"op {op.name}: where: {e}") from None


def counted_axes(op: Op) -> dict[int, tuple[int, ...]]:
    """Output -> the axes whose extents the kernel sets, which must be counted dimensions; no others may be.

    Raises:
        ValueError: `counts` names no dimension of one output.
    """
    out: dict[int, tuple[int, ...]] = {}
    if not op.counts:
        return out
    for i, terms in enumerate(parse(op).outputs):
        if any(t.kind in ("run", "any") for t in terms):
            raise ValueError(f"op {op.name}: counts: output {i} has runs; its axes have no numbers")
        out[i] = tuple(
            axis for axis, t in enumerate(terms) if t.kind == "dim" and t.name == op.counts
        )
    if not any(out.values()):
        raise ValueError(f"op {op.name}: counts: {op.counts!r} is no dimension of an output")
    return out


def check_call(
    op: Op,
    inputs: Sequence[Operand | None],
    outputs: Sequence[Operand | None],
    attrs: Mapping[str, Any],
    same: Any = None,
) -> None:
    """Checks one instruction against its row, as `verify` and `prepare` do in C: operands that must be there, element types
    and layouts, ranks and shapes, attributes and relations. None is an absent operand; a trailing one may be left out.
    Attributes are by name, enums by word, lists as tuples of numbers (or symbols), absent ones take the default. `same(a,
    b)` says whether two extents agree (default ==; pass one that knows symbols); what a symbol leaves open holds.
    Pointwise programs (`Steps`) and blocks are not looked at.

    Raises:
        ShapeError: the row forbids it; the text says what was expected and got.
    """
    sig = signature(op)
    for side, ports, given in (("input", sig.inputs, inputs), ("output", sig.outputs, outputs)):
        _check_presence(op, side, ports, given)
    _check_attrs(op, sig.attrs, attrs)
    match = _Match(op, parse(op), attrs, same or (lambda a, b: a == b))
    match.types(inputs, outputs)
    match.ports("input", [None if o is None else o.shape for o in inputs], match.line.inputs)
    match.ports("output", [None if o is None else o.shape for o in outputs], match.line.outputs)
    match.relations(inputs, outputs)


def check(
    op: Op,
    inputs: Sequence[Shape | None],
    outputs: Sequence[Shape | None],
    attrs: Mapping[str, Any],
    same: Any = None,
    settle: Any = None,
) -> None:
    """Compares shapes with the row's line and relations; None is an absent value, element types are not looked at. `same(a,
    b)` says whether two extents agree (default ==; pass one that knows symbols); `settle(kind, a, b)` is asked of those that
    the line wants equal, and of those that a relation compares (relation.Known), so that it may see to it.

    Raises:
        ShapeError: they differ.
    """
    match = _Match(op, parse(op), attrs, same or (lambda a, b: a == b), settle)
    match.ports("input", inputs, match.line.inputs)
    match.ports("output", outputs, match.line.outputs)
    sides = [
        [None if s is None else Operand(s, format="", groups=0) for s in side]
        for side in (inputs, outputs)
    ]
    match.relations(*sides)


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


def _check_presence(
    op: Op, side: str, ports: tuple[Port, ...], given: Sequence[Operand | None]
) -> None:
    fixed = [p for p in ports if not p.variadic]
    if len(given) > len(fixed) and len(fixed) == len(ports):
        raise ShapeError(f"{op.name}: expected at most {len(fixed)} {side}s, got {len(given)}")
    for i, port in enumerate(fixed):
        if not port.optional and (i >= len(given) or given[i] is None):
            raise ShapeError(f"{op.name}: {side} {port.name}: absent, but not optional")
    if any(o is None for o in given[len(fixed) :]):
        raise ShapeError(f"{op.name}: {side} {ports[-1].name}: absent, but not optional")


def _check_attrs(op: Op, known: tuple[Attr, ...], attrs: Mapping[str, Any]) -> None:
    """Each attribute is known, is there where it must be, and is of its kind."""
    names = {a.name: a for a in known}
    for name in attrs:
        if name not in names:
            raise ShapeError(f"{op.name}: attribute {name}: expected one of {list(names)}")
    for a in known:
        value = attrs.get(a.name, a.default)
        if value is None:
            raise ShapeError(f"{op.name}: attribute {a.name}: required, got none")
        whole = [value] if a.kind in ("int", "block") else value if a.kind == "ints" else []
        if a.kind == "enum" and value not in a.values:
            raise ShapeError(
                f"{op.name}: attribute {a.name}: expected one of {list(a.values)}, got {value!r}"
            )
        for number in map(_plain, whole):
            if not isinstance(number, int) or not -relation.LIMIT <= number < relation.LIMIT:
                raise ShapeError(
                    f"{op.name}: attribute {a.name}: expected a number of 64 bits, got {number!r}"
                )


def _facts(o: Operand) -> dict[str, Any]:
    """What a relation may ask of an operand; what is not known is left out."""
    extents = [_plain(n) for n in o.shape]
    facts: dict[str, Any] = {"groups": o.groups or None, "given": 1}
    if o.format:
        facts |= {"format": FORMATS[o.format].row, "block": FORMATS[o.format].block}
    if o.dtype:
        facts |= {"dtype": o.dtype, "bits": DTYPES[o.dtype].bits}
    if 0 in extents or all(isinstance(n, int) or getattr(n, "is_positive", False) for n in extents):
        facts["empty"] = int(0 in extents)
    return facts


def _plain(extent: Any) -> Any:
    """An extent as int where it is one."""
    try:
        return operator.index(extent)
    except TypeError:
        return extent


class _Match:
    """Dimensions and runs bound so far."""

    def __init__(
        self, op: Op, line: Line, attrs: Mapping[str, Any], same: Any, settle: Any = None
    ) -> None:
        self.op, self.line, self.same, self.settle = op, line, same, settle
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

    def types(self, inputs: Sequence[Operand | None], outputs: Sequence[Operand | None]) -> None:
        """Element types as the ports' rules say, `F` and `T` the same everywhere; layouts."""
        sig = signature(self.op)
        bound: dict[str, str] = {}
        for side, ports, given in (("input", sig.inputs, inputs), ("output", sig.outputs, outputs)):
            for i, o in enumerate(given):
                if o is None:
                    continue
                port = ports[min(i, len(ports) - 1)]
                where = f"{self.op.name}: {side} {i} ({port.name})"
                layout = {"W": "panels", "Taps": "taps"}.get(port.rule, "strided")
                if o.layout != layout and self.op.name not in CONTROL:
                    raise ShapeError(f"{where}: expected layout {layout}, got {o.layout}")
                self.dtype(where, port.rule, o.dtype, bound)

    def dtype(self, where: str, rule: str, dtype: str, bound: dict[str, str]) -> None:
        fixed = {"I64": ("i64",), "Bool": ("bool",), "F": self.op.dtypes}.get(rule)
        if not dtype:
            return
        if fixed is not None and dtype not in fixed:
            raise ShapeError(f"{where}: expected {' or '.join(fixed)}, got {dtype}")
        if rule in ("F", "T") and bound.setdefault(rule, dtype) != dtype:
            raise ShapeError(f"{where}: expected {bound[rule]} like the others, got {dtype}")

    def relations(
        self, inputs: Sequence[Operand | None], outputs: Sequence[Operand | None]
    ) -> None:
        sig = signature(self.op)
        ports: dict[str, dict[str, Any]] = {
            port.name: {"given": 0} for port in (*sig.inputs, *sig.outputs)
        }
        for side, given in ((sig.inputs, inputs), (sig.outputs, outputs)):
            for port, o in zip(side, given):
                if o is not None and not port.variadic:
                    ports[port.name] = _facts(o)
        dims = {name: _plain(n) for name, n in self.dims.items()}
        runs = {name: tuple(map(_plain, run)) for name, run in self.runs.items()}
        known = relation.Known(dims, runs, self.attrs, ports, self.same, self.settle)
        for text, tree in relations(self.op):
            try:
                relation.check(tree, known)
            except relation.Broken as e:
                at = f" at {e.at}" if e.at >= 0 else ""
                raise ShapeError(
                    f"{self.op.name}: {text}: expected {e.expected}, got {e.got}{at}"
                ) from None

    def length(self, t: Term) -> int | None:
        if t.kind == "any":
            return None
        if t.kind != "run":
            return 1
        if t.attr:  # a negative number of dimensions is more than any rank
            count = int(self.attrs[t.attr])
            return count if 0 <= count <= MAX_RANK else MAX_RANK + 1
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
            a is None or b is None or self.agree(a, b) for a, b in zip(expected, got, strict=True)
        ):
            raise ShapeError(
                f"{where}: expected {list(expected)} ({t.name or t.attr or t.number}), got {list(got)}"
            )

    def agree(self, a: Any, b: Any) -> bool:
        return bool(self.same(a, b) if self.settle is None else self.settle("eq", a, b))

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

"""Pointwise programs as expressions: what lowerings write and the fuser joins, compiled to steps of schema/steps.py.

A `Term` is one value of a program; equal terms are one object, so common subexpressions cost nothing. `compile_terms`
orders them and gives them registers; `read_terms` is its inverse.
"""

from __future__ import annotations

import dataclasses
import functools
import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from pteron.schema.dtypes import DTYPES, INTEGERS
from pteron.schema.steps import MAX_STEPS, REGISTERS, STEPS, Step

Number: TypeAlias = int | float | bool


class TooLongError(Exception):
    """The program needs more registers or steps than there are."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Term:
    """`type`: the step's compute type. `arg` as in Step. Make terms by the functions below, which keep them unique."""

    op: str
    type: str
    args: tuple[Term, ...] = ()
    source: str = ""
    arg: int | float | bool | str = 0
    need: int = 1  # registers, were it computed alone and nothing shared
    loads: bool = False  # whether it reads an operand

    @property
    def result(self) -> str:
        """The type of the register that holds it."""
        return STEPS[self.op].result or self.type

    def __add__(self, other: Term | Number) -> Term:
        return term("add", self, other)

    def __radd__(self, other: Number) -> Term:
        return term("add", other, self)

    def __sub__(self, other: Term | Number) -> Term:
        return term("sub", self, other)

    def __rsub__(self, other: Number) -> Term:
        return term("sub", other, self)

    def __mul__(self, other: Term | Number) -> Term:
        return term("mul", self, other)

    def __rmul__(self, other: Number) -> Term:
        return term("mul", other, self)

    def __truediv__(self, other: Term | Number) -> Term:
        return term("div", self, other)

    def __rtruediv__(self, other: Number) -> Term:
        return term("div", other, self)

    def __neg__(self) -> Term:
        return term("neg", self)

    def __and__(self, other: Term | Number) -> Term:
        return term("and", self, other)

    def __or__(self, other: Term | Number) -> Term:
        return term("or", self, other)

    def __xor__(self, other: Term | Number) -> Term:
        return term("xor", self, other)

    def __invert__(self) -> Term:
        return term("not", self)


_unique: dict[tuple[Any, ...], weakref.ref[Term]] = {}
"""By the fields that make a term what it is; an entry goes with its term. (A WeakValueDictionary takes three times as long.)"""


def make(op: str, type: str, args: tuple[Term, ...] = (), source: str = "", arg: Any = 0) -> Term:
    """The term with these fields; -0.0, 0.0 and 0 are different literals."""
    key = (op, type, tuple(map(id, args)), source, repr(arg))
    known = _unique.get(key)
    found = None if known is None else known()
    if found is None:
        wants = sorted((a.need for a in args), reverse=True)
        need = max([n + i for i, n in enumerate(wants)] + [len(args) + 1])
        reads = op == "load" or any(a.loads for a in args)
        found = Term(op, type, args, source, arg, need, reads)
        _unique[key] = weakref.ref(found, functools.partial(_forget, key))
    return found


def _forget(key: tuple[Any, ...], dead: weakref.ref[Term]) -> None:
    if _unique.get(key) is dead:  # else a term with the same fields was made meanwhile
        del _unique[key]


def term(op: str, *args: Term | Number, type: str = "") -> Term:
    """Applies a step. Numbers become literals of the compute type, which is `type` or that of the operands."""
    if not type:
        row = STEPS[op]
        type = next(
            a.result
            for i, a in enumerate(args)
            if isinstance(a, Term) and not (row.reads and row.reads[i])
        )
    typed = tuple(a if isinstance(a, Term) else literal(a, type) for a in args)
    neutral = NEUTRAL.get((op, type))
    if neutral is not None:
        for a, other in (typed, typed[::-1]):
            if a.op == "literal" and a.arg == neutral:
                return other
    return make(op, type, typed)


NEUTRAL: Final = {
    ("add", "i64"): 0,
    ("mul", "i64"): 1,
    ("and", "bool"): True,
    ("or", "bool"): False,
}
"""Literals that change nothing; floats have none that keeps every bit."""


def literal(value: Number, type: str) -> Term:
    if type in ("f32", "f64"):
        return make("literal", type, arg=float(value))
    return make("literal", type, arg=bool(value) if type == "bool" else int(value))


def load(operand: int, dtype: str) -> Term:
    return make("load", register(dtype), arg=operand)


def index(axis: int) -> Term:
    """The coordinate on `axis` of the element being computed."""
    return make("index", "i64", arg=axis)


def select(condition: Term, a: Term | Number, b: Term | Number) -> Term:
    kind = next(x.result for x in (a, b) if isinstance(x, Term))
    return term("select", condition, a, b, type=kind)


def eq(a: Term, b: Term | Number) -> Term:
    return term("eq", a, b)


def lt(a: Term | Number, b: Term | Number) -> Term:
    return term("lt", a, b)


def le(a: Term | Number, b: Term | Number) -> Term:
    return term("le", a, b)


def cast(x: Term, to: str) -> Term:
    """To another register type: float to integer saturates, to bool is != 0."""
    return x if x.result == to else make("cast", to, (x,), source=x.result)


def stored(x: Term, dtype: str) -> Term:
    """What a load of a `dtype` value reads after `x` was stored in it: the step that keeps fusing exact."""
    if dtype in ("f16", "bf16"):
        return x if _is_narrow(x, dtype) else make("round", "f32", (x,), arg=dtype)
    if dtype in INTEGERS and dtype not in ("i64", "u64"):
        return x if _is_narrow(x, dtype) else make("wrap", "i64", (x,), arg=dtype)
    return x


def _is_narrow(x: Term, dtype: str) -> bool:
    return x.op in ("round", "wrap") and x.arg == dtype


def register(dtype: str) -> str:
    """The register type that a value of `dtype` is loaded as.

    Raises:
        KeyError: `dtype` needs `unpack` first.
    """
    row = DTYPES[dtype]
    if row.packed:
        raise KeyError(dtype)
    return row.register


def walk(outputs: Sequence[Term]) -> list[Term]:
    """All terms, each after its arguments; of two arguments the one that needs more registers comes first."""
    order: list[Term] = []
    placed: set[Term] = set()
    for root in outputs:
        stack: list[tuple[Term, bool]] = [(root, False)]
        while stack:
            t, ready = stack.pop()
            if t in placed:
                continue
            if ready:
                placed.add(t)
                order.append(t)
                continue
            stack.append((t, True))
            stack += [(a, False) for a in sorted(t.args, key=lambda a: a.need)]
    return order


def _last_uses(order: Sequence[Term]) -> dict[Term, int]:
    """Where in `order` each term is read last."""
    last: dict[Term, int] = {}
    for at, t in enumerate(order):
        for a in (t, *t.args):
            last[a] = at
    return last


def registers(outputs: Sequence[Term]) -> int:
    """How many `compile_terms` uses."""
    order = walk(outputs)
    dying = [0] * len(order)
    for at in _last_uses(order).values():
        dying[at] += 1
    live = most = 0
    for dead in dying:
        live += 1
        most = max(most, live)
        live -= dead
    return most


def compile_terms(outputs: Sequence[Term]) -> tuple[Step, ...]:
    """Steps that compute and store the outputs in order. No step writes a register that it reads.

    Raises:
        TooLongError: over 16 registers or 256 steps.
    """
    order = walk(outputs)
    last = _last_uses(order)
    stores: dict[Term, list[int]] = {}
    for i, root in enumerate(outputs):
        stores.setdefault(root, []).append(i)
    steps: list[Step] = []
    free = list(range(REGISTERS))
    where: dict[Term, int] = {}
    for at, t in enumerate(order):
        if not free:
            raise TooLongError(f"more than {REGISTERS} registers")
        where[t] = free.pop(0)
        steps.append(Step(t.op, t.type, where[t], tuple(where[a] for a in t.args), t.source, t.arg))
        for i in stores.get(t, ()):
            steps.append(Step("store", t.result, 0, (where[t],), "", i))
        dead = {a for a in (t, *t.args) if last[a] == at}
        free = sorted(free + [where[a] for a in dead])
    if len(steps) > MAX_STEPS:
        raise TooLongError(f"{len(steps)} steps, at most {MAX_STEPS}")
    return tuple(steps)


def read_terms(steps: Sequence[Step]) -> list[Term]:
    """The outputs of a program as terms."""
    registers: dict[int, Term] = {}
    outputs: dict[int, Term] = {}
    for s in steps:
        args = tuple(registers[a] for a in s.args)
        if s.op == "store":
            outputs[int(s.arg)] = args[0]
        else:
            registers[s.dst] = make(s.op, s.type, args, s.source, s.arg)
    return [outputs[i] for i in range(len(outputs))]


def substitute(outputs: Sequence[Term], what: Mapping[Term, Term]) -> list[Term]:
    """The outputs with some terms replaced."""
    done = dict(what)
    for t in walk(outputs):
        if t not in done:
            args = tuple(done[a] for a in t.args)
            done[t] = t if args == t.args else make(t.op, t.type, args, t.source, t.arg)
    return [done[t] for t in outputs]


def loads(outputs: Sequence[Term]) -> list[Term]:
    """In the order of their operands."""
    return sorted((t for t in walk(outputs) if t.op == "load"), key=lambda t: int(t.arg))

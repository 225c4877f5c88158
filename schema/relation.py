"""The relations of a row (`where=`): read once, evaluated here, and as codes for C (core/relation.c), from one tree.

A relation is a Python expression over names of the shape line and attributes: a dimension is its extent, a run the list
of its extents, an attribute its number or list (a float its floor). Arithmetic goes element by element, a number with
every element; two lists must be equally long, which is how a row says "as long as". A number outside 64 bits breaks the
relation. `a // b` is 0 and `a % b` is a where b is not positive; `a or b` is b where a is 0 or empty.

What is not known yet (extents while the file is verified, operands that are absent) makes the relation hold; `given` asks
whether an operand is there.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

CODES: Final = (
    "end", "small", "number", "dim", "int", "word", "float", "run", "list", "dims", "dtype", "bits", "format", "block",
    "groups", "empty", "given", "len", "product", "drop", "take", "in", "within", "add", "sub", "mul", "div", "mod", "min", "max", "or",
    "eq", "ne", "ge", "le",
)  # fmt: skip
"""What a code may be; the position is the number in the C table. A tree is (code, arguments ...)."""

Tree = tuple[Any, ...]
_BINARY: Final = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "div", ast.Mod: "mod", ast.Or: "or",
    ast.Eq: "eq", ast.NotEq: "ne", ast.GtE: "ge", ast.LtE: "le",
}  # fmt: skip
OF_PORT: Final = ("dtype", "bits", "format", "block", "groups", "empty", "given")
OF_ATTR: Final = ("int", "word", "float", "list", "dims")
OF_LIST: Final = ("len", "product", "drop", "take")
LIMIT: Final = 1 << 63


@dataclasses.dataclass(frozen=True, slots=True)
class Names:
    """What a relation may name: dimensions and runs of the line, attributes by kind (and an enum's words), ports."""

    dims: tuple[str, ...]
    runs: tuple[str, ...]
    attrs: Mapping[str, str]
    words: Mapping[str, tuple[str, ...]]
    ports: tuple[str, ...]
    formats: Mapping[str, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """What a relation is evaluated on, by name; what is not there is not known. `empty`: of ports. `same(a, b)`: ==.
    `settle(kind, a, b)`, kind eq or le: asked of two symbols, or a symbol and a number, that a relation compares, where it is no
    part of an `or` and no limit that the row has of its own: whether the relation holds, or is seen to elsewhere."""

    dims: Mapping[str, Any]
    runs: Mapping[str, Sequence[Any]]
    attrs: Mapping[str, Any]
    ports: Mapping[str, Mapping[str, Any]]
    same: Callable[[Any, Any], Any]
    settle: Callable[[str, Any, Any], bool] | None = None


class Broken(Exception):
    """A relation that does not hold: `got` and `expected` of the comparison, `at` its element (-1: not one of several)."""

    def __init__(self, got: Any, expected: Any, at: int = -1) -> None:
        super().__init__(got, expected, at)
        self.got, self.expected, self.at = got, expected, at


def parse(text: str, names: Names) -> Tree:
    """The tree of one relation.

    Raises:
        ValueError: it is none of the language; the message names the part.
    """
    try:
        body = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        raise ValueError(f"{text!r} is no expression") from None
    return _Reader(names).tree(body)


class _Reader:
    def __init__(self, names: Names) -> None:
        self.names = names

    def tree(self, e: ast.expr) -> Tree:
        number = _constant(e)
        if number is not None:
            return ("number", number)
        if isinstance(e, ast.Name):
            return self.name(e.id)
        if isinstance(e, ast.Compare):
            return self.comparison(e)
        if isinstance(e, ast.BoolOp) and type(e.op) in _BINARY:
            first, *rest = [self.tree(v) for v in e.values]
            return functools.reduce(lambda a, b: ("or", a, b), rest, first)
        if isinstance(e, ast.BinOp) and type(e.op) in _BINARY:
            return (_BINARY[type(e.op)], self.tree(e.left), self.tree(e.right))
        if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub):
            return ("sub", ("number", 0), self.tree(e.operand))
        if isinstance(e, ast.Subscript) and isinstance(e.slice, ast.Slice):
            return self.part(e.value, e.slice)
        if isinstance(e, ast.Call) and isinstance(e.func, ast.Name):
            return self.call(e.func.id, e.args)
        raise ValueError(f"{ast.unparse(e)!r} is not in the language")

    def name(self, name: str) -> Tree:
        n = self.names
        found = [kind for kind, known in (("dim", n.dims), ("run", n.runs)) if name in known]
        kinds = {
            "int": "int",
            "bool": "word",
            "enum": "word",
            "float": "float",
            "ints": "list",
            "floats": "list",
        }
        found += [kinds.get(n.attrs[name], n.attrs[name])] if name in n.attrs else []
        if len(found) != 1 or found[0] not in CODES:
            raise ValueError(f"{name!r} names {len(found)} things that a relation can speak of")
        return (found[0], name)

    def part(self, value: ast.expr, part: ast.Slice) -> Tree:
        ends = [(code, e) for code, e in (("drop", part.lower), ("take", part.upper)) if e]
        if part.step or len(ends) != 1:
            raise ValueError(f"{ast.unparse(part)!r}: expected [n:] or [:n]")
        return (ends[0][0], self.listed(value), self.tree(ends[0][1]))

    def listed(self, e: ast.expr) -> Tree:
        tree = self.tree(e)
        if tree[0] not in ("run", "list", "dims"):
            raise ValueError(f"{ast.unparse(e)!r}: expected the name of a list")
        return tree

    def call(self, name: str, args: list[ast.expr]) -> Tree:
        if name in OF_PORT and len(args) == 1 and isinstance(args[0], ast.Name):
            if args[0].id not in self.names.ports:
                raise ValueError(f"{args[0].id!r} is no input or output of one value")
            return (name, args[0].id)
        if name in ("len", "product") and len(args) == 1:
            return (name, self.listed(args[0]))
        if name not in ("min", "max") or len(args) != 2:
            raise ValueError(f"{name}() is not in the language")
        return (name, *map(self.tree, args))

    def comparison(self, e: ast.Compare) -> Tree:
        first, *others = e.left, *e.comparators
        if len(others) == 2 and all(isinstance(op, ast.LtE) for op in e.ops):
            return ("within", self.tree(others[0]), self.tree(first), self.tree(others[1]))
        if len(others) != 1:
            raise ValueError(f"{ast.unparse(e)!r}: expected one comparison, or a <= x <= b")
        left, op = self.tree(first), e.ops[0]
        if left[0] in ("dtype", "word", "format"):
            words = self.words(left, others[0])
            if words is not None:
                test = ("in", left, words)
                return test if isinstance(op, ast.In | ast.Eq) else ("eq", test, ("number", 0))
        if type(op) not in _BINARY:
            raise ValueError(f"{ast.unparse(e)!r}: expected ==, !=, <=, >= or a <= x <= b")
        return (_BINARY[type(op)], left, self.tree(others[0]))

    def words(self, left: Tree, e: ast.expr) -> tuple[str, ...] | None:
        """The words that a type, format or enum is compared with; None: it is compared with a number."""
        given = e.elts if isinstance(e, ast.Tuple) else [e]
        if not all(isinstance(word, ast.Name) for word in given):
            return None
        words = tuple(word.id for word in given if isinstance(word, ast.Name))
        known = {"word": self.names.words.get(left[1], ()), "format": tuple(self.names.formats)}
        if left[0] in known and not set(words) <= set(known[left[0]]):
            raise ValueError(f"{words}: expected some of {known[left[0]]}")
        return words


def _constant(e: ast.expr) -> int | None:
    """The value of arithmetic over numbers alone."""
    if any(
        not isinstance(part, ast.BinOp | ast.UnaryOp | ast.Constant | ast.operator | ast.unaryop)
        for part in ast.walk(e)
    ):
        return None
    value = eval(compile(ast.Expression(e), "where", "eval"), {"__builtins__": {}})  # numbers only
    return value if isinstance(value, int) else None


_ARITHMETIC: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.floordiv, "mod": operator.mod,
    "min": min, "max": max,
}  # fmt: skip

_COMPARISON: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "ne": operator.ne, "ge": operator.ge, "le": operator.le, "in": lambda word, words: word in words,
}  # fmt: skip


# --- evaluation ---------------------------------------------------------------------------------------------------------


def check(tree: Tree, known: Known) -> None:
    """Evaluates a relation; what cannot be decided holds.

    Raises:
        Broken: it does not hold.
    """
    related = tree[0] == "eq" or (tree[0] in ("ge", "le", "within") and tree[-1][0] != "number")
    evaluation = _Evaluation(known if related else dataclasses.replace(known, settle=None))
    if not _all(evaluation.value(tree)):
        raise evaluation.broken or Broken(0, 1)


def _all(value: Any) -> bool:
    return all(map(_truth, value)) if isinstance(value, tuple) else _truth(value)


def _truth(value: Any) -> bool:
    """Whether it is not 0; an unknown or undecided one counts as true."""
    try:
        return value is None or bool(value)
    except TypeError:
        return True


class _Evaluation:
    """Values are numbers (or symbols that calculate like them), tuples of them, or None: not known."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.broken: Broken | None = None

    def value(self, tree: Tree) -> Any:
        code, *args = tree
        if code == "number":
            return args[0]
        if code in ("dim", "run"):
            return (self.known.dims if code == "dim" else self.known.runs).get(args[0])
        if code in OF_PORT:
            return self.known.ports.get(args[0], {}).get(code)
        if code in OF_ATTR:
            return self.attribute(code, args[0])
        if code == "in":
            left = self.value(args[0])
            return None if left is None else self.compare("in", left, args[1])
        values = [self.value(arg) for arg in args]
        if code in OF_LIST:
            return None if None in values else getattr(self, code)(*values)
        if code == "or":
            return self.either(*values)
        return self.each(code, *values)

    def attribute(self, code: str, name: str) -> Any:
        value = self.known.attrs.get(name)
        if code == "float" and value is not None:
            if math.isnan(value):
                raise Broken(0, 1)
            return math.floor(max(-(2.0**62), min(value, 2.0**62)))
        if code == "word" and not isinstance(value, str):
            return None if value is None else int(value)
        return tuple(value) if code in ("list", "dims") and value is not None else value

    def len(self, of: Any) -> int:
        return len(of)

    def product(self, of: Any) -> Any:
        if None in of:
            return None
        return functools.reduce(lambda a, b: self.arithmetic("mul", a, b), of, 1)

    def drop(self, of: Any, n: Any) -> Any:
        return of[self.place(of, n) :]

    def take(self, of: Any, n: Any) -> Any:
        return of[: self.place(of, n)]

    def place(self, of: Any, n: Any) -> int:
        if not _is_number(n):
            raise Broken(n, "a number")
        if not 0 <= n <= len(of):
            raise Broken(n, len(of))
        return int(n)

    def either(self, a: Any, b: Any) -> Any:
        if a == ():
            return b
        if a is None or b is None:
            return None
        return self.each("or", a, b)

    def each(self, code: str, *values: Any) -> Any:
        lengths = [len(v) for v in values if isinstance(v, tuple)]
        if lengths and min(lengths) != max(lengths):
            raise Broken(lengths[0], lengths[-1])
        if None in values:
            return None
        if not lengths:
            return self.one(code, *values, at=-1)
        rows = zip(*(v if isinstance(v, tuple) else (v,) * lengths[0] for v in values), strict=True)
        made = tuple(self.one(code, *row, at=i) for i, row in enumerate(rows))
        return 1 if not made and code in ("eq", "ne", "ge", "le", "within") else made

    def one(self, code: str, *values: Any, at: int) -> Any:
        if None in values:
            return None
        if code == "or":
            return values[0] if not _decided_zero(values[0]) else values[1]
        if code in ("eq", "ne", "ge", "le", "within"):
            return self.compare(code, *values, at=at)
        return self.arithmetic(code, *values)

    def compare(self, code: str, got: Any, *expected: Any, at: int = -1) -> Any:
        if code == "within":
            low, high = expected
            return self.compare("ge", got, low, at=at) and self.compare("le", got, high, at=at)
        want = expected[0]
        if self.known.settle is not None and not (_is_number(got) and _is_number(want)):
            holds = self.settled(code, got, want)
        else:
            holds = (self.known.same if code == "eq" else _COMPARISON[code])(got, want)
        if not _truth(holds):
            self.broken = Broken(got, want, at)
        return int(_truth(holds))

    def settled(self, code: str, got: Any, want: Any) -> bool:
        assert self.known.settle is not None
        a, b = (want, got) if code == "ge" else (got, want)
        return self.known.settle("eq" if code == "eq" else "le", a, b)

    def arithmetic(self, code: str, a: Any, b: Any) -> Any:
        if code in ("div", "mod") and _is_number(b) and b <= 0:
            return 0 if code == "div" else a
        if code in ("min", "max") and not (_is_number(a) and _is_number(b)):
            return None  # symbols: nothing to say
        value = _ARITHMETIC[code](a, b)
        if _is_number(value) and not -LIMIT <= value < LIMIT:
            raise Broken(a, b)
        return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int)


def _decided_zero(value: Any) -> bool:
    return _is_number(value) and value == 0

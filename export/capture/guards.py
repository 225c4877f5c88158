"""Guards of torch.export: conditions on sizes under which the traced graph is the module. They become bounds and checks.

A guard is Python text like `L['x'].size()[0] % 2 == 0`. Any boolean formula over integer sizes is one comparison: of the measures
m <= 0, "and" takes the maximum and "or" the minimum.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import sympy

from ..graph.bounds import MOST, Bounds, symbol
from ..sizes import Check, Extent, extents

Size = Callable[[str, int], Extent]
"""The size of an axis of an input, by the input's name in the traced graph."""


class InexpressibleError(Exception):
    """A guard is no formula over integer sizes."""


@dataclasses.dataclass(slots=True)
class Reader:
    """Reads guards. `names`: tracer's symbols; `inputs`: names of the user's inputs in order."""

    names: Mapping[str, Extent]
    inputs: list[str]
    size: Size
    divisors: list[Extent] = dataclasses.field(default_factory=list)

    def checks(self, guard: str, text: str) -> list[Check]:
        """The guard as relations that must all hold.

        Raises:
            InexpressibleError: it is no formula over integer sizes.
        """
        self.divisors.clear()
        try:
            parsed = ast.parse(guard.strip(), mode="eval").body
        except SyntaxError as error:
            raise InexpressibleError(str(error)) from error
        found = [self._check(part, text) for part in _conjuncts(parsed)]
        return [Check("le", 1, b, text) for b in self.divisors] + found

    def _check(self, node: ast.expr, text: str) -> Check:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = node.left, node.comparators[0]
            if isinstance(node.ops[0], ast.Eq):
                if _is_remainder(left) and _is_zero(right):
                    assert isinstance(left, ast.BinOp)
                    divisor = self.number(left.right)
                    self._divides(divisor)
                    return Check("divides", divisor, self.number(left.left), text)
                return Check("eq", self.number(left), self.number(right), text)
            if isinstance(node.ops[0], ast.LtE):
                return Check("le", self.number(left), self.number(right), text)
            if isinstance(node.ops[0], ast.GtE):
                return Check("le", self.number(right), self.number(left), text)
        return Check("le", self._measure(node, True), 0, text)

    def _measure(self, node: ast.expr, wanted: bool) -> Extent:
        """At most 0 where the formula is `wanted`."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self._measure(node.operand, not wanted)
        if isinstance(node, ast.BoolOp):
            parts = [self._measure(v, wanted) for v in node.values]
            both = isinstance(node.op, ast.And) == wanted
            return extents.extent((sympy.Max if both else sympy.Min)(*parts))
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return 0 if node.value == wanted else 1
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            difference = extents.sub(self.number(node.left), self.number(node.comparators[0]))
            kind = type(node.ops[0])
            return _distance(kind if wanted else OPPOSITE[kind], difference)
        raise InexpressibleError(ast.unparse(node))

    def number(self, node: ast.expr) -> Extent:
        """An integer expression.

        Raises:
            InexpressibleError: it is none.
        """
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name) and node.id in self.names:
            return self.names[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return extents.mul(-1, self.number(node.operand))
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            a, b = self.number(node.left), self.number(node.right)
            if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
                self._divides(b)
            return ARITHMETIC[type(node.op)](a, b)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            a, b = self.number(node.left), self.number(node.right)
            if isinstance(b, int) and 0 <= b <= 8:
                return extents.product([a] * b)
        if isinstance(node, ast.Call):
            return self._call(node)
        return self._axis(node)

    def _divides(self, b: Extent) -> None:
        if isinstance(b, int) and b <= 0:
            raise InexpressibleError(f"division by {b}")
        if not isinstance(b, int):
            self.divisors.append(b)

    def _call(self, node: ast.Call) -> Extent:
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in ("floor", "ceil", "FloorToInt", "CeilToInt") and isinstance(
            node.args[0], ast.BinOp
        ):
            inner = node.args[0]
            if isinstance(inner.op, ast.Div):
                a, b = self.number(inner.left), self.number(inner.right)
                self._divides(b)
                return (extents.floordiv if "loor" in name else extents.ceildiv)(a, b)
        if name == "storage_offset":
            return 0  # inputs are dense
        if name not in CALLS:
            raise InexpressibleError(ast.unparse(node))
        args = [self.number(a) for a in node.args]
        for b in args[1:] if name not in ("max", "min", "Max", "Min") else ():
            self._divides(b)
        return CALLS[name](*args)

    def _axis(self, node: ast.expr) -> Extent:
        """`L['x'][0].size()[1]`: the path is an input, whose name in the traced graph is the path joined."""
        m = PATH.fullmatch(ast.unparse(node))
        if m is None:
            raise InexpressibleError(ast.unparse(node))
        keys = [a or b for a, b in KEYS.findall(m["path"])]
        if keys[0] == "flat_args":
            name = self.inputs[int(keys[1])]
        else:
            joined = re.sub(r"[^a-zA-Z0-9]", "_", "_".join(keys)).lower()
            name = next((n for n in self.inputs if n.lower() == joined), "")
        if not name:
            raise InexpressibleError(ast.unparse(node))
        return self.size(name, int(m["axis"]))


PATH: Final = re.compile(r"L(?P<path>(?:\[[^\]]+\])+)\.size\(\)\[(?P<axis>\d+)\]")
KEYS: Final = re.compile(r"\[(?:'([^']*)'|(\d+))\]")
ARITHMETIC: Final[dict[type, Callable[[Any, Any], Extent]]] = {
    ast.Add: extents.add,
    ast.Sub: extents.sub,
    ast.Mult: extents.mul,
    ast.FloorDiv: extents.floordiv,
    ast.Mod: extents.mod,
}
CALLS: Final[dict[str, Callable[..., Extent]]] = {
    "max": lambda *x: extents.extent(sympy.Max(*x)),
    "min": lambda *x: extents.extent(sympy.Min(*x)),
    "Max": lambda *x: extents.extent(sympy.Max(*x)),
    "Min": lambda *x: extents.extent(sympy.Min(*x)),
    "FloorDiv": extents.floordiv,
    "CleanDiv": extents.floordiv,
    "CeilDiv": extents.ceildiv,
    "Mod": extents.mod,
    "PythonMod": extents.mod,
    "ModularIndexing": lambda x, d, m: extents.mod(extents.floordiv(x, d), m),
}
OPPOSITE: Final[dict[type, type]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
}


def _distance(kind: type, difference: Extent) -> Extent:
    """At most 0 where `difference` compares with 0 as `kind` says."""
    away = extents.extent(sympy.Max(difference, -difference))
    of: dict[type, Extent] = {
        ast.Eq: away,
        ast.NotEq: extents.sub(1, away),
        ast.LtE: difference,
        ast.Lt: extents.add(difference, 1),
        ast.GtE: extents.mul(-1, difference),
        ast.Gt: extents.sub(1, difference),
    }
    if kind not in of:
        raise InexpressibleError(kind.__name__)
    return of[kind]


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for v in node.values for part in _conjuncts(v)]
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        ends = [node.left, *node.comparators]
        return [
            ast.Compare(a, [op], [b])
            for a, op, b in zip(ends[:-1], node.ops, ends[1:], strict=True)
        ]
    return [node]


def _is_remainder(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value == 0


def settle(sizes: Mapping[str, tuple[int, int]], checks: Iterable[Check]) -> Bounds:
    """Checks of one size against a number become its bounds; those that always hold, or came before, go."""
    limits = dict(sizes)
    rest: list[Check] = []
    for check in checks:
        if isinstance(check.a, int) and isinstance(check.b, int) and _always(check, limits):
            continue
        bound = _bound(check)
        if bound is not None and bound[0] in limits:
            name, least, most = bound
            a, b = limits[name]
            limits[name] = (max(a, least), min(b, most))
        else:
            rest.append(check)
    kept: list[Check] = []
    for check in rest:
        again = any(_same(check, k) for k in kept)
        if not again and not _always(check, limits):
            kept.append(check)
    return Bounds(limits, tuple(kept))


def _same(a: Check, b: Check) -> bool:
    return a.kind == b.kind and extents.same(a.a, b.a) and extents.same(a.b, b.b)


def _bound(check: Check) -> tuple[str, int, int] | None:
    """(name, least, most) where the check is a linear inequality in one size."""
    if check.kind != "le":
        return None
    m = sympy.expand(sympy.sympify(check.a) - check.b)
    names = list(m.free_symbols)
    if len(names) != 1 or not m.is_polynomial(names[0]) or sympy.degree(m, names[0]) != 1:
        return None
    k, c = m.coeff(names[0], 1), m.coeff(names[0], 0)
    if not (k.is_Integer and c.is_Integer):
        return None
    name, k, c = str(names[0]), int(k), int(c)
    return (name, 0, -c // k) if k > 0 else (name, -(c // k), MOST)


def _always(check: Check, limits: Mapping[str, tuple[int, int]]) -> bool:
    """Proved for all sizes within the limits."""
    if check.kind == "divides":
        return extents.same(extents.mod(check.b, check.a), 0) if check.a != 0 else False
    if check.kind == "eq":
        return extents.same(check.a, check.b)
    assumed = {
        symbol(n): sympy.Symbol(f"{n}+", integer=True, nonnegative=True) + least
        for n, (least, _) in limits.items()
    }
    a, b = (extents.extent(sympy.sympify(x).xreplace(assumed)) for x in (check.a, check.b))
    return extents.at_most(a, b)

"""A small matcher: patterns are written as `onnx_text` writes graphs, and matched backward from their last statement.

    pattern("e = Erf(Div(x, 1.41421356)); y = Mul(Mul(x, Add(e, 1)), 0.5)")

A name that a statement defines is that statement's output; any other name captures a value, the same one wherever it
stands. Numbers match constants of one element (relative error 1e-4, for those who wrote sqrt(2) short), lists match constant
integers, `None` an absent input, `...` any further inputs, keywords attributes (or their defaults). Operands of Add, Mul, And, Or,
Max and Min match in either order. Values inside a match may have other users: those keep the old nodes.
"""

from __future__ import annotations

import ast
import dataclasses
import math
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import onnx
import onnx_ir as ir

from .. import graph as g

COMMUTATIVE: Final = frozenset({"Add", "Mul", "And", "Or", "Max", "Min"})
TOLERANCE: Final = 1e-4


@dataclasses.dataclass(frozen=True, slots=True)
class Var:
    name: str


@dataclasses.dataclass(frozen=True, slots=True)
class Number:
    value: float


@dataclasses.dataclass(frozen=True, slots=True)
class Ints:
    values: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Call:
    """`rest`: further inputs may follow. `name`: captures the output."""

    op_type: str
    inputs: tuple[Pattern | None, ...]
    attributes: tuple[tuple[str, Any], ...]
    rest: bool
    name: str


Pattern: TypeAlias = Var | Number | Ints | Call
Found = dict[str, ir.Value]


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """`values` by name; `nodes` in graph order, the root last."""

    values: Found
    nodes: tuple[ir.Node, ...]

    @property
    def root(self) -> ir.Node:
        return self.nodes[-1]

    def __getitem__(self, name: str) -> ir.Value:
        return self.values[name]


def pattern(text: str) -> Call:
    """Reads statements; the last one is the root."""
    known: dict[str, Call] = {}
    root: Call | None = None
    for statement in ast.parse(text.replace(";", "\n").replace("\n ", "\n")).body:
        assert isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call), text
        name = ast.unparse(statement.targets[0])
        root = known[name] = _call(statement.value, known, name)
    assert root is not None, "a pattern has a statement"
    return root


def _call(tree: ast.Call, known: dict[str, Call], name: str) -> Call:
    rest = (
        bool(tree.args) and isinstance(tree.args[-1], ast.Constant) and tree.args[-1].value is ...
    )
    inputs = tuple(_part(a, known) for a in (tree.args[:-1] if rest else tree.args))
    attributes = tuple((k.arg or "", ast.literal_eval(k.value)) for k in tree.keywords)
    return Call(ast.unparse(tree.func), inputs, attributes, rest, name)


def _part(tree: ast.expr, known: dict[str, Call]) -> Pattern | None:
    if isinstance(tree, ast.Call):
        return _call(tree, known, "")
    if isinstance(tree, ast.Name):
        return known.get(tree.id) or Var(tree.id)
    literal = ast.literal_eval(tree)
    if literal is None:
        return None
    return Ints(tuple(literal)) if isinstance(literal, list) else Number(float(literal))


def matches(model: ir.Model, *patterns: Call) -> Iterator[Match]:
    """Matches in graph order, at each node the first pattern that fits. The graph may be rewritten between two matches."""
    roots = {p.op_type for p in patterns}
    for node in list(g.nodes(model)):
        if node.op_type in roots and node.graph is not None:
            found = match(node.outputs[0], *patterns)
            if found is not None:
                yield found


def match(value: ir.Value, *patterns: Call) -> Match | None:
    """How the first fitting pattern makes `value`, or None."""
    for p in patterns:
        for values, nodes in _fit(p, value, {}, ()):
            return Match(values, tuple(dict.fromkeys(nodes)))
    return None


State = tuple[Found, tuple[ir.Node, ...]]


def _fit(
    p: Pattern | None, value: ir.Value | None, found: Found, nodes: tuple[ir.Node, ...]
) -> Iterator[State]:
    """All ways in which `p` makes `value`, given what was found already."""
    if value is None or p is None:
        if value is None and p is None:
            yield found, nodes
    elif isinstance(p, Var):
        if found.get(p.name, value) is value:
            yield {**found, p.name: value}, nodes
    elif isinstance(p, Number):
        number = g.scalar(value)
        if number is not None and math.isclose(number, p.value, rel_tol=TOLERANCE):
            yield found, nodes
    elif isinstance(p, Ints):
        if g.ints(value) == list(p.values):
            yield found, nodes
    elif p.name and p.name in found:
        if found[p.name] is value:
            yield found, nodes
    else:
        yield from _fit_call(p, value, found, nodes)


def _fit_call(
    p: Call, value: ir.Value, found: Found, nodes: tuple[ir.Node, ...]
) -> Iterator[State]:
    node = value.producer()
    if (
        node is None
        or not g.is_op(node, p.op_type)
        or value.index() != 0
        or not _same_attributes(p, node)
    ):
        return
    inputs = list(node.inputs)
    if p.rest:
        inputs = inputs[: len(p.inputs)]
    while len(inputs) > len(p.inputs) and inputs[-1] is None:
        inputs.pop()
    if len(inputs) != len(p.inputs):
        return
    orders = [inputs]
    if p.op_type in COMMUTATIVE and len(inputs) == 2 and inputs[0] is not inputs[1]:
        orders.append(inputs[::-1])
    for order in orders:
        if all(map(_may_fit, p.inputs, order)):
            for values, used in _fit_all(p.inputs, order, found, nodes):
                yield ({**values, p.name: value} if p.name else values), (*used, node)


def _may_fit(p: Pattern | None, value: ir.Value | None) -> bool:
    """False where the operator that makes the value is another: most nodes end here, before anything is searched."""
    if not isinstance(p, Call) or value is None:
        return True
    node = value.producer()
    return node is not None and node.op_type == p.op_type


def _fit_all(
    ps: tuple[Pattern | None, ...],
    values: list[ir.Value | None],
    found: Found,
    nodes: tuple[ir.Node, ...],
) -> Iterator[State]:
    if not ps:
        yield found, nodes
        return
    for inner, used in _fit(ps[0], values[0], found, nodes):
        yield from _fit_all(ps[1:], values[1:], inner, used)


def _same_attributes(p: Call, node: ir.Node) -> bool:
    for name, wanted in p.attributes:
        got = g.attr(node, name)
        if got is None:
            default = onnx.defs.get_schema(p.op_type, g.OPSET, "").attributes[name].default_value
            got = onnx.helper.get_attribute_value(default) if default.type else None
            got = got.decode() if isinstance(got, bytes) else got
        if got != wanted and not (
            isinstance(wanted, list) and got is not None and list(got) == wanted
        ):
            return False
    return True

"""Random models: one to six nodes in a chain and beside it, some in subgraphs, some spoilt on purpose."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from typing import Any, Final

import onnx
from graphs import networks, rare  # noqa: F401  (they enter their operators)
from graphs.bodies import BODIES, branch, d_of
from graphs.draft import DTYPES, Draft, UnfitError
from graphs.families import USES
from graphs.finish import Case, finish
from onnx import helper

OPSETS: Final = (
    7,
    8,
    9,
    10,
    11,
    12,
    13,
    13,
    14,
    15,
    16,
    17,
    18,
    18,
    19,
    20,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
    28,
)
TRIES: Final = 12
HUGE: Final = (-1, 0, 1, 2, 7, 100, 2**31, -(2**63), 2**63 - 1)


def case(rng: random.Random, only: str = "") -> Case:
    """A model; `only`: the operator of its last node."""
    d = Draft(rng, rng.choice(OPSETS))
    wanted = rng.choice((1, 1, 2, 2, 3, 4, 6))
    for k in range(wanted):
        grow(d, only if k == wanted - 1 else "")
    spoilt = spoil(d) if rng.random() < 0.15 else ""
    if not d.nodes:
        return case(rng, only)
    return finish(d, spoilt)


def of_each(times: int) -> Iterator[tuple[int, str]]:
    """Seeds of models that end in each operator, so many of each."""
    for op in sorted(map(str, USES)):
        yield from ((zlib.crc32(f"{op} {k}".encode()), op) for k in range(times))


def grow(d: Draft, only: str = "") -> None:
    """Adds a node that the reference can run."""
    if not only and d.chance(0.08 if not d.prefix else 0.04):
        before = dict(d.arrays), list(d.inputs), dict(d.constants), list(d.nodes)
        try:
            (d.pick(BODIES) if not d.prefix else branch)(d, grow)
        except UnfitError:
            d.arrays, d.inputs, d.constants, d.nodes = before
        return
    for _ in range(TRIES):
        op = only or str(d.pick(tuple(USES)))
        before = dict(d.arrays), list(d.inputs), dict(d.constants)
        try:
            d.schema(op)
            inputs, attrs, outputs = USES[op](d, op)
            d.add(op, inputs, attrs, outputs)
            return
        except UnfitError:
            d.arrays, d.inputs, d.constants = before


# --- spoilt on purpose --------------------------------------------------------------------------------------------------


def spoil(d: Draft) -> str:
    """Changes the last node so that it need not be valid; says how."""
    if not d.nodes:
        return ""
    node = d.nodes[-1]
    way = d.pick((operand, operand, number, number, absent, surplus))
    return str(way(d, node))


def operand(d: Draft, node: onnx.NodeProto) -> str:
    """An operand of another dtype or shape."""
    places = [i for i, n in enumerate(node.input) if n in d.arrays]
    if not places:
        return ""
    at = d.pick(places)
    old = d.arrays[node.input[at]]
    if d.chance(0.5):
        new = d.fresh(d.pick(tuple(DTYPES)), old.shape)
        node.input[at] = new
        return f"{node.op_type}: input {at} is {d.dtype_of(new)}"
    new = d.fresh(d_of(old), d.shape())
    node.input[at] = new
    return f"{node.op_type}: input {at} is {list(d.of(new))}"


def number(d: Draft, node: onnx.NodeProto) -> str:
    """An attribute out of range."""
    if node.domain:
        return operand(d, node)
    there = d.schema(node.op_type).attributes
    fit = [n for n, a in there.items() if int(a.type.value) in (1, 2, 3, 6, 7)]
    if not fit:
        return operand(d, node)
    name = d.pick(fit)
    kept = [a for a in node.attribute if a.name != name]
    old = next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), None)
    kind = int(there[name].type.value)
    value: Any
    if kind == 1:
        value = d.pick((-1.0, 0.0, 1e30, float("inf")))
    elif kind == 2:
        value = d.pick(HUGE)
    elif kind == 3:
        value = d.pick(("", "nonsense", "linear", "SAME_UPPER"))
    else:
        items = list(old or [1])
        value = d.pick(([*items, 1], items[1:], [d.pick(HUGE) for _ in items], [-n for n in items]))
        if kind == 6:
            value = [float(v) for v in value]
        if not value:
            return operand(d, node)
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])
    return f"{node.op_type}: {name} = {value!r}"


def absent(d: Draft, node: onnx.NodeProto) -> str:
    if not node.input:
        return ""
    at = d.rng.randrange(len(node.input))
    node.input[at] = ""
    return f"{node.op_type}: input {at} is absent"


def surplus(d: Draft, node: onnx.NodeProto) -> str:
    node.input.append(d.tensor(("float", "int64")))
    return f"{node.op_type}: an input more"

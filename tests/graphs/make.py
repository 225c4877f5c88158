"""Random models: one to six nodes in a chain and beside it, some in subgraphs, some spoilt on purpose."""

from __future__ import annotations

import dataclasses
import random
from typing import Any, Final

import numpy as np
import onnx
from graphs import networks  # noqa: F401  (enters its operators)
from graphs.draft import DTYPES, Array, Draft, UnfitError, initializer, value_info
from graphs.families import USES
from graphs.reference import evaluator
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


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """A model with sample inputs; `spoilt` says what is wrong with it on purpose, "" where nothing is."""

    model: onnx.ModelProto
    feeds: dict[str, Array]
    spoilt: str


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


def grow(d: Draft, only: str = "") -> None:
    """Adds a node that the reference can run."""
    if not only and not d.prefix and d.chance(0.06):
        before = dict(d.arrays), list(d.inputs), dict(d.constants), list(d.nodes)
        try:
            d.pick((branch, loop, scan))(d)
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


# --- subgraphs ----------------------------------------------------------------------------------------------------------


def body(d: Draft, prefix: str, inputs: dict[str, Array], outer: bool = True) -> Draft:
    """A subgraph that sees `inputs` and, if `outer`, some values around it."""
    inner = Draft(d.rng, d.opset, prefix)
    if outer:
        inner.arrays |= {n: d.arrays[n] for n in list(d.arrays)[-3:]}
    inner.arrays |= inputs
    return inner


def as_graph(inner: Draft, inputs: list[str], outputs: list[str]) -> onnx.GraphProto:
    if inner.inputs:
        inner.constants |= {n: inner.arrays[n] for n in inner.inputs}
    ports = [value_info(n, inner.arrays[n]) for n in inputs]
    results = [value_info(n, inner.arrays[n]) for n in outputs]
    weights = [initializer(n, a) for n, a in inner.constants.items()]
    return helper.make_graph(inner.nodes, f"{inner.prefix}body", ports, results, weights)


def branch(d: Draft) -> None:
    """If, whose branches give one value of one dtype and rank."""
    if not d.arrays:
        grow(d, "Identity")
    graphs = []
    kinds = set()
    results: list[Array] = []
    for side in ("t", "e"):
        inner = body(d, f"b{len(d.nodes)}{side}_", {})
        for _ in range(d.pick((1, 1, 2))):
            grow(inner)
        if not inner.nodes:
            raise UnfitError
        if side == "e":
            x = inner.tensor((str(d_of(results[0])),), shape=results[0].shape, constant=1.0)
            (y,) = inner.add("Identity", [x], {})
        else:
            y = inner.nodes[-1].output[0]
        results.append(inner.arrays[y])
        kinds.add((inner.arrays[y].dtype, inner.arrays[y].ndim))
        graphs.append(as_graph(inner, [], [y]))
    if len(kinds) > 1:
        raise UnfitError
    condition = d.given(np.array(d.chance(0.5)), 0.2)
    (y,) = d.add("If", [condition], {"then_branch": graphs[0], "else_branch": graphs[1]}, run=False)
    d.arrays[y] = results[0] if d.arrays[condition] else results[1]


def d_of(array: Array) -> str:
    from graphs.draft import NAMES

    return NAMES[array.dtype]


def loop(d: Draft) -> None:
    """Loop that carries a value of one shape and collects another."""
    dtype = d.dtype(("float", "int64", "int32"))
    carried = d.tensor((dtype,), 0, 3)
    prefix = f"l{len(d.nodes)}_"
    names = {
        f"{prefix}i": np.array(0, np.int64),
        f"{prefix}c": np.array(True),
        f"{prefix}v": d.arrays[carried],
    }
    inner = body(d, prefix, names, d.chance(0.5))
    grow(inner)
    op = d.pick(("Add", "Mul", "Sub", "Max")) if dtype == "float" or d.opset >= 12 else "Add"
    x = inner.like(f"{prefix}v", d.of(carried), 1.0)
    (new,) = inner.add(op, [f"{prefix}v", x], {})
    if inner.arrays[new].shape != d.of(carried):
        raise UnfitError
    row = d.pick([n for n in inner.arrays if n.startswith(prefix)])
    (go,) = inner.add("Identity", [f"{prefix}c"], {})
    (last,) = inner.add("Identity", [row], {})
    graph = as_graph(inner, list(names), [go, new, last])
    trips = d.given(np.array(d.pick((0, 1, 2, 3)), np.int64), 0.5)
    outputs = d.add("Loop", [trips, "", carried], {"body": graph}, 2, run=False)
    run_last(d, outputs)


def scan(d: Draft) -> None:
    """Scan over the first axis of a value, with a sum carried."""
    if d.opset < 9:
        raise UnfitError
    xs = d.tensor(("float", "int64"), 1, 3)
    shape = d.of(xs)[1:]
    state = d.like(xs, shape)
    prefix = f"s{len(d.nodes)}_"
    row = np.zeros(shape, d.arrays[xs].dtype)
    names = {f"{prefix}h": d.arrays[state], f"{prefix}x": row}
    inner = body(d, prefix, names, d.chance(0.3))
    (new,) = inner.add("Add", [f"{prefix}h", f"{prefix}x"], {})
    grow(inner)
    out = d.pick([n for n in inner.arrays if n.startswith(prefix)])
    (last,) = inner.add("Identity", [out], {})
    graph = as_graph(inner, list(names), [new, last])
    attrs: dict[str, Any] = {"body": graph, "num_scan_inputs": 1}
    if d.chance(0.3):
        attrs["scan_input_directions"] = [1]
    outputs = d.add("Scan", [state, xs], attrs, 2, run=False)
    run_last(d, outputs)


def run_last(d: Draft, outputs: list[str]) -> None:
    """Arrays of the last node's outputs, by the reference on all of the graph so far."""
    model = finish(d, "", outputs, typed=False).model
    try:
        with np.errstate(all="ignore"):
            results = evaluator(model).run(None, {n: d.arrays[n] for n in d.inputs})
    except Exception as error:
        raise UnfitError from error
    for name, result in zip(outputs, results, strict=True):
        d.arrays[name] = np.asarray(result)


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


# --- the model -----------------------------------------------------------------------------------------------------------


def finish(d: Draft, spoilt: str, outputs: list[str] | None = None, typed: bool = True) -> Case:
    """The model: values that nobody reads are outputs, and sometimes others."""
    read = {n for node in d.nodes for n in node.input} | inner_reads(d.nodes)
    made = [n for node in d.nodes for n in node.output if n]
    if outputs is None:
        outputs = [n for n in made if n not in read or (d.chance(0.1) and not spoilt)]
    shapes = symbolic(d) if outputs and d.chance(0.35) else {}
    ports = [value_info(n, d.arrays[n], shapes.get(n)) for n in d.inputs]
    results = [
        onnx.ValueInfoProto(name=n) if spoilt or not typed else value_out(d, n) for n in outputs
    ]
    weights = [initializer(n, a) for n, a in d.constants.items()]
    graph = helper.make_graph(d.nodes, "random", ports, results, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", d.opset)])
    model.ir_version = 10
    return Case(model, {n: d.arrays[n] for n in d.inputs}, spoilt)


def value_out(d: Draft, name: str) -> onnx.ValueInfoProto:
    array = d.arrays[name]
    return helper.make_tensor_value_info(name, DTYPES[d_of(array)][0], [None] * array.ndim)


def inner_reads(nodes: list[onnx.NodeProto]) -> set[str]:
    out: set[str] = set()
    for node in nodes:
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                out |= {n for inner in a.g.node for n in inner.input} | inner_reads(list(a.g.node))
                out |= {o.name for o in a.g.output}
    return out


def symbolic(d: Draft) -> dict[str, list[int | str]]:
    """Axes of inputs by name: equal extents may share one."""
    out: dict[str, list[int | str]] = {}
    for name in d.inputs:
        axes: list[int | str] = list(d.of(name))
        for i, n in enumerate(axes):
            if d.chance(0.4):
                axes[i] = f"s{n}" if d.chance(0.6) else f"{name}_{i}"
        out[name] = axes
    return out

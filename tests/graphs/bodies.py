"""Graphs inside graphs, and what is no tensor: If, Loop, Scan, functions of the model, sequences, optionals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import onnx
from graphs.draft import NAMES, Array, Draft, UnfitError, initializer, value_info
from graphs.finish import finish
from graphs.reference import evaluator
from graphs.sized import scaled
from onnx import helper

Grow = Callable[..., None]
"""Adds a node to a draft (make.grow)."""


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


def d_of(array: Array) -> str:
    return NAMES[array.dtype]


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
        if d.arrays[name].dtype not in NAMES:
            raise UnfitError


# --- control ----------------------------------------------------------------------------------------------------------------


def branch(d: Draft, grow: Grow) -> None:
    """If, whose branches give one or two values of one dtype and rank."""
    if not d.arrays:
        grow(d, "Identity")
    sides: list[Draft] = []
    results: list[list[str]] = []
    count = d.pick((1, 1, 2))
    for side in ("t", "e"):
        inner = body(d, f"{d.prefix}b{len(d.nodes)}{side}_", {})
        for _ in range(d.pick((1, 1, 2, 3))):
            grow(inner)
        if not inner.nodes:
            raise UnfitError
        made = [n for node in inner.nodes for n in node.output]
        if not sides:
            results.append([d.pick(made) for _ in range(count)])
        else:
            same = [_alike(inner, sides[0].arrays[n]) for n in results[0]]
            results.append([inner.add("Identity", [x], {})[0] for x in same])
        sides.append(inner)
    graphs = [as_graph(s, [], names) for s, names in zip(sides, results, strict=True)]
    condition = d.given(np.array(d.chance(0.5)), 0.2)
    attrs = {"then_branch": graphs[0], "else_branch": graphs[1]}
    outputs = d.add("If", [condition], attrs, count, run=False)
    taken = 0 if d.arrays[condition] else 1
    for y, name in zip(outputs, results[taken], strict=True):
        d.arrays[y] = sides[taken].arrays[name]


def _alike(d: Draft, array: Array) -> str:
    """A value of its dtype and rank, sometimes of other sizes."""
    if d.chance(0.2):
        shape = tuple(d.extent() for _ in array.shape)
        return d.tensor((d_of(array),), shape=shape, constant=1.0)
    return d.tensor((d_of(array),), shape=array.shape, constant=1.0)


def loop(d: Draft, grow: Grow) -> None:
    """Loop that carries a value of one shape and collects another; ends by its count, or by a condition that it computes."""
    dtype = d.dtype(("float", "int64", "int32"))
    carried = d.tensor((dtype,), 0, 3)
    prefix = f"{d.prefix}l{len(d.nodes)}_"
    i, c, v = (f"{prefix}{x}" for x in "icv")
    names = {i: np.array(0, np.int64), c: np.array(True), v: d.arrays[carried]}
    inner = body(d, prefix, names, d.chance(0.5))
    grow(inner)
    op = d.pick(("Add", "Mul", "Sub", "Max")) if dtype == "float" or d.opset >= 12 else "Add"
    (new,) = inner.add(op, [v, inner.like(v, d.of(carried), 1.0)], {})
    if inner.arrays[new].shape != d.of(carried):
        raise UnfitError
    row = d.pick([n for n in inner.arrays if n.startswith(prefix)])
    ends = d.chance(0.3) and d.opset >= 9
    if ends:
        limit = inner.given(np.array(d.pick((0, 1, 2)), np.int64), 1.0)
        (go,) = inner.add("Less", [i, limit], {})
    else:
        (go,) = inner.add("Identity", [c], {})
    (last,) = inner.add("Identity", [row], {})
    graph = as_graph(inner, list(names), [go, new, last])
    trips = d.given(np.array(d.pick((0, 1, 2, 3)), np.int64), 0.5)
    first = d.given(np.array(d.chance(0.8)), 0.5) if d.chance(0.3) else ""
    outputs = d.add(
        "Loop",
        ["" if ends and d.chance(0.5) else trips, first, carried],
        {"body": graph},
        2,
        run=False,
    )
    run_last(d, outputs)


def scan(d: Draft, grow: Grow) -> None:
    """Scan over an axis of one or two values, with a sum carried."""
    if d.opset < 9:
        raise UnfitError
    xs = d.tensor(("float", "int64"), 1, 3)
    axis = d.rng.randrange(len(d.of(xs))) if d.chance(0.3) else 0
    shape = d.of(xs)[:axis] + d.of(xs)[axis + 1 :]
    state = d.like(xs, shape)
    prefix = f"{d.prefix}s{len(d.nodes)}_"
    names = {f"{prefix}h": d.arrays[state], f"{prefix}x": np.zeros(shape, d.arrays[xs].dtype)}
    inputs, axes = [state, xs], [axis]
    if d.chance(0.25):
        second = d.fresh("float", (d.of(xs)[axis], *d.shape(0, 2)))
        names[f"{prefix}z"] = np.zeros(d.of(second)[1:], np.float32)
        inputs, axes = [*inputs, second], [*axes, 0]
    inner = body(d, prefix, names, d.chance(0.3))
    (new,) = inner.add("Add", [f"{prefix}h", f"{prefix}x"], {})
    grow(inner)
    out = d.pick([n for n in inner.arrays if n.startswith(prefix)])
    (last,) = inner.add("Identity", [out], {})
    rank = inner.arrays[last].ndim
    graph = as_graph(inner, list(names), [new, last])
    attrs: dict[str, Any] = {"body": graph, "num_scan_inputs": len(axes)}
    if any(axes) or d.chance(0.2):
        attrs["scan_input_axes"] = axes
    if d.chance(0.3):
        attrs["scan_input_directions"] = [d.pick((0, 1)) for _ in axes]
    if d.chance(0.2):
        attrs["scan_output_axes"] = [d.rng.randint(0, rank)]
    if d.chance(0.2):
        attrs["scan_output_directions"] = [1]
    run_last(d, d.add("Scan", inputs, attrs, 2, run=False))


# --- functions ----------------------------------------------------------------------------------------------------------------


def function(d: Draft, grow: Grow) -> None:
    """A node of a function that the model brings, of one to three nodes; one attribute may be the caller's."""
    inner = body(d, f"{d.prefix}f{len(d.nodes)}_", {})
    outer = set(inner.arrays)
    for _ in range(d.pick((1, 2, 3))):
        grow(inner)
    if not inner.nodes or any(
        a.type == onnx.AttributeProto.GRAPH for n in inner.nodes for a in n.attribute
    ):
        raise UnfitError
    made = [n for node in inner.nodes for n in node.output if n]
    read = sorted({n for node in inner.nodes for n in node.input if n})
    operands = [n for n in read if n in outer or n in inner.constants or n in inner.inputs]
    for n in operands:
        if n not in outer:
            d.arrays[n] = inner.arrays[n]
            if n in inner.constants:
                d.constants[n] = inner.arrays[n]
            else:
                d.inputs.append(n)
    results = [made[-1]] if d.chance(0.7) else made[-2:]
    attrs, referred = {}, []
    node = inner.nodes[0]
    if node.attribute and d.chance(0.4):
        a = node.attribute[0]
        attrs["given"] = helper.get_attribute_value(a)
        reference = onnx.AttributeProto(name=a.name, type=a.type, ref_attr_name="given")
        node.attribute.remove(a)
        node.attribute.append(reference)
        referred = ["given"]
    name = f"F{len(d.functions)}"
    d.functions.append(
        helper.make_function(
            "own", name, operands, results, inner.nodes, [helper.make_opsetid("", d.opset)], referred,
        )
    )  # fmt: skip
    outputs = [f"{d.prefix}n{len(d.nodes)}_{i}" for i in range(len(results))]
    d.nodes.append(
        helper.make_node(
            name, operands, outputs, name=f"{name}_{len(d.nodes)}", domain="own", **attrs
        )
    )
    for y, n in zip(outputs, results, strict=True):
        d.arrays[y] = inner.arrays[n]


# --- what is no tensor ----------------------------------------------------------------------------------------------------------


def sequence(d: Draft, grow: Grow) -> None:
    """A sequence that is made, perhaps changed, and read again."""
    if d.opset < 11:
        raise UnfitError
    x = d.tensor(("float", "int64", "float16"), 1, 3)
    axis = d.axis(len(d.of(x)))
    if d.chance(0.5):
        sizes = d.ints(d.pick((1, 2))) if d.chance(0.6) else ""
        attrs = {"axis": axis} | ({"keepdims": 0} if d.chance(0.3) else {})
        (made,) = d.add("SplitToSequence", [x, sizes], attrs, run=False)
    else:
        parts = [x, *(d.like(x, d.of(x)) for _ in range(d.pick((0, 1, 2))))]
        (made,) = d.add("SequenceConstruct", parts, {}, run=False)
    if d.chance(0.15):
        (made,) = d.add("SequenceInsert", [made, d.like(x, d.of(x))], {}, run=False)
    way = d.pick(("at", "at", "concat", "stack", "length"))
    if way == "at":
        outputs = d.add("SequenceAt", [made, d.ints(d.pick((0, 0, -1, 1)))], {}, run=False)
    elif way == "length":
        outputs = d.add("SequenceLength", [made], {}, run=False)
    else:
        attrs = {"axis": axis} | ({"new_axis": 1} if way == "stack" else {})
        outputs = d.add("ConcatFromSequence", [made], attrs, run=False)
    run_last(d, outputs)


def optional(d: Draft, grow: Grow) -> None:
    if d.opset < 15:
        raise UnfitError
    (made,) = d.add("Optional", [d.tensor(("float", "int64"))], {}, run=False)
    op = d.pick(("OptionalGetElement", "OptionalHasElement"))
    run_last(d, d.add(op, [made], {}, run=False))


BODIES: Final = (
    *(branch, branch, loop, loop, scan, function, function, sequence, optional),
    *(scaled, scaled, scaled),
)

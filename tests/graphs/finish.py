"""A draft as a model: its border, symbolic sizes, functions."""

from __future__ import annotations

import dataclasses

import onnx
from graphs.draft import DTYPES, NAMES, Array, Draft, initializer, value_info
from graphs.sized import symbolic
from onnx import helper


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """A model with sample inputs; `spoilt` says what is wrong with it on purpose, "" where nothing is."""

    model: onnx.ModelProto
    feeds: dict[str, Array]
    spoilt: str


def finish(d: Draft, spoilt: str, outputs: list[str] | None = None, typed: bool = True) -> Case:
    """The model: values that nobody reads are outputs, and sometimes others."""
    read = {n for node in d.nodes for n in node.input} | inner_reads(d.nodes)
    made = [n for node in d.nodes for n in node.output if n]
    if outputs is None:
        outputs = [
            n for n in made if n not in read or (d.chance(0.1) and not spoilt and n in d.arrays)
        ]
    shapes = symbolic(d) if outputs and d.chance(0.35) else {}
    ports = [value_info(n, d.arrays[n], shapes.get(n)) for n in d.inputs]
    results = [
        onnx.ValueInfoProto(name=n) if spoilt or not typed else value_out(d, n) for n in outputs
    ]
    weights = [initializer(n, a) for n, a in d.constants.items()]
    graph = helper.make_graph(d.nodes, "random", ports, results, weights)
    opsets = [helper.make_opsetid("", d.opset)]
    if d.functions:
        opsets.append(helper.make_opsetid("own", 1))
    model = helper.make_model(graph, opset_imports=opsets, functions=d.functions)
    model.ir_version = 10
    return Case(model, {n: d.arrays[n] for n in d.inputs}, spoilt)


def value_out(d: Draft, name: str) -> onnx.ValueInfoProto:
    array = d.arrays[name]
    return helper.make_tensor_value_info(name, DTYPES[NAMES[array.dtype]][0], [None] * array.ndim)


def inner_reads(nodes: list[onnx.NodeProto]) -> set[str]:
    out: set[str] = set()
    for node in nodes:
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                out |= {n for inner in a.g.node for n in inner.input} | inner_reads(list(a.g.node))
                out |= {o.name for o in a.g.output}
    return out

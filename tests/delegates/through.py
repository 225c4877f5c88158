"""From a case of integer nodes to a program with a delegate, and what the tests ask of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
from delegates.integer_cases import Case
from numpy.typing import NDArray

import pteron
from pteron.export import graph as g
from pteron.export.delegates import Delegate
from pteron.export.delegates.partition import partition
from pteron.export.file.emit import emit_bytes
from pteron.export.graph import int8 as integer
from pteron.export.lower import lower
from pteron.export.optimize.fuse import fuse
from pteron.export.optimize.share import share
from pteron.export.pack import pack
from pteron.export.plan import plan
from pteron.export.program import Program

Array = NDArray[Any]
ANY = (
    "Conv",
    "Linear",
    "Add",
    "AveragePool",
    "Rescale",
    "MaxPool",
    "Transpose",
    "Reshape",
    "Flatten",
    "Squeeze",
    "Unsqueeze",
)
"""Operators that are worth a segment here: all, so that each kind of node reaches the delegate alone."""


def model_of(case: Case) -> ir.Model:
    """The case as a model; its nodes move into it."""
    constants: list[ir.Value] = []
    for node in case.nodes:
        for i, value in enumerate(node.inputs):
            if value is None or value.const_value is None:
                continue
            tensor = value.const_value
            twin = ir.Value(
                name=f"{node.outputs[0].name}.constant{i}",
                shape=g.sizes(tensor),
                type=ir.TensorType(tensor.dtype),
                const_value=tensor,
            )
            node.replace_input_with(i, twin)
            constants.append(twin)
    opsets = {"": g.OPSET, integer.DOMAIN: integer.VERSION}
    graph = ir.Graph(
        list(case.inputs), list(case.outputs), nodes=case.nodes, initializers=constants,
        opset_imports=opsets, name="case",
    )  # fmt: skip
    return ir.Model(graph, ir_version=g.IR_VERSION)


def program_of(
    case: Case, delegates: Sequence[Delegate], policy: str = "forbid", heavy: Sequence[str] = ANY
) -> Program:
    model = model_of(case)
    rows = partition(model, delegates, policy, heavy=heavy)
    program = share(lower(model))
    program = plan(pack(fuse(program), []))
    return dataclasses.replace(program, placements=tuple(rows))


def feeds(case: Case) -> dict[str, Array]:
    return {str(v.name): a for v, a in zip(case.inputs, case.arrays, strict=True)}


def differences(model: pteron.Model, case: Case, expected: Sequence[Array]) -> int:
    """Bytes of the outputs that are not as expected; outputs of another size count whole."""
    got = list(model.run(feeds(case)).values())
    wrong = 0
    for y, want in zip(got, expected, strict=True):
        same = y.shape == want.shape and y.dtype == want.dtype
        wrong += int(np.count_nonzero(y != want)) if same else want.size
    return wrong


def file_of(program: Program) -> bytes:
    return emit_bytes(program)


def hold(
    run: Callable[..., object],
    compiled: Callable[[Case], bytes],
    cases: Mapping[str, Case],
    folder: Path,
) -> None:
    """Every case gives the bytes of schema/meaning/int8.py.

    Args:
        run: A driver's `run` of folders with payload and in0, in1 ..., which writes out0, out1 ... beside them.
    """
    for name, case in cases.items():
        (folder / name).mkdir()
        (folder / name / "payload").write_bytes(compiled(case))
        for i, array in enumerate(case.arrays):
            (folder / name / f"in{i}").write_bytes(array.tobytes())
    run(*(folder / name for name in cases))
    for name, case in cases.items():
        for i, want in enumerate(case.expected()):
            got = np.frombuffer((folder / name / f"out{i}").read_bytes(), np.int8)
            wrong = int((got != want.ravel()).sum())
            assert wrong == 0, f"{name}, output {i}: {wrong} of {want.size} differ"

"""What the exporter's verifier and the runtime say of a program."""

from __future__ import annotations

import math
import warnings
from typing import Final
from unittest import mock

import numpy as np
import pytest
from program import op_samples, samples

from pteron.export.file import emit, tables
from pteron.export.file.emit import emit_bytes
from pteron.export.plan import Memory
from pteron.export.plan.lifetimes import with_capacities
from pteron.export.program import Method, Program
from pteron.export.sizes.expressions import Expressions
from pteron.export.verify import Refusal, check
from pteron.export.verify.points import Points
from pteron.schema.dtypes import DTYPES
from pteron.schema.errors import ArgumentError, DelegateError, LimitError, ProgramError, PteronError

runtime = pytest.importorskip(
    "pteron.runtime.session", reason="needs the built module pteron._pteron"
)

model = pytest.importorskip("pteron.runtime.model", reason="needs the built module pteron._pteron")
CORRECT: Final = {
    **{f"op {name}": (lambda name=name: op_samples.program(name)) for name in op_samples.CASES},
    **samples.SAMPLES,
}


def refusal(program: Program) -> str:
    try:
        check(program)
    except Refusal as error:
        return str(error) or "refused"
    return ""


def answer_of_c(program: Program) -> tuple[str, str]:
    """(stage, text): "emit" or "open" refused it; "prepare", at all points; "sizes" do not fit; "" is taken."""
    try:
        data = emit_bytes(program)
    except Exception as error:  # emit's own refusals, of programs that no pass makes
        return "emit", repr(error)
    try:
        opened = runtime.Program(data, delegates=())
    except ProgramError as error:
        return "open", str(error)
    answers = [answer_at(program, opened, sizes) for sizes in points(program)]
    return next((a for a in answers if a[0] == ""), answers[0])


def answer_at(program: Program, opened: runtime.Program, sizes: dict[str, int]) -> tuple[str, str]:
    """What prepare says for these sizes."""
    try:
        for method in program.methods:
            session = runtime.Session(opened, method.name, max_bytes=1 << 28)
            session._prepare(arrays(program, method, sizes))
    except ProgramError as error:
        return "prepare", str(error)
    except (ArgumentError, LimitError, DelegateError, MemoryError, ValueError) as error:
        return "sizes", str(error)
    return "", ""


def points(program: Program) -> list[dict[str, int]]:
    """The sizes that the verifier tries."""
    hints = [{d.name: d.hint for d in program.dims}]
    try:
        return Points(program).sizes or hints
    except Refusal:
        return hints


def arrays(program: Program, method: Method, sizes: dict[str, int]) -> list[np.ndarray]:
    """Inputs for these sizes of the dimensions; shape inputs say them."""
    exprs = Expressions([d.name for d in program.dims])
    ports = [program.values[port.value] for port in method.inputs]
    rows = [[exprs.add(e) for e in v.shape] for v in ports]
    table = exprs.evaluate(with_capacities(program.dims, sizes))
    out = []
    for k, (v, axes) in enumerate(zip(ports, rows, strict=True)):
        shape = tuple(table[r] for r in axes)
        if math.prod(max(n, 1) for n in shape) > 1 << 24:
            raise LimitError(f"input {v.name}: {shape} is too large to make")
        x = np.zeros(shape, DTYPES[v.dtype].numpy)
        for d in program.dims:
            if d.kind == "shape" and d.port == k and d.element < x.size:
                x.reshape(-1)[d.element] = sizes[d.name]
        out.append(x)
    return out


def answer(program: Program) -> str:
    """C's, of load or the run of any method, inputs being ones and names of sizes 1. The writer's own refusals are off."""
    off = mock.patch.object(emit, "measure", lambda program, method: Memory(0, 0, 0))
    with warnings.catch_warnings(), off, mock.patch.object(tables, "MAX_STEPS", 4096):
        warnings.simplefilter("ignore")
        try:
            data = emit.emit_bytes(program)
            for method in program.methods:
                ports = [program.values[p.value] for p in method.inputs]
                shapes = [[n if isinstance(n, int) else 1 for n in v.shape] for v in ports]
                feeds = [
                    np.ones(s, DTYPES[v.dtype].numpy) for s, v in zip(shapes, ports, strict=True)
                ]
                model.load(data, method=method.name, threads=1)(*feeds)
            return "" if program.methods else str(model.load(data))
        except PteronError as error:
            return str(error)

"""What a row says holds of every program that runs: bent programs of every operator are refused or do no harm.

`bent` (rows.py) changes ranks, extents, types, attributes, operands and views of a correct program. Each copy is opened,
prepared and run under the sanitizers; none crashes, hangs, or runs beyond its deadline.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy
from program import op_samples, rows
from program.samples import one_method, unary
from program.sanitized import driver

import pteron
from pteron.export.file.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import Block, Instr, Program, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol

EACH = 40
POOL = {"kernel": (1, 1), "stride": (1, 1), "dilation": (1, 1), "begin": (0, 0)}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return driver("many", tmp_path_factory.mktemp("many"))


def test_bent_programs_of_every_row_do_no_harm(many: Path) -> None:
    cases = [(name, rows.bent(name, i)[0]) for name in op_samples.CASES for i in range(EACH)]
    cases += [(name, program) for name in op_samples.CASES for program in rows.each(name)]
    totals, lines, complaints = rows.send(many, (program for _, program in cases))
    assert totals["crashes"] + totals["hangs"] + totals["broken"] == 0, complaints[:4000]
    assert totals["cases"] == len(lines) == len(cases)
    ran = {name for (name, _), line in zip(cases, lines, strict=True) if line.startswith("3")}
    assert ran == set(op_samples.CASES), "an operator of which no bent program ran"
    assert totals["opened"] > len(cases) // 10 and totals["refused"] > len(cases) // 4


def load(
    values: list[Value], instrs: list[Instr], inputs: list[int], outputs: list[int], **more: object
) -> pteron.Model:
    program: Program = one_method(values, [Block(tuple(instrs))], inputs, outputs, **more)
    return pteron.load(emit_bytes(plan(program)), threads=1)


@pytest.mark.parametrize(
    "op, attrs", [("max_pool", POOL), ("average_pool", POOL | {"end": (0, 0)}), ("resize", {})]
)
def test_an_output_has_as_many_axes_as_its_row_says(op: str, attrs: dict[str, object]) -> None:
    values = [
        Value("x", "f32", (1, 2, 2, 64), "input", 0),
        Value("y", "f32", (1, 2, 64), "output", 0),
    ]
    outputs = (1, None) if op == "max_pool" else (1,)
    with pytest.raises(
        pteron.ProgramError, match=f"{op}: y0?: differs from what the row says, got 1, expected 2"
    ):
        load(values, [Instr(op, (0,), outputs, attrs)], [0], [1])


@pytest.mark.parametrize("count", [-1, 9, 2**40, -(2**63)])
@pytest.mark.parametrize("rank", [7, 8])
def test_an_attribute_takes_no_more_axes_than_there_are(count: int, rank: int) -> None:
    values = [
        Value("x", "f32", (1,) * rank, "input", 0),
        Value("gain", "f32", (1,) * rank, "input", 1),
        Value("y", "f32", (1,) * rank, "output", 0),
    ]
    with pytest.raises(pteron.ProgramError, match=f"rms_norm: x: expected rank 9, got {rank}"):
        load(values, [Instr("rms_norm", (0, 1), (2,), {"count": count})], [0, 1], [2])


@pytest.mark.parametrize("mode", ["wrap", "reflect"])
def test_a_kernel_counts_into_counted_dimensions_only(mode: str) -> None:
    values = [
        Value("x", "f32", (5,), "input", 0),
        Value("", "i64", (1, 5)),
        Value("y", "i64", (1, 7), "output", 0),
    ]
    instrs = [
        Instr("nonzero", (0,), (1,)),
        Instr("pad", (1,), (2,), {"begin": (0, 1), "mode": mode}),
    ]
    with pytest.raises(pteron.ProgramError, match="nonzero: axis 1 is not a counted dimension"):
        load(values, instrs, [0], [2])
    count = Dim("count", "counted", min=0, capacity=sympy.Integer(5))
    values[1] = Value("", "i64", (symbol(count), 5))
    with pytest.raises(pteron.ProgramError, match="nonzero: axis 0 is a counted dimension"):
        load(values, instrs, [0], [2], dims=(count,))


def test_a_size_that_divides_by_zero_is_refused() -> None:
    n = Dim("n", min=0, max=10, hint=2)
    values = [Value("x", "f32", (symbol(n), 2), "input", 0), Value("y", "i64", (1,), "output", 0)]
    sizes = {"values": (sympy.floor(sympy.Integer(12) / symbol(n)),)}
    model = load(values, [Instr("dims", (), (1,), sizes)], [0], [1], dims=(n,))
    assert model.run({"x": np.zeros((4, 2), np.float32)})["y"].tolist() == [3]
    with pytest.raises(pteron.ArgumentError, match="attribute values at 0: divides by zero"):
        model.run({"x": np.zeros((0, 2), np.float32)})


@pytest.mark.parametrize("strides", [(1, 1), (0, 1), (1, 0), (2, 2), (-1, 1)])
def test_a_written_view_names_each_element_once(strides: tuple[int, int]) -> None:
    values = [
        Value("x", "f32", (2, 2), "input", 0),
        Value("", "f32", (8,)),
        Value("", "f32", (2, 2), "view", 1, strides, 2),
        Value("y", "f32", (8,), "output", 0),
    ]
    with pytest.raises(pteron.ProgramError, match="expanded or overlaps itself"):
        load(values, [Instr("copy", (0,), (2,)), Instr("copy", (1,), (3,))], [0], [3]).run(
            {"x": np.zeros((2, 2), np.float32)}
        )


@pytest.mark.parametrize("strides", [(2, 1), (1, 2), (-2, 1), (3, -1), (1, -3), (4, 2)])
def test_a_written_view_may_lie_anyhow_else(strides: tuple[int, int]) -> None:
    values = [
        Value("x", "f32", (2, 2), "input", 0),
        Value("", "f32", (8,)),
        Value("", "f32", (2, 2), "view", 1, strides, 3 if min(strides) < 0 else 0),
        Value("y", "f32", (2, 2), "output", 0),
    ]
    instrs = [Instr("copy", (0,), (2,)), Instr("pointwise", (2,), (3,), {"steps": unary("neg")})]
    x = np.float32([[1, 2], [3, 4]])
    assert np.array_equal(load(values, instrs, [0], [3]).run({"x": x})["y"], -x)

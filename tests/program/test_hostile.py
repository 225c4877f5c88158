"""Hostile files: corrupted copies of programs load and run in child processes, and none of them does harm.

For each file 1,600 single-word changes, every truncation and 2,000 changes of several bytes, each as it is and with all
digests made right again; of programs of one operator every third of these, and all in `make test-rows`. Expected: no crash, no hang, no request for memory above the cap, and every refusal names a place.
"""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
import sympy
from program import mutate, op_samples, samples
from program.sanitized import ROOT, driver

import pteron
from pteron.export.file.emit import emit_bytes
from pteron.export.file.tables import Tables
from pteron.export.program import Block, Instr, Method, Port, Program, Value
from pteron.export.sizes.expressions import symbol
from pteron.schema.dtypes import DTYPES
from pteron.schema.layout import DType
from pteron.schema.ops import OPS
from pteron.schema.signature import RULES, signature
from pteron.schema.steps import Step


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return driver("hostile", tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("programs")
    samples.write(out)
    op_samples.write(out)
    return out


def check(hostile: Path, file: Path, every: int = 1) -> None:
    totals = mutate.attack(hostile, file, every=every)
    if every > 1 and not totals["ran"]:  # of some programs hardly any copy runs
        totals = mutate.attack(hostile, file)
    complaints = totals.pop("complaints")
    bad = {k: v for k, v in totals.items() if k in ("crashes", "hangs", "broken") and v}
    assert not bad, f"{file.name}: {totals}\n{complaints[:6000]}"
    assert totals["ran"] > 0, f"{file.name}: no copy ran: {totals}"


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_corrupted_programs_do_no_harm(name: str, hostile: Path, folder: Path) -> None:
    check(hostile, folder / f"{name}.pte")


IMAGES = (np.load(ROOT / "examples/digits/test.npz")["image"][:64] / 16).astype(np.float32)
DIGITS: Final[dict[str, dict[str, Any]]] = {
    "nf4_exact": {"quantize": "nf4", "activations": "float"},
    "nf4_int8": {"quantize": "nf4", "activations": "int8-block"},
    "static_int8": {"quantize": "int8", "calibrate": {"image": IMAGES}},
}


@pytest.mark.parametrize("name", DIGITS)
def test_corrupted_quantized_programs_do_no_harm(name: str, hostile: Path, folder: Path) -> None:
    """The digit classifier: convolutions and a product of stored weights, decoded, by blocks and all in integers."""
    file = folder / f"digits_{name}.pte"
    pteron.export_model(ROOT / "examples/digits/digits.onnx", file, **DIGITS[name])
    check(hostile, file)


def alone(hostile: Path, folder: Path, *programs: Program) -> str:
    """What programs are refused for, as they are."""
    case, pairs = folder / "alone.cases", list[Path]()
    case.write_bytes(mutate.record(2**31, 0, []))
    for i, program in enumerate(programs):
        file = folder / f"alone{i}.pte"
        file.write_bytes(emit_bytes(program))
        pairs += [file, case]
    timeout_s = 20 + len(programs)
    done = subprocess.run([hostile, *pairs], capture_output=True, text=True, timeout=timeout_s)
    totals = [json.loads(line) for line in done.stdout.splitlines()]
    bad = sum(t[what] for t in totals for what in ("crashes", "hangs", "broken"))
    assert len(totals) == len(programs) and bad == 0, done.stderr
    return done.stderr


def wide(instructions: int) -> Program:
    """Instructions that share one list of 300 operands: small in the file, large to walk."""
    steps = (Step("load", "f32", 0), Step("store", "f32", args=(0,)))
    values = [Value("x", "f32", (4,), "input", 0), Value("y", "f32", (4,), "output", 0)]
    instr = Instr("pointwise", (0,) * 300, (1,), {"steps": steps})
    method = Method("main", (Port("x", 0),), (Port("y", 1),), (0, 2), 0)
    return Program(
        "wide", values=tuple(values), blocks=(Block((instr,) * instructions),), methods=(method,)
    )


def test_work_is_bounded_by_the_size_of_the_file(
    hostile: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert alone(hostile, folder, wide(1)) == ""
    assert "lists share" not in alone(hostile, folder, wide(2000))  # emit sees to that
    monkeypatch.setattr(Tables, "are_walked", lambda self, size_bytes: True)
    assert "shared lists outgrow" in alone(hostile, folder, wide(20000))


def test_a_number_that_grows_without_end_is_refused(hostile: Path, folder: Path) -> None:
    program = samples.pointwise()
    n = symbol(samples.N)
    huge = n
    for _ in range(28):  # fits in 64 bits for n = 1, not for n = 3
        huge = sympy.Mul(huge, n + 3, evaluate=False)
    values = list(program.values)
    values[3] = dataclasses.replace(values[3], shape=(huge, 3))
    dims = (dataclasses.replace(samples.N, hint=1),)
    program = dataclasses.replace(program, values=tuple(values), dims=dims)
    assert alone(hostile, folder, program).startswith("case 0: ")


@pytest.mark.slow
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.rows)])
@pytest.mark.parametrize("name", op_samples.CASES)
def test_corrupted_operators_do_no_harm(name: str, every: int, hostile: Path, folder: Path) -> None:
    check(hostile, folder / f"op_{name}.pte", every)


def retyped(program: Program, chosen: set[int], dtype: str) -> Program:
    """`program` with another element type of the chosen values and of their constants."""
    values, constants = list(program.values), list(program.constants)
    for v in chosen:
        values[v] = dataclasses.replace(values[v], dtype=dtype)
        if values[v].storage == "constant":
            c = constants[values[v].base]
            array = np.zeros(c.array.nbytes * DTYPES[dtype].bits // DTYPES[c.dtype].bits, np.uint8)
            constants[values[v].base] = dataclasses.replace(c, dtype=dtype, elements=array)
    return dataclasses.replace(program, values=tuple(values), constants=tuple(constants))


def of_rule(program: Program, name: str, rule: str) -> list[int]:
    """Values at the ports of that rule (W and Taps: any weight)."""
    instr, sig = program.blocks[0].instrs[0], signature(OPS[name])
    out = []
    for side, ports in ((instr.inputs, sig.inputs), (instr.outputs, sig.outputs)):
        for i, v in enumerate(side):
            if v is not None and ports[min(i, len(ports) - 1)].rule == rule:
                out.append(v)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("name", op_samples.CASES)
def test_other_element_types_are_refused_or_harmless(
    name: str, hostile: Path, folder: Path
) -> None:
    program, made = op_samples.program(name), list[Program]()
    for rule in RULES:
        values = of_rule(program, name, rule)
        choices = [set(values)] + [{v} for v in values if rule == "A"]
        for dtype in (d.name.lower() for d in DType):
            if not values or (rule in ("W", "Taps") and DTYPES[dtype].bits % 8):
                continue
            made += [retyped(program, chosen, dtype) for chosen in choices]
    alone(hostile, folder, *made)

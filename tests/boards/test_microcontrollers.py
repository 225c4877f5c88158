"""The digit classifier on emulated microcontrollers: the bytes of this machine, memory and flash, damaged programs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from boards import boards

import pteron

pytestmark = pytest.mark.boards


@dataclasses.dataclass(frozen=True)
class Case:
    """`folder` has the two files and an input; `output` is what this machine computes. `most`: KiB of flash, and of memory
    with the stack: the bars, or what it took when this was written and a little."""

    folder: Path
    output: bytes
    most: tuple[int, int]


FORMS = {"int8": (64, 32), "f32": (96, 62), "int8-replaceable": (113, 30)}


@pytest.fixture(scope="module", params=FORMS)
def model(
    request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Case:
    boards.need()
    folder = tmp_path_factory.mktemp(request.param)
    arithmetic, _, replaceable = request.param.partition("-")
    images = (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)
    how = {"quantize": "int8", "calibrate": {"image": images}} if arithmetic == "int8" else {}
    program = folder / "digits.pte"
    pteron.export_model(
        root / "examples/digits/digits.onnx", program, debug=False, fix={"batch": 1}, **how
    )
    want = pteron.load(program, threads=1)(images[:1]).tobytes()
    boards.write_model(folder, program, images[:1], len(want), replaceable=bool(replaceable))
    return Case(folder, want, FORMS[request.param])


@pytest.mark.parametrize("machine", boards.MACHINES, ids=lambda m: m.name)
def test_the_bytes_are_those_of_this_machine_in_the_memory_that_it_says(
    model: Case, machine: boards.Machine
) -> None:
    run = boards.run(machine, model.folder)
    assert run.output == model.output
    run = boards.run(machine, model.folder, memory=run.memory)
    assert run.output == model.output
    flash, memory = model.most
    print(model.folder.name, machine.name, run.flash, run.static, run.stack)
    assert run.flash < flash * 1024
    assert run.static + run.stack < memory * 1024


def test_too_little_memory_is_refused(model: Case) -> None:
    needed = boards.run(boards.MACHINES[0], model.folder).memory
    with pytest.raises(AssertionError, match=r"exit 1[\s\S]*(PTERON_MODEL_MEMORY|memory|arena)"):
        boards.run(boards.MACHINES[0], model.folder, memory=needed - 64)


def test_damaged_programs_end_in_errors_never_in_faults(model: Case) -> None:
    if "replaceable" in model.folder.name:
        run = boards.run(boards.MACHINES[0], model.folder, corrupted=1000)
        assert run.output == model.output
        assert 0 < run.taken < 1000

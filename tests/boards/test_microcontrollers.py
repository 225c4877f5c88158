"""The digit classifier on emulated microcontrollers: the bytes of this machine, memory and flash, damaged programs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import onnx
import pytest
from boards import boards, nets

import pteron

pytestmark = pytest.mark.boards


@dataclasses.dataclass(frozen=True)
class Case:
    """`folder` has the two files and an input; `output` is what this machine computes. `most`: KiB of flash, and of memory
    with the stack: what it took when this was written and a little; the bars
    for the classifier in int8 are 64 and 32."""

    folder: Path
    output: bytes
    most: tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Form:
    net: str
    most: tuple[int, int]
    quantize: str | None = None
    replaceable: bool = False


FORMS = {
    "digits-int8": Form("digits", (60, 20), "int8"),
    "digits-f32": Form("digits", (92, 55)),
    "digits-int8-replaceable": Form("digits", (113, 30), "int8", True),
    "keywords-int8": Form("keywords", (124, 50), "int8"),
    "block-f32": Form("block", (194, 42)),
    "block-nf4": Form("block", (128, 60), "nf4"),
}


def net(name: str, root: Path) -> tuple[Path | onnx.ModelProto, np.ndarray]:
    """A model, and inputs, one a row."""
    if name != "digits":
        return {"keywords": nets.keywords, "block": nets.block}[name]()
    images = np.load(root / "examples/digits/test.npz")["image"] / 16
    return root / "examples/digits/digits.onnx", images.astype(np.float32)


@pytest.fixture(scope="module", params=FORMS)
def model(
    request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> Case:
    boards.need()
    folder, form = tmp_path_factory.mktemp(request.param), FORMS[request.param]
    source, rows = net(form.net, root)
    how = {"quantize": form.quantize, "fix": {"batch": 1} if form.net == "digits" else {}}
    program = folder / "model.pte"
    if form.quantize == "int8":
        name = "image" if form.net == "digits" else "x"
        how["calibrate"] = [{name: rows[i : i + 1]} for i in range(16)]
    pteron.export_model(source, program, debug=False, **how)
    loaded = pteron.load(program, threads=1)
    want = loaded(rows[:1]).tobytes()
    boards.write_model(folder, program, rows[:1], len(want), replaceable=form.replaceable)
    return Case(folder, want, form.most)


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

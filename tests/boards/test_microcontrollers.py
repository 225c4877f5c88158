"""The digit classifier on emulated microcontrollers: the bytes of this machine, memory and flash, damaged programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from boards import boards

import pteron
from pteron.cli.amalgamate import amalgamate

pytestmark = pytest.mark.boards


@pytest.fixture(scope="module", params=["int8", "f32"])
def model(
    request: pytest.FixtureRequest, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, bytes]:
    """Arithmetic, folder with pteron_model.c, and what this machine computes."""
    boards.need()
    folder = tmp_path_factory.mktemp(request.param)
    images = (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)
    how = {"quantize": "int8", "calibrate": {"image": images}} if request.param == "int8" else {}
    program = folder / "digits.pte"
    pteron.export_model(
        root / "examples/digits/digits.onnx", program, debug=False, fix={"batch": 1}, **how
    )
    data = program.read_bytes()
    want = pteron.load(program, threads=1)(images[:1]).tobytes()
    source, header, _ = amalgamate(data, program.name, {})
    (folder / "pteron_model.c").write_text(source)
    (folder / "pteron_model.h").write_text(header)
    boards.write_input(folder, data, images[:1], len(want))
    return request.param, folder, want


MOST = {"int8": (113, 30), "f32": (156, 62)}
"""KiB of flash, and of memory with the stack: what it took when this was written, and a little."""


@pytest.mark.parametrize("machine", boards.MACHINES, ids=lambda m: m.name)
def test_the_bytes_are_those_of_this_machine_in_the_memory_that_it_says(
    model: tuple[str, Path, bytes], machine: boards.Machine
) -> None:
    name, folder, want = model
    first = boards.run(machine, folder)
    assert first.output == want
    tight = boards.run(machine, folder, memory=first.memory)
    assert tight.output == want
    flash, memory = MOST[name]
    print(name, machine.name, tight.flash, tight.static, tight.stack)
    assert tight.flash <= flash * 1024
    assert tight.static + tight.stack <= memory * 1024


def test_damaged_programs_end_in_errors_never_in_faults(model: tuple[str, Path, bytes]) -> None:
    name, folder, want = model
    if name == "int8":
        run = boards.run(boards.MACHINES[0], folder, corrupted=1000)
        assert run.output == want
        assert 0 < run.taken < 1000

"""The digit classifier on emulated microcontrollers: the bytes of this machine, memory and flash, damaged programs."""

from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from boards import boards, nets

import pteron

pytestmark = pytest.mark.slow


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


IN_CI = "digits-int8"
FORMS = {
    "digits-int8": Form("digits", (49, 20), "int8"),
    "digits-f32": Form("digits", (61, 54)),
    "digits-int8-replaceable": Form("digits", (95, 28), "int8", True),
    "keywords-int8": Form("keywords", (70, 50), "int8"),
    "block-f32": Form("block", (180, 42)),
    "block-nf4": Form("block", (67, 42), "nf4"),
}


def net(name: str, root: Path) -> tuple[Path | onnx.ModelProto, np.ndarray]:
    """A model, and inputs, one a row."""
    if name != "digits":
        return {"keywords": nets.keywords, "block": nets.block}[name]()
    images = np.load(root / "examples/digits/test.npz")["image"] / 16
    return root / "examples/digits/digits.onnx", images.astype(np.float32)


@pytest.fixture(
    scope="module",
    params=[pytest.param(f, marks=[] if f == IN_CI else pytest.mark.boards) for f in FORMS],
)
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
    pteron.export_model(source, program, strip=True, **how)
    loaded = pteron.load(program, threads=1)
    want = loaded(rows[:1]).tobytes()
    boards.write_model(folder, program, rows[:1], len(want), replaceable=form.replaceable)
    return Case(folder, want, form.most)


@pytest.mark.parametrize("machine", boards.MACHINES, ids=lambda m: m.name)
def test_the_bytes_are_those_of_this_machine_in_the_memory_that_it_says(
    model: Case, machine: boards.Machine, record_property: Callable[[str, object], None]
) -> None:
    run = boards.run(machine, model.folder)
    assert run.output == model.output
    run = boards.run(machine, model.folder, memory=run.memory)
    assert run.output == model.output
    flash, memory = model.most
    form = model.folder.name[:-1]  # pytest counts folders of a name from 0
    record_property("bytes", f"{form}, {machine.name}: {run.flash:,} bytes of flash, {run.static:,} of memory, {run.stack:,} of stack")  # fmt: skip
    assert run.flash < flash * 1024
    assert run.static + run.stack < memory * 1024


def test_too_little_memory_is_refused(model: Case) -> None:
    needed = boards.run(boards.MACHINES[0], model.folder).memory
    with pytest.raises(AssertionError, match=r"exit 1[\s\S]*(PTERON_MODEL_MEMORY|memory|arena)"):
        boards.run(boards.MACHINES[0], model.folder, memory=needed - 64)


@pytest.mark.parametrize("model", ["digits-int8-replaceable"], indirect=True)
def test_damaged_programs_end_in_errors_never_in_faults(model: Case) -> None:
    run = boards.run(boards.MACHINES[0], model.folder, corrupted=1000)
    assert run.output == model.output
    assert 0 < run.taken < 1000


def test_products_on_vectors_have_the_bits_of_the_portable_ones(tmp_path: Path) -> None:
    """Drawn tiles, taps and blocks of every format with integer sums, on Cortex-M55."""
    boards.need()
    runtime, image = boards.HERE.parents[1] / "runtime_c", tmp_path / "variants.elf"
    products = [
        *runtime.glob("kernels/gemm_int8/gemm_*__mve.c"),
        *runtime.glob("kernels/depthwise/*__mve.c"),
    ]
    products += [p.with_name(p.name.replace("mve", "portable")) for p in products]
    words = ["-DPTE_HAVE_MVE=1", f"-I{runtime}", f"-I{runtime}/include"]
    words += [f"-I{runtime.parent}/bindings/web/libc"]  # a string.h
    shared = [*runtime.glob("core/math*.c"), *runtime.glob("gen/*.c")]
    boards.link(boards.MACHINES[2], image, *words, boards.HERE / "variants.c", *products, *shared)
    assert len(products) == 6
    assert boards.sh(*boards.emulated(boards.MACHINES[2], image)) == "same\n"


@pytest.mark.parametrize("machine", boards.MACHINES, ids=lambda m: m.name)
@pytest.mark.parametrize(
    "fault", ['__asm__ volatile("udf #0")', "*(volatile int *)0xF0000000u = 1"]
)
def test_a_fault_is_no_success(machine: boards.Machine, fault: str, tmp_path: Path) -> None:
    boards.need()
    (tmp_path / "main.c").write_text(f"int main(void) {{\n  {fault};\n  return 0;\n}}\n")
    boards.link(machine, tmp_path / "it.elf", tmp_path / "main.c")
    command = boards.emulated(machine, tmp_path / "it.elf")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 99 and "FAULT" in done.stdout + done.stderr

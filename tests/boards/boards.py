"""Programs for microcontrollers: amalgamated, cross-compiled, and run under an emulator."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pteron.amalgamate import amalgamate, opened
from pteron.export.file.read import read_file
from pteron.schema.layout import Segment

HERE = Path(__file__).parent


@dataclasses.dataclass(frozen=True)
class Machine:
    """What qemu emulates, and the compiler's flags for it."""

    name: str
    emulated: str
    flags: tuple[str, ...]


MACHINES = (
    Machine("m4f", "mps2-an386", ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")),
    Machine("m7", "mps2-an500", ("-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv5-d16")),
    Machine("m55", "mps3-an547", ("-mcpu=cortex-m55", "-mfloat-abi=hard")),
)
COMMON = ("-std=c11", "-Os", "-mthumb", "-ffreestanding", "-ffp-contract=off", "-fno-math-errno", "-ffunction-sections", "-fdata-sections", "-Wall", "-Wno-unused-function", "-Werror")  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Run:
    output: bytes
    flash: int
    memory: int  # of the model
    stack: int
    static: int  # all of .data and .bss
    taken: int  # damaged programs that were opened


def need() -> None:
    missing = [t for t in ("arm-none-eabi-gcc", "qemu-system-arm") if shutil.which(t) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def sh(*command: str | Path, timeout: float = 500) -> str:
    done = subprocess.run(
        [str(c) for c in command], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, (
        f"exit {done.returncode}: {command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    )
    return done.stdout + done.stderr  # the emulator prints there what a board says


def write_model(
    folder: Path, path: Path, image: np.ndarray, output_bytes: int, *, replaceable: bool = False
) -> None:
    """pteron_model.c and .h, and input.h: what app.c is compiled with."""
    program, held = opened(path)
    made = amalgamate(program, held, path.name, replaceable=replaceable)
    (folder / "pteron_model.c").write_text(made.source)
    (folder / "pteron_model.h").write_text(made.header)
    file = read_file(program)
    entry = next(e for e in file.entries if e.kind is Segment.PROGRAM)
    at = 64 * (1 + file.entries.index(entry))
    rows = ", ".join(map(str, image.tobytes()))
    (folder / "input.h").write_text(
        f"#define OUTPUT_BYTES {output_bytes}\n#define PROGRAM_BEGIN {entry.offset}u\n"
        f"#define PROGRAM_END {entry.offset + entry.size}u\n#define PROGRAM_DIGEST {at + 24}\n"
        f"#define HEAD_END {64 * (1 + len(file.entries))}\n"
        f"static _Alignas(64) const unsigned char input[] = {{{rows}}};\n"
    )


def link(machine: Machine, out: Path, *words: str | Path) -> None:
    """`out`: start.c and what the words say, sources and flags."""
    gcc = ("arm-none-eabi-gcc", *machine.flags, *COMMON, "-nostdlib", "-Wl,--gc-sections")
    sh(*gcc, HERE / "start.c", *words, "-T", HERE / "board.ld", "-lgcc", "-o", out)


def emulated(machine: Machine, image: Path) -> list[str]:
    """The command that runs an image; its exit status is the image's."""
    how = ("-nographic", "-semihosting-config", "enable=on,target=native", "-kernel", str(image))
    return ["qemu-system-arm", "-M", machine.emulated, *how]


def run(machine: Machine, folder: Path, memory: int = 0, corrupted: int = 0) -> Run:
    """`folder` has pteron_model.c and input.h. `memory`: PTERON_MODEL_MEMORY, where given."""
    out = folder / f"{machine.name}-{memory}-{corrupted}.elf"
    size = (f"-DPTERON_MODEL_MEMORY={memory}",) if memory else ()
    link(machine, out, f"-DCORRUPTED={corrupted}", *size, f"-I{folder}", HERE / "app.c")
    said = sh(*emulated(machine, out))
    text, data, bss = map(int, sh("arm-none-eabi-size", out).splitlines()[1].split()[:3])
    found = dict(re.findall(r"(memory|stack|taken) (\d+)", said))
    return Run(
        bytes.fromhex(said.split()[0]),
        text + data,
        int(found["memory"]),
        int(found["stack"]),
        data + bss,
        int(found.get("taken", 0)),
    )

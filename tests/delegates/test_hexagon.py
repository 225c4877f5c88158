"""The Hexagon delegate: the DSP's machine code under qemu-hexagon against schema/meaning/int8.py, and DSPs and payloads that misbehave.

`hexagon_driver.c` drives the host side, under the address and undefined-behaviour sanitizers.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest
from delegates import through
from delegates.integer_cases import CASES, Case, Maker, make

from pteron.export.delegates import Segment, hexagon, hexagon_image, payload
from pteron.export.graph import int8 as integer
from pteron.schema.errors import DelegateError
from pteron.schema.meaning import int8 as arithmetic


@dataclass(frozen=True)
class Driver:
    program: Path
    image: Path

    def __call__(
        self, command: str, *words: object, ok: bool = True, image: Path | None = None, **env: str
    ) -> str:
        done = subprocess.run(
            [self.program, image or self.image, command, *map(str, words)],
            capture_output=True,
            text=True,
            env=os.environ | env,
            timeout=300,
        )
        assert (done.returncode == 0) == ok, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def driver(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    tools = {
        "clang-19": "clang-19",
        "ld.lld-19": "lld-19",
        "qemu-hexagon": "qemu-user",
        "cc": "gcc",
    }
    for tool, package in tools.items():
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}: apt-get install {package}")
    folder = tmp_path_factory.mktemp("hexagon")
    program, image = folder / "driver", folder / "hexagon_v67.elf"
    home = root / "runtime_c/delegates"
    subprocess.run(
        ["bash", home / "hexagon/dsp/build.sh", "clang-19", "ld.lld-19", image], check=True
    )
    sources = [root / "tests/delegates/hexagon_driver.c", *sorted((home / "hexagon").glob("*.c"))]
    sanitizers = "-fsanitize=address,undefined"
    flags = ("-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", sanitizers)
    subprocess.run(
        [
            *("cc", *flags, "-fno-sanitize-recover=all", f"-I{root}/runtime_c"),
            *(f"-I{root}/runtime_c/include", *sources, home / "payload.c"),
            *("-ldl", "-pthread", "-o", program),
        ],
        check=True,
    )
    return Driver(program, image)


def compiled(case: Case) -> bytes:
    return hexagon.compile_segment(Segment(case.nodes, case.inputs, case.outputs))


@pytest.fixture(scope="module")
def blob(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The payload of a residual block: convolutions, an addition, an average."""
    path = tmp_path_factory.mktemp("blob") / "payload"
    path.write_bytes(compiled(make("residual")))
    return path


# --- the same bytes -------------------------------------------------------------------------------


def hold(driver: Driver, cases: dict[str, Case], folder: Path) -> None:
    through.hold(lambda *folders: driver("run", *folders), compiled, cases, folder)


def test_every_kind_of_node_gives_the_same_bytes(driver: Driver, tmp_path: Path) -> None:
    cases = {f"{name}{seed}": make(name, seed) for name in CASES for seed in range(3)}
    hold(driver, cases, tmp_path)


def random_case(seed: int) -> Case:
    """One operator of random extents, among them more channels than a vector has."""
    m = Maker(seed)
    r = m.rng

    def below(high: int) -> int:
        return int(r.integers(1, high))

    kind = seed % 5
    c = int(r.choice([1, 2, 3, 4, 5, 8, 17, 31, 33, 64, 127, 129, 200]))
    x = m.input(below(3), c, below(12) + 3, below(12) + 3)
    if kind == 0:
        y = m.conv(x, below(80), below(4), below(3), tuple(r.integers(0, 3, 4)), below(2))
    elif kind == 1:
        y = m.conv(x, c, below(4), below(3), tuple(r.integers(0, 3, 4)), below(3), c)
    elif kind == 2:
        y = m.average_pool(x, below(4), below(3))
    elif kind == 3:
        kernel = [below(4), below(4)]
        pads = [int(p) for p in r.integers(0, 3, 4)]
        y = m.plain("MaxPool", x, kernel_shape=kernel, strides=[below(3), below(3)], pads=pads)
    else:
        y = m.linear(m.input(below(70), below(400)), below(100))
    return m.case(y)


def test_random_extents_give_the_same_bytes(driver: Driver, tmp_path: Path) -> None:
    hold(driver, {f"case{seed}": random_case(seed) for seed in range(60)}, tmp_path)


@pytest.mark.parametrize("shift", [2, 3, 15, 30, 31, 32, 33, 34, 46, 61, 62])
def test_every_shift_rounds_alike(driver: Driver, tmp_path: Path, shift: int) -> None:
    """Around 2**31 the 64-bit product is cut at a word's end; below it the result saturates before it is clamped."""
    m, cases = Maker(shift), {}
    for i, multiplier in enumerate((1 << 30, (1 << 31) - 1, int(m.rng.integers(1 << 30, 1 << 31)))):
        m = Maker(i)
        x = m.input(3, 256)
        zeros = (0, 0) if i == 0 else (m.zero(), m.zero())
        y = m.own(integer.Rescale(*zeros, multiplier, shift, -128, 127), x)
        w = m.rng.integers(-128, 128, (40, 256)).astype(np.int8)
        bias = m.rng.integers(-(2**30), 2**30, 40).astype(np.int32)
        factors = np.full(40, multiplier, np.int32), np.full(40, shift, np.int8)
        z = m.own(integer.Linear(w, bias, *factors, 5, -7, -128, 127), x)
        cases[f"case{i}"] = m.case(y, z)
    hold(driver, cases, tmp_path)


def test_one_spatial_axis_and_chains_of_moves(driver: Driver, tmp_path: Path) -> None:
    m = Maker(1)
    x = m.input(2, 6, 20)
    w = m.rng.integers(-127, 128, (9, 6, 5)).astype(np.int8)
    bias = np.arange(9, dtype=np.int32)
    row = integer.Conv(
        w, bias, *m.factors(9, 30), (2,), (2, 1), (1,), 1, 3, -4, **m.bounds()
    )  # fmt: skip
    y = m.own(row, x)
    z = m.plain("Transpose", m.plain("Transpose", y, perm=[2, 0, 1]), perm=[1, 2, 0])
    flat = m.plain("Reshape", z, np.array([6, -1]))
    hold(driver, {"moves": m.case(z, m.plain("Transpose", flat, perm=[1, 0]))}, tmp_path)


def test_a_clamp_is_made_of_a_rescale_that_keeps_the_scale(driver: Driver, tmp_path: Path) -> None:
    m = Maker(2)
    x = m.input(7, 33)
    y = m.own(integer.Rescale(-9, -9, 1 << 30, 30, -9, 100), x)
    blob = compiled(m.case(y))
    ops = payload.read(blob).sections[3]
    assert struct.unpack_from("<I", ops)[0] == hexagon_image.Code.CLAMP
    hold(driver, {"clamp": m.case(y)}, tmp_path)


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_dsp_killed_in_a_call_is_an_error_and_the_next_run_starts_another(
    driver: Driver, blob: Path
) -> None:
    assert "died" in driver("kill", blob)


def test_a_dsp_that_hangs_is_ended_at_the_deadline(driver: Driver, blob: Path) -> None:
    driver("hang", blob)


def test_a_run_that_is_told_to_end_ends_the_dsp_and_the_next_starts_another(
    driver: Driver, blob: Path
) -> None:
    driver("until", blob)


def test_fifty_sessions_leave_no_file_process_or_map(driver: Driver, blob: Path) -> None:
    driver("cycle", blob, 50)


def test_two_sessions_at_once(driver: Driver, blob: Path) -> None:
    driver("together", blob, 25)


def test_500_corrupted_payloads_crash_nothing(driver: Driver, blob: Path) -> None:
    said = driver("corrupt", blob, 500)
    refused, failed, ran = map(int, re.findall(r"\d+", said))
    assert refused > 100 and refused + failed + ran == 500


@pytest.mark.parametrize("name", ["residual", "classifier", "two_outputs", "groups"])
def test_the_dsp_checks_for_itself(driver: Driver, tmp_path: Path, name: str) -> None:
    (tmp_path / "payload").write_bytes(compiled(make(name)))
    driver("hostile", tmp_path / "payload", 300)


def test_each_absence_says_what_is_missing(driver: Driver, blob: Path) -> None:
    said = driver("refuse", blob, image=Path("/absent.elf"))
    assert "PTERON_HEXAGON_IMAGE: expected an executable, got /absent.elf" in said
    said = driver("refuse", blob, image=Path("/bin/true"))
    assert "does not start" in said and "correct its emulator or image" in said
    said = driver("refuse", blob, PTERON_HEXAGON_EMULATOR="/nowhere/qemu")
    assert "PTERON_HEXAGON_EMULATOR: expected a program, got /nowhere/qemu" in said


@pytest.mark.parametrize("emulator", ["/bin/true", "/bin/cat", "/bin/yes"])
def test_another_program_in_the_place_of_the_dsp_is_an_error(
    driver: Driver, blob: Path, emulator: str
) -> None:
    """It ends at once, answers with what it is told, or talks without end."""
    assert driver("refuse", blob, PTERON_HEXAGON_EMULATOR=emulator)


def rewritten(blob: bytes, section: int, change: Callable[[bytearray], None]) -> bytes:
    whole = payload.read(blob)
    data = bytearray(whole.sections[section])
    change(data)
    sections = {**whole.sections, section: bytes(data)}
    return payload.write(payload.Payload(whole.kind, whole.target, sections))


@pytest.mark.parametrize(
    "section, word, value, text",
    [
        (1, 0, 2, "expected protocol 1"),
        (1, 1, 1 << 31, "bytes of memory are wanted"),
        (1, 1, 64, "lies outside the arena"),
        (1, 2, 7, "do not fit"),
        (2, 0, 1 << 30, "tensor 0 lies outside the arena"),
        (3, 0, 99, "operation 0: unknown kind"),
        (3, 1, 1 << 20, "operation 0: a tensor lies outside the arena"),
        (3, 3, 4, "operation 0: an offset is not a multiple of 128"),
        (3, 32 + 6, 1 << 20, "operation 1: weights lie outside their section"),
        (3, 32 + 10, 200, "operation 1: a zero point or bound is no int8"),
    ],
)
def test_a_payload_is_checked_when_it_opens(
    driver: Driver, blob: Path, tmp_path: Path, section: int, word: int, value: int, text: str
) -> None:
    bad = rewritten(
        blob.read_bytes(), section, lambda data: struct.pack_into("<I", data, 4 * word, value)
    )
    (tmp_path / "payload").write_bytes(bad)
    assert text in driver("refuse", tmp_path / "payload")


# --- what it takes --------------------------------------------------------------------------------


def test_reasons_name_the_nearest_change() -> None:
    m = Maker(0)
    x = m.input(1, 4, 9, 9)
    pool = m.plain("MaxPool", x, kernel_shape=[3, 3])
    node = pool.producer()
    assert node is not None and hexagon.supports(node) is None
    x.shape = ir.Shape(["batch", 4, 9, 9])
    assert "fix it with --fix SYMBOL=N" in str(hexagon.supports(node))
    relu = ir.Node("", "Relu", [x])
    assert "--format int8" in str(hexagon.supports(relu))


def test_sums_that_leave_int32_are_refused() -> None:
    m = Maker(0)
    x = m.input(1, 4)
    w, bias = np.full((1, 4), 127, np.int8), np.full(1, 2**31 - 5, np.int32)
    factors = arithmetic.multipliers_shifts(np.array([0.01]))
    y = ir.Value(name="y", shape=ir.Shape((1, 1)), type=ir.TensorType(ir.DataType.INT8))
    node = integer.build(integer.Linear(w, bias, *factors, 0, 0, -128, 127), [x], m.graph, "n")
    node.outputs[0].shape = y.shape
    assert "leave int32" in str(hexagon.supports(node))
    with pytest.raises(DelegateError, match="Linear 'n'"):
        hexagon.compile_segment(Segment((node,), (x,), (node.outputs[0],)))


def test_the_same_segment_gives_the_same_payload() -> None:
    assert compiled(make("residual")) == compiled(make("residual"))

"""The VGF delegate: graphs through Vulkan on the emulated NPU against schema/meaning/int8.py, payloads and machines that will not do.

`vgf_driver.c` drives the C side, under the address and undefined-behaviour sanitizers.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir
import pytest
from delegates import through
from delegates.integer_cases import CASES, Case, Maker, make

from pteron.export.delegates import Segment, payload, tools, tosa, vgf
from pteron.schema.errors import DelegateError

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Driver:
    program: Path
    layers: Path

    def __call__(self, *words: object, ok: bool = True, **env: str) -> str:
        own = {"PTERON_VGF_LAYERS": str(self.layers), "ASAN_OPTIONS": "detect_leaks=0"}
        done = subprocess.run(
            [self.program, *map(str, words)],
            capture_output=True,
            text=True,
            env={**os.environ, **own, **env},
            timeout=500,
        )
        assert (done.returncode == 0) == ok, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def npu(npu_python: Path) -> object:
    """The exporter finds the TOSA tools."""
    patch = pytest.MonkeyPatch()
    patch.setenv(tools.VARIABLE, str(npu_python))
    yield
    patch.undo()


@pytest.fixture(scope="module")
def driver(root: Path, npu_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Driver:
    if shutil.which("cc") is None:
        pytest.skip("needs a C compiler: apt-get install gcc")
    if ctypes.util.find_library("vulkan") is None:
        pytest.skip("needs Vulkan: apt-get install libvulkan1 mesa-vulkan-drivers")
    found = subprocess.run(
        [npu_python, "-c", "import emulation_layer; print(emulation_layer.__path__[0])"],
        capture_output=True,
        text=True,
    )
    if found.returncode != 0:
        pytest.skip("needs Arm's layers: make dev-npu")
    program = tmp_path_factory.mktemp("vgf") / "driver"
    home = root / "runtime_c/delegates"
    flags = ["-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror", "-fno-sanitize-recover=all"]
    sources = [root / "tests/delegates/vgf_driver.c", *sorted((home / "vgf").glob("*.c"))]
    built = subprocess.run(
        [
            *("cc", *flags, "-fsanitize=address,undefined", f"-I{root}/runtime_c"),
            *(f"-I{root}/runtime_c/include", *sources, home / "payload.c"),
            *("-ldl", "-pthread", "-o", program),
        ],
        capture_output=True,
        text=True,
    )
    if "vulkan/vulkan_core.h: No such file" in built.stderr:
        pytest.skip("needs Vulkan's headers: apt-get install libvulkan-dev")
    assert built.returncode == 0, built.stderr
    return Driver(program, Path(found.stdout.strip()) / "deploy")


def compiled(case: Case) -> bytes:
    return vgf.compile_segment(Segment(case.nodes, case.inputs, case.outputs))


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
    hold(
        driver, {f"{name}{seed}": make(name, seed) for name in CASES for seed in range(2)}, tmp_path
    )


def random_case(seed: int) -> Case:
    """One operator of random extents."""
    m = Maker(seed)

    def below(high: int) -> int:
        return int(m.rng.integers(1, high))

    x = m.input(below(3), int(m.rng.choice([1, 3, 8, 17])), below(9) + 3, below(9) + 3)
    match seed % 4:
        case 0:
            pads = tuple(map(int, m.rng.integers(0, 3, 4)))
            y = m.conv(x, below(30), below(4), below(3), pads, below(2))
        case 1:
            y = m.average_pool(x, below(4), below(3))
        case 2:
            kernel, pads = [3, 2], [int(p) for p in m.rng.integers(0, 2, 4)]
            strides = [below(3), below(3)]
            y = m.plain("MaxPool", x, kernel_shape=kernel, strides=strides, pads=pads)
        case _:
            m.inputs.clear()
            y = m.linear(m.input(below(20), below(100)), below(50))
    return m.case(y)


def test_random_extents_give_the_same_bytes(driver: Driver, tmp_path: Path) -> None:
    hold(driver, {f"case{seed}": random_case(seed) for seed in range(20)}, tmp_path)


def test_many_channels_and_a_long_bias(driver: Driver, tmp_path: Path) -> None:
    m = Maker(0)
    hold(driver, {"wide": m.case(m.linear(m.input(2, 600), 2100))}, tmp_path)


def test_two_threads_share_the_device(driver: Driver, blob: Path) -> None:
    driver("together", blob, 5)


def test_a_device_that_hangs_keeps_its_memory_and_nobody_waits(driver: Driver, blob: Path) -> None:
    driver("hang", blob)


def test_the_same_segment_gives_the_same_bytes() -> None:
    assert compiled(make("two_outputs")) == compiled(make("two_outputs"))


# --- what it does not take ------------------------------------------------------------------------


def test_a_refusal_names_the_nearest_change() -> None:
    m = Maker(0)
    m.conv(m.input(1, 2, 5, 5), 3)
    (node,) = m.nodes
    assert tosa.refusal(node) is None
    node.outputs[0].shape = ir.Shape(["batch", 3, 5, 5])
    assert "--fix" in str(tosa.refusal(node))
    plain = ir.node("Conv", [ir.Value(name="x"), ir.Value(name="w")])
    assert "int8" in str(tosa.refusal(plain))


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tools.VARIABLE, "/nowhere/python")
    assert vgf.DELEGATE.missing()
    with pytest.raises(DelegateError, match="pip install"):
        compiled(make("rescale"))
    if importlib.util.find_spec("tosa_serializer") is None:
        monkeypatch.setenv(tools.VARIABLE, sys.executable)
        ((what, install),) = vgf.DELEGATE.missing()
        assert "tosa_serializer" in what and "pip install" in install


# --- machines that will not do --------------------------------------------------------------------


def test_a_machine_without_the_layers_is_refused(driver: Driver, tmp_path: Path) -> None:
    """lavapipe has no graphs of its own: nothing is computed elsewhere."""
    said = driver("accept", ok=False, PTERON_VGF_LAYERS=str(tmp_path), VK_LAYER_PATH=str(tmp_path))
    assert "VK_ARM_data_graph" in said and "pip install ai-ml-emulation-layer-for-vulkan" in said


def test_a_machine_without_a_device_is_refused(driver: Driver, tmp_path: Path) -> None:
    said = driver("accept", ok=False, VK_ICD_FILENAMES=str(tmp_path / "none.json"))
    assert "apt install" in said or "vkCreateInstance" in said


def test_the_layers_are_found_through_vulkans_own_variables_too(driver: Driver) -> None:
    path, manifests = driver.layers / "lib", driver.layers / "share/vulkan/explicit_layer.d"
    said = driver("accept", LD_LIBRARY_PATH=str(path), VK_LAYER_PATH=str(manifests))
    assert said.splitlines()[0] == "yes"


# --- payloads that will not do --------------------------------------------------------------------


def test_500_corrupted_payloads_crash_nothing(driver: Driver, tmp_path: Path) -> None:
    """What is not refused, changed weights or factors, runs clean."""
    (tmp_path / "payload").write_bytes(compiled(make("two_outputs")))
    said = driver("corrupt", tmp_path / "payload", 500, 7)
    refused = int(re.findall(r"(\d+) of 500 refused", said)[0])
    assert 300 < refused < 500


def section(blob: bytes, kind: int) -> tuple[int, int]:
    """Offset and size."""
    for i in range(3):
        row = struct.unpack_from("<IIQQ", blob, 64 + 24 * i)
        if row[0] == kind:
            return row[2], row[3]
    raise AssertionError(kind)


def instructions(blob: bytes) -> list[tuple[int, list[int]]]:
    """Byte offset and words of each SPIR-V instruction."""
    start, size = section(blob, vgf.CODE)
    words = struct.unpack_from(f"<{size // 4}I", blob, start)
    found, at = [], 5
    while at < len(words):
        found.append((start + 4 * at, list(words[at : at + (words[at] >> 16)])))
        at += words[at] >> 16
    return found


def ext_inst(opcode: int) -> Callable[[bytes], int]:
    """Offset of the first TOSA operator `opcode`."""

    def find(blob: bytes) -> int:
        return next(at for at, w in instructions(blob) if w[0] & 0xFFFF == 12 and w[4] == opcode)

    return find


def changed(blob: bytes, at: int, word: int) -> bytes:
    return blob[:at] + struct.pack("<I", word) + blob[at + 4 :]


def replaced(blob: bytes, change: Callable[[list[list[int]]], None]) -> bytes:
    """With other instructions, each a list of words; the bound of ids grows by what is added."""
    parts = payload.read(blob)
    words = [w for _, w in instructions(blob)]
    before = sum(map(len, words))
    change(words)
    head = list(struct.unpack_from("<5I", parts.sections[vgf.CODE]))
    head[3] += max(0, sum(map(len, words)) - before)
    flat = [*head, *(word for each in words for word in each)]
    code = struct.pack(f"<{len(flat)}I", *flat)
    return payload.write(
        payload.Payload(parts.kind, parts.target, {**parts.sections, vgf.CODE: code})
    )


def of(words: list[list[int]], opcode: int) -> list[list[int]]:
    return [w for w in words if w[0] & 0xFFFF == opcode]


def zeros_of_gigabytes(blob: bytes) -> bytes:
    """Five constants of 1 GiB in three words each."""
    new = struct.unpack_from("<I", blob, section(blob, vgf.CODE)[0] + 12)[0]
    one, length, array, dims, tensor = range(new, new + 5)

    def change(words: list[list[int]]) -> None:
        int32 = next(w[1] for w in of(words, 21) if w[2] == 32)
        at = words.index(of(words, 4182)[0])
        words[at:at] = [
            [43 | 4 << 16, int32, one, 1],
            [43 | 4 << 16, int32, length, 1 << 28],
            [28 | 4 << 16, array, int32, one],
            [44 | 4 << 16, array, dims, length],
            [4163 | 5 << 16, tensor, int32, one, dims],
            *([46 | 3 << 16, tensor, new + 5 + k] for k in range(5)),
        ]

    return replaced(blob, change)


def one_variable_twice(blob: bytes) -> bytes:
    """The variable of the input is bound as the output, too."""

    def change(words: list[list[int]]) -> None:
        entry = of(words, 4182)[0]
        first, second = entry[-2:]
        entry[-1] = first
        binding = next(w for w in of(words, 71) if w[1] == second and w[2] == 33)
        binding[1] = first

    return replaced(blob, change)


@pytest.mark.parametrize(
    "name, change",
    [
        ("constants of gigabytes in a few words", zeros_of_gigabytes),
        ("one variable as input and output", one_variable_twice),
        ("an operator's result is another type", lambda b: changed(b, ext_inst(2)(b) + 4, 2)),
        ("an operator of another number", lambda b: changed(b, ext_inst(2)(b) + 16, 3)),
        ("an operand of another kind", lambda b: changed(b, ext_inst(14)(b) + 20, 3)),
        ("an operand that comes later", lambda b: changed(b, ext_inst(14)(b) + 20, 155)),
        ("an id beyond the bound", lambda b: changed(b, ext_inst(14)(b) + 20, 1 << 20)),
        ("a kernel as large as the pads", lambda b: changed(b, ext_inst(4)(b) + 20, 129)),
        ("a length of zero", lambda b: changed(b, ext_inst(2)(b), 12)),
        ("a bound beyond the words", lambda b: changed(b, section(b, vgf.CODE)[0] + 12, 1 << 30)),
        ("another version", lambda b: changed(b, section(b, vgf.CODE)[0] + 4, 0x00010600)),
        ("a rank of nine", lambda b: changed(b, section(b, vgf.TABLE)[0] + 68, 9)),
        ("no inputs", lambda b: changed(b, section(b, vgf.TABLE)[0] + 4, 0)),
        ("an input of more bytes", lambda b: changed(b, section(b, vgf.TABLE)[0] + 64 + 88, 4096)),
    ],
)
def test_words_are_proven(
    driver: Driver, tmp_path: Path, blob: Path, name: str, change: Callable[[bytes], bytes]
) -> None:
    folder = tmp_path / "case"
    folder.mkdir()
    (folder / "payload").write_bytes(change(blob.read_bytes()))
    said = driver("run", folder, ok=False)
    assert "SPIR-V word" in said or "payload:" in said or "SPIR-V:" in said, said


def test_every_cut_is_refused(driver: Driver, tmp_path: Path, blob: Path) -> None:
    whole = blob.read_bytes()
    parts = payload.read(whole)
    for i, words in enumerate((5, 40, 200, 400)):
        folder = tmp_path / str(i)
        folder.mkdir()
        short = {**parts.sections, vgf.CODE: parts.sections[vgf.CODE][: 4 * words]}
        cut = payload.write(payload.Payload(parts.kind, parts.target, short))
        (folder / "payload").write_bytes(cut)
        driver("run", folder, ok=False)

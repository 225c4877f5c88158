"""Closing, buffers of the caller's own, threads, digests, and what the package says of itself."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import pteron
from pteron.cli import main
from pteron.export.file.read import read_file
from pteron.runtime import cpu
from pteron.schema.layout import Segment

X = np.random.default_rng(0).random((3, 1, 8, 8), np.float32)


@pytest.fixture
def own_digits(digits: Path, tmp_path: Path) -> Path:
    """A file that no other test has open."""
    return shutil.copy(digits, tmp_path / "own.pte")


def mapped(path: Path) -> bool:
    """Whether a file is mapped into this process."""
    return str(path) in Path("/proc/self/maps").read_text()


# --- closing -----------------------------------------------------------------------------------


def test_closing_lets_the_file_go(own_digits: Path) -> None:
    with pteron.load(own_digits) as model:
        assert model(X).shape == (3, 10) and mapped(own_digits)
    assert not mapped(own_digits)
    for use in (lambda: model(X), lambda: model.placements, model.states.reset, model.session):
        with pytest.raises(pteron.ArgumentError, match="was closed; "):
            use()
    model.close()


def test_sessions_outlive_the_program(own_digits: Path) -> None:
    with pteron.load(own_digits, threads=2) as model:
        other, want = model.session(), model(X)
    assert mapped(own_digits)
    np.testing.assert_array_equal(other.run({"image": X})["logits"], want)
    other.close()
    other.close()
    assert not mapped(own_digits)


def test_closing_waits_for_the_run(digits: Path) -> None:
    session = pteron.load(digits).session()
    with session._lock:  # as a run has it
        thread = threading.Thread(target=session.close)
        thread.start()
        thread.join(0.05)
        assert thread.is_alive()
    thread.join(10)
    assert not thread.is_alive()


def test_closing_gives_memory_back(digits: Path) -> None:
    session = pteron.load(digits).session()
    session.run({"image": X})
    arena = weakref.ref(session._arena._owner)
    session.close()
    assert arena() is None


# --- ports ---------------------------------------------------------------------------------------


def test_ports_say_what_goes_in_and_comes_out(digits: Path) -> None:
    model = pteron.load(digits)
    (image,), (logits,) = model.inputs, model.outputs
    assert (image.name, image.shape, image.numpy_dtype) == ("image", ("batch", 1, 8, 8), np.float32)
    assert (logits.name, logits.shape) == ("logits", ("batch", 10))
    assert model.session().inputs == model.inputs and model.info.outputs == model.outputs


# --- out -----------------------------------------------------------------------------------------


def test_outputs_are_written_into_the_callers_arrays(digits: Path) -> None:
    model = pteron.load(digits)
    room, want = np.full((3, 10), np.nan, np.float32), model(X)
    made = model.run({"image": X}, out={"logits": room})
    assert made["logits"] is room
    np.testing.assert_array_equal(room, want)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: {"nope": np.empty((3, 10), np.float32)}, "no output is called nope; there are logits"),
        (lambda: {"logits": [0.0]}, "expected a NumPy array, got list"),
        (lambda: {"logits": np.empty((3, 10))}, "expected float32, got float64"),
        (lambda: {"logits": np.empty((10, 3), np.float32)}, "expected shape [3, 10], got [10, 3]"),
        (lambda: {"logits": np.empty((10, 3), np.float32).T}, "expected a dense array"),
        (lambda: {"logits": np.frombuffer(bytes(120), np.float32).reshape(3, 10)}, "may be written"),
        (lambda: {"logits": X.reshape(-1)[:30].reshape(3, 10)}, "shares memory with an input"),
    ],
)  # fmt: skip
def test_a_buffer_that_does_not_fit_is_refused(digits: Path, make, words: str) -> None:
    with pytest.raises(pteron.ArgumentError) as error:
        pteron.load(digits).run({"image": X}, out=make())
    assert words in str(error.value)


def test_two_outputs_need_two_buffers(tmp_path: Path) -> None:
    f = TensorProto.FLOAT
    ports = [helper.make_tensor_value_info(n, f, [2, 2]) for n in "xyz"]
    nodes = [helper.make_node("Sin", ["x"], ["y"]), helper.make_node("Cos", ["x"], ["z"])]
    graph = helper.make_graph(nodes, "two", ports[:1], ports[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    pteron.export_model(made, tmp_path / "two.pte")
    model, x = pteron.load(tmp_path / "two.pte"), np.ones((2, 2), np.float32)
    room = np.empty((2, 2), np.float32)
    with pytest.raises(pteron.ArgumentError, match="shares memory with out y"):
        model.run({"x": x}, out={"y": room, "z": room})
    assert model.run({"x": x}, out={"z": room})["z"] is room
    np.testing.assert_allclose(room, np.cos(x), rtol=1e-6)


def test_a_buffer_has_room_for_what_the_data_decides(tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [1, "n"])
    graph = helper.make_graph([helper.make_node("NonZero", ["x"], ["y"])], "nz", [x], [y])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    pteron.export_model(made, tmp_path / "nz.pte")
    room = np.full((1, 4), -1, np.int64)
    got = pteron.load(tmp_path / "nz.pte").run(
        {"x": np.array([0, 1, 0, 2], np.float32)}, out={"y": room}
    )["y"]
    np.testing.assert_array_equal(got, [[1, 3]])
    assert np.shares_memory(got, room)


# --- digests -------------------------------------------------------------------------------------


def test_a_changed_weight_is_refused_where_it_is_asked_for(digits: Path, tmp_path: Path) -> None:
    entries = read_file(digits.read_bytes()).entries
    constants = next(e for e in entries if e.kind == Segment.CONSTANTS)
    data, path = bytearray(digits.read_bytes()), tmp_path / "bad.pte"
    data[constants.offset] ^= 1
    path.write_bytes(data)
    assert pteron.load(path)(X).shape == (3, 10)
    with pytest.raises(pteron.ProgramError, match=r"bad.pte: .*digest"):
        pteron.load(path, check=True)
    assert pteron.load(digits, check=True)(X).shape == (3, 10)
    assert main(["run", str(path)]) == 0
    assert main(["run", str(path), "--check"]) == 4
    assert main(["verify", str(path)]) == 6


# --- threads -------------------------------------------------------------------------------------


def test_threads_are_those_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTERON_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert cpu.available(Path("/nowhere")) == 3
    monkeypatch.setenv("PTERON_NUM_THREADS", "7")
    assert cpu.threads() == 7 and cpu.threads(2) == 2
    for wrong in ("many", "-1", "1.5"):
        monkeypatch.setenv("PTERON_NUM_THREADS", wrong)
        with pytest.raises(pteron.ArgumentError, match="PTERON_NUM_THREADS: expected a number"):
            cpu.threads()
    with pytest.raises(pteron.ArgumentError, match="from 0 to 256, got -2"):
        cpu.threads(-2)


@pytest.mark.parametrize(
    "files, count",
    [
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "250000 100000"}, 2),
        ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/b/cpu.max": "max 100000"}, 8),
        (
            {
                "proc/self/cgroup": "0::/a/b",
                "sys/fs/cgroup/a/b/cpu.max": "max 100000",
                "sys/fs/cgroup/a/cpu.max": "50000 100000",
            },
            1,
        ),
        (
            {
                "proc/self/cgroup": "5:memory:/\n4:cpu,cpuacct:/box",
                "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "300000",
                "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000",
            },
            3,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu:/",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            8,
        ),
        ({"proc/self/cgroup": "0::/../x", "sys/fs/cgroup/cpu.max": "garbage"}, 8),
        ({}, 8),
    ],
)
def test_a_control_groups_quota_counts(
    files: dict[str, str], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    assert cpu.available(tmp_path) == count


def test_a_process_bound_to_one_processor_has_one_thread(digits: Path) -> None:
    code = f"import pteron; print(pteron.load({str(digits)!r})._session.threads)"
    one = subprocess.run(
        [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{0}}); {code}"],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "PTERON_NUM_THREADS"},
    )
    assert one.stdout == "1\n", one.stderr


# --- the package ---------------------------------------------------------------------------------


FUNCTIONS = {"translation"}
"""Of a package's public names."""


def test_the_package_lists_what_it_has() -> None:
    assert set(pteron.__all__) <= set(dir(pteron))
    assert {"export", "quantize", "runtime", "schema", "__version__"} <= set(dir(pteron))
    for package in (pteron.export, pteron.quantize):
        public = {name for name in dir(package) if not name.startswith("__")}
        assert public == set(package.__all__)
        for name in public:
            is_module = name.islower() and name not in FUNCTIONS
            assert inspect.ismodule(getattr(package, name)) == is_module, name
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = package.nothing


@pytest.mark.parametrize(
    "code, missing",
    [
        ("pteron.export_model('m.onnx')", "onnx_ir is not installed; pip install 'pteron[export]'"),
        ("pteron.load({bf16!r})(0)", "ml_dtypes is not installed; pip install 'pteron[export]'"),
    ],
)
def test_what_is_missing_is_named_with_its_install_line(
    code: str, missing: str, tmp_path: Path
) -> None:
    f = TensorProto.BFLOAT16
    ports = [helper.make_tensor_value_info(n, f, [1]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "n", ports[:1], ports[1:])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    pteron.export_model(made, tmp_path / "bf16.pte")
    absent = "import sys; sys.modules |= dict.fromkeys(('onnx', 'onnx_ir', 'ml_dtypes', 'torch'))\n"
    code = absent + "import pteron\n" + code.format(bf16=str(tmp_path / "bf16.pte"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and missing in done.stderr.splitlines()[-1], done.stderr


def test_commands_name_what_is_missing(root: Path, tmp_path: Path) -> None:
    absent = "import sys; sys.modules |= dict.fromkeys(('onnx', 'onnx_ir', 'ml_dtypes', 'torch', 'flatbuffers'))\n"
    code = absent + "from pteron.cli import main; sys.exit(main(sys.argv[1:]))"
    model = root / "examples/digits/digits.onnx"
    for words in (
        ["export", model, "--dry-run"],
        ["quantize", model, "-o", "q.onnx", "--format=nf4"],
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        assert "is not installed; pip install 'pteron[export]'" in done.stderr

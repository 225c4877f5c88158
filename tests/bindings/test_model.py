"""The Python face of the runtime: what goes in, what comes out, and what the errors say."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import pteron


def save(path: Path, nodes: list[onnx.NodeProto], inputs: dict, outputs: dict, weights=()) -> Path:
    """Writes and exports a small model; inputs and outputs: name -> (element type, shape)."""
    info = [
        [helper.make_tensor_value_info(n, t, s) for n, (t, s) in ports.items()]
        for ports in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "small", *info, list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    pteron.export_model(model, path)
    return path


@pytest.fixture(scope="module")
def add(tmp_path_factory: pytest.TempPathFactory) -> Path:
    f = TensorProto.FLOAT
    path = tmp_path_factory.mktemp("add") / "add.pte"
    ports = {"a": (f, ["n", 3]), "b": (f, ["n", 3])}
    return save(path, [helper.make_node("Add", ["a", "b"], ["c"])], ports, {"c": (f, ["n", 3])})


def test_a_model_goes_without_the_garbage_collector(add: Path) -> None:
    """A file stays mapped, and a delegate's process alive, as long as a session."""
    model = pteron.load(add, threads=1)
    model(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32))
    watched = weakref.ref(model._session)
    gc.disable()
    try:
        del model
        assert watched() is None
    finally:
        gc.enable()


def test_inputs_go_by_position_by_name_and_as_a_dict(add: Path) -> None:
    model = pteron.load(add, threads=1)
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)
    want = a + b
    np.testing.assert_array_equal(model(a, b), want)
    np.testing.assert_array_equal(model(a, b=b), want)
    np.testing.assert_array_equal(model.run({"b": b, "a": a})["c"], want)


def test_a_program_runs_from_bytes_as_from_a_file(add: Path) -> None:
    a = np.ones((1, 3), np.float32)
    np.testing.assert_array_equal(pteron.load(add.read_bytes())(a, a), a + a)


def test_other_sizes_prepare_again(add: Path) -> None:
    model = pteron.load(add, threads=1)
    for n in (1, 5, 2, 64):
        a = np.full((n, 3), n, np.float32)
        np.testing.assert_array_equal(model(a, a), a + a)


@pytest.mark.parametrize(
    "feeds, words",
    [
        ({"a": np.ones((2, 3), np.float32)}, ["missing b", "a, b"]),
        ({"a": 1, "b": 2, "x": 3}, ["no input is called x"]),
        (
            {"a": np.ones((2, 3)), "b": np.ones((2, 3), np.float32)},
            ["input a", "float32", "float64", "astype"],
        ),
        (
            {"a": np.ones((2, 4), np.float32), "b": np.ones((2, 3), np.float32)},
            ["input a", "[n, 3]", "[2, 4]"],
        ),
        ({"a": np.ones((2, 3), np.float32), "b": np.ones((5, 3), np.float32)}, ["n", "2", "5"]),
    ],
)
def test_unfitting_inputs_say_what_was_expected(add: Path, feeds: dict, words: list[str]) -> None:
    with pytest.raises(pteron.ArgumentError) as caught:
        pteron.load(add, threads=1).run(feeds)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    "kind, dtype",
    [(TensorProto.FLOAT16, np.float16), (TensorProto.BFLOAT16, ml_dtypes.bfloat16), (TensorProto.INT8, np.int8),
     (TensorProto.DOUBLE, np.float64), (TensorProto.BOOL, np.bool_), (TensorProto.UINT64, np.uint64)],
    ids=str,
)  # fmt: skip
def test_dtypes_go_in_and_come_out(tmp_path: Path, kind: int, dtype: type) -> None:
    op = "Not" if dtype is np.bool_ else "Add"
    node = helper.make_node(op, ["x"] if op == "Not" else ["x", "x"], ["y"])
    path = save(tmp_path / "m.pte", [node], {"x": (kind, [4])}, {"y": (kind, [4])})
    x = np.array([0, 1, 2, 3]).astype(dtype)
    y = pteron.load(path, threads=1)(x)
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y, ~x if op == "Not" else x + x)


def test_dlpack_goes_in_and_out(add: Path) -> None:
    class Foreign:
        """An array of another library: DLPack and nothing else."""

        def __init__(self, array: np.ndarray) -> None:
            self._array = array

        def __dlpack__(self, **options: object) -> object:
            return self._array.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return self._array.__dlpack_device__()

    a = np.ones((2, 3), np.float32)
    y = pteron.load(add, threads=1)(Foreign(a), Foreign(a))
    np.testing.assert_array_equal(np.from_dlpack(y), a + a)


def test_views_that_are_not_dense_are_accepted(add: Path) -> None:
    a = np.arange(24, dtype=np.float32).reshape(6, 4).T[1:, ::2].T  # any strides
    a = np.asfortranarray(a)
    np.testing.assert_array_equal(pteron.load(add, threads=1)(a, a), a + a)


def test_sessions_of_one_program_run_on_two_threads(digits: Path) -> None:
    model = pteron.load(digits, threads=1)
    x = np.random.default_rng(0).random((4, 1, 8, 8), np.float32)
    want, wrong = model(x), []

    def work() -> None:
        session = model.session()
        for _ in range(50):
            if not np.array_equal(session.run({"image": x})["logits"], want):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_loading_imports_neither_onnx_nor_torch(digits: Path) -> None:
    code = (
        "import sys, numpy as np, pteron\n"
        f"m = pteron.load({str(digits)!r}); m(np.zeros((1, 1, 8, 8), np.float32))\n"
        "bad = [n for n in sys.modules if n.split('.')[0] in ('onnx', 'onnx_ir', 'torch', 'sympy', 'ml_dtypes')]\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_weights_are_mapped_not_copied(digits: Path) -> None:
    model = pteron.load(digits, threads=1)
    assert type(model.program.held.data).__name__ == "mmap"
    assert model.program.held.memory.size < 64 * 1024


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="no large pages here"
)
def test_weights_are_asked_for_in_large_pages(digits: Path) -> None:
    model = pteron.load(digits, threads=1)
    maps = Path("/proc/self/smaps").read_text().split(str(digits))
    del model
    assert " hg" in maps[1].split("VmFlags:")[1].splitlines()[0]


def test_a_damaged_file_is_refused_by_name(digits: Path, tmp_path: Path) -> None:
    data = bytearray(digits.read_bytes())
    data[9] ^= 0xFF
    (tmp_path / "bad.pte").write_bytes(data)
    with pytest.raises(pteron.ProgramError, match=r"bad\.pte: "):
        pteron.load(tmp_path / "bad.pte")


@pytest.mark.parametrize("count", [0, 1, 63, 64, 200])
def test_a_truncated_file_is_refused(digits: Path, count: int) -> None:
    with pytest.raises(pteron.ProgramError):
        pteron.load(digits.read_bytes()[:count])


def test_public_names() -> None:
    assert all(getattr(pteron, name) is not None for name in pteron.__all__)
    with pytest.raises(AttributeError):
        _ = pteron.nothing


def test_a_timeout_ends_the_run(digits: Path) -> None:
    model = pteron.load(digits, threads=1)
    with pytest.raises(pteron.LimitError):
        model.run({"image": np.zeros((1, 1, 8, 8), np.float32)}, timeout_s=-1.0)


def test_cap_on_memory(digits: Path) -> None:
    with pytest.raises((pteron.LimitError, MemoryError), match=r"\d"):
        pteron.load(digits, threads=1, max_bytes=64)(np.zeros((1, 1, 8, 8), np.float32))


def test_a_copied_program_outlives_its_bytes(add: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.pte"
    mine.write_bytes(add.read_bytes())
    model = pteron.load(mine, copy=True)
    mine.write_bytes(b"")
    x = np.ones((2, 3), np.float32)
    assert (model(x, x) == 2).all()
    held = np.frombuffer(add.read_bytes() + bytes(64), np.uint8).copy()
    start = -held.ctypes.data % 64
    aligned = held[start : start + add.stat().st_size]
    aligned[:] = np.frombuffer(add.read_bytes(), np.uint8)
    model = pteron.load(memoryview(aligned), copy=True)
    aligned[:] = 255
    assert (model(x, x) == 2).all()


def test_states_wait_for_the_run(tmp_path: Path) -> None:
    from program.samples import SAMPLES

    from pteron.export.file.emit import emit_bytes
    from pteron.export.plan import plan

    model = pteron.load(emit_bytes(plan(SAMPLES["state"]())), method="step")
    model._session.prepare(
        {p.name: [1 if isinstance(s, str) else s for s in p.shape] for p in model.info.inputs}
    )
    name = next(iter(model.states))
    value = model.states[name]
    calls = (
        lambda: model.states[name],
        lambda: model.states.__setitem__(name, value),
        model.states.reset,
    )
    for call in calls:
        with model._session._lock:  # as a run or a prepare has it, which moves their memory
            thread = threading.Thread(target=call)
            thread.start()
            thread.join(0.05)
            assert thread.is_alive()
        thread.join(10)
        assert not thread.is_alive()


def test_bytes_that_change_move_no_address(digits: Path) -> None:
    held = np.zeros(digits.stat().st_size + 64, np.uint8)
    start = -held.ctypes.data % 64
    aligned = held[start : start + digits.stat().st_size]
    aligned[:] = np.frombuffer(digits.read_bytes(), np.uint8)
    model = pteron.load(memoryview(aligned))
    aligned[:] = 255
    x = np.zeros((2, 1, 8, 8), np.float32)
    assert model(x).shape == (2, 10)


def test_one_long_name_of_many_axes_is_one_text(tmp_path: Path) -> None:
    """Each port and axis had a copy of its own: 400 KB of a file became 630 MB."""
    f = TensorProto.FLOAT
    long = "d" * 10_000
    ports = {"a": (f, [long, long]), "b": (f, [long, long])}
    path = save(
        tmp_path / "m.pte",
        [helper.make_node("Add", ["a", "b"], ["c"])],
        ports,
        {"c": (f, [long, long])},
    )
    with pteron.load(path) as model:
        method = model.program.methods[0]
        axes = [axis for port in (*method.inputs, *method.outputs) for axis in port.shape]
    assert axes == [long] * 6
    assert len({id(axis) for axis in axes}) == 1

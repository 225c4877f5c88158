"""What a caller may hand over by mistake: one of Pteron's errors that names it, before C sees it."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import platform
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx.helper as oh
import pytest

import pteron
from pteron.runtime import cpu

X = np.zeros((2, 1, 8, 8), np.float32)
LOADS: list[tuple[Any, dict[str, Any], str]] = [
    (None, {}, "source: expected a path or bytes, got None"),
    (3, {}, "source: expected a path or bytes, got int"),
    ([], {}, "source: expected a path or bytes, got list"),
    (X, {}, "source: expected a path or bytes, got ndarray"),
    (memoryview(bytes(200))[::2], {}, "source: expected dense bytes"),
    ("a\0b", {}, "a null character"),
    ("", {"threads": -1}, "threads: expected an integer from 0 to 256, got -1"),
    ("", {"threads": 1.5}, "threads: expected an integer from 0 to 256, got 1.5"),
    ("", {"threads": "2"}, "threads: expected an integer from 0 to 256, got '2'"),
    ("", {"threads": 2**40}, "threads: expected an integer from 0 to 256"),
    ("", {"method": 3}, "method 3: the program has main"),
    ("", {"method": X}, "method ndarray: the program has main"),
    ("", {"threads": X}, "threads: expected an integer from 0 to 256, got ndarray"),
    ("", {"delegates": X}, "this build has"),
    ("", {"copy": X}, "copy: expected True or False, got ndarray"),
    ("", {"copy": "no"}, "copy: expected True or False, got 'no'"),
    ("", {"check": X}, "check: expected True or False, got ndarray"),
    ("", {"check": None}, "check: expected True or False, got None"),
    ("", {"check": 1}, "check: expected True or False, got 1"),
    ("", {"cpu": -1}, "cpu: expected an integer from 0 to 4294967295, got -1"),
    ("", {"cpu": "avx2"}, "cpu: expected an integer from 0 to 4294967295, got 'avx2'"),
    ("", {"max_bytes": -1}, "max_bytes: expected an integer from 0"),
    ("", {"max_bytes": 1.5}, "max_bytes: expected an integer from 0"),
    ("", {"max_bytes": 2**64}, "max_bytes: expected an integer from 0"),
    ("", {"max_extent": -1}, "max_extent: expected an integer from 0"),
    ("", {"max_extent": 2**63}, "max_extent: expected an integer from 0"),
    ("", {"delegates": 3}, "delegates: expected names, got 3"),
    ("", {"delegates": ["npu"]}, "this build has"),
    ("", {"externals": []}, "externals: expected a dict of files by name, got list"),
    ("", {"externals": {3: b""}}, "externals: expected names as keys, got 3"),
    ("", {"externals": {"w": 3}}, "w: expected a path or bytes, got int"),
]


@pytest.mark.parametrize("source, options, words", LOADS)
def test_load_says_what_it_takes(
    digits: Path, source: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(pteron.ArgumentError) as raised:
        pteron.load(digits if options else source, **options)
    assert words in str(raised.value) and "\n" not in str(raised.value)


RUNS: list[tuple[str, Callable[[pteron.Model], Any], str]] = [
    ("no dict", lambda m: m.run(None), "run: expected a dict of inputs by name, got None"),
    ("a list", lambda m: m.run([X]), "run: expected a dict of inputs by name, got list"),
    ("an array", lambda m: m.run(X), "run: expected a dict of inputs by name, got ndarray"),
    ("a number as name", lambda m: m.run({0: X, "image": X}), "expected names as keys, got 0"),
    ("nothing", lambda m: m.run({}), "missing image"),
    ("another name", lambda m: m.run({"imag": X}), "no input is called imag"),
    ("None", lambda m: m(None), "expected float32, got None"),
    ("text", lambda m: m("abc"), "expected float32, got str"),
    ("a dict", lambda m: m({"image": X}), "expected float32, got dict"),
    ("big endian", lambda m: m(X.astype(">f4")), "expected float32, got >f4"),
    ("doubles", lambda m: m(X.astype(float)), "x.astype('float32')"),
    ("a mask", lambda m: m(np.ma.masked_array(X)), "without a mask"),
    ("ragged rows", lambda m: m([[1], [2, 3]]), "expected rows of equal length"),
    ("words in a list", lambda m: m([["a"]]), "expected numbers"),
    ("a missing axis", lambda m: m(X[0]), "expected shape [batch, 1, 8, 8], got [1, 8, 8]"),
    ("out as a list", lambda m: m.run({"image": X}, out=[X]), "out: expected a dict of arrays"),
    ("out as an array", lambda m: m.run({"image": X}, out=X), "out: expected a dict of arrays"),
    ("no time", lambda m: m.run({"image": X}, timeout_s=float("nan")), "expected seconds, got nan"),
    ("a time in words", lambda m: m.run({"image": X}, timeout_s="1"), "expected seconds, got '1'"),
    ("an array for a time", lambda m: m.run({"image": X}, timeout_s=X), "seconds, got ndarray"),
    ("an array for a method", lambda m: m.session(X), "method ndarray: the program has main"),
    ("an array for a position", lambda m: m.rewind(X), "position: expected an integer from 0"),
    ("a trace", lambda m: m.run({"image": X}, trace=()), "trace: expected a list"),
]  # fmt: skip


@pytest.mark.parametrize("call, words", [r[1:] for r in RUNS], ids=[r[0] for r in RUNS])
def test_run_says_what_it_takes(
    digits: Path, call: Callable[[pteron.Model], Any], words: str
) -> None:
    with pteron.load(digits, threads=1) as model:
        before = model(X)
        with pytest.raises(pteron.ArgumentError) as raised:
            call(model)
        assert words in str(raised.value) and "\n" not in str(raised.value)
        assert np.array_equal(model(X), before)


@pytest.mark.parametrize(
    "shapes, words",
    [
        (None, "prepare: expected a dict of shapes by name, got None"),
        ({}, "missing image"),
        ({"image": X.shape, "more": (1,)}, "no input is called more"),
        ({"image": 3}, "expected a shape, got 3"),
        ({"image": (2, 1, 8)}, "expected shape [batch, 1, 8, 8], got [2, 1, 8]"),
        ({"image": (2.5, 1, 8, 8)}, "expected a shape"),
        ({"image": (-1, 1, 8, 8)}, "extents that an array can have"),
        ({"image": (2**62, 1, 8, 8)}, "extents that an array can have"),
        ({"image": (2**31, 1, 8, 8)}, "expected 0 to 2147483647, got 2147483648"),
    ],
)
def test_prepare_says_what_it_takes(digits: Path, shapes: Any, words: str) -> None:
    with pteron.load(digits, threads=1) as model, pytest.raises(pteron.ArgumentError) as raised:
        model.session().prepare(shapes)
    assert words in str(raised.value)


@pytest.mark.parametrize("of", ["digits.pte", None])
def test_a_session_is_of_a_program(of: Any) -> None:
    with pytest.raises(pteron.ArgumentError, match=r"expected a pteron\.Program"):
        pteron.Session(of)


@pytest.mark.parametrize(
    "kind, given, taken",
    [
        ("INT64", [1, -2], [1, -2]),
        ("INT64", [True, False], [1, 0]),
        ("INT64", [1.5, 2.0], None),
        ("INT64", [2**63, 0], None),
        ("UINT8", [255, 0], [255, 0]),
        ("UINT8", [256, 0], None),
        ("UINT8", [-1, 0], None),
        ("BOOL", [True, False], [True, False]),
        ("BOOL", [2, 0], None),
        ("FLOAT", [1, 2.5], [1, 2.5]),
        ("FLOAT", [1j, 0], None),
    ],
)
def test_lists_are_taken_as_they_are_or_refused(
    tmp_path: Path, kind: str, given: list[Any], taken: list[Any] | None
) -> None:
    dtype = getattr(oh.TensorProto, kind)
    ports = [oh.make_tensor_value_info(n, dtype, [2]) for n in "xy"]
    graph = oh.make_graph([oh.make_node("Identity", ["x"], ["y"])], "g", ports[:1], ports[1:])
    made = oh.make_model(graph, ir_version=10, opset_imports=[oh.make_opsetid("", 20)])
    pteron.export_model(made, tmp_path / "m.pte")
    with pteron.load(tmp_path / "m.pte", threads=1) as model:
        if taken is None:
            with pytest.raises(pteron.ArgumentError, match="expected numbers"):
                model(given)
        else:
            assert model(given).tolist() == taken


def test_attributes_can_be_listed(digits: Path) -> None:
    """Of a program that keeps no context, and of what is closed: what is not there is told as Python tells it."""
    with pteron.load(digits, threads=1) as model:
        session = model.session()
        handles = [model, session, model.program]
        for handle in (model, session):
            assert not hasattr(handle, "position") and not hasattr(handle, "room")
            assert handle.sizes.arena_bytes == 0, "nothing was prepared for that"
            with pytest.raises(pteron.ArgumentError, match="keeps no context"):
                _ = handle.position
        assert all(inspect.getmembers(handle) for handle in handles)
        session.close()
    assert all(inspect.getmembers(handle) and repr(handle) for handle in handles)
    assert not hasattr(model, "position") and not hasattr(model.program, "data")
    closed: list[Callable[[], Any]] = [
        lambda: model(X), model.session, model.save, model.fork, lambda: model.placements, lambda: model.position,
        lambda: session.run({"image": X}), lambda: session.prepare({"image": X.shape}), model.states.reset,
        model.program.check_digests, lambda: model.program.data,
    ]  # fmt: skip
    for call in closed:
        with pytest.raises(pteron.ArgumentError, match=r"was closed; (make another|load it again)"):
            call()


def test_threads_take_turns_in_one_session(digits: Path) -> None:
    images = np.random.default_rng(3).random((8, 5, 1, 8, 8), np.float32)
    with pteron.load(digits, threads=1) as model:
        want = [model(image[: 1 + i % 5]) for i, image in enumerate(images)]
        with ThreadPoolExecutor(8) as pool:
            for _ in range(20):
                made = pool.map(lambda i: model(images[i][: 1 + i % 5]), range(8))
                assert all(np.array_equal(a, b) for a, b in zip(made, want, strict=True))


def test_handles_are_not_copied(digits: Path) -> None:
    with pteron.load(digits, threads=1) as model:
        for handle in (model, model.program, model.session()):
            for copied in (pickle.dumps, copy.copy, copy.deepcopy):
                with pytest.raises(TypeError, match="load the file where it is wanted"):
                    copied(handle)
        assert pickle.loads(pickle.dumps(model.info)) == model.info


def test_a_pipe_is_read(digits: Path) -> None:
    read, write = os.pipe()
    data = digits.read_bytes()

    def fill() -> None:
        with os.fdopen(write, "wb") as pipe:
            pipe.write(data)

    writer = threading.Thread(target=fill)
    writer.start()
    with pteron.load(f"/dev/fd/{read}", threads=1) as piped:
        writer.join()
        os.close(read)
        assert np.array_equal(piped(X), pteron.load(digits, threads=1)(X))


def test_tensors_that_numpy_cannot_see_are_refused_by_name(digits: Path) -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    with pteron.load(digits, threads=1) as model:
        for tensor in (torch.zeros(2, 1, 8, 8).to_sparse(), torch.zeros(2, 1, 8, 8, device="meta")):
            with pytest.raises(pteron.ArgumentError, match="input image: expected a dense array"):
                model(tensor)
        assert model(torch.zeros(2, 1, 8, 8, requires_grad=True)).shape == (2, 10)


def test_generations_of_a_line_of_processors_have_names_of_their_own(tmp_path: Path) -> None:
    """What is kept for a machine (peaks, tuned tiles) must not be taken for another's."""
    info = "processor : 0\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: AMD EPYC\n\nprocessor : 1\nmodel : 0\n"
    names = set[str]()
    for family, model in ((25, 17), (26, 2)):
        (tmp_path / "proc").mkdir(exist_ok=True)
        (tmp_path / "proc/cpuinfo").write_text(info.format(family, model))
        names.add(cpu.machine(tmp_path).partition(", kernels")[0])
    shared = f", {cpu.available()} processors"
    assert names == {
        f"AMD EPYC (family 25, model 17){shared}",
        f"AMD EPYC (family 26, model 2){shared}",
    }
    assert cpu.machine(tmp_path / "none").startswith(platform.processor() or platform.machine())


def test_features_that_the_processor_has_not_are_not_used() -> None:
    """A kernel of them would end the process."""
    have = cpu.allowed(None)
    assert cpu.allowed(2**32 - 1) == have
    one, missing = have & -have, ~have & -~have
    assert cpu.allowed(one) == (one or cpu.allowed(0))
    assert cpu.allowed(missing) == cpu.allowed(0)

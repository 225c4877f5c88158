"""Random numbers: Philox's own answers, what they are like, and where they are refused."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import pteron
from pteron.export.export import export
from pteron.export.file.emit import emit_bytes
from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.lower.ops.moving.random import words
from pteron.export.options import Options
from pteron.export.program.interpret import run
from pteron.export.program.terms import compile_terms, load
from pteron.export.report import Report
from pteron.schema.errors import ArgumentError, LoweringError
from pteron.schema.steps import evaluate

MANY = 20_000


def drawn(text: str, **given: object) -> np.ndarray:
    return run(lower(onnx_text(text, **given)), {})["y"]


@pytest.mark.parametrize(
    ("counter", "key", "wanted"),
    [
        (0, 0, (0xFF1DAE59, 0x6CD10DF2)),
        (0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF, (0x2C3F628B, 0xAB4FD7AD)),
        (0x85A308D3243F6A88, 0x13198A2E, (0xDD7CE038, 0xF62A4C12)),
    ],
)
def test_words_are_those_of_random123(counter: int, key: int, wanted: tuple[int, int]) -> None:
    steps = compile_terms(words(load(0, "i64"), key))
    at = np.array([counter], np.uint64).view(np.int64)
    got = evaluate(steps, [at], (1,))
    assert tuple(int(w[0]) for w in got) == wanted


@pytest.mark.parametrize("dtype", [1, 10, 11, 16])
def test_numbers_are_as_far_apart_as_asked_for(dtype: int) -> None:
    y = drawn(f"y = RandomNormal(shape=[{MANY}], mean=2.0, scale=3.0, seed=7.0, dtype={dtype})")
    y = y.astype(np.float64)
    assert abs(y.mean() - 2) < 0.1 and abs(y.std() - 3) < 0.1
    assert abs(((y - 2) ** 3).mean()) < 3 and 2.7 < ((y - 2) ** 4).mean() / 81 < 3.3
    y = drawn(f"y = RandomUniform(shape=[{MANY}], low=-1.0, high=3.0, seed=7.0, dtype={dtype})")
    counts, _ = np.histogram(y.astype(np.float64), 8, (-1, 3))
    assert counts.sum() == MANY and abs(counts - MANY / 8).max() < 200


def test_draws_by_probabilities() -> None:
    p = np.repeat(np.array([0, 0.25, 1], np.float32), MANY // 4)
    hits = drawn("y = Bernoulli(p, seed=3.0, dtype=9)", p=p).reshape(3, -1).mean(1)
    assert hits[0] == 0 and hits[2] == 1 and abs(hits[1] - 0.25) < 0.02
    x = np.log(np.array([[1, 2, 1, 0], [0, 0, 3, 0]], np.float32) + np.float32(1e-38))
    y = drawn(f"y = Multinomial(x, sample_size={MANY}, seed=1.0, dtype=7)", x=x)
    assert y.dtype == np.int64 and (y[1] == 2).all()
    assert abs(np.bincount(y[0], minlength=4) / MANY - [0.25, 0.5, 0.25, 0]).max() < 0.02


def program(text: str, seed: int | None, report: Report | None = None, **types: str) -> bytes:
    model = onnx_text(text, **types)
    options = Options(random_seed=seed)
    return emit_bytes(export(model, options, report=report))


def test_the_same_bits_at_each_run_and_other_numbers_by_other_seeds() -> None:
    text = "a = RandomNormalLike(x); b = RandomUniformLike(x); y = Concat(a, b, axis=0)"
    feeds, got = {"x": np.zeros((3, 5), np.float32)}, []
    for seed in (1, 1, 2):
        report = Report()
        with pteron.load(program(text, seed, report, x="f32[n, m]"), threads=1) as p:
            got += [p.run(feeds)["y"], p.run(feeds)["y"]]
    assert all((y == got[0]).all() for y in got[:4]) and (got[4] != got[0]).all()
    assert "2 nodes of random numbers" in report.notes[0]
    longer = {"x": np.zeros((4, 5), np.float32)}
    with pteron.load(program(text, 1, x="f32[n, m]"), threads=1) as p:
        assert (p.run(longer)["y"][:3] == got[0][:3]).all(), "an element is a function of its place"


def test_without_a_seed_and_in_loops_they_are_refused() -> None:
    with pytest.raises(LoweringError, match=r"gives random numbers.*--random-seed"):
        program("y = RandomNormalLike(x)", None, x="f32[n]")
    body = onnx.helper.make_graph(
        [
            onnx.helper.make_node("RandomNormal", [], ["r"], shape=[2], seed=1.0),
            onnx.helper.make_node("Identity", ["c"], ["d"]),
        ],
        "body",
        [onnx.helper.make_tensor_value_info(n, k, []) for n, k in (("i", 7), ("c", 9))],
        [
            onnx.helper.make_tensor_value_info("d", 9, []),
            onnx.helper.make_tensor_value_info("r", 1, [2]),
        ],
    )
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Loop", ["n", "go"], ["y"], body=body)],
        "g",
        [info("n", 7, []), info("go", 9, [])],
        [info("y", 1, ["k", 2])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    with pytest.raises(LoweringError, match="random numbers in a loop"):
        export(model)
    with pytest.raises(ArgumentError, match="random_seed: expected an integer"):
        program("y = RandomNormalLike(x)", -1, x="f32[n]")

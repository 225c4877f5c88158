"""A graph in segments gives the values of the graph, each weight read once, few at a time, whatever lies across the cuts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx import numpy_helper

from pteron.export import graph as graphs
from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.text import onnx_text
from pteron.export.passes import run_passes
from pteron.quantize.observe.segmented import Order, in_segments
from pteron.quantize.observe.statistics import collect
from pteron.quantize.recipe.layers import layers
from pteron.recording import record

WIDTH, DEPTH = 32, 5


def network(depth: int = DEPTH) -> onnx.ModelProto:
    """Blocks with a residual each, whose sizes are taken from their own input; a mask of the first input and a branch go all the way."""
    lines = ["masked = Greater(x, zero)", "any = ReduceMax <keepdims = 0> (x)", "up = Greater(any, zero)"]  # fmt: skip
    x = "x"
    for i in range(depth):
        lines += [
            f"s{i} = Shape({x})",
            f"p{i} = MatMul({x}, w{i})",
            f"q{i} = Reshape(p{i}, s{i})",
            f"m{i} = Where(masked, q{i}, {x})",
            f"b{i} = If(up) <then_branch = t{i} () => (float[n, {WIDTH}] tu{i}) {{ tu{i} = Add(m{i}, {x}) }}, "
            f"else_branch = e{i} () => (float[n, {WIDTH}] eu{i}) {{ eu{i} = Sub(m{i}, x) }}>",
        ]
        x = f"b{i}"
    text = "\n".join(lines)
    model = onnx.parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 21]>\nblocks (float[n, {WIDTH}] x) => (float[n, {WIDTH}] y)\n'
        f"{{\n{text}\ny = Identity({x})\n}}"
    )
    rng = np.random.default_rng(0)
    held = {
        f"w{i}": rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) / 8 for i in range(depth)
    }
    held["zero"] = np.zeros((), np.float32)
    model.graph.initializer.extend(numpy_helper.from_array(v, k) for k, v in held.items())
    return model


def samples(lengths: Sequence[int]) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(1)
    return [
        {"x": rng.standard_normal((n, WIDTH)).astype(np.float32) - (i % 2) * 9}
        for i, n in enumerate(lengths)
    ]


@pytest.mark.parametrize("lengths", [(4, 4, 4), (3, 7, 5, 3)], ids=["one size", "any size"])
@pytest.mark.parametrize("each", [1, 2, 4])
def test_stretches_give_what_the_graph_gives(lengths: Sequence[int], each: int) -> None:
    model = capture_onnx(network(), opset=21)
    run_passes(model)
    graphs.infer(model)
    wanted = [str(layer.node.inputs[0].name) for layer in layers(model)]  # type: ignore[union-attr]
    assert len(wanted) == DEPTH
    given = samples(lengths)
    whole = list(record(model, wanted, given))
    parts = [wanted[i : i + each] for i in range(0, DEPTH, each)]
    seen = []
    for part, runs in zip(parts, in_segments(model, parts, iter(given), record), strict=True):
        got = list(runs)
        assert [set(values) for values in got] == [set(part)] * len(given)
        for values, want in zip(got, whole, strict=True):
            for name in part:
                np.testing.assert_array_equal(values[name], want[name])
        seen += part
    assert seen == wanted


def test_each_weight_is_run_once_and_few_at_a_time() -> None:
    model = capture_onnx(network(), opset=21)
    run_passes(model)
    graphs.infer(model)
    runs: list[list[str]] = []

    def counting(
        some: ir.Model, wanted: Sequence[str], given: Iterable[Mapping[str, Any]]
    ) -> Iterator[Mapping[str, Any]]:
        runs.append([n for n, v in some.graph.initializers.items() if v.shape == (WIDTH, WIDTH)])
        return record(some, wanted, given)

    sums = 12 * WIDTH**2 + 4 * 1024 * WIDTH
    limit = 2 * (sums + 4 * WIDTH**2) + 64  # two layers
    found = layers(model)
    made = list(collect(model, found, samples((4, 4)), counting, limit))
    assert [len(r.layers) for r in made] == [1] * DEPTH
    weights = [name for run in runs for name in run]
    assert len(runs) >= DEPTH // 2 and len(weights) == len(set(weights)) == DEPTH - 1
    assert max(map(len, runs)) <= 2
    alone = list(collect(model, found, samples((4, 4)), record, 1 << 30))
    for a, b in zip(made, alone, strict=True):
        assert a.layers == b.layers and a.samples == b.samples == 2
        np.testing.assert_array_equal(a.moments.second, b.moments.second)


def test_files_hold_what_is_still_to_be_read_and_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    model = capture_onnx(network(), opset=21)
    run_passes(model)
    graphs.infer(model)
    wanted = [str(layer.node.inputs[0].name) for layer in layers(model)]  # type: ignore[union-attr]
    sizes = []
    for runs in in_segments(model, [[w] for w in wanted], samples((4, 6)), record):
        for _ in runs:
            pass
        sizes.append([f.stat().st_size for f in tmp_path.rglob("*") if f.is_file()])
    assert sizes[0] == [10 * 4 * WIDTH] and max(map(len, sizes)) <= 4 and len(sizes[-1]) <= 3
    assert list(tmp_path.iterdir()) == []


def test_a_value_that_a_stretch_does_not_read_waits_for_the_next() -> None:
    text = "h = MatMul(x, v); a = MatMul(h, w); b = MatMul(a, w); y = Add(b, h); z = MatMul(y, w)"
    rng = np.random.default_rng(4)
    weights = {n: rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) for n in ("v", "w")}
    model = onnx_text(text, outputs="z", x=f"f32[n, {WIDTH}]", **weights)
    graphs.infer(model)
    given = samples((4, 6))
    whole = list(record(model, ["a", "b", "y"], given))
    found: dict[str, list[np.ndarray]] = {}
    for name, runs in zip(
        "aby", in_segments(model, [["a"], ["b"], ["y"]], given, record), strict=True
    ):
        found[name] = [values[name] for values in runs]
    for name, values in found.items():
        for got, want in zip(values, whole, strict=True):
            np.testing.assert_array_equal(got, want[name])


def test_places_and_bytes_are_of_the_order_of_nodes() -> None:
    order = Order(capture_onnx(network(2), opset=21).graph)
    at = [order.place(order.values[name]) for name in ("x", "p0", "b0", "p1", "b1")]
    assert at == sorted(at) and at[0] == 0
    one = 4 * WIDTH**2
    assert order.weights(0, "p0") - one in (0, 4) and order.weights(at[1], "p1") == one
    assert order.weights(at[3], "b1") == 0


def test_what_a_later_stretch_starts_from_is_made_beside_a_part_that_does_not_need_it() -> None:
    """d, of a, is made before e, of b: the second segment starts from both a and b."""
    model = onnx_text(
        "a = Relu(x); b = Exp(a); d = Neg(a); e = Sqrt(b); y = Add(e, d)", x="f32[2, 3]"
    )
    graphs.infer(model)
    given = [{"x": np.random.default_rng(i).standard_normal((2, 3)).astype(np.float32)} for i in range(2)]  # fmt: skip
    found = [list(part) for part in in_segments(model, [["b"], ["e"], ["y"]], given, record)]
    for number, sample in enumerate(given):
        a = np.maximum(sample["x"], 0)
        want = {"b": np.exp(a), "e": np.exp(a / 2), "y": np.exp(a / 2) - a}
        for part, name in zip(found, want, strict=True):
            np.testing.assert_allclose(part[number][name], want[name], rtol=1e-5)

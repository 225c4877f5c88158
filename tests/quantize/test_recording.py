"""What calibration reads of a graph: its values, however their memory lies, and of many places some."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from pteron.export import graph as g
from pteron.export.graph.text import onnx_text
from pteron.quantize.observe.layer_inputs import Reading, Window, rows
from pteron.recording import record

RNG = np.random.default_rng(5)
PICTURES = """
a = Conv(x, w, pads=[1, 1, 1, 1]); b = Relu(a); c = Conv(b, each, group=4)
d = Conv(line, short); e = GlobalMaxPool(b); f = MatMul(c, flat); k = Add(e, x0)
"""


def pictures() -> ir.Model:
    shapes = {"w": (4, 3, 3, 3), "each": (4, 1, 3, 3), "short": (5, 4, 2), "flat": (3, 8)}
    weights = {n: RNG.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    inputs = {"x": "f32[n, 3, 6, 5]", "line": "f32[2, 4, 7]", "x0": "f32[n, 4, 1, 1]"}
    return onnx_text(PICTURES, **weights, **inputs)


@pytest.mark.parametrize("last", [False, True], ids=["channels first", "channels last"])
def test_values_are_the_graphs(last: bool) -> None:
    model = pictures()
    wanted = ["a", "b", "c", "d", "e", "f", "k", "x", "line"]
    given = []
    for n in (1, 2, 1):
        shapes = {"x": (n, 3, 6, 5), "line": (2, 4, 7), "x0": (n, 4, 1, 1)}
        sample = {k: RNG.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
        if last:
            sample = {
                k: np.moveaxis(np.moveaxis(x, 1, -1).copy(), -1, 1) for k, x in sample.items()
            }
        given.append(sample)
    proto = g.proto(model)
    inner = [name for name in wanted if name not in given[0]]
    del proto.graph.output[:]
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
    evaluator = ReferenceEvaluator(proto)
    runs = list(record(model, wanted, given))
    assert len(runs) == len(given)
    for got, sample in zip(runs, given, strict=True):
        feeds = {name: np.ascontiguousarray(x) for name, x in sample.items()}
        made = dict(zip(inner, evaluator.run(inner, feeds), strict=True))
        assert list(got) == wanted
        for name, x in got.items():
            np.testing.assert_allclose(x, (made | feeds)[name], rtol=1e-4, atol=1e-5)
        assert got["b"].transpose(0, 2, 3, 1).flags.c_contiguous  # as a convolution has it
        assert got["f"].flags.c_contiguous


@pytest.mark.parametrize(
    "window, x",
    [
        (Window((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)), "", 2), (1, 4, 13, 11)),
        (Window((2, 2), (2, 1), (1, 2), ((0, 0), (0, 0)), "SAME_UPPER", 1), (2, 3, 9, 10)),
        (Window((4,), (1,), (1,), ((0, 3),), "", 3), (1, 3, 40)),
        (Window((1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)), "", 1), (1, 8, 1, 30)),
    ],
    ids=["depthwise", "same", "line", "one tap"],
)
def test_turns_meet_every_place_once(window: Window, x: tuple[int, ...]) -> None:
    picture = RNG.standard_normal(x).astype(np.float32)
    how = Reading("x", window=window)
    whole = rows(how, picture)
    few = rows(how, picture, most=9, turn=0)
    assert 9 * len(picture) <= few.shape[1] < whole.shape[1]
    met = few
    for turn in itertools.count(1):
        if met.shape[1] >= whole.shape[1]:
            break
        met = np.concatenate([met, rows(how, picture, 9, turn)], 1)
    assert sorted(map(bytes, met[0].copy())) == sorted(map(bytes, whole[0].copy()))
    np.testing.assert_array_equal(rows(how, picture, whole.shape[1]), whole)

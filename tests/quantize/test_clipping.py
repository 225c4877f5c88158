"""Ranges without outliers: what the rules find, beside onnxruntime's calibrators and searches over the elements themselves."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from passes.static import quantized, reference

import pteron
from pteron.export.graph.text import onnx_text
from pteron.quantize.observe.calibrate import Ranges, ranges_of
from pteron.quantize.observe.clipping import (
    BINS,
    LEAST,
    RULES,
    SHARES,
    Histogram,
    clipped,
    histograms,
)
from pteron.quantize.observe.grids import grid_of
from pteron.quantize.recipe.rules import RANGES, recipe
from pteron.schema.errors import RecipeError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(5)
MANY = 60_000
KINDS = ("uniform and two", "heavy tails", "heavy tail", "exponential")


def elements(kind: str, many: int = MANY) -> Array:
    rng = np.random.default_rng(6)
    made: dict[str, Array] = {
        "uniform and two": np.r_[rng.uniform(-1, 1, many), 4, -4],
        "heavy tails": rng.standard_t(4, many),
        "heavy tail": np.abs(rng.standard_t(4, many)),
        "exponential": rng.exponential(size=many),
    }
    return made[kind]


def histogram(x: Array) -> Histogram:
    ends = min(0.0, float(x.min())), max(0.0, float(x.max()))
    return Histogram(*ends, np.zeros(BINS, np.int64)).added(x.astype(np.float32))


def onnxruntimes(x: Array, method: str, folder: Path, **options: int) -> tuple[float, float]:
    """The range of y = x by its calibrator."""
    calibrate = pytest.importorskip(
        "onnxruntime.quantization.calibrate", reason="onnxruntime is not installed"
    )
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [len(x)]) for n in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", *([p] for p in ports))  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "m.onnx")
    left = iter([{"x": x.astype(np.float32)}])

    class Reader(calibrate.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def get_next(self) -> Any:
            return next(left, None)

    judge = calibrate.create_calibrator(
        folder / "m.onnx", None, folder / "more.onnx", getattr(calibrate.CalibrationMethod, method),
        extra_options={"symmetric": False, **options},
    )  # fmt: skip
    judge.collect_data(Reader())
    low, high = (float(np.ravel(v)[0]) for v in judge.compute_data()["y"].range_value)
    return low, high


@pytest.mark.parametrize("kind", KINDS)
def test_percentiles_are_those_of_onnxruntime_within_its_bins(kind: str, tmp_path: Path) -> None:
    x = elements(kind, 8 * MANY)  # of fewer none lies outside
    got, want = RULES["percentile"](histogram(x)), onnxruntimes(x, "Percentile", tmp_path)
    bins = 2 * np.abs(x).max() / BINS
    assert np.abs(np.subtract(got, want)).max() <= 2.01 * bins
    assert got[1] < x.max()


@pytest.mark.parametrize("kind", KINDS)
def test_divergence_clips_where_onnxruntime_does(kind: str, tmp_path: Path) -> None:
    """About: it cuts bins into codes by whole numbers and leaves the rest to the last. Its codes are spent on both signs."""
    x = elements(kind)
    both = 1 if x.min() < 0 else 2
    bins = {"num_bins": both * BINS, "num_quantized_bins": both * 256}
    got, want = RULES["entropy"](histogram(x)), onnxruntimes(x, "Entropy", tmp_path, **bins)
    np.testing.assert_allclose(got, want, rtol=0.2, atol=1e-3)
    assert got[1] < 0.95 * x.max()


def missed(x: Array, low: float, high: float) -> float:
    grid = grid_of(low, high)
    codes = np.clip(np.rint(x / float(grid.scale)) + grid.zero, -128, 127)
    return float(np.square((codes - grid.zero) * float(grid.scale) - x).mean())


@pytest.mark.parametrize("kind", KINDS)
def test_no_other_range_misses_much_less(kind: str) -> None:
    x = elements(kind)
    got = missed(x, *RULES["mse"](histogram(x)))
    parts = [i / SHARES for i in range(LEAST, SHARES + 1, 8)]
    lows = [x.min() * p for p in parts] if x.min() < 0 else [0.0]
    highs = [x.max() * p for p in parts]
    assert got <= 1.02 * min(missed(x, *pair) for pair in itertools.product(lows, highs))
    assert got < missed(x, float(x.min()), float(x.max()))


@pytest.mark.parametrize("rule", RULES)
def test_what_lies_on_codes_stays(rule: str) -> None:
    """Zeros, as many as they are, and a Relu6's ends are no outliers."""
    x = np.r_[np.zeros(9 * MANY), np.clip(RNG.standard_normal(MANY) * 4, 0, 6)]
    assert RULES[rule](histogram(x)) == (0, 6)


@pytest.mark.parametrize("rule", RULES)
def test_one_element_one_sign_and_none(rule: str) -> None:
    for x in ([3.0], [-3.0], [1.0] * 9, [-2.0, -1.0], [1e-30, 2e-30], [-1e30, 1e30]):
        array = np.array(x)
        low, high = RULES[rule](histogram(array))
        assert min(0.0, array.min()) * 1.001 <= low <= 0 <= high <= max(0.0, array.max()) * 1.001
        assert low < high
    model = onnx_text("y = Relu(x)", x="f32[1, 4]")
    none = {"x": np.full((1, 4), -1, np.float32)}
    assert clipped(model, {"y": (0.0, 0.0)}, rule, [none], reference) == {}


def test_samples_count_the_same_in_any_order() -> None:
    model = onnx_text("y = Relu(x)", x="f32[1, 300]")
    given = [{"x": RNG.standard_normal((1, 300)).astype(np.float32) * 10**i} for i in range(5)]
    ends = {"x": (-40000.0, 40000.0), "y": (0.0, 40000.0)}
    one, other = (histograms(model, ends, some, reference) for some in (given, given[::-1]))
    for name in ends:
        assert one[name].counts.tobytes() == other[name].counts.tobytes()
        assert one[name].zeros == other[name].zeros
        assert one[name].whole().sum() == 1500
    for rule in RULES:
        found = [clipped(model, ends, rule, some, reference) for some in (given, given[::-1])]
        assert found[0] == found[1]


# --- in a network ---------------------------------------------------------------------------------------------------------


def network(depth: int = 3) -> tuple[Any, dict[str, Array]]:
    """Convolutions whose inner values are equalized, and samples one element of which lies far out."""
    rng = np.random.default_rng(2)
    w = [rng.standard_normal((8, 8, 3, 3)).astype(np.float32) / 8 for _ in range(depth)]
    lines = [f"c{i} = Conv({'x' if i == 0 else f'r{i - 1}'}, w{i}); r{i} = Relu(c{i})" for i in range(depth)]  # fmt: skip
    model = onnx_text("; ".join(lines), x="f32[1, 8, 12, 12]", **{f"w{i}": a for i, a in enumerate(w)})  # fmt: skip
    x = rng.standard_normal((6, 8, 12, 12)).astype(np.float32)
    x[3, 2, 4, 4] = 60
    return model, {"x": x}


@pytest.mark.parametrize("rule", RULES)
def test_ranges_of_a_rule_are_a_file_that_gives_the_same_model(rule: str) -> None:
    made = []
    source: Any = network()[1]
    for wanted in (recipe("int8", range=rule), recipe("int8"), recipe("int8", range=rule)):
        model = network()[0]
        how = recipe("int8", algorithm="nearest", range=wanted.range)
        report = quantized(model, source, how)
        assert report.ranges is not None and report.ranges.rule == rule
        made.append({n: v.const_value.tobytes() for n, v in model.graph.initializers.items()})
        source = ranges_of(report.ranges.as_json(), "r.json")
        assert source.as_json() == report.ranges.as_json()
    assert made[0] == made[1] == made[2]
    whole = quantized(network()[0], network()[1], recipe("int8", algorithm="nearest"))
    pairs = list(zip(whole.activations, report.activations, strict=True))
    assert all(narrow.scale <= wide.scale for wide, narrow in pairs)
    assert rule == "percentile" or any(narrow.scale < 0.99 * wide.scale for wide, narrow in pairs)
    assert {row.name for row in whole.activations} == set(source.clipped)


def test_ranges_of_another_rule_are_refused() -> None:
    ranges = Ranges(1, {"x": (-1.0, 1.0)})
    for rule, text in (("mse", "got ranges of minmax"), ("minmax", "")):
        with pytest.raises(RecipeError, match=text or "no range for 'r0'"):
            quantized(network()[0], ranges, recipe("int8", range=rule))
    with pytest.raises(RecipeError, match="expected one of minmax, percentile, entropy, mse"):
        recipe("int8", range="kl")
    assert RANGES[1:] == tuple(RULES)


def test_ranges_of_version_2_are_read_and_of_no_rule_refused() -> None:
    text = '{"format": "pteron.ranges", "version": 2, "samples": 1, "ranges": {"x": [0, 1]}, "channels": {}}'
    assert ranges_of(text, "r.json") == Ranges(1, {"x": (0.0, 1.0)})
    for broken in (
        text.replace('"samples"', '"rule": "kl", "samples"'),
        text.replace('"samples"', '"clipped": {"x": [1, 0]}, "samples"'),
        text.replace('"samples"', '"rule": [], "samples"'),
        text.replace(" 2,", " 4,"),
    ):
        with pytest.raises(RecipeError, match=r"r\.json"):
            ranges_of(broken, "r.json")


def test_an_outlier_among_the_samples_costs_less(tmp_path: Path) -> None:
    """What ranges without it are for: the error on samples that have none."""
    import onnx_ir as ir

    model, given = network()
    onnx.save(ir.serde.serialize_model(model), tmp_path / "m.onnx")
    x = np.random.default_rng(9).standard_normal((1, 8, 12, 12)).astype(np.float32)
    error = {}
    pteron.export_model(tmp_path / "m.onnx", tmp_path / "f.pte")
    want = pteron.load(tmp_path / "f.pte", threads=1)(x)
    for rule in RANGES:
        wanted = recipe("int8", range=rule, algorithm="nearest")
        pteron.export_model(tmp_path / "m.onnx", tmp_path / "m.pte", quantize=wanted, calibrate=given)  # fmt: skip
        got = pteron.load(tmp_path / "m.pte", threads=1)(x)
        error[rule] = float(np.square(got - want).mean())
    assert error["mse"] < 0.9 * error["minmax"] and error["entropy"] < 0.9 * error["minmax"]

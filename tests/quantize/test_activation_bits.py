"""Static int8 under a largest loss: which units compute in int16 and f32; what metrics say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from passes.static import operators, values_of

import pteron
import pteron.export.graph as graphs
from pteron.cli import main
from pteron.export.graph.text import onnx_text
from pteron.export.passes.int8 import integer_nodes
from pteron.quantize.mixed import activation_bits
from pteron.quantize.mixed.activation_bits import simulated
from pteron.quantize.mixed.sensitivity import METRICS, losses_of, sure
from pteron.quantize.observe.calibrate import calibrated
from pteron.quantize.observe.grids import FLOAT, grids_of, observed
from pteron.quantize.quantize import Calibration, Method, _solver, quantize_model
from pteron.quantize.recipe.file import targeted
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.recipe.units import units
from pteron.quantize.report import QuantReport
from pteron.quantize.static.qdq import quantize_static
from pteron.recording import record
from pteron.schema.errors import QuantError, RecipeError

RNG = np.random.default_rng(11)
FINE = RNG.standard_normal((8, 4, 1, 1)).astype(np.float32)
COARSE = RNG.standard_normal((8, 8, 1, 1)).astype(np.float32)
COARSE[0] *= 400  # a channel that leaves the others few steps
TURN = RNG.standard_normal((8, 8, 1, 1)).astype(np.float32)
TURN[:, 0] = 0


def network(width: int = 48) -> ir.Model:
    """Clip stands between channels of unlike ranges and what could equalize them.

    So wide that int16 saves more than it costs where bits change.
    """
    rng = np.random.default_rng(11)
    shapes = {"fine": (width, 4, 1, 1), "coarse": (width, width, 3, 3), "turn": (width, width, 3, 3)}  # fmt: skip
    held = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    held["coarse"][0] *= 400
    held["turn"][:, 0] = 0
    pads = "pads=[1, 1, 1, 1]"
    return onnx_text(
        f"a = Relu(Conv(x, fine)); b = Clip(Conv(a, coarse, {pads}), low, high); c = Relu(Conv(b, turn, {pads})); "
        f"y = Conv(c, turn, {pads})",
        x="f32[1, 4, 6, 6]", low=np.float32(-1e4), high=np.float32(1e5), **held,
    )  # fmt: skip


def given(count: int = 8, seed: int = 3) -> list[dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return [{"x": rng.standard_normal((1, 4, 6, 6)).astype(np.float32)} for _ in range(count)]


def quantized(
    most: float | None, metric: str = "cosine", **how: Any
) -> tuple[ir.Model, QuantReport]:
    model = network()
    wanted = targeted(recipe("int8"), None, None, most, (), metric)
    calibration = Calibration(given(), record, 8)
    return quantize_model(
        model, wanted, calibration=calibration, method=Method(runner=record, **how)
    )


def test_the_units_around_what_loses_most_compute_in_int16() -> None:
    loose = quantized(None)[1]
    assert loose.in_int16 == loose.in_f32 == [] and loose.relative_time == 1
    model, report = quantized(20.0, evaluate=given(8, 3))
    assert report.loss is not None and report.loss <= 20.0
    assert {"coarse"} <= {*report.in_int16} < {r.name for r in report.layers} | {*report.in_f32}
    assert 16 in {a.bits for a in report.activations if a.name == "b"}
    assert {a.bits for a in report.activations} == {8, 16}
    assert {r.name for r in report.layers} >= {"coarse"}  # its weight has 8 bits all the same
    assert 1 < report.relative_time < 3
    assert report.as_dict()["in_int16"] == report.in_int16
    text = report.as_text()
    assert f"{'coarse':40s} computes in int16" in text
    assert f"a run takes about {report.relative_time:.2f} times as long as in int8" in text
    whole = quantized(None, evaluate=given(8, 3))[1]
    assert whole.loss is not None and whole.loss > 20.0
    integer_nodes(model)
    kinds = operators(model)
    assert kinds.count("pteron.Conv") == 4 - len(report.in_f32) > 1
    bits = {n.inputs[0].dtype for n in model.graph if n.op_type == "Conv"}
    assert bits >= {ir.DataType.INT8, ir.DataType.INT16}


def test_a_loss_that_holds_leaves_all_in_int8_and_one_that_cannot_is_refused() -> None:
    assert quantized(1e4)[1].in_f32 == []
    with pytest.raises(QuantError, match=r"max-loss: expected at most 1e-09, which leaves no unit"):
        quantized(1e-9)


def test_units_whose_rounded_weights_lose_more_compute_in_f32() -> None:
    """A column of large weights reads a channel that hardly moves, and leaves the others few steps."""
    quiet, uneven = FINE.copy(), COARSE.copy()
    quiet[1] *= 1e-4
    uneven[:, 1] = 300
    model = onnx_text(
        "a = Clip(Conv(x, fine), low, high); b = Clip(Conv(a, coarse), low, high); c = Relu(Conv(b, turn)); y = Conv(c, last)",
        x="f32[1, 4, 6, 6]", fine=quiet, coarse=uneven, turn=TURN, last=FINE[:, :, 0, 0].T[:4, :, None, None].copy(), low=np.float32(-1e4), high=np.float32(1e4),
    )  # fmt: skip
    wanted = targeted(recipe("int8"), None, None, 20.0, ())
    calibration = Calibration(given(), record, 8)
    report = quantize_model(
        model, wanted, calibration=calibration, method=Method(runner=record, evaluate=given(8, 3))
    )[1]
    weights = [r.name for r in report.layers]
    assert report.loss is not None and report.loss <= 20
    assert "coarse" in report.in_f32
    assert weights and not {*weights} & {*report.in_f32}
    assert f"{'coarse':40s} computes in f32, weight too" in report.as_text()
    assert report.as_dict()["in_f32"] == report.in_f32
    assert "coarse" in model.graph.initializers


@pytest.mark.parametrize("rounded", [True, False])
def test_the_bias_of_a_unit_in_int16_takes_the_mean_of_what_rounding_moved(rounded: bool) -> None:
    """Loud channel 0 makes the others of `a` round to zero: where a unit in int8 makes `a`, its reader's bias has their mean."""
    model = onnx_text(
        "a = Clip(Conv(x, w, b), low, high); y = Conv(a, v, c)",
        x="f32[1, 4, 6, 6]", low=np.float32(0), high=np.float32(1e4), b=np.full(8, 0.4, np.float32),
        w=COARSE[:, :4] * np.float32([1, *[0.01] * 7])[:, None, None, None],
        v=np.abs(TURN), c=np.zeros(8, np.float32),
    )  # fmt: skip
    graphs.infer(model)
    wanted, data = recipe("int8"), given()
    calibration = Calibration(data, record, 8)
    plan = units(model, wanted)[0]
    ranges = calibrated(model, observed(plan), data, record, 8)
    bits = (8 if rounded else 16, 16)
    found = _solver(model, plan, ranges, wanted, calibration, Method(), None)(bits)
    copy = model.clone()
    quantize_static(copy, units(copy, wanted)[0], ranges, found, bits)
    want, got = (np.concatenate([values_of(m, s)["y"] for s in data]) for m in (model, copy))
    error = (got - want).mean((0, 2, 3))
    assert np.abs(error).max() < 0.02 * want.mean(), error


@pytest.mark.parametrize("most", [20.0, 2.0])
def test_a_program_of_a_mix_is_the_model_that_is_written(tmp_path: Path, most: float) -> None:
    wanted = targeted(recipe("int8"), None, None, most, ())
    done: list[QuantReport] = []
    pteron.export_model(
        network(), tmp_path / "a.pte", quantize=wanted, calibrate=given(), quantized=done.append
    )
    assert bool(done[0].in_int16) == (most == 20) and done[0].in_f32, done[0].as_text()
    kinds = {"int8-static", "int16-static"} if most == 20 else {"int8-static"}
    assert {r.activations for r in done[0].layers} == kinds
    model = quantized(most)[0]
    integer_nodes(model)
    runs = pteron.load(tmp_path / "a.pte")
    for sample in given(3, 5):
        want = values_of(model, sample)["y"]
        np.testing.assert_allclose(
            runs(sample["x"]), want, rtol=1e-4, atol=1e-4 * np.abs(want).max()
        )


BRANCHES = (
    "a = Relu(Conv(x, fine)); m = MaxPool(a, kernel_shape=[1, 1]); b = Conv(m, turn); c = Add(b, a); d = Softplus(c); "
    "y = Conv(c, turn); z = Identity(c)"
)


@pytest.mark.parametrize("more", [16, FLOAT])
@pytest.mark.parametrize("kept", [(), (0,), (0, 2), (1,), (2, 3), (0, 3, 4), (0, 1, 2, 3, 4)])
def test_a_mix_in_the_simulation_is_the_model_that_is_written(
    kept: tuple[int, ...], more: int
) -> None:
    """Values of several readers, one that is moved, one that is an output, too."""
    model = onnx_text(BRANCHES, x="f32[1, 4, 6, 6]", fine=FINE, turn=TURN)
    graphs.infer(model)
    wanted, data = recipe("int8"), given()
    plan = units(model, wanted)[0]
    assert len(plan) == 5
    ranges = calibrated(model, observed(plan), data, record, 8)
    written = model.clone()
    bits = tuple(more if i in kept else 8 for i in range(len(plan)))
    quantize_static(written, units(written, wanted)[0], ranges, {}, bits)
    program = simulated(model, plan, grids_of(plan, ranges, 8))
    some = [r.share([bits[i] for i in r.owners]) > 0.5 for r in program.roundings]
    assert sum(rounding.stored for rounding in program.roundings) == 3
    for sample in data[:2]:
        want, got = values_of(written, sample), values_of(model, program.done(sample, some))
        for name in (str(v.name) for v in written.graph.outputs):
            error = np.linalg.norm(got[name] - want[name]) / np.linalg.norm(want[name])
            assert error < (1e-4 if more == FLOAT else 0.02)  # a value near two steps of int8
            if more == FLOAT:
                close = 1e-4 * np.abs(want[name]).max()
                np.testing.assert_allclose(got[name], want[name], rtol=1e-4, atol=close)


@pytest.mark.parametrize("floor", [0.0, 0.5])
@pytest.mark.parametrize("bend", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("most", [0.6, 1.0, 3.0, 7.9])
def test_few_mixes_are_measured_and_the_loss_holds(floor: float, bend: float, most: float) -> None:
    """Whether roundings lose what they lose alone, more or less, and however the loss follows from the error."""
    left = [float(x) for x in np.linspace(1, 0, 41) ** 2]
    asked: list[int] = []

    def spare(step: int) -> float:
        asked.append(step)
        error = left[step] ** (bend / 2)
        return activation_bits._spare(lambda times: floor + (8 - floor) * times * error, most)

    found = activation_bits._first(left, spare(0), spare)
    assert spare(found) >= 1
    assert len(set(asked)) <= activation_bits.MEASURED + 2
    best = next(i for i in range(41) if spare(i) >= 1)
    assert found <= best + 2, (found, best)


def test_what_holds_and_has_nothing_to_spare_is_found_at_once() -> None:
    left = [float(x) for x in np.linspace(1, 0, 41) ** 2]
    asked: list[int] = []

    def spare(step: int) -> float:
        asked.append(step)
        return 0.52 / (left[step] ** 0.5)

    assert activation_bits._first(left, 0.52, spare) == 20
    assert asked == [20]


def test_a_step_before_one_that_is_no_result_is_found_however_late() -> None:
    """Which all but the last unit in f32 reaches alone: an error said that none does."""
    left = [4000.0 - i for i in range(4001)]
    asked: list[int] = []

    def spare(step: int) -> float:
        asked.append(step)
        return 0.5 if step < 3999 else 1.0

    assert activation_bits._first(left, 0.5, spare) == 3999
    assert len(asked) <= 9
    assert activation_bits._first(left, 0.5, lambda step: 0.5) == 4000


def test_a_largest_loss_is_kept_on_the_evaluation_where_there_is_one() -> None:
    loud = [{"x": 0.01 * s["x"]} for s in given(8, 7)]  # few steps of every grid
    plain, other = quantized(30.0)[1], quantized(30.0, evaluate=loud)[1]
    assert other.loss is not None and other.loss <= 30.0
    assert other.relative_time > plain.relative_time


def test_what_a_largest_loss_asks_for() -> None:
    wanted = targeted(recipe("int8"), None, None, 2.0, ())
    ranges = quantized(None)[1].ranges
    assert ranges is not None
    with pytest.raises(RecipeError, match="max-loss: expected samples to measure with"):
        quantize_model(network(), wanted, calibration=Calibration(ranges, record, 8))
    for other in ({"bits": 5.0, "size": None}, {"bits": None, "size": 1000}):
        with pytest.raises(RecipeError, match=r"target_.*: expected weights alone"):
            quantize_model(
                network(), targeted(recipe("int8"), other["bits"], other["size"], None, ()),
                calibration=Calibration(given(), record, 8),
            )  # fmt: skip
    with pytest.raises(
        RecipeError, match="metric 'top5': expected one of cosine, top1, perplexity"
    ):
        targeted(recipe("int8"), None, None, 2.0, (), "top5")


def test_samples_ask_for_gptq_and_ranges_for_nearest() -> None:
    report = quantized(None)[1]
    assert {r.algorithm for r in report.layers} == {"gptq"}
    assert report.ranges is not None
    again = Calibration(report.ranges, record, 8)
    assert {
        r.algorithm for r in quantize_model(network(), recipe("int8"), calibration=again)[1].layers
    } == {"nearest"}


# --- metrics ------------------------------------------------------------------------------------------------------------


def test_top1_counts_vectors_whose_largest_element_is_another() -> None:
    want = np.array([[1, 2, 3], [3, 2, 1], [0, 5, 0], [1, 1, 0]], np.float32)
    got = np.array([[1, 2, 9], [1, 2, 0], [0, 9, 1], [1, 2, 0]], np.float32)
    assert METRICS["top1"].each(want, got, {}).tolist() == [0, 1, 0, 1]
    assert METRICS["top1"].whole(0.25) == 25


def test_errors_of_other_vectors_tell_how_often_the_largest_element_moves() -> None:
    """Of two classes a distance of 1 apart an error of N(0, s) in their difference moves P(N > 1 / s)."""
    rng = np.random.default_rng(4)
    want = [{"y": np.float32([[1, 0]] if rng.integers(2) else [[0, 1]])} for _ in range(400)]
    made = [{"y": w["y"] + np.float32([[rng.normal(0, 0.6), 0]])} for w in want]
    assert abs(sure(want, made, "top1") - 100 * 0.0478) < 1
    assert sure(want, want, "top1") == sure(want, made, "cosine") == 0
    assert sure(want[:1], made[:1], "top1") == 0  # there are no others


def test_perplexity_is_that_of_the_next_tokens() -> None:
    rng = np.random.default_rng(2)
    tokens = rng.integers(0, 7, (2, 5))
    table = rng.standard_normal((7, 7)).astype(np.float32)
    model = onnx_text("y = Gather(table, x)", x="i64[2, 5]", table=table)
    other = onnx_text("y = Gather(table, x)", x="i64[2, 5]", table=2 * table)
    got = list(losses_of(model, [model, other], [{"x": tokens}], record, "perplexity"))
    for loss, logits in zip(got, (table, 2 * table), strict=True):
        odds = np.exp(logits[tokens[:, :-1]].astype(np.float64))
        odds /= odds.sum(-1, keepdims=True)
        chosen = [odds[i, j, tokens[i, j + 1]] for i in range(2) for j in range(4)]
        np.testing.assert_allclose(loss, np.prod(chosen) ** (-1 / 8), rtol=1e-5)
    with pytest.raises(RecipeError, match="metric perplexity: expected logits"):
        quantized(2.0, "perplexity")


def test_an_evaluation_is_told_in_words_of_the_metric(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    images = (np.load(root / "examples/digits/test.npz")["image"][:64] / 16).astype(np.float32)
    np.savez(tmp_path / "x.npz", image=images)
    source, samples = str(root / "examples/digits/digits.onnx"), str(tmp_path / "x.npz")
    words = ["quantize", source, "-o", str(tmp_path / "q.pte"), "-q", "--evaluate", samples]
    assert main([*words, "--format", "int2", "--metric", "top1"]) == 0
    assert "the largest element is another in " in capsys.readouterr().out
    assert main([*words, "--format", "int8", "--calibrate", samples, "--metric", "top1"]) == 0
    assert "the largest element is another in 0 % of the outputs" in capsys.readouterr().out

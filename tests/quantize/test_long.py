"""Long quantizations: budgets, recipes as files, runs that are killed and go on, limits of memory."""

from __future__ import annotations

import errno
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import pteron
from pteron.cli import main
from pteron.export.capture.onnx import capture_onnx
from pteron.quantize.encode.table import FORMATS
from pteron.quantize.mixed.allocate import AMONG
from pteron.quantize.mixed.budget import Costs, moves, within
from pteron.quantize.mixed.sensitivity import distances, losses
from pteron.quantize.quantize import Calibration, Method, quantize_model
from pteron.quantize.recipe.file import bytes_of, read_recipe, targeted
from pteron.quantize.recipe.layers import layers
from pteron.quantize.recipe.rules import recipe
from pteron.quantize.report import QuantReport
from pteron.quantize.rounding.journal import journal, whole
from pteron.recording import record
from pteron.schema.errors import FileError, OutputError, QuantError, RecipeError


def chain(depth: int = 6, width: int = 64) -> onnx.ModelProto:
    """Products and Relus; later weights are larger, so layers matter unequally."""
    rng = np.random.default_rng(0)
    nodes, held = [], []
    for i in range(depth):
        w = rng.standard_normal((width, width)) / np.sqrt(width) * (1 + 3 * (i == 2))
        w[:, : 4 * i] *= 8
        held.append(numpy_helper.from_array(w.astype(np.float32), f"w{i}"))
        nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"p{i}"], name=f"product{i}"))
        last = i == depth - 1
        nodes.append(helper.make_node("Relu", [f"p{i}"], ["y" if last else f"x{i + 1}"]))
    x = helper.make_tensor_value_info("x0", TensorProto.FLOAT, ["n", width])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", width])
    graph = helper.make_graph(nodes, "chain", [x], [y], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def given(count: int = 12, width: int = 64) -> dict[str, np.ndarray]:
    return {"x0": np.random.default_rng(1).standard_normal((count, width)).astype(np.float32)}


def quantized(wanted: Any, **options: Any) -> QuantReport:
    model = capture_onnx(chain(), opset=28)
    method = Method(runner=record, **options)
    return quantize_model(
        model, wanted, calibration=Calibration(given(), record, 12), method=method
    )[1]


# --- what rounding costs --------------------------------------------------------------------------------------------------


def test_a_loss_is_that_of_the_model_with_these_weights() -> None:
    proto = chain()
    model = capture_onnx(proto, opset=28)
    samples = [{"x0": row[None]} for row in given()["x0"]]
    rng = np.random.default_rng(2)
    own = [numpy_helper.to_array(t).T for t in proto.graph.initializer]
    changed = {i: (own[i] + 0.1 * rng.standard_normal((64, 64))).astype(np.float32) for i in (1, 4)}
    both, one = ({i: (changed[i], None) for i in some} for some in ((1, 4), (1,)))
    got = list(losses(model, False, [{}, both, one], samples, record))
    whole = [ReferenceEvaluator(proto).run(None, s)[0] for s in samples]
    want = []
    for variant in (changed, {1: changed[1]}):
        other = onnx.ModelProto.FromString(proto.SerializeToString())
        for i, w in variant.items():
            other.graph.initializer[i].CopyFrom(
                numpy_helper.from_array(np.ascontiguousarray(w.T), f"w{i}")
            )
        runs = [ReferenceEvaluator(other).run(None, s)[0] for s in samples]
        cosines = [
            float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))
            for a, b in zip(whole, runs, strict=True)
        ]
        want.append(1e4 * (1 - np.mean(cosines)))
    assert got[0] < 1e-3
    np.testing.assert_allclose(got[1:], want, rtol=1e-3)


@pytest.mark.parametrize(
    "a, b, want",
    [
        ([[1, 0], [0, 2]], [[0, 3], [0, 1]], [1, 0]),
        ([[0, 0]], [[0, 0]], [0]),
        ([[0, 0]], [[1, 0]], [1]),
        ([[1, 0]], [[-1, 0]], [2]),
        ([[3], [4]], [[6], [8]], [0]),
    ],
)
def test_distances(a: Any, b: Any, want: Any) -> None:
    np.testing.assert_allclose(distances(np.array(a, float), np.array(b, float)), want, atol=1e-12)


# --- budgets --------------------------------------------------------------------------------------------------------------


def test_who_costs_most_a_bit_gets_more_first() -> None:
    bits = {"a": 40, "b": 60, "c": 80}
    costs = [Costs(bits, {"a": 10, "b": 2, "c": 1}), Costs(bits, {"a": 3, "b": 4, "c": 0})]
    assert costs[1].better() == ["a", "c"]  # b takes more and loses more
    assert list(moves(costs)) == [(0, "b"), (1, "c"), (0, "c")]
    assert within(costs, 80) == ["a", "a"]
    assert within(costs, 100) == ["b", "a"]
    assert within(costs, 140) == ["b", "c"]
    assert within(costs, 1000) == ["c", "c"]


@pytest.mark.parametrize("name", FORMATS)
def test_planned_bits_are_those_of_the_report(name: str) -> None:
    report = quantized(recipe(name, activations="float"))
    for row in report.layers:
        n, k = row.shape
        assert FORMATS[name].bits_of(n, k) == round(row.bits * n * k)


@pytest.mark.parametrize("bits", [4.25, 5.0, 6.0, 8.5])
def test_a_target_of_bits_is_kept_and_used(bits: float) -> None:
    report = quantized(targeted(recipe("nf4"), bits, None, None, ()))
    assert report.bits <= bits
    assert report.bits >= bits - 0.75 or bits > 8
    assert report.loss is not None
    if bits == 5.0:
        assert len({row.format for row in report.layers}) > 1


def test_more_bits_lose_less() -> None:
    found = [quantized(targeted(recipe("nf4"), b, None, None, ())).loss for b in (4.25, 5.5, 8.5)]
    assert None not in found and found == sorted(found, reverse=True)  # type: ignore[type-var]


def test_a_target_of_bytes_counts_all_weights() -> None:
    whole = 6 * 64 * 64 * 5 // 8
    report = quantized(targeted(recipe("nf4"), None, whole, None, ()))
    assert sum(r.bits * r.shape[0] * r.shape[1] for r in report.layers) / 8 <= whole


def test_a_largest_loss_is_kept_with_fewer_bits_for_more() -> None:
    loose = quantized(targeted(recipe("nf4"), None, None, 1e4, ()))
    assert loose.loss is not None and loose.bits == 4.25
    most = loose.loss / 4
    tight = quantized(targeted(recipe("nf4"), None, None, most, ()))
    assert tight.loss is not None and tight.loss <= most
    assert 4.25 < tight.bits < 8.5


@pytest.mark.parametrize(
    "target, text",
    [
        (
            (3.0, None, None),
            r"at least [1-9]\d*,\d+ bytes .* got room for \d.*; raise it, or allow a coarser format",
        ),
        ((None, 1000, None), "raise it, or allow a coarser format"),
        ((None, None, 1e-7), "max-loss: expected at most 1e-07, got"),
    ],
)
def test_what_cannot_be_kept_is_refused(target: Any, text: str) -> None:
    with pytest.raises(QuantError, match=text):
        quantized(targeted(recipe("nf4"), *target, ()))


def test_rules_stand_above_targets() -> None:
    wanted = recipe("nf4", {"product3|w3": "fp8-e4m3", "product5|w5": "skip"})
    report = quantized(targeted(wanted, 6.0, None, None, ("mxfp6",)))
    by_node = {row.node: row.format for row in report.layers}
    assert by_node["product3"] == "fp8-e4m3" and "product5" not in by_node
    assert {by_node[f"product{i}"] for i in (0, 1, 2, 4)} <= {"nf4", "mxfp6"}
    assert set(AMONG) <= set(FORMATS)


def test_a_target_needs_samples() -> None:
    with pytest.raises(RecipeError, match="expected samples to measure with"):
        quantize_model(
            capture_onnx(chain(), opset=28), targeted(recipe("nf4"), 5.0, None, None, ())
        )


# --- recipes as files -----------------------------------------------------------------------------------------------------


def test_a_recipe_says_what_the_options_say(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(
        "format: nf4\nembeddings: true\nalgorithm: search\nactivations: float\ntarget_bpw: 4.5\namong: [int8]\n"
        "scaling: fold\nrotation: all\nseed: 3\n"
        "rules:\n  - {match: a.b, format: int8, algorithm: nearest}\n  - {match: c, format: skip}\n"
    )
    made = read_recipe(path)
    want = targeted(
        recipe("nf4", {"a.b": "int8", "c": "skip"}, True, "search", "float", "fold", "all", 3),
        4.5,
        None,
        None,
        ("int8",),
    )
    assert [(r.pattern, r.format) for r in made.rules] == [
        (r.pattern, r.format) for r in want.rules
    ]
    assert [r.algorithm for r in made.rules] == ["nearest", ""]
    for name in (
        "format",
        "embeddings",
        "algorithm",
        "activations",
        "target_bits",
        "among",
        "scaling",
        "rotation",
        "seed",
    ):
        assert getattr(made, name) == getattr(want, name)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "expected keys format, .*got NoneType"),
        ("nf4", "expected keys format, .*got str"),
        ("rules: []", "expected a format, got none"),
        ("format: nf4\nformat: int8", "r.yaml:1: expected 'format' once, got it twice"),
        ("format: nope", "expected one of int8"),
        ("format: nf4\nembeding: true", "got 'embeding'; did you mean embeddings"),
        ("format: nf4\nembeddings: 1", "embeddings: expected true or false, got 1"),
        ("format: nf4\nalgorithm: awq", "expected one of nearest"),
        ("format: nf4\nscaling: awq", "expected one of none, fold, multiply"),
        ("format: nf4\nrotation: hadamard", "expected one of none, heads, stream, all"),
        ("format: nf4\nrotation: all\nseed: 1.5", "seed: expected a number, got 1.5"),
        ("format: nf4\nseed: 1", "and a rotation, too"),
        ("format: nf4\nrules: {a: int8}", "rules: expected a list"),
        ("format: nf4\nrules: [{match: a}]", "rule 1: expected format, got none"),
        ("format: nf4\nrules: [{match: '(', format: int8}]", "not a regular expression"),
        ("format: nf4\nrules: [{match: a, format: int8, bits: 3}]", "rule 1: .*got 'bits'"),
        ("format: nf4\ntarget_bpw: true", "target_bpw: expected a number, got True"),
        ("format: nf4\ntarget_bpw: -1", "expected a number above 0"),
        ("format: nf4\ntarget_bpw: .nan", "expected a number above 0"),
        ("format: nf4\ntarget_bpw: 4\ntarget_size: 1MB", "expected one of them"),
        ("format: nf4\ntarget_size: 1XB", "expected a number of bytes"),
        ("format: nf4\namong: [int8]", "expected target_bpw"),
        ("format: [", "expected YAML"),
        ("format: !!python/object/apply:os.system ['true']", "expected YAML"),
        ("{[]: 1}", "r.yaml"),
    ],
)
def test_recipes_that_are_none_are_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(text)
    with pytest.raises(RecipeError, match=message):
        read_recipe(path)


def test_sizes() -> None:
    assert [bytes_of(t) for t in ("12MB", "3.5 KiB", "800", "1gib")] == [
        12_000_000,
        3584,
        800,
        2**30,
    ]


def test_a_rule_of_a_file_that_decides_nothing_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(chain(), tmp_path / "m.onnx")
    (tmp_path / "r.yaml").write_text("format: nf4\nrules: [{match: nothing, format: int8}]")
    words = [
        "quantize",
        str(tmp_path / "m.onnx"),
        "-o",
        str(tmp_path / "q.onnx"),
        "-q",
        "--recipe",
        str(tmp_path / "r.yaml"),
    ]
    assert main(words) == 2
    assert "decides no layer" in capsys.readouterr().err
    assert main([*words, "--embeddings"]) == 2
    assert "write it there" in capsys.readouterr().err
    assert not (tmp_path / "q.onnx").exists()


@pytest.mark.parametrize("out", [["-o", "q.onnx"], []])
def test_a_dry_run_writes_nothing_and_tells_bits_and_errors(
    out: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(chain(), "m.onnx")
    words = ["quantize", "m.onnx", *out, "-q", "--format", "nf4", "--dry-run"]
    assert main([*words, "--rule", "w1=int8", "--json"]) == 0
    told = capsys.readouterr().out
    assert '"bits": 4.25' in told and '"format": "int8"' in told and '"sqnr_db"' in told
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.onnx"]


# --- runs that are killed -------------------------------------------------------------------------------------------------


def test_a_killed_run_goes_on_and_gives_the_same_bytes(tmp_path: Path) -> None:
    onnx.save(chain(10, 160), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", **given(400, 160))
    words = [
        "quantize",
        "m.onnx",
        "--format",
        "nf4",
        "--calibrate",
        "x.npz",
        "--samples",
        "400",
        "-q",
        "--target-bpw",
        "5",
    ]

    def start(out: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "pteron", *words, "-o", out, "--resume"]
        return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)

    def entries() -> int:
        return len(list((tmp_path / "killed.onnx.journal").glob("*.npz")))

    assert start("whole.onnx").wait() == 0
    whole = (tmp_path / "whole.onnx").read_bytes()
    draw, killed = random.Random(0), 0
    for _ in range(10):
        run, enough = start("killed.onnx"), entries() + draw.randrange(12)
        while run.poll() is None and entries() < enough:
            time.sleep(0.001)
        run.send_signal(signal.SIGKILL)
        killed += run.wait() != 0
        assert (
            not (tmp_path / "killed.onnx").exists()
            or (tmp_path / "killed.onnx").read_bytes() == whole
        )
    assert killed > 3
    assert start("killed.onnx").wait() == 0
    assert (tmp_path / "killed.onnx").read_bytes() == whole
    assert not (tmp_path / "killed.onnx.journal").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "killed.onnx",
        "m.onnx",
        "whole.onnx",
        "x.npz",
    ]


def test_a_damaged_entry_is_made_again(tmp_path: Path) -> None:
    wanted = recipe("nf4")
    folder = tmp_path / "j"
    with journal(folder, True) as kept:
        first = quantized(wanted, journal=kept)
        entries = sorted(p for p in folder.glob("*.npz") if p.name != "statistics.npz")
        assert len(entries) == 6
        entries[0].write_bytes(entries[0].read_bytes()[:100])
        assert quantized(wanted, journal=kept).as_dict() == first.as_dict()
    assert not folder.exists()
    assert quantized(wanted).as_dict() == first.as_dict()


def test_other_weights_samples_and_formats_find_nothing_in_a_journal(tmp_path: Path) -> None:
    with journal(tmp_path / "j", True) as kept:
        quantized(recipe("nf4"), journal=kept)
        assert (
            quantized(recipe("mxfp4"), journal=kept).as_dict()
            == quantized(recipe("mxfp4")).as_dict()
        )
        model = capture_onnx(chain(), opset=28)
        more = Calibration({"x0": 2 * given()["x0"] + 1}, record, 12)
        there = quantize_model(
            model, recipe("nf4"), calibration=more, method=Method(runner=record, journal=kept)
        )[1]
        alone = quantize_model(capture_onnx(chain(), opset=28), recipe("nf4"), calibration=more)[1]
        assert there.as_dict() == alone.as_dict()


def test_another_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(QuantError, match="expected a journal or nothing"), journal(tmp_path, False):
        pass
    assert (tmp_path / "mine").exists()


def test_a_failed_run_leaves_no_journal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto = chain()
    bad = numpy_helper.to_array(proto.graph.initializer[3]).copy()
    bad[0, 0] = np.nan
    proto.graph.initializer[3].CopyFrom(numpy_helper.from_array(bad, "w3"))
    onnx.save(proto, tmp_path / "m.onnx")
    words = ["quantize", str(tmp_path / "m.onnx"), "-q", "--format", "nf4", "--resume", "-o"]
    for out in ("q.onnx", "q.pte"):
        assert main([*words, str(tmp_path / out)]) == 3
        assert "weights must be finite" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.onnx"]


def test_a_full_disk_is_named_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals and statistics are written by others' code, whose errors name no file."""

    def full(path: Path, *_: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pteron.quantize.rounding.journal.write_arrays", full)
    monkeypatch.setattr("pteron.quantize.quantize.write", full)
    named = pytest.raises(OutputError, match=r"\.npz: cannot be written: No space left on device")
    with named, journal(tmp_path / "j", resume=False) as kept:
        quantized(recipe("nf4"), journal=kept)
    model = capture_onnx(chain(), opset=28)
    calibration = Calibration(given(), record, 4)
    with pytest.raises(OutputError, match=r"s\.npz: cannot be written: No space left on device"):
        method = Method(tmp_path / "s.npz")
        quantize_model(model, recipe("nf4"), calibration=calibration, method=method)
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_to_be_written_keeps_its_name(tmp_path: Path) -> None:
    def missing(_: Path) -> None:
        raise FileError(errno.ENOENT, "no such file", "weights.bin")

    with pytest.raises(FileError, match=r"^weights\.bin"):
        whole(tmp_path / "q.npz", missing)


def test_samples_that_do_not_fit_are_named_by_where_they_are(tmp_path: Path) -> None:
    """A file of its own measures the loss: it is no calibration."""
    bad = {"x0": np.full((1, 64), np.nan, np.float32)}
    np.savez(tmp_path / "other.npz", **bad)
    for given, where in ((bad, "evaluation"), (tmp_path / "other.npz", r"other\.npz")):
        with pytest.raises(RecipeError, match=f"^{where}: sample 0: input 'x0': expected finite"):
            model = capture_onnx(chain(), opset=28)
            quantize_model(model, recipe("nf4"), method=Method(evaluate=given, runner=record))


@pytest.mark.parametrize("shape", [(0, 48), (64, 0)])
@pytest.mark.parametrize("name", ["nf4", "int8", "mxfp4"])
def test_weights_of_no_elements_stay_as_they_are(
    shape: tuple[int, int], name: str, tmp_path: Path
) -> None:
    n = shape[0]
    ports = [
        helper.make_tensor_value_info(v, TensorProto.FLOAT, ["n", m])
        for v, m in (("x", n), ("y", shape[1]))
    ]
    held = [numpy_helper.from_array(np.zeros(shape, np.float32), "w")]
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])], "g", ports[:1], ports[1:], held
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    x = np.ones((3, n), np.float32)
    reports: list[QuantReport] = []
    wanted = recipe(name, activations="float")
    pteron.export_model(
        model, tmp_path / "m.pte", quantize=wanted, calibrate={"x": x}, quantized=reports.append
    )
    assert not reports[0].layers
    np.testing.assert_array_equal(
        pteron.load(tmp_path / "m.pte")(x), x @ np.zeros(shape, np.float32)
    )


def test_a_program_and_a_model_of_a_journal_are_those_without(tmp_path: Path) -> None:
    onnx.save(chain(), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", **given())
    for suffix in ("onnx", "pte"):
        for name, more in (("a", []), ("b", ["--resume", "--max-ram", "1KB"])):
            words = [
                "quantize",
                str(tmp_path / "m.onnx"),
                "-q",
                "--format",
                "mxfp6",
                "--calibrate",
                str(tmp_path / "x.npz"),
            ]
            assert main([*words, "-o", str(tmp_path / f"{name}.{suffix}"), *more]) == 0
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    assert pteron.load(tmp_path / "a.pte", threads=1)(given()["x0"]).shape == (12, 64)


def test_layers_are_numbered_alike_in_a_copy() -> None:
    model = capture_onnx(chain(), opset=28)
    assert [x.name for x in layers(model)] == [x.name for x in layers(model.clone())]


@pytest.mark.parametrize("way", ["write", "plan"])
def test_threads_of_numpy_change_no_byte(way: str, tmp_path: Path) -> None:
    """Its BLAS sums in another order by two."""
    onnx.save(chain(2, 600), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", **given(900, 600))
    asked = ["--format=int8", "--activations=float", "--calibrate=x.npz", "--samples=900", "-q"]
    made = []
    for threads in ("1", "2"):
        out, seen = (f"{threads}.{kind}" for kind in ("onnx", "npz"))
        way_words = ["--dry-run"] if way == "plan" else ["-o", out]
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, threads)}
        words = ["quantize", "m.onnx", *way_words, *asked, "--statistics", seen]
        command = [sys.executable, "-m", "pteron", *words]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
        made.append([path.read_bytes() for path in sorted(tmp_path.glob(f"{threads}.*"))])
    assert made[0] == made[1]
    assert len(made[0]) == (1 if way == "plan" else 2)


# --- layers side by side --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [False, True])
def test_layers_side_by_side_have_the_codes_of_one_at_a_time(kept: bool, tmp_path: Path) -> None:
    """Statistics in a file, which threads share; with a journal and without one."""
    made = []
    for threads, ram in ((1, 1 << 30), (3, 1 << 30), (3, 1)):
        model, told = capture_onnx(chain(), opset=28), list[str]()
        with journal(tmp_path / f"{threads}.{ram}" if kept else None, resume=False) as book:
            method = Method(runner=record, threads=threads, ram_bytes=ram, journal=book)
            calibration = Calibration(given(), record, 12)
            wanted = recipe("int4", activations="float")
            quantize_model(
                model, wanted, calibration=calibration, method=method, progress=told.append
            )
            made.append([v.const_value.tobytes() for v in model.graph.initializers.values()])
        rounded = [line.split()[1:] for line in told if line.startswith("quantize")]
        assert sorted(rounded) == [[f"{i + 1}/6", f"w{i}", "int4", "gptq"] for i in range(6)]
    assert made[0] == made[1] == made[2]


def test_of_layers_side_by_side_the_first_error_is_told() -> None:
    proto = chain()
    for number in (3, 1):  # rows beyond the f16 scales of int4
        tensor = proto.graph.initializer[number]
        tensor.CopyFrom(
            numpy_helper.from_array(numpy_helper.to_array(tensor) * np.float32(1e7), tensor.name)
        )
    method = Method(runner=record, threads=3)
    calibration = Calibration({"x0": given()["x0"] * np.float32(1e-12)}, record, 12)
    with pytest.raises(QuantError, match="layer w1: "):
        quantize_model(
            capture_onnx(proto, opset=28), recipe("int4", activations="float"), calibration=calibration, method=method
        )  # fmt: skip

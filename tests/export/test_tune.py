"""`--mode` and `--tune`: which operator computes what two can compute, by measurements that a file keeps; fixed sizes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import pteron
from pteron.cli import main
from pteron.export.export import export
from pteron.export.file.read import read
from pteron.export.options import Options
from pteron.export.pack.choices import INSTEAD_OF
from pteron.export.program import Program
from pteron.export.report import Report
from pteron.export.tune import Timer, Tuning
from pteron.export.tune.profile import Key, Profile, Target, Times, read_profile
from pteron.schema.errors import ArgumentError

HERE = Target("a board", 4)
NOTHING = Profile(HERE, {})
CHANNELS = (32, 48, 16, 64)
"""Of three convolutions on 16 x 16 pixels: the rule takes conv_winograd for the first alone."""


def images(path: Path) -> Path:
    """Convolutions of 3 x 3 by ReLU, and one of 1 x 1 behind them, whose result has channels first."""
    rng, nodes, weights, last = np.random.default_rng(1), [], [], "x"
    for i, (c, n) in enumerate(pairwise(CHANNELS)):
        w = rng.standard_normal((n, c, 3, 3)).astype(np.float32) / np.float32(3 * c**0.5)
        weights.append(numpy_helper.from_array(w, f"w{i}"))
        nodes.append(helper.make_node("Conv", [last, f"w{i}"], [f"c{i}"], pads=[1] * 4))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [last := f"r{i}"]))
    head = rng.standard_normal((4, CHANNELS[-1], 1, 1)).astype(np.float32)
    weights.append(numpy_helper.from_array(head, "head"))
    nodes.append(helper.make_node("Conv", [last, "head"], ["y"]))
    return saved(path, nodes, weights, ("b", CHANNELS[0], 16, 16))


def products(path: Path) -> Path:
    """Two products of [tokens, 128]."""
    rng = np.random.default_rng(2)
    w = [rng.standard_normal((128, 128)).astype(np.float32) / np.float32(12) for _ in "ab"]
    weights = [numpy_helper.from_array(a, n) for a, n in zip(w, "ab", strict=True)]
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["p"]),
        helper.make_node("Tanh", ["p"], ["q"]),
        helper.make_node("MatMul", ["q", "b"], ["y"]),
    ]
    return saved(path, nodes, weights, ("tokens", 128))


def turned(path: Path) -> Path:
    """A product of tokens that come first, as PyTorch's attention has them."""
    w = np.random.default_rng(3).standard_normal((8, 8)).astype(np.float32)
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        helper.make_node("MatMul", ["t", "w"], ["y"]),
    ]
    return saved(path, nodes, [numpy_helper.from_array(w, "w")], ("b", "t", 8))


def saved(path: Path, nodes: list[Any], weights: list[Any], x: Sequence[int | str]) -> Path:
    ports = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, s)] for n, s in (("x", x), ("y", None))
    ]
    graph = helper.make_graph(nodes, "g", *ports, weights)
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path
    )
    return path


def ops(program: Program) -> list[str]:
    """Of convolutions and products."""
    kinds = {*INSTEAD_OF, *INSTEAD_OF.values()}
    return [i.op for b in program.blocks for i in b.instrs if i.op in kinds]


def written(path: Path) -> Program:
    return read(path.read_bytes())


def timer(own: float, plain: float) -> Timer:
    """Every operator in another's place takes `own`, every other instruction `plain`."""

    def run(programs: Sequence[Program]) -> list[Mapping[int, float]]:
        return [
            {
                n: own if i.op in INSTEAD_OF else plain
                for n, i in enumerate(i for b in p.blocks for i in b.instrs)
            }
            for p in programs
        ]

    return run


def tuned(path: Path, tuning: Tuning, **options: Any) -> tuple[list[str], Report]:
    report = Report()
    return ops(export(str(path), Options(**options), tuning=tuning, report=report)), report


def told(report: Report) -> list[str]:
    """Notes on what this is about."""
    return [note for note in report.notes if "copied in a run" not in note]


DIRECT, RULE, WINOGRAD = ["conv"] * 4, ["conv_winograd", *["conv"] * 3], ["conv_winograd"] * 3


@pytest.mark.parametrize(
    ("own", "want"),
    [(0.5, [*WINOGRAD, "conv"]), (0.984375, RULE), (1.0, RULE), (1.015625, RULE), (2.0, DIRECT)],
)
def test_the_faster_operator_is_taken_where_it_is_more_than_noise(
    tmp_path: Path, own: float, want: list[str]
) -> None:
    tuning = Tuning(NOTHING, timer(own * 64, 64))
    got, report = tuned(images(tmp_path / "m.onnx"), tuning, fast_conv=True, mode="max-autotune")
    assert got == want
    assert {c.ratio for c in report.chosen} == {own} and not told(report)
    assert [c.took for c in report.chosen] == want[:3]
    key = Key("conv_winograd", "plain", (1, 16, 16, 32), (1, 16, 16, 48))
    assert tuning.profile.measured[key] == Times(own * 64, 64)


@pytest.mark.parametrize("mode, quantize", [("int8-token", None), ("int8-block", "nf4")])
def test_products_that_are_slower_in_integers_stay_exact(
    tmp_path: Path, mode: str, quantize: str | None
) -> None:
    path, target = products(tmp_path / "m.onnx"), tmp_path / "m.pte"
    profile = tmp_path / "p.json"
    sizes = {"hints": {"tokens": 3}, "quantize": quantize}
    pteron.export_model(path, target, activations=mode, **sizes)
    other = ops(written(target))[0]
    key = Key(other, quantize or "plain", (3, 128), (3, 128))
    profile.write_text(Profile(HERE, {key: Times(9.0, 3.0)}).as_text())
    report = pteron.export_model(path, target, activations=mode, tune=profile, **sizes)
    assert ops(written(target)) == ["matmul"] * 2 and not told(report)
    x = np.random.default_rng(0).standard_normal((5, 128)).astype(np.float32)
    got = pteron.load(target)(x)
    pteron.export_model(path, target, activations="float", **sizes)
    np.testing.assert_array_equal(got, pteron.load(target)(x))


def test_sites_of_one_shape_are_one_measurement(tmp_path: Path) -> None:
    def by_place(programs: Sequence[Program]) -> list[Mapping[int, float]]:
        plain, other = ([i.op for b in p.blocks for i in b.instrs] for p in programs)
        assert plain.count("matmul") == other.count("matmul_turned") == 2
        first = other.index("matmul_turned")
        return [dict.fromkeys(range(9), 50.0), {**dict.fromkeys(range(9), 30.0), first: 10.0}]

    tuning = Tuning(NOTHING, by_place)
    options = {"activations": "int8-token", "mode": "max-autotune", "hints": {"tokens": 7}}
    assert tuned(products(tmp_path / "m.onnx"), tuning, **options)[0] == ["matmul_turned"] * 2
    key = Key("matmul_turned", "plain", (7, 128), (7, 128))
    assert tuning.profile.measured == {key: Times(20.0, 50.0)}


def test_what_the_profile_has_is_not_measured_again(tmp_path: Path) -> None:
    key = Key("conv_winograd", "plain", (1, 16, 16, 32), (1, 16, 16, 48))
    tuning = Tuning(Profile(HERE, {key: Times(2, 1)}), timer(1, 2))
    got, _ = tuned(images(tmp_path / "m.onnx"), tuning, fast_conv=True, mode="max-autotune")
    assert got == ["conv", "conv_winograd", "conv_winograd", "conv"]
    assert tuning.profile.measured[key] == Times(2, 1) and len(tuning.profile.measured) == 3


def test_shapes_that_the_profile_lacks_keep_the_rule_and_are_told(tmp_path: Path) -> None:
    path = images(tmp_path / "m.onnx")
    key = Key("conv_winograd", "plain", (1, 16, 16, 32), (1, 16, 16, 48))
    got, report = tuned(path, Tuning(Profile(HERE, {key: Times(2, 1)})), fast_conv=True)
    assert got == DIRECT
    assert [c.ratio for c in report.chosen] == [2, None, None]
    (note,) = told(report)
    assert "conv_winograd 1x16x16x48 -> 1x16x16x16, conv_winograd 1x16x16x16" in note
    assert "1 of 3 sites as measured" in report.as_text()


def test_without_permission_nothing_is_chosen(tmp_path: Path) -> None:
    got, report = tuned(images(tmp_path / "m.onnx"), Tuning(NOTHING, timer(1, 2)))
    assert got == DIRECT and "--fast-conv" in told(report)[0]


def test_measured_here_and_replayed_to_the_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From the command line; the order of rows means nothing, and `inspect` shows them."""
    path, profile = images(tmp_path / "m.onnx"), tmp_path / "p.json"
    files = [tmp_path / f"{i}.pte" for i in range(3)]
    export_it = ["export", str(path), "-q", "--fast-conv", "--hint", "b=2", "--tune", str(profile)]
    assert main([*export_it, "-o", str(files[0]), "--mode", "max-autotune"]) == 0
    assert "3 of 3 sites as measured" in capsys.readouterr().out
    measured = read_profile(profile)
    assert {key.x[0] for key in measured.measured} == {2} and len(measured.measured) == 3
    assert main([*export_it, "-o", str(files[1])]) == 0
    rows = json.loads(profile.read_text())
    profile.write_text(json.dumps({**rows, "measured": rows["measured"][::-1]}))
    assert main([*export_it, "-o", str(files[2])]) == 0
    assert files[0].read_bytes() == files[1].read_bytes() == files[2].read_bytes()
    capsys.readouterr()
    assert main(["inspect", str(files[0]), "--tune", str(profile), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)["methods"][0]["instrs"]
    assert sum(" of conv" in row["tuned"] for row in shown) == 3


def test_instructions_of_every_method_are_measured(tmp_path: Path) -> None:
    methods = {name: images(tmp_path / f"{name}.onnx") for name in ("one", "two")}
    methods["three"] = products(tmp_path / "three.onnx")
    out = tmp_path / "m.pte"
    options = {"fast_conv": True, "activations": "int8-token", "mode": "max-autotune"}
    report = pteron.export_model(methods=methods, out=out, **options)
    assert Counter(c.operator for c in report.chosen) == {"conv_winograd": 6, "matmul_turned": 2}
    assert all(c.ratio is not None and 0.01 < c.ratio < 100 for c in report.chosen)


def test_a_tuned_program_is_near_onnxruntime(tmp_path: Path) -> None:
    """The first convolution and the last one by Winograd's algorithm, whose error is some three times that of conv."""
    path, out, profile = images(tmp_path / "m.onnx"), tmp_path / "m.pte", tmp_path / "p.json"
    shapes = [((1, 16, 16, c), (1, 16, 16, n)) for c, n in pairwise(CHANNELS)]
    times = (Times(1, 2), Times(2, 1), Times(1, 2))
    keys = [Key("conv_winograd", "plain", *s) for s in shapes]
    profile.write_text(Profile(HERE, dict(zip(keys, times, strict=True))).as_text())
    pteron.export_model(path, out, fast_conv=True, tune=profile)
    assert ops(written(out)) == ["conv_winograd", "conv", "conv_winograd", "conv"]
    x = np.random.default_rng(4).standard_normal((2, CHANNELS[0], 16, 16)).astype(np.float32)
    (want,) = onnxruntime.InferenceSession(path).run(None, {"x": x})
    error = np.linalg.norm(pteron.load(out)(x) - want)
    assert 0 < error < 3e-6 * np.linalg.norm(want)


GOOD = json.loads(
    Profile(HERE, {Key("conv_winograd", "plain", (1, 4), (1, 4)): Times(1, 2)}).as_text()
)


def wrong(change: Callable[[dict[str, Any]], Any]) -> str:
    rows = json.loads(json.dumps(GOOD))
    change(rows)
    return json.dumps(rows)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "expected a profile, got something else"),
        ("[1]", "expected a profile, got something else"),
        ("[" * 100_000, "expected a profile, got something else"),
        (wrong(lambda p: p.update(pteron_profile=2)), "expected pteron_profile version 1, got 2"),
        (wrong(lambda p: p["target"].update(threads=0)), "target: expected threads of at least 1"),
        (wrong(lambda p: p["target"].pop("machine")), "target: expected machine, a text, got None"),
        (wrong(lambda p: p.update(measured={})), "measured: expected measured, a list, got {}"),
        (wrong(lambda p: p["measured"].append(3)), r"measured\[1\]: expected operator, a text"),
        (wrong(lambda p: p["measured"].append(p["measured"][0])), "once, got it twice"),
        *(
            (wrong(lambda p, row=row: p["measured"][0].update(row)), says)
            for row, says in (
                ({"operator": "conv"}, "operator: expected one of conv_winograd, .* got 'conv'"),
                ({"format": "f5"}, "format: expected one of plain, .* got 'f5'"),
                ({"x": [1, -4]}, r"x: expected sizes, got \[1, -4\]"),
                ({"y": [True]}, r"y: expected sizes, got \[True\]"),
                ({"us": {"conv": 1}}, "us.conv_winograd: expected microseconds above 0, got None"),
                ({"us": {"conv": 0, "conv_winograd": 1}}, "us.conv: expected microseconds"),
                ({"us": {"conv": 1e999, "conv_winograd": 1}}, "us.conv: .*, got inf"),
                ({"us": {"conv": "1", "conv_winograd": 1}}, "us.conv: .*, got '1'"),
            )
        ),
    ],
)
def test_a_wrong_profile_is_one_error(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=f"p.json: .*{says}"):
        pteron.export_model(images(tmp_path / "m.onnx"), None, tune=path)


def test_another_machines_profile_is_not_added_to(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(Profile(HERE, {}).as_text())
    with pytest.raises(ArgumentError, match="got one of a board; 4 threads"):
        pteron.export_model(images(tmp_path / "m.onnx"), None, tune=path, mode="max-autotune")
    assert read_profile(path) == Profile(HERE, {})


def test_stages_alone_have_no_timer(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="expected a tuning with a timer"):
        export(str(images(tmp_path / "m.onnx")), Options(mode="max-autotune"))


def test_a_model_that_does_not_run_keeps_the_rule(tmp_path: Path) -> None:
    def fails(programs: Sequence[Program]) -> list[Mapping[int, float]]:
        raise ArgumentError("index 7")

    tuning = Tuning(NOTHING, fails)
    got, report = tuned(images(tmp_path / "m.onnx"), tuning, fast_conv=True, mode="max-autotune")
    assert got == RULE and "does not run on made-up inputs: index 7" in told(report)[0]


def test_fixed_sizes_leave_fewer_instructions_and_the_same_bytes(tmp_path: Path) -> None:
    path, out = turned(tmp_path / "m.onnx"), tmp_path / "m.pte"
    x = np.random.default_rng(5).standard_normal((1, 6, 8)).astype(np.float32)
    pteron.export_model(path, out)
    want, most = pteron.load(out)(x), sum(len(b.instrs) for b in written(out).blocks)
    pteron.export_model(path, out, mode="reduce-overhead", hints={"b": 1}, fix={"t": 6})
    np.testing.assert_array_equal(pteron.load(out)(x), want)
    assert not written(out).dims
    assert sum(len(b.instrs) for b in written(out).blocks) < most


def test_a_context_has_no_fixed_sizes() -> None:
    with pytest.raises(ArgumentError, match="reduce-overhead: expected no max_context"):
        Options(mode="reduce-overhead", max_context=64)


def test_a_size_that_nobody_fixed_is_named(tmp_path: Path) -> None:
    path = turned(tmp_path / "m.onnx")
    with pytest.raises(ArgumentError, match="expected a size for every dimension, got none for t; give --hint t=N"):  # fmt: skip
        pteron.export_model(path, None, mode="reduce-overhead", hints={"b": 2})

"""The stages together: what export promises beside right answers."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

import pteron
from pteron.export.export import export
from pteron.export.graph import STATE
from pteron.export.graph.states import initial_values, state_pairs
from pteron.export.graph.text import onnx_text
from pteron.export.options import Options
from pteron.export.program import Program
from pteron.export.report import Report
from pteron.export.write import write_whole
from pteron.schema.errors import (
    ArgumentError,
    InternalError,
    LoweringError,
    ModelError,
    QuantError,
)

RNG = np.random.default_rng(5)
W = RNG.standard_normal((8, 8)).astype(np.float32)


def linear() -> ir.Model:
    return onnx_text("y = Relu(MatMul(x, w))", x="f32[n, 8]", w=W)


def running_sum() -> ir.Model:
    model = onnx_text(
        "new = Add(old, x); y = Mul(new, 2.0)", outputs="y new", x="f32[4]", old="f32[4]"
    )
    start = base64.b64encode(np.arange(4, dtype=np.float32).tobytes()).decode()
    model.metadata_props[STATE] = json.dumps({"old": "new", "initial": {"old": start}})
    return model


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        pteron.export_model(linear(), tmp_path / f"{name}.pte")
    assert (tmp_path / "a.pte").read_bytes() == (tmp_path / "b.pte").read_bytes()


def test_without_a_path_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    report = pteron.export_model(linear())
    assert report.file_bytes == 0
    assert list(tmp_path.iterdir()) == []


def test_progress_names_the_stages_in_order(tmp_path: Path) -> None:
    seen: list[str] = []
    report = pteron.export_model(linear(), tmp_path / "m.pte", progress=seen.append)
    assert seen == ["capture", "passes", "lower", "fuse", "pack", "plan", "verify", "emit"]
    assert list(report.seconds) == seen


def broken(stage: Callable[[Program], Program]) -> Callable[..., Program]:
    """A stage after which a kernel writes over its input."""

    def made(program: Program, *more: object) -> Program:
        program = stage(program, *more)
        (block,) = program.blocks
        first = dataclasses.replace(block.instrs[0], outputs=block.instrs[0].inputs[:1])
        block = dataclasses.replace(block, instrs=(first, *block.instrs[1:]))
        return dataclasses.replace(program, blocks=(block,))

    return made


@pytest.mark.parametrize("stage", ["share", "fuse", "pack", "plan"])
def test_a_program_that_would_be_refused_names_the_stage_that_made_it(
    stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages = sys.modules["pteron.export.export"]
    monkeypatch.setattr(stages, stage, broken(getattr(stages, stage)))
    with pytest.raises(InternalError, match=f"^{stage}: (Relu|MatMul) .*: instruction 0 .*written"):
        export(linear())


def test_a_stage_that_falls_over_a_wrong_program_is_not_to_blame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fall(program: Program) -> Program:
        raise KeyError(7)

    stages = sys.modules["pteron.export.export"]
    monkeypatch.setattr(stages, "plan", fall)
    with pytest.raises(KeyError):
        export(linear())
    monkeypatch.setattr(stages, "fuse", broken(stages.fuse))
    with pytest.raises(InternalError, match=r"^fuse: "):
        export(linear())


def test_report_counts() -> None:
    report = Report()
    program = export(linear(), Options(hints={"n": 5}), report=report)
    (method,) = report.methods
    assert (method.name, method.nodes_in, method.nodes_out) == ("main", 2, 2)
    assert method.operators == {"MatMul": 1, "Relu": 1}
    assert method.instructions == {"matmul": 1}
    assert report.dims == {"n": 5}
    assert report.constants == len(program.constants) == 1
    assert report.constants_bytes == 16 * 8 * 4
    assert "method main: 2 nodes, 2 after the passes, 1 instruction (matmul 1)" in report.as_text()
    assert json.loads(json.dumps(report.as_dict()))["dims"] == {"n": 5}


def test_states_come_from_the_model_and_from_the_caller() -> None:
    model = running_sum()
    assert state_pairs([model], {"x": "b"}) == {"old": "new", "x": "b"}
    assert initial_values(model)["old"].tolist() == [0, 1, 2, 3]
    program = export(model)
    assert [p.name for p in program.methods[0].inputs] == ["x"]
    (state,) = program.states
    assert state.initial is not None
    assert program.constants[state.initial].array.tolist() == [0, 1, 2, 3]


CACHES = ("past.0.key", "past.0.value", "past.1.key", "past.1.value")
PRESENT = {name: name.replace("past", "present") for name in CACHES}


def caches(*inputs: str, outputs: tuple[str, ...]) -> ir.Model:
    """Each input of the names is added to x and returned under the output's name."""
    text = "; ".join(f"{o} = Add(x, {i})" for i, o in zip(inputs, outputs, strict=True))
    names = {n: f"v{k}" for k, n in enumerate((*inputs, *outputs))}
    for name, plain in sorted(names.items(), key=lambda item: -len(item[0])):
        text = text.replace(name, plain)
    model = onnx_text(
        text,
        outputs=" ".join(names[o] for o in outputs),
        **dict.fromkeys(["x", *(names[i] for i in inputs)], "f32[2]"),
    )
    for value in [*model.graph.inputs, *model.graph.outputs]:
        value.name = next((n for n, plain in names.items() if plain == value.name), value.name)
    return model


@pytest.mark.parametrize(
    "pattern", [("past.*", "present.*"), ("past.*.*", "present.*.*"), ("*past*", "*present*")]
)
def test_a_pattern_pairs_every_state_of_its_form(pattern: tuple[str, str]) -> None:
    model = caches(*CACHES, outputs=tuple(PRESENT.values()))
    assert state_pairs([model], dict([pattern])) == PRESENT
    program = export(model, Options(states=dict([pattern])))
    assert sorted(s.name for s in program.states) == sorted(CACHES)
    assert [p.name for p in program.methods[0].inputs] == ["x"] and not program.methods[0].outputs


def test_a_pair_by_name_comes_before_a_pattern() -> None:
    model = caches("past_a", "past_b", outputs=("now_a", "now_b"))
    asked = {"past_a": "now_b", "past_b": "now_a", "past_*": "now_*"}
    assert state_pairs([model], asked) == {"past_a": "now_b", "past_b": "now_a"}


def test_a_pattern_looks_for_pairs_in_each_method() -> None:
    prefill, decode = (
        caches("tokens", outputs=("now_a",)),
        caches("past_a", outputs=("now_a",)),
    )
    assert state_pairs([prefill, decode], {"past_*": "now_*"}) == {"past_a": "now_a"}


WRONG_PATTERNS = {
    ("cache_*", "new_*"): "matches no input; the inputs are ['past_a', 'past_b', 'x']",
    (
        "past_*",
        "present_*",
    ): "input 'past_a' expected one output 'present_a', got none among ['now_a', 'now_b']",
    ("past_*", "now"): "expected as many * in the output as in the input, got 1 and 0",
    ("past_a", "now_*"): "expected as many * in the output as in the input, got 0 and 1",
    ("*****", "*****"): "expected at most 4 *, got 5",
    ("*a*", "now_*a*"): "input 'past_a' expected one output",
    ("past_*", "now_a*"): "input 'past_a' expected one output 'now_aa', got none",
}


@pytest.mark.parametrize(("past", "present"), WRONG_PATTERNS)
def test_a_pattern_that_fits_badly_lists_the_names(past: str, present: str) -> None:
    model = caches("past_a", "past_b", outputs=("now_a", "now_b"))
    with pytest.raises(ArgumentError, match=re.escape(WRONG_PATTERNS[past, present])):
        export(model, Options(states={past: present}))


def test_a_pattern_that_splits_in_two_ways_is_ambiguous() -> None:
    asked = {"*.*": "*-*"}
    one = caches("a.b.c", outputs=("a-b.c",))
    assert state_pairs([one], {**asked, "x": "y"})["a.b.c"] == "a-b.c"
    two = caches("a.b.c", "old", outputs=("a-b.c", "a.b-c"))
    with pytest.raises(ArgumentError, match=re.escape("got ['a-b.c', 'a.b-c']")):
        state_pairs([two], asked)


def test_patterns_that_disagree_are_refused() -> None:
    model = caches("past_a", "past_b", outputs=("now_a", "new_a"))
    with pytest.raises(ArgumentError, match="another pattern with 'now_a'; name the pair itself"):
        state_pairs([model], {"past_a*": "now_a*", "*past_a": "*new_a"})


BROKEN = {
    "no json": "expected JSON",
    "[1]": "expected an object",
    '{"old": "new", "initial": {"nobody": ""}}': "'nobody'",
    '{"old": "new", "initial": {"old": "AAAA"}}': "expected base64 of FLOAT",
    '{"old": "new", "initial": {"old": "!"}}': "expected base64 of FLOAT",
    '{"past": "new"}': "past",
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_state_records_are_refused(text: str) -> None:
    model = running_sum()
    model.metadata_props[STATE] = text
    with pytest.raises(ModelError, match=BROKEN[text]):
        export(model)


def test_failing_nodes_are_all_named_and_no_file_is_left(tmp_path: Path) -> None:
    model = onnx_text("a = Det(x); b = RandomNormalLike(x); c = Relu(x)", x="f32[4, 4]")
    for node in model.graph:
        node.metadata_props["pteron.source"] = "net.py:12"
    with pytest.raises(LoweringError, match=r"net.py:12") as error:
        pteron.export_model(model, tmp_path / "m.pte")
    assert set(error.value.nodes) == {"n_a", "n_b"}
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "m.pte"
    path.write_bytes(b"old")

    def half(part: Path) -> None:
        part.write_bytes(b"new, but")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_whole(path, half)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["m.pte"]


def test_arguments_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ArgumentError, match="either a source or methods"):
        pteron.export_model()
    with pytest.raises(ArgumentError, match="either a source or methods"):
        pteron.export_model(linear(), methods={"main": linear()})
    with pytest.raises(ArgumentError, match=r"expected .*null.*, cpu; got 'npu'"):
        pteron.export_model(linear(), delegates=["npu", "cpu"])
    with pytest.raises(QuantError):
        pteron.export_model(linear(), quantize="int7")
    with pytest.raises(ArgumentError, match="expected a delegate, got the CPU alone"):
        pteron.export_model(linear(), placement="forbid")
    with pytest.raises(ArgumentError, match="leaves nothing to plan for"):
        pteron.export_model(linear(), fix={"n": 1}, hints={"n": 2})


def test_what_is_larger_than_any_memory_is_refused_by_name() -> None:
    text, taps = "y = Conv(x, w)", np.ones((16, 1, 1), np.float32)
    with pytest.raises(LoweringError, match=r"(?s)Conv 'n_y'.*at most 2\^40 elements"):
        export(onnx_text(text, x="f32[2147483648, 1, 64]", w=taps))
    with pytest.raises(ModelError, match=r"main: x would have the shape .*at most 2\^40 elements"):
        export(onnx_text("y = Relu(x)", x="f32[4294967296, 512]"))


@pytest.mark.parametrize(
    "text, kind",
    [
        ("y = MatMul(x, k)", r"f32\[n, 2\]"),
        ("y = ReduceSum(x, axes, keepdims=0)", r"f32\[n\]"),
        ("y = Cast(x, to=7)", r"i64\[n, 4\]"),
    ],
)
def test_a_state_that_changes_its_shape_is_refused_by_name(text: str, kind: str) -> None:
    k, axes = np.ones((4, 2), np.float32), np.array([1])
    given = {n: v for n, v in (("k", k), ("axes", axes)) if n in text}
    words = rf"state x = y: expected the output to be f32\[n, 4\] as the input, got {kind}"
    with pytest.raises(ArgumentError, match=words):
        export(onnx_text(text, x="f32[n, 4]", **given), Options(states={"x": "y"}))


def test_int8_without_quantized_weights_is_said() -> None:
    assert any(
        "no weight is quantized" in note
        for note in pteron.export_model(linear(), activations="int8-block").notes
    )
    assert not pteron.export_model(linear()).notes


def test_methods_join_states_by_name() -> None:
    program = export({"step": running_sum(), "again": running_sum()})
    assert [m.name for m in program.methods] == ["step", "again"]
    assert [s.name for s in program.states] == ["old"]


IMAGES = np.zeros((2, 1, 8, 8), np.float32)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"placement": "never"}, "placement: expected allow, warn, forbid"),
        ({"fix": {"batch": 1.5}}, "fix batch: expected an integer of at least 1, got 1.5"),
        (
            {"fix": {"rows": 2}},
            "fix rows: expected a symbolic dimension of an input; those are batch",
        ),
        ({"fix": {"batch": IMAGES}}, "fix batch: expected an integer of at least 1, got ndarray"),
        ({"fix": {3: 3}}, "fix: expected names of dimensions, got 3"),
        (
            {"hints": {"batch": IMAGES}},
            "hint batch: expected an integer of at least 1, got ndarray",
        ),
        ({"hints": {"batch": None}}, "hint batch: expected an integer of at least 1, got None"),
        ({"hints": {"batch": 1.5}}, "hint batch: expected an integer of at least 1, got 1.5"),
        ({"hints": IMAGES}, "hints: expected a dict, got ndarray"),
        ({"weights": IMAGES}, "weights: expected a path, got ndarray"),
        ({"quantize": IMAGES}, "quantize: expected a format, a recipe or its file, got ndarray"),
        (
            {"quantize": "int8", "calibrate": IMAGES[None, None]},
            "calibration: 'image': expected 4 axes, the first with the samples",
        ),
        ({"quantize": "int8", "calibrate": {1: IMAGES}}, "expected arrays named image, got 1"),
        ({"hints": {"batch": -1}}, "hint batch: expected a size of 0 to 2147483647, got -1"),
        ({"delegates": "hexagon, npu"}, "expected .*hexagon.*; got 'npu'"),
        ({"delegates": [3]}, "got 3"),
        (
            {"quantize": "int8", "calibrate": 5},
            "expected a file, arrays, tensors or an iterable of samples, got 5",
        ),
        (
            {"quantize": "int8", "calibrate": [[1]]},
            "sample 0: expected an array of input image, .* got a list of 1: 1; arrays are",
        ),
    ],
)
def test_options_that_do_not_fit_are_refused(root: Path, options: Any, words: str) -> None:
    with pytest.raises(pteron.PteronError, match=words) as raised:
        pteron.export_model(root / "examples/digits/digits.onnx", **options)
    assert "\n" not in str(raised.value)


def test_names_of_delegates_may_be_one_text(root: Path, tmp_path: Path) -> None:
    model, out = root / "examples/digits/digits.onnx", tmp_path / "d.pte"
    report = pteron.export_model(model, out, delegates="null, cpu", fix={"batch": 1})
    assert {row.delegate for row in report.placements} == {"cpu"}
    assert pteron.load(out, delegates="null").placements == ()


def test_a_hint_that_nothing_takes_is_refused(root: Path) -> None:
    for hints, words in (({"rows": 2}, "those are batch"), ({"batch": -3}, "got -3")):
        with pytest.raises(ArgumentError, match=words):
            pteron.export_model(root / "examples/digits/digits.onnx", hints=hints)


def test_an_absent_folder_is_named(root: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error:
        pteron.export_model(root / "examples/digits/digits.onnx", tmp_path / "no" / "d.pte")
    assert error.value.filename == str(tmp_path / "no")

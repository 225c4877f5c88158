"""`example=`: what decides structure is what the example has, each run is checked, and the report says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

import pteron
from pteron.export.export import export
from pteron.export.file.emit import emit_bytes
from pteron.export.graph.text import onnx_text
from pteron.export.options import Options
from pteron.export.program.interpret import run
from pteron.export.report import Report
from pteron.schema.errors import ArgumentError, FileError, LoweringError, PteronError

X = np.arange(12, dtype=np.float32).reshape(3, 4)
I64 = np.int64
CASES: dict[str, Any] = {
    "scales": ("y = Resize(x, None, s, mode='nearest')", {"s": "f32[2]"}, {"s": np.float32([1, 2])}, {"s": np.float32([1, 3])}),
    "a mode": ("y = Dropout(x, r, t)", {"r": "f32[]", "t": "bool[]"}, {"r": np.float32(0.5), "t": np.array(False)}, {"t": np.array(True)}),
    "axes of pads": ("y = Pad(x, i64([1, 1]), None, a)", {"a": "i64[1]"}, {"a": I64([1])}, {"a": I64([0])}),
    "axes through arithmetic": ("y = Pad(x, i64([1, 1]), None, Neg(a))", {"a": "i64[1]"}, {"a": I64([1])}, {"a": I64([2])}),
}  # fmt: skip


def built(text: str, kinds: dict[str, str]) -> ir.Model:
    return onnx_text(text, x="f32[n, 4]", **kinds)


@pytest.mark.parametrize("name", CASES)
def test_a_run_has_what_the_example_has_or_names_the_input(name: str) -> None:
    text, kinds, example, other = CASES[name]
    with pytest.raises(LoweringError):
        export(built(text, kinds))
    report = Report()
    program = export(built(text, kinds), Options(example={"x": X, **example}), report=report)
    (changed,) = other
    assert [n for n in report.notes if n.startswith(f"input {changed} is guarded to the example's")]
    feeds = {"x": X, **example}
    assert len([n for n in report.notes if "guarded" in n]) == 1, "what is covered stays free"
    model = pteron.load(emit_bytes(program))
    np.testing.assert_array_equal(model.run(feeds)["y"], run(program, feeds)["y"])
    with pytest.raises(PteronError, match=f"input {changed} is guarded"):
        model.run({**feeds, **other})
    with pytest.raises((PteronError, IndexError)):
        run(program, {**feeds, **other})


def test_sizes_that_are_no_structure_stay_free() -> None:
    text, kinds, example, _ = CASES["scales"]
    model = pteron.load(
        emit_bytes(export(built(text, kinds), Options(example={"x": X, **example})))
    )
    assert model.run({"x": X[:1], **example})["y"].shape == (1, 8)


def test_an_input_that_is_not_needed_is_not_guarded() -> None:
    report = Report()
    model = onnx_text("y = ReduceSum(x, a)", x="f32[3, 4]", a="i64[1]")
    export(model, Options(example={"x": X, "a": I64([0])}), report=report)
    assert not any("guarded" in note for note in report.notes)


def test_a_nan_is_itself() -> None:
    text = "y = Resize(x, k, None, i64([3, 8]), mode='linear', coordinate_transformation_mode='tf_crop_and_resize')"
    model = built(text.replace("k", "roi"), {"roi": "f32[4]"})
    example = {"x": X, "roi": np.float32([0, 0, 1, 1])}
    loaded = pteron.load(emit_bytes(export(model, Options(example=example))))
    assert loaded.run(example)["y"].shape == (3, 8)
    with pytest.raises(PteronError, match="input roi is guarded"):
        loaded.run({**example, "roi": np.float32([0, 0, 1, np.nan])})


BAD: dict[str, Any] = {
    "another dtype": ({"s": np.float64([1, 2])}, ArgumentError, "example s: expected float32"),
    "another shape": ({"s": np.float32([1])}, ArgumentError, "example s: expected"),
    "a name that is no input": ({"scales": np.float32([1, 2])}, ArgumentError, "example scales: expected inputs"),
    "no numbers": ({"s": "ab"}, ArgumentError, "numbers"),
    "no file": ("nowhere.npz", FileError, "(?i)no such file"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_an_example_that_does_not_fit_is_refused(name: str) -> None:
    example, kind, why = BAD[name]
    text, kinds, _, _ = CASES["scales"]
    with pytest.raises(kind, match=why):
        export(built(text, kinds), Options(example=example))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"\x93NUMPY\x01\x00", b"x" * 100])
def test_a_file_that_is_no_npz_is_one_line(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(data)
    with pytest.raises(ArgumentError, match=r"expected an \.npz") as caught:
        export(built(*CASES["scales"][:2]), Options(example=path))
    assert "\n" not in str(caught.value)


def test_the_command_line_takes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from pteron.cli import main

    text, kinds, example, _ = CASES["scales"]
    ir.save(built(text, kinds), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=X, **example)
    assert (
        main(["export", str(tmp_path / "m.onnx"), "--example", str(tmp_path / "x.npz"), "-q"]) == 0
    )
    assert "input s is guarded to the example's [1.0, 2.0]" in capsys.readouterr().out

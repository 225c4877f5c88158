"""One name for a thing, in Python and on the command line: the lists are compared, and old spellings name the new one."""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import Any

import pytest

import pteron
from pteron.cli import main, parser

PYTHON = {
    "source", "out",  # by position: `pteron export MODEL -o FILE`
    "args", "kwargs", "dynamic_shapes",  # of a torch module: `model.py:make` returns them
    "methods", "quantized", "progress",  # objects
}  # fmt: skip
"""What Python alone has."""
SHELL = {"help", "json", "quiet", "output"}
"""What the command line alone has."""
ONCE_EACH = {"states": "state", "hints": "hint", "rules": "rule", "delegates": "delegate"}
"""A flag of several is given once for each."""


def flags(command: str) -> set[str]:
    (subs,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    found = {flag for a in subs.choices[command]._actions for flag in a.option_strings}
    return {flag.removeprefix("--") for flag in found if flag.startswith("--")}


def spelled(name: str, default: Any) -> str:
    flag = ONCE_EACH.get(name, name).replace("_", "-")
    return f"no-{flag}" if default is True else flag


@pytest.mark.parametrize(
    ("function", "command"),
    [(pteron.export_model, "export"), (pteron.quantize_model, "quantize")],
)
def test_python_and_the_command_line_have_the_same_names(function: Any, command: str) -> None:
    given = inspect.signature(function).parameters
    names = {spelled(p.name, p.default) for p in given.values() if p.name not in PYTHON}
    assert names == flags(command) - SHELL


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["export", "m.onnx", "--dim", "b=1"], "--dim b=1; it is called --hint"),
        (["export", "m.onnx", "--exec=int8"], "it is called --activations"),
        (["export", "m.onnx", "--check"], "it is called --dry-run"),
        (["export", "m.onnx", "--emit-kernel-list", "k.h"], "it is called --kernel-list"),
        (["quantize", "m.onnx", "--eval", "e.npz"], "it is called --evaluate"),
        (["quantize", "m.onnx", "--exec-mode", "int8"], "it is called --activations"),
        (["export", "m.onnx", "--quantise", "int8"], "did you mean --quantize?"),
        (["exprot", "m.onnx"], "no command 'exprot'; did you mean export?"),
        (["zzz"], "invalid choice: 'zzz'"),
    ],
)
def test_old_spellings_and_slips_name_what_counts(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("keyword", "hint"),
    [
        ("dim", "it is called hints"),
        ("exec_mode", "it is called activations"),
        ("eval", "it is called evaluate"),
        ("debug", "it is called strip"),
        ("state", "it is called states"),
        ("emit_kernel_list", "it is called kernel_list"),
        ("calibrat", "did you mean calibrate?"),
    ],
)
def test_old_keywords_name_the_new_one(keyword: str, hint: str) -> None:
    function: Any = pteron.export_model
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{keyword}'; {hint}".replace("?", r"\?")):  # fmt: skip
        function("m.onnx", "m.pte", **{keyword: 1})


def test_quantize_model_does_what_the_command_does(root: Path, tmp_path: Path) -> None:
    digits = root / "examples/digits"
    words = [
        "quantize", digits / "digits.onnx", "-o", tmp_path / "a.onnx", "--format", "int8", "--rule", "head=skip", "--calibrate",
        digits / "calibration.npz", "--ranges", tmp_path / "a.json", "--report", tmp_path / "ar.json", "-q",
    ]  # fmt: skip
    assert main([str(word) for word in words]) == 0
    report = pteron.quantize_model(
        digits / "digits.onnx",
        tmp_path / "b.onnx",
        format="int8",
        rules={"head": "skip"},
        calibrate=digits / "calibration.npz",
        ranges=tmp_path / "b.json",
        report=tmp_path / "br.json",
    )
    assert len(report.layers) == 3
    assert report.skipped == ["head"]
    for suffix in (".onnx", ".json", "r.json"):
        a, b = ((tmp_path / f"{name}{suffix}").read_bytes() for name in "ab")
        assert a == b


def test_export_model_writes_reports(root: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    pteron.export_model(root / "examples/digits/digits.onnx", tmp_path / "d.pte", report=page)
    assert "Exported" in page.read_text()
    with pytest.raises(pteron.PteronError):
        pteron.export_model(b"no model", tmp_path / "e.pte", report=page)
    assert "Not exported" in page.read_text()
    assert not (tmp_path / "e.pte").exists()


def test_what_was_written_ends_an_export(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "d.pte"
    words = ["export", str(root / "examples/digits/digits.onnx"), "-o", str(out)]
    assert main([*words, "--quantize", "int8", "-q"]) == 0
    text = capsys.readouterr().out
    assert f"wrote {out} ({out.stat().st_size:,} bytes, 0." in text.splitlines()[-1]
    assert "of digits.onnx, 4 of 4 layers in int8)" in text.splitlines()[-1]
    assert "weight-only" in text
    assert "--calibrate" in text
    calibrate = ["--calibrate", str(root / "examples/digits/calibration.npz")]
    assert main([*words, "--quantize", "int8", *calibrate, "-q"]) == 0
    assert "weight-only" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "expected format or recipe, got both or neither"),
        ({"format": "nf4", "recipe": "r.yaml"}, "expected format or recipe, got both"),
        ({"recipe": "r.yaml", "rotation": "all"}, "rotation: expected in the recipe"),
        ({"format": "nf4", "algorithm": "awq"}, "algorithm: expected nearest, search, gptq, got 'awq'"),
        ({"format": "nf4", "out": None}, "out: expected an .onnx or .pte file, got none"),
        ({"format": "nf4", "out": "q.txt"}, "expected an .onnx or .pte file"),
        ({"format": "nf4", "activations": "int8-block"}, "activations int8-block: found while running"),
        ({"format": "nf4", "report": "r.txt"}, "report r.txt: expected an .html or .json file"),
        ({"format": "nf4", "ranges": "r.json"}, "ranges r.json: expected format int8 and calibrate"),
    ],
)  # fmt: skip
def test_what_quantize_model_refuses(
    root: Path, tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    given = {"out": tmp_path / "q.onnx", **options}
    with pytest.raises(pteron.PteronError, match=words):
        pteron.quantize_model(root / "examples/digits/digits.onnx", **given)

"""The options of an export: rows that the command line, export_model and its documentation are made of."""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron
from pteron.cli import parser
from pteron.cli.pairs import asked
from pteron.export.options import Options, rows
from pteron.request import Request
from pteron.schema.activations import CHOICES
from pteron.schema.errors import ArgumentError, PteronError
from pteron.schema.policies import POLICIES


def test_the_command_line_asks_for_what_a_call_without_options_does() -> None:
    plain = Request("m.onnx")
    for command in (["export", "m.onnx"], ["quantize", "m.onnx", "-o", "o", "--format", "nf4"]):
        words = asked(parser().parse_args(command))
        got = {name: given for name, given in words.items() if given != []}  # no pairs yet
        assert len(got) >= 3
        request = Request("m.onnx", **got)
        for name in got:
            assert (getattr(request, name) or None) == (getattr(plain, name) or None)


def test_flags_make_their_options_what_they_are_not() -> None:
    got = parser().parse_args(["export", "m.onnx", "--no-fuse", "--strip", "--no-check"])
    assert (got.fuse, got.strip, got.check) == (False, True, False)


def test_the_function_has_every_option_by_name_default_and_text() -> None:
    signature = inspect.signature(pteron.export_model)
    assert {n: p.default for n, p in signature.parameters.items()} == {
        f.name: f.default for f in dataclasses.fields(Request)
    }
    assert list(signature.parameters)[:2] == ["source", "out"]
    told = " ".join((pteron.export_model.__doc__ or "").split())
    for name, field in rows(Request).items():
        assert field.metadata["text"] and f"{name}: " in told
        assert " ".join(field.metadata["text"].split()) in told


def test_an_option_that_there_is_not_is_named() -> None:
    with pytest.raises(TypeError, match=r"export_model\(\) got an unexpected keyword .*'fuze'"):
        pteron.export_model("m.onnx", fuze=False)  # type: ignore[call-arg]


@pytest.mark.parametrize("name, choices", [("activations", CHOICES), ("placement", POLICIES)])
def test_an_option_is_one_of_its_choices(name: str, choices: tuple[str, ...]) -> None:
    for choice in choices:
        assert getattr(Options(delegates="null", **{name: choice}), name) == choice
    with pytest.raises(ArgumentError, match=f"{name}: expected {', '.join(choices)}, got 'none'"):
        Options(**{name: "none"})


@pytest.mark.parametrize("delegates", ["cpu", (), ["cpu", "null"], "cpu, null"])
def test_who_forbids_the_cpu_names_a_delegate(delegates: str | list[str]) -> None:
    with pytest.raises(ArgumentError, match="placement forbid: expected a delegate"):
        Options(delegates=delegates, placement="forbid")
    assert Options(delegates="null", placement="forbid").delegates == ("null",)


def test_delegates_are_names() -> None:
    assert Options(delegates="null, cpu").delegates == ("null", "cpu")
    with pytest.raises(ArgumentError, match="delegates: expected names, got 5"):
        Options(delegates=5)  # type: ignore[arg-type]


def test_options_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Options().fuse = False  # type: ignore[misc]


@pytest.mark.parametrize(
    "name",
    [
        "out", "methods", "samples", "statistics", "resume", "max_ram", "quantize", "quantized", "check", "strip", "kwargs",
        "states", "max_context", "cache", "logits", "hints", "fix", "fuse", "activations", "delegates", "placement", "progress",
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_named_before_any_work(name: str, root: Path) -> None:
    wrong: list[Any] = [0.5, b"x", [1], object(), np.zeros(3)]
    wrong += [] if name in ("kwargs", "methods") else [{1: 2}]
    for value in wrong:
        with pytest.raises(PteronError, match=rf"^({name}|{name.rstrip('s')} )"):
            pteron.export_model(root / "examples/digits/digits.onnx", **{name: value})

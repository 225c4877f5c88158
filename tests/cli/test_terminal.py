"""What a person at a terminal sees and a log or a machine does not: bars, colours, completion, JSON."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pteron.cli import COMMANDS, main, parser
from pteron.cli.completion import commands
from pteron.cli.progress import STAGES, share

PTERON = [sys.executable, "-m", "pteron"]


def at_terminal(*words: object, **environment: str) -> tuple[int, str]:
    """Runs a command whose stderr is a terminal; exit code, and what it showed there."""
    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    env |= {"TERM": "xterm-256color", "COLUMNS": "100", **environment}
    child = subprocess.Popen(
        [*PTERON, *map(str, words)], stdout=subprocess.DEVNULL, stderr=theirs, env=env
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    return child.wait(), shown.decode()


# --- progress ------------------------------------------------------------------------------------


def test_a_terminal_shows_a_bar_and_clears_it(root: Path, tmp_path: Path) -> None:
    words = ("export", root / "examples/digits/digits.onnx", "-o", tmp_path / "d.pte")
    code, shown = at_terminal(*words)
    assert code == 0 and "━" in shown and "emit" in shown
    assert "\x1b[2K" in shown.rpartition("━")[2]
    assert " s  capture" not in shown
    assert at_terminal(*words, "-q") == (0, "") == at_terminal(*words, "--json")


def test_a_log_has_a_line_a_stage(root: Path, tmp_path: Path) -> None:
    words = ["quantize", root / "examples/digits/digits.onnx", "-o", tmp_path / "d.pte"]
    done = subprocess.run(
        [*PTERON, *words, "--format", "nf4"], capture_output=True, text=True, check=True
    )
    lines = done.stderr.splitlines()
    assert [line.split()[2] for line in lines if "quantize " not in line][:2] == [
        "capture",
        "passes",
    ]
    steps = [line.split()[3:5] for line in lines if " s  quantize " in line]
    assert steps == [["1/4", "first.0"], ["2/4", "second.0"], ["3/4", "third.0"], ["4/4", "head"]]
    assert "\x1b" not in done.stderr


def test_a_bar_never_goes_back() -> None:
    told = ["capture", "passes", "quantize", "quantize 1/4 a", "quantize 4/4 b", "lower", "capture"]
    done = [0.0]
    for stage in told:
        done.append(share(stage, done[-1]))
    assert done == sorted(done) and 0 < done[-1] < 1 and share("unheard of", 0.5) == 0.5
    assert share("quantize 4/4 b") > share("quantize 1/4 a")


def test_the_bar_knows_every_stage_of_an_export(root: Path, tmp_path: Path) -> None:
    import pteron

    told: list[str] = []
    samples = root / "examples/digits/calibration.npz"
    pteron.export_model(
        root / "examples/digits/digits.onnx",
        tmp_path / "d.pte",
        quantize="nf4",
        calibrate=samples,
        statistics=tmp_path / "s.npz",
        evaluate=samples,
        samples=4,
        delegates=["null", "cpu"],
        fix={"batch": 1},
        mode="max-autotune",
        progress=told.append,
    )
    assert {stage.split()[0] for stage in told} | {"check", "context"} == set(STAGES)
    told.remove("quantize")  # the whole, of which calibrating is the first part
    order = [STAGES.index(stage.split()[0]) for stage in told]
    assert order == sorted(order)


# --- colours -------------------------------------------------------------------------------------


def test_colours_are_for_terminals_that_want_them() -> None:
    code, shown = at_terminal("run", "nowhere.pte")
    assert code == 2 and shown.startswith("\x1b[31mpteron run:\x1b[0m nowhere.pte: no such file")
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in at_terminal("run", "nowhere.pte", **environment)[1]
    piped = subprocess.run([*PTERON, "run", "nowhere.pte"], capture_output=True, text=True)
    assert piped.stderr == "pteron run: nowhere.pte: no such file\n"


def test_a_bar_without_colours(root: Path, tmp_path: Path) -> None:
    words = ("export", root / "examples/digits/digits.onnx", "-o", tmp_path / "d.pte")
    shown = at_terminal(*words, NO_COLOR="1")[1]
    assert "━" in shown and "\x1b[3" not in shown and "\x1b[9" not in shown


def test_a_terminal_that_only_takes_letters_has_a_line_a_stage(root: Path, tmp_path: Path) -> None:
    words = ("export", root / "examples/digits/digits.onnx", "-o", tmp_path / "d.pte")
    code, shown = at_terminal(*words, TERM="dumb")
    lines = shown.splitlines()
    assert code == 0 and len(lines) > 5 and "\x1b" not in shown and "\r\r" not in shown
    assert all(line.endswith(stage) for line, stage in zip(lines, ["capture", "passes", "lower"]))


# --- completion ----------------------------------------------------------------------------------


def complete(line: str) -> set[str]:
    """What bash offers after `line`."""
    script = subprocess.run([*PTERON, "completion", "bash"], capture_output=True, text=True).stdout
    words = line.split(" ")
    script += f"\nCOMP_WORDS=({' '.join(words)} {'' if words[-1] else repr('')})\n"
    script += f'COMP_CWORD={len(words) - 1}\ncompopt() {{ :; }}\n_pteron\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n")) - {""}


def test_bash_completes_commands_options_values_and_files(tmp_path: Path) -> None:
    assert complete("pteron ") >= set(COMMANDS)
    assert complete("pteron ex") == {"export"}
    assert complete("pteron export --del") == {"--delegate"}
    assert complete("pteron export --placement ") == {"allow", "warn", "forbid"}
    assert complete("pteron completion ") >= {"bash", "zsh", "fish"}
    (tmp_path / "m.onnx").touch()
    assert complete(f"pteron export {tmp_path}/m") == {f"{tmp_path}/m.onnx"}
    assert complete(f"pteron run m.pte -o {tmp_path}/m") == {f"{tmp_path}/m.onnx"}
    assert not complete("pteron run --seed ")


def test_completion_knows_every_option_of_every_command() -> None:
    rows = {c.name: c for c in commands(parser())}
    assert set(rows) == set(COMMANDS)
    for shell in ("bash", "zsh", "fish"):
        done = subprocess.run([*PTERON, "completion", shell], capture_output=True, text=True)
        names = {n for c in rows.values() for o in c.options for n in o.names}
        wanted = {n.lstrip("-") for n in names} if shell == "fish" else names
        assert done.returncode == 0 and not [n for n in wanted if n not in done.stdout]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_the_script(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    script = subprocess.run([*PTERON, "completion", shell], capture_output=True, text=True).stdout
    (tmp_path / "_pteron").write_text(script)
    words = [shell, "-n", tmp_path / "_pteron"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    if shell == "fish":
        ask = f"source {tmp_path}/_pteron; complete -C 'pteron export --placement '"
        done = subprocess.run(["fish", "-c", ask], capture_output=True, text=True)
        assert [line.split()[0] for line in done.stdout.splitlines()] == [
            "allow",
            "forbid",
            "warn",
        ], done.stderr


# --- JSON ----------------------------------------------------------------------------------------


def test_every_json_is_one_object_with_its_schema(
    root: Path, digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = root / "examples/digits/digits.onnx"
    for words in (
        ["export", model, "--dry-run"],
        ["quantize", model, "-o", tmp_path / "q.onnx", "--format", "nf4"],
        ["run", digits],
        ["inspect", digits],
        ["verify", digits],
        ["profile", digits, "--runs", 1],
        ["bench", digits, "--runs", 1],
        ["doctor"],
    ):
        assert main([*map(str, words), "--json"]) == 0
        out, err = capsys.readouterr()
        facts = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
        assert (facts["schema"], facts["command"]) == (1, words[0]) and not err


def test_ports_and_dims_are_structures(digits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["inspect", str(digits), "--json"])
    facts = json.loads(capsys.readouterr().out)
    (batch,) = facts["dims"]
    assert batch == {
        "name": "batch",
        "kind": "symbolic",
        "min": 0,
        "max": batch["max"],
        "size": batch["size"],
    }
    assert facts["methods"][0]["inputs"] == [
        {"name": "image", "dtype": "f32", "shape": ["batch", 1, 8, 8]}
    ]
    assert facts["methods"][0]["outputs"][0]["shape"] == ["batch", 10]
    assert facts["methods"][0]["states"] == []


def test_an_error_is_json_too(digits: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    for words, code, kind in (
        (["run", "nowhere.pte"], 2, "FileError"),
        (["run", digits, "--dim", "nope=1"], 2, "ArgumentError"),
        (["run", digits, "--seed", "x"], 2, "UsageError"),
        (["export", tmp_path / "bad.onnx"], 3, "ModelError"),
    ):
        done = subprocess.run([*PTERON, *map(str, words), "--json"], capture_output=True, text=True)
        facts = json.loads(done.stdout)
        assert done.returncode == code == facts["error"]["code"] and facts["schema"] == 1
        assert facts["error"]["kind"] == kind and facts["command"] == words[0]
        assert done.stderr == f"pteron {words[0]}: {facts['error']['text']}\n"

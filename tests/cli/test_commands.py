"""Each command as a user types it: exit code, the words it prints, what it writes."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

import pteron
from pteron.cli import COMMANDS, main, parser, roofline
from pteron.cli.times import own_ns
from pteron.export.delegates import Delegate
from pteron.runtime import TraceEvent
from pteron.schema.extras import elsewhere


def run(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    code = main([str(a) for a in argv])
    out, err = capsys.readouterr()
    return code, out, err


def test_export_reports_and_writes(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "d.pte"
    code, text, _ = run(capsys, "export", root / "examples/digits/digits.onnx", "-o", out, "-q")
    assert code == 0 and out.exists() and "planned" in text
    code, text, _ = run(capsys, "export", root / "examples/digits/digits.onnx", "-o", out, "--json")
    assert code == 0 and json.loads(text)


def test_export_check_writes_nothing(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "d.pte"
    assert (
        run(capsys, "export", root / "examples/digits/digits.onnx", "-o", out, "--dry-run", "-q")[0]
        == 0
    )
    assert not out.exists()


def test_run_prints_the_same_digest_for_the_same_seed(
    digits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = run(capsys, "run", digits, "--seed", 3, "--json")
    again = run(capsys, "run", digits, "--seed", 3, "--json", "--threads", 2)
    other = run(capsys, "run", digits, "--seed", 4, "--json")
    digests = [json.loads(r[1])["outputs"]["logits"]["digest"] for r in (first, again, other)]
    assert digests[0] == digests[1] != digests[2]


def test_run_takes_npz_and_saves_npz(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "in.npz", image=np.zeros((2, 1, 8, 8), np.float32))
    code, _, _ = run(capsys, "run", digits, "-i", tmp_path / "in.npz", "-o", tmp_path / "out.npz")
    assert code == 0 and np.load(tmp_path / "out.npz")["logits"].shape == (2, 10)
    code, _, _ = run(
        capsys, "verify", digits, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"
    )
    assert code == 0


def test_verify_finds_a_changed_weight_and_other_outputs(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "verify", digits)[0] == 0
    facts = json.loads(run(capsys, "inspect", digits, "--json")[1])
    at = next(s["offset"] for s in facts["segments"] if s["kind"] == "constants")
    data = bytearray(digits.read_bytes())
    data[at] ^= 1
    (tmp_path / "bad.pte").write_bytes(data)
    code, _, err = run(capsys, "verify", tmp_path / "bad.pte")
    assert code == 6 and "digest" in err
    np.savez(tmp_path / "in.npz", image=np.zeros((1, 1, 8, 8), np.float32))
    np.savez(tmp_path / "out.npz", logits=np.ones((1, 10), np.float32))
    code, _, err = run(
        capsys, "verify", digits, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"
    )
    assert code == 6 and "beyond tolerance" in err


def test_inspect_shows_ports_instructions_and_plan(
    digits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text, _ = run(capsys, "inspect", digits)
    assert code == 0
    assert "image: f32[batch, 1, 8, 8]" in text and "conv" in text and "live-bytes bound" in text


def test_inspect_plans_for_what_the_runtime_prepares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Values whose size the data decides take their capacity."""
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["": 20]>
        g (float[100, 100] x) => (float[1] y) {
            i = NonZero(x)
            t = Transpose <perm = [1, 0]> (i)
            g = GatherND(x, t)
            e = Exp(g)
            y = ReduceSum(e)
        }"""
    )
    path = tmp_path / "m.pte"
    report = pteron.export_model(model, path)
    session = pteron.load(path, threads=1)
    session.run({"x": np.ones((100, 100), np.float32)})
    facts = json.loads(run(capsys, "inspect", path, "--json")[1])
    (method,) = facts["methods"]
    (counted,) = facts["dims"]
    assert method["plan"]["total_bytes"] == report.methods[0].planned_bytes
    assert method["plan"]["total_bytes"] == session.sizes.planned_bytes > 10_000 * 16
    assert counted["size"] == 10_000
    plan, peak = method["plan"], method["plan"]["peak"]
    alive = [p for p in plan["placed"] if p["begin"] <= peak <= p["end"]]
    assert sum(-(-p["bytes"] // 64) * 64 for p in alive) == plan["live_bytes"]
    code, _, text = run(capsys, "inspect", path, "--dim", f"{counted['name']}=3")
    assert code == 2 and "the program has none" in text


def test_profile_writes_a_chrome_trace(
    digits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text, _ = run(capsys, "profile", digits, "--runs", 2, "-o", tmp_path / "t.json")
    assert code == 0 and "conv" in text
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert events and all(e["ph"] == "X" and e["dur"] >= 0 for e in events)


def test_bench_prints_percentiles(digits: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "bench", digits, "--runs", 3, "--json")
    report = json.loads(text)
    assert code == 0 and report["latency_ms"]["pteron"]["p50"] > 0 and report["arena_bytes"] > 0
    assert report["threads"] >= 1 and "kernels" in report["machine"] and report["peers"] == {}
    assert {"conv", "matmul"} <= {o["op"] for o in report["operators"]}
    assert abs(sum(o["share"] for o in report["operators"]) - 1) < 1e-6
    assert report["schema"] == 1 and report["versions"]["pteron"]


def test_bench_keeps_the_peaks_and_says_what_operators_reach(
    digits: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Measured once a machine, from the file after; a file that is none is made anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    report = json.loads(run(capsys, "bench", digits, "--runs", 2, "--json")[1])
    kept = json.loads((tmp_path / "pteron/peaks.json").read_text())
    assert kept == {report["machine"]: report["peaks"]}
    assert set(report["peaks"]) == {"fma", "dot", "L2", "memory"} and report["peaks"]["L2"] > 0
    for o in report["operators"]:
        assert o["gbytes_s"] > 0 and 0 < o["L2_share"] < 2, o
        assert (o["gproducts_s"] > 0) == (o["op"] in ("conv", "matmul"))
    doubled = {kind: 2 * rate for kind, rate in report["peaks"].items()}
    (tmp_path / "pteron/peaks.json").write_text(json.dumps({report["machine"]: doubled}))
    again = json.loads(run(capsys, "bench", digits, "--runs", 2, "--json")[1])
    assert again["peaks"] == doubled
    for other in ("no JSON", "[]", '{"another machine": {}}', json.dumps({report["machine"]: 7})):
        (tmp_path / "pteron/peaks.json").write_text(other)
        assert run(capsys, "bench", digits, "--runs", 1)[0] == 0


def test_work_of_a_program_with_dynamic_sizes(tmp_path: Path) -> None:
    """A product of [n, 4] by [4, 6] and its sum by rows: n * 24 products; bytes of what is read and written, each once."""
    m, n = onnx.TensorProto.FLOAT, "n"
    x, y = (onnx.helper.make_tensor_value_info(k, m, [n, c]) for k, c in (("x", 4), ("y", 6)))
    w = onnx.numpy_helper.from_array(np.ones((4, 6), np.float32), "w")
    node = onnx.helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = onnx.helper.make_graph([node], "g", [x], [y], [w])
    source, target = tmp_path / "m.onnx", tmp_path / "m.pte"
    onnx.save(
        onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)]), source
    )
    pteron.export_model(source, target)
    (one,) = roofline.work_of(target, {"x": (7, 4)}).values()
    assert one == roofline.Work(7 * 24, 4 * (7 * 4 + 4 * 6 + 7 * 6))
    assert roofline.work_of(target, {}) == {}  # n is not known


def test_bench_takes_turns_with_another_runtime(
    root: Path, digits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = root / "examples/digits/digits.onnx"
    how = ("--runs", 2, "--vs-onnx", source, "--vs", "onnxruntime")
    code, text, _ = run(capsys, "bench", digits, *how, "--json")
    report = json.loads(text)
    peer = report["peers"]["onnxruntime"]
    assert code == 0 and set(report["latency_ms"]) == {"pteron", "onnxruntime"}
    assert peer["difference"] < 1e-4 and peer["ratio"] > 0 and peer["version"]
    assert "pteron / onnxruntime" in run(capsys, "bench", digits, *how)[1]


def test_doctor_names_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    code, text, _ = run(capsys, "doctor")
    assert code == 0 and "CPU kernels: portable" in text


def test_doctor_says_how_to_get_a_delegates_compiler(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTERON_NPU_PYTHON", "/nowhere/python")
    code, text, _ = run(capsys, "doctor")
    assert code == 0 and "delegate null: compile" in text
    assert "/nowhere/python" in text and f"pip install '{elsewhere('npu')}'" in text


def test_doctor_says_how_to_get_a_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    code, text, _ = run(capsys, "doctor")
    assert code == 0 and "missing: apt-get install qemu-user" in text


@pytest.mark.parametrize(
    "argv, code, words",
    [
        (["run", "nowhere.pte"], 2, "nowhere.pte: no such file"),
        (["export", "nowhere.onnx"], 2, "nowhere.onnx"),
        (["run", "{digits}", "--dim", "batch"], 2, "SYMBOL=N"),
        (["inspect", "{digits}", "--dim", "nope=3"], 2, "the program has batch"),
        (["run", "{text}"], 4, "not a Pteron program"),
        (["inspect", "{text}"], 4, "text.pte: header: expected the magic bytes"),
        (["run", "{onnx}"], 2, "got a model; compile it first: pteron export"),
        (["inspect", "{onnx}", "--dim", "batch=2"], 2, "expected a .pte program"),
        (["inspect", "nowhere.onnx"], 2, "nowhere.onnx: no such file"),
        (["verify", "{onnx}"], 2, "expected a .pte program"),
        (["run", "{digits}", "-i", "{text}"], 3, "write it with numpy.savez"),
        (["run", "{digits}", "-i", "{objects}"], 3, "expected numbers in an .npz or .npy file"),
        (["run", "{digits}", "-i", "nowhere.npz"], 2, "nowhere.npz: no such file"),
        (["run", "{digits}", "--dim", "nope=3"], 2, "the inputs have batch"),
        (["run", "{digits}", "--dim", "batch=-3"], 2, "expected a size from 0 to"),
        (["run", "{digits}", "-o", "nowhere/out.npz"], 2, "expected a folder nowhere"),
        (["inspect", "{digits}", "--dim", "batch=-1"], 2, "expected a size from 0 to"),
        (["inspect", "{digits}", "--html", "nowhere/a.html"], 2, "expected a folder nowhere"),
        (["verify", "{digits}", "--inputs", "{text}"], 2, "got one of them"),
        (["bench", "{digits}", "--vs-onnx", "{text}", "--runs", "1"], 2, "onnxruntime refuses"),
        (["run", "{folder}"], 2, "expected a file, got a folder"),
        (["bench", "{digits}", "--vs-onnx", "nowhere.onnx"], 2, "nowhere.onnx: no such file"),
        (["export", "{onnx}", "-o", "nowhere/d.pte"], 2, "expected a folder nowhere"),
        (["export", "{onnx}", "--fix", "batch=x", "--dry-run"], 2, "expected SYMBOL=N"),
        (["quantize", "{onnx}", "-o", "o.onnx", "--format=nf4", "--rule", "x"], 2, "REGEX=FORMAT"),
        pytest.param(
            ["quantize", "{pt2}", "-o", "o.onnx", "--format=nf4"],
            3,
            "expected a program of torch.export.save",
            marks=pytest.mark.skipif(
                find_spec("onnxscript") is None, reason="needs PyTorch: make dev-torch"
            ),
        ),
        (["quantize", "{onnx}", "-o", "nowhere/o.onnx", "--format=nf4"], 2, "a folder nowhere"),
        (["quantize", "{onnx}", "-o", "o.onnx", "--format=nf4", "--report", "r"], 2, ".html or"),
    ],
)
def test_errors_are_one_text_and_a_code(
    argv: list[str],
    code: int,
    words: str,
    root: Path,
    digits: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "text.pte").write_text("hello, I am no program at all\n" * 10)
    np.savez(tmp_path / "objects.npz", image=np.array([{}], object))
    files = {"text": tmp_path / "text.pte", "objects": tmp_path / "objects.npz", "digits": digits}
    (tmp_path / "model.pt2").write_bytes(b"")
    files |= {"folder": tmp_path, "pt2": tmp_path / "model.pt2"}
    files["onnx"] = root / "examples/digits/digits.onnx"
    argv = [a.format(**files) for a in argv]
    got, out, err = run(capsys, *argv)
    assert got == code and words in err and "Traceback" not in err, (got, err)
    assert not out


@pytest.mark.parametrize(
    "argv",
    [
        ["run", "d.pte", "--seed", "-1"],
        ["run", "d.pte", "--threads", "-1"],
        ["bench", "d.pte", "--runs", "0"],
        ["profile", "d.pte", "--runs", "none"],
    ],
)
def test_numbers_have_a_least_value(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(argv)
    assert end.value.code == 2 and "expected an integer of at least" in capsys.readouterr().err


def test_the_last_sign_divides_a_rule(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("quantize", root / "examples/digits/digits.onnx", "-o", tmp_path / "q.onnx", "-q")
    code, text, _ = run(capsys, *words, "--format", "nf4", "--rule", "^(?=head)=skip")
    assert code == 0 and re.search(r"head +left as it is", text)


def test_quantizing_twice_says_that_nothing_is_left(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, once = root / "examples/digits/digits.onnx", tmp_path / "q.onnx"
    assert run(capsys, "quantize", model, "-o", once, "--format", "int8", "-q")[0] == 0
    again = ("quantize", once, "-o", tmp_path / "r.onnx", "--format", "int8", "-q")
    code, text, _ = run(capsys, *again)
    assert code == 0 and "nothing to quantize" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        parser().parse_args([command, "--help"])
    assert end.value.code == 0 and "usage" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_help_and_every_command_an_example_that_parses(command: str) -> None:
    (subs,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    about = subs.choices[command]
    assert all(action.help for action in about._actions), "each option says what it does"
    (example,) = re.findall(r"(?m)^Example:\n\n    pteron (.+)$", about.description or "")
    assert parser().parse_args(shlex.split(example)).command == command


# --- delegates ----------------------------------------------------------------------------------------------------------


def test_export_and_inspect_say_where_each_node_went_and_why(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, model = tmp_path / "d.pte", root / "examples/digits/digits.onnx"
    words = ("export", model, "-o", out, "-q", "--delegate", "null,cpu", "--fix", "batch=1")
    code, text, _ = run(capsys, *words)
    assert code == 0 and "cpu: 11 of 11 nodes" in text
    assert "Reshape node_Reshape_33: nothing heavy enough in the segment" in text
    code, text, _ = run(capsys, *words, "--json")
    rows = json.loads(text)["placements"]
    assert len(rows) == 11 and all(r["delegate"] == "cpu" and r["reason"] for r in rows)
    code, text, _ = run(capsys, "inspect", out)
    assert "cpu        Conv             first.0/Conv: the null delegate computes nothing" in text
    assert json.loads(run(capsys, "inspect", out, "--json")[1])["placements"] == rows
    code, _, error = run(capsys, *words, "--placement", "forbid")
    assert code == 3 and "got 11 on the CPU" in error and "first.0/Conv" in error


def test_an_unknown_delegate_is_refused_with_those_known(
    root: Path, digits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, error = run(
        capsys, "export", root / "examples/digits/digits.onnx", "--delegate", "npu,cpu", "--dry-run"
    )
    assert code == 2 and re.search(r"expected .*null.*, cpu; got 'npu'", error)
    code, _, error = run(capsys, "run", digits, "--delegate", "npu")
    assert code == 2 and re.search(r"this build has null.*; got 'npu'", error)


def test_verify_needs_no_delegate(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Delegate("absent", "absent-1", lambda n: None, lambda s: b"payload.")
    out = tmp_path / "d.pte"
    pteron.export_model(
        root / "examples/digits/digits.onnx",
        out,
        delegates=[row],
        fix={"batch": 1},
        placement="forbid",
    )
    assert run(capsys, "run", out)[0] == 5
    code, text, error = run(capsys, "verify", out)
    assert code == 0 and not error
    assert "every digest holds" in text and "payload not opened: delegate absent (absent-1)" in text
    report = json.loads(run(capsys, "verify", out, "--json")[1])
    assert report["ok"] and len(report["unopened"]) == 1
    facts = json.loads(run(capsys, "inspect", out, "--json")[1])
    assert facts["activations"] == "delegate: absent"
    at = next(s["offset"] for s in facts["segments"] if s["kind"] == "blob")
    data = bytearray(out.read_bytes())
    data[at] ^= 1
    (tmp_path / "bad.pte").write_bytes(data)
    code, _, error = run(capsys, "verify", tmp_path / "bad.pte")
    assert code == 6 and "digest" in error


def test_doctor_names_the_package_of_a_delegate_that_was_not_built(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pteron.runtime.delegates, "known", tuple)
    code, text, _ = run(capsys, "doctor")
    assert code == 0
    assert "vgf: run                   not in this build: apt-get install libvulkan-dev" in text
    assert "libvulkan-dev" in (root / "runtime_c/delegates/vgf/delegate.cmake").read_text()


def test_doctor_names_the_delegates_of_a_runtime_without_the_exporter(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pteron.export.delegates", None)
    code, text, _ = run(capsys, "doctor")
    assert code == 0 and re.search(r"this build has null.*pip install 'pteron\[export\]'", text)


def test_profile_counts_what_a_fallback_takes_once(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [  # a delegate whose fallback ran two instructions, then one beside it
        TraceEvent(1, 5, 0, 20, 30),
        TraceEvent(2, 5, 0, 30, 90),
        TraceEvent(0, 9, 0, 10, 100),
        TraceEvent(3, 5, 0, 100, 140),
    ]
    assert [(e.instr, ns) for e, ns in own_ns(events)] == [(0, 20), (1, 10), (2, 60), (3, 40)]


def test_commands_run_a_program_whose_delegate_is_absent(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Delegate("absent", "absent-1", lambda n: None, lambda s: b"payload.")
    out = tmp_path / "d.pte"
    pteron.export_model(
        root / "examples/digits/digits.onnx", out, delegates=[row], fix={"batch": 1}
    )
    code, text, error = run(capsys, "run", out, "--json")
    assert code == 0
    assert (
        error.count("warning: delegate absent (absent-1) did not open: it is not in this build")
        == 1
    )
    digest = json.loads(text)["outputs"]["logits"]["digest"]
    plain = tmp_path / "p.pte"
    pteron.export_model(root / "examples/digits/digits.onnx", plain, fix={"batch": 1})
    assert (
        json.loads(run(capsys, "run", plain, "--json")[1])["outputs"]["logits"]["digest"] == digest
    )
    code, text, _ = run(capsys, "profile", out, "--runs", 2)
    assert code == 0 and "delegate" in text and "conv" in text
    assert run(capsys, "bench", out, "--runs", 2)[0] == 0
    code, text, _ = run(capsys, "inspect", out, "--all")
    assert (
        "segment 0: absent for absent-1, payload 8 bytes, placement warn, fallback on the CPU"
        in text
    )
    page = tmp_path / "page.html"
    assert run(capsys, "inspect", out, "--html", page)[0] == 0
    assert "<h2>Placement</h2>" in page.read_text()

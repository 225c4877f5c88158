"""Random small ONNX graphs: the reference's numbers, or an error of Pteron's that names a node; never a traceback, never a
file that does not load, prepare and run. `python -m graphs.many SEED COUNT` (in tests/) tries more of them."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest
from graphs import judge
from graphs.finish import Case
from graphs.make import case
from graphs.reference import evaluator

from pteron.export.lower.context import Lowering
from pteron.export.lower.node import Node
from pteron.export.lower.refs import Ref
from pteron.export.lower.table import LOWERINGS

pytestmark = pytest.mark.slow

TESTS = Path(__file__).resolve().parent.parent
CHUNK = 50
EACH = 6


@pytest.mark.parametrize("first", range(0, 6 * CHUNK, CHUNK))
def test_random_graphs_agree_or_are_refused_by_name(first: int) -> None:
    results = judged("--chunk", first, CHUNK)
    assert len(results) == CHUNK
    assert sum(r["kind"] == "same" for r in results) > CHUNK // 2


@pytest.mark.parametrize("part", range(EACH))
def test_graphs_that_end_in_each_operator(part: int) -> None:
    results = judged("--each", EACH, part, EACH)
    assert sum(r["kind"] == "same" for r in results) > len(results) // 2


def judged(*chosen: str | int) -> list[dict[str, Any]]:
    """None a defect. In a process of its own: a crash of the runtime is a failure that names the graph."""
    command = [sys.executable, "-m", "graphs.many", *map(str, chosen)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert done.returncode == 0, f"{lines[-1:]} ended the process: {done.stderr[-2000:]}"
    results = [r for r in lines if "kind" in r]
    bad = [r for r in results if r.get("defect") or r["kind"] == "generator"]
    assert not bad, "\n".join(
        f"--show {r['seed']} ({r['ops'][-1:]}): {r['kind']}: {r['text']}" for r in bad
    )
    return results


def test_the_arbiter_may_die(monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime ends its process on some models: the graph is counted as one without a judge."""
    made = case(random.Random(1))
    monkeypatch.setattr(judge, "_onnxruntime", lambda *_: os._exit(11))
    assert judge.by_onnxruntime(made) == judge.ARBITER_DIED
    assert judge.compare(made, {}, None).kind == "judge"


def test_a_function_gets_the_attributes_of_its_call() -> None:
    """The evaluator hands a 0 down to few operators."""
    text = """<ir_version: 10, opset_import: ["" : 21, "own" : 1]>
    agraph (float[2, 3] x) => (int64[?, ?] a, int64[?, ?] b) {
        a = own.f <along: int = 0> (x)
        b = own.f <along: int = 1> (x)
    }
    <domain: "own", opset_import: ["" : 21]>
    f <along> (x) => (y) { y = ArgMax <axis: int = @along> (x) }"""
    x = np.array([[1, 5, 2], [3, 4, 9]], np.float32)
    a, b = evaluator(onnx.parser.parse_model(text)).run(None, {"x": x})
    assert a.tolist() == [[1, 0, 1]] and b.tolist() == [[1], [2]]


WINDOW = """<ir_version: 10, opset_import: ["" : 26]>
agraph () => (float[?] y) <int32 size = {9}> {
    [window] w = BlackmanWindow (size)
    [unique] y = Unique <sorted: int = 0> (w)
}"""


def test_as_many_as_rounding_leaves_is_rounding() -> None:
    """The reference's window is symmetric to the last bit, ours is not: nodes are asked one by one."""
    made = Case(onnx.parser.parse_model(WINDOW), {}, "")
    assert judge.judge(made).kind in ("rounding", "same")


def test_as_many_as_a_fault_leaves_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def two(lowering: Lowering, node: Node) -> Ref:
        return lowering.slice(node[0], 0, 0, 2)

    monkeypatch.setitem(LOWERINGS, ("", "Unique"), two)
    verdict = judge.judge(Case(onnx.parser.parse_model(WINDOW), {}, ""))
    assert verdict.kind == "wrong" and verdict.text.startswith("unique: ")


def test_outputs_that_change_beside_others_are_wrong() -> None:
    made = Case(onnx.parser.parse_model(WINDOW), {}, "")
    wrong = {"y": np.zeros(2, np.float32)}
    assert judge.compare(made, wrong, judge.reference(made)).text.startswith("y: not the same")

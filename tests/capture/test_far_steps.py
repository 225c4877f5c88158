"""onnx's propagation of elements counts a Slice's steps in 32 bits and writes where they lead; no export may end there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

import pteron

CASES = {
    "the longest step": (0, 3, 2**63 - 1, False),
    "back by the longest": (2, -(2**63), -(2**63), False),
    "more than 32 bits": (0, 3, 2**32, False),
    "from behind the first": (2, 3, 2**31 - 1, False),
    "computed": (2, 3, 2**31, True),
    "near": (0, 3, 2, False),
}
EXPORT = """
import resource, sys
from pathlib import Path
import pteron
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
for path in sorted(Path(sys.argv[1]).glob("*.onnx")):
    print(path.stem, flush=True)
    pteron.export_model(path, path.with_suffix(".pte"))
"""


def model(start: int, end: int, step: int, computed: bool) -> onnx.ModelProto:
    """y = Shape(x)[start:end:step]"""
    given = {"start": start, "end": end, "axis": 0, "half": step // 2, "two": 2}
    given |= {} if computed else {"step": step}
    nodes = [helper.make_node("Shape", ["x"], ["sizes"])]
    nodes += [helper.make_node("Mul", ["half", "two"], ["step"])] if computed else []
    nodes.append(helper.make_node("Slice", ["sizes", "start", "end", "axis", "step"], ["y"]))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "m", 4])
    y = helper.make_tensor_value_info("y", TensorProto.INT64, [None])
    constants = [helper.make_tensor(k, TensorProto.INT64, [1], [v]) for k, v in given.items()]
    graph = helper.make_graph(nodes, "far", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def test_steps_of_any_length_end_no_process(tmp_path: Path) -> None:
    for name, case in CASES.items():
        onnx.save(model(*case), tmp_path / f"{name}.onnx")
    command = [sys.executable, "-c", EXPORT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    for name, (start, end, step, _) in CASES.items():
        x = np.zeros((2, 3, 4), np.float32)
        y = pteron.load(tmp_path / f"{name}.pte")(x)
        assert y.tolist() == [2, 3, 4][start : None if end < 0 else end : step], name

"""A model that a Python file makes, by name; and what the file may do wrong."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import pteron
from pteron.cli import main

torch = pytest.importorskip("torch")
ort = pytest.importorskip("onnxruntime")

FILE = """
import torch
from beside import SIZE

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 4, 3, padding=1)
        self.head = torch.nn.Linear(4 * 64, 10)

    def forward(self, image):
        return self.head(torch.relu(self.conv(image)).flatten(1))

torch.manual_seed(0)
net = Net()
x = torch.randn(SIZE, 1, 8, 8)

def pair():
    return net, (x,)

def one():
    return net, x

def free():
    return net, (x,), {"image": {0: "batch"}}

def broken():
    return 1 / 0

def five():
    return 5
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("SIZE = 2\n")
    (tmp_path / "net.py").write_text(FILE)
    return tmp_path / "net.py"


def test_a_function_makes_the_module_and_its_inputs(file: Path, tmp_path: Path) -> None:
    """The graph that is saved computes the same elsewhere, and can be quantized as any ONNX model."""
    out, saved = tmp_path / "m.pte", tmp_path / "m.onnx"
    words = ["export", f"{file}:free", "-o", str(out), "--save-onnx", str(saved), "-q"]
    assert main(words) == 0
    x = np.random.default_rng(0).standard_normal((3, 1, 8, 8)).astype(np.float32)
    (want,) = pteron.load(out).run({"image": x}).values()
    (got,) = ort.InferenceSession(saved).run(None, {"image": x})
    np.testing.assert_allclose(got, want, atol=1e-5)
    report = pteron.quantize_model(saved, tmp_path / "q.onnx", format="int8", calibrate=x)
    assert len(report.layers) == 2
    options = ort.SessionOptions()  # its fused integers saturate on processors without VNNI
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    (near,) = ort.InferenceSession(tmp_path / "q.onnx", options).run(None, {"image": x})
    np.testing.assert_allclose(near, want, atol=0.05)


@pytest.mark.parametrize("name", ["pair", "one"])
def test_forms_of_what_is_returned(name: str, file: Path, tmp_path: Path) -> None:
    pteron.export_model(f"{file}:{name}", tmp_path / "m.pte")
    assert pteron.load(tmp_path / "m.pte").inputs[0].shape == (2, 1, 8, 8)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "expected net.py:NAME, a module or a function that returns one, got no name; there are Net, net, pair"),
        (":nope", "got no nope; there are Net, net"),
        (":broken", "net.py:broken: ZeroDivisionError at line 28: division by zero"),
        (":five", "expected a torch module, or (module, args) or (module, args, dynamic_shapes), got 5"),
        (":net", "expected example inputs, got none"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_line(name: str, words: str, file: Path, tmp_path: Path) -> None:
    with pytest.raises(pteron.ModelError, match=re.escape(words)):
        pteron.export_model(f"{file}{name}", tmp_path / "m.pte")
    file.write_text("import nothing_of_this_name\n")
    with pytest.raises(pteron.ModelError, match="ModuleNotFoundError at line 1"):
        pteron.export_model(f"{file}:net", tmp_path / "m.pte")


def test_files_of_pytorch_are_named_for_what_they_are(tmp_path: Path) -> None:
    module = torch.nn.Linear(3, 2)
    torch.save(module.state_dict(), tmp_path / "c.pt")
    torch.jit.trace(module, torch.ones(1, 3)).save(str(tmp_path / "t.pt"))
    for name, words in (("c", "a PyTorch checkpoint"), ("t", "a TorchScript archive")):
        for path in (tmp_path / f"{name}.pt", tmp_path / f"{name}.pt2"):
            if path.suffix == ".pt2":
                path.write_bytes((tmp_path / f"{name}.pt").read_bytes())
            with pytest.raises(pteron.ModelError, match=f"got {words}.*model.py:make"):
                pteron.export_model(path, tmp_path / "m.pte")
    with pytest.raises(pteron.ArgumentError, match="load a state dict into its module"):
        pteron.export_model(module.state_dict(), tmp_path / "m.pte")
    with pytest.raises(pteron.ProgramError, match="compile the model first"):
        pteron.load(tmp_path / "c.pt")

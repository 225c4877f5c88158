"""A small language model of our own: a Llama of 3.5 M weights that learns from text that ships with Python.

    python benchmarks/small_decoder.py        trains it, once, into build/small-decoder

The text is the language reference that `help` shows and the documentation strings of the standard library; each twentieth piece is kept
apart. Tokens are 1,024 pairs of bytes and what pairs make. Same seed and machine: same weights. Twenty minutes of one core; training that
was ended goes on where it last kept what it had.
"""

from __future__ import annotations

import ast
import dataclasses
import sysconfig
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parent.parent / "build/small-decoder"
WORDS, LENGTH, BATCH, STEPS, SEED = 1024, 128, 16, 1000, 0
APART = 20
KEEP = 25  # steps
RATE, WARM = 3e-3, 20
END = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Decoder:
    """`module`: tokens [n, t] -> logits [n, t, words]. `learned` and `apart`: tokens [n, LENGTH] of what it read and what it did not."""

    module: Any
    learned: NDArray[np.int64]
    apart: NDArray[np.int64]


def documents() -> list[str]:
    """Pieces of text in one fixed random order, none twice."""
    found = {text for text in (*topics.values(), *_docstrings()) if len(text) >= 40}
    ordered = sorted(found)
    np.random.default_rng(SEED).shuffle(ordered)  # type: ignore[arg-type]
    return ordered


def _docstrings() -> Iterator[str]:
    """Of every module of the standard library but its tests, read as text: nothing is imported."""
    folder = Path(sysconfig.get_path("stdlib"))
    for path in folder.rglob("*.py"):
        if {"site-packages", "test", "tests", "idlelib", "lib2to3"} & set(path.parts):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(path.read_bytes())
        kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        for node in ast.walk(tree):
            if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                yield text


def _pieces(tokens: list[list[int]]) -> NDArray[np.int64]:
    stream = np.concatenate([[*document, END] for document in tokens])
    whole = stream[: len(stream) // LENGTH * LENGTH]
    return np.asarray(whole.reshape(-1, LENGTH), np.int64)


def tokenized() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What is learned and what is kept apart."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    texts = documents()
    learned = [text for i, text in enumerate(texts) if i % APART]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=WORDS, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(learned, trainer)
    return tuple(  # type: ignore[return-value]
        _pieces([made.ids for made in tokenizer.encode_batch(some)])
        for some in (learned, texts[::APART])
    )


def decoder() -> Decoder:
    """The trained model: from its folder, or trained and kept there."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    class Logits(torch.nn.Module):
        def __init__(self, model: LlamaForCausalLM) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            return self.model(input_ids=input_ids, use_cache=False).logits

    torch.manual_seed(SEED)
    shape = LlamaConfig(
        vocab_size=WORDS, hidden_size=256, intermediate_size=704, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=LENGTH, tie_word_embeddings=False,
    )  # fmt: skip
    module, text = Logits(LlamaForCausalLM(shape)), FOLDER / "tokens.npz"
    if not text.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        learned, apart = tokenized()
        np.savez(text, learned=learned, apart=apart)
    with np.load(text) as arrays:
        learned, apart = arrays["learned"], arrays["apart"]
    _train(module, learned)
    return Decoder(module.eval(), learned, apart)


def _train(module: Any, learned: NDArray[np.int64]) -> None:
    import torch

    matrices = [p for p in module.parameters() if p.ndim > 1]
    others = [p for p in module.parameters() if p.ndim < 2]
    groups = [
        {"params": matrices, "weight_decay": 0.1},
        {"params": others, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.95))
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: float(min((step + 1) / WARM, 0.5 * (1 + np.cos(np.pi * step / STEPS)) + 0.02)),
    )
    parts = {"module": module, "optimizer": optimizer, "rate": rate}
    kept, first = FOLDER / "training.pt", 0
    if kept.exists():
        states = torch.load(kept, weights_only=True)
        first = states.pop("step")
        for name, state in states.items():
            parts[name].load_state_dict(state)
    order = np.random.default_rng(SEED).permutation(len(learned))
    begin = time.monotonic()
    for step in range(first, STEPS):
        tokens = torch.from_numpy(learned[np.take(order, range(step * BATCH, (step + 1) * BATCH), mode="wrap")])  # fmt: skip
        logits = module(tokens)[:, :-1]
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        rate.step()
        if (step + 1) % KEEP == 0:
            states = {name: part.state_dict() for name, part in parts.items()}
            torch.save({"step": step + 1, **states}, kept)
            print(f"step {step + 1} of {STEPS}: loss {loss.item():.3f}, {time.monotonic() - begin:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    made = decoder()
    count = sum(p.numel() for p in made.module.parameters())
    print(f"{count} weights, {made.learned.size} tokens learned, {made.apart.size} apart")

"""A whole llama in GGUF: its logits, of other types a tensor, are those that transformers computes of the same file."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.llama_gguf import llama_file

import pteron

LAYERS, WIDTH, HEADS, PAIRS, WORDS = 2, 64, 4, 2, 96
TOKENS = [5, 17, 90, 3, 44, 61, 2, 8, 33]


def config() -> Any:
    transformers = pytest.importorskip("transformers")
    return transformers.LlamaConfig(
        hidden_size=WIDTH, num_attention_heads=HEADS, num_key_value_heads=PAIRS, num_hidden_layers=LAYERS,
        intermediate_size=2 * WIDTH, vocab_size=WORDS, tie_word_embeddings=False,
    )  # fmt: skip


def described(writer: Any) -> None:
    """With the keys that a reader makes the config of."""
    writer.add_name("small")
    writer.add_context_length(2048)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(2 * WIDTH)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(WORDS)


def test_logits_are_those_of_transformers(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    torch.manual_seed(0)
    module = transformers.LlamaForCausalLM(config()).eval()
    state = {name: value.detach() for name, value in module.state_dict().items()}
    kinds = itertools.cycle(["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1"])
    kind_of = {name: next(kinds) for name, value in state.items() if value.ndim == 2}
    path = llama_file(tmp_path / "m.gguf", state, HEADS, PAIRS, kind_of.__getitem__, described)
    pteron.export_model(
        module,
        tmp_path / "m.pte",
        kwargs={"input_ids": torch.zeros((1, 8), dtype=torch.long), "use_cache": False},
        dynamic_shapes={"input_ids": {1: "tokens"}, "use_cache": None},
        max_context=32,
        weights=path,
    )
    found = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=module)
    theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(**found["config"])).eval()
    theirs.load_state_dict(found["tensors"])
    ids = np.array([TOKENS])
    with torch.no_grad():
        want = theirs(torch.from_numpy(ids)).logits.numpy()
        plain = module(torch.from_numpy(ids)).logits.numpy()
    assert np.abs(plain - want).max() > 0.01 * np.abs(want).max()  # the types round
    with pteron.load(tmp_path / "m.pte") as decoder:
        last = decoder.run({"input_ids": ids[:, :-1]})["logits"][:, -1]
        np.testing.assert_allclose(last, want[:, -2], rtol=0, atol=1e-5)
        last = decoder.run({"input_ids": ids[:, -1:]})["logits"][:, -1]  # by the cache
        np.testing.assert_allclose(last, want[:, -1], rtol=0, atol=1e-5)

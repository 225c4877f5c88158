"""Decoders of transformers, two layers and random weights: a prompt, then pieces and single tokens, against eager; or why not."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ops.harness import variants

import pteron

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow

SMALL = {
    "vocab_size": 97, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 128, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
EXPERTS = {"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2}
GPT = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128}
LATENT = {
    "q_lora_rank": 16, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8, "num_key_value_heads": 4,
    "n_routed_experts": 4, "n_shared_experts": 1, "moe_intermediate_size": 32,
}  # fmt: skip
FAMILIES: dict[str, dict[str, Any]] = {
    "mixtral": {**EXPERTS, "sliding_window": None},
    "falcon": {"multi_query": True, "ffn_hidden_size": 64},
    "falcon of groups": {"num_kv_heads": 2, "new_decoder_architecture": True, "ffn_hidden_size": 64},
    "qwen2": {},
    "qwen2_moe": {**EXPERTS, "moe_intermediate_size": 32, "shared_expert_intermediate_size": 32},
    "qwen3_moe": {**EXPERTS, "moe_intermediate_size": 32, "head_dim": 8},
    "olmoe": EXPERTS,
    "phimoe": EXPERTS,
    "gemma": {"head_dim": 8},
    "olmo": {},
    "olmo2": {},
    "stablelm": {},
    "starcoder2": {},
    "granite": {},
    "phi": {},
    "gptj": {**GPT, "rotary_dim": 4},
    "gpt_bigcode": GPT,
    "smollm3": {},
    "glm": {"head_dim": 8},
    "cohere2": {"head_dim": 8},
    "nemotron": {},
    "exaone4": {},
    "ernie4_5": {"head_dim": 8},
    "hunyuan_v1_dense": {"head_dim": 8},
    "seed_oss": {"head_dim": 8},
    "biogpt": {},
    "persimmon": {},
    "helium": {"head_dim": 8},
    "granitemoe": EXPERTS,
    "bloom": {"n_layer": 2, "n_head": 4},
    "mpt": {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 256},
    "falcon of ALiBi": {"alibi": True, "ffn_hidden_size": 64},
    "gpt_oss": {**EXPERTS, "head_dim": 8, "sliding_window": 8},
    "deepseek_v3": {**EXPERTS, **LATENT, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1},
    "deepseek_v2": {**EXPERTS, **LATENT, "topk_method": "greedy", "first_k_dense_replace": 1},
    "llama4_text": {**EXPERTS, "head_dim": 8, "intermediate_size_mlp": 64, "attention_chunk_size": 64},
    "diffllama": {},
    "mistral": {"sliding_window": 8},
    "gemma2": {"head_dim": 8, "sliding_window": 8},
    "gemma3_text": {"head_dim": 8, "sliding_window": 8},
}  # fmt: skip
OFTEN = (
    "mixtral", "falcon of groups", "qwen3_moe", "gemma", "olmo2", "gptj", "gpt_bigcode", "cohere2", "nemotron", "bloom", "mpt",
    "gpt_oss", "deepseek_v3", "llama4_text", "diffllama", "gemma3_text",
)  # fmt: skip
"""What the others are made of: each way to place positions, share heads, norm, cut windows and choose experts once."""
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "mixtral": ({**EXPERTS, "experts_implementation": "grouped_mm"}, "make it with experts_implementation='batched_mm'"),
}  # fmt: skip


def made(name: str, **options: Any) -> Any:
    how = {"experts_implementation": "batched_mm"} if "num_experts" in options else {}
    how |= {k: options.pop(k) for k in ("experts_implementation",) if k in options}
    config = transformers.AutoConfig.for_model(name.split()[0], **SMALL | options)
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_config(config, **how).eval().float()


def exported(
    module: Any,
    path: Path,
    logits: str = "all",
    cache: str = "f32",
    room: int = 48,
    quantize: str | None = None,
) -> Any:
    module.config.use_cache = False
    named = "use_cache" in inspect.signature(module.forward).parameters
    return pteron.export_model(
        module,
        path,
        kwargs={"input_ids": torch.zeros((1, 8), dtype=torch.long)}
        | ({"use_cache": False} if named else {}),
        dynamic_shapes={"input_ids": {1: "tokens"}} | ({"use_cache": None} if named else {}),
        max_context=room,
        logits=logits,
        cache=cache,
        quantize=quantize,
    )


def pieces(session: Any, tokens: Any, cuts: Any) -> Any:
    return np.concatenate(
        [session.run({"input_ids": tokens[:, a:b]})["logits"] for a, b in cuts], 1
    )


@pytest.mark.parametrize(
    "name", [n if n in OFTEN else pytest.param(n, marks=pytest.mark.rows) for n in FAMILIES]
)
def test_prefill_and_decode_agree_with_eager(name: str, tmp_path: Path) -> None:
    module = made(name, **FAMILIES[name])
    tokens = np.random.default_rng(1).integers(3, 97, (1, 30))
    with torch.no_grad():
        want = module(input_ids=torch.tensor(tokens), use_cache=False).logits.numpy()
    exported(module, tmp_path / "m.pte")
    model = pteron.load(tmp_path / "m.pte", threads=1)
    whole = pieces(model.session(), tokens, [(0, 30)])
    cuts = ((0, 9), (9, 10), (10, 11), (11, 20), *((i, i + 1) for i in range(20, 30)))
    assert pieces(model.session(), tokens, cuts).tobytes() == whole.tobytes()
    assert np.abs(whole - want).max() < 1e-5 * np.abs(want).max()


def test_experts_are_stored_in_few_bits_and_read_where_chosen(tmp_path: Path) -> None:
    wide = {"hidden_size": 128, "intermediate_size": 256, "num_experts": 8, "num_local_experts": 8}
    module = made("mixtral", **FAMILIES["mixtral"] | wide)
    tokens = np.random.default_rng(1).integers(3, 97, (1, 30))
    with torch.no_grad():
        want = module(input_ids=torch.tensor(tokens), use_cache=False).logits.numpy()
    sizes = []
    for quantize in (None, "nf4"):
        exported(module, tmp_path / "m.pte", quantize=quantize)
        sizes.append((tmp_path / "m.pte").stat().st_size)
    assert sizes[1] < sizes[0] / 5
    program = pteron.Program(tmp_path / "m.pte")
    cuts, bits = ((0, 9), (9, 10), *((i, i + 1) for i in range(10, 30))), set()
    for cpu in variants():
        for threads in (1, 2, 3):
            session = pteron.Session(program, cpu=cpu, threads=threads)
            bits.add(pieces(session, tokens, cuts).tobytes())
    whole = pieces(pteron.Session(program), tokens, [(0, 30)])
    assert bits == {whole.tobytes()}
    assert 1e-4 < np.abs(whole - want).max() / np.abs(want).max() < 0.2


@pytest.mark.parametrize(
    "name",
    [
        "gemma3_text",
        "gpt_oss",
        *(pytest.param(n, marks=pytest.mark.rows) for n in ("mistral", "gemma2")),
    ],
)
def test_windows_are_rings(name: str, tmp_path: Path) -> None:
    module = made(name, **FAMILIES[name] | {"max_position_embeddings": 512})
    tokens = np.random.default_rng(1).integers(3, 97, (1, 400))
    with torch.no_grad():
        want = module(input_ids=torch.tensor(tokens), use_cache=False).logits.numpy()
    report = exported(module, tmp_path / "m.pte", room=448)
    assert any("see 8 (kept: 320)" in note for note in report.notes)
    model = pteron.load(tmp_path / "m.pte", threads=1)
    got = pieces(model, tokens, [(0, 300), (300, 390), *((i, i + 1) for i in range(390, 400))])
    assert np.abs(got - want).max() < 1e-5 * np.abs(want).max() and model.room == 448


def test_slopes_beside_codes(tmp_path: Path) -> None:
    module = made("bloom", **FAMILIES["bloom"])
    tokens = np.random.default_rng(1).integers(3, 97, (1, 30))
    with torch.no_grad():
        want = module(input_ids=torch.tensor(tokens), use_cache=False).logits.numpy()
    exported(module, tmp_path / "m.pte", cache="int8")
    model = pteron.load(tmp_path / "m.pte", threads=1)
    whole = pieces(model.session(), tokens, [(0, 30)])
    assert pieces(model.session(), tokens, [(0, 9), (9, 10), (10, 30)]).tobytes() == whole.tobytes()
    assert 1e-6 < np.abs(whole - want).max() / np.abs(want).max() < 0.02


@pytest.mark.parametrize(
    "name", ["qwen2", *(pytest.param(n, marks=pytest.mark.rows) for n in ("cohere2", "gptj"))]
)
def test_logits_are_those_of_the_last_token(name: str, tmp_path: Path) -> None:
    module = made(name, **FAMILIES[name])
    tokens = np.random.default_rng(1).integers(3, 97, (1, 30))
    rows = []
    for logits in ("all", "last"):
        exported(module, tmp_path / "m.pte", logits)
        rows.append(pieces(pteron.load(tmp_path / "m.pte", threads=1), tokens, [(0, 30)]))
    assert rows[1].shape[:2] == (1, 1) and rows[1].tobytes() == rows[0][:, -1:].tobytes()


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_keep_its_context_says_why(name: str, tmp_path: Path) -> None:
    options, text = REFUSED[name]
    with pytest.raises(pteron.ModelError, match=text):
        exported(made(name, **options), tmp_path / "m.pte")

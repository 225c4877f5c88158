"""Decoders from their checkpoints alone, folders and GGUF files: logits are those of transformers' module, whose parameters are
random, norms and biases too."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.checkpoint_files import gguf_file

import pteron
from pteron.export.builders.families import GGUF, ROWS

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow

SMALL = {
    "vocab_size": 97, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 128, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
TIED, UNTIED = {"tie_word_embeddings": True}, {"tie_word_embeddings": False}
LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}  # fmt: skip
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 32,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """`arch`: of GGUF, "" where a file cannot say this; `more`: keys that its converter adds."""

    kind: str
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    arch: str = ""
    more: Callable[[Any], None] = lambda writer: None


def gemma2_keys(writer: Any) -> None:
    writer.add_attn_logit_softcapping(50.0)
    writer.add_final_logit_softcapping(30.0)
    writer.add_sliding_window(8)


def granite_keys(writer: Any) -> None:
    writer.add_attention_scale(0.3)
    writer.add_embedding_scale(3.0)
    writer.add_residual_scale(0.4)
    writer.add_logit_scale(5.0)


def linear_keys(writer: Any) -> None:
    gguf = pytest.importorskip("gguf")
    writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
    writer.add_rope_scaling_factor(4.0)


def yarn_keys(writer: Any) -> None:
    gguf = pytest.importorskip("gguf")
    writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
    writer.add_rope_scaling_factor(4.0)
    writer.add_rope_scaling_orig_ctx_len(32)


def llama3_divisors(writer: Any) -> None:
    """What the converter makes of Llama 3.1's scaling; source: convert_hf_to_gguf.py."""
    base, dim = LLAMA3["rope_theta"], 16
    frequencies = 1.0 / base ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim)
    low, high = 16 / LLAMA3["low_freq_factor"], 16 / LLAMA3["high_freq_factor"]
    divisors = []
    for frequency in frequencies:
        wave = 2 * np.pi / float(frequency)
        smooth = (16 / wave - 1.0) / (4.0 - 1.0)
        middle = 1 / ((1 - smooth) / 8.0 + smooth)
        divisors.append(1.0 if wave < high else 8.0 if wave > low else middle)
    writer.add_tensor("rope_freqs.weight", np.array(divisors, np.float32))


CASES = {
    "llama": Case("llama", UNTIED, "llama"),
    "llama tied": Case("llama", TIED, "llama"),
    "llama with biases": Case("llama", {"attention_bias": True, "mlp_bias": True}, "llama"),
    "llama of wide heads": Case("llama", {"head_dim": 24}, "llama"),
    "llama 3": Case("llama", {"rope_parameters": LLAMA3}, "llama", llama3_divisors),
    "llama, linear": Case("llama", {"rope_parameters": LINEAR}, "llama", linear_keys),
    "llama, yarn": Case("llama", {"rope_parameters": YARN}, "llama", yarn_keys),
    "llama of every head": Case("llama", {"num_key_value_heads": 4, "hidden_act": "gelu"}),
    "smollm3": Case("smollm3", {"num_hidden_layers": 5}, "smollm3"),
    "smollm3 of windows": Case("smollm3", {"num_hidden_layers": 5, "use_sliding_window": True, "sliding_window": 8}),
    "mistral": Case("mistral", {"sliding_window": 8}),
    "mistral of no window": Case("mistral", {"sliding_window": None}, "llama"),
    "qwen2": Case("qwen2", UNTIED, "qwen2"),
    "qwen2 tied": Case("qwen2", TIED, "qwen2"),
    "qwen2 of windows": Case("qwen2", {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}),
    "qwen3": Case("qwen3", {"head_dim": 32}, "qwen3"),
    "qwen3 with biases": Case("qwen3", {"head_dim": 16, "attention_bias": True, "rope_parameters": YARN}, "qwen3", yarn_keys),
    "gemma2": Case("gemma2", {"head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 16, **TIED}, "gemma2", gemma2_keys),
    "gemma2 of another scale": Case("gemma2", {"head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 40, "final_logit_softcapping": None}),
    "gemma3": Case("gemma3_text", {"head_dim": 16, "sliding_window": 8, "num_hidden_layers": 7, "query_pre_attn_scalar": 16, **TIED}, "gemma3", lambda w: w.add_sliding_window(8)),
    "phi3": Case("phi3", {}, "phi3"),
    "phi3 of windows": Case("phi3", {"sliding_window": 8, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5}}, "phi3", lambda w: w.add_sliding_window(8)),
    "olmo2": Case("olmo2", {}, "olmo2"),
    "granite": Case("granite", {"attention_multiplier": 0.3, "embedding_multiplier": 3.0, "residual_multiplier": 0.4, "logits_scaling": 5.0}, "granite", granite_keys),
    "stablelm": Case("stablelm", {}, "stablelm", lambda w: w.add_parallel_residual(False)),
    "stablelm with biases": Case("stablelm", {"use_qkv_bias": True}, "stablelm"),
}  # fmt: skip


def module_of(case: Case) -> Any:
    """With norms and biases that no new module has; numbers that bf16 holds."""
    options = SMALL | {"tie_word_embeddings": False} | case.options
    config = transformers.AutoConfig.for_model(case.kind, **options)
    torch.manual_seed(0)
    module = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    for name, parameter in module.named_parameters():
        shift = 1.0 if name.endswith("norm.weight") and "gemma" not in case.kind else 0.0
        parameter.data.normal_(shift, 0.3 if parameter.ndim == 1 else 0.15)
        parameter.data = parameter.data.bfloat16().float()
    module.tie_weights()
    return module.eval()


def agree(module: Any, source: Path, path: Path) -> None:
    """In pieces and token by token as in one run, and as eager PyTorch to 1e-5 of the largest logit."""
    pteron.export_model(source, path, max_context=64, logits="all")
    tokens = np.random.default_rng(0).integers(0, 97, (1, 37))
    with torch.no_grad():
        want = module(torch.from_numpy(tokens)).logits.numpy()
    with pteron.load(path, threads=1) as session:
        whole = session.run({"input_ids": tokens})["logits"].copy()
        session.rewind(0)
        cuts = [(0, 9), (9, 10), (10, 11), (11, 37)]
        parts = [session.run({"input_ids": tokens[:, a:b]})["logits"].copy() for a, b in cuts]
    assert np.array_equal(np.concatenate(parts, 1), whole)
    assert np.abs(whole - want).max() <= 1e-5 * np.abs(want).max()


@pytest.mark.parametrize("name", CASES)
def test_a_folder_gives_the_logits_of_its_module(name: str, tmp_path: Path) -> None:
    """Of even cases in bf16, of several files."""
    module = module_of(CASES[name])
    folder = tmp_path / "folder"
    if list(CASES).index(name) % 2:
        module.save_pretrained(folder)
    else:
        copy.deepcopy(module).bfloat16().save_pretrained(folder, max_shard_size="100KB")
        assert len(list(folder.glob("*.safetensors"))) > 1
    agree(module, folder, tmp_path / "m.pte")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.arch])
def test_a_gguf_file_gives_the_logits_of_its_module(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    module = module_of(case)
    path = gguf_file(tmp_path / "any name", case.arch, module, more=case.more)
    agree(module, path, tmp_path / "m.pte")


def test_every_row_has_a_case() -> None:
    assert {case.kind for case in CASES.values()} == set(ROWS)
    assert {case.arch for case in CASES.values() if case.arch} == set(GGUF)

"""Checkpoints of transformers' modules: folders as save_pretrained makes them, and GGUF files with the names of the gguf package
and the keys and changes of llama.cpp's converter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PERMUTED = ("llama", "smollm3", "granite", "arcee")
"""Architectures whose rows of queries and keys the converter permutes."""
PLUS_ONE = ("gemma", "gemma2", "gemma3")
"""Those to whose norms it adds 1."""


def converted(arch: str, name: str, value: Any, heads: int, pairs: int) -> Any:
    """What the converter writes of a parameter."""
    if arch == "gpt2" and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
        value = value.T
    if arch in PERMUTED and ".q_proj." in name:
        value = permuted(value, heads)
    if arch in PERMUTED and ".k_proj." in name:
        value = permuted(value, pairs)
    return value + (arch in PLUS_ONE) if name.endswith("norm.weight") else value


def permuted(rows: Any, heads: int) -> Any:
    half = len(rows) // heads // 2
    return rows.reshape(heads, 2, half, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def pieces(state: Mapping[str, Any], is_tied: bool) -> dict[str, Any]:
    """Parameters as converters take them: gates and ups of experts apart, no second head."""
    out = {}
    for name, value in state.items():
        array = value.detach().numpy().astype(np.float32)
        if name.endswith("experts.gate_up_proj"):
            stem = name.removesuffix("gate_up_proj")
            out[f"{stem}gate_proj.weight"], out[f"{stem}up_proj.weight"] = np.split(
                array, 2, axis=1
            )
        elif name.endswith("experts.down_proj"):
            out[f"{name}.weight"] = array
        elif not (is_tied and name == "lm_head.weight"):
            out[name] = array
    return out


def gguf_file(
    path: Path,
    arch: str,
    module: Any,
    *,
    kind_of: Callable[[str], str] = lambda name: "F32",
    drop: str = "",
    more: Callable[[Any], None] = lambda writer: None,
) -> Path:
    """`kind_of`: the type of the matrix of a name. `drop`: a parameter that is left out. `more` adds keys."""
    gguf = pytest.importorskip("gguf")
    config = module.config
    number = next(a for a, name in gguf.MODEL_ARCH_NAMES.items() if name == arch)
    names = gguf.get_tensor_name_map(number, config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, arch)
    heads, pairs = config.num_attention_heads, config.num_key_value_heads
    describe(writer, config)
    more(writer)
    for name, array in pieces(module.state_dict(), config.tie_word_embeddings).items():
        new = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert new is not None, name
        if name == drop:
            continue
        array = np.ascontiguousarray(converted(arch, name, array, heads, pairs))
        kind = gguf.GGMLQuantizationType[kind_of(name) if array.ndim == 2 else "F32"]
        if kind != gguf.GGMLQuantizationType.F32:
            array = gguf.quants.quantize(array, kind)
        writer.add_tensor(new, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def describe(writer: Any, config: Any) -> None:
    """The keys that the converter writes of every decoder."""
    rope = getattr(config, "rope_parameters", None) or {}
    whole = rope.get("full_attention", rope)
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_name("small")
    writer.add_type("model")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(head)
    writer.add_value_length(head)
    writer.add_vocab_size(config.vocab_size)
    writer.add_file_type(0)
    writer.add_token_list([f"t{i}" for i in range(config.vocab_size)])
    writer.add_eos_token_id(2)
    if "rope_theta" in whole:
        writer.add_rope_freq_base(whole["rope_theta"])
        writer.add_rope_dimension_count(int(head * whole.get("partial_rotary_factor", 1.0)))
    if hasattr(config, "rms_norm_eps"):
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    elif hasattr(config, "layer_norm_eps"):
        writer.add_layer_norm_eps(config.layer_norm_eps)

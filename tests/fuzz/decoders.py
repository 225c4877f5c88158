"""The smallest decoders: a folder's config.json with the safetensors that fit it, and a GGUF file; by NumPy alone."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

CONFIG: Final[dict[str, Any]] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 11, "max_position_embeddings": 32, "rms_norm_eps": 1e-6,
    "hidden_act": "silu", "tie_word_embeddings": False, "rope_theta": 10000.0, "eos_token_id": 2, "torch_dtype": "float32",
    "rope_scaling": {
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16,
    },
}  # fmt: skip
GEMMA: Final = {
    k: v for k, v in CONFIG.items() if k not in ("architectures", "hidden_act", "rope_scaling")
} | {
    "model_type": "gemma3_text", "head_dim": 4, "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 8, "query_pre_attn_scalar": 4,
    "layer_types": ["sliding_attention", "full_attention"], "rope_local_base_freq": 10000.0, "final_logit_softcapping": 30.0,
}  # fmt: skip
Tensors = dict[str, np.ndarray[Any, Any]]


def tensors() -> Tensors:
    """Of CONFIG, by the names of transformers."""
    draw = np.random.default_rng(0)
    shapes = {"model.embed_tokens": (11, 8), "lm_head": (11, 8), "model.norm": (8,)}
    for i in range(2):
        block = f"model.layers.{i}."
        shapes |= {block + "input_layernorm": (8,), block + "post_attention_layernorm": (8,)}
        shapes |= {block + f"self_attn.{n}_proj": (4, 8) for n in "kv"}
        shapes |= {block + f"self_attn.{n}_proj": (8, 8) for n in "qo"}
        shapes |= {block + f"mlp.{n}_proj": (12, 8) for n in ("gate", "up")}
        shapes[block + "mlp.down_proj"] = (8, 12)
    return {
        f"{name}.weight": draw.normal(len(shape) == 1, 0.3, shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def safetensors(held: Tensors) -> bytes:
    head, at = dict[str, Any](), 0
    for name, array in held.items():
        head[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(a.tobytes() for a in held.values())


def folder(path: Path, config: Mapping[str, Any] = CONFIG, held: Tensors | None = None) -> Path:
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps(config))
    (path / "model.safetensors").write_bytes(safetensors(tensors() if held is None else held))
    return path


# --- GGUF -------------------------------------------------------------------------------------------------------------

KEYS: Final[dict[str, Any]] = {
    "general.architecture": "llama", "general.type": "model", "llama.block_count": 2, "llama.context_length": 32,
    "llama.embedding_length": 8, "llama.feed_forward_length": 12, "llama.attention.head_count": 2,
    "llama.attention.head_count_kv": 1, "llama.rope.freq_base": 10000.0, "llama.attention.layer_norm_rms_epsilon": 1e-6,
    "llama.rope.dimension_count": 4, "llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 2.0,
    "tokenizer.ggml.eos_token_id": 2,
}  # fmt: skip
NAMES: Final = {
    "model.embed_tokens": "token_embd", "lm_head": "output", "model.norm": "output_norm", "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip


def gguf(keys: Mapping[str, Any] = KEYS, held: Tensors | None = None) -> bytes:
    """F32 tensors; rows of queries and keys as they come, for whom numbers do not matter."""
    held = tensors() if held is None else held
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(held), len(keys))
    head += b"".join(_text(key) + _value(value) for key, value in keys.items())
    at = 0
    for name, array in held.items():
        shape = struct.pack(f"<I{array.ndim}Q", array.ndim, *array.shape[::-1])
        head += _text(_gguf_name(name)) + shape + struct.pack("<IQ", 0, at)
        at += -(-array.nbytes // 32) * 32
    head += b"\0" * (-len(head) % 32)
    return head + b"".join(a.tobytes() + b"\0" * (-a.nbytes % 32) for a in held.values())


def gguf_of_text() -> bytes:
    """As `gguf`, with a tokenizer of single bytes, as GPT-2 writes them, and an end of text."""
    from pteron.export.text.models import LETTERS

    words = [*LETTERS, "<|im_end|>"]
    keys = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": words,
        "tokenizer.ggml.token_type": [*[1] * 256, 3],
        "tokenizer.ggml.merges": list[str](),
        "tokenizer.ggml.eos_token_id": 256,
        "tokenizer.ggml.add_bos_token": False,
    }
    draw = np.random.default_rng(1)
    tables = {
        f"{n}.weight": draw.normal(0, 0.3, (257, 8)).astype(np.float32)
        for n in ("model.embed_tokens", "lm_head")
    }
    return gguf({**KEYS, **keys}, tensors() | tables)


def _gguf_name(name: str) -> str:
    stem = name.removesuffix(".weight")
    if stem in NAMES:
        return f"{NAMES[stem]}.weight"
    parts = stem.split(".")
    return f"blk.{parts[2]}.{NAMES.get('.'.join(parts[3:]), parts[-1])}.weight"


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: Any) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    if isinstance(value, list):
        kind = 8 if not value or isinstance(value[0], str) else 5
        each = (_text(v) if kind == 8 else struct.pack("<i", v) for v in value)
        return struct.pack("<IIQ", 9, kind, len(value)) + b"".join(each)
    return (
        struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value)
    )


# --- for readers.py ---------------------------------------------------------------------------------------------------


def read_config(path: Path) -> None:
    """A folder's config.json, beside weights that fit the first valid one."""
    weights = path.with_name("model.safetensors")
    if not weights.exists():
        weights.write_bytes(safetensors(tensors()))
    build(path.parent)


def build(path: Path) -> None:
    """As an export does, up to the graph: `blaming` makes a defect of what no reader expected."""
    from pteron.blame import blaming
    from pteron.export.builders import is_checkpoint
    from pteron.export.builders.from_checkpoint import build
    from pteron.schema.errors import ModelError

    if not is_checkpoint(path):
        raise ModelError("expected a checkpoint")
    with blaming(path):
        build(path)


def configs() -> Iterator[bytes]:
    yield from (json.dumps(config).encode() for config in (CONFIG, GEMMA))


def files() -> Iterator[bytes]:
    yield gguf()

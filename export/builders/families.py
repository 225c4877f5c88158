"""Rows of decoders: what distinguishes a family from Llama. What its weights are called stands in export/checkpoint/families.py.

Parts of a decoder are called by their roles, GGUF's names: attn_q, ffn_norm, token_embd. Sources: modeling_*.py of transformers for
what config.json says, llama.cpp's llama-model.cpp for what a GGUF file leaves unsaid.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

from .keys import Keys
from .windows import (
    Rule,
    all_but_every,
    everywhere,
    from_a_layer_on,
    nowhere,
    told,
    without_places,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Sizes:
    layers: int
    hidden: int
    heads: int
    head: int


Scale = Callable[[Keys, Sizes], float]
QKV: Final = ("attn_q", "attn_k", "attn_v")
ATTENTION: Final = (*QKV, "attn_output")
MLP: Final = ("ffn_gate", "ffn_up", "ffn_down")


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One architecture.

    `names`: its row in export/checkpoint/families.py, which is GGUF's architecture.
    `norm`, `norm_bias`, `plus_one`: the operator; whether it adds a bias, and multiplies by 1 + weight. `before`, `after`: where a block norms: what
    attention and MLP read, what they add. `head_norms`: of queries and keys, "each" head by itself, or "all" together.
    `fused`: queries, keys and values are one product, gate and up another. `biases`: key of the config to the roles that have one then; "": always.
    `only`, `gguf_only`: keys whose other values are refused. `harmless`: keys that change nothing.
    `scales` and `gguf_scales`: fields of Facts, from keys. `tied`, `head`, `theta`, `partial`: what a config leaves unsaid.
    """

    names: str
    norm: str = "RMSNormalization"
    epsilon: str = "rms_norm_eps"
    gguf_epsilon: str = "attention.layer_norm_rms_epsilon"
    norm_bias: bool = False
    plus_one: bool = False
    before: bool = True
    after: bool = False
    head_norms: str = ""
    fused: bool = False
    biases: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    activation_key: str = "hidden_act"
    gguf_activation: str = "silu"
    tied: bool = False
    head: int = 0
    theta: float = 10000.0
    partial: float = 1.0
    local_theta: float = 0.0
    unplaced: bool = False
    windows: Rule = nowhere
    gguf_windows: Rule = nowhere
    scales: Mapping[str, Scale] = dataclasses.field(default_factory=dict)
    gguf_scales: Mapping[str, Scale] = dataclasses.field(default_factory=dict)
    only: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    gguf_only: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    harmless: frozenset[str] = frozenset()


def number(name: str, default: float) -> Scale:
    return lambda keys, sizes: keys.number(name, default)


def cap(name: str, default: float) -> Scale:
    """`default`: where the config does not say; null is none."""
    return lambda keys, sizes: keys.number(name, 0.0 if name in keys else default)


def root_of_width(keys: Keys, sizes: Sizes) -> float:
    return math.sqrt(sizes.hidden)


def by_scalar(keys: Keys, sizes: Sizes) -> float:
    scalar = keys.number("query_pre_attn_scalar", 256.0)
    if not scalar > 0:
        raise keys.refusal("query_pre_attn_scalar", "a number above 0", scalar)
    return float(scalar**-0.5)


def by_layers(largest: int) -> Scale:
    """Gemma: the largest model divides by the width of a head as if heads had all channels; its file does not say so."""

    def scale(keys: Keys, sizes: Sizes) -> float:
        wide = sizes.hidden // sizes.heads if sizes.layers == largest else sizes.head
        return float(max(wide, 1) ** -0.5)

    return scale


LLAMA: Final = Row(
    "llama",
    biases={"attention_bias": ATTENTION, "mlp_bias": MLP},
    only={"rope_interleaved": (False,)},
)
QWEN2: Final = Row("qwen2", biases={"": QKV}, windows=from_a_layer_on, only={"use_mrope": (False,)})
GEMMA2: Final = Row(
    "gemma2",
    plus_one=True,
    after=True,
    activation_key="hidden_activation",
    gguf_activation="gelu_tanh",
    tied=True,
    head=256,
    biases={"attention_bias": ATTENTION},
    windows=all_but_every(2),
    gguf_windows=told(2),
    scales={
        "attention_scale": by_scalar,
        "embedding_scale": root_of_width,
        "score_cap": cap("attn_logit_softcapping", 50.0),
        "logit_cap": cap("final_logit_softcapping", 30.0),
    },
    gguf_scales={
        "attention_scale": by_layers(46),
        "embedding_scale": root_of_width,
        "score_cap": number("attn_logit_softcapping", 50.0),
        "logit_cap": number("final_logit_softcapping", 30.0),
    },
    only={"use_bidirectional_attention": (False,)},
    harmless=frozenset({"hidden_act"}),
)
GEMMA3: Final = dataclasses.replace(
    GEMMA2,
    names="gemma3",
    head_norms="each",
    theta=1e6,
    local_theta=1e4,
    windows=all_but_every(6),
    gguf_windows=told(6),
    scales={
        **GEMMA2.scales,
        "score_cap": cap("attn_logit_softcapping", 0.0),
        "logit_cap": cap("final_logit_softcapping", 0.0),
    },
    gguf_scales={
        **GEMMA2.gguf_scales,
        "attention_scale": by_layers(62),
        "score_cap": number("attn_logit_softcapping", 0.0),
        "logit_cap": number("final_logit_softcapping", 0.0),
    },
)
GRANITE: Final = dataclasses.replace(
    LLAMA,
    names="granite",
    scales={
        "attention_scale": number("attention_multiplier", 1.0),
        "embedding_scale": number("embedding_multiplier", 1.0),
        "residual_scale": number("residual_multiplier", 1.0),
        "logit_divisor": number("logits_scaling", 1.0),
    },
    gguf_scales={
        "attention_scale": number("attention.scale", 1.0),
        "embedding_scale": number("embedding_scale", 1.0),
        "residual_scale": number("residual_scale", 1.0),
        "logit_divisor": number("logit_scale", 1.0),
    },
)
STABLELM: Final = Row(
    "stablelm",
    norm="LayerNormalization",
    norm_bias=True,
    epsilon="layer_norm_eps",
    gguf_epsilon="attention.layer_norm_epsilon",
    partial=0.25,
    biases={"use_qkv_bias": QKV},
    only={"qk_layernorm": (False,), "use_parallel_residual": (False,)},
    gguf_only={"use_parallel_residual": (False,)},
)

ROWS: Final[Mapping[str, Row]] = {
    "llama": LLAMA,
    "smollm3": dataclasses.replace(
        LLAMA, names="smollm3", tied=True, theta=2e6, unplaced=True, windows=without_places
    ),
    "mistral": Row("llama", windows=everywhere(4096)),
    "qwen2": QWEN2,
    "qwen3": dataclasses.replace(
        QWEN2, names="qwen3", head=128, head_norms="each", biases={"attention_bias": ATTENTION}
    ),
    "gemma2": GEMMA2,
    "gemma3_text": GEMMA3,
    "phi3": Row(
        "phi3",
        fused=True,
        windows=everywhere(0),
        gguf_windows=told(1),
        only={"attention_bias": (False,), "mlp_bias": (False,), "lm_head_bias": (False,)},
        harmless=frozenset({"original_max_position_embeddings"}),
    ),
    "olmo2": Row(
        "olmo2", before=False, after=True, head_norms="all", biases={"attention_bias": ATTENTION}
    ),
    "granite": GRANITE,
    "stablelm": STABLELM,
}
"""By transformers' model_type."""
GGUF: Final[Mapping[str, str]] = {
    row.names: kind for kind, row in ROWS.items() if kind != "mistral"
}
"""Architectures of GGUF to rows. Mistral's files are those of a llama."""

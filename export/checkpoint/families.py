"""Rows of GGUF's architectures: what a tensor is called in transformers, and what the converter changed of its values.

Source: llama.cpp's convert_hf_to_gguf.py, which writes these files. A file of an architecture without a row is refused: its rows
may be permuted or its norms shifted, and nothing in the file says so.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Names = Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Family:
    """One architecture.

    `modules`: name in GGUF, without `blk.N.` and `.weight`, to the module's. `blocks`: what transformers calls `blk`.
    `interleaved`: rows of queries and keys are permuted, [heads, half, 2] in place of [heads, 2, half].
    `norm_offset`: what the converter added to the weights of norms. `transposed`: modules that hold [in, out], GGUF [out, in].
    `stacked`: a parameter of all experts, [experts, out, in], to the tensors whose outputs it joins.
    """

    modules: Names
    blocks: str = "layers"
    interleaved: bool = False
    norm_offset: float = 0.0
    transposed: frozenset[str] = frozenset()
    stacked: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def named(self, name: str) -> str | None:
        """A tensor's name in transformers; None: the family has no such tensor."""
        block = re.fullmatch(r"blk\.(\d+)\.(.+?)(\.weight|\.bias|)", name)
        if block:
            module = self.modules.get(block[2])
            return None if module is None else f"{self.blocks}.{block[1]}.{module}{block[3]}"
        stem, dot, end = name.rpartition(".")
        return f"{self.modules[stem]}{dot}{end}" if stem in self.modules else None

    def is_transposed(self, name: str) -> bool:
        """Of a name in transformers."""
        return name.endswith(".weight") and any(
            name.removesuffix(".weight").endswith(f".{module}") for module in self.transposed
        )


def _decoder(**changed: str) -> dict[str, str]:
    return {
        "token_embd": "embed_tokens", "output": "lm_head", "output_norm": "norm",
        "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
        "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
        "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
        "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj", **changed,
    }  # fmt: skip


EXPERTS: Final = MappingProxyType(
    {
        "mlp.experts.gate_up_proj": ("ffn_gate_exps", "ffn_up_exps"),
        "mlp.experts.down_proj": ("ffn_down_exps",),
    }
)
LLAMA: Final = Family(_decoder(ffn_gate_inp="mlp.gate"), interleaved=True, stacked=EXPERTS)
QWEN: Final = Family(_decoder())
SHARED: Final = {
    "ffn_gate_inp": "mlp.gate", "ffn_gate_inp_shexp": "mlp.shared_expert_gate", "ffn_gate_shexp": "mlp.shared_expert.gate_proj",
    "ffn_up_shexp": "mlp.shared_expert.up_proj", "ffn_down_shexp": "mlp.shared_expert.down_proj",
}  # fmt: skip
AROUND: Final = {
    "post_attention_norm": "post_attention_layernorm",
    "post_ffw_norm": "post_feedforward_layernorm",
}
"""Norms of what a block adds."""
GEMMA2: Final = Family(_decoder(**AROUND, ffn_norm="pre_feedforward_layernorm"), norm_offset=1.0)

FAMILIES: Final[Mapping[str, Family]] = {
    "llama": LLAMA,
    "mistral3": LLAMA,
    "smollm3": LLAMA,
    "granite": LLAMA,
    "arcee": LLAMA,
    "qwen2": QWEN,
    "qwen3": QWEN,
    "qwen2moe": Family(_decoder(**SHARED), stacked=EXPERTS),
    "qwen3moe": Family(_decoder(**SHARED), stacked=EXPERTS),
    "command-r": QWEN,
    "cohere2": QWEN,
    "ernie4_5": QWEN,
    "stablelm": QWEN,
    "starcoder2": Family(_decoder(ffn_up="mlp.c_fc", ffn_down="mlp.c_proj")),
    "olmo2": Family(_decoder(**AROUND)),
    "exaone4": Family(_decoder(**AROUND)),
    "gemma": Family(_decoder(), norm_offset=1.0),
    "gemma2": GEMMA2,
    "gemma3": GEMMA2,
    "phi3": Family(_decoder(attn_qkv="self_attn.qkv_proj", ffn_up="mlp.gate_up_proj")),
    "gpt2": Family(
        {
            "token_embd": "wte", "position_embd": "wpe", "output_norm": "ln_f", "output": "lm_head", "attn_norm": "ln_1",
            "ffn_norm": "ln_2", "attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj", "ffn_up": "mlp.c_fc",
            "ffn_down": "mlp.c_proj",
        },
        blocks="h", transposed=frozenset({"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}),
    ),
}  # fmt: skip

CONVERTED: Final = re.compile(r"blk\.\d+\.|(token_embd|position_embd|output|output_norm)\.")
"""Names that llama.cpp's converters give; files of other tools keep their own."""
COMPUTED: Final = re.compile(
    r"rope_freqs\.weight|rope_factors_(long|short)\.weight|(.*\.)?(rotary_emb\.inv_freq|attn\.(masked_)?bias|position_ids|num_batches_tracked)"
)
"""Tensors of a file that a model computes by itself or does not read."""
HEAD: Final = "lm_head.weight"
HEADS: Final = ("lm_head", "embed_out", "output")
TABLES: Final = ("embed_tokens", "wte", "embed_in", "word_embeddings", "tok_embeddings")
"""Modules that are one matrix in a tied model."""


def tied(names: Mapping[str, object]) -> tuple[str, str] | None:
    """(the one that is there, the one that is not) of a tied model's table and head, of which the file has one."""
    ends = {name.removesuffix(".weight").rpartition(".")[2]: name for name in names}
    head = next((ends[n] for n in HEADS if n in ends), None)
    table = next((ends[n] for n in TABLES if n in ends), None)
    if table is not None and head is None:
        return table, HEAD
    return (head, "embed_tokens.weight") if head is not None and table is None else None

"""What a checkpoint says of its decoder, as one dataclass: sizes, rotary angles, windows, factors, tokens that end a text."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from pteron.schema.errors import ModelError

from ..checkpoint.families import FAMILIES
from ..checkpoint.weight import Tensor, floats
from . import rope
from .families import Row, Sizes
from .keys import Keys
from .rope import Asked, Rope
from .windows import places

MOST_LAYERS: Final = 4096
WIDEST: Final = 1 << 16
"""Elements of a head."""
ACTIVATIONS: Final = {
    "silu": "silu", "swish": "silu", "gelu": "gelu", "gelu_pytorch_tanh": "gelu_tanh", "gelu_new": "gelu_tanh", "relu": "relu",
    "relu2": "relu2",
}  # fmt: skip
"""Names of transformers to those of block.py."""
HARMLESS: Final = frozenset(
    [
        "architectures",
        "auto_map",
        "torch_dtype",
        "dtype",
        "transformers_version",
        "_name_or_path",
        "name_or_path",
        "use_cache",
        "initializer_range",
        "bos_token_id",
        "pad_token_id",
        "unk_token_id",
        "sep_token_id",
        "attention_dropout",
        "hidden_dropout",
        "embd_pdrop",
        "resid_pdrop",
        "dropout",
        "pretraining_tp",
        "quantization_config",
        "_attn_implementation",
        "_attn_implementation_autoset",
        "is_llama_config",
        "unsloth_version",
        "unsloth_fixed",
        "output_attentions",
        "output_hidden_states",
        "return_dict",
        "torchscript",
        "id2label",
        "label2id",
        "task_specific_params",
        "problem_type",
        "transformers.js_config",
        "cache_implementation",
    ]
)
"""Keys of config.json that say nothing of what is computed, or that the reader of the checkpoint honours."""


@dataclasses.dataclass(frozen=True, slots=True)
class Facts:
    """One decoder. `ropes` and `windows`: of each layer; None: its positions are not placed; 0: it sees all before it.

    `biases`: roles (families.py) whose products have one. `ends`: tokens after which a text has ended. `score_cap` and `logit_cap`:
    c of c tanh(x / c), 0: none.
    """

    kind: str
    layers: int
    hidden: int
    inner: int
    vocabulary: int
    heads: int
    pairs: int
    head: int
    context: int
    epsilon: float
    activation: str
    tied: bool
    ropes: tuple[Rope | None, ...]
    windows: tuple[int, ...]
    biases: frozenset[str] = frozenset()
    ends: tuple[int, ...] = ()
    attention_scale: float = 0.0
    embedding_scale: float = 1.0
    residual_scale: float = 1.0
    logit_divisor: float = 1.0
    score_cap: float = 0.0
    logit_cap: float = 0.0


def of_config(where: str, config: Mapping[str, Any], row: Row) -> Facts:
    """Of a folder's config.json.

    Raises:
        ModelError: a key is missing, of another kind, or not known.
    """
    keys = Keys(where, config)
    kind = keys.raw("model_type")
    _check_task(keys)
    heads, hidden = keys.count("num_attention_heads"), keys.count("hidden_size")
    head = _head(keys, "head_dim", row.head, hidden, heads)
    sizes = Sizes(_layers(keys, "num_hidden_layers"), hidden, heads, head)
    seen = row.windows(keys, sizes.layers)
    context = keys.count("max_position_embeddings")
    facts = Facts(
        kind=kind,
        layers=sizes.layers,
        hidden=hidden,
        inner=keys.count("intermediate_size"),
        vocabulary=keys.count("vocab_size"),
        heads=heads,
        pairs=keys.count("num_key_value_heads", heads),
        head=head,
        context=context,
        epsilon=keys.number(row.epsilon),
        activation=_activation(keys, row),
        tied=keys.flag("tie_word_embeddings", row.tied),
        ropes=_ropes(keys, row, seen, head, context),
        windows=seen,
        biases=_biases(keys, row),
        ends=_ends(keys.raw("eos_token_id", None)),
        **_scales(keys, row.scales, sizes),
    )
    for name, allowed in row.only.items():
        keys.only(name, *allowed)
    keys.finish(HARMLESS | row.harmless)
    return _checked(keys, facts)


def _check_task(keys: Keys) -> None:
    """Raises ModelError: the checkpoint is of something else than a decoder with a head."""
    named = keys.raw("architectures", None)
    names = named if isinstance(named, list) else []
    if names and not any(isinstance(n, str) and n.endswith("ForCausalLM") for n in names):
        raise keys.refusal("architectures", "one of a decoder (...ForCausalLM)", named)


def _head(keys: Keys, name: str, usual: int, hidden: int, heads: int) -> int:
    """Elements of a head: the key's, or the family's, or those of its share of the channels."""
    head: int = keys.count(name, usual or hidden // heads)
    if not 0 < head <= WIDEST:
        raise keys.refusal(name, f"1 to {WIDEST} elements of a head", head)
    return head


def _layers(keys: Keys, name: str) -> int:
    layers: int = keys.count(name)
    if layers > MOST_LAYERS:
        raise keys.refusal(name, f"at most {MOST_LAYERS}", layers)
    return layers


def _activation(keys: Keys, row: Row) -> str:
    name = keys.raw(row.activation_key)
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise keys.refusal(row.activation_key, ", ".join(ACTIVATIONS), name)
    return ACTIVATIONS[name]


def _biases(keys: Keys, row: Row) -> frozenset[str]:
    """Those that the model has, by the keys that say so; "" is no key: it always has them."""
    told = [roles for key, roles in row.biases.items() if not key or keys.flag(key, False)]
    return frozenset(role for roles in told for role in roles)


def _scales(keys: Keys, scales: Mapping[str, Any], sizes: Sizes) -> dict[str, float]:
    made = {name: scale(keys, sizes) for name, scale in scales.items()}
    return {"attention_scale": sizes.head**-0.5, **made}


def _ends(told: Any) -> tuple[int, ...]:
    many = told if isinstance(told, list) else [told]
    return tuple(t for t in many[:64] if isinstance(t, int) and not isinstance(t, bool) and t >= 0)


def _ropes(
    keys: Keys, row: Row, seen: tuple[int, ...], head: int, context: int
) -> tuple[Rope | None, ...]:
    """Of each layer: by whether it has a window, where the family has two; None where it does not place positions."""
    stated = keys.inner("rope_parameters") or Keys(keys.where, {})
    theta = keys.number("rope_theta", row.theta)
    local = keys.number("rope_local_base_freq", row.local_theta) if row.local_theta else 0.0
    partial = keys.number("partial_rotary_factor", row.partial)
    scaling = keys.inner("rope_scaling") or stated

    def one(said: Keys, theta: float) -> Rope:
        of = said.number("rope_theta", theta)
        width = int(head * said.number("partial_rotary_factor", partial))
        return rope.rope_of(said, _asked(keys, head, width, of, context))

    if row.local_theta and "full_attention" in stated:
        whole, short = (
            one(stated.inner(name) or Keys(keys.where, {}), of)
            for name, of in (("full_attention", theta), ("sliding_attention", local))
        )
        stated.finish()
    else:
        whole = one(scaling, theta)
        short = one(Keys(keys.where, {}), local) if row.local_theta else whole
    placed = places(keys, len(seen)) if row.unplaced else (True,) * len(seen)
    return tuple(
        (short if window else whole) if is_placed else None
        for window, is_placed in zip(seen, placed, strict=True)
    )


def _asked(keys: Keys, head: int, width: int, theta: float, context: int) -> Asked:
    """Raises ModelError: angles of these cannot be."""
    if not 0 < width <= head or width % 2 or not theta > 1:
        raise ModelError(
            f"{keys.where}: rotary embedding: expected an even width of at most {head} and a theta above 1, got "
            f"{width} and {theta:g}; correct the file"
        )
    return Asked(width, theta, context)


def of_gguf(where: str, told: Mapping[str, Any], tensors: Mapping[str, Tensor], row: Row) -> Facts:
    """Of a GGUF file's keys, and of what tensors it has, by the names of transformers.

    Raises:
        ModelError: a key is missing, of another kind, or not known.
    """
    architecture = told.get("general.architecture")
    keys = Keys(where, told, f"{architecture}.")
    Keys(where, told).only("general.type", "model")
    heads, hidden = _one(keys, "attention.head_count"), keys.count("embedding_length")
    head = _head(keys, "attention.key_length", 0, hidden, heads)
    keys.only("attention.value_length", head)
    sizes = Sizes(_layers(keys, "block_count"), hidden, heads, head)
    seen = row.gguf_windows(keys, sizes.layers)
    context = keys.count("context_length")
    theta = keys.number("rope.freq_base", row.theta)
    table = tensors.get("embed_tokens.weight")
    rows = table.shape[0] if table is not None and table.shape else 0
    facts = Facts(
        kind=str(architecture),
        layers=sizes.layers,
        hidden=hidden,
        inner=_one(keys, "feed_forward_length"),
        vocabulary=keys.count("vocab_size", rows),
        heads=heads,
        pairs=_one(keys, "attention.head_count_kv", heads),
        head=head,
        context=context,
        epsilon=keys.number(row.gguf_epsilon),
        activation=row.gguf_activation,
        tied=tensors.get("lm_head.weight") is table,
        ropes=_gguf_ropes(
            keys,
            row,
            seen,
            sizes,
            _asked(keys, head, keys.count("rope.dimension_count", head), theta, context),
            tensors,
        ),
        windows=seen,
        biases=_biases_there(row, tensors),
        ends=_ends(told.get("tokenizer.ggml.eos_token_id")),
        **_scales(keys, row.gguf_scales, sizes),
    )
    for name, allowed in row.gguf_only.items():
        keys.only(name, *allowed)
    keys.finish(("tensor_data_layout",))
    return _checked(keys, facts)


def _one(keys: Keys, name: str, default: Any = None) -> int:
    """A number, or the same of every layer."""
    told = keys.raw(name, default) if default is not None else keys.raw(name)
    if isinstance(told, list) and told and all(type(n) is int and n == told[0] for n in told):
        told = told[0]
    if not isinstance(told, int) or isinstance(told, bool) or not 0 < told < 1 << 31:
        raise keys.refusal(name, "one number above 0 for all layers", told)
    return told


def _biases_there(row: Row, tensors: Mapping[str, Tensor]) -> frozenset[str]:
    """Of those that the family may have: GGUF does not say which, but by their tensors."""
    family = FAMILIES[row.names]
    roles = {role for some in row.biases.values() for role in some}
    return frozenset(r for r in roles if family.named(f"blk.0.{r}.bias") in tensors)


def _gguf_ropes(
    keys: Keys,
    row: Row,
    seen: tuple[int, ...],
    sizes: Sizes,
    asked: Asked,
    tensors: Mapping[str, Tensor],
) -> tuple[Rope | None, ...]:
    divisors = tensors.get("rope_freqs.weight")
    whole = rope.of_gguf(keys, asked, None if divisors is None else floats(divisors.read()))
    local = keys.number("rope.freq_base_swa", row.local_theta) if row.local_theta else 0.0
    short = rope.made(keys, rope.plain(asked.width, local)) if local > 1 else whole
    placed = places(Keys("", {}), len(seen)) if row.unplaced else (True,) * len(seen)
    return tuple(
        (short if window else whole) if is_placed else None
        for window, is_placed in zip(seen, placed, strict=True)
    )


def _checked(keys: Keys, facts: Facts) -> Facts:
    """Raises ModelError: heads do not share keys evenly, or a number is none that it can be."""
    if facts.heads % facts.pairs or facts.heads * facts.head > 1 << 24:
        raise ModelError(
            f"{keys.where}: expected heads of queries that are a multiple of those of keys, got {facts.heads} and {facts.pairs} "
            f"of {facts.head}; correct the file"
        )
    numbers = (facts.epsilon, facts.attention_scale, facts.logit_divisor)
    if not all(n > 0 for n in numbers) or facts.score_cap < 0 or facts.logit_cap < 0:
        raise ModelError(
            f"{keys.where}: expected an epsilon, a scale of attention and a divisor of logits above 0, and no caps below, got "
            f"{', '.join(f'{n:g}' for n in (*numbers, facts.score_cap, facts.logit_cap))}; correct the file"
        )
    return facts

"""Angles of rotary position embedding: frequencies as transformers computes them in f32, and what cos and sin are multiplied by."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pteron.schema.errors import ModelError, shown

from .keys import Keys

Floats = NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True)
class Rope:
    """Elements 2 * len(frequencies) of each head are rotated; angles of token t are t * frequencies."""

    frequencies: tuple[float, ...]
    scale: float = 1.0

    @property
    def width(self) -> int:
        return 2 * len(self.frequencies)


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """`width` elements of a head are rotated; `context`: tokens that the model was made for."""

    width: int
    theta: float
    context: int


def plain(width: int, theta: float) -> Floats:
    """1 / theta^(i / width), [width / 2]. The power is rounded once from f64: as PyTorch has it, on every machine."""
    power = theta ** (np.arange(0, width, 2, dtype=np.float32) / np.float32(width)).astype(
        np.float64
    )
    made: Floats = np.float32(1) / power.astype(np.float32)
    return made


def rope_of(keys: Keys, asked: Asked) -> Rope:
    """What `rope_parameters` or `rope_scaling` says.

    Raises:
        ModelError: a type or a key that is not known.
    """
    kind = keys.raw("rope_type", keys.raw("type", "default"))
    if not isinstance(kind, str) or kind not in TYPES:
        raise ModelError(
            f"{keys.where}: rope_type: expected {', '.join(TYPES)}, got {shown(kind)}; export the module from PyTorch"
        )
    with np.errstate(all="ignore"):
        frequencies, scale = TYPES[kind](keys, asked)
    keys.finish(("rope_theta", "partial_rotary_factor"))
    return made(keys, frequencies, scale)


def made(keys: Keys, frequencies: Floats, scale: float = 1.0) -> Rope:
    """Raises ModelError: the numbers are none that angles can be made of."""
    if not np.isfinite(frequencies).all() or not scale > 0:
        raise ModelError(
            f"{keys.where}: rotary embedding: expected finite frequencies and a factor above 0, got others; correct the file"
        )
    return Rope(tuple(float(f) for f in frequencies), float(scale))


def _default(keys: Keys, asked: Asked) -> tuple[Floats, float]:
    return plain(asked.width, asked.theta), 1.0


def _linear(keys: Keys, asked: Asked) -> tuple[Floats, float]:
    return plain(asked.width, asked.theta) / np.float32(_factor(keys)), 1.0


def _factor(keys: Keys) -> float:
    factor: float = keys.number("factor")
    if factor <= 0:
        raise keys.refusal("factor", "a number above 0", factor)
    return factor


def _llama3(keys: Keys, asked: Asked) -> tuple[Floats, float]:
    """Long waves are stretched by the factor, short ones stay, between them it is gradual (Llama 3.1)."""
    factor, low, high = (
        _factor(keys),
        keys.number("low_freq_factor"),
        keys.number("high_freq_factor"),
    )
    before = keys.count("original_max_position_embeddings")
    if not 0 < low < high:
        raise keys.refusal(
            "high_freq_factor", f"a number above low_freq_factor, {low}, which is above 0", high
        )
    plainly = plain(asked.width, asked.theta)
    wave = np.float32(2 * math.pi) / plainly
    smooth = (np.float32(before) / wave - np.float32(low)) / np.float32(high - low)
    between = (1 - smooth) * (plainly / np.float32(factor)) + smooth * plainly
    stretched = np.where(wave > before / low, plainly / np.float32(factor), plainly)
    is_between = (wave >= before / high) & (wave <= before / low)
    return np.where(is_between, between, stretched).astype(np.float32), 1.0


def _yarn(keys: Keys, asked: Asked) -> tuple[Floats, float]:
    """Peng et al. 2023: a ramp between frequencies that stay and those that are divided."""
    factor = _factor(keys)
    before = keys.count("original_max_position_embeddings", asked.context)
    fast, slow = keys.number("beta_fast", 32.0), keys.number("beta_slow", 1.0)
    if not (fast > 0 and slow > 0):
        raise keys.refusal("beta_fast", "numbers above 0, as beta_slow", fast)
    keys.only("mscale")
    keys.only("mscale_all_dim")
    usual = 0.1 * math.log(factor) + 1.0 if factor > 1 else 1.0
    scale = keys.number("attention_factor", usual)
    return ramp(asked, factor, before, (fast, slow), keys.flag("truncate", True)), scale


def ramp(
    asked: Asked, factor: float, before: int, betas: tuple[float, float], truncate: bool = True
) -> Floats:
    def at(rotations: float) -> float:
        turns = before / (rotations * 2 * math.pi)
        return asked.width * math.log(turns) / (2 * math.log(asked.theta))

    low, high = at(betas[0]), at(betas[1])
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, asked.width - 1)
    steps = np.arange(asked.width // 2, dtype=np.float32)
    divided = np.clip((steps - np.float32(low)) / np.float32(max(high - low, 0.001)), 0, 1)
    plainly = plain(asked.width, asked.theta)
    made: Floats = plainly / np.float32(factor) * divided + plainly * (1 - divided)
    return made.astype(np.float32)


TYPES: Final[Mapping[str, Callable[[Keys, Asked], tuple[Floats, float]]]] = {
    "default": _default,
    "linear": _linear,
    "llama3": _llama3,
    "yarn": _yarn,
}


def of_gguf(keys: Keys, asked: Asked, divisors: Any | None) -> Rope:
    """What `rope.scaling.*` says. `divisors`: of the frequencies, [width / 2], in a tensor of the file (Llama 3.1).

    Raises:
        ModelError: a type that is not known.
    """
    kind = keys.raw("rope.scaling.type", "none")
    frequencies, scale = plain(asked.width, asked.theta), 1.0
    factor = keys.number("rope.scaling.factor", keys.number("rope.scale_linear", 1.0))
    before = keys.count("rope.scaling.original_context_length", asked.context)
    more = keys.number("rope.scaling.attn_factor", 1.0)
    keys.raw("rope.scaling.finetuned", None)
    if factor <= 0:
        raise keys.refusal("rope.scaling.factor", "a number above 0", factor)
    if kind == "linear":
        frequencies = frequencies / np.float32(factor)
    elif kind == "yarn":
        betas = (
            keys.number("rope.scaling.yarn_beta_fast", 32.0),
            keys.number("rope.scaling.yarn_beta_slow", 1.0),
        )
        if not min(betas) > 0:
            raise keys.refusal("rope.scaling.yarn_beta_fast", "a number above 0", betas[0])
        frequencies = ramp(asked, factor, before, betas)
        scale = more * (0.1 * math.log(factor) + 1.0 if factor > 1 else 1.0)
    elif kind != "none" or more != 1.0:
        raise keys.refusal("rope.scaling.type", "none, linear or yarn", kind)
    if divisors is not None:
        if np.shape(divisors) != frequencies.shape or not np.all(np.asarray(divisors) > 0):
            raise ModelError(
                f"{keys.where}: rope_freqs.weight: expected {len(frequencies)} numbers above 0, got {list(np.shape(divisors))}"
            )
        frequencies = (frequencies / np.asarray(divisors, np.float32)).astype(np.float32)
    return made(keys, frequencies, scale)

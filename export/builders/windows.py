"""How many tokens each layer sees, as configs of the families say it: 0 is all before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from .keys import Keys

Windows = tuple[int, ...]
Rule = Callable[[Keys, int], Windows]
TYPES: Final = {"full_attention": False, "sliding_attention": True}


def nowhere(keys: Keys, layers: int) -> Windows:
    return (0,) * layers


def everywhere(default: int) -> Rule:
    """`default`: where the config does not say; null is none."""

    def rule(keys: Keys, layers: int) -> Windows:
        stated = "sliding_window" in keys
        return (keys.count("sliding_window", None) or (0 if stated else default),) * layers

    return rule


def from_a_layer_on(keys: Keys, layers: int) -> Windows:
    """Qwen: with use_sliding_window those from max_window_layers on, or as layer_types says."""
    window = _used(keys)
    first = keys.count("max_window_layers", None, least=0)
    if window and first is None and "layer_types" not in keys:
        raise keys.refusal("max_window_layers", "the first layer with a window", None)
    return _typed(keys, window, [first is not None and i >= first for i in range(layers)])


def without_places(keys: Keys, layers: int) -> Windows:
    """SmolLM3: with use_sliding_window the layers that do not place positions, or as layer_types says."""
    keys.raw("max_window_layers", None)
    return _typed(keys, _used(keys), [not placed for placed in places(keys, layers)])


def all_but_every(step: int) -> Rule:
    """Gemma 2 and 3: every `step`th layer sees all, or as layer_types says."""

    def rule(keys: Keys, layers: int) -> Windows:
        each = keys.count("sliding_window_pattern", keys.count("_sliding_window_pattern", step))
        window = keys.count("sliding_window", None) or (0 if "sliding_window" in keys else 4096)
        return _typed(keys, window, [bool((i + 1) % each) for i in range(layers)])

    return rule


def told(step: int) -> Rule:
    """GGUF: the window is told, which layers have it follows from the family; 1 is every layer."""

    def rule(keys: Keys, layers: int) -> Windows:
        window = keys.count("attention.sliding_window", None) or 0
        return tuple(window if step == 1 or (i + 1) % step else 0 for i in range(layers))

    return rule


def places(keys: Keys, layers: int) -> tuple[bool, ...]:
    """SmolLM3: whether each layer places positions."""
    step = keys.count("no_rope_layer_interval", 4)
    flags = keys.listed("no_rope_layers", layers, [int((i + 1) % step != 0) for i in range(layers)])
    if any(flag not in (0, 1) for flag in flags):
        raise keys.refusal("no_rope_layers", "0 and 1", flags)
    return tuple(bool(flag) for flag in flags)


def _used(keys: Keys) -> int:
    window = keys.count("sliding_window", None) or 0
    return window if keys.flag("use_sliding_window", False) else 0


def _typed(keys: Keys, window: int, by_rule: list[bool]) -> Windows:
    """As layer_types says, where it does.

    Raises:
        ModelError: a type that is not known, or a layer with a window of no size.
    """
    types = keys.listed("layer_types", len(by_rule), None)
    if types is not None:
        for one in types:
            if not isinstance(one, str) or one not in TYPES:
                raise keys.refusal("layer_types", " or ".join(TYPES), one)
        by_rule = [TYPES[one] for one in types]
        if any(by_rule) and not window:
            raise keys.refusal("sliding_window", "the tokens that a layer with a window sees", None)
    return tuple(window if is_short else 0 for is_short in by_rule)

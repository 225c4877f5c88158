"""Recipes as files: YAML (or JSON, which is YAML), checked key by key.

format: nf4            # for every layer that no rule decides
embeddings: true       # tables that Gather reads, too
algorithm: gptq        # nearest, search, gptq; default: what the data allow
activations: float     # auto, float, int8-block, int8-token, int8-static, int16-static
scaling: fold          # none, fold, multiply
rotation: all          # none, heads, stream, all
seed: 1                # of its signs
range: mse             # minmax, percentile, entropy, mse: of activations in static int8
target_bpw: 4.5        # or target_size: 12MB, max_loss: 50
metric: cosine         # cosine, top1, perplexity: what max_loss and an evaluation are told in
among: [nf4, mxfp6, int8]
rules:                 # in order, the last one that matches decides
  - match: "encoder\\\\.layer\\\\.5"
    format: int8
    algorithm: search
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from pteron.schema.errors import RecipeError, shown
from pteron.schema.reading import decoding

from .rules import METRICS, Recipe, Rule, recipe

UNITS: Final = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}  # fmt: skip
KEYS: Final = (
    "format", "embeddings", "algorithm", "activations", "scaling", "rotation", "seed", "range", "target_bpw", "target_size", "max_loss", "metric", "among", "rules",
)  # fmt: skip
MOST_BYTES: Final = 1 << 18
RULE_KEYS: Final = ("match", "format", "algorithm")


def read_recipe(path: Path) -> Recipe:
    """A recipe from a file.

    Raises:
        DamagedError: no YAML, a key that is not known or stands twice, a value of another kind; FileNotFoundError: no file.
    """
    text = path.read_bytes()
    with decoding(path.name, "a recipe"):
        if len(text) > MOST_BYTES:
            raise ValueError(f"{len(text)} bytes")
        return recipe_of(_yaml(text, path), path.name)


def _yaml(text: bytes, path: Path) -> Any:
    """What a file says, in lists, dicts and plain values."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        raise RecipeError(
            f"{path.name}: expected PyYAML to read recipes, got none; pip install PyYAML"
        ) from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """Refuses keys that stand twice, of which YAML's own keeps the last, and what names a part again: a few lines of
        those are a list of any size."""

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("a part that is named by *; write it out")
            return super().compose_node(parent, index)

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        keys = set()
        for key in (loader.construct_object(key) for key, _ in node.value):
            if key in keys:
                raise RecipeError(
                    f"{path.name}:{node.start_mark.line + 1}: expected {shown(key)} once, got it twice"
                )
            keys.add(key)
        return dict(loader.construct_mapping(node, deep=True))

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, RecipeError):
            raise
        raise RecipeError(
            f"{path.name}: expected YAML, got {' '.join(str(error).split())[:200]}"
        ) from None


def recipe_of(data: Any, where: str) -> Recipe:
    """A recipe from what a file says.

    Raises:
        RecipeError: as `read_recipe`.
    """
    _check_keys(data, KEYS, where)
    if "format" not in data:
        raise RecipeError(f"{where}: expected a format, got none; add `format: nf4`")
    rules = _get(data, "rules", list, [], where)
    made = recipe(
        _get(data, "format", str, "", where),
        embeddings=_get(data, "embeddings", bool, False, where),
        algorithm=_get(data, "algorithm", str, "", where),
        activations=_get(data, "activations", str, "auto", where),
        scaling=_get(data, "scaling", str, "none", where),
        rotation=_get(data, "rotation", str, "none", where),
        seed=_get(data, "seed", int, 0, where),
        range=_get(data, "range", str, "", where),
    )
    size = data.get("target_size")
    made = dataclasses.replace(
        made,
        rules=tuple(_rule(each, f"{where}: rule {i + 1}") for i, each in enumerate(rules)),
        target_bytes=None if size is None else bytes_of(str(size)),
    )
    return targeted(
        made,
        _get(data, "target_bpw", (int, float), None, where),
        made.target_bytes,
        _get(data, "max_loss", (int, float), None, where),
        _get(data, "among", list, [], where),
        _get(data, "metric", str, "cosine", where),
    )


def targeted(
    made: Recipe,
    bits: float | None,
    size: int | None,
    loss: float | None,
    among: Iterable[str],
    metric: str = "cosine",
) -> Recipe:
    """With what the formats are to keep to.

    Raises:
        RecipeError: a metric that is none; numbers that are none or not above 0, a format that is not known, formats to choose among without a target.
    """
    for name, value in (("target_bpw", bits), ("target_size", size), ("max_loss", loss)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise RecipeError(f"{name}: expected a number above 0, got {value}")
    if bits is not None and size is not None:
        raise RecipeError("target_bpw, target_size: expected one of them, got both; drop one")
    if metric not in METRICS:
        raise RecipeError(f"metric {metric!r}: expected one of {', '.join(METRICS)}")
    for name in among:
        if not isinstance(name, str) or name == "skip":
            raise RecipeError(f"among: expected names of formats, got {name!r}")
        recipe(name)
    made = dataclasses.replace(
        made, target_bits=bits, target_bytes=size, max_loss=loss, among=tuple(among), metric=metric
    )
    if made.among and not made.fits:
        raise RecipeError("among: expected target_bpw, target_size or max_loss, too")
    if made.fits and made.format == "skip":
        raise RecipeError("format skip: expected a format where a target is asked for")
    return made


def bytes_of(text: str) -> int:
    """ "12MB", "3.5 GiB", "800000".

    Raises:
        RecipeError: anything else.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", text)
    if found is None or found[2].lower() not in UNITS:
        raise RecipeError(
            f"size {text!r}: expected a number of bytes with KB, MB, GB, KiB, MiB or GiB, or none of them"
        )
    return round(float(found[1]) * UNITS[found[2].lower()])


def _rule(data: Any, where: str) -> Rule:
    _check_keys(data, RULE_KEYS, where)
    for key in ("match", "format"):
        if key not in data:
            raise RecipeError(f"{where}: expected {key}, got none")
    match, name = (_get(data, key, str, "", where) for key in ("match", "format"))
    algorithm = _get(data, "algorithm", str, "", where)
    (rule,) = recipe("nf4", {match: name}, algorithm=algorithm).rules
    return dataclasses.replace(rule, algorithm=algorithm)


def _check_keys(data: Any, known: tuple[str, ...], where: str) -> None:
    if not isinstance(data, Mapping):
        raise RecipeError(f"{where}: expected keys {', '.join(known)}, got {type(data).__name__}")
    for key in data:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise RecipeError(f"{where}: expected keys {', '.join(known)}, got {shown(key)}{hint}")


def _get(data: Mapping[str, Any], key: str, kind: Any, default: Any, where: str) -> Any:
    value = data.get(key, default)
    if key in data and (
        not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)
    ):
        wanted = {str: "a word", bool: "true or false", list: "a list"}.get(kind, "a number")
        raise RecipeError(f"{where}: {key}: expected {wanted}, got {shown(value)}")
    return value

"""What to quantize to which format: a default and ordered rules, the last match wins."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.schema.errors import RecipeError

from .encode.format import BlockFormat
from .encode.table import FORMATS

SKIP = "skip"


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """Layers whose name (module, node or weight) `pattern` finds get `format`, or stay as they are ("skip")."""

    pattern: re.Pattern[str]
    format: str


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """`format` for every layer but where a rule says otherwise; `embeddings`: tables of Gather too."""

    format: str
    rules: tuple[Rule, ...] = ()
    embeddings: bool = False

    def choose(self, names: Iterable[str]) -> tuple[BlockFormat | None, Rule | None]:
        """The format of a layer called any of `names` (None: skip), and the rule that decided."""
        chosen, by = self.format, None
        for rule in self.rules:
            if any(rule.pattern.search(name) for name in names):
                chosen, by = rule.format, rule
        return (None if chosen == SKIP else FORMATS[chosen]), by


def layer_names(layers: Sequence[tuple[ir.Node, ir.Value | None]]) -> list[str]:
    """What layers are called, by their nodes and weights: module, else weight, else node.

    A module of several weights does not tell them apart: these are called by their nodes.
    """
    paths = [graphs.module(node) for node, _ in layers]
    weights: dict[str | None, set[int]] = {}
    for path, (node, weight) in zip(paths, layers, strict=True):
        weights.setdefault(path, set()).add(id(node if weight is None else weight))
    return [
        path if path and len(weights[path]) == 1
        else str((node.name if path or weight is None or not weight.name else weight.name) or "")
        for path, (node, weight) in zip(paths, layers, strict=True)
    ]  # fmt: skip


def recipe(format: str, rules: Mapping[str, str] | None = None, embeddings: bool = False) -> Recipe:
    """Checks and compiles.

    Args:
        format: A name in FORMATS.
        rules: Regular expression -> format name or "skip", in order.
        embeddings: Quantize tables that Gather reads.

    Raises:
        RecipeError: an unknown format, or a pattern that does not compile.
    """
    for name in (format, *(rules or {}).values()):
        if name not in FORMATS and name != SKIP:
            raise RecipeError(
                f"format {name!r}: expected one of {', '.join(FORMATS)}, or skip in a rule"
            )
    compiled = []
    for pattern, name in (rules or {}).items():
        try:
            compiled.append(Rule(re.compile(pattern), name))
        except re.error as error:
            raise RecipeError(f"rule {pattern!r}: not a regular expression: {error}") from None
    return Recipe(format, tuple(compiled), embeddings)

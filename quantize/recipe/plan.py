"""What becomes of each layer: a format and an algorithm, decided before any number is read."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

import onnx_ir as ir

from pteron.schema.errors import RecipeError

from ..encode.format import BlockFormat
from .layers import Layer, layers
from .rules import Recipe


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """`format` None: the layer stays as it is. `algorithm` "": what the statistics allow.

    `weight` is equal where layers read one weight in one way. `free`: no rule decided; `first`: no layer before it has the same,
    `alone`: no other.
    """

    layer: Layer
    format: BlockFormat | None
    algorithm: str
    weight: tuple[int, str]
    free: bool
    first: bool
    alone: bool

    @property
    def key(self) -> tuple[int, str, str]:
        """Equal where one stored weight does for both."""
        number, kind = self.weight
        return number, self.format.name if self.format else "", kind

    @property
    def biased(self) -> bool:
        """Whether a bias makes up for what this weight misses: others have theirs where they share it."""
        return self.alone and self.layer.bias is not None

    @property
    def bits(self) -> int:
        """What the weight takes with its scales."""
        n, k = self.layer.extents
        return 32 * n * k if self.format is None else self.format.bits_of(n, k)

    @property
    def weights(self) -> int:
        n, k = self.layer.extents
        return n * k


@dataclasses.dataclass(frozen=True, slots=True)
class Plan:
    """`format` is what the recipe says by default."""

    format: str
    choices: tuple[Choice, ...]

    @property
    def work(self) -> list[Choice]:
        """Those that are rounded, each stored weight once."""
        return list({c.key: c for c in reversed(self.choices) if c.format is not None}.values())[
            ::-1
        ]


def plan(model: ir.Model, recipe: Recipe) -> Plan:
    """Every layer of a Graph, in order.

    Raises:
        RecipeError: a rule decides no layer.
    """
    found = layers(model, recipe.embeddings)
    chosen = [recipe.choose(layer.names) for layer in found]
    _refuse_idle(recipe, found, [by for _, _, by in chosen])
    seen: set[tuple[int, str]] = set()
    readers = Counter((id(layer.node.inputs[layer.slot]), layer.kind) for layer in found)
    rows = []
    for layer, (fmt, algorithm, by) in zip(found, chosen, strict=True):
        weight = id(layer.node.inputs[layer.slot]), layer.kind
        first, alone = weight not in seen, readers[weight] == 1
        rows.append(Choice(layer, fmt, algorithm, weight, by is None, first, alone))
        seen.add(weight)
    return Plan(recipe.format, tuple(rows))


def _refuse_idle(recipe: Recipe, found: Sequence[Layer], used: Sequence[object]) -> None:
    idle = [r.pattern.pattern for r in recipe.rules if all(by is not r for by in used)]
    if idle:
        names = ", ".join(sorted(layer.name for layer in found)[:20])
        raise RecipeError(f"rule {idle[0]!r}: decides no layer; layers are {names}")

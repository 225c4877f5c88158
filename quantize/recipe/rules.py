"""What to quantize to which format: a default and ordered rules, the last match wins."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Final

from pteron.schema.activations import AUTO, CHOICES, INT16_STATIC
from pteron.schema.errors import RecipeError
from pteron.schema.renamed import renamed_value

from ..encode.format import BlockFormat
from ..encode.table import FORMATS, said

SKIP = "skip"
ALGORITHMS: Final = ("nearest", "search", "gptq")
"""What rounds; see `rounding/weight`."""
SCALINGS: Final = ("none", "fold", "multiply")
"""Of channels before weights are rounded; see `scaling`."""
ROTATIONS: Final = ("none", "heads", "stream", "all")
"""Of channels before that; see `rotation`."""
"""auto: int8 where the format is int8 and there is a calibration."""
RANGES: Final = ("minmax", "percentile", "entropy", "mse")
"""Of activations in static int8; see `observe/clipping`."""
OF_PROGRAMS: Final = (
    "{}: found while running, for which ONNX has no operator; write a .pte instead of {}"
)
MINMAX: Final = RANGES[0]
METRICS: Final = ("cosine", "top1", "perplexity")
"""What a largest loss and an evaluation are told in; see `mixed/sensitivity`."""


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """Layers whose name (module, node or weight) `pattern` finds get `format`, or stay as they are ("skip").

    `algorithm` "": the recipe's.
    """

    pattern: re.Pattern[str]
    format: str
    algorithm: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """`format` for every layer but where a rule says otherwise; `embeddings`: tables of Gather too.

    `algorithm` as in `rounding/weight`; "": gptq where there are statistics, else search. With a target, bits a weight, bytes of the whole
    model or a largest loss, in words of `metric`, `format` and those of `among` are given out by what they cost at the output.
    `range` "": what a file of ranges says, else minmax.
    """

    format: str
    rules: tuple[Rule, ...] = ()
    embeddings: bool = False
    algorithm: str = ""
    activations: str = AUTO
    target_bits: float | None = None
    target_bytes: int | None = None
    max_loss: float | None = None
    among: tuple[str, ...] = ()
    metric: str = "cosine"
    scaling: str = "none"
    rotation: str = "none"
    seed: int = 0
    range: str = ""

    @property
    def activation_bits(self) -> int:
        """Of static quantization."""
        return 16 if self.activations == INT16_STATIC else 8

    @property
    def fits(self) -> bool:
        """Whether layers get formats by what they cost."""
        return not (self.target_bits is self.target_bytes is self.max_loss is None)

    def choose(self, names: Iterable[str]) -> tuple[BlockFormat | None, str, Rule | None]:
        """The format of a layer called any of `names` (None: skip), the algorithm, and the rule that decided."""
        by = None
        for rule in self.rules:
            if any(rule.pattern.search(name) for name in names):
                by = rule
        chosen, algorithm = (by.format, by.algorithm) if by else (self.format, "")
        return (
            None if chosen == SKIP else FORMATS[chosen],
            algorithm or self.algorithm,
            by,
        )


def recipe(
    format: str,
    rules: Mapping[str, str] | None = None,
    embeddings: bool = False,
    algorithm: str = "",
    activations: str = "auto",
    scaling: str = "none",
    rotation: str = "none",
    seed: int = 0,
    range: str = "",
) -> Recipe:
    """Checks and compiles.

    Args:
        format: A name in FORMATS.
        rules: Regular expression -> format name or "skip", in order.
        embeddings: Quantize tables that Gather reads.
        algorithm: One of ALGORITHMS; "": gptq where there are statistics, else search.
        activations: One of `schema.activations.CHOICES`; those that are dynamic are of programs.
        scaling: One of SCALINGS.
        rotation: One of ROTATIONS.
        seed: Of the signs of rotations, 0 or more.
        range: One of RANGES, of activations in static int8; "": minmax, or what a file of ranges says.

    Raises:
        RecipeError: an unknown format, algorithm, kind of activations, scaling, rotation or range, a seed without a rotation, or a pattern
            that does not compile.
    """
    for name in (format, *(rules or {}).values()):
        if name not in FORMATS and name != SKIP:
            raise RecipeError(f"format {name!r}: expected one of {said()}, or skip in a rule")
    if algorithm and algorithm not in ALGORITHMS:
        raise RecipeError(f"algorithm {algorithm!r}: expected one of {', '.join(ALGORITHMS)}")
    if activations not in CHOICES:
        hint = renamed_value("activations", activations)
        raise RecipeError(
            f"activations {activations!r}: expected one of {', '.join(CHOICES)}{hint}"
        )
    if scaling not in SCALINGS:
        raise RecipeError(f"scaling {scaling!r}: expected one of {', '.join(SCALINGS)}")
    if rotation not in ROTATIONS:
        raise RecipeError(f"rotation {rotation!r}: expected one of {', '.join(ROTATIONS)}")
    if range and range not in RANGES:
        raise RecipeError(f"range {range!r}: expected one of {', '.join(RANGES)}")
    if seed < 0 or (seed and rotation == "none"):
        raise RecipeError(f"seed {seed}: expected a number of 0 or more, and a rotation, too")
    compiled = []
    for pattern, name in (rules or {}).items():
        try:
            compiled.append(Rule(re.compile(pattern), name))
        except re.error as error:
            raise RecipeError(f"rule {pattern!r}: not a regular expression: {error}") from None
    return Recipe(
        format,
        tuple(compiled),
        embeddings,
        algorithm,
        activations,
        scaling=scaling,
        rotation=rotation,
        seed=seed,
        range=range,
    )

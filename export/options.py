"""What an export is asked for: a row an option, with its default, what it may be, and what it means.

The command line, `pteron.export_model` and `export` read these rows: help texts, defaults, choices and checks stand here alone.
Importing this imports nothing else of export, for the command line shows its help without.
"""

from __future__ import annotations

import dataclasses
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pteron.schema.activations import AUTO, CHOICES
from pteron.schema.errors import ArgumentError, shown
from pteron.schema.policies import POLICIES
from pteron.schema.renamed import renamed_value

if TYPE_CHECKING:
    from .delegates import Delegate

T = TypeVar("T")

Progress = Callable[[str], None]
LATENCIES: Final = ("default", "reduce-overhead", "max-autotune")
"""What an export does for the time of a run, by the names of torch.compile."""
MOST_CONTEXT: Final = 1 << 24
"""Tokens that a context may have room for."""


MAPPING: Final = ((Mapping,), "a dict")
CALLABLE: Final = ((Callable,), "a function")
FLAG: Final = ((bool, int), "True or False")
COUNT: Final = ((int,), "an integer")
PATH: Final = ((str, os.PathLike), "a path")
Kind = tuple[tuple[Any, ...], str]
"""Types of a value, and what they are called."""


def row(default: T, text: str, *, choices: Sequence[str] = (), kind: Kind = ((object,), "")) -> T:
    """A field of a dataclass of options. `choices`: it is one of them. `kind`: what else than its default it may be. The text of
    what is True says what False does."""
    facts = {"text": text, "choices": tuple(choices), "kind": kind}
    made: T = dataclasses.field(default=default, metadata=facts)
    return made


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How models become a Program.

    Raises:
        ArgumentError: a value is none of the choices, or contradicts another.
    """

    args: Sequence[Any] | None = row(None, "example inputs of a torch module")
    kwargs: Mapping[str, Any] | None = row(
        None, "example keyword inputs of a torch module", kind=MAPPING
    )
    dynamic_shapes: Any = row(
        None, "sizes of a torch module that stay symbolic, as torch.export takes them or by name"
    )
    states: Mapping[str, str] | None = row(
        None,
        "keep this pair of an input and an output in the session between runs (a cache), in addition to the pairs that the "
        "model names: past_key=present_key; past_*=present_* is every such pair",
        kind=MAPPING,
    )
    max_context: int | None = row(
        None,
        "give a decoder a KV cache for this many tokens, kept in the session and written in place; it replaces growing "
        "caches (past_*, present_*) or is added to attention that has none",
    )
    cache: str = row(
        "f32",
        "data type of the KV cache of max_context: f16 takes half the memory; f8 (E4M3, 3 bits of mantissa) and int8 (a "
        "scale for each token) a quarter",
        choices=("f32", "f16", "f8", "int8"),
    )
    logits: str = row(
        "last",
        "which logits a decoder with max_context returns: of the last token of a run, or of all its tokens",
        choices=("last", "all"),
    )
    hints: Mapping[str, int] | None = row(
        None,
        "size of a symbolic dimension for which the memory plan is stored; runs of other sizes plan anew",
        kind=MAPPING,
    )
    fix: Mapping[str, int] | None = row(
        None,
        "give a symbolic dimension this size for good; delegates need it, since they take fixed sizes alone",
        kind=MAPPING,
    )
    example: Any = row(
        None,
        "example inputs by name, or an .npz file of them. Where the graph's structure depends on an input (axes, a mode, "
        "scales), its elements are fixed to the example's; a run with other ones fails, and the report names the input",
        kind=((Mapping, str, os.PathLike), "a dict, or the path of an .npz file"),
    )
    random_seed: int | None = row(
        None,
        "seed for random operators that have none: the program gives the same numbers in each run. Without it such operators "
        "are refused",
        kind=COUNT,
    )
    complex_pairs: bool = row(
        False,
        "turn complex inputs and outputs of a torch module into real tensors with a last axis of 2: real and imaginary part. "
        "Without it they are refused",
        kind=FLAG,
    )
    fuse: bool = row(
        True,
        "fuse operators into one instruction; without (--no-fuse) each is its own: same bits, slower",
        kind=FLAG,
    )
    activations: str = row(
        AUTO,
        "data type of activations beside quantized weights: float (weight-only); int8-block, dynamic with a scale for each "
        "block of 32; int8-token, dynamic with a scale for each token behind a Hadamard rotation, which quantizes float "
        "weights, too; int8-static and int16-static, ranges from samples, with format int8 and calibrate, or as the model "
        "has them; auto: static with format int8 and calibrate, float for a model that came quantized, else what suits the "
        "format",
        choices=CHOICES,
    )
    fast_conv: bool = row(
        False,
        "use Winograd's F(4 x 4, 3 x 3) for f32 convolutions of 3 x 3 where it is faster: about three times the rounding "
        "error, weights four times as large",
        kind=FLAG,
    )
    mode: str = row(
        "default",
        "effort for speed: choose operators by rules (default); fix all sizes, those of hints too, for fewer instructions "
        "(reduce-overhead); measure on this machine where fast_conv or activations leaves a choice of operators "
        "(max-autotune)",
        choices=LATENCIES,
    )
    delegates: str | Sequence[str | Delegate] = row(
        "cpu",
        "backends in order of preference, as hexagon,cpu; the CPU runs what no other takes",
    )
    placement: str = row(
        "warn",
        "whether the CPU may run nodes that a delegate was asked for: allow; warn; forbid, which is an error for every node "
        "but those that quantize inputs and dequantize outputs",
        choices=POLICIES,
    )
    progress: Progress | None = row(
        None, "called with the name of each stage as it begins", kind=CALLABLE
    )

    def __post_init__(self) -> None:
        check_values(self)
        for past, present in (self.states or {}).items():
            if not isinstance(past, str) or not isinstance(present, str):
                raise ArgumentError(f"states: expected names, got {shown(past)}: {shown(present)}")
        for name in ("hints", "fix"):
            object.__setattr__(self, name, _sizes(name, getattr(self, name)))
        if isinstance(self.delegates, str):
            names = tuple(name.strip() for name in self.delegates.split(","))
            object.__setattr__(self, "delegates", names)
        if not isinstance(self.delegates, Sequence):
            raise ArgumentError(f"delegates: expected names, got {shown(self.delegates)}")
        if self.placement == "forbid" and (*self.delegates, "cpu")[0] == "cpu":
            raise ArgumentError(
                "placement forbid: expected a delegate, got the CPU alone; name one"
            )
        if self.max_context is not None and not (
            isinstance(self.max_context, int) and 1 < self.max_context <= MOST_CONTEXT
        ):
            raise ArgumentError(
                f"max_context: expected a number of tokens from 2 to {MOST_CONTEXT}, got {shown(self.max_context)}"
            )
        for name in self.hints or {}:
            if name in (self.fix or {}):
                raise ArgumentError(
                    f"hint {name}: the dimension is fixed, which leaves nothing to plan for; drop the hint or the fix"
                )
        if self.mode == "reduce-overhead":
            if self.max_context is not None:
                raise ArgumentError(
                    "mode reduce-overhead: expected no max_context, for its runs have any number of tokens; drop one of them"
                )
            object.__setattr__(self, "fix", {**(self.fix or {}), **(self.hints or {})})
            object.__setattr__(self, "hints", None)


def check_context(options: Options) -> None:
    """Raises ArgumentError: how a context is kept is told, and there is none. Decoders of checkpoints have one unasked."""
    if options.max_context is None and (options.cache, options.logits) != ("f32", "last"):
        name = "logits" if options.cache == "f32" else "cache"
        raise ArgumentError(
            f"{name}: expected max_context, too, whose context it is of; give both, or drop {name}"
        )


def check_values(options: Any) -> None:
    """Raises ArgumentError: a value of a dataclass of options is of another kind, or none of the choices."""
    for field in dataclasses.fields(options):
        choices, got = field.metadata["choices"], getattr(options, field.name)
        kinds, words = field.metadata["kind"]
        if got is field.default:
            continue
        if not isinstance(got, kinds):
            raise ArgumentError(f"{field.name}: expected {words}, got {shown(got)}")
        if choices and not (isinstance(got, str) and got in (*choices, field.default)):
            hint = renamed_value(field.name, got)
            raise ArgumentError(
                f"{field.name}: expected {', '.join(choices)}, got {shown(got)}{hint}"
            )


def _sizes(option: str, given: Mapping[str, int] | None) -> dict[str, int] | None:
    """Sizes by name, as Python's integers.

    Raises:
        ArgumentError: a name that is no text, a size that is no integer; which of those fit is told with the model.
    """
    if given is None:
        return None
    sizes = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise ArgumentError(f"{option}: expected names of dimensions, got {shown(name)}")
        try:
            sizes[name] = operator.index(value)
        except TypeError:
            raise ArgumentError(
                f"{option.rstrip('s')} {name}: expected an integer of at least 1, got {shown(value)}"
            ) from None
    return sizes


def rows(kind: Any) -> dict[str, dataclasses.Field[Any]]:
    """The options of a class by name; their metadata has `text` and `choices`."""
    return {field.name: field for field in dataclasses.fields(kind)}

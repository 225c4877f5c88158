"""Token after token from a decoder that keeps its context (max_context)."""

from __future__ import annotations

import dataclasses
import numbers
import operator
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Final

import numpy as np

from pteron.schema.errors import ArgumentError, DataError, shown

from .._pteron import ffi, lib
from .arguments import integer, kind_of
from .arrays import Array
from .memory import Memory, check, new_error, new_struct
from .model import Model
from .session import Session

PIECE: Final = 256
"""Tokens of a prompt that are read in one run: the memory of a longer one buys no speed. The bits are the same."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How a token is drawn. Temperature 0: the largest logit, of equal ones that with the lowest id.

    Else of the `top_k` largest logits (0: all), divided by the temperature, as many of the largest as make `top_p` of all
    probability (1: all), none below `min_p` of the largest. The draw follows from seed, stream and the token's position alone.

    Raises:
        ArgumentError: an option is out of its range.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    stream: int = 0

    def __post_init__(self) -> None:
        Sampler(self)


class Sampler:
    """Draws by one Sampling."""

    def __init__(self, sampling: Sampling) -> None:
        if not isinstance(sampling, Sampling):
            raise ArgumentError(f"sampling: expected a pteron.Sampling, got {kind_of(sampling)}")
        self._options = new_struct("pte_sampling")
        for name, bits in (("top_k", 32), ("seed", 64), ("stream", 64)):
            setattr(self._options, name, integer(name, getattr(sampling, name), 0, 2**bits - 1))
        for name in ("temperature", "top_p", "min_p"):
            value = getattr(sampling, name)
            if not isinstance(value, numbers.Real) or not value == value:
                raise ArgumentError(f"{name}: expected a number, got {shown(value)}")
            setattr(self._options, name, float(value))
        if sampling.top_p == 0:
            raise ArgumentError("top_p: expected a number above 0, up to 1, got 0")
        self._room = Memory(0)
        self(np.zeros(1, np.float32), 0)

    def __call__(self, logits: Array, position: int) -> int:
        """The token at `position`, of f32 logits in one row.

        Raises:
            DataError: no logit is a number.
        """
        row = np.ascontiguousarray(logits, np.float32).reshape(-1)
        needed = int(lib.pte_sample_room(len(row)))
        room = self._room if self._room.size >= needed else Memory(needed)
        self._room = room
        found, error = ffi.new("uint32_t *"), new_error()
        view = ffi.cast("const float *", ffi.from_buffer(row)) if len(row) else ffi.NULL
        status = lib.pte_sample(self._options, view, len(row), position, room.as_c(), found, error)
        check(status, error)
        return int(found[0])


class Generation(Iterator[int]):
    """New tokens, as they come. `end` says why there are no more, with the last of them: "stop" (a token of `stop`), "length"
    (`max_new_tokens`), "full" (the context has no room for the last one); None before that."""

    def __init__(self, each: Callable[[Generation], Iterator[int]]) -> None:
        self.end: str | None = None
        self._each = each(self)

    def __next__(self) -> int:
        return next(self._each)


def generate(
    model: Model | Session,
    tokens: Sequence[int],
    *,
    max_new_tokens: int | None = None,
    sampling: Sampling = Sampling(),
    stop: Collection[int] = (),
) -> Generation:
    """Reads the tokens behind what the context holds, then gives one new token after another, as they come.

    The context holds all but the last token given: whoever goes on begins with that one. `end` of what is returned says why it
    ended. Interrupted in a prompt, the context holds the pieces of it that were read: `position` says how far it came.

    Args:
        max_new_tokens: None: until the context is full.
        stop: Tokens that end the text; the one that did is the last given.

    Raises:
        ArgumentError: no decoder with a context, no tokens, more than there is room for.
        DataError: a token that the model does not have, in `tokens` or `stop`.
    """
    session = model.session_of_calls if isinstance(model, Model) else model
    if not isinstance(session, Session):
        raise ArgumentError(f"model: expected a pteron.Model or Session, got {kind_of(model)}")
    sampler = Sampler(sampling)
    name, output = _ports(session)
    vocabulary = _vocabulary(session)
    ids = _ids("tokens", tokens, vocabulary)
    if ids.size == 0:
        raise ArgumentError("tokens: expected a list of at least one integer, got none")
    ends = frozenset(
        _ids("stop", list(stop) if isinstance(stop, Collection) else stop, vocabulary).tolist()
    )
    left = session.room - session.position
    if len(ids) > left:
        raise ArgumentError(
            f"tokens: expected at most the {left} that the context has room for, got {len(ids)}; export with a larger max_context"
        )
    most, end = left - len(ids) + 1, "full"
    if max_new_tokens is not None:
        wanted = integer("max_new_tokens", max_new_tokens, 0, 2**63 - 1)
        most, end = (wanted, "length") if wanted <= most else (most, end)
    dtype = session.inputs[0].numpy_dtype
    longest = min(PIECE, session.inputs[0].bounds[1][1])

    def each(told: Generation) -> Iterator[int]:
        given = ids
        told.end = None if most else end
        for left in reversed(range(most)):
            for i in range(0, len(given), longest):
                piece = given[i : i + longest].astype(dtype).reshape(1, -1)
                logits = session.run({name: piece})[output]
            token = sampler(logits[0, -1], session.position)
            told.end = "stop" if token in ends else None if left else end
            yield token
            if told.end is not None:
                return
            given = np.array([token])

    return Generation(each)


def _vocabulary(session: Session) -> int:
    """How many tokens the model has: it gives each a logit, and its own type holds them all."""
    logits = session.outputs[0].shape[-1]
    types = np.iinfo(session.inputs[0].numpy_dtype).max + 1
    return min(logits, types) if isinstance(logits, int) else types


def _ids(name: str, tokens: Any, vocabulary: int) -> Array:
    """The tokens, all of the model's. A negative one would be taken from the end of its table, a larger one wrap.

    Raises:
        ArgumentError: no list of integers.
        DataError: the model does not have one.
    """
    try:
        numbers = [operator.index(token) for token in tokens]
    except TypeError as error:
        raise ArgumentError(
            f"{name}: expected a list of integers, got {kind_of(tokens)}: {error}"
        ) from None
    for i, number in enumerate(numbers):
        if not 0 <= number < vocabulary:
            raise DataError(
                f"{name}: expected tokens of 0 to {vocabulary - 1}, which the model has, got {number} at position {i}"
            )
    return np.array(numbers, np.int64)


def _ports(session: Session) -> tuple[str, str]:
    """The names of tokens and logits.

    Raises:
        ArgumentError: the program is no decoder that keeps its context.
    """
    ins, outs = session.inputs, session.outputs
    fits = len(ins) == len(outs) == 1 and ins[0].numpy_dtype.kind in "iu" and len(ins[0].shape) == 2
    if not fits or outs[0].numpy_dtype != np.float32 or len(outs[0].shape) != 3:
        raise ArgumentError(
            f"{session.info.name}: expected integers [1, tokens] in and f32 logits [1, n, vocabulary] out, got "
            f"{', '.join(map(str, (*ins, *outs)))}; export the decoder with --max-context"
        )
    return ins[0].name, outs[0].name

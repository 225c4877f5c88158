"""Calibration: the range that each activation takes over a few samples, outliers and all, and narrower ones that `clipping` finds.

Ranges are a file that can be used again:

    {"format": "pteron.ranges", "version": 3, "samples": 64, "rule": "mse", "ranges": {"relu": [0.0, 5.25], ...},
     "clipped": {"relu": [0.0, 4.5], ...}, "channels": {"sum": [[-1.5, 0.0, ...], [0.25, 3.0, ...]], ...}}

`channels` are the ends of each channel, axis 1, of the values that equalization may scale; `clipped` those of values behind it, by the rule.
Version 2 had neither a rule nor what it clips.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from pteron.schema.errors import RecipeError
from pteron.schema.reading import decoding, parsed

from ..recipe.rules import MINMAX, RANGES
from .samples import Runner, Samples, samples
from .segmented import in_segments, within

FORMAT: Final = "pteron.ranges"
VERSION: Final = 3
OLDER: Final = 2

Ends: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""Smallest and largest element of each channel."""
T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class Ranges:
    """Smallest and largest element of each value by name, over `samples` samples; of some each channel's, too.

    `clipped`: narrower ranges of values that are equalized, by `rule`.
    """

    samples: int
    by_name: Mapping[str, tuple[float, float]]
    channels: Mapping[str, Ends] = dataclasses.field(default_factory=dict)
    rule: str = MINMAX
    clipped: Mapping[str, tuple[float, float]] = dataclasses.field(default_factory=dict)

    def __getitem__(self, name: str) -> tuple[float, float]:
        """Raises RecipeError where the value was not observed."""
        return _known(self.by_name, name)

    def channels_of(self, name: str, count: int) -> Ends:
        """Raises RecipeError where they were not observed, or the value had another number of channels."""
        found = _known(self.channels, name)
        if len(found[0]) != count:
            raise _other(name)
        return found

    def as_json(self) -> str:
        found, clipped = (
            {name: list(pair) for name, pair in sorted(pairs.items())}
            for pairs in (self.by_name, self.clipped)
        )
        head = {"format": FORMAT, "version": VERSION, "samples": self.samples, "rule": self.rule}
        channels = {n: [x.tolist() for x in ends] for n, ends in sorted(self.channels.items())}
        text = json.dumps(head | {"ranges": found, "clipped": clipped}, indent=1)[:-2]
        return f'{text},\n "channels": {json.dumps(channels)}\n}}\n'


def _known(found: Mapping[str, T], name: str) -> T:
    if name not in found:
        raise _other(name)
    return found[name]


def _other(name: str) -> RecipeError:
    return RecipeError(
        f"calibration: no range for {name!r}; these ranges are of another model: calibrate again"
    )


def ranges_of(text: str | bytes, where: str) -> Ranges:
    """Reads `as_json` again.

    Raises:
        RecipeError: not such a file, another version, or a range that is none.
    """
    with decoding(where, "a file of ranges", "calibrate again"):
        return _ranges_of(text, where)


def _ranges_of(text: str | bytes, where: str) -> Ranges:
    try:
        data = parsed(text)
        if data.get("format") != FORMAT or data.get("version") not in (OLDER, VERSION):
            raise RecipeError(
                f"{where}: expected {FORMAT} version {VERSION}, got {data.get('format')} {data.get('version')}; calibrate again"
            )
        found, clipped = (
            {str(k): (float(low), float(high)) for k, (low, high) in pairs.items()}
            for pairs in (data["ranges"], data.get("clipped", {}))
        )
        rule = data.get("rule", MINMAX)
        channels = {str(k): _ends(low, high) for k, (low, high) in data["channels"].items()}
        samples = int(data["samples"])
    except (
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as error:
        raise RecipeError(
            f"{where}: expected a file of ranges, got another or half of one ({error}); calibrate again"
        ) from None
    if rule not in RANGES:
        raise RecipeError(f"{where}: rule {rule!r}: expected one of {', '.join(RANGES)}")
    for name, (low, high) in (*found.items(), *clipped.items()):
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise RecipeError(f"{where}: {name!r}: expected finite low <= high, got {low}, {high}")
    return Ranges(samples, found, channels, rule, clipped)


def _ends(low: Any, high: Any) -> Ends:
    """Raises ValueError where these are no ends."""
    ends = np.asarray(low, np.float32), np.asarray(high, np.float32)
    fits = ends[0].ndim == 1 and ends[0].shape == ends[1].shape
    if not (fits and np.isfinite(ends).all() and (ends[0] <= ends[1]).all()):
        raise ValueError("channels that are no finite low <= high")
    return ends


def observe(
    model: ir.Model,
    wanted: Sequence[str],
    source: Samples,
    runner: Runner,
    count: int,
    channels: Sequence[str] = (),
    ram_bytes: int = sys.maxsize,
) -> Ranges:
    """Runs the first `count` samples and keeps the ends of each wanted value, of `channels` each channel's, too.

    In segments, one after another, whose weights take at most `ram_bytes`, or are those of one value.

    Raises:
        RecipeError: no samples; a sample does not fit the model's inputs or holds NaN or infinity; a value becomes so.
    """
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    each: dict[str, Ends] = {}
    number, parts = 0, within(model, wanted, ram_bytes)
    for runs in in_segments(model, parts, samples(model, source, count), runner):
        number = 0
        for values in runs:
            for name, array in values.items():
                if array.size:
                    ends = _ends_of(array, f"calibration: sample {number}: {name!r}")
                    low[name] = min(low.get(name, ends[0]), ends[0])
                    high[name] = max(high.get(name, ends[1]), ends[1])
                    if name in channels:
                        each[name] = _wider(each.get(name), array)
            number += 1
        if number == 0:
            raise RecipeError("calibration: expected at least one sample, got none")
    return Ranges(number, {name: (low[name], high[name]) for name in low}, each)


def _ends_of(x: NDArray[Any], where: str) -> tuple[float, float]:
    ends = float(x.min()), float(x.max())
    if not np.isfinite(ends).all():
        raise RecipeError(f"{where} must be finite, got {ends}; leave this sample out")
    return ends


def _wider(ends: Ends | None, x: NDArray[Any]) -> Ends:
    axes = tuple(i for i in range(x.ndim) if i != 1)
    low, high = x.min(axes), x.max(axes)
    return (low, high) if ends is None else (np.minimum(ends[0], low), np.maximum(ends[1], high))


Source = Ranges | Samples


def is_ranges_file(source: Source) -> bool:
    """Whether it is a path that has ranges in place of samples."""
    return isinstance(source, (str, os.PathLike)) and Path(source).suffix == ".json"


def calibrated(
    model: ir.Model,
    wanted: Sequence[str],
    source: Source,
    runner: Runner,
    count: int,
    channels: Sequence[str] = (),
    ram_bytes: int = sys.maxsize,
) -> Ranges:
    """Ranges of the wanted values.

    Args:
        channels: Of these, which are among the wanted, each channel's, too.
        source: Ranges; a path to a file of ranges (.json); or what `samples` takes.
        count: The number of samples that are run, from the first one on.
        ram_bytes: As `observe` has it.

    Raises:
        RecipeError: see `observe`, `samples`, `ranges_of`.
    """
    if isinstance(source, Ranges):
        return source
    if is_ranges_file(source):
        path = Path(cast("str", source))
        return ranges_of(path.read_bytes(), path.name)
    return observe(model, wanted, source, runner, count, channels, ram_bytes)

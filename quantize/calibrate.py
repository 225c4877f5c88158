"""Calibration: the range that each activation takes over a few samples. Min-max, no outliers removed.

Ranges are a file that can be used again:

    {"format": "pteron.ranges", "version": 1, "samples": 64, "ranges": {"relu": [0.0, 5.25], ...}}
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import RecipeError

from .samples import Runner, Samples, samples

FORMAT: Final = "pteron.ranges"
VERSION: Final = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Ranges:
    """Smallest and largest element of each value by name, over `samples` samples."""

    samples: int
    by_name: Mapping[str, tuple[float, float]]

    def __getitem__(self, name: str) -> tuple[float, float]:
        """Raises RecipeError where the value was not observed."""
        if name not in self.by_name:
            raise RecipeError(
                f"calibration: no range for {name!r}; these ranges are of another model: calibrate again"
            )
        return self.by_name[name]

    def as_json(self) -> str:
        found = {name: list(pair) for name, pair in sorted(self.by_name.items())}
        head = {"format": FORMAT, "version": VERSION, "samples": self.samples}
        return json.dumps(head | {"ranges": found}, indent=1) + "\n"


def ranges_of(text: str | bytes, where: str) -> Ranges:
    """Reads `as_json` again.

    Raises:
        RecipeError: not such a file, another version, or a range that is none.
    """
    try:
        data = json.loads(text)
        if (data.get("format"), data.get("version")) != (FORMAT, VERSION):
            raise RecipeError(
                f"{where}: expected {FORMAT} version {VERSION}, got {data.get('format')} {data.get('version')}; calibrate again"
            )
        found = {str(k): (float(low), float(high)) for k, (low, high) in data["ranges"].items()}
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
    for name, (low, high) in found.items():
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            raise RecipeError(f"{where}: {name!r}: expected finite low <= high, got {low}, {high}")
    return Ranges(samples, found)


def observe(
    model: ir.Model, wanted: Sequence[str], source: Samples, runner: Runner, count: int
) -> Ranges:
    """Runs the first `count` samples and keeps the ends of each wanted value.

    Raises:
        RecipeError: no samples; a sample does not fit the model's inputs or holds NaN or infinity; a value becomes so.
    """
    low: dict[str, float] = {}
    high: dict[str, float] = {}
    number = 0
    for values in runner(model, wanted, samples(model, source, count)):
        for name, array in values.items():
            if array.size:
                ends = float(array.min()), float(array.max())
                if not np.isfinite(ends).all():
                    raise RecipeError(
                        f"calibration: sample {number}: {name!r} must be finite, got {ends}; leave this sample out"
                    )
                low[name] = min(low.get(name, ends[0]), ends[0])
                high[name] = max(high.get(name, ends[1]), ends[1])
        number += 1
    if number == 0:
        raise RecipeError("calibration: expected at least one sample, got none")
    return Ranges(number, {name: (low[name], high[name]) for name in low})


Source = Ranges | Samples


def calibrated(
    model: ir.Model, wanted: Sequence[str], source: Source, runner: Runner, count: int
) -> Ranges:
    """Ranges of the wanted values.

    Args:
        source: Ranges; a path to a file of ranges (.json); or what `samples` takes.
        count: The number of samples that are run, from the first one on.

    Raises:
        RecipeError: see `observe`, `samples`, `ranges_of`.
    """
    if isinstance(source, (str, Path)) and Path(source).suffix == ".json":
        source = ranges_of(Path(source).read_bytes(), Path(source).name)
    if isinstance(source, Ranges):
        return source
    return observe(model, wanted, source, runner, count)

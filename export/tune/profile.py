"""Profiles: what convolutions and products took on one machine, by operator; JSON that an export reads anywhere.

    {"pteron_profile": 1,
     "target": {"machine": "...", "threads": 2},
     "measured": [{"operator": "conv_winograd", "format": "plain", "x": [1, 56, 56, 64], "y": [1, 56, 56, 64],
                   "us": {"conv": 1247.3, "conv_winograd": 677.0}}, ...]}

`us`: microseconds of the operator and of the one whose place it takes, in the same model; the least of several runs, the mean
of its sites of one shape.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from pteron.schema.errors import ArgumentError, existing, shown
from pteron.schema.formats import FORMATS
from pteron.schema.reading import decoding, parsed

from ..pack.choices import INSTEAD_OF, PLAIN

VERSION: Final = 1
MARGIN: Final = 0.97
"""Of the time of the rule's operator: what the other one takes at most where it is chosen; less is noise."""


KINDS: Final = {dict: "an object", list: "a list", str: "a text", int: "an integer"}


class Key(NamedTuple):
    """What a measurement is of: the shapes of x and y, and the format of codes that both operators read."""

    operator: str
    format: str
    x: tuple[int, ...]
    y: tuple[int, ...]

    def __str__(self) -> str:
        codes = "" if self.format == PLAIN else f" {self.format}"
        x, y = ("x".join(map(str, shape)) for shape in (self.x, self.y))
        return f"{self.operator}{codes} {x} -> {y}"


class Times(NamedTuple):
    """Microseconds of the key's operator, and of the one whose place it takes."""

    own: float
    plain: float

    def decide(self, rule: bool) -> bool:
        """Whether the operator is taken; `rule`: whether it is where nothing was measured."""
        return self.own <= self.plain / MARGIN if rule else self.own < self.plain * MARGIN


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """The machine that was measured, and the threads of a run there."""

    machine: str
    threads: int

    def __str__(self) -> str:
        return f"{self.machine}; {self.threads} threads"


@dataclasses.dataclass(frozen=True, slots=True)
class Profile:
    target: Target
    measured: Mapping[Key, Times]

    def as_text(self) -> str:
        """One line a measurement, in order of their keys."""
        rows = ",\n".join(f"  {json.dumps(_row(k, t))}" for k, t in sorted(self.measured.items()))
        target = json.dumps(dataclasses.asdict(self.target))
        return (
            f'{{"pteron_profile": {VERSION},\n "target": {target},\n "measured": [\n{rows}\n]}}\n'
        )


def _row(key: Key, times: Times) -> dict[str, Any]:
    us = {INSTEAD_OF[key.operator]: round(times.plain, 3), key.operator: round(times.own, 3)}
    return {**key._asdict(), "us": us}


def read_profile(path: Path) -> Profile:
    """Reads a file that `Profile.as_text` wrote.

    Raises:
        FileError: no such file. ArgumentError: it holds something else.
    """
    existing(path)
    with decoding(str(path), "a profile", "measure anew"):
        return _profile_of(path)


def _profile_of(path: Path) -> Profile:
    try:
        whole = parsed(path.read_text(encoding="utf-8"))
        version = _of(whole, "pteron_profile", int)
    except (UnicodeDecodeError, ValueError, RecursionError, _Wrong):
        raise ArgumentError(
            f"{path}: expected a profile, got something else; write one with pteron export --mode max-autotune --tune {path}"
        ) from None
    if version != VERSION:
        raise ArgumentError(
            f"{path}: expected pteron_profile version {VERSION}, got {version}; measure anew"
        )
    place = "target"
    try:
        target = _target(_of(whole, "target", dict))
        measured = {}
        for i, row in enumerate(_of(whole, place := "measured", list)):
            place = f"measured[{i}]"
            key, times = _measurement(row)
            if key in measured:
                raise _Wrong(f"expected {key} once, got it twice")
            measured[key] = times
    except _Wrong as wrong:
        raise ArgumentError(f"{path}: {place}: {wrong}; correct it, or measure anew") from None
    return Profile(target, measured)


class _Wrong(Exception):
    """What a part of a file should have been."""


def _of(row: Any, name: str, kind: type) -> Any:
    value = row.get(name) if isinstance(row, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool):
        raise _Wrong(f"expected {name}, {KINDS[kind]}, got {shown(value)}")
    return value


def _target(row: dict[str, Any]) -> Target:
    threads = _of(row, "threads", int)
    if threads < 1:
        raise _Wrong(f"expected threads of at least 1, got {threads}")
    return Target(_of(row, "machine", str), threads)


def _measurement(row: Any) -> tuple[Key, Times]:
    operator, format = _of(row, "operator", str), _of(row, "format", str)
    if operator not in INSTEAD_OF:
        raise _Wrong(f"operator: expected one of {', '.join(INSTEAD_OF)}, got {shown(operator)}")
    if format not in FORMATS:
        raise _Wrong(f"format: expected one of {', '.join(FORMATS)}, got {shown(format)}")
    us = _of(row, "us", dict)
    own, plain = (_time(us, name) for name in (operator, INSTEAD_OF[operator]))
    return Key(operator, format, _shape(row, "x"), _shape(row, "y")), Times(own, plain)


def _time(us: dict[str, Any], name: str) -> float:
    value: Any = us.get(name)
    if type(value) not in (int, float) or not 0 < value < math.inf:
        raise _Wrong(f"us.{name}: expected microseconds above 0, got {shown(value)}")
    return float(value)


def _shape(row: Any, name: str) -> tuple[int, ...]:
    sizes = _of(row, name, list)
    if not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in sizes):
        raise _Wrong(f"{name}: expected sizes, got {shown(sizes)}")
    return tuple(sizes)

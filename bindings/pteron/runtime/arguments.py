"""What callers hand over, checked before C sees it: each error says which argument, what was expected and what came."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from pteron.schema.errors import ArgumentError, shown


def integer(name: str, value: Any, least: int, most: int) -> int:
    """`value`, which is a whole number of those bounds.

    Raises:
        ArgumentError: it is none.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        raise ArgumentError(
            f"{name}: expected an integer from {least} to {most}, got {shown(value)}"
        )
    return number


def nanoseconds(name: str, value: Any) -> int:
    """`value` seconds, 0 where it is negative; never more than 30 years.

    Raises:
        ArgumentError: it is no number.
    """
    try:
        seconds = float(value) if not isinstance(value, str | bytes) else math.nan
    except (TypeError, ValueError):
        seconds = math.nan
    if math.isnan(seconds):
        raise ArgumentError(f"{name}: expected seconds, got {shown(value)}")
    return int(min(max(seconds, 0.0), 1e9) * 1e9)


def named(name: str, value: Any, what: str) -> Mapping[str, Any]:
    """`value`, which is a dict whose keys are text.

    Raises:
        ArgumentError: it is none, or has another key.
    """
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{name}: expected a dict of {what} by name, got {kind_of(value)}")
    for key in value:
        if not isinstance(key, str):
            raise ArgumentError(f"{name}: expected names as keys, got {shown(key)}")
    return value


def flag(name: str, value: Any) -> bool:
    """`value`, which is True or False.

    Raises:
        ArgumentError: it is neither: anything else would count as one of them by accident.
    """
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}: expected True or False, got {shown(value)}")
    return bool(value)


def kind_of(value: Any) -> str:
    """What a person calls its type."""
    return "None" if value is None else type(value).__name__


def not_pickled(owner: object, instead: str) -> NoReturn:
    """Raises the TypeError that pickling and copying one of our handles is."""
    raise TypeError(f"{type(owner).__name__}: cannot be copied or sent elsewhere; {instead}")

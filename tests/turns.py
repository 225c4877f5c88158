"""Tests run in several processes; what lies in build/ is built by one of them at a time."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

BUILD = Path(__file__).parent.parent / "build"


@contextlib.contextmanager
def one_at_a_time(name: str) -> Iterator[None]:
    """The others wait, and find `name` built."""
    BUILD.mkdir(exist_ok=True)
    with (BUILD / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

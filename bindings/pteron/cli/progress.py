"""How far a command is: a bar on a terminal, a line a stage in a log, nothing with --quiet or --json."""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Final

from . import say

Tell = Callable[[str], None]
STAGES: Final = (
    "capture", "passes", "check", "context", "calibrate", "quantize", "measure", "partition", "lower", "fuse", "tune", "pack", "plan", "verify", "emit",
)  # fmt: skip
"""In the order of an export; not each has all."""


@contextlib.contextmanager
def progress(silent: bool) -> Iterator[Tell]:
    """Within it, what it gives is called with each stage as it begins."""
    if silent:
        yield lambda stage: None
    elif say.can_redraw(sys.stderr) and (bar := _bar()) is not None:
        with bar as tell:
            yield tell
    else:
        started = time.perf_counter()
        yield lambda stage: say.aside(f"{time.perf_counter() - started:6.1f} s  {stage}")


def share(stage: str, before: float = 0.0) -> float:
    """Which part of the work lies behind as `stage` begins: "quantize 3/12 head" is a fifth of the way through its own.

    It never falls: a program of several methods runs through some stages once more.
    """
    name, *rest = stage.split(" ", 1)
    if name not in STAGES:
        return before
    count = re.search(r"(\d+)/(\d+)", rest[0]) if rest else None
    inside = (int(count[1]) - 1) / max(int(count[2]), 1) if count else 0.0
    return max(before, (STAGES.index(name) + inside) / len(STAGES))


def _bar() -> contextlib.AbstractContextManager[Tell] | None:
    """A bar on stderr; None where rich is not installed. It keeps to NO_COLOR by itself."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        return None

    @contextlib.contextmanager
    def shown() -> Iterator[Tell]:
        columns = (
            BarColumn(24),
            TimeElapsedColumn(),
            TextColumn("{task.description}", markup=False),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task, done = bar.add_task("", total=1.0), 0.0

            def tell(stage: str) -> None:
                nonlocal done
                done = share(stage, done)
                bar.update(task, completed=done, description=stage)

            yield tell

    return shown()

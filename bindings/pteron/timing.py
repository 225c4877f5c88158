"""Times programs that compute the same by other operators: the Timer of `--mode max-autotune`."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from pteron.export.file.emit import emit
from pteron.export.plan.measure import Sized
from pteron.export.program import Program
from pteron.export.tune import Tuning
from pteron.export.tune.profile import Profile, Target, read_profile
from pteron.schema.errors import ArgumentError, PlacementWarning

from .runtime import Session, TraceEvent, cpu, load
from .runtime.arrays import made_up

ROUNDS: Final = 30
FEWEST: Final = 5
SECONDS: Final = 15.0
"""After which rounds end, if there were FEWEST."""


def tuning_of(mode: str, path: str | os.PathLike[str] | None) -> Tuning | None:
    """What an export chooses operators by; None: its rules.

    Raises:
        FileError: no such profile. ArgumentError: it is none, or of another machine than what would be added.
    """
    if mode != "max-autotune":
        return None if path is None else Tuning(read_profile(Path(path)))
    here = Target(cpu.machine(), cpu.threads())
    profile = Profile(here, {})
    if path is not None and Path(path).exists():
        profile = read_profile(Path(path))
    if profile.target != here:
        raise ArgumentError(
            f"{path}: expected a profile of this machine ({here}), got one of {profile.target}; "
            "name another file to measure into, or drop the mode to use this one"
        )
    return Tuning(profile, timed)


def timed(programs: Sequence[Program]) -> list[dict[int, float]]:
    """Of each program the least microseconds of every instruction that ran, by its number, on made-up inputs at the hints.

    Programs take turns, so that a drift of the machine meets all alike; what is timed follows a run that warms its caches.

    Raises:
        PteronError: a program does not run on such inputs.
    """
    least: list[dict[int, float]] = [{} for _ in programs]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{i}.pte" for i in range(len(programs))]
        for program, path in zip(programs, paths, strict=True):
            emit(program, path, debug=False)
        for method in programs[0].methods:
            with warnings.catch_warnings(), contextlib.ExitStack() as opened:
                warnings.simplefilter(
                    "ignore", PlacementWarning
                )  # the CPU's instructions are timed
                models = [load(path, method=method.name, delegates=()) for path in paths]
                sessions = [opened.enter_context(m).session_of_calls for m in models]
                _take_turns(sessions, Sized(programs[0]).dims, least)
    return least


def _take_turns(
    sessions: Sequence[Session], sizes: Mapping[str, int], least: Sequence[dict[int, float]]
) -> None:
    rng = np.random.default_rng(0)
    feeds = {port.name: made_up(port, sizes, rng) for port in sessions[0].inputs}
    ends = time.monotonic() + SECONDS
    for turn in range(ROUNDS):
        if turn >= FEWEST and time.monotonic() > ends:
            return
        for session, known in zip(sessions, least, strict=True):
            events: list[TraceEvent] = []
            for trace in (None, events):
                session.states.reset()
                session.run(feeds, trace=trace)
            for e in events:
                known[e.instr] = min(known.get(e.instr, np.inf), (e.end_ns - e.begin_ns) / 1e3)

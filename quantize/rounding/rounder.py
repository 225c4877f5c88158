"""Layers' weights to codes, each once: what was rounded stays in memory, or in the journal where there is one.

GPTQ is columns one after another, so that threads do not share a layer: they take one each, as many as have room.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from ..encode.format import BlockFormat
from ..observe.statistics import Moments, Statistics
from ..recipe.plan import Choice
from .journal import Journal, digest
from .weight import GPTQ, SEARCH, Rounded, matrix_of, rounded

Progress = Callable[[str], None]
Key = tuple[int, str, str, str]

PAIR: Final = 40
"""Bytes that GPTQ holds for each pair of columns: moments, their inverse, its factor;"""
WEIGHT: Final = 24
"""and for each weight."""


class Rounder:
    """Rounds a choice by its algorithm: by GPTQ where none is said and the layer has statistics, else by search.

    Args:
        layers: Names of all, in order, for what `progress` is told.
        threads: At most; codes do not depend on it.
        ram_bytes: What layers that are rounded side by side may take; one at a time may take more.
    """

    def __init__(
        self, known: Statistics | None, layers: Sequence[str], journal: Journal, threads: int, ram_bytes: int,
        progress: Progress | None,
    ) -> None:  # fmt: skip
        self._known, self._journal, self._progress = known, journal, progress
        self._threads, self._ram_bytes = threads, ram_bytes
        self._numbers = {name: f"{i}/{len(layers)}" for i, name in enumerate(layers, 1)}
        self._default = SEARCH if known is None else GPTQ
        self._done: dict[Key, Rounded] = {}
        self._keys: dict[Key, str] = {}
        self._one = threading.Lock()

    def __call__(self, choice: Choice) -> Rounded:
        return self._rounded(choice, self._threads)

    def ahead(self, work: Sequence[Choice]) -> None:
        """Rounds all of `work`, no two of which are one stored weight.

        Raises:
            QuantError: of the first in order whose weight has no form in its format; layers behind it may have been rounded.
        """
        columns = [choice for choice in work if self._algorithm(choice) == GPTQ]
        side = min(self._threads, len(columns), self._room(columns))
        for choice in work:
            if side < 2 or self._algorithm(choice) != GPTQ:
                self(choice)
        if side < 2:
            return
        pool = ThreadPoolExecutor(side)
        try:
            for _ in pool.map(lambda choice: self._rounded(choice, 1), columns):
                pass
        finally:
            pool.shutdown(cancel_futures=True)

    def _algorithm(self, choice: Choice) -> str:
        return choice.algorithm or self._default

    def _room(self, work: Sequence[Choice]) -> int:
        sizes = [(n, k) for n, k in (choice.layer.extents for choice in work)]
        return self._ram_bytes // max((PAIR * k * k + WEIGHT * n * k for n, k in sizes), default=1)

    def _rounded(self, choice: Choice, threads: int) -> Rounded:
        assert choice.format is not None
        fmt, algorithm = choice.format, self._algorithm(choice)
        key = (*choice.key, algorithm)
        found = self._done.get(key) or self._kept(key, fmt)
        if found is not None:
            return found
        moments = self._moments(choice)
        if self._journal.folder is not None and key not in self._keys:
            seen = "" if moments is None else digest(moments.second, moments.mean, choice.biased)
            matrix = matrix_of(choice.layer)
            self._keys[key] = digest(choice.layer.name, matrix, fmt.name, algorithm, seen)
            found = self._kept(key, fmt)
            if found is not None:
                return found
        self._tell(choice.layer.name, fmt, algorithm)
        made = rounded(choice.layer, fmt, algorithm, moments, threads, biased=choice.biased)
        if key in self._keys:
            self._journal.keep(self._keys[key], made)
        else:
            self._done[key] = made
        return made

    def _kept(self, key: Key, fmt: BlockFormat) -> Rounded | None:
        return self._journal.rounded(self._keys[key], fmt) if key in self._keys else None

    def _moments(self, choice: Choice) -> Moments | None:
        """A file is read by one at a time."""
        if self._known is None:
            return None
        with self._one:
            return self._known.of(choice.layer, *choice.layer.extents)

    def _tell(self, name: str, fmt: BlockFormat, algorithm: str) -> None:
        if self._progress:
            with self._one:
                self._progress(f"quantize {self._numbers[name]} {name} {fmt.name} {algorithm}")

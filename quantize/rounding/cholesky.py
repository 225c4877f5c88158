"""Symmetric systems in blocks: the same bytes by any number of threads, whose number a BLAS's own sums depend on.

    h = l l^T, l lower triangular     a block of columns at a time, bands of rows side by side
    h x = b                           l y = b from the first block on, l^T x = y from the last

Almost all of the work is products of matrices. A factor takes k^3 / 3 multiplications where an inverse takes 2 k^3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

F64 = NDArray[np.float64]

BLOCK: Final = 128
"""Columns that are factored at once;"""
BAND: Final = 512
"""rows of a product that are one piece of work."""


def in_turn(work: Callable[[int], Any], begins: Iterable[int], threads: int) -> None:
    """`work` of each begin, side by side; what it raises is raised."""
    begins = list(begins)
    if min(threads, len(begins)) < 2:
        for begin in begins:
            work(begin)
        return
    with ThreadPoolExecutor(min(threads, len(begins))) as pool:
        list(pool.map(work, begins))


def factor(h: F64, threads: int = 1) -> F64:
    """l of h [k, k], of which the lower half is read.

    Raises:
        LinAlgError: h is not positive definite.
    """
    k = len(h)
    low = np.zeros_like(h)
    for j in range(0, k, BLOCK):
        end = min(j + BLOCK, k)

        def left(begin: int, stop: int, j: int = j, end: int = end) -> F64:
            """What the columns before these leave of some rows."""
            some = h[begin:stop, j:end]
            return some - low[begin:stop, :j] @ low[j:end, :j].T if j else some

        low[j:end, j:end] = np.linalg.cholesky(left(j, end))
        if end == k:
            break
        turn = np.linalg.inv(low[j:end, j:end]).T

        def below(begin: int, j: int = j, end: int = end, turn: Any = turn) -> None:
            stop = min(begin + BAND, k)
            low[begin:stop, j:end] = left(begin, stop) @ turn

        in_turn(below, range(end, k, BAND), threads)
    return low


def solve(low: F64, b: F64, threads: int = 1) -> F64:
    """x [k, n] of l l^T x = b."""
    k, n = b.shape
    out = np.array(b, np.float64)
    begins = range(0, k, BLOCK)
    turns = {j: np.linalg.inv(low[j : j + BLOCK, j : j + BLOCK]) for j in begins}

    def columns(begin: int) -> None:
        some = out[:, begin : begin + BAND]
        for j in begins:
            end = min(j + BLOCK, k)
            some[j:end] = turns[j] @ (some[j:end] - low[j:end, :j] @ some[:j])
        for j in reversed(begins):
            end = min(j + BLOCK, k)
            some[j:end] = turns[j].T @ (some[j:end] - low[end:, j:end].T @ some[end:])

    in_turn(columns, range(0, n, BAND), threads)
    return out

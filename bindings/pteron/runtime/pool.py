"""Thread pools of the C runtime, one for each number of threads, shared by the sessions of this process."""

from __future__ import annotations

import functools
from typing import Any

from .._pteron import ffi, lib
from .memory import check, new_error, new_struct


class Pool:
    """A pte_pool that lives until the process ends; its workers are parked between runs."""

    def __init__(self, threads: int) -> None:
        out, error = ffi.new("pte_pool **"), new_error()
        check(
            lib.pte_host_pool_open(
                new_struct("pte_host_pool_options", threads=threads), out, error
            ),
            error,
        )
        self.pointer: Any = out[0]

    @staticmethod
    @functools.cache
    def shared(threads: int) -> Pool:
        return Pool(threads)

"""Thread pools of the C runtime, one for each number of threads, shared by the sessions of this process."""

from __future__ import annotations

import functools
from typing import Any

from pteron._pteron import ffi, lib
from pteron.runtime.memory import check


class Pool:
    """A pte_pool that lives until the process ends; its workers are parked between runs."""

    def __init__(self, threads: int) -> None:
        out = ffi.new("pte_pool **")
        check(lib.pte_host_pool_open(threads, out), where=f"pool of {threads} threads")
        self.pointer: Any = out[0]

    @staticmethod
    @functools.cache
    def shared(threads: int) -> Pool:
        return Pool(threads)

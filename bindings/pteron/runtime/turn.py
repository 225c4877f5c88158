"""Whose turn it is to use a session: one thread at a time, and not what a fork cut off."""

from __future__ import annotations

import os
import threading

from pteron.schema.errors import ArgumentError


class Turn:
    """`with turn:` waits until no other thread has it. In a forked child a turn that a thread of the parent had is over for
    good: that thread is not there, and what it was doing is half done.

    Raises:
        ArgumentError: on entering such a one, or one that this thread has: from a trace, or a signal's handler.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._thread = 0

    def __enter__(self) -> None:
        if self._thread == threading.get_ident() and os.getpid() == self._process:
            raise ArgumentError("session: this thread is using it; wait until that call has ended")
        if os.getpid() == self._process:
            self._lock.acquire()
        elif self._lock.acquire(blocking=False):
            self._process = os.getpid()
        else:
            raise ArgumentError(
                f"session: it was running in process {self._process} when this one was forked from it; make another "
                "with session()"
            )
        self._thread = threading.get_ident()

    def __exit__(self, *_: object) -> None:
        self._thread = 0
        self._lock.release()

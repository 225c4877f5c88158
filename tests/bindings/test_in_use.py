"""What another thread closes, or a mapping changes, while the runtime uses it."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron
from pteron.runtime import program as program_of
from pteron.runtime import session as session_of
from pteron.runtime.session import TraceEvent

X = np.random.default_rng(0).random((3, 1, 8, 8), np.float32)


class Closing:
    """The runtime's library, whose function `name` finds that another thread has closed the program meanwhile."""

    def __init__(self, lib: Any, name: str, program: pteron.Program) -> None:
        self._lib, self._name, self._program = lib, name, program

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._lib, name)
        if name != self._name:
            return real

        def call(*args: Any) -> Any:
            self._program.close()
            gc.collect()
            assert all(r() is not None for r in self.held), "freed while it is in use"
            self.met = True
            return real(*args)

        return call

    def watch(self, program: pteron.Program) -> None:
        assert program.held is not None
        self.held = [weakref.ref(program.held.data), weakref.ref(program.held.memory._owner)]


@pytest.mark.parametrize(
    "name", ["pte_session_size", "pte_session_open", "pte_program_check_digests"]
)
def test_what_is_in_use_is_not_freed_by_closing(
    digits: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    program = pteron.Program(digits.read_bytes())
    module = program_of if name.startswith("pte_program") else session_of
    closing = Closing(module.lib, name, program)
    closing.watch(program)
    monkeypatch.setattr(module, "lib", closing)
    if module is program_of:
        program.check_digests()
    else:
        session = pteron.Session(program)
        monkeypatch.undo()
        assert session.run({"image": X})["logits"].shape == (3, 10)
    assert closing.met


def test_placements_are_read_in_turn(digits: Path) -> None:
    session = pteron.load(digits).session()
    with session._lock:  # as a run has it, or close()
        thread = threading.Thread(target=lambda: session.placements)
        thread.start()
        thread.join(0.05)
        assert thread.is_alive()
    thread.join()


def test_a_session_that_this_thread_is_using_says_so(digits: Path) -> None:
    """From a trace or a signal's handler: waiting for its own turn would never end."""

    class Busy(list[TraceEvent]):
        def append(self, event: TraceEvent) -> None:
            session.close()

    session = pteron.load(digits).session()
    with pytest.raises(pteron.ArgumentError, match="this thread is using it"):
        session.run({"image": X}, trace=Busy())
    assert session.run({"image": X})["logits"].shape == (3, 10)


def test_buffers_are_the_ones_that_were_checked(digits: Path) -> None:
    """A mapping that makes its arrays when asked gives others the second time."""

    class Lazy(Mapping[str, Any]):
        def __init__(self) -> None:
            self.made: list[Any] = []

        def __getitem__(self, name: str) -> Any:
            self.made.append(np.empty((3, 10), np.float32 if not self.made else np.uint8))
            return self.made[-1]

        def __iter__(self) -> Iterator[str]:
            return iter(("logits",))

        def __len__(self) -> int:
            return 1

    lazy = Lazy()
    with pteron.load(digits) as model:
        got = model.run({"image": X}, out=lazy)
        assert got["logits"] is lazy.made[0] and len(lazy.made) == 1
        np.testing.assert_array_equal(got["logits"], model(X))

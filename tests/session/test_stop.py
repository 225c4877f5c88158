"""Runs that would go on for years end at their deadline or cancel."""

from __future__ import annotations

import _thread
import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from pteron.export.emit import emit_bytes
from pteron.export.plan import plan
from pteron.export.program import Block, Instr, Method, Port, Program, Value
from pteron.schema.errors import LimitError

runtime = pytest.importorskip(
    "pteron.runtime.model", reason="needs the built module pteron._pteron"
)

TIMEOUT_S, ENDED_S = 0.05, 1.0
X = np.ones(4, np.float32)


def model(values: list[Value], blocks: list[Block], threads: int = 1) -> Any:
    inputs = tuple(Port(v.name, i) for i, v in enumerate(values) if v.storage == "input")
    outputs = tuple(Port(v.name, i) for i, v in enumerate(values) if v.storage == "output")
    method = Method("main", inputs, outputs, (0, len(values)), 0)
    program = Program("test", values=tuple(values), blocks=tuple(blocks), methods=(method,))
    return runtime.load(emit_bytes(plan(program)), threads=threads)


def endless(elements: int = 4) -> Any:
    """A loop whose body has no instruction and whose condition stays true."""
    values = [
        Value("x", "f32", (elements,), "input", 0),
        Value("go", "bool", (), "input", 1),
        Value("y", "f32", (elements,), "output", 0),
        Value("i", "i64", (), "param"),
        Value("carried", "f32", (elements,), "param"),
    ]
    main = Block((Instr("loop", (None, 1, 0), (2,), {"body": 1}),))
    return model(values, [main, Block((), (3, 4), (1, 0))])


@pytest.mark.parametrize("elements", [4, 1 << 22])
def test_a_loop_without_instructions_ends_at_the_deadline(elements: int) -> None:
    m, x = endless(elements), np.ones(elements, np.float32)
    m.run({"x": x, "go": False})
    begin = time.monotonic()
    with pytest.raises(LimitError, match=r"op 0 \(loop\): the deadline has passed"):
        m.run({"x": x, "go": True}, timeout_s=TIMEOUT_S)
    assert time.monotonic() - begin < ENDED_S
    assert np.array_equal(m.run({"x": x, "go": False})["y"], x)


def test_the_interrupt_key_ends_a_run_and_the_handler_is_put_back() -> None:
    m, before = endless(), signal.getsignal(signal.SIGINT)
    threading.Timer(TIMEOUT_S, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        m.run({"x": X, "go": True}, timeout_s=60)
    assert time.monotonic() - begin < ENDED_S
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):  # of Python alone, again
        _thread.interrupt_main()
        time.sleep(1)
    assert np.array_equal(m.run({"x": X, "go": False})["y"], X)


def test_extents_beside_a_zero_count() -> None:
    values = [
        Value("x", "f32", (4,), "input", 0),
        Value("z", "f32", (1 << 41, 0)),
        Value("y", "f32", (4,), "output", 0),
    ]
    with pytest.raises(LimitError, match=r"more than 2\^40 elements"):
        model(values, [Block((Instr("copy", (0,), (2,)),))])(X)

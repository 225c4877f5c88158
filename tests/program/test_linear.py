"""Verifying and preparing take time linear in the program's bytes: the slowest programs that we know, small and twice as large.

Times are of this thread's work, the least of several tries: the ratio of the two sizes is the test; the bound itself
(50 ms a MB on a quiet machine) is given five times over.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest
from program.samples import one_method
from program.worst import WORST

from pteron.export.file.emit import emit_bytes
from pteron.export.program import Block, Instr, State, Value

runtime = pytest.importorskip(
    "pteron.runtime.model", reason="needs the built module pteron._pteron"
)
pytestmark = pytest.mark.alone

SIZES = {"deep_expressions": 700, "deep_counts": 700}
BOUND_S = 5 * 0.050 / (1 << 20)
"""Seconds a byte."""


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    """The exporter recurses into sizes; the runtime does not."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    yield
    sys.setrecursionlimit(before)


def seconds(data: bytes) -> float:
    """Of this thread, until the program is prepared or refused."""
    from pteron._pteron import ffi, lib
    from pteron.runtime.memory import Memory, new_error

    file = Memory(len(data))
    ffi.memmove(file.pointer, data, len(data))
    error, size, sizes = (
        new_error(),
        ffi.new("size_t *"),
        ffi.new("pte_sizes *", {"size": ffi.sizeof("pte_sizes")}),
    )
    program, session = ffi.new("pte_program **"), ffi.new("pte_session **")
    twos = ffi.new("int64_t[8]", [2] * 8)
    shapes = ffi.new("int64_t *[4096]", [twos] * 4096)
    options = ffi.new("pte_prepare_options *", {"size": ffi.sizeof("pte_prepare_options")})
    options.shapes = ffi.cast("const int64_t *const *", shapes)
    options.max_bytes = 1 << 28
    begin = time.thread_time()
    if lib.pte_program_size(file.pointer, len(data), size, error):
        return time.thread_time() - begin
    memory = Memory(size[0])
    if lib.pte_program_open(file.pointer, len(data), ffi.NULL, memory.as_c(), program, error):
        return time.thread_time() - begin
    if lib.pte_session_size(program[0], 0, size, error):
        return time.thread_time() - begin
    tables = Memory(size[0])
    if lib.pte_session_open(program[0], 0, tables.as_c(), session, error):
        return time.thread_time() - begin
    if not lib.pte_prepare_size(session[0], options, sizes, error):
        rooms = Memory(sizes.arena_bytes), Memory(sizes.state_bytes)
        _ = lib.pte_session_prepare(session[0], options, rooms[0].as_c(), rooms[1].as_c(), 1, error)
    return time.thread_time() - begin


def program_bytes(data: bytes) -> int:
    table = np.frombuffer(data[: 64 * 8], np.uint64)
    return next(int(table[i + 2]) for i in range(8, 64, 8) if int(table[i]) & 0xFFFFFFFF == 2)


@pytest.mark.parametrize("name", WORST)
def test_twice_the_bytes_take_twice_the_time(name: str) -> None:
    n = SIZES.get(name, 2000)
    small, large = (emit_bytes(WORST[name](k)) for k in (n, 2 * n))
    times = [min(seconds(data) for _ in range(5)) for data in (small, large)]
    growth = program_bytes(large) / program_bytes(small)
    assert times[1] < 1.6 * growth * times[0] + 0.001, (times, growth)
    assert times[1] < BOUND_S * program_bytes(large) + 0.005, (times[1], program_bytes(large))


def test_asking_after_each_state_takes_time_linear_in_their_number() -> None:
    """A walk over all values for each would take 8 seconds."""
    from pteron._pteron import ffi, lib
    from pteron.runtime.program import Program as Opened

    count = 50_000
    values = [Value("x", "f32", (2,), "input", 0)]
    values += [Value("", "f32", (2,), "state", k) for k in range(count)]
    states = tuple(State("s", "f32", (2,)) for _ in range(count))
    values.append(Value("y", "f32", (2,), "output", 0))
    main = Block((Instr("copy", (0,), (count + 1,)),))
    opened = Opened(emit_bytes(one_method(values, [main], [0], [count + 1], states=states)))
    info = ffi.new("pte_port_info *", {"size": ffi.sizeof("pte_port_info")})
    begin = time.thread_time()
    assert all(lib.pte_program_state(opened.pointer, 0, i, info) == 0 for i in range(count))
    assert lib.pte_program_state(opened.pointer, 0, count, info) != 0
    assert time.thread_time() - begin < 2

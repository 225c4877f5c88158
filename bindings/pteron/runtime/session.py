"""A session: one method of a program, its states, its memory, and its last preparation."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, TypeVar

import numpy as np

from pteron.schema.errors import AbsentError, ArgumentError, PlacementWarning

from .._pteron import ffi, lib
from . import context
from .arguments import integer, kind_of, named, nanoseconds, not_pickled
from .arrays import Array, as_array, buffers, empty_of, flat, from_bytes
from .cpu import MAX_THREADS, Machine, allowed, described
from .delegates import Placement, placements
from .memory import Memory, check, new_error, new_struct
from .pool import Pool
from .program import Bytes, PortInfo, Program
from .turn import Turn

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class TraceEvent:
    """One executed instruction; times in nanoseconds of time.monotonic_ns."""

    instr: int
    op: int
    node: int
    begin_ns: int
    end_ns: int


@dataclasses.dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of a preparation: all of the arena, of which planned values, scratch, and what kernels keep for all runs (plans, tables,
    weights as the kernels take them); the states; and what each run sets to 0 first, because nothing proves that the program writes
    it before it reads it (none of what the exporter makes, but for what depends on sizes that data decides)."""

    arena_bytes: int
    planned_bytes: int
    scratch_bytes: int
    state_bytes: int
    cleared_bytes: int = 0
    kept_bytes: int = 0


class Session:
    """Runs one method. One run at a time: a lock keeps threads apart; make a session a thread to run at once.

    `close()`, or `with`, gives its memory back at once; otherwise it goes with the object.

    Args:
        program: Shared with other sessions.
        method: Name, or None for the first.
        threads: Threads of a run, this one included.
        cpu: Features allowed, for tests; None asks the processor.
        max_bytes: Cap on memory; 0 is none.
        max_extent: Capacity of dimensions that only the data decides; 0 is the runtime's default.
        machine: Caches that work is cut for, for tests; None asks the processor.
    """

    def __init__(
        self,
        program: Program,
        method: str | None = None,
        *,
        threads: int = 1,
        cpu: int | None = None,
        max_bytes: int = 0,
        max_extent: int = 0,
        machine: Machine | None = None,
    ) -> None:
        if not isinstance(program, Program):
            raise ArgumentError(f"program: expected a pteron.Program, got {kind_of(program)}")
        held, pointer = program.held, program.pointer  # another thread may close it meanwhile
        self.threads = threads = integer("threads", threads, 1, MAX_THREADS)
        self.program, self.info = program, program.method(method)
        self._pool = Pool.shared(threads) if threads > 1 else None
        self._cpu, self._machine = allowed(cpu), described(machine)
        self._caps = (
            integer("max_bytes", max_bytes, 0, 2**64 - 1),
            integer("max_extent", max_extent, 0, 2**63 - 1),
        )
        self._lock = Turn()
        self._prepared: Any = None
        self._arena, self._state = Memory(0), Memory(0)
        self.sizes = Sizes(0, 0, 0, 0)
        size, error, out = ffi.new("size_t *"), new_error(), ffi.new("pte_session **")
        check(lib.pte_session_size(pointer, self.info.index, size, error), error)
        self._memory = Memory(size[0])
        status = lib.pte_session_open(pointer, self.info.index, self._memory.as_c(), out, error)
        check(status, error)
        keep = (held, self._memory)  # closing reads both
        self._pointer = ffi.gc(out[0], lambda s, close=lib.pte_session_close, _=keep: close(s))
        self._closed = False
        self._placements = self._watch(placements(self.pointer), stacklevel=3)

    @property
    def pointer(self) -> Any:
        """The C session.

        Raises:
            AbsentError: it was closed.
        """
        if self._closed:
            raise AbsentError(f"{self.info.name}: the session was closed; make another")
        return self._pointer

    def close(self) -> None:
        """Waits for the run under way and gives the session's memory, states and delegates back. Twice does nothing."""
        with self._lock:
            if not self._closed:
                self._closed, self._prepared = True, None
                ffi.release(self._pointer)
                self._pointer = self._pool = None
                self._memory = self._arena = self._state = Memory(0)

    def __reduce__(self) -> Any:
        not_pickled(self, "load the file where it is wanted")

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def inputs(self) -> tuple[PortInfo, ...]:
        """Name, dtype and shape of each input, in the order of a call's arguments."""
        return self.info.inputs

    @property
    def outputs(self) -> tuple[PortInfo, ...]:
        """Name, dtype and shape of each output, in the order of a call's results."""
        return self.info.outputs

    @property
    def states(self) -> States:
        """The method's states by name. Not kept: a cycle would hold files and delegates' processes until the garbage collector runs."""
        return States(self)

    def run(
        self,
        feeds: Mapping[str, Any],
        *,
        timeout_s: float | None = None,
        trace: list[TraceEvent] | None = None,
        out: Mapping[str, Array] | None = None,
    ) -> dict[str, Array]:
        """Runs once.

        Args:
            feeds: An array (or anything with __dlpack__ or __array__) for every input.
            timeout_s: Ends the run with LimitError after so many seconds, and about 10 ms, whatever it is doing.
            trace: Gets one event for each instruction executed.
            out: Arrays by name that outputs are written into, of their dtype and shape (where the data decides an extent:
                of the most it can be); what they hold is undefined after an error.

        Returns:
            Outputs by name, dense arrays that the caller owns; those in `out` where it has them.

        Raises:
            ArgumentError: names, dtypes or shapes do not fit; DataError, LimitError, DelegateError: while running.
            KeyboardInterrupt: the interrupt key, in the main thread; it ends the run as soon as the timeout would.
        """
        arrays = self._arrays(feeds)
        rooms = buffers({} if out is None else out, self.info.outputs, arrays)
        if trace is not None and not isinstance(trace, list):
            raise ArgumentError(f"trace: expected a list to append to, got {kind_of(trace)}")
        with self._lock:
            self._prepare(arrays)
            outputs = self._run(arrays, rooms, timeout_s, trace)
            if self._placements:
                self._placements = self._watch(placements(self.pointer), stacklevel=3)
            return outputs

    def prepare(self, shapes: Mapping[str, Sequence[int]]) -> Sizes:
        """Prepares for these input shapes without running; shape inputs count as zeros.

        Returns:
            The bytes it took.

        Raises:
            ArgumentError: names or shapes do not fit; LimitError: `max_bytes` are too few.
        """
        self._names(named("prepare", shapes, "shapes"))
        arrays = [empty_of(shapes[p.name], p) for p in self.info.inputs]
        with self._lock:
            self._prepare(arrays)
        return self.sizes

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where the parts of the method that were compiled for delegates run, now: one that fails is left for the CPU until
        the session is closed."""
        with self._lock:
            return placements(self.pointer)

    @property
    def position(self) -> int:
        """How many tokens the session's context holds.

        Raises:
            AbsentError: the program keeps none; export it with max_context.
        """
        return self._context()[0]

    @property
    def room(self) -> int:
        """How many tokens the context has room for.

        Raises:
            AbsentError: the program keeps none.
        """
        return self._context()[1]

    def rewind(self, position: int) -> None:
        """Forgets the tokens from `position` on.

        Raises:
            ArgumentError: there are fewer, or a state does not say which part of it is of which token.
        """
        with self._lock:
            self._ready()
            context.rewind(self.pointer, integer("position", position, 0, 2**63 - 1))

    def save(self) -> bytes:
        """What the session knows; of a context the part in use."""
        with self._lock:
            self._ready()
            return context.save(self.pointer)

    def restore(self, data: Bytes) -> None:
        """Goes on where `save` was called, with the same bits.

        Raises:
            DataError: changed bytes, those of another program or method, more tokens than there is room for.
        """
        with self._lock:
            self._ready()
            context.restore(self.pointer, data)

    def fork(self) -> Session:
        """Another session that goes on from here; both have memory of their own."""
        cpu = self._cpu if self._cpu != lib.PTE_CPU_PORTABLE else 0
        twin = Session(
            self.program,
            self.info.name,
            threads=self.threads,
            cpu=cpu,
            max_bytes=self._caps[0],
            max_extent=self._caps[1],
        )
        twin._machine = self._machine
        twin.restore(self.save())
        return twin

    # --- private -------------------------------------------------------------------------------

    def _context(self) -> tuple[int, int]:
        """Tokens held, and room; a program without states is not prepared to learn that it has neither."""
        with self._lock:
            if not self.info.states and self.pointer:
                raise AbsentError(f"{self.info.name}: {context.ABSENT}")
            self._ready()
            return context.position(self.pointer)

    def _ready(self) -> None:
        """Prepares a session that never ran, for the smallest sizes: states have memory then."""
        if self._prepared is None and not self._closed:
            shapes = (list(p.at({})) for p in self.info.inputs)
            self._prepare([empty_of(s, p) for s, p in zip(shapes, self.info.inputs)])

    def _arrays(self, feeds: Mapping[str, Any]) -> list[Array]:
        self._names(named("run", feeds, "inputs"))
        return [as_array(feeds[p.name], p) for p in self.info.inputs]

    def _names(self, given: Mapping[str, Any]) -> None:
        wanted = [p.name for p in self.info.inputs]
        unknown, missing = sorted(set(given) - set(wanted)), [n for n in wanted if n not in given]
        if unknown or missing:
            parts = [f"missing {', '.join(missing)}"] if missing else []
            parts += [f"no input is called {', '.join(unknown)}"] if unknown else []
            raise ArgumentError(
                f"{self.info.name}: expected inputs {', '.join(wanted) or 'none'}; {'; '.join(parts)}"
            )

    def _watch(self, now: tuple[Placement, ...], stacklevel: int) -> tuple[Placement, ...]:
        """Warns of parts that are on the CPU for the first time, where their policy is to warn."""
        before = getattr(self, "_placements", ())
        for p in now:
            if not p.placed and p.policy == "warn" and p not in before:
                warnings.warn(
                    f"{p.reason}; its part runs on the CPU, with the same bytes",
                    PlacementWarning,
                    stacklevel=stacklevel + 1,
                )
        return now

    def _prepare(self, arrays: Sequence[Array]) -> None:
        key = tuple(
            (a.shape, a.tobytes() if p.shape_input else b"")
            for a, p in zip(arrays, self.info.inputs)
        )
        if key == self._prepared:
            return
        self._prepared = None
        options, keep = self._options(arrays)
        sizes, error = new_struct("pte_sizes"), new_error()
        check(lib.pte_prepare_size(self.pointer, options, sizes, error), error, self.info.name)
        if self._arena.size < sizes.arena_bytes:
            self._arena = self._take(Memory, sizes.arena_bytes)
        if self._state.size != sizes.state_bytes:
            self._state = self._take(Memory, sizes.state_bytes)
        status = lib.pte_session_prepare(
            self.pointer, options, self._arena.as_c(), self._state.as_c(), 0, error
        )
        check(status, error, self.info.name)
        self.sizes = Sizes(
            sizes.arena_bytes,
            sizes.planned_bytes,
            sizes.scratch_bytes,
            sizes.state_bytes,
            sizes.cleared_bytes,
            sizes.kept_bytes,
        )
        self._prepared = key
        del keep

    def _take(self, make: Callable[[int], T], size_bytes: int) -> T:
        try:
            return make(size_bytes)
        except (MemoryError, ValueError):  # ValueError: more than any array can have
            raise MemoryError(
                f"{self.info.name}: the system does not give {size_bytes:,} bytes for inputs of these sizes; "
                "max_extent bounds what only a run counts"
            ) from None

    def _options(self, arrays: Sequence[Array]) -> tuple[Any, Any]:
        options = new_struct("pte_prepare_options")
        shapes = [ffi.new("int64_t[]", list(a.shape) or [0]) for a in arrays]
        values = [
            ffi.new("int64_t[]", a.astype(np.int64).ravel().tolist() or [0])
            if p.shape_input
            else ffi.NULL
            for a, p in zip(arrays, self.info.inputs)
        ]
        shape_rows = ffi.new("int64_t *[]", shapes or [ffi.NULL])
        value_rows = ffi.new("int64_t *[]", values or [ffi.NULL])
        options.threads, options.cpu, options.machine = self.threads, self._cpu, self._machine
        options.shapes = ffi.cast("const int64_t *const *", shape_rows)
        options.values = ffi.cast("const int64_t *const *", value_rows)
        options.pool = self._pool.pointer if self._pool else ffi.NULL
        options.max_bytes, options.max_extent = self._caps
        return options, (shapes, values, shape_rows, value_rows)

    def _run(
        self,
        arrays: Sequence[Array],
        given: Mapping[str, Array],
        timeout_s: float | None,
        trace: list[TraceEvent] | None,
    ) -> dict[str, Array]:
        error = new_error()
        outputs = [self._room(i, given.get(p.name)) for i, p in enumerate(self.info.outputs)]
        inputs = [ffi.from_buffer(a) if a.nbytes else ffi.NULL for a in map(flat, arrays)]
        rooms = [ffi.from_buffer(o, require_writable=True) for o in outputs]
        c_inputs = ffi.new("void *[]", [ffi.cast("void *", i) for i in inputs] or [ffi.NULL])
        c_outputs = ffi.new("void *[]", [ffi.cast("void *", r) for r in rooms] or [ffi.NULL])
        options, keep = _run_options(timeout_s, trace)
        with _interruptible(options):
            status = lib.pte_session_run(
                self.pointer, ffi.cast("const void *const *", c_inputs), c_outputs, options, error
            )
        del keep
        _raise_caught()
        advice = context.full(self.pointer) if status == lib.PTE_BAD_DATA else ""
        check(status, error, self.info.name, advice)
        made = {p.name: self._shaped(i, outputs[i]) for i, p in enumerate(self.info.outputs)}
        return made | {n: a for n, a in given.items() if a.shape == made[n].shape}

    def _room(self, index: int, given: Array | None) -> Array:
        """Bytes for an output: new ones, or those of an array that the caller gave."""
        extents = new_struct("pte_extents")
        check(lib.pte_session_output(self.pointer, index, extents))
        if given is None or not given.nbytes:
            return self._take(_bytes, max(int(extents.size_bytes), 1))
        shape = tuple(int(extents.shape[a]) for a in range(extents.rank))
        if given.shape != shape:
            raise ArgumentError(
                f"out {self.info.outputs[index].name}: expected shape {list(shape)}, got {list(given.shape)}"
            )
        return given.reshape(-1).view(np.uint8)

    def _shaped(self, index: int, room: Array) -> Array:
        extents = new_struct("pte_extents")
        check(lib.pte_session_output(self.pointer, index, extents))
        shape = tuple(int(extents.shape[a]) for a in range(extents.rank))
        return from_bytes(room, int(extents.dtype), shape)


def _bytes(count: int) -> Array:
    return np.empty(count, np.uint8)


class States(MutableMapping[str, Array]):
    """The session's states by name, in ONNX layout: read, assign, `reset()`. Never while a run goes on: the session's lock."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._index = {p.name: i for i, p in enumerate(session.info.states)}

    def reset(self) -> None:
        """Gives every state its initial value."""
        error = new_error()
        with self._session._lock:
            check(lib.pte_session_reset(self._session.pointer, error), error)

    def __getitem__(self, name: str) -> Array:
        with self._session._lock:
            return self._get(name)

    def _get(self, name: str) -> Array:
        extents, error = self._extents(name), new_error()
        room = np.empty(max(int(extents.size_bytes), 1), np.uint8)
        status = lib.pte_session_get_state(
            self._session.pointer,
            self._index[name],
            ffi.from_buffer(room, require_writable=True),
            extents.size_bytes,
            error,
        )
        check(status, error, name)
        shape = tuple(int(extents.shape[a]) for a in range(extents.rank))
        return from_bytes(room, int(extents.dtype), shape)

    def __setitem__(self, name: str, value: Any) -> None:
        with self._session._lock:
            self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        extents, error = self._extents(name), new_error()
        port = self._session.info.states[self._index[name]]
        array = as_array(value, port)
        want = tuple(int(extents.shape[a]) for a in range(extents.rank))
        if array.shape != want:
            raise ArgumentError(f"state {name}: expected shape {want}, got {array.shape}")
        data = flat(array)
        status = lib.pte_session_set_state(
            self._session.pointer, self._index[name], ffi.from_buffer(data), data.nbytes, error
        )
        check(status, error, name)

    def __delitem__(self, name: str) -> None:
        raise ArgumentError(f"state {name}: states cannot be deleted; use reset()")

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def _extents(self, name: str) -> Any:
        if name not in self._index:
            raise KeyError(f"state {name!r}: the method has {', '.join(self._index) or 'none'}")
        extents = new_struct("pte_extents")
        check(lib.pte_session_state(self._session.pointer, self._index[name], extents), where=name)
        return extents


@contextlib.contextmanager
def _interruptible(options: Any) -> Iterator[None]:
    """Within it, the interrupt key cancels the run; KeyboardInterrupt follows at once, before the run's own error."""
    watched = ffi.NULL
    if threading.current_thread() is threading.main_thread():
        watched = lib.pteron_interrupt_watch()
    options.cancel = watched
    try:
        yield
    finally:
        if watched:
            lib.pteron_interrupt_leave()


def _run_options(timeout_s: float | None, trace: list[TraceEvent] | None) -> tuple[Any, Any]:
    options = new_struct("pte_run_options")
    keep: list[Any] = []
    now = ffi.addressof(lib, "pte_host_now")
    if timeout_s is not None:
        wait = nanoseconds("timeout_s", timeout_s)
        options.now, options.deadline_ns = now, lib.pte_host_now(ffi.NULL) + wait
    if trace is not None:
        handle = ffi.new_handle(trace)
        tracer = new_struct("pte_tracer", self=handle, now=now)
        tracer.event = lib.pteron_trace
        options.tracer = tracer
        keep += [handle, tracer]
    return options, keep


_caught = threading.local()
"""What a callback raised (the interrupt key, mostly): C cannot pass it on, the run's end does."""


def _catch(kind: type[BaseException], error: BaseException, traceback: Any) -> None:
    _caught.error = error


def _raise_caught() -> None:
    error = _caught.__dict__.pop("error", None)
    if error is not None:
        raise error


@ffi.def_extern(onerror=_catch)  # type: ignore[untyped-decorator]
def pteron_trace(handle: Any, instr: int, op: int, node: int, begin: int, end: int) -> None:
    ffi.from_handle(handle).append(TraceEvent(instr, op, node, begin, end))

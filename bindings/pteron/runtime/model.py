"""What most people use: a loaded program and a session of it, called like a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pteron.schema.errors import ArgumentError
from pteron.schema.printable import printable

from . import cpu as processor
from .arguments import flag, not_pickled
from .arrays import Array
from .delegates import Delegate, Placement
from .program import Bytes, MethodInfo, PortInfo, Program
from .session import Session, Sizes, States, TraceEvent
from .tokenizer import Tokenizer


class Model:
    """A program and one session of it.

    `model(x)` gives the output, or a tuple of them; `model.run({...})` a dict. For another thread or another method:
    `model.session("decode")` shares the program and has states and memory of its own. `close()`, or `with`, gives memory and file
    back at once; sessions made by `session()` stay open until they are closed.
    """

    def __init__(self, program: Program, session: Session, options: dict[str, Any]) -> None:
        self.program, self._session, self._options = program, session, options
        self._tokenizer: Tokenizer | None = None

    def __call__(self, *args: Any, **named: Any) -> Array | tuple[Array, ...]:
        """Runs with inputs by position or name.

        Raises:
            ArgumentError: too many, missing, unknown or unfitting inputs.
        """
        names = [p.name for p in self._session.info.inputs]
        if len(args) > len(names):
            raise ArgumentError(
                f"{self._session.info.name}: takes {len(names)} inputs ({', '.join(names)}), got {len(args)}"
            )
        twice = sorted(set(names[: len(args)]) & set(named))
        if twice:
            raise ArgumentError(f"input {', '.join(twice)}: given by position and by name")
        outputs = tuple(self.run(dict(zip(names, args)) | named).values())
        return outputs[0] if len(outputs) == 1 else outputs

    def run(
        self,
        feeds: Mapping[str, Any],
        *,
        timeout_s: float | None = None,
        trace: list[TraceEvent] | None = None,
        out: Mapping[str, Array] | None = None,
    ) -> dict[str, Array]:
        """Outputs by name. See Session.run."""
        return self._session.run(feeds, timeout_s=timeout_s, trace=trace, out=out)

    def close(self) -> None:
        """Closes the session, then the program. Twice does nothing."""
        self._session.close()
        self.program.close()

    def __reduce__(self) -> Any:
        not_pickled(self, "load the file where it is wanted; session() makes another for a thread")

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def session(self, method: str | None = None) -> Session:
        """Another session of the same program, with this model's options."""
        return Session(self.program, method, **self._options)

    @property
    def inputs(self) -> tuple[PortInfo, ...]:
        """Name, dtype and shape of each input, in the order of a call's arguments."""
        return self._session.inputs

    @property
    def outputs(self) -> tuple[PortInfo, ...]:
        """Name, dtype and shape of each output, in the order of a call's results."""
        return self._session.outputs

    @property
    def info(self) -> MethodInfo:
        """The method's name, inputs, outputs and states."""
        return self._session.info

    @property
    def states(self) -> States:
        return self._session.states

    @property
    def session_of_calls(self) -> Session:
        """The session that calls of the model run."""
        return self._session

    @property
    def position(self) -> int:
        """How many tokens the context holds. See Session.position."""
        return self._session.position

    @property
    def room(self) -> int:
        """How many tokens the context has room for."""
        return self._session.room

    def rewind(self, position: int) -> None:
        """Forgets the tokens from `position` on. See Session.rewind."""
        self._session.rewind(position)

    def save(self) -> bytes:
        """What the session knows, as bytes. See Session.save."""
        return self._session.save()

    def restore(self, data: Bytes) -> None:
        """Goes on where `save` was called. See Session.restore."""
        self._session.restore(data)

    def fork(self) -> Session:
        """Another session that goes on from here. See Session.fork."""
        return self._session.fork()

    @property
    def tokenizer(self) -> Tokenizer:
        """Text to tokens and back, where the program was exported with a tokenizer.

        Raises:
            AbsentError: it was not.
            ProgramError: the tokenizer's bytes have changed.
        """
        if self._tokenizer is None:
            self._tokenizer = Tokenizer(self.program)
        return self._tokenizer

    @property
    def placements(self) -> tuple[Placement, ...]:
        """Where the parts compiled for delegates run. See Session.placements."""
        return self._session.placements

    @property
    def sizes(self) -> Sizes:
        """Bytes of the last preparation."""
        return self._session.sizes

    def __repr__(self) -> str:
        info = self._session.info
        ports = ", ".join(map(str, info.inputs)), ", ".join(map(str, info.outputs))
        return f"<pteron.Model {printable(info.name)}: {ports[0]} -> {ports[1]}>"


def load(
    source: str | Path | Bytes,
    *,
    method: str | None = None,
    threads: int | None = None,
    cpu: int | None = None,
    externals: Mapping[str, str | Path | Bytes] | None = None,
    delegates: Sequence[str | Delegate] | None = None,
    max_bytes: int = 0,
    max_extent: int = 0,
    copy: bool = False,
    check: bool = False,
) -> Model:
    """Opens a `.pte` by path (mapped, not read) or from bytes.

    All but the weights is copied before it is checked. Weights are used in place: who writes the file or the bytes while
    they are in use changes results, nothing else, and who truncates a mapped file ends the process.

    Args:
        source: Path or bytes.
        method: Method that calls run; None is the first.
        threads: None: PTERON_NUM_THREADS, or as many as this process may use (its affinity, its control group's quota).
        cpu: CPU features to allow, for tests; None asks the processor.
        externals: Data files by the names the program gives them; None looks beside the program.
        delegates: Those that may run parts compiled for them, by name; None permits all of this build, () none.
        max_bytes, max_extent: Caps; see Session.
        copy: Reads files into memory, and copies bytes, so that nothing that happens to them later matters.
        check: Hashes every byte first, weights too, against the digests in the file. Without it the weights are not read: a
            changed one changes results, and never does anything else.

    Raises:
        DelegateError: a part must run on a delegate that is not here; where a fallback runs instead and the program asks
            for a warning, a PlacementWarning says why.
        ArgumentError: no such method or delegate, no such number of threads; neither a path nor bytes.
        FileError: no such file; OSError: it cannot be read.
        ProgramError: not a program, a damaged one (of its weights: `check`), or one that this runtime is too old for.
    """
    count, check = processor.threads(threads), flag("check", check)
    program = Program(source, externals, delegates, copy=copy)
    if check:
        program.check_digests()
    options = {
        "threads": count,
        "cpu": cpu,
        "max_bytes": max_bytes,
        "max_extent": max_extent,
    }
    return Model(program, Session(program, method, **options), options)  # type: ignore[arg-type]

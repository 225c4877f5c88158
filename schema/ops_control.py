"""Control flow and delegates: run by the session, not by a kernel. How to read a row: schema/row.py."""

from __future__ import annotations

from .row import I64, A, Block, Bool, op


@op(id=60, since=1, shape="[] -> [*]...")
def if_(condition: Bool, *, then_block: Block, else_block: Block) -> tuple[A, ...]:
    """Runs one block; its results become the outputs. A counted axis of an output takes the result's extent."""
    raise NotImplementedError


@op(id=61, since=1, shape="[] [] [*]... -> [*]...")
def loop(
    trips: I64 | None = None, condition: Bool | None = None, *carried: A, body: Block
) -> tuple[A, ...]:
    """ONNX Loop. The body's params are (iteration i64, carried ...), its results (go on, carried ..., rows ...); a row is
    written to row `iteration` of its output, whose axis 0 is a counted dimension or exactly the trips. The body's results
    are values of their own, never params. LIMIT beyond the caps on iterations or the capacity."""
    raise NotImplementedError


@op(id=62, since=1, shape="[*]... -> [*]...")
def call(*xs: A, body: Block) -> tuple[A, ...]:
    """Runs a block with params bound to xs, results bound to the outputs, without copies: a repeated layer is one block."""
    raise NotImplementedError


@op(id=63, since=1, shape="[*]... -> [*]...")
def delegate(*xs: A, index: int) -> tuple[A, ...]:
    """Hands xs to entry `index` of the program's delegates."""
    raise NotImplementedError

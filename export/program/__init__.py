"""The Program: what lowering makes and emit writes, frozen dataclasses that mirror schema/program.fbs.

Indices are positions in tuples: a value's index is its position in `Program.values`, a block's in `Program.blocks`.
Emit flattens lists into the file's side tables and interns strings, expressions and constants; nothing else differs.
A pass is a function `Program -> Program`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..graph.weights import Elements, whole
from ..sizes import NONE, Check, Dim, Extent


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """What `size` codes along `axis` share: an element of `parts` for each block, of which the last may be shorter.

    `nested`: what `parts` were decoded from, where they are few bits themselves."""

    parts: NDArray[Any]
    axis: int
    size: int
    nested: Coded | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.parts.dtype


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """What a float constant was decoded from: (codes - zero) * scale + shift, each rounded to f32, at last to `dtype`; all
    broadcast to one shape.

    A scale, zero point or shift of a block is spread over its elements only when somebody asks: that takes more than the codes.
    """

    codes: NDArray[Any]
    scale: Elements | Blocks | None = None
    zero: Elements | Blocks | None = None
    dtype: str = "f32"
    shift: Elements | Blocks | None = None
    format: str = ""  # codes are places among the levels of this format of schema/formats.py
    origin: Coded | None = None  # with blocks, of which these are a view where they were spread


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """Stored bytes: the elements row-major (layout strided) or the packed bytes (uint8; panels, taps), or how to get them.

    `groups`: of a conv weight in panels, whose groups are padded to 16 rows apart; a value of it says the same."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    elements: Elements
    layout: str = "strided"
    format: str = "plain"
    groups: int = 1
    coded: Coded | None = None  # for passes that can store the codes; the file does not have it

    @property
    def array(self) -> NDArray[Any]:
        """All of it in memory: for what is small, and for tests."""
        return whole(self.elements)


PANEL_TOKENS: Final = 16
"""Side by side in a state whose role is panels."""


@dataclasses.dataclass(frozen=True, slots=True)
class State:
    """Memory that outlives a run; `initial` is a constant's index or None (zeros). role: value, position, tokens
    (a row each along `axis`) or panels (16 each along `axis`, told apart by the last one). `reach`: of a position how many tokens
    there may be, 0: as many as there are rows; of tokens and panels that are a ring how many behind the position a run reads."""

    name: str
    dtype: str
    shape: tuple[Extent, ...]
    initial: int | None = None
    layout: str = "strided"
    role: str = "value"
    axis: int = 0
    reach: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class Value:
    """One tensor. storage: planned, input, output, constant, state, view or param; `base` is what it lies in.

    `strides` None means row-major and dense. `above`: values (planned, of the same method) that end below this one.
    """

    name: str
    dtype: str
    shape: tuple[Extent, ...]
    storage: str = "planned"
    base: int = 0
    strides: tuple[Extent, ...] | None = None
    offset: Extent = 0
    above: tuple[int, ...] = ()
    layout: str = "strided"
    format: str = "plain"
    groups: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Instr:
    """One instruction: an operator's name, values (None: absent), attributes by name, the debug node it came from."""

    op: str
    inputs: tuple[int | None, ...]
    outputs: tuple[int | None, ...]
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    node: int = NONE


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    instrs: tuple[Instr, ...]
    params: tuple[int, ...] = ()
    results: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Port:
    name: str
    value: int


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """`values` is the half-open range of its values in Program.values; `block` its main block."""

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    values: tuple[int, int]
    block: int


@dataclasses.dataclass(frozen=True, slots=True)
class Delegate:
    """A subgraph compiled for a delegate; policy: allow, warn or forbid falling back to block `fallback`."""

    name: str
    target: str
    blob: bytes
    fallback: int | None = None
    policy: str = "allow"


GUARD: Final = "example"
"""`op_type` of what only compares an input with the example that the program was made for: nobody reads it, and it stays."""


@dataclasses.dataclass(frozen=True, slots=True)
class DebugNode:
    """What the user wrote: node name, ONNX operator, file:line where known."""

    name: str
    op_type: str
    source: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Placement:
    """Where a node of the model went when delegates were asked: one of them, or "cpu", and why."""

    method: str
    name: str
    op_type: str
    delegate: str
    reason: str
    macs: int = 0  # multiply-accumulates of a run


@dataclasses.dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one method at given sizes: its plan, the most that is alive at one time (no plan needs less), its states.
    Scratch and border copies are the runtime's and come on top."""

    planned_bytes: int
    live_bytes: int
    state_bytes: int

    @property
    def ratio(self) -> float:
        return self.planned_bytes / self.live_bytes if self.live_bytes else 1.0


@dataclasses.dataclass(frozen=True, slots=True)
class Program:
    model: str
    dims: tuple[Dim, ...] = ()
    checks: tuple[Check, ...] = ()
    constants: tuple[Constant, ...] = ()
    states: tuple[State, ...] = ()
    values: tuple[Value, ...] = ()
    blocks: tuple[Block, ...] = ()
    methods: tuple[Method, ...] = ()
    delegates: tuple[Delegate, ...] = ()
    nodes: tuple[DebugNode, ...] = ()
    activations: str = "f32"
    placements: tuple[
        Placement, ...
    ] = ()  # in the debug segment; empty where no delegate was asked
    memory: tuple[Memory, ...] = ()  # of each method at the hints, once it is planned
    text: bytes = b""  # the text segment, of export/text; empty: none

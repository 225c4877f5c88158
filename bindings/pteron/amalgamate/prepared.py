"""A program as the runtime prepares it here: verified, proved for its sizes, its memory and ports measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from pteron.export.plan.measure import Sized
from pteron.export.program import Program
from pteron.schema.errors import ArgumentError

from .._pteron import ffi, lib
from ..runtime import Program as Opened
from ..runtime import Session
from ..runtime.cpu import Machine
from ..runtime.memory import check, new_error, new_struct


@dataclasses.dataclass(frozen=True, slots=True)
class PortBytes:
    name: str
    bytes: int
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Prepared:
    """`at`: sizes of the program's expressions. `tables_bytes`: of the runtime's own, as 64-bit machines need them."""

    at: Sized
    inputs: tuple[PortBytes, ...]
    outputs: tuple[PortBytes, ...]
    planned_bytes: int
    scratch_bytes: int
    """Of runs, with what kernels keep: an image has at most this."""
    tables_bytes: int


def prepared(data: bytes, name: str, program: Program, sizes: Mapping[str, int] | None) -> Prepared:
    """Raises:
    ArgumentError: more than one method, states, shape inputs.
    """
    opened = Opened(data, delegates=())
    if len(opened.methods) != 1 or opened.methods[0].states:
        raise ArgumentError(f"{name}: expected one method without states; a board has two calls")
    method = opened.methods[0]
    if any(p.shape_input for p in method.inputs):
        raise ArgumentError(f"{name}: input values decide its shapes; export it with fixed sizes")
    at = Sized(program, sizes)
    shapes = {
        port.name: tuple(at.extent(e) for e in program.values[port.value].shape)
        for port in program.methods[0].inputs
    }
    session = Session(opened, threads=1, cpu=0, machine=Machine())  # an image is for a usual one
    taken = session.prepare(shapes)
    of_program, of_session, error = ffi.new("size_t *"), ffi.new("size_t *"), new_error()
    check(lib.pte_program_size(ffi.from_buffer(data), len(data), of_program, error), error)
    check(lib.pte_session_size(opened.pointer, 0, of_session, error), error)
    rows = []
    for query, infos in (
        (lib.pte_session_input, method.inputs),
        (lib.pte_session_output, method.outputs),
    ):
        side = []
        for i, port in enumerate(infos):
            out = new_struct("pte_extents")
            check(query(session.pointer, i, out))
            shape = tuple(int(out.shape[a]) for a in range(out.rank))
            side.append(PortBytes(port.name, int(out.size_bytes), shape))
        rows.append(tuple(side))
    tables = int(of_program[0] + of_session[0])
    scratch = taken.scratch_bytes + taken.kept_bytes
    return Prepared(at, rows[0], rows[1], taken.planned_bytes, scratch, tables)

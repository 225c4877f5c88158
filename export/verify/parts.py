"""Dimensions, relations, constants, states, methods, ports and values: what does not depend on instructions."""

from __future__ import annotations

import math
from typing import Final

from pteron.schema.dtypes import DTYPES, stored_bytes
from pteron.schema.formats import FORMATS
from pteron.schema.layout import CheckKind, DimKind, Layout, StateRole, Storage
from pteron.schema.policies import POLICIES

from ..program import PANEL_TOKENS, Constant, Method, Port, Program, State, Value
from ..sizes import HIGHEST, LOWEST
from ..sizes.extents import linear, symbols_of
from .attributes import MAX_LIST
from .refusal import refuse

MAX_RANK: Final = 8
DIM_KINDS: Final = {kind.name.lower() for kind in DimKind}
ROLES: Final = {role.name.lower() for role in StateRole}
HELD: Final = ("tokens", "panels")
"""Roles of states that have rows of tokens."""
CHECK_KINDS: Final = {kind.name.lower() for kind in CheckKind}
LAYOUTS: Final = {kind.name.lower() for kind in Layout}
STORAGES: Final = {kind.name.lower() for kind in Storage}
STEP_OF_BITS: Final = {2: 16, 3: 32, 4: 8, 6: 16, 8: 4, 16: 1, 32: 1, 64: 1}
"""Elements along K that 64 bytes of a panel hold for each row: K is padded to it (program/storage.c)."""


def check_parts(program: Program, planned: bool) -> None:
    """`planned`: values are in their final order."""
    _check_dims(program)
    for i, c in enumerate(program.constants):
        _check_constant(f"constant {i} ({c.name})", c)
    for i in range(len(program.states)):
        _check_state(program, i)
    _check_methods(program, planned)
    for d in program.delegates:
        if d.policy not in POLICIES:
            refuse(f"delegate {d.name}", "policy", f"one of {POLICIES}", d.policy)
        if d.fallback is not None and not 0 <= d.fallback < len(program.blocks):
            refuse(f"delegate {d.name}", "fallback", f"below {len(program.blocks)}", d.fallback)


def _check_dims(program: Program) -> None:
    ports = max((len(m.inputs) for m in program.methods), default=0)
    for d in program.dims:
        where = f"dimension {d.name}"
        if d.kind not in DIM_KINDS:
            refuse(where, "kind", f"one of {sorted(DIM_KINDS)}", d.kind)
        least = LOWEST if d.kind == "shape" else 0
        if not least <= d.min <= d.max <= HIGHEST:
            refuse(where, "min", f"{least} to {d.max}", d.min)
        if not d.min <= d.hint <= d.max:
            refuse(where, "hint", f"{d.min} to {d.max}", d.hint)
        if d.kind == "shape" and not 0 <= d.port < ports:
            refuse(where, "port", f"below {ports}", d.port)
    if len(program.methods) > 1:
        _check_inputs_of_dims(program)
    for c in program.checks:
        if c.kind not in CHECK_KINDS:
            refuse(f"relation {c.text}", "kind", f"one of {sorted(CHECK_KINDS)}", c.kind)


def _check_inputs_of_dims(program: Program) -> None:
    """The input whose element is a dimension is one of each method that has the dimension."""
    decided = {d.name: d for d in program.dims if d.kind == "shape"}
    for m in program.methods if decided else ():
        sizes = (e for v in program.values[slice(*m.values)] for e in (*v.shape, *(v.strides or ()), v.offset))  # fmt: skip
        for name in {s.name for e in sizes for s in symbols_of(e)} & decided.keys():
            if decided[name].port >= len(m.inputs):
                where = f"dimension {name}"
                refuse(where, f"port in method {m.name}", f"below {len(m.inputs)}", decided[name].port)  # fmt: skip


# --- constants and states -----------------------------------------------------------------------------------------


def _check_type(where: str, dtype: str, layout: str, format_: str) -> None:
    for what, got, names in (
        ("dtype", dtype, set(DTYPES)),
        ("layout", layout, LAYOUTS),
        ("format", format_, FORMATS),
    ):
        if got not in names:
            refuse(where, what, f"one of {sorted(names)}", got)
    if layout != "panels" and format_ != "plain":
        refuse(where, "layout", f"panels for {format_}", layout)


def _check_constant(where: str, c: Constant) -> None:
    _check_type(where, c.dtype, c.layout, c.format)
    if len(c.shape) > MAX_RANK:
        refuse(where, "rank", f"at most {MAX_RANK}", len(c.shape))
    if c.groups > 1 and c.layout != "panels":
        refuse(where, "layout", "panels for a weight in groups", c.layout)
    if any(n < 0 for n in c.shape):
        refuse(where, "shape", "extents of 0 and more", list(c.shape))
    if c.layout == "strided":
        if (
            tuple(c.elements.shape) != c.shape
            or c.elements.dtype.itemsize != DTYPES[c.dtype].numpy.itemsize
        ):
            got = f"{c.elements.dtype}{list(c.elements.shape)}"
            refuse(where, "array", f"{c.dtype}{list(c.shape)}", got)
        return
    expected = packed_bytes(where, c.dtype, c.layout, c.format, c.groups, c.shape)
    if c.elements.nbytes != expected:
        refuse(where, "bytes", expected, c.elements.nbytes)


def packed_bytes(
    where: str, dtype: str, layout: str, format_: str, groups: int, shape: tuple[int, ...]
) -> int:
    """What panels or taps take, as program/storage.c reckons it."""
    if len(shape) != 2:
        refuse(where, "rank", f"2 in {layout}", len(shape))
    n, k = shape
    if layout == "taps":
        return -(-n // 16) * 16 * k * (DTYPES[dtype].bits // 8)
    row = FORMATS[format_]
    width, groups = row.bits or DTYPES[dtype].bits, max(groups, 1)
    if width not in STEP_OF_BITS or n % groups:
        refuse(
            where, "layout", f"one that panels of {width} bits have", f"{n} rows in {groups} groups"
        )
    step = STEP_OF_BITS[width]
    rows = -(-(n // groups) // 16) * 16 * groups
    codes = rows * (-(-k // step) * step) * width // 8
    behind = sum((-(-k // size) if size else 1) * DTYPES[t].bits // 8 for t, size in row.planes)
    return codes + rows * behind


def _check_state(program: Program, i: int) -> None:
    s = program.states[i]
    where = f"state {i} ({s.name})"
    _check_type(where, s.dtype, s.layout, "plain")
    if s.layout != "strided":
        refuse(where, "layout", "strided", s.layout)
    if len(s.shape) > MAX_RANK:
        refuse(where, "rank", f"at most {MAX_RANK}", len(s.shape))
    counted = {d.name for d in program.dims if d.kind == "counted"} if program.dims else set()
    if counted & {x.name for e in s.shape for x in symbols_of(e)}:
        refuse(where, "shape", "sizes that outlive a run", f"{list(s.shape)}, which one counts")
    _check_role(program, s, where)
    if s.initial is None:
        return
    if not 0 <= s.initial < len(program.constants):
        refuse(where, "initial", f"below {len(program.constants)}", s.initial)
    c = program.constants[s.initial]
    if (c.dtype, c.layout, tuple(c.shape)) != (s.dtype, "strided", tuple(s.shape)):
        refuse(
            where, "initial", f"{s.dtype}{list(s.shape)}", f"{c.dtype}{list(c.shape)} {c.layout}"
        )


def _check_role(program: Program, s: State, where: str) -> None:
    if s.role not in ROLES:
        refuse(where, "role", f"one of {', '.join(sorted(ROLES))}", s.role)
    positions = [state for state in program.states if state.role == "position"]
    if s.role == "position" and ((s.dtype, tuple(s.shape)) != ("i64", (1,)) or len(positions) > 1):
        refuse(where, "role", "one position, i64[1]", f"{len(positions)}, {s.dtype}{list(s.shape)}")
    if s.role in HELD and not (positions and 0 <= s.axis < len(s.shape)):
        refuse(where, "axis", f"below {len(s.shape)}, beside a position", s.axis)
    if s.role in HELD and DTYPES[s.dtype].bits % 8:
        refuse(where, "dtype", "rows of whole bytes", s.dtype)
    if s.role == "panels" and (s.axis == len(s.shape) - 1 or s.shape[-1] != PANEL_TOKENS):
        refuse(
            where,
            "shape",
            f"{PANEL_TOKENS} tokens along the last axis",
            f"{s.dtype}{list(s.shape)}",
        )
    if s.role not in HELD and s.axis != 0:
        refuse(where, "axis", 0, s.axis)
    if s.reach < 0 or s.reach >= 2**32 or (s.role == "value" and s.reach):
        refuse(where, "reach", "tokens of a context", s.reach)


# --- methods and values -------------------------------------------------------------------------------------------


def _check_methods(program: Program, planned: bool) -> None:
    if not program.methods:
        refuse("program", "methods", "at least one", 0)
    start = 0
    for m in program.methods:
        where = f"method {m.name}"
        if m.values[0] != start or not start <= m.values[1] <= len(program.values):
            refuse(where, "values", f"a range from {start}", m.values)
        start = m.values[1]
        if not 0 <= m.block < len(program.blocks):
            refuse(where, "block", f"below {len(program.blocks)}", m.block)
        _check_ports(program, m, m.inputs, "input")
        _check_ports(program, m, m.outputs, "output")
        next_state = 0
        for i in range(*m.values):
            next_state = _check_value(program, m, i, next_state, planned)
        _check_context(program, m)
        if planned:
            _check_bound(program, m)
    if start != len(program.values):
        refuse("program", "values in methods", len(program.values), start)


def _check_context(program: Program, m: Method) -> None:
    """Rows of tokens are saved as far as the position says: a method that has them has it, too."""
    roles = {
        program.states[v.base].role
        for v in program.values[slice(*m.values)]
        if v.storage == "state"
    }
    if roles.intersection(HELD) and "position" not in roles:
        refuse(f"method {m.name}", "states", "a position beside rows of tokens", sorted(roles))


def _check_bound(program: Program, m: Method) -> None:
    """Each symbolic dimension of the method is an axis of one of its inputs, or an axis is a multiple of it, plus a number: other
    equations the runtime does not solve."""
    values = program.values[slice(*m.values)]
    sizes = {e for v in values for e in (*v.shape, *(v.strides or ()), v.offset)}
    used = {s.name for e in sizes if not isinstance(e, int) for s in symbols_of(e)}
    given = [linear(e) for port in m.inputs for e in program.values[port.value].shape]
    axes = {root.symbol.name for root in given if root is not None}
    for d in program.dims:
        if d.kind == "symbolic" and d.name in used - axes:
            refuse(f"method {m.name}", f"dimension {d.name}", "an axis of an input", "none is it")


def _check_ports(program: Program, m: Method, ports: tuple[Port, ...], storage: str) -> None:
    if len(ports) > MAX_LIST:
        refuse(f"method {m.name}", f"{storage}s", f"at most {MAX_LIST}", len(ports))
    for k, port in enumerate(ports):
        where = f"method {m.name}: {storage} {port.name}"
        if not m.values[0] <= port.value < m.values[1]:
            refuse(where, "value", "one of the method", port.value)
        v = program.values[port.value]
        if (v.storage, v.base) != (storage, k):
            refuse(where, "value", f"the {storage} of port {k}", f"{v.storage} {v.base}")


def _check_value(program: Program, m: Method, i: int, next_state: int, planned: bool) -> int:
    v = program.values[i]
    where = f"value {i} ({v.name})"
    _check_type(where, v.dtype, v.layout, v.format)
    if v.storage not in STORAGES:
        refuse(where, "storage", f"one of {sorted(STORAGES)}", v.storage)
    if len(v.shape) > MAX_RANK:
        refuse(where, "rank", f"at most {MAX_RANK}", len(v.shape))
    if v.layout != "strided" and len(v.shape) != 2:
        refuse(where, "rank", f"2 in {v.layout}", len(v.shape))
    if v.layout != "strided" and v.storage in ("input", "output"):
        refuse(where, "layout", "strided, as the caller's buffers are", v.layout)
    if v.groups > 1 and v.layout != "panels":
        refuse(where, "layout", "panels for a weight in groups", v.layout)
    if v.storage != "view" and (v.strides is not None or v.offset != 0):
        refuse(where, "strides", "none but of a view", f"{v.strides} from {v.offset}")
    _check_base(program, m, i, v, where, planned)
    _check_above(program, m, i, v, where)
    if v.storage != "state":
        return next_state
    if planned and v.base < next_state:
        refuse(where, "state", f"{next_state} or a later one", v.base)
    return v.base + 1


def _check_base(program: Program, m: Method, i: int, v: Value, where: str, planned: bool) -> None:
    match v.storage:
        case "constant":
            _check_in(where, "constant", v.base, len(program.constants))
            c = program.constants[v.base]
            kind = (c.dtype, c.layout, c.format, max(c.groups, 1), tuple(c.shape))
            if kind != (v.dtype, v.layout, v.format, max(v.groups, 1), tuple(v.shape)):
                refuse(where, "constant", kind, (v.dtype, v.layout, v.format, v.groups, v.shape))
        case "state":
            _check_in(where, "state", v.base, len(program.states))
            s = program.states[v.base]
            if (s.dtype, s.layout, tuple(s.shape)) != (v.dtype, v.layout, tuple(v.shape)):
                refuse(where, "state", f"{s.dtype}{list(s.shape)}", f"{v.dtype}{list(v.shape)}")
        case "input" | "output":
            ports = m.inputs if v.storage == "input" else m.outputs
            if not (0 <= v.base < len(ports)) or ports[v.base].value != i:
                refuse(where, "port", "the one that names the value", v.base)
        case "view":
            _check_view(program, m, i, v, where, planned)
        case "planned" if v.base != 0:
            refuse(where, "base", 0, v.base)


def _check_in(where: str, what: str, got: int, count: int) -> None:
    if not 0 <= got < count:
        refuse(where, what, f"below {count}", got)


def _check_view(program: Program, m: Method, i: int, v: Value, where: str, planned: bool) -> None:
    if not m.values[0] <= v.base < (i if planned else m.values[1]):
        refuse(where, "base", "a lower value of the method", v.base)
    base = program.values[v.base]
    if base.storage == "view":
        refuse(where, "base", "a value of its own", "a view")
    if base.dtype != v.dtype:
        refuse(where, "dtype", f"{base.dtype} as its base has", v.dtype)
    if base.layout != "strided" or v.layout != "strided":
        refuse(where, "layout", "strided, as its base", f"{v.layout} of {base.layout}")
    if DTYPES[v.dtype].bits % 8:
        refuse(where, "dtype", "whole bytes in views", v.dtype)
    if v.strides is not None and len(v.strides) != len(v.shape):
        refuse(where, "strides", len(v.shape), len(v.strides))


def _check_above(program: Program, m: Method, i: int, v: Value, where: str) -> None:
    if v.above and v.storage != "planned":
        refuse(where, "above", "nothing but of a planned value", v.storage)
    for below in v.above:
        if not m.values[0] <= below < i or program.values[below].storage != "planned":
            refuse(where, "above", "lower planned values of the method", below)


def value_bytes(v: Value, shape: tuple[int, ...], where: str) -> int:
    """What it takes at numbers for its extents."""
    if v.layout == "strided":
        return stored_bytes(v.dtype, math.prod(shape))
    return packed_bytes(where, v.dtype, v.layout, v.format, v.groups, shape)

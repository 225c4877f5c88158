"""A Program as the vectors of program.fbs: lists go to side tables, equal lists, strings and expressions once.

Emit puts the vectors into a FlatBuffer; read takes them out again.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pteron.schema.errors import ProgramError
from pteron.schema.formats import FORMATS
from pteron.schema.layout import STRUCTS, CheckKind, DimKind, DType, Layout, StateRole, Storage
from pteron.schema.ops import OPS
from pteron.schema.policies import POLICIES
from pteron.schema.signature import CONTROL, pack_attrs, signature
from pteron.schema.steps import MAX_STEPS, STEPS, TYPES, Step

from ..program import Constant, Delegate, Instr, Method, Program, State, Value
from ..program.rebuild import homes, param_owners
from ..sizes import NONE, Extent
from ..sizes.expressions import Expressions

Range = tuple[int, int]
STRUCT_VECTORS: Final = (
    "dims", "checks", "constants", "states", "values", "instrs", "blocks", "ports", "methods", "delegates"
)  # fmt: skip


class Tables:
    """The vectors of `program`. `places`: (segment, offset, size) of each constant; `blobs`: segment of each delegate.

    `shared`: equal lists of instructions lie once in the file.

    Raises:
        ProgramError: the program names an operator, step, attribute, dimension or index that is not there.
    """

    def __init__(
        self,
        program: Program,
        places: Sequence[tuple[int, int, int]],
        blobs: Sequence[int],
        *,
        shared: bool = True,
    ) -> None:
        self._shared: Final = shared
        self._walked = 0
        self.strings: list[str] = []
        self.refs: list[int] = []
        self.ints: list[int] = []
        self.literals: list[int] = []
        self.steps: list[bytes] = []
        self.attrs = bytearray()
        self.structs: dict[str, list[bytes]] = {name: [] for name in STRUCT_VECTORS}
        self.exprs: Final = Expressions([d.name for d in program.dims])
        self._string_index: dict[str, int] = {}
        self._lists: dict[tuple[str, Any], int] = {}
        self._fill(program, places, blobs)

    def are_walked(self, size_bytes: int) -> bool:
        """Whether a runtime looks at all lists, as often as they are used, of a program segment of so many bytes: it bounds its
        work by what it is given (runtime_c/program/open.c)."""
        return self._walked <= 1024 + size_bytes // 4

    def vectors(self) -> dict[str, tuple[bytes, int, int]]:
        """Field of table Program -> (bytes, count, size of an element); all but `strings`."""
        exprs = [_pack("Expr", *row) for row in self.exprs.rows]
        out = {
            "refs": (struct.pack(f"<{len(self.refs)}I", *self.refs), len(self.refs), 4),
            "ints": (struct.pack(f"<{len(self.ints)}q", *self.ints), len(self.ints), 8),
            "literals": (
                struct.pack(f"<{len(self.literals)}Q", *self.literals),
                len(self.literals),
                8,
            ),
            "steps": (b"".join(self.steps), len(self.steps), STRUCTS["Step"].bytes),
            "attrs": (bytes(self.attrs), len(self.attrs) // 8, 8),
            "exprs": (b"".join(exprs), len(exprs), STRUCTS["Expr"].bytes),
        }
        for name, rows in self.structs.items():
            out[name] = (b"".join(rows), len(rows), STRUCTS[name[:-1].capitalize()].bytes)
        return out

    # --- side tables ----------------------------------------------------------------------------------------

    def _string(self, text: str) -> int:
        return _intern(self._string_index, text, self.strings)

    def _list(self, table: list[Any], name: str, items: Iterable[Any], quick: int = 1) -> Range:
        """Where `items` stand in the side table, appended if they are new; an empty list is (0, 0).

        `quick`: so many are as much work for who verifies the file as one ref; 0 is none.
        """
        key = tuple(items)
        if not key:
            return 0, 0
        self._walked += -(-len(key) // quick) if quick else 0
        start = self._lists.get((name, key)) if self._shared or not quick else None
        if start is None:
            start = self._lists[name, key] = len(table)
            table += key
        return start, len(key)

    def _refs(self, items: Iterable[int | None], quick: int = 1) -> Range:
        return self._list(self.refs, "refs", (NONE if i is None else i for i in items), quick)

    def _extents(self, shape: Iterable[Extent], quick: int = 0) -> Range:
        return self._refs((self.exprs.add(e) for e in shape), quick)

    # --- the program ----------------------------------------------------------------------------------------

    def _fill(
        self, program: Program, places: Sequence[tuple[int, int, int]], blobs: Sequence[int]
    ) -> None:
        s = self.structs
        for d in program.dims:
            capacity = NONE if d.capacity is None else self.exprs.add(d.capacity)
            kind = DimKind[d.kind.upper()]
            name = self._string(d.name)
            s["dims"].append(
                _pack("Dim", d.min, d.max, d.hint, name, d.port, d.element, capacity, kind)
            )
        for c in program.checks:
            a, b = self.exprs.add(c.a), self.exprs.add(c.b)
            s["checks"].append(
                _pack("Check", a, b, self._string(c.text), CheckKind[c.kind.upper()])
            )
        for constant, place in zip(program.constants, places, strict=True):
            s["constants"].append(self._constant(constant, place))
        for state in program.states:
            shape = self._extents(state.shape)
            initial = NONE if state.initial is None else state.initial
            codes = (DType[state.dtype.upper()], Layout[state.layout.upper()], *_role(state))
            s["states"].append(_pack("State", *shape, self._string(state.name), initial, *codes))
        owners = param_owners(program)
        for i, value in enumerate(program.values):
            own = dataclasses.replace(value, base=owners[i]) if i in owners else value
            s["values"].append(_located(f"value {i} ({value.name})", self._value, own))
        for block, home in zip(program.blocks, homes(program), strict=True):
            start = len(s["instrs"])
            for i, instr in enumerate(block.instrs, start):
                s["instrs"].append(_located(f"instruction {i} ({instr.op})", self._instr, instr))
            params, results = self._refs(block.params), self._refs(block.results)
            s["blocks"].append(_pack("Block", start, len(block.instrs), *params, *results, *home))
        for method in program.methods:
            s["methods"].append(self._method(method))
        for delegate, segment in zip(program.delegates, blobs, strict=True):
            s["delegates"].append(self._delegate(delegate, segment))

    def _constant(self, c: Constant, place: tuple[int, int, int]) -> bytes:
        segment, offset, size = place
        shape = self._list(self.ints, "ints", c.shape, 0)
        codes = (
            *_format(c.format),
            DType[c.dtype.upper()],
            Layout[c.layout.upper()],
            c.groups,
            0,
        )
        return _pack("Constant", offset, size, *shape, segment, self._string(c.name), *codes)

    def _value(self, v: Value) -> bytes:
        shape = self._extents(v.shape)[0]
        strides = NONE if v.strides is None or not v.shape else self._extents(v.strides)[0]
        offset = NONE if v.offset == 0 else self.exprs.add(v.offset)
        above = self._refs(v.above, 8)
        codes = (DType[v.dtype.upper()], Storage[v.storage.upper()], Layout[v.layout.upper()])
        return _pack(
            "Value",
            v.base,
            shape,
            strides,
            offset,
            *above,
            *codes,
            len(v.shape),
            *_format(v.format),
            v.groups,
        )

    def _instr(self, instr: Instr) -> bytes:
        if instr.op not in OPS:
            raise ProgramError(f"expected an operator of schema/ops.py, got {instr.op}")
        inputs, outputs = self._refs(instr.inputs), self._refs(instr.outputs)
        if instr.op in CONTROL:  # compared with what its blocks take and give, too
            self._walked += len(instr.inputs) + 4 * len(instr.outputs)
        op = OPS[instr.op].id
        return _pack("Instr", *inputs, *outputs, self._attrs(instr), instr.node, op, 0)

    def _method(self, m: Method) -> bytes:
        ports = self.structs["ports"]
        ranges = []
        for side in (m.inputs, m.outputs):
            ranges += [len(ports), len(side)]
            ports += [_pack("Port", self._string(p.name), p.value) for p in side]
        start, stop = m.values
        return _pack("Method", *ranges, start, stop - start, self._string(m.name), m.block)

    def _delegate(self, d: Delegate, segment: int) -> bytes:
        fallback = NONE if d.fallback is None else d.fallback
        name, target = self._string(d.name), self._string(d.target)
        return _pack("Delegate", name, target, segment, fallback, POLICIES.index(d.policy))

    # --- attributes -----------------------------------------------------------------------------------------

    def _attrs(self, instr: Instr) -> int:
        """Offset of the attribute struct; NONE where every attribute has its default."""
        sig = signature(OPS[instr.op])
        kinds = {a.name: a.kind for a in sig.attrs}
        values = {
            name: self._attr(kinds.get(name, ""), value) for name, value in instr.attrs.items()
        }
        if sig.has_defaults and not values:
            return NONE
        data = pack_attrs(sig, values)
        start = self._lists.get(("attrs", data))
        if start is None:
            start = self._lists["attrs", data] = len(self.attrs)
            self.attrs += data
        return start

    def _attr(self, kind: str, value: Any) -> Any:
        match kind:
            case "ints":
                return self._list(self.ints, "ints", (int(v) for v in value))
            case "floats":
                words = (struct.unpack("<q", struct.pack("<d", v))[0] for v in value)
                return self._list(self.ints, "ints", words)
            case "dims":
                return self._extents(value, 1)
            case "steps":
                return self._program(value) if value else ()
            case _:
                return value

    def _program(self, steps: Sequence[Step]) -> tuple[Range, Range]:
        if len(steps) > MAX_STEPS:
            raise ProgramError(f"steps: expected at most {MAX_STEPS}, got {len(steps)}; fuse less")
        literals: dict[int, int] = {}
        values: list[int] = []
        rows = [_step(s, literals, values) for s in steps]
        steps_range = self._list(self.steps, "steps", rows, 4)
        return steps_range, self._list(self.literals, "literals", values, 4)


def _step(s: Step, literals: dict[int, int], values: list[int]) -> bytes:
    if s.op not in STEPS:
        raise ProgramError(f"steps: expected an opcode of schema/steps.py, got {s.op}")
    a, b, c = (*s.args, 0, 0, 0)[:3]
    arg: Any = s.arg
    if s.op == "cast":
        b = TYPES.index(s.source)
    elif s.op == "literal":
        arg = _intern(literals, literal_bits(s.type, s.arg), values)
    elif s.op in ("round", "wrap"):
        arg = DType[str(s.arg).upper()]
    return _pack("Step", STEPS[s.op].id, TYPES.index(s.type), s.dst, a, b, c, int(arg))


def literal_bits(type_: str, value: Any) -> int:
    """A literal as stored: f32 and f64 as the bits of f64, i64 as two's complement, bool as 0 or 1."""
    if type_ in ("f32", "f64"):
        return int(struct.unpack("<Q", struct.pack("<d", float(value)))[0])
    return int(value) & (2**64 - 1) if type_ == "i64" else int(bool(value))


def literal_value(type_: str, word: int) -> int | float | bool:
    """The reverse of `literal_bits`."""
    if type_ in ("f32", "f64"):
        return float(struct.unpack("<d", struct.pack("<Q", word))[0])
    return bool(word) if type_ == "bool" else word - (2**64 if word >> 63 else 0)


def _intern(index: dict[Any, int], item: Any, table: list[Any]) -> int:
    found = index.get(item)
    if found is None:
        found = index[item] = len(table)
        table.append(item)
    return found


def _pack(name: str, *values: int) -> bytes:
    try:
        return struct.pack(STRUCTS[name].letters, *values)
    except struct.error as error:
        raise ProgramError(
            f"{name}: expected numbers that fit {STRUCTS[name].fields}, got {values}"
        ) from error


def _format(name: str) -> tuple[int, int]:
    """Row and block of a storage format."""
    return FORMATS[name].id, FORMATS[name].exponent


def _located(where: str, work: Any, item: Any) -> bytes:
    """`work(item)`, its error text led by the place."""
    try:
        return bytes(work(item))
    except (ProgramError, ValueError, KeyError) as error:
        raise ProgramError(f"{where}: {error}") from error


def _role(state: State) -> tuple[int, int, int]:
    return StateRole[state.role.upper()], state.axis, state.reach

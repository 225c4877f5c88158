"""Instructions against their operator's row, and those over blocks against their blocks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pteron.schema import shape as shape_line
from pteron.schema.dtypes import DTYPES
from pteron.schema.errors import ProgramError
from pteron.schema.ops import OPS
from pteron.schema.shape import Operand
from pteron.schema.signature import CONTROL, Port, Signature, signature

from ..program import Block, Instr, Program, Value
from ..program.rebuild import homes, param_owners
from .attributes import MAX_LIST, check_attributes, dims_names
from .memory import Memory
from .points import Points
from .refusal import Refusal, refuse
from .steps import check_steps

MAX_DEPTH: Final = 8
MAX_DELEGATES: Final = 1024
BOUND: Final = {"if": (), "loop": ("output",), "call": ("input", "output"), "delegate": ("input", "output")}  # fmt: skip
LAYOUTS: Final = {"W": "panels", "Taps": "taps"}


def check_blocks(program: Program, points: Points, memory: Memory, packed: bool) -> None:
    """`packed`: weights are."""
    try:
        where = homes(program)
    except (ProgramError, IndexError, KeyError, TypeError) as error:
        raise Refusal(f"blocks: {error}") from error
    for b, block in enumerate(program.blocks):
        method, depth = where[b]
        if depth > MAX_DEPTH:
            refuse(f"block {b}", "depth", f"at most {MAX_DEPTH}", depth)
        _check_block(program, b, block, program.methods[method].values, depth == 0)
    _check_delegates(program, where)
    owners = param_owners(program)
    for b, block in enumerate(program.blocks):
        for v in block.params:
            if owners[v] != b:
                refuse(f"block {b}", "params", "values of its own", f"one of block {owners[v]}")
    at = 0
    seen: set[Any] = set()
    for b, block in enumerate(program.blocks):
        subject = _Instructions(program, points, memory, packed, where, owners, b, seen)
        for instr in block.instrs:
            subject.check(at, instr)
            at += 1


def _check_block(
    program: Program, b: int, block: Block, values: tuple[int, int], main: bool
) -> None:
    for side, refs in (("params", block.params), ("results", block.results)):
        if len(refs) > MAX_LIST or (main and refs):
            refuse(f"block {b}", side, 0 if main else f"at most {MAX_LIST}", len(refs))
        for v in refs:
            if not values[0] <= v < values[1]:
                refuse(f"block {b}", side, "values of its method", v)
    for v in block.params:
        if program.values[v].storage != "param":
            refuse(f"block {b}", "params", "values bound as param", program.values[v].storage)


def _wants_dense(op: str, side: str, port: str) -> bool:
    """Of instructions over blocks, what is bound is: params and results of a call, of a delegate, what a loop makes."""
    if op in CONTROL:
        return side in BOUND[op]
    return port not in OPS[op].strided


def _check_delegates(program: Program, where: Sequence[tuple[int, int]]) -> None:
    """An instance is prepared for one set of shapes: each has one instruction of a method."""
    if len(program.delegates) > MAX_DELEGATES:
        refuse("program", "delegates", f"at most {MAX_DELEGATES}", len(program.delegates))
    used: set[tuple[int, int]] = set()
    for block, (method, _) in zip(program.blocks if program.delegates else (), where, strict=False):
        for instr in block.instrs:
            if instr.op != "delegate":
                continue
            key = (method, instr.attrs["index"])
            if key in used:
                refuse(f"delegate {key[1]}", "instructions", 1, "another", instr.node)
            used.add(key)


class _Instructions:
    """Those of one block."""

    def __init__(
        self,
        program: Program,
        points: Points,
        memory: Memory,
        packed: bool,
        homes: Sequence[tuple[int, int]],
        params: Mapping[int, int],
        block: int,
        seen: set[Any],
    ) -> None:
        self.program: Final = program
        self.points: Final = points
        self.memory: Final = memory
        self.packed: Final = packed
        self.homes: Final = homes
        self.params: Final = params
        self.block: Final = block
        self.seen: Final = seen  # shapes that fit their row: most layers repeat them
        self.values: Final = program.methods[homes[block][0]].values

    def check(self, at: int, instr: Instr) -> None:
        where = f"instruction {at} ({instr.op})"
        if instr.op not in OPS:
            refuse(where, "operator", "one of schema/ops.py", instr.op, instr.node)
        sig = signature(OPS[instr.op])
        control = instr.op in CONTROL
        check_attributes(self.program, instr, where)
        self._check_operands(where, instr, sig)
        self._check_row(where, instr, sig, control)
        if control:
            _Control(self, where, instr).check()
        inputs = [_port(sig.inputs, k) for k in range(len(instr.inputs))]
        inplace = [p is not None and p.name in OPS[instr.op].inplace for p in inputs]
        self.memory.check(where, instr, control and instr.op != "delegate", inplace)
        if not control:
            self._check_counted(where, instr)
            self._check_steps(where, instr, sig)

    def value(self, v: int) -> Value:
        return self.program.values[v]

    # --- operands ------------------------------------------------------------------------------------------------

    def _check_operands(self, where: str, instr: Instr, sig: Signature) -> None:
        """They belong to the method, and are dense where the row wants that."""
        for side, ports, refs in (
            ("input", sig.inputs, instr.inputs),
            ("output", sig.outputs, instr.outputs),
        ):
            if len(refs) > MAX_LIST:
                refuse(where, f"{side}s", f"at most {MAX_LIST}", len(refs), instr.node)
            for k, v in enumerate(refs):
                if v is None:
                    continue
                if not self.values[0] <= v < self.values[1]:
                    refuse(where, f"{side} {k}", "a value of the method", v, instr.node)
                port = _port(ports, k)
                if port is None or not _wants_dense(instr.op, side, port.name):
                    continue
                if port.rule in LAYOUTS and not self.packed:
                    continue
                if not self.memory.is_dense(v):
                    got = f"strides {self.value(v).strides}"
                    refuse(f"{where}: {side} {k}", port.name, "dense", got, instr.node)

    def _check_row(self, where: str, instr: Instr, sig: Signature, control: bool) -> None:
        """The row's presence, dtypes, layouts, shape line, relations: at every point, but ranks alone over blocks, whose
        extents are compared with their blocks'."""
        row = OPS[instr.op]
        points = [-1] if control or not self.points.count else list(range(self.points.count))
        attrs = {k: () if k == "steps" else v for k, v in instr.attrs.items()}
        sizes = {k: self.points.of(attrs[k]) for k in dims_names(row) if k in attrs}
        sides = [
            [self._operand(_port(ports, k), v) for k, v in enumerate(refs)]
            for ports, refs in ((sig.inputs, instr.inputs), (sig.outputs, instr.outputs))
        ]
        key = (instr.op, *map(tuple, sides), repr(attrs) if attrs else "")
        if key in self.seen:
            return
        for p in points:
            if p >= 0:
                attrs |= {k: tuple(n[p] for n in axes) for k, axes in sizes.items()}
            inputs, outputs = ([_at(o, p) for o in side] for side in sides)
            try:
                shape_line.check_call(row, inputs, outputs, attrs)
            except shape_line.ShapeError as error:
                raise Refusal(f"{where}: {error}", instr.node) from error
        self.seen.add(key)

    def _operand(self, port: Port | None, v: int | None) -> Operand | None:
        """The value as the row sees it, extents at all points; what packing decides is left open before it."""
        if v is None:
            return None
        x, shape = self.value(v), self.memory.shape(v)
        if port is not None and port.rule in LAYOUTS and not self.packed:
            return Operand(shape, x.dtype, LAYOUTS[port.rule], "", 0)
        return Operand(shape, x.dtype, x.layout, x.format, max(x.groups, 1))

    def _check_counted(self, where: str, instr: Instr) -> None:
        """What the kernel sets are counted dimensions, and nothing else of its outputs is."""
        for k, axes in shape_line.counted_axes(OPS[instr.op]).items():
            v = instr.outputs[k] if k < len(instr.outputs) else None
            for axis, e in enumerate(() if v is None else self.value(v).shape):
                if self.points.is_counted(e) != (axis in axes):
                    wanted = "a counted dimension" if axis in axes else "no counted dimension"
                    refuse(f"{where}: output {k}", f"axis {axis}", wanted, e, instr.node)

    def _check_steps(self, where: str, instr: Instr, sig: Signature) -> None:
        for a in sig.attrs:
            if a.kind != "steps":
                continue
            steps = instr.attrs.get(a.name, ())
            first = len(sig.inputs) - 1  # the variadic tail
            tail = instr.inputs[first:]
            if first and not steps:
                if tail:
                    refuse(where, "operands of steps", "none without steps", len(tail), instr.node)
                continue
            if not instr.outputs or None in instr.outputs or None in tail:
                refuse(where, "outputs", "values", "none", instr.node)
            outputs = [self.value(v).dtype for v in instr.outputs if v is not None]
            operands = [self.value(v).dtype for v in tail if v is not None]
            rank = len(self.value(instr.outputs[0] or 0).shape)
            check_steps(
                where, steps, outputs[:1] * bool(first) + operands, outputs, rank, instr.node
            )


class _Control:
    """An instruction that names blocks: they are further inside, and both sides of each binding agree."""

    def __init__(self, owner: _Instructions, where: str, instr: Instr) -> None:
        self.owner, self.where, self.instr = owner, where, instr
        self.program = owner.program

    def check(self) -> None:
        attrs = self.instr.attrs
        match self.instr.op:
            case "if":
                self._check_branch("then_block", attrs["then_block"])
                self._check_branch("else_block", attrs["else_block"])
            case "loop":
                self._check_loop(attrs["body"])
            case "call":
                self._check_call("body", attrs["body"])
            case _:
                index = attrs["index"]
                if not 0 <= index < len(self.program.delegates):
                    self._refuse("index", f"below {len(self.program.delegates)}", index)
                fallback = self.program.delegates[index].fallback
                if fallback is not None:
                    self._check_call("fallback", fallback)

    def _refuse(self, what: str, expected: Any, got: Any) -> None:
        refuse(self.where, what, expected, got, self.instr.node)

    def _child(self, field: str, child: int) -> Block:
        homes, block = self.owner.homes, self.owner.block
        if child <= block or homes[child][1] <= homes[block][1]:
            self._refuse(field, "a block further inside", child)
        if homes[child][0] != homes[block][0]:
            self._refuse(field, "a block of the method", child)
        return self.program.blocks[child]

    def _check_branch(self, field: str, child: int) -> None:
        b = self._child(field, child)
        if b.params or len(b.results) != len(self.instr.outputs):
            got = f"{len(b.params)} and {len(b.results)}"
            self._refuse(field, f"no params and {len(self.instr.outputs)} results", got)
        self._bind(field, b.results, self.instr.outputs)

    def _check_call(self, field: str, child: int) -> None:
        b = self._child(field, child)
        got = len(b.params), len(b.results)
        wanted = len(self.instr.inputs), len(self.instr.outputs)
        if got != wanted:
            self._refuse(f"{field}: params and results", wanted, got)
        for v in b.results:
            if self.owner.value(v).storage != "param":
                self._refuse(f"{field}: result", "bound as param", self.owner.value(v).storage)
            if self.owner.params[v] != child:
                self._refuse(f"{field}: result", "a param of its own", "one of another block")
        self._bind(field, b.params, self.instr.inputs)
        self._bind(field, b.results, self.instr.outputs)

    def _check_loop(self, child: int) -> None:
        b = self._child("body", child)
        outputs = self.instr.outputs
        initial = self.instr.inputs[2:]
        carried = len(initial)
        if (len(b.params), len(b.results)) != (1 + carried, 1 + len(outputs)):
            got = len(b.params), len(b.results)
            self._refuse("body: params and results", (1 + carried, 1 + len(outputs)), got)
        if len(outputs) < carried:
            self._refuse("outputs", f"at least {carried}", len(outputs))
        self._check_scalar("iteration", b.params[0], "i64")
        self._check_scalar("condition", b.results[0], "bool")
        for v in b.results:
            if self.owner.value(v).storage == "param":
                self._refuse("body: result", "a value of its own", "a param")
        self._bind("carried", initial, b.params[1:])
        self._bind("carried", b.results[1 : 1 + carried], outputs[:carried])
        self._bind("carried", b.params[1:], outputs[:carried])
        for row, out in zip(b.results[1 + carried :], outputs[carried:], strict=True):
            if out is None:
                self._refuse("outputs", "a value", "none")
                return
            x, y = self.owner.value(row), self.owner.value(out)
            if (x.dtype, len(x.shape) + 1, x.layout) != (y.dtype, len(y.shape), y.layout):
                self._refuse("collected output", f"rows of {x.dtype}", f"{y.dtype}{list(y.shape)}")
            if DTYPES[x.dtype].bits % 8:
                self._refuse("collected output", "rows of whole bytes", x.dtype)
            self._agree("collected output", out, row, 1)

    def _check_scalar(self, what: str, v: int, dtype: str) -> None:
        x = self.owner.value(v)
        if (x.dtype, x.shape, x.layout) != (dtype, (), "strided"):
            self._refuse(what, f"one {dtype}", f"{x.dtype}{list(x.shape)}")

    def _bind(self, field: str, a: Sequence[int | None], b: Sequence[int | None]) -> None:
        for v, w in zip(a, b, strict=True):
            if v is None or w is None:
                self._refuse(field, "a value", "none")
                return
            x, y = self.owner.value(v), self.owner.value(w)
            if _kind(x) != _kind(y):
                self._refuse(f"{field}: values {v} and {w}", _kind(x), _kind(y))
            self._agree(f"{field}: values {v} and {w}", v, w, 0)

    def _agree(self, field: str, outer: int, inner: int, skip: int) -> None:
        """Axes of `inner` are those of `outer` behind the first `skip`, where no counted dimension decides them."""
        x, y = self.owner.value(outer), self.owner.value(inner)
        if any(self.owner.points.is_dynamic(e) for e in (*x.shape, *y.shape)):
            return
        if self.owner.memory.shape(outer)[skip:] != self.owner.memory.shape(inner):
            self._refuse(field, list(x.shape[skip:]), list(y.shape))


def _kind(v: Value) -> tuple[Any, ...]:
    return v.dtype, len(v.shape), v.layout, v.format, max(v.groups, 1)


def _port(ports: Sequence[Port], k: int) -> Port | None:
    """The port of operand `k`; None: the operator has fewer."""
    if k < len(ports):
        return ports[k]
    return ports[-1] if ports and ports[-1].variadic else None


def _at(o: Operand | None, point: int) -> Operand | None:
    """An operand with its extents at one point; -1: with none of them known."""
    if o is None:
        return None
    shape = tuple(None if point < 0 else axis[point] for axis in o.shape)
    return dataclasses.replace(o, shape=shape)

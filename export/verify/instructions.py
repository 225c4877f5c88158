"""Instructions against their operator's row, and those over blocks against their blocks."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

from pteron.export.program import Block, Instr, Program, Value
from pteron.export.rebuild import homes
from pteron.export.verify.attributes import MAX_LIST, check_attributes
from pteron.export.verify.memory import Memory
from pteron.export.verify.points import Points
from pteron.export.verify.refusal import Refusal, refuse
from pteron.export.verify.steps import check_steps
from pteron.schema import shape as shape_line
from pteron.schema.errors import ProgramError
from pteron.schema.ops import OPS
from pteron.schema.row import Op
from pteron.schema.signature import CONTROL, Port, Signature, signature

MAX_DEPTH: Final = 8
LAYOUTS: Final = {"W": "panels", "Taps": "taps"}
GROUPED: Final = ("conv", "conv_i8")


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
    at = 0
    seen: set[Any] = set()
    for b, block in enumerate(program.blocks):
        subject = _Instructions(program, points, memory, packed, where, b, seen)
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


class _Instructions:
    """Those of one block."""

    def __init__(
        self,
        program: Program,
        points: Points,
        memory: Memory,
        packed: bool,
        homes: Sequence[tuple[int, int]],
        block: int,
        seen: set[Any],
    ) -> None:
        self.program: Final = program
        self.points: Final = points
        self.memory: Final = memory
        self.packed: Final = packed
        self.homes: Final = homes
        self.block: Final = block
        self.seen: Final = seen  # shapes that fit their row: most layers repeat them
        self.values: Final = program.methods[homes[block][0]].values

    def check(self, at: int, instr: Instr) -> None:
        where = f"instruction {at} ({instr.op})"
        if instr.op not in OPS:
            refuse(where, "operator", "one of schema/ops.py", instr.op, instr.node)
        sig = signature(OPS[instr.op])
        check_attributes(self.program, instr, where)
        self._check_operands(where, instr, sig)
        control = instr.op in CONTROL
        self._check_shapes(where, instr, _any if control else _agree)
        if control:
            _Control(self, where, instr).check()
        inputs = [_port(sig.inputs, k) for k in range(len(instr.inputs))]
        inplace = [p is not None and p.name in OPS[instr.op].inplace for p in inputs]
        self.memory.check(where, instr, control and instr.op != "delegate", inplace)
        if control:
            return
        if self.packed:
            self._check_groups(where, instr, sig)
        self._check_steps(where, instr, sig)

    def value(self, v: int) -> Value:
        return self.program.values[v]

    # --- operands ------------------------------------------------------------------------------------------------

    def _check_operands(self, where: str, instr: Instr, sig: Signature) -> None:
        bound: dict[str, str] = {}
        for side, ports, refs in (
            ("input", sig.inputs, instr.inputs),
            ("output", sig.outputs, instr.outputs),
        ):
            if len(refs) > MAX_LIST:
                refuse(where, f"{side}s", f"at most {MAX_LIST}", len(refs), instr.node)
            for k, v in enumerate(refs):
                port = _port(ports, k)
                if port is None:
                    refuse(where, f"{side}s", len(ports), len(refs), instr.node)
                self._check_operand(f"{where}: {side} {k}", instr, port, v, bound)
            for port in ports[len(refs) :]:
                if not (port.optional or port.variadic):
                    refuse(where, f"{side} {port.name}", "a value", "none", instr.node)

    def _check_operand(
        self, where: str, instr: Instr, port: Port, v: int | None, bound: dict[str, str]
    ) -> None:
        if v is None:
            if not port.optional:
                refuse(where, port.name, "a value", "none", instr.node)
            return
        if not self.values[0] <= v < self.values[1]:
            refuse(where, port.name, "a value of the method", v, instr.node)
        value, row = self.value(v), OPS[instr.op]
        wanted = {"I64": ("i64",), "Bool": ("bool",), "F": row.dtypes}.get(port.rule)
        if wanted is not None and value.dtype not in wanted:
            refuse(where, port.name, " or ".join(wanted), value.dtype, instr.node)
        if port.rule in ("F", "T") and bound.setdefault(port.rule, value.dtype) != value.dtype:
            refuse(where, port.name, bound[port.rule], value.dtype, instr.node)
        if instr.op in CONTROL or (port.rule in LAYOUTS and not self.packed):
            return
        layout = LAYOUTS.get(port.rule, "strided")
        if value.layout != layout:
            refuse(where, port.name, layout, value.layout, instr.node)
        if port.name not in row.strided and not self.memory.is_dense(v):
            refuse(where, port.name, "dense", f"strides {value.strides}", instr.node)

    def _check_shapes(self, where: str, instr: Instr, same: Any) -> None:
        row = OPS[instr.op]
        inputs = [None if v is None else self.memory.shape(v) for v in instr.inputs]
        outputs = [None if v is None else self.memory.shape(v) for v in instr.outputs]
        numbers = tuple(instr.attrs.get(name) for name in _numbers_of_line(row))
        key = (instr.op, tuple(inputs), tuple(outputs), numbers)
        if key in self.seen:
            return
        self.seen.add(key)
        try:
            shape_line.check(row, inputs, outputs, instr.attrs, same)
        except shape_line.ShapeError as error:
            raise Refusal(f"{where}: {error}", instr.node) from error

    def _check_groups(self, where: str, instr: Instr, sig: Signature) -> None:
        """Groups of a conv weight are padded apart in memory: both sides must mean the same number."""
        for port, v in zip(sig.inputs, instr.inputs, strict=False):
            if port.rule != "W" or v is None:
                continue
            expected = instr.attrs.get("groups", 1) if instr.op in GROUPED else 1
            if max(self.value(v).groups, 1) != expected:
                refuse(where, "groups of the weight", expected, self.value(v).groups, instr.node)

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


@functools.cache
def _numbers_of_line(row: Op) -> tuple[str, ...]:
    """The attributes that its shape line names."""
    line = shape_line.parse(row)
    return tuple({t.attr for terms in (*line.inputs, *line.outputs) for t in terms if t.attr})


def _any(a: Any, b: Any) -> bool:
    """For instructions over blocks, whose extents are compared with their blocks': ranks alone."""
    return True


def _agree(a: Any, b: Any) -> bool:
    """Two extents, each a number at all points or a number at each."""
    if isinstance(a, int) == isinstance(b, int):
        return bool(a == b)
    one, many = (a, b) if isinstance(a, int) else (b, a)
    return all(n == one for n in many)

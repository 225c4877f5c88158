"""Runs a Program in NumPy by the meanings of its rows: the oracle for every pass, independent of the C runtime.

Slow and plain: each base value is a flat array, a view is a strided window on it, an instruction's results are written
where the program says. Constants must still be in rows (before the packing pass).
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from pteron.schema.errors import ArgumentError, DataError, DelegateError, LimitError
from pteron.schema.ops import OPS
from pteron.schema.row import Out
from pteron.schema.signature import signature

from ..sizes import Extent, extents
from . import Instr, Method, Program
from .arrays import same_dtype

Array = NDArray[Any]


def run(
    program: Program,
    inputs: Mapping[str, Array],
    *,
    method: str = "main",
    states: dict[str, Array] | None = None,
    max_extent: int = 4096,
) -> dict[str, Array]:
    """The outputs by name. `states` is read and updated; a missing one starts as its initial value or zeros.

    Raises:
        ArgumentError: an input's shape contradicts the program.
    """
    m = next(m for m in program.methods if m.name == method)
    machine = _Machine(program, max_extent)
    machine.bind(m, inputs)
    machine.load_states(states or {})
    machine.block(m.block)
    if states is not None:
        states.update({s.name: machine.states[i] for i, s in enumerate(program.states)})
    return {p.name: np.array(machine.read(p.value)) for p in m.outputs}


@dataclasses.dataclass(slots=True)
class _Machine:
    program: Program
    max_extent: int
    sizes: dict[sympy.Symbol, int] = dataclasses.field(default_factory=dict)
    memory: dict[int, Array] = dataclasses.field(default_factory=dict)
    states: dict[int, Array] = dataclasses.field(default_factory=dict)
    symbols: dict[str, sympy.Symbol] = dataclasses.field(default_factory=dict)

    def bind(self, m: Method, inputs: Mapping[str, Array]) -> None:
        """Sizes from the inputs' shapes and shape inputs; then every relation is checked."""
        self.symbols = {d.name: extents.symbol(d.name, d.min) for d in self.program.dims}
        for port in m.inputs:
            x = np.asarray(inputs[port.name])
            value = self.program.values[port.value]
            if x.ndim != len(value.shape) or x.dtype != same_dtype(value.dtype):
                raise ArgumentError(
                    f"{port.name}: expected {value.dtype} {value.shape}, got {x.dtype} {x.shape}"
                )
            self.memory[port.value] = np.array(x).reshape(-1)
            for want, got in zip(value.shape, x.shape, strict=True):
                if isinstance(want, sympy.Symbol):
                    self.sizes.setdefault(want, got)
        for port in m.inputs:
            for want, got in zip(
                self.program.values[port.value].shape, np.shape(inputs[port.name]), strict=True
            ):
                line = extents.linear(want)
                if line is not None:
                    self.sizes.setdefault(line.symbol, (got - line.offset) // line.factor)
        for d in self.program.dims:
            if d.kind == "shape":
                port = m.inputs[d.port]
                self.sizes[self.symbols[d.name]] = int(self.memory[port.value][d.element])
            if d.kind == "counted":
                self.sizes[self.symbols[d.name]] = self._capacity(d.capacity)
        for port in m.inputs:
            shape = self.shape(port.value)
            if shape != np.shape(inputs[port.name]):
                raise ArgumentError(
                    f"{port.name}: expected {shape}, got {np.shape(inputs[port.name])}"
                )
        for c in self.program.checks:
            a, b = self.size(c.a), self.size(c.b)
            if not {"eq": a == b, "le": a <= b, "divides": b % max(a, 1) == 0}[c.kind]:
                raise ArgumentError(f"{c.text}: {c.kind} fails for {a} and {b}")

    def _capacity(self, capacity: Extent | None) -> int:
        return self.max_extent if capacity is None else self.size(capacity)

    def load_states(self, given: Mapping[str, Array]) -> None:
        for i, s in enumerate(self.program.states):
            shape = tuple(self.size(n) for n in s.shape)
            start = np.zeros(shape, same_dtype(s.dtype))
            if s.initial is not None:
                start = self.program.constants[s.initial].array
            kept = np.array(given.get(s.name, start))
            if kept.size != math.prod(shape):  # prepared for other sizes: it begins anew
                kept = np.array(start)
            self.states[i] = kept.reshape(shape)

    def size(self, x: Extent) -> int:
        return extents.evaluate(x, self.sizes)

    def shape(self, v: int) -> tuple[int, ...]:
        return tuple(self.size(n) for n in self.program.values[v].shape)

    def read(self, v: int) -> Array:
        """The elements of a value, a window on its base."""
        value = self.program.values[v]
        if value.storage == "state":
            return self.states[value.base]
        if value.storage == "constant":
            constant = self.program.constants[value.base]
            assert constant.layout == "strided"
            return constant.array.reshape(constant.shape)
        shape = self.shape(v)
        if value.storage != "view":
            count = int(np.prod(shape, dtype=np.int64))
            if v not in self.memory or self.memory[v].size < count:
                self.memory[v] = np.zeros(count, same_dtype(value.dtype))
            return self.memory[v][:count].reshape(shape)
        flat = self.read(value.base).reshape(-1)
        if 0 in shape:
            return np.zeros(shape, flat.dtype)
        strides = extents.row_major(shape) if value.strides is None else value.strides
        steps = [self.size(s) * flat.itemsize for s in strides]
        return np.lib.stride_tricks.as_strided(flat[self.size(value.offset) :], shape, steps)

    def block(self, index: int) -> None:
        for at, instr in enumerate(self.program.blocks[index].instrs):
            try:
                self.instr(instr)
            except Exception as e:
                e.add_note(f"block {index}, instruction {at}: {instr.op}{instr.inputs}")
                raise

    def instr(self, i: Instr) -> None:
        if i.op in ("if", "loop", "call", "delegate"):
            getattr(self, "_" + i.op)(i)
            return
        op = OPS[i.op]
        xs = [None if v is None else self.read(v) for v in i.inputs]
        attrs = {a.name: a.default for a in signature(op).attrs} | i.attrs
        for a in signature(op).attrs:
            if a.kind == "dims":
                attrs[a.name] = tuple(self.size(n) for n in attrs[a.name])
        if "out" in inspect.signature(op.meaning).parameters:
            attrs["out"] = tuple(
                Out((), "") if v is None else Out(self.shape(v), self.program.values[v].dtype)
                for v in i.outputs
            )
        with np.errstate(all="ignore"):
            try:
                results = op.meaning(*xs, **attrs)
            except IndexError as error:
                raise DataError(f"{i.op}: {error}") from error
        for v, y in zip(
            i.outputs, results if isinstance(results, tuple) else (results,), strict=False
        ):
            if v is not None:
                self.write(v, np.asarray(y))

    def write(self, v: int, y: Array) -> None:
        """Stores a result; where an axis is counted, the result says its extent."""
        value = self.program.values[v]
        for want, got in zip(value.shape, y.shape, strict=True):
            if isinstance(want, sympy.Symbol) and self._is_counted(want):
                if got > self._capacity_of(want):
                    raise LimitError(
                        f"{want}: expected at most {self._capacity_of(want)}, got {got}"
                    )
                self.sizes[want] = got
        target = self.read(v)
        if target.shape != y.shape:
            raise DataError(f"value {v}: expected {target.shape}, got {y.shape}")
        with np.errstate(all="ignore"):
            target[...] = y.astype(target.dtype)

    def _is_counted(self, s: sympy.Symbol) -> bool:
        return any(d.kind == "counted" and self.symbols[d.name] == s for d in self.program.dims)

    def _capacity_of(self, s: sympy.Symbol) -> int:
        return next(
            self._capacity(d.capacity) for d in self.program.dims if self.symbols[d.name] == s
        )

    def _if(self, i: Instr) -> None:
        assert i.inputs[0] is not None
        block = i.attrs["then_block" if bool(self.read(i.inputs[0])) else "else_block"]
        self.block(block)
        for v, r in zip(i.outputs, self.program.blocks[block].results, strict=True):
            if v is not None:
                self.write(v, self.read(r).copy())

    def _delegate(self, i: Instr) -> None:
        """The fallback stands in: it gives the same bytes."""
        fallback = self.program.delegates[i.attrs["index"]].fallback
        if fallback is None:
            raise DelegateError("delegate: there is no fallback to run in its place")
        self._call(dataclasses.replace(i, attrs={"body": fallback}))

    def _call(self, i: Instr) -> None:
        block = self.program.blocks[i.attrs["body"]]
        for p, v in zip(block.params, i.inputs, strict=True):
            assert v is not None
            self.memory[p] = np.array(self.read(v)).reshape(-1)
        self.block(i.attrs["body"])
        for v, r in zip(i.outputs, block.results, strict=True):
            if v is not None:
                self.write(v, self.read(r).copy())

    def _loop(self, i: Instr) -> None:
        trips, condition, *carried = i.inputs
        block = self.program.blocks[i.attrs["body"]]
        state = [np.array(self.read(v)) for v in carried if v is not None]
        limit = None if trips is None else int(self.read(trips))
        go = True if condition is None else bool(self.read(condition))
        rows: list[list[Array]] = [[] for _ in i.outputs[len(state) :]]
        at = 0
        while go and (limit is None or at < limit):
            for p, y in zip(block.params, [np.array(at), *state], strict=True):
                self.write(p, y)
            self.block(i.attrs["body"])
            results = [np.array(self.read(r)) for r in block.results]
            go, state = bool(results[0]), results[1 : 1 + len(state)]
            for row, y in zip(rows, results[1 + len(state) :], strict=True):
                row.append(y)
            at += 1
            if at > self.max_extent * 1024:
                raise LimitError(f"loop: more than {at} iterations")
        for v, y in zip(i.outputs, state, strict=False):
            if v is not None:
                self.write(v, y)
        for v, row in zip(i.outputs[len(state) :], rows, strict=True):
            if v is not None:
                self.write(v, np.stack(row) if row else np.zeros((0, *self.shape(v)[1:])))

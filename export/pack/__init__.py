"""Brings weights into the layouts that kernels read: panels of 16 rows, depthwise taps (docs/format.md draws both).

A constant that a weight input reads, through whatever view, becomes a packed constant of its own; a computed weight goes
through a `pack` instruction. An embedding whose table is also a weight reads the panels by `gather_rows`. What is
still read as it was stays beside the packed form, and a note says so.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pteron.schema.activations import AUTO, DYNAMIC, FLOAT, INT8_TOKEN, STATIC
from pteron.schema.errors import ModelError
from pteron.schema.ops import OPS
from pteron.schema.ops_matrix import MANY_TAPS
from pteron.schema.signature import signature

from ..graph.weights import LARGE, Elements, Source, rows_of, whole
from ..program import Block, Blocks, Constant, Instr, Program, Value
from ..program.arrays import each_part, spread
from ..program.rebuild import homes, prune, renumber, used_values
from . import arithmetic, codes, turned, winograd
from .choices import PLAIN, Decide, by_rule, site_of

ROWS: Final = 16  # of a panel


class Key(NamedTuple):
    """A view of a constant as a weight [n, k], and how it is packed: `way` names another operator's form of it, or is PLAIN."""

    constant: int
    shape: tuple[int, int]
    strides: tuple[Any, ...]
    offset: Any
    layout: str
    groups: int
    way: str = ""

    def seen(self, array: NDArray[Any]) -> NDArray[Any]:
        """Elements at the strides, in elements, of the dense `array`."""
        flat = np.ascontiguousarray(array).reshape(-1)
        if 0 in self.shape:
            return np.zeros(self.shape, array.dtype)
        steps = tuple(int(s) * flat.itemsize for s in self.strides)
        return np.lib.stride_tricks.as_strided(
            flat[int(self.offset) :], self.shape, steps, writeable=False
        )


def pack(
    program: Program,
    notes: list[str] | None = None,
    activations: Sequence[str] = (),
    fast_conv: bool = False,
    decide: Decide = by_rule,
) -> Program:
    """Packs every weight; idempotent. `notes` gets a line for each constant that is stored in two layouts.

    `activations`, one of `schema.activations` for each method (default: float), says which products may be integer ones; the
    program then says what they are. `fast_conv`: convolutions may become conv_winograd. `decide` is asked for each of these, in
    order, whether it does.

    Raises:
        ModelError: depthwise taps or grouped weights are computed at run time, for which there is no instruction.
    """
    wanted = activations or (FLOAT,) * len(program.methods)
    work = _Packing(program, wanted, fast_conv, decide)
    blocks = tuple(
        work.block(block, method)
        for block, (method, _) in zip(program.blocks, homes(program), strict=True)
    )
    values = (*program.values, *work.values)
    orders = [[*range(*m.values), *work.added.get(i, ())] for i, m in enumerate(program.methods)]
    packed = dataclasses.replace(
        program, values=values, blocks=blocks, constants=(*program.constants, *work.constants)
    )
    rows = list(arithmetic.products(packed))
    alone = [d.name for d in program.delegates if d.fallback is None]
    packed = dataclasses.replace(packed, activations=arithmetic.summary(rows, alone))
    packed = renumber(packed, [_views_last(packed, order) for order in orders])
    if notes is not None:
        notes += _stored_twice(packed, {key.constant for key in work.made})
        for kind in (*DYNAMIC, *STATIC):
            notes += arithmetic.unmet(rows, kind, work.asked) if kind in wanted else []
    return prune(packed)


def panels(weight: NDArray[Any], groups: int = 1) -> NDArray[np.uint8]:
    """[n, k] as [groups][n / groups / 16][k / step][16][step] bytes, filled up with zeros: rows of each group to 16, k to the
    step, which is 4 for elements of one byte, else 1."""
    n, k = weight.shape
    rows, step = n // groups, _step(weight.dtype)
    tall, wide = -(-rows // ROWS) * ROWS, -(-k // step) * step
    out = np.zeros((groups, tall, wide), weight.dtype)
    out[:, :rows, :k] = weight.reshape(groups, rows, k)
    out = out.reshape(groups, tall // ROWS, ROWS, wide // step, step).swapaxes(2, 3)
    return np.ascontiguousarray(out).reshape(-1).view(np.uint8)


def stored_groups(instr: Instr, shape: Sequence[Any]) -> int:
    """The groups of a weight [n, k] in panels: those of the instruction, but one for depthwise int8, and one each product of
    a Winograd tile (the rows' relations)."""
    if instr.op == "conv_winograd":
        return winograd.PRODUCTS
    groups = int(instr.attrs.get("groups", 1))
    if instr.op not in ("conv_i8", "conv_i16"):
        return groups
    n, k = shape
    one = n // groups * (k // math.prod(instr.attrs["kernel"])) <= 1
    return 1 if one and k < MANY_TAPS else groups


def taps(weight: NDArray[Any]) -> NDArray[np.uint8]:
    """[c, t] as [c / 16][t][16] bytes, channels filled up with zeros."""
    return panels(weight)


def unpanel(
    stored: NDArray[Any], dtype: Any, shape: tuple[int, ...], groups: int = 1
) -> NDArray[Any]:
    """The reverse of `panels` and `taps`."""
    n, k = shape
    rows, step = n // groups, _step(np.dtype(dtype))
    tall, wide = -(-rows // ROWS) * ROWS, -(-k // step) * step
    out = stored.view(dtype).reshape(groups, tall // ROWS, wide // step, ROWS, step).swapaxes(2, 3)
    back: NDArray[Any] = out.reshape(groups, tall, wide)[:, :rows, :k].reshape(n, k)
    return back


def _step(dtype: np.dtype[Any]) -> int:
    """Elements along k that lie side by side in a panel."""
    return 4 if dtype.itemsize == 1 else 1


class _Packing:
    """Values and constants made so far; indices go on from the program's."""

    def __init__(
        self, program: Program, activations: Sequence[str], fast_conv: bool, decide: Decide
    ) -> None:
        self.activations = activations
        self.fast_conv = fast_conv
        self.decide = decide
        self.asked: set[str] = set()  # operators that `decide` was asked for
        self.program = program
        self.values: list[Value] = []
        self.constants: list[Constant] = []
        self.added: dict[int, list[int]] = {}  # by method
        self.made: dict[Key, int] = {}  # view of a constant -> packed constant
        self._packed: dict[tuple[int, int], int] = {}  # (method, packed constant) -> value
        self._tables = self._weight_views()

    def block(self, block: Block, method: int) -> Block:
        instrs: list[Instr] = []
        for instr in block.instrs:
            instrs += self._instr(instr, method)
        return dataclasses.replace(block, instrs=tuple(instrs))

    def _instr(self, instr: Instr, method: int) -> list[Instr]:
        before: list[Instr] = []
        inputs = list(instr.inputs)
        for i, layout in _weight_inputs(instr):
            v = inputs[i]
            if v is None or self.program.values[v].layout != "strided":
                continue
            groups = stored_groups(instr, self.program.values[v].shape)
            key = self._key(v, layout, groups)
            op = "" if key is None else self._other(instr, key, method)
            if key is not None and op:
                at = self._constant(key._replace(way=op), method)
                ports = (inputs[0], at, *inputs[2:])
                attrs = instr.attrs if op != "conv_winograd" else winograd.attributes(instr.attrs)
                return [dataclasses.replace(instr, op=op, inputs=ports, attrs=attrs)]
            if key is not None:
                way = PLAIN if _reads_no_codes(instr, i) else ""
                inputs[i] = self._constant(key._replace(way=way), method)
                continue
            inputs[i], made = self._computed(v, layout, groups, method, instr)
            before.append(made)
        if instr.op == "gather":
            return [self._gather(instr, method)]
        if instr.op == "matmul":
            instr = dataclasses.replace(instr, op=self._product(instr, inputs[1], method))
        return [*before, dataclasses.replace(instr, inputs=tuple(inputs))]

    def _product(self, instr: Instr, weight: int | None, method: int) -> str:
        """The operator for a weight that was packed here; of any other the plain product."""
        at = None if weight is None else weight - len(self.program.values)
        packed = None if at is None or at < 0 else self.values[at]
        if packed is None or packed.storage != "constant":
            return "matmul"
        op = arithmetic.product_of(self.activations[method], packed.format)
        return (
            op
            if op == "matmul"
            or self._chosen(op, packed.format, instr, self.activations[method] != AUTO)
            else "matmul"
        )

    def _other(self, instr: Instr, key: Key, method: int) -> str:
        """The operator that takes the place of one by a float weight that is no quantized one; "": none."""
        source, values = self.program.constants[key.constant], self.program.values
        if source.coded is not None or source.dtype != "f32":
            return ""
        if instr.op == "matmul" and self.activations[method] == INT8_TOKEN:
            op = "matmul_turned" if turned.fits(key.shape) else ""
        else:
            x, y = instr.inputs[0], instr.outputs[0]
            there = self.fast_conv and x is not None and y is not None
            fits = there and winograd.fits(instr, values[x or 0], values[y or 0])
            op = "conv_winograd" if fits else ""
        return op if op and self._chosen(op, PLAIN, instr) else ""

    def _chosen(self, operator: str, format: str, instr: Instr, by_name: bool = True) -> bool:
        """Whether it takes the place of a conv or matmul that it can compute. `by_name`: it was asked for."""
        x, y = instr.inputs[0], instr.outputs[0]
        assert x is not None and y is not None
        self.asked.add(operator)
        values = self.program.values
        return self.decide(site_of(operator, format, instr, values[x], values[y], by_name))

    def _gather(self, instr: Instr, method: int) -> Instr:
        table, index = instr.inputs
        key = None if table is None else self._key(table, "panels", 1)
        if key is None:
            return instr
        quantized = _coded(self.program.constants[key.constant], key) is not None
        if key not in self._tables and not quantized:
            return instr
        return Instr(
            "gather_rows", (self._constant(key, method), index), instr.outputs, {}, instr.node
        )

    def _weight_views(self) -> set[Key]:
        """The constants' views that become panels."""
        found = set()
        for block in self.program.blocks:
            for instr in block.instrs:
                for i, layout in _weight_inputs(instr):
                    v = instr.inputs[i]
                    if v is not None and self.program.values[v].layout == "strided":
                        groups = stored_groups(instr, self.program.values[v].shape)
                        found.add(self._key(v, layout, groups))
        return found - {None}  # type: ignore[return-value]

    def _key(self, v: int, layout: str, groups: int) -> Key | None:
        """What `v` reads, where that is a constant."""
        value = self.program.values[v]
        base = self.program.values[value.base] if value.storage == "view" else value
        if base.storage != "constant" or base.layout != "strided" or len(value.shape) != 2:
            return None
        dense = (value.shape[1], 1)
        return Key(base.base, value.shape, value.strides or dense, value.offset, layout, groups)

    def _constant(self, key: Key, method: int) -> int:
        """The value, in `method`, of the packed constant."""
        if key not in self.made:
            self.made[key] = len(self.program.constants) + len(self.constants)
            self.constants.append(_constant_of(self.program.constants[key.constant], key))
        at = self.made[key]
        if (method, at) not in self._packed:
            c = self.constants[at - len(self.program.constants)]
            value = Value(
                c.name,
                c.dtype,
                c.shape,
                "constant",
                at,
                layout=c.layout,
                format=c.format,
                groups=c.groups,
            )
            self._packed[method, at] = self._value(value, method)
        return self._packed[method, at]

    def _computed(
        self, v: int, layout: str, groups: int, method: int, instr: Instr
    ) -> tuple[int, Instr]:
        value = self.program.values[v]
        if layout != "panels" or groups != 1:
            raise ModelError(
                f"{instr.op}: expected constant weights for {groups} groups, got computed ones; "
                "compute the weights before export"
            )
        out = self._value(Value(value.name, value.dtype, value.shape, layout=layout), method)
        return out, Instr("pack", (v,), (out,), {}, instr.node)

    def _value(self, value: Value, method: int) -> int:
        self.values.append(value)
        index = len(self.program.values) + len(self.values) - 1
        self.added.setdefault(method, []).append(index)
        return index


def _weight_inputs(instr: Instr) -> list[tuple[int, str]]:
    """(input, layout) of the inputs that are weights."""
    layouts = {"W": "panels", "Taps": "taps"}
    ports = signature(OPS[instr.op]).inputs
    return [
        (i, layouts[p.rule])
        for i, p in enumerate(ports)
        if p.rule in layouts and i < len(instr.inputs)
    ]


def _reads_no_codes(instr: Instr, i: int) -> bool:
    """The row has float weights at this input as elements alone: a recurrence reads them at every step."""
    row = OPS[instr.op]
    name = signature(row).inputs[i].name
    return {f"format({name}) == plain", f"dtype({name}) == f32"} <= {*row.where}


def _constant_of(source: Constant, key: Key) -> Constant:
    """The constant that `key` stands for."""

    def view() -> NDArray[Any]:
        return key.seen(whole(source.elements))

    shape, groups, form = key.shape, key.groups, PLAIN
    if key.way == "matmul_turned":
        form, (shape, stored) = turned.FORMAT, turned.weight(view, shape)
    elif key.way == "conv_winograd":
        groups, (shape, stored) = winograd.PRODUCTS, winograd.weight(view, shape)
    else:
        coded = _coded(source, key) if key.layout == "panels" and key.way != PLAIN else None
        form, stored = coded or (form, _panels_of(source, key))
    return Constant(source.name, source.dtype, shape, stored, key.layout, form, groups)


def _panels_of(source: Constant, key: Key) -> Elements:
    """`panels` or `taps` of a constant's view: of large ones when they are written, some panels at a time."""
    (n, k), groups = key.shape, key.groups
    dtype = source.elements.dtype
    if source.elements.nbytes < LARGE:
        return panels(key.seen(whole(source.elements)), groups)
    rows = n // groups
    tall, wide = -(-rows // ROWS) * ROWS, -(-k // _step(dtype)) * _step(dtype)

    def bands() -> Iterator[NDArray[Any]]:
        array = key.seen(whole(source.elements))
        for group in range(groups):
            for begin, end in rows_of(rows, wide * dtype.itemsize, ROWS):
                yield panels(array[group * rows + begin : group * rows + end])

    return Source((groups * tall * wide * dtype.itemsize,), np.dtype(np.uint8), bands)


def _coded(source: Constant, key: Key) -> tuple[str, Elements] | None:
    """The format and bytes of the weight's codes, where it was decoded from some and a format stores them exactly."""
    c = source.coded
    if c is None or source.dtype != "f32":
        return None

    shape = c.codes.shape
    if (key.shape, key.strides, key.offset) != (shape, (key.shape[1], 1), 0):

        def seen(part: Elements | Blocks) -> NDArray[Any]:
            return key.seen(spread(part, shape))

        c = each_part(c, seen(c.codes), seen)
    return codes.stored(c, key.groups)


def _views_last(program: Program, order: list[int]) -> list[int]:
    return sorted(order, key=lambda v: (program.values[v].storage == "view", v))


def _stored_twice(program: Program, packed: set[int]) -> list[str]:
    """A line for each constant that was packed and is still read as it was."""
    values = program.values
    still = {values[v].base for v in used_values(program) if values[v].storage == "constant"}
    return [
        f"constant {c.name or i} is stored twice, dense and packed: {c.elements.nbytes:,} bytes"
        for i, c in enumerate(program.constants)
        if i in packed & still
    ]

"""Runs one operator's kernel on NumPy arrays, and says what its row promises about the result.

A `Case` is inputs, attributes and, where the row leaves them free, what the outputs look like. `run` calls the kernel;
`expected` evaluates the row's meaning in f64; `tolerance` turns the row's bound into a number for each element.
"""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import functools
import struct
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from ops.library import library

from pteron.export.file.tables import _step as step_bytes
from pteron.export.pack import panels
from pteron.runtime.cpu import Machine
from pteron.schema.dtypes import DTYPES, from_stored, name_of, stored_bytes, to_stored
from pteron.schema.isas import ROWS
from pteron.schema.layout import DType, Layout
from pteron.schema.ops import OPS
from pteron.schema.row import Out
from pteron.schema.shape import infer
from pteron.schema.signature import Port, pack_attrs, signature

Array = NDArray[Any]
GUARD = 64  # bytes before and behind an output
MAX_RANK = 8


class Status(enum.IntEnum):
    OK = 0
    BAD_PROGRAM = 1
    UNSUPPORTED = 2
    BAD_ARGUMENT = 3
    NO_MEMORY = 4
    DELEGATE = 5
    BAD_DATA = 6
    LIMIT = 7


@dataclasses.dataclass(frozen=True)
class Weight:
    """A packed weight: `array` [n, k] is what its elements mean, `stored` their bytes."""

    array: Array
    stored: Array
    format: int = 0
    layout: Layout = Layout.PANELS
    dtype: str = "f32"
    groups: int = 1
    block: int = 0
    """Its exponent."""


def weight(array: Array, groups: int = 1) -> Weight:
    """[n, k] in panels of 16 rows, in the array's own type."""
    return Weight(array, panels(array, groups), dtype=name_of(array.dtype), groups=groups)


def taps(array: Array) -> Weight:
    """Depthwise taps [c, t]."""
    return Weight(array, panels(array), layout=Layout.TAPS, dtype=name_of(array.dtype))


@dataclasses.dataclass(frozen=True)
class Case:
    """One call. Inputs: arrays, weights, or None where absent. `out`: shapes and dtypes of the outputs, where the row leaves
    them free (a variadic output, a free dimension, an `A`); None in it: that output is not wanted.

    `terms` is the K of the row's bound, `scale` what eps is multiplied by (default: the larger of 1 and |y|; for sums of
    products the sum of absolute values, which `expected` finds by the meaning of absolute inputs where `sums` is set).
    `want` replaces the meaning's results. `status` and `position`: the run must fail so."""

    op: str
    inputs: Sequence[Any] = ()
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)
    out: Sequence[Out | None] | None = None
    terms: int = 1
    sums: bool = False
    scale: Any = None
    ulp: float | None = None
    want: Sequence[Array] | None = None
    status: Status = Status.OK
    position: int | None = None
    extents: Sequence[tuple[int, ...]] | None = None  # of outputs with counted axes, after the run
    name: str = ""

    def __str__(self) -> str:
        shapes = "x".join(
            "-" if x is None else str(list(meant(x).shape)).replace(" ", "") for x in self.inputs
        )
        attrs = ",".join(f"{k}={v}" for k, v in self.attrs.items() if k != "steps")
        return self.name or f"{shapes}{':' if attrs else ''}{attrs}"


def meant(x: Any) -> Array:
    """The array that an input stands for."""
    return x.array if isinstance(x, Weight) else np.asarray(x)


# --- calling C ---------------------------------------------------------------------------------------------------------


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("shape", ctypes.c_int64 * MAX_RANK),
        ("stride", ctypes.c_int64 * MAX_RANK),
        ("dtype", ctypes.c_uint8),
        ("rank", ctypes.c_uint8),
        ("layout", ctypes.c_uint8),
        ("format", ctypes.c_uint8),
        ("block", ctypes.c_uint8),
        ("groups", ctypes.c_uint16),
    ]


class _Fault(ctypes.Structure):
    _fields_ = [
        ("text", ctypes.c_char_p),
        ("position", ctypes.c_int64),
        ("got", ctypes.c_int64),
        ("expected", ctypes.c_int64),
        ("port", ctypes.c_uint8),
        ("attr", ctypes.c_uint16),
    ]


class _Request(ctypes.Structure):
    _fields_ = [
        *((n, ctypes.c_uint32) for n in ("op", "in_count", "out_count", "threads", "cpu")),
        ("machine", ctypes.c_uint32 * 12),
        ("attrs", ctypes.c_void_p),
        ("inputs", ctypes.c_void_p),
        ("outputs", ctypes.c_void_p),
        *((n, ctypes.c_void_p) for n in ("ints", "literals", "steps", "refs", "extents")),
        ("fault", _Fault),
        ("stage", ctypes.c_uint32),
        ("scratch_bytes", ctypes.c_uint64),
        ("kept_bytes", ctypes.c_uint64),
    ]


@dataclasses.dataclass(frozen=True)
class Result:
    status: Status
    outputs: list[Array | None]
    text: str
    position: int
    port: int
    stage: int
    scratch_bytes: int


@functools.cache
def kernels() -> ctypes.CDLL:
    """The library, once its structs are known to be ours."""
    loaded = library()
    sizes = (loaded.pte_test_size(0), loaded.pte_test_size(1))
    assert sizes == (ctypes.sizeof(_Tensor), ctypes.sizeof(_Request)), "core/kernel.h changed"
    return loaded


def features() -> int:
    """PTE_CPU_* of this processor."""
    return int(kernels().pte_test_features())


def variants(have: int | None = None) -> list[int]:
    """Masks that between them pick every variant of a processor (this one): none, and of its rows the first, the first two ..."""
    have = features() if have is None else have
    mine = [1 << row.feature for row in ROWS if have >> row.feature & 1]
    return [sum(mine[:count]) for count in range(len(mine) + 1)]


def has_kernel(op: str) -> bool:
    return bool(kernels().pte_test_has_kernel(OPS[op].id))


def aligned(count: int, align: int = 64) -> Array:
    """Bytes whose first one is aligned."""
    raw = np.zeros(count + align, np.uint8)
    skip = -raw.ctypes.data % align
    return raw[skip : skip + count]


def _describe(shape: Sequence[int], strides: Sequence[int], dtype: str, data: int) -> _Tensor:
    t = _Tensor(data=data, dtype=int(DType[dtype.upper()]), rank=len(shape))
    for i, (extent, stride) in enumerate(zip(shape, strides)):
        t.shape[i], t.stride[i] = extent, stride
    return t


def _row_major(shape: Sequence[int]) -> list[int]:
    strides = [1] * len(shape)
    for i in range(len(shape) - 2, -1, -1):
        strides[i] = strides[i + 1] * shape[i + 1]
    return strides


def _input(x: Any, keep: list[Any]) -> _Tensor:
    if isinstance(x, Weight):
        data = aligned(len(x.stored) + 64)
        data[: len(x.stored)] = x.stored
        keep.append(data)
        t = _describe(x.array.shape, [0] * x.array.ndim, x.dtype, data.ctypes.data)
        t.layout, t.format, t.block, t.groups = int(x.layout), x.format, x.block, x.groups
        return t
    dtype = name_of(x.dtype)
    if stored_bytes(dtype, 8) < 8:  # narrower than a byte
        stored = to_stored(x, dtype)
        keep.append(stored)
        return _describe(x.shape, _row_major(x.shape), dtype, stored.ctypes.data)
    keep.append(x)
    strides = [s // x.itemsize for s in x.strides]
    return _describe(x.shape, strides, dtype, x.ctypes.data)


@dataclasses.dataclass
class _Buffer:
    """Memory of an output, guarded by junk on both sides; `view` are the elements, or None where they are packed."""

    memory: Array
    spec: Out
    view: Array | None
    strided: bool = False
    packed: bool = False

    @classmethod
    def make_packed(cls, spec: Out) -> _Buffer:
        """Panels [n/16][k][16] of an output [n, k]."""
        n, k = spec.shape
        whole = cls.make(Out((-(-n // 16), k, 16), spec.dtype), False)
        return dataclasses.replace(whole, spec=spec, packed=True)

    @classmethod
    def make(cls, spec: Out, strided: bool | str) -> _Buffer:
        count = int(np.prod(spec.shape, dtype=np.int64))
        if strided and stored_bytes(spec.dtype, 8) >= 8:
            make = {"part": _Scatter.part, "last": _Scatter.last}.get(str(strided), _Scatter.of)
            room = make(spec.shape, DTYPES[spec.dtype].numpy)
            return cls(room.memory, spec, room.view, True)
        size = stored_bytes(spec.dtype, count)
        memory = aligned(size + 2 * GUARD)
        memory[:] = 0xCD
        view = None
        if stored_bytes(spec.dtype, 8) >= 8:
            view = memory[GUARD : GUARD + size].view(DTYPES[spec.dtype].numpy).reshape(spec.shape)
        return cls(memory, spec, view)

    def tensor(self) -> _Tensor:
        if self.packed and self.view is not None:
            t = _describe(self.spec.shape, [0, 0], self.spec.dtype, self.view.ctypes.data)
            t.layout = int(Layout.PANELS)
            return t
        if self.view is None:
            return _describe(
                self.spec.shape,
                _row_major(self.spec.shape),
                self.spec.dtype,
                self.memory.ctypes.data + GUARD,
            )
        strides = [s // self.view.itemsize for s in self.view.strides]
        return _describe(self.spec.shape, strides, self.spec.dtype, self.view.ctypes.data)

    def read(self, shape: tuple[int, ...]) -> Array:
        """The elements as a dense array; of counted axes the first ones, as a dense tensor of that shape lies."""
        if self.view is None:
            return from_stored(self.memory[GUARD:-GUARD].copy(), self.spec.dtype, self.spec.shape)
        if self.packed:
            rows = self.view.swapaxes(1, 2).reshape(16 * len(self.view), shape[1])
            assert not rows[shape[0] :].any(), "rows behind the last are not zeros"
            return rows[: shape[0]].copy()
        if shape != self.spec.shape and not self.strided:
            count = int(np.prod(shape, dtype=np.int64))
            return self.view.reshape(-1)[:count].reshape(shape).copy()
        return self.view[(*(slice(n) for n in shape), ...)].copy()

    def check_guards(self) -> None:
        if self.strided and self.view is not None and self.view.size == 0:
            assert (self.memory == 0xCD).all(), "wrote an empty output"
        elif self.view is None or not self.strided:
            assert (self.memory[:GUARD] == 0xCD).all(), "wrote before its output"
            assert (self.memory[-GUARD:] == 0xCD).all(), "wrote behind its output"
        else:
            outside = self.memory.copy()
            copy = np.ndarray(
                self.view.shape,
                self.view.dtype,
                outside,
                self.view.ctypes.data - self.memory.ctypes.data,
                self.view.strides,
            )
            copy.view(f"V{copy.itemsize}")[...] = np.frombuffer(
                b"\xcd" * copy.itemsize, f"V{copy.itemsize}"
            )
            assert (outside == 0xCD).all(), "wrote between the elements of its output"


@dataclasses.dataclass(frozen=True)
class _Scatter:
    """A view of `shape` with axes in reverse order in memory, gaps between elements, the last axis backwards."""

    memory: Array
    view: Array

    @classmethod
    def part(cls, shape: Sequence[int], dtype: Any) -> _Scatter:
        """Columns 2 .. of something five columns wider, as an input of a concatenation lies."""
        room = [*shape[:-1], shape[-1] + 5] if shape else []
        memory = aligned(int(np.prod(room, dtype=np.int64)) * np.dtype(dtype).itemsize)
        memory[:] = 0xCD
        view = memory.view(dtype).reshape(room)
        return cls(memory, view[..., 2 : 2 + shape[-1]] if shape else view)

    @classmethod
    def last(cls, shape: Sequence[int], dtype: Any) -> _Scatter:
        """Axis 1 innermost, nothing between the elements."""
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        memory = aligned(size + 2 * GUARD)
        memory[:] = 0xCD
        inner = memory[GUARD : GUARD + size].view(dtype).reshape(shape[0], *shape[2:], shape[1])
        return cls(memory, np.moveaxis(inner, -1, 1))

    @classmethod
    def of(cls, shape: Sequence[int], dtype: Any) -> _Scatter:
        room = [2 * n + 1 for n in reversed(shape)]
        item = np.dtype(dtype).itemsize
        memory = aligned(int(np.prod(room, dtype=np.int64)) * item)
        memory[:] = 0xCD
        big = memory.view(dtype).reshape(room).transpose()
        view = big[(*(slice(1, None, 2) for _ in shape), ...)]
        view = view[..., ::-1] if shape else view
        return cls(memory, view)


def scattered(x: Array) -> Array:
    """The same elements, far from dense."""
    room = _Scatter.of(x.shape, x.dtype)
    room.view[...] = x
    return room.view


def run(
    case: Case,
    outs: Sequence[Out | None],
    *,
    threads: int = 1,
    cpu: int = 0,
    inputs: Sequence[Any] | None = None,
    strided_outputs: bool | str = False,
    in_place: int | None = None,
    machine: Machine | None = None,
    remote: Callable[[Any, list[Any]], int] | None = None,
) -> Result:
    """Runs the kernel once. `strided_outputs`: far from dense, or a "part" of something wider, or with axis 1 "last". `in_place`: output 0 shares the memory of (a copy of) that input. `machine`: None: a usual one. `remote` runs it elsewhere
    (remote.py)."""
    row = OPS[case.op]
    sig = signature(row)
    keep: list[Any] = []
    given = list(case.inputs if inputs is None else inputs)
    packed = [p.rule == "W" for p in sig.outputs]
    buffers = [
        None
        if o is None
        else _Buffer.make_packed(o)
        if i < len(packed) and packed[i]
        else _Buffer.make(o, strided_outputs)
        for i, o in enumerate(outs)
    ]
    if in_place is not None:
        assert buffers[0] is not None and buffers[0].view is not None
        buffers[0].view[...] = given[in_place]
        given[in_place] = buffers[0].view
    tensors = [None if x is None else _input(x, keep) for x in given]
    results = [None if b is None else b.tensor() for b in buffers]
    fill = sum(not p.variadic for p in sig.inputs) - len(tensors)
    tensors += [None] * fill
    results += [None] * (sum(not p.variadic for p in sig.outputs) - len(results))
    request = _Request(
        op=row.id, in_count=len(tensors), out_count=len(results), threads=threads, cpu=cpu
    )
    if machine is not None:
        facts = (machine.misses, machine.memory_ns, *machine.l1, *machine.l2, *machine.l3)
        request.machine[:] = (ctypes.sizeof(request.machine), *facts)
    request.inputs = _pointers(tensors, keep)
    request.outputs = _pointers(results, keep)
    _attributes(request, sig, case.attrs, keep)
    if remote is None:
        status = Status(kernels().pte_test_run(ctypes.byref(request)))
    else:
        used = [*keep, *tensors, *results, *(b.memory for b in buffers if b is not None)]
        status = Status(
            remote(request, [x for x in used if x is not None and not isinstance(x, list)])
        )
    outputs: list[Array | None] = []
    for buffer, tensor in zip(buffers, results):
        if buffer is None or tensor is None:
            outputs.append(None)
            continue
        buffer.check_guards()
        outputs.append(buffer.read(tuple(tensor.shape[: tensor.rank])))
    fault = request.fault
    text = (fault.text or b"").decode() if status else ""
    return Result(
        status, outputs, text, fault.position, fault.port, request.stage, request.scratch_bytes
    )


def _pointers(tensors: list[_Tensor | None], keep: list[Any]) -> int:
    array = (ctypes.c_void_p * max(1, len(tensors)))(
        *(None if t is None else ctypes.addressof(t) for t in tensors)
    )
    keep += [tensors, array]
    return ctypes.addressof(array)


def _attributes(request: _Request, sig: Any, attrs: dict[str, Any], keep: list[Any]) -> None:
    """The attribute struct and the side tables it refers to; each Dims element is an extent of its own."""
    ints: list[bytes] = []
    extents: list[int] = []
    steps: list[bytes] = []
    literals: list[int] = []
    values: dict[str, Any] = {}
    for a in sig.attrs:
        value = attrs.get(a.name, a.default)
        if a.kind in ("ints", "floats") and value is not None:
            value, start = (len(ints), len(value)), value
            ints += [struct.pack("<q" if a.kind == "ints" else "<d", v) for v in start]
        elif a.kind == "dims" and value is not None:
            value, start = (len(extents), len(value)), value
            extents += [int(v) for v in start]
        elif a.kind == "steps" and value:
            interned: dict[int, int] = {}
            steps = [step_bytes(s, interned, literals) for s in value]
            value = ((0, len(steps)), (0, len(literals)))
        if value is not None:
            values[a.name] = value
    parts = {
        "attrs": pack_attrs(sig, values),
        "ints": b"".join(ints),
        "steps": b"".join(steps),
        "literals": struct.pack(f"<{len(literals)}Q", *literals),
        "refs": struct.pack(f"<{len(extents)}I", *range(len(extents))),
        "extents": struct.pack(f"<{len(extents)}q", *extents),
    }
    for name, data in parts.items():
        memory = aligned(len(data) + 8)
        memory[: len(data)] = np.frombuffer(data, np.uint8)
        keep.append(memory)
        setattr(request, name, memory.ctypes.data)


# --- what is promised --------------------------------------------------------------------------------------------------


def ports(case: Case) -> list[Port]:
    """The port of each input of the case, the variadic one repeated."""
    found = signature(OPS[case.op]).inputs
    return [found[min(i, len(found) - 1)] for i in range(len(case.inputs))]


def type_of(case: Case, rule: str) -> str:
    """The dtype of an output port with this rule, from the inputs."""
    if rule in ("I64", "Bool"):
        return {"I64": "i64", "Bool": "bool"}[rule]
    for port, x in zip(ports(case), case.inputs):
        if port.rule == rule and x is not None:
            return x.dtype if isinstance(x, Weight) else name_of(np.asarray(x).dtype)
    return OPS[case.op].dtypes[0]


def outs_of(case: Case) -> list[Out | None]:
    """What the outputs look like: as the case says, else by the row's shape line."""
    if case.out is not None:
        return list(case.out)
    row = OPS[case.op]
    shapes = infer(row, [None if x is None else meant(x).shape for x in case.inputs], case.attrs)
    made: list[Out | None] = []
    for port, shape in zip(signature(row).outputs, shapes):
        assert shape is not None, (
            f"{row.name}: the shape line leaves output {port.name} free; give `out`"
        )
        made.append(Out(tuple(int(n) for n in shape), type_of(case, port.rule)))
    return made


def _wide(x: Any, change: Callable[[Array], Array] = lambda x: x) -> Any:
    """Floats in f64."""
    if x is None:
        return None
    array = meant(x)
    if DTYPES[name_of(array.dtype)].is_float:
        return change(array.astype(np.float64))
    return array


def _mean(
    case: Case, outs: Sequence[Out | None], change: Callable[[Array], Array] = lambda x: x
) -> list[Any]:
    import inspect

    row = OPS[case.op]
    attrs = dict(case.attrs)
    if "out" in inspect.signature(row.meaning).parameters:
        attrs["out"] = tuple(outs)
    narrow = case.op == "pointwise"  # its meaning rounds each step by itself
    inputs = [x if narrow else _wide(x, change) for x in case.inputs]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing
        y = row.meaning(*inputs, **attrs)
    return list(y) if isinstance(y, tuple) else [y]


def expected(case: Case, outs: Sequence[Out | None]) -> list[Any]:
    """What the row means, in f64 where outputs are floats."""
    return list(case.want) if case.want is not None else _mean(case, outs)


def tolerance(case: Case, outs: Sequence[Out | None], want: Sequence[Any]) -> list[Any]:
    """The largest |difference| that the row's bound allows, for each output; 0 for integers and exact rows."""
    bound = OPS[case.op].bound
    sums = _mean(case, outs, np.abs) if case.sums else want
    made = []
    for o, y, total in zip(outs, want, sums):
        if o is None or y is None or o.dtype not in ("f32", "f64", "f16", "bf16"):
            made.append(0.0)
            continue
        eps = {"f32": 2.0**-23, "f64": 2.0**-52, "f16": 2.0**-10, "bf16": 2.0**-7}[o.dtype]
        with np.errstate(all="ignore"):
            y = np.abs(np.asarray(y, np.float64))
        if case.ulp is not None or bound in ("exact", "its steps"):
            ulp = eps * np.where(np.isfinite(y), np.maximum(y, np.finfo(np.float32).tiny), 0)
            made.append((case.ulp or 0.0) * ulp)
        elif bound.endswith("ulp"):
            made.append(float(bound.split()[0]) * y * eps)
        else:
            factor = float(next(w for w in bound.split() if w.isdigit()))
            scale = case.scale if case.scale is not None else np.maximum(1.0, y)
            if case.sums:
                scale = np.abs(np.asarray(total, np.float64))
            k = case.terms if " K " in f" {bound} " else 1
            made.append(factor * max(1, k) * eps * scale + 2.0**-149)
    return made


def canonical(x: Array | None) -> bytes:
    """The bytes, with every NaN the same."""
    if x is None:
        return b""
    if DTYPES[name_of(x.dtype)].is_float:
        x = x.copy()
        if np.isnan(x).any():
            x[np.isnan(x)] = np.nan
    return x.tobytes()


def close(got: Array, want: Any, allowed: Any) -> str:
    """ "" where every element is within the bound, else the worst one in words. NaN and infinities must agree."""
    y = np.asarray(want)
    if got.shape != y.shape:
        return f"shape: expected {y.shape}, got {got.shape}"
    if got.size == 0:
        return ""
    if got.dtype.kind in "iub" and y.dtype.kind in "iub":
        wrong = got != y
        return "" if not wrong.any() else _worst(got, y, wrong)
    with np.errstate(all="ignore"):
        g, w = got.astype(np.float64), y.astype(np.float64)
        rounded = w.astype(got.dtype).astype(np.float64)
        same = (g == w) | (g == rounded) | (np.isnan(g) & np.isnan(w))
        wrong = ~same & ~(np.abs(g - w) <= allowed)
    return "" if not wrong.any() else _worst(got, y, wrong)


def _worst(got: Array, want: Array, wrong: Array) -> str:
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {got.size} differ, first at {at}: expected {want[at]!r}, got {got[at]!r}"

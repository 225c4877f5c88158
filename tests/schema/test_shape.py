"""Shape lines: what they say, and that C (gen/ops.c, core/shape.c) and Python (schema/shape.py) say the same."""

from __future__ import annotations

import ctypes
import dataclasses
import inspect
import math
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program import op_samples

from pteron.schema import shape
from pteron.schema.dtypes import DTYPES
from pteron.schema.formats import FORMATS
from pteron.schema.layout import DType
from pteron.schema.ops import OPS
from pteron.schema.row import Op, Out
from pteron.schema.shape import Operand
from pteron.schema.signature import pack_attrs, signature

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    out = tmp_path_factory.mktemp("shape") / "shape.so"
    names = ["core/shape.c", "core/relation.c", "core/op.c", "gen/ops.c"]
    sources = [ROOT / "tests/schema/shape_driver.c", *(ROOT / "runtime_c" / n for n in names)]
    flags = ["-std=c11", "-shared", "-fPIC", "-fsanitize=undefined"]
    flags += ["-fno-sanitize-recover=all", f"-I{ROOT}/runtime_c", f"-I{ROOT}/runtime_c/include"]
    subprocess.run([cc, *flags, *map(str, sources), "-o", str(out)], check=True)
    return ctypes.CDLL(str(out))


@dataclasses.dataclass
class Call:
    """One instruction, which may be bent."""

    inputs: list[Operand | None]
    outputs: list[Operand | None]
    attrs: dict[str, Any]


def sample(name: str) -> Call:
    """The operator's case of tests/program/op_samples.py."""
    program = op_samples.program(name)
    instr = program.blocks[0].instrs[0]

    def operand(v: int | None) -> Operand | None:
        value = None if v is None else program.values[v]
        return value and Operand(
            tuple(n if isinstance(n, int) else 12 for n in value.shape),
            *(value.dtype, value.layout, value.format, value.groups),
        )

    sig = signature(OPS[name])
    attrs = {a.name: instr.attrs.get(a.name, a.default) for a in sig.attrs if a.kind != "steps"}
    return Call(list(map(operand, instr.inputs)), list(map(operand, instr.outputs)), attrs)


def copied(call: Call) -> Call:
    return Call(list(call.inputs), list(call.outputs), dict(call.attrs))


def c_agrees(library: ctypes.CDLL, op: Op, call: Call, ranks_only: bool) -> bool:
    ports: list[int] = []
    extents: list[int] = []
    for output, side in ((0, call.inputs), (1, call.outputs)):
        for i, o in enumerate(side):
            if o is not None:
                fmt = FORMATS[o.format]
                ports += [
                    output,
                    i,
                    len(o.shape),
                    DType[o.dtype.upper()],
                    fmt.id,
                    fmt.exponent,
                    o.groups,
                ]
                extents += o.shape
    sig, ints, attrs = signature(op), list[int](), dict(call.attrs)
    for a in sig.attrs:
        if a.kind == "steps":
            attrs[a.name] = ((0, 0), (0, 0))
        elif a.kind in ("ints", "dims", "floats"):
            given = [int(x) for x in attrs[a.name]]
            attrs[a.name] = (len(ints), len(given))
            ints += given
    return bool(
        library.shape_agrees(
            op.id,
            pack_attrs(sig, attrs),
            (ctypes.c_int64 * 64)(*ints),
            len(ports) // 7,
            (ctypes.c_int32 * len(ports))(*ports),
            (ctypes.c_int64 * len(extents))(*extents),
            int(ranks_only),
        )
    )


def python_agrees(op: Op, call: Call, ranks_only: bool) -> bool:
    """With `ranks_only` extents are not known: they agree with everything."""
    attrs = {**call.attrs, **{a.name: () for a in signature(op).attrs if a.kind == "steps"}}

    def blind(side: list[Operand | None]) -> list[Operand | None]:
        if not ranks_only:
            return side
        return [o and dataclasses.replace(o, shape=(None,) * len(o.shape)) for o in side]

    if ranks_only:
        attrs |= {
            a.name: (None,) * len(attrs[a.name]) for a in signature(op).attrs if a.kind == "dims"
        }
    try:
        shape.check_call(op, blind(call.inputs), blind(call.outputs), attrs)
    except shape.ShapeError:
        return False
    return True


EXTENTS = (0, 1, 2, 3, 4, 5, 6, 7, 12, 2**31, 2**50, 2**62)
NUMBERS = (-(2**63), -(2**62), -(2**31), -129, -128, -1, 0, 1, 2, 3, 10, 62, 63, 127, 128, 2**31 - 1, 2**31, 2**61, 2**62, 2**63 - 1)  # fmt: skip


def bend(op: Op, call: Call, rng: random.Random) -> None:
    """Changes one operand or attribute; what rules of ports decide stays as it is."""
    sig = signature(op)
    side, ports = rng.choice(((call.inputs, sig.inputs), (call.outputs, sig.outputs)))
    attrs = [a for a in sig.attrs if a.kind != "steps"]
    if attrs and rng.random() < 0.5:
        a = rng.choice(attrs)
        old = call.attrs[a.name]
        if a.kind in ("ints", "dims", "floats"):
            new = list(old)
            change = rng.randrange(3)
            if change == 0 or not new:
                new.append(rng.choice((0, 1, 2)))
            elif change == 1:
                new.pop()
            else:
                new[rng.randrange(len(new))] = rng.choice(NUMBERS)
            call.attrs[a.name] = tuple(new)
        else:
            words = {"enum": a.values, "bool": (False, True), "float": (-1.5, -0.0, 0.0, 0.5, 1e30)}
            call.attrs[a.name] = rng.choice(words.get(a.kind, NUMBERS))
        return
    i = rng.randrange(len(side)) if side else 0
    if not side or side[i] is None:
        return
    o, port = side[i], ports[min(i, len(ports) - 1)]
    assert o is not None
    extents = list(o.shape)
    change = rng.randrange(6)
    if change == 0 and port.optional:
        side[i] = None
        return
    if change == 1 and len(extents) < 7:
        extents.insert(rng.randint(0, len(extents)), rng.choice((1, 2, 3)))
    elif change == 2 and extents:
        extents.pop(rng.randrange(len(extents)))
    elif extents:
        extents[rng.randrange(len(extents))] = rng.choice(EXTENTS)
    dtype, fmt, groups = o.dtype, o.format, o.groups
    if port.rule in ("A", "W", "Taps") and rng.random() < 0.3:
        dtype = rng.choice([d.name.lower() for d in DType])
    if port.rule == "W" and rng.random() < 0.3:
        fmt, groups = rng.choice(["plain", *FORMATS]), rng.randint(1, 4)
    side[i] = Operand(tuple(extents), dtype, o.layout, fmt, groups)


def retype(op: Op, call: Call, rng: random.Random) -> None:
    """Another dtype for all operands that have one in common."""
    sig, dtype = signature(op), rng.choice([d.name.lower() for d in DType])
    for side, ports in ((call.inputs, sig.inputs), (call.outputs, sig.outputs)):
        for i, o in enumerate(side):
            if o is not None and ports[min(i, len(ports) - 1)].rule == "T":
                side[i] = dataclasses.replace(o, dtype=dtype)


@pytest.mark.parametrize("name", op_samples.CASES)
def test_c_and_python_agree(name: str, library: ctypes.CDLL) -> None:
    rng = random.Random(name)
    op, whole = OPS[name], sample(name)
    agreed = refused = 0
    for i in range(1500):
        call = copied(whole)
        for _ in range(min(i, rng.randint(1, 3))):
            bend(op, call, rng)
        if i % 4 == 3:
            retype(op, call, rng)
        for ranks_only in (False, True):
            expected = python_agrees(op, call, ranks_only)
            assert c_agrees(library, op, call, ranks_only) == expected, (call, ranks_only)
            agreed += expected
            refused += not expected
        assert i > 0 or agreed == 2, f"the sample itself is refused: {call}"
    assert agreed > 50
    assert refused > 50 or not (op.where or sample(name).inputs)


def small(call: Call) -> bool:
    """Extents that a meaning can be evaluated on: none is 0, and no window has thousands of taps."""
    lists = [n for v in call.attrs.values() if isinstance(v, tuple) for n in v]
    shapes = [o.shape for o in (*call.inputs, *call.outputs) if o]
    return all(-64 <= n <= 64 for n in lists) and all(0 < math.prod(s) <= 1 << 14 for s in shapes)


NOT_ZERO = {("tree_ensemble", "roots"): -1}
"""Elements for which an operator means something where it does not for zeros."""


def meaning(op: Op, call: Call) -> tuple[Any, ...]:
    """What the row's function gives for zeros."""
    sig = signature(op)
    filled = [NOT_ZERO.get((op.name, p.name), 0) for p in sig.inputs] + [0] * len(call.inputs)
    arrays = [
        None if o is None else np.full(o.shape, element, DTYPES[o.dtype].numpy)
        for o, element in zip(call.inputs, filled, strict=False)
    ]
    arrays += [None] * (sum(not p.variadic for p in sig.inputs) - len(arrays))
    attrs = dict(call.attrs)
    attrs |= {
        a.name: op_samples.CASES[op.name].attrs.get("steps", ())
        for a in sig.attrs
        if a.kind == "steps"
    }
    if "out" in inspect.signature(op.meaning).parameters:
        attrs["out"] = tuple(None if o is None else Out(o.shape, o.dtype) for o in call.outputs)
    with np.errstate(all="ignore"):
        y = op.meaning(*arrays, **attrs)
    return y if isinstance(y, tuple) else (y,)


@pytest.mark.parametrize("name", op_samples.CASES)
def test_what_a_row_admits_has_a_meaning(name: str) -> None:
    """Of the shapes that the call says: a row without one of its relations would admit others."""
    rng, op, whole = random.Random(f"{name} meaning"), OPS[name], sample(name)
    data: tuple[type[Exception], ...] = ()
    if name in ("tensor_scatter", "resize"):
        data = (IndexError, ZeroDivisionError)
    elif name == "reshape":
        data = (ValueError,)
    found = 0
    for _ in range(500):
        call = copied(whole)
        for _ in range(rng.randint(1, 2)):
            bend(op, call, rng)
        if not python_agrees(op, call, False) or not small(call):
            continue
        try:
            given = meaning(op, call)
        except data:  # a place or a scale, which only the data or the kernel's own check refuses
            continue
        found += 1
        for o, y in zip(call.outputs, given):
            if o is not None and y is not None and not op.counts:
                assert np.shape(y) == o.shape, call
    assert found > 3


def test_infer_gives_what_check_accepts() -> None:
    assert shape.infer(OPS["matmul"], [(2, 3, 8), (5, 8)], {}) == [(2, 3, 5)]
    assert shape.infer(OPS["reduce"], [(2, 3, 4)], {"count": 2}) == [(2,)]
    assert shape.infer(OPS["layer_norm"], [(2, 3)], {"count": 1}) == [(2, 3), (2,), (2,)]
    assert shape.infer(OPS["conv"], [(1, 5, 5, 3), (6, 27)], {}) == [None]
    assert shape.infer(OPS["gather"], [(7, "d"), ("n",)], {}) == [("n", "d")]


def test_a_difference_names_port_axis_and_dimension() -> None:
    with pytest.raises(
        shape.ShapeError, match=r"matmul: input 1: axis 1: expected \[8\] \(k\), got \[9\]"
    ):
        shape.infer(OPS["matmul"], [(2, 8), (5, 9)], {})
    with pytest.raises(
        shape.ShapeError, match="batch_matmul: input 0: expected rank 2 or more, got 1"
    ):
        shape.infer(OPS["batch_matmul"], [(2,), (2, 3)], {})

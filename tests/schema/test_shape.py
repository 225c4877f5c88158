"""Shape lines: what they say, and that C (gen/ops.c, core/shape.c) and Python (schema/shape.py) say the same."""

from __future__ import annotations

import ctypes
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pteron.schema import shape
from pteron.schema.ops import OPS
from pteron.schema.row import Op
from pteron.schema.signature import pack_attrs, signature

ROOT = Path(__file__).resolve().parent.parent.parent
Shape = tuple[int, ...] | None


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    cc = shutil.which("cc")
    if cc is None:
        pytest.skip("no C compiler")
    out = tmp_path_factory.mktemp("shape") / "shape.so"
    names = ["core/shape.c", "core/op.c", "gen/ops.c"]
    sources = [ROOT / "tests/schema/shape_driver.c", *(ROOT / "runtime_c" / n for n in names)]
    flags = ["-std=c11", "-shared", "-fPIC", "-fsanitize=undefined"]
    flags += ["-fno-sanitize-recover=all", f"-I{ROOT}/runtime_c", f"-I{ROOT}/runtime_c/include"]
    subprocess.run([cc, *flags, *map(str, sources), "-o", str(out)], check=True)
    return ctypes.CDLL(str(out))


def c_agrees(
    library: ctypes.CDLL,
    op: Op,
    inputs: list[Shape],
    outputs: list[Shape],
    attrs: dict[str, Any],
    ranks_only: bool = False,
) -> bool:
    ports: list[int] = []
    extents: list[int] = []
    for output, side in ((0, inputs), (1, outputs)):
        for i, s in enumerate(side):
            if s is not None:
                ports += [output, i, len(s)]
                extents += s
    sig = signature(op)
    required = {
        a.name: 0 if a.kind != "enum" else a.values[0]
        for a in sig.attrs
        if a.kind in ("int", "float", "enum")
    }
    lists = {
        a.name: ((0, 0), (0, 0)) if a.kind == "steps" else (0, 0)
        for a in sig.attrs
        if a.kind in ("ints", "floats", "dims", "steps")
    }
    blocks = {a.name: 0 for a in sig.attrs if a.kind == "block"}
    packed = pack_attrs(sig, {**required, **lists, **blocks, **attrs})
    return bool(
        library.shape_agrees(
            op.id,
            packed,
            len(ports) // 3,
            (ctypes.c_int32 * len(ports))(*ports),
            (ctypes.c_int64 * len(extents))(*extents),
            int(ranks_only),
        )
    )


def python_agrees(
    op: Op,
    inputs: list[Shape],
    outputs: list[Shape],
    attrs: dict[str, Any],
    ranks_only: bool = False,
) -> bool:
    same = (lambda a, b: True) if ranks_only else None
    try:
        shape.check(op, inputs, outputs, attrs, same)
    except shape.ShapeError:
        return False
    return True


def fitting(op: Op, rng: random.Random) -> tuple[list[Shape], list[Shape], dict[str, Any]]:
    """Shapes that fit the line, some then bent."""
    line, sig = shape.parse(op), signature(op)
    attrs = {a.name: rng.randint(0, 2) for a in sig.attrs if a.kind == "int"}
    dims = {name: rng.randint(1, 4) for name in line.dims}
    runs = {name: [rng.randint(1, 4) for _ in range(rng.randint(0, 2))] for name in line.runs}
    for t in (t for side in (line.inputs, line.outputs) for terms in side for t in terms):
        if t.kind == "run" and t.attr:
            runs[t.name] = [rng.randint(1, 4) for _ in range(attrs[t.attr])]

    def build(terms: tuple[shape.Term, ...]) -> tuple[int, ...]:
        out: list[int] = []
        for t in terms:
            if t.kind == "any":
                out += [rng.randint(1, 4) for _ in range(rng.randint(0, 3))]
            elif t.kind == "run":
                out += runs[t.name]
            else:
                out.append(
                    dims[t.name]
                    if t.kind == "dim"
                    else t.number
                    if t.kind == "number"
                    else attrs[t.attr]
                )
        if rng.random() < 0.15:
            bend = rng.randrange(3)
            if bend == 0:
                out.append(rng.randint(1, 4))
            elif out and bend == 1:
                out.pop()
            elif out:
                out[rng.randrange(len(out))] = rng.randint(1, 5)
        return tuple(out[:8])

    sides: list[list[Shape]] = []
    for ports, lines in ((sig.inputs, line.inputs), (sig.outputs, line.outputs)):
        side: list[Shape] = []
        for port, terms in zip(ports, lines, strict=True):
            times = rng.randint(0, 3) if port.variadic else 1
            for _ in range(times):
                absent = port.optional and rng.random() < 0.3
                side.append(None if absent else build(terms))
        sides.append(side)
    return sides[0], sides[1], attrs


@pytest.mark.parametrize("name", OPS)
def test_c_and_python_agree(name: str, library: ctypes.CDLL) -> None:
    rng = random.Random(name)
    op = OPS[name]
    agreed = 0
    for _ in range(400):
        inputs, outputs, attrs = fitting(op, rng)
        for ranks_only in (False, True):
            expected = python_agrees(op, inputs, outputs, attrs, ranks_only)
            assert c_agrees(library, op, inputs, outputs, attrs, ranks_only) == expected, (
                inputs,
                outputs,
                attrs,
                ranks_only,
            )
            agreed += expected
    assert agreed > 100


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

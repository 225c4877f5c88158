"""Bent programs: a correct program of one operator (op_samples.py), then a few changes of what a row speaks of.

`bent(name, seed)` gives the bytes of one, sealed, and what was changed: a rank one up or down, extents 0, 1, 2^31, 2^50, 2^62
or of a dimension, another element type, layout, format, number of groups, an attribute at its extremes, lists too short
and too long, an operand that is absent, another one, or a view that is negative, expanded or overlaps itself or another
operand, steps of a pointwise program, an operator behind the first one.

`each(name)` gives those of one change, everywhere it can be made.

`python tests/program/rows.py DRIVER COUNT [SEED]` sends COUNT of them, spread over all operators, through tests/fuzz/many.c
and prints what became of them and why they were refused.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import random
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import sympy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from program import op_samples

from pteron.export.file.emit import emit_bytes
from pteron.export.program import Block, Constant, Instr, Method, Port, Program, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol
from pteron.schema.errors import PteronError
from pteron.schema.formats import FORMATS
from pteron.schema.layout import DType
from pteron.schema.ops import OPS
from pteron.schema.signature import Attr, signature
from pteron.schema.steps import STEPS, TYPES, Step

EXTENTS: Final = (0, 0, 1, 2, 3, 4, 5, 16, 17, 2**31 - 1, 2**31, 2**50, 2**62)
NUMBERS: Final = (
    -(2**63), -(2**62), -(2**31), -129, -2, -1, 0, 1, 2, 3, 7, 8, 9, 61, 62, 63, 127, 128, 65535, 65536, 2**31 - 1,
    2**31, 2**50, 2**61, 2**62, 2**63 - 1,
)  # fmt: skip
REALS: Final = (
    float("-inf"),
    -1.0,
    -0.0,
    0.0,
    1e-30,
    0.5,
    1.0,
    2.5,
    1e30,
    float("inf"),
    float("nan"),
)
DTYPES: Final = tuple(d.name.lower() for d in DType)
FEW: Final = 1 << 16
"""Elements of an operand that is exercised; more is there to be refused."""


@dataclasses.dataclass
class Draft:
    """A program of one method and one block that is being changed. Inputs and outputs are numbered when it is emitted."""

    name: str
    dims: list[Dim]
    constants: list[Constant]
    values: list[Value]
    instrs: list[Instr]
    rng: random.Random
    changes: list[str] = dataclasses.field(default_factory=list)

    @classmethod
    def of(cls, name: str, rng: random.Random) -> Draft:
        p = op_samples.program(name)
        return cls(
            name,
            list(p.dims),
            list(p.constants),
            list(p.values),
            list(p.blocks[0].instrs),
            rng,
        )

    def program(self) -> Program:
        values, ports, planned = [], {"input": [], "output": []}, ()  # type: ignore[var-annotated]
        for i, v in enumerate(self.values):
            if v.storage in ports:
                v = dataclasses.replace(v, name=f"v{i}", base=len(ports[v.storage]))
                ports[v.storage].append(Port(v.name, i))
            elif v.storage == "planned":
                v, planned = dataclasses.replace(v, above=planned), (i,)
            values.append(v)
        method = Method("main", tuple(ports["input"]), tuple(ports["output"]), (0, len(values)), 0)
        return Program(
            self.name,
            tuple(self.dims),
            constants=tuple(self.constants),
            values=tuple(values),
            blocks=(Block(tuple(self.instrs)),),
            methods=(method,),
        )

    def put(self, i: int, **changes: Any) -> None:
        """Changes a value; a constant whose bytes would not fit becomes memory that nobody wrote."""
        v = self.values[i]
        if v.storage == "constant":
            changes |= {"storage": "planned", "base": 0}
        self.values[i] = dataclasses.replace(v, **changes)

    def add(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def operand(self) -> tuple[Instr, str, int, int] | None:
        """An instruction, the side, the place there, and the value: one that is present."""
        found = [
            (instr, side, k, v)
            for instr in self.instrs
            for side in ("inputs", "outputs")
            for k, v in enumerate(getattr(instr, side))
            if v is not None
        ]
        return self.rng.choice(found) if found else None

    def replace(self, instr: Instr, **changes: Any) -> Instr:
        new = dataclasses.replace(instr, **changes)
        self.instrs[self.instrs.index(instr)] = new
        return new

    def rebind(self, instr: Instr, side: str, k: int, value: int | None) -> None:
        operands = list(getattr(instr, side))
        operands[k] = value
        self.replace(instr, **{side: tuple(operands)})


def bend_rank(d: Draft, v: int) -> str:
    shape = list(d.values[v].shape)
    if shape and d.rng.random() < 0.5:
        shape.pop(d.rng.randrange(len(shape)))
    else:
        shape.insert(d.rng.randint(0, len(shape)), d.rng.choice((1, 1, 2, 3)))
    d.put(v, shape=tuple(shape[:8]))
    return "rank"


def bend_extent(d: Draft, v: int) -> str:
    """One extent; sometimes another one of the same operand, or the same extent of every operand."""
    shape = list(d.values[v].shape)
    if not shape:
        return bend_rank(d, v)
    old, new = d.rng.choice(shape), d.rng.choice(EXTENTS)
    if d.rng.random() < 0.4:
        for i, value in enumerate(d.values):
            if old in value.shape:
                d.put(i, shape=tuple(new if n == old else n for n in value.shape))
        return "extent everywhere"
    shape[d.rng.randrange(len(shape))] = new
    if d.rng.random() < 0.3:
        shape[d.rng.randrange(len(shape))] = 0
    d.put(v, shape=tuple(shape))
    return "extent"


def bend_dimension(d: Draft, v: int) -> str:
    """An extent becomes a dimension, alone or wherever that number stands; or a counted one a number."""
    shape = list(d.values[v].shape)
    if not shape:
        return bend_rank(d, v)
    old = d.rng.choice(shape)
    if not isinstance(old, int):
        new: Any = 12
    else:
        kind = d.rng.choice(("symbolic", "symbolic", "counted"))
        name = f"d{len(d.dims)}"
        counted = kind == "counted"
        capacity = sympy.Integer(min(old, 1000)) if counted else None
        d.dims.append(Dim(name, kind, min=0, hint=1, capacity=capacity))
        new = symbol(d.dims[-1])
    everywhere = d.rng.random() < 0.6
    for i, value in enumerate(d.values):
        if i == v or everywhere:
            d.put(i, shape=tuple(new if n == old else n for n in value.shape))
    return "dimension"


def bend_type(d: Draft, v: int) -> str:
    dtype = d.rng.choice(DTYPES)
    for i, value in enumerate(d.values):
        if i == v or (d.rng.random() < 0.3 and value.dtype == d.values[v].dtype):
            d.put(i, dtype=dtype)
    return "type"


def bend_layout(d: Draft, v: int) -> str:
    value = d.values[v]
    if value.layout == "strided" and d.rng.random() < 0.8:
        return bend_type(d, v)
    change = d.rng.choice(("layout", "format", "groups"))
    new: dict[str, Any] = {
        "layout": {"layout": d.rng.choice(("strided", "panels", "taps"))},
        "format": {"format": d.rng.choice(("plain", *FORMATS))},
        "groups": {"groups": d.rng.choice((0, 1, 2, 3, 65535))},
    }[change]
    if value.storage in ("input", "output"):
        new["storage"] = "planned"
    d.put(v, **new)
    return change


def bend_attribute(d: Draft, v: int) -> str:
    instr = d.rng.choice(d.instrs)
    attrs = [a for a in signature(OPS[instr.op]).attrs if a.kind != "block"]
    if not attrs:
        return bend_extent(d, v)
    a = d.rng.choice(attrs)
    old = instr.attrs.get(a.name, a.default)
    d.replace(instr, attrs={**instr.attrs, a.name: _other(d.rng, a, old)})
    return f"attribute {a.kind}"


def _other(rng: random.Random, a: Attr, old: Any) -> Any:
    if a.kind == "enum":
        return rng.choice(a.values)
    if a.kind == "bool":
        return not old
    if a.kind == "steps":
        return _other_steps(rng, old)
    pick = {"int": NUMBERS, "ints": NUMBERS, "dims": NUMBERS, "float": REALS, "floats": REALS}[
        a.kind
    ]
    if a.kind in ("int", "float"):
        return rng.choice(pick)
    new = list(old or ())
    change = rng.randrange(5)
    if change == 0:
        new = new[:-1]
    elif change == 1:
        new.append(rng.choice(pick))
    elif change == 2:
        new = [rng.choice(pick)] * rng.choice((0, 1, 2, 3, 9, 64))
    elif new:
        new[rng.randrange(len(new))] = rng.choice(pick)
    return tuple(new)


def _other_steps(rng: random.Random, old: tuple[Step, ...]) -> tuple[Step, ...]:
    steps = list(old)
    change = rng.randrange(4)
    if change == 0 and steps:
        steps.pop(rng.randrange(len(steps)))
    elif change == 1:
        row = rng.choice(list(STEPS.values()))
        registers = tuple(rng.randrange(3) for _ in range(row.arity))
        steps.insert(
            rng.randint(0, len(steps)),
            Step(row.name, rng.choice(TYPES), rng.randrange(3), registers),
        )
    elif change == 2 and steps:
        i = rng.randrange(len(steps))
        if isinstance(steps[i].arg, int):
            steps[i] = dataclasses.replace(steps[i], arg=rng.choice((0, 1, 2, 7, 255, 65535)))
    elif steps:
        i = rng.randrange(len(steps))
        steps[i] = dataclasses.replace(steps[i], dst=rng.choice((0, 1, 15, 16, 255)))
    return tuple(steps)


def bend_view(d: Draft, v: int) -> str:
    """An operand becomes a view of other memory: steps that are negative, 0, or overlap; sometimes of another operand."""
    found = d.operand()
    if found is None:
        return bend_extent(d, v)
    instr, side, k, old = found
    value = d.values[old]
    if value.layout != "strided":
        return bend_extent(d, v)
    strides = [1] * len(value.shape)
    for i in reversed(range(len(strides) - 1)):
        strides[i] = strides[i + 1] * value.shape[i + 1]
    span = [n if isinstance(n, int) and 0 < n < FEW else 1 for n in value.shape]
    how = d.rng.choice(
        ("negative", "expanded", "overlapping", "transposed", "other memory", "wild")
    )
    if strides:
        axis = d.rng.randrange(len(strides))
        if how == "negative":
            strides[axis] = -strides[axis]
        elif how == "expanded":
            strides[axis] = 0
        elif how == "overlapping":
            strides = [d.rng.choice((0, 1, 1, 2, s)) for s in strides]
        elif how == "transposed":
            d.rng.shuffle(strides)
        elif how == "wild":
            strides[axis] = d.rng.choice(NUMBERS)
    steps = [(s if isinstance(s, int) else 1) * (n - 1) for s, n in zip(strides, span)]
    low, high = sum(min(0, s) for s in steps), sum(max(0, s) for s in steps)
    offset = d.rng.choice((-low, -low, -low, -low + 1, 0, -1))
    bases = [
        i
        for i, w in enumerate(d.values)
        if w.storage in ("planned", "input", "output") and w.dtype == value.dtype
    ]
    if how == "other memory" and bases:
        base = d.rng.choice(bases)
    else:
        room = max(1, min(high - low + 1, FEW))
        if side == "inputs" and d.rng.random() < 0.5:
            base = d.add(Value("", value.dtype, (room,), "input"))
        else:
            base = d.add(Value("", value.dtype, (room,)))
    view = Value("", value.dtype, value.shape, "view", base, tuple(strides), offset)
    d.rebind(instr, side, k, d.add(view))
    return f"view {how}"


def bend_operand(d: Draft, v: int) -> str:
    """Another value, none, the same twice, one more, one less."""
    found = d.operand()
    if found is None:
        return bend_extent(d, v)
    instr, side, k, _ = found
    operands = list(getattr(instr, side))
    change = d.rng.randrange(5)
    if change == 0:
        operands[k] = None
    elif change == 1:
        operands[k] = d.rng.randrange(len(d.values))
    elif change == 2:
        operands.append(d.rng.randrange(len(d.values)))
    elif change == 3:
        operands.pop()
    else:
        operands = [d.rng.randrange(len(d.values)) for _ in operands]
    d.replace(instr, **{side: tuple(operands)})
    return "operand"


def bend_chain(d: Draft, v: int) -> str:
    """Another operator reads what the first one wrote, which was sized for its own case or is bent to it."""
    written = [k for instr in d.instrs for k in instr.outputs if k is not None]
    if not written or len(d.instrs) > 2:
        return bend_extent(d, v)
    more = Draft.of(d.rng.choice(list(op_samples.CASES)), d.rng)
    shift, groups = len(d.values), len(d.constants)
    names = {
        dim.name: symbol(Dim(f"{dim.name}_{len(d.dims)}", "counted", min=0)) for dim in more.dims
    }
    d.dims += [dataclasses.replace(dim, name=str(names[dim.name])) for dim in more.dims]
    for value in more.values:
        base = value.base + (groups if value.storage == "constant" else 0)
        shape = tuple(n if isinstance(n, int) else names[str(n)] for n in value.shape)
        d.add(dataclasses.replace(value, base=base, shape=shape))
    d.constants += more.constants
    instr = more.instrs[0]
    sides = [
        [None if k is None else k + shift for k in side] for side in (instr.inputs, instr.outputs)
    ]
    if sides[0]:
        places = [i for i, k in enumerate(sides[0]) if k is not None]
        k = d.rng.choice(places)
        old, new = sides[0][k], d.rng.choice(written)
        assert old is not None
        if (
            d.rng.random() < 0.7
        ):  # every operand of the second that looked like the old one looks like the new
            model, like = d.values[old], d.values[new]
            for i in range(shift, len(d.values)):
                w = d.values[i]
                changes: dict[str, Any] = {}
                if w.dtype == model.dtype and w.layout == "strided":
                    changes["dtype"] = like.dtype
                if w.shape == model.shape:
                    changes["shape"] = like.shape
                if changes:
                    d.put(i, **changes)
        sides[0][k] = new
    d.instrs.append(dataclasses.replace(instr, inputs=tuple(sides[0]), outputs=tuple(sides[1])))
    return "chain"


BENDS: Final[tuple[tuple[int, Callable[[Draft, int], str]], ...]] = (
    (3, bend_rank),
    (6, bend_extent),
    (3, bend_dimension),
    (2, bend_type),
    (2, bend_layout),
    (5, bend_attribute),
    (4, bend_view),
    (2, bend_operand),
    (3, bend_chain),
)


def bent(name: str, seed: object) -> tuple[bytes, tuple[str, ...]]:
    """A bent program of operator `name` and what was changed; the same for the same seed."""
    rng = random.Random(f"{name} {seed}")
    for _ in range(50):
        d = Draft.of(name, rng)
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
            bend = rng.choices([b for _, b in BENDS], [w for w, _ in BENDS])[0]
            d.changes.append(bend(d, rng.randrange(len(d.values))))
        if (program := written(d)) is not None:
            return program, tuple(d.changes)
    raise AssertionError(f"{name} {seed}: nothing that could be written")


def written(d: Draft) -> bytes | None:
    """The draft's bytes; None where the writer cannot write them."""
    try:
        return emit_bytes(d.program())
    except (
        PteronError,
        ValueError,
        OverflowError,
        struct.error,
        KeyError,
        IndexError,
        AssertionError,
        TypeError,
        ZeroDivisionError,
    ):
        return None


def each(name: str) -> Iterator[bytes]:
    """One change at a time, everywhere: every axis of every operand (and of all that look like it) left out, one more, its extent 0, 1, one less, one
    more, 2^31, 2^50 (alone and wherever it stands), every attribute at its extremes and its list a number shorter and
    longer; and what a counting operator wrote into sizes that do not count, read by another."""
    for v in range(len(Draft.of(name, random.Random(0)).values)):
        for axis in range(len(Draft.of(name, random.Random(0)).values[v].shape) + 1):
            for change in range(16):
                if (program := _changed(name, v, axis, change)) is not None:
                    yield program
    instr = Draft.of(name, random.Random(0)).instrs[0]
    for a in signature(OPS[name]).attrs:
        for value in _extremes(a, instr.attrs.get(a.name, a.default)):
            d = Draft.of(name, random.Random(0))
            d.replace(d.instrs[0], attrs={**instr.attrs, a.name: value})
            if (program := written(d)) is not None:
                yield program
    if OPS[name].counts:
        yield from _uncounted(name)


def _changed(name: str, v: int, axis: int, change: int) -> bytes | None:
    d = Draft.of(name, random.Random(0))
    shape = list(d.values[v].shape)
    if change < 4:
        new_shape = (
            (*shape[:axis], *shape[axis + 1 :]) if change % 2 else (*shape[:axis], 2, *shape[axis:])
        )
        for i, value in enumerate(d.values):
            if i == v or (change >= 2 and value.shape == tuple(shape)):
                d.put(i, shape=new_shape)
        return written(d)
    if axis == len(shape) or not isinstance(shape[axis], int):
        return None
    old = shape[axis]
    new = (0, 1, old - 1, old + 1, 2**31, 2**50)[(change - 4) % 6]
    for i, value in enumerate(d.values):
        if i == v:
            d.put(i, shape=(*shape[:axis], new, *shape[axis + 1 :]))
        elif change >= 10 and old in value.shape:
            d.put(i, shape=tuple(new if n == old else n for n in value.shape))
    return written(d)


def _extremes(a: Attr, old: Any) -> list[Any]:
    if a.kind in ("int", "float"):
        return list(NUMBERS if a.kind == "int" else REALS)
    if a.kind in ("enum", "bool"):
        return list(a.values) or [False, True]
    if a.kind in ("steps", "block"):
        return []
    now, pick = tuple(old), NUMBERS if a.kind != "floats" else REALS
    lists = [now[:-1], (*now, 1), (), (1,) * 9]
    return lists + [(*now[:i], x, *now[i + 1 :]) for i in range(len(now)) for x in pick]


def _uncounted(name: str) -> Iterator[bytes]:
    """Everything has one element, which is 0 where it is an i64: nothing is found, and `pad` reads what was found."""
    for mode in ("wrap", "reflect", "edge"):
        d = Draft.of(name, random.Random(0))
        y = d.instrs[0].outputs[0]
        assert y is not None
        for i, value in enumerate(d.values):
            free = i != y and {"A": "i64"}.get(signature(OPS[name]).inputs[0].rule, value.dtype)
            shape = tuple(n if n == 4 and name != "nonzero" else 1 for n in value.shape)
            d.put(i, shape=shape, **({"dtype": free} if free else {}))
        rank = len(d.values[0].shape)
        d.put(y, shape=(rank, 1) if name == "nonzero" else (1, 3), storage="planned")
        wide = d.add(Value("", "i64", tuple(n + 2 for n in d.values[y].shape), "output"))
        d.instrs.append(Instr("pad", (y,), (wide,), {"begin": (1, 1), "mode": mode}))
        if (program := written(d)) is not None:
            yield program


def record(program: bytes) -> bytes:
    return struct.pack("<I", len(program)) + program


def send(driver: Path, programs: Iterable[bytes]) -> tuple[dict[str, int], list[str], str]:
    """What tests/fuzz/many.c says: totals, and a line for each program in order (stage, first refusal); complaints."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "programs", Path(folder) / "lines"
        with file.open("wb") as f:
            f.writelines(map(record, programs))
        done = subprocess.run([driver, file, out], capture_output=True, text=True, errors="replace")
        totals: dict[str, int] = json.loads(done.stdout)
        return totals, out.read_text(errors="replace").splitlines(), done.stderr


def reason(line: str) -> str:
    """A refusal without its numbers and names."""
    text = line.partition(" ")[2]
    text = re.sub(r"(input|output|attribute) \w+", r"\1 _", text)
    text = re.sub(
        r"(op|instrs|values|exprs|dims|constants|ports)(\[| )#?-?\d+\]?( \(\w+\))?", r"\1", text
    )
    return re.sub(r"-?\d+", "#", text)[:100]


def main() -> int:
    driver, count = Path(sys.argv[1]), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    names = list(op_samples.CASES)
    totals: collections.Counter[str] = collections.Counter()
    reasons: collections.Counter[str] = collections.Counter()
    changes: collections.Counter[str] = collections.Counter()
    for start in range(first, first + count, 2000):
        cases = [(names[i % len(names)], i) for i in range(start, min(start + 2000, first + count))]
        made = [bent(name, i) for name, i in cases]
        got, lines, complaints = send(driver, (program for program, _ in made))
        most = {k: max(totals[k], got[k]) for k in ("largest_bytes", "most_microseconds")}
        totals.update(got)
        totals = collections.Counter({**totals, **most})
        reasons.update(map(reason, (line for line in lines if not line.startswith("3 "))))
        changes.update(change for _, of in made for change in of)
        for line in complaints.splitlines():
            found = re.match(r"case (\d+):", line)
            print(cases[int(found.group(1))] if found else "", line, flush=True)
    print(json.dumps(dict(totals)))
    for table in (changes, reasons):
        for text, n in table.most_common(60):
            print(f"{n:8d}  {text}")
    return 1 if totals["crashes"] + totals["hangs"] + totals["broken"] else 0


if __name__ == "__main__":
    sys.exit(main())

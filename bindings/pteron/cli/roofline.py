"""What operators reach of what this processor can do: products a second of its FMA and dot instructions, bytes a second of its L2."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pteron.schema.dtypes import DTYPES
from pteron.schema.errors import ProgramError

from .. import _pteron
from ..runtime import TraceEvent, cpu
from .times import NAMES, own_ns

if TYPE_CHECKING:  # the exporter is read where a program is: it takes more memory than a run
    from pteron.export.program import Instr, Program, Value

KINDS: Final = ("fma", "dot", "L2", "memory")
"""As bindings/peaks.h numbers them: 10^9 products, and bytes read, a second and thread."""

FLOATS: Final = (
    "conv",
    "conv_block",
    "conv_depthwise",
    "conv_winograd",
    "matmul",
    "batch_matmul",
    "attention",
)
CODES: Final = ("conv_i8", "conv_i16", "matmul_int8", "matmul_turned")


@dataclasses.dataclass(frozen=True, slots=True)
class Work:
    """Of one instruction: multiplications, and bytes of its operands and results, each once."""

    products: int
    bytes: int


def peaks(machine: str, isa: str | None = None) -> dict[str, float]:
    """Those of one thread, by kind, of the best instruction set there is or of `isa`; measured in half a second and kept for `machine`
    in the user's cache. 0: not known."""
    kept = cache()
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):  # or of another machine
        found = json.loads(kept.read_text(encoding="utf-8"))[machine]
        return {kind: float(found[kind]) for kind in KINDS}
    name = (isa or cpu.features()[-1]).encode()
    measured = {kind: _pteron.lib.pteron_peak(i, name) for i, kind in enumerate(KINDS)}
    with contextlib.suppress(OSError):  # nowhere to keep it: measured again
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({machine: measured}), encoding="utf-8")
    return measured


def cache() -> Path:
    """Where peaks are kept: https://specifications.freedesktop.org/basedir-spec."""
    asked = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (asked if asked.is_absolute() else Path.home() / ".cache") / "pteron/peaks.json"


def work_of(path: Path, shapes: Mapping[str, Sequence[int]]) -> dict[int, Work]:
    """By the index of the instruction, where the inputs' shapes decide its sizes; nothing of a program with constants elsewhere."""
    from pteron.export.file.read import read

    try:
        program = read(path.read_bytes())
    except ProgramError:
        return {}
    sizes = _sizes(program, shapes)
    instrs = [i for block in program.blocks for i in block.instrs]
    found = {}
    for index, instr in enumerate(instrs):
        with contextlib.suppress(KeyError):  # a size that only the data decides
            found[index] = _work(program.values, instr, sizes)
    return found


def _sizes(program: Program, shapes: Mapping[str, Sequence[int]]) -> dict[Any, int]:
    return {
        extent: size
        for port in program.methods[0].inputs
        for extent, size in zip(program.values[port.value].shape, shapes.get(port.name, ()))
        if not isinstance(extent, int) and extent.is_Symbol
    }


def _work(values: Sequence[Value], instr: Instr, sizes: Mapping[Any, int]) -> Work:
    from pteron.export.sizes.extents import evaluate

    def shape(value: int | None) -> list[int]:
        return [] if value is None else [evaluate(e, sizes) for e in values[value].shape]

    operands = [v for v in (*instr.inputs, *instr.outputs) if v is not None]
    moved = sum(math.prod(shape(v)) * DTYPES[values[v].dtype].bits // 8 for v in operands)
    out = math.prod(shape(instr.outputs[0])) if instr.outputs else 0
    depth = 0
    if instr.op == "conv_block":  # pixels of x by expand, of y by taps and w
        wide, taps = shape(instr.inputs[3])
        expanded = math.prod(shape(instr.inputs[0])) if instr.inputs[1] is not None else 0
        pixels = math.prod(shape(instr.outputs[0])[:-1])
        return Work((expanded + pixels * taps + out) * wide, moved)
    if instr.op == "attention":  # scores of all keys, and as many values
        depth = 2 * shape(instr.inputs[1])[-2]
    elif instr.op == "batch_matmul":
        depth = shape(instr.inputs[0])[-1]
    elif instr.op == "conv_winograd":  # 36 products for 16 pixels
        out, depth = out * 36 // 16, shape(instr.inputs[1])[1]
    elif instr.op in (*FLOATS, *CODES):
        depth = shape(instr.inputs[1])[1]
    return Work(out * depth, moved)


def reached(
    events: list[TraceEvent], work: Mapping[int, Work], limits: Mapping[str, float], threads: int
) -> dict[str, dict[str, float]]:
    """By operator: 10^9 products and bytes a second, and the shares of the peaks of so many threads that these are.

    The kind of peak that `products` are compared with is fma, or dot for products of codes.
    """
    sums: dict[str, list[float]] = collections.defaultdict(lambda: [0.0, 0.0, 0.0])
    for event, ns in own_ns(events):
        if (one := work.get(event.instr)) is None:
            continue
        total = sums[NAMES[event.op]]
        for i, more in enumerate((ns, one.products, one.bytes)):
            total[i] += more
    found = {}
    for op, (spent, products, moved) in sums.items():
        rates = {"dot" if op in CODES else "fma": products, "L2": moved}
        found[op] = {
            f"{kind}_share": amount / max(spent, 1.0) / (limits[kind] * threads)
            for kind, amount in rates.items()
            if amount > 0 and limits[kind] > 0
        } | {"gproducts_s": products / max(spent, 1.0), "gbytes_s": moved / max(spent, 1.0)}
    return found

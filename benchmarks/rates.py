"""What operators reach of what one thread of this processor can do (peaks.c, measured once and kept in build/)."""

from __future__ import annotations

import collections
import json
import math
import subprocess
from collections.abc import Sequence
from pathlib import Path

from pteron.cli.bench import machine
from pteron.export.file.read import read

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build/peaks.json"


def peaks() -> dict[str, float]:
    """10^9 fused multiply-adds, and bytes read from L2 and from memory, a second and thread."""
    if KEPT.exists():
        kept: dict[str, dict[str, float]] = json.loads(KEPT.read_text(encoding="utf-8"))
        if machine() in kept:
            return kept[machine()]
    program = ROOT / "build/peaks"
    program.parent.mkdir(exist_ok=True)
    source = ROOT / "benchmarks/peaks.c"
    subprocess.run(["cc", "-O2", str(source), "-o", str(program)], check=True)
    said = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    found = dict(zip(("fma", "L2", "memory"), map(float, said.split()), strict=True))
    KEPT.write_text(json.dumps({machine(): found}), encoding="utf-8")
    return found


def products(path: Path) -> dict[str, int]:
    """Multiplications of each operator of the main block, where its shapes are numbers."""
    program = read(path.read_bytes())

    def shape(value: int | None) -> Sequence[int]:
        extents = () if value is None else program.values[value].shape
        return [e for e in extents if isinstance(e, int)]

    found: collections.Counter[str] = collections.Counter()
    for i in program.blocks[0].instrs:
        out = math.prod(shape(i.outputs[0]))
        if i.op in ("conv", "conv_i8", "conv_depthwise", "matmul"):
            found[i.op] += out * shape(i.inputs[1])[1]
        elif i.op == "attention":  # scores of all keys, and as many values
            found[i.op] += 2 * out * shape(i.inputs[1])[-2]
    return dict(found)

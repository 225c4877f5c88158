"""What an ONNX model is quantized with, as text or JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pteron.schema.errors import existing
from pteron.schema.printable import joined

from . import say

if TYPE_CHECKING:
    from pteron.quantize.stored import Found, Stored

Key = tuple[str, str, bool]


def inspect(path: Path, every: bool, as_json: bool) -> int:
    """Prints it; returns the exit code.

    Raises:
        ModelError: the file is no model.
    """
    from pteron.export.capture.onnx import files_of, read_onnx
    from pteron.quantize.stored import found

    model = read_onnx(existing(path), path.name)
    about = found(model)
    facts: dict[str, Any] = {
        "model": str(path),
        "file_bytes": sum(part.stat().st_size for part in files_of(path)),
        "opset": model.opset_imports.get("", 0),
        "quantized": about.is_quantized,
        "bits": about.bits,
        "formats": [row.as_dict() for row in kinds(about)],
        "activations": about.activations,
        "weights": [dataclasses.asdict(weight) for weight in about.weights] if every else [],
    }
    say.result("inspect", as_json, facts, lambda: text(facts, about, every))
    return 0


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """Weights that are stored alike."""

    format: str
    block: str
    zero: bool
    tensors: int
    count: int
    bits: int

    def as_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "bits": self.bits / max(self.count, 1)}


def kinds(about: Found) -> list[Kind]:
    """What most numbers have comes first."""
    groups: dict[Key, list[Stored]] = {}
    for weight in about.weights:
        groups.setdefault((weight.format, weight.block, weight.zero), []).append(weight)
    rows = [
        Kind(*key, len(some), sum(w.count for w in some), sum(w.bits for w in some))
        for key, some in groups.items()
    ]
    return sorted(rows, key=lambda row: -row.count)


def text(facts: dict[str, Any], about: Found, every: bool) -> str:
    state = "" if facts["quantized"] else ", not quantized"
    head = f"{facts['model']}  {say.size(facts['file_bytes'])}, opset {facts['opset']}"
    lines = [f"{head}, {about.bits:.2f} bits a weight{state}", ""]
    lines += table(kinds(about))
    if about.activations:
        lines += ["", "activations"]
        lines += [f"  {count:6d} {how}" for how, count in about.activations.items()]
    if every:
        lines += ["", "weights"]
        lines += [
            f"  {w.bits / max(w.count, 1):6.2f} bits  {label(w)}  {w.name}" for w in about.weights
        ]
    return joined(lines)


def table(rows: Iterable[Kind]) -> list[str]:
    lines = [f"  {'format':12s} {'a scale for':12s} {'tensors':>8s} {'weights':>12s} {'bits':>6s}"]
    for row in rows:
        name = row.format + (" - zero" if row.zero else "")
        bits = row.bits / max(row.count, 1)
        lines.append(
            f"  {name:12s} {row.block or '-':12s} {row.tensors:8d} {row.count:12d} {bits:6.2f}"
        )
    return lines


def label(weight: Stored) -> str:
    zero = " - zero" if weight.zero else ""
    return f"{weight.format}{zero} {weight.block}".strip()

"""The last line of a command that writes a model: what it wrote, how large, beside what, how much of it in fewer bits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..source import file_of

if TYPE_CHECKING:
    from pteron.quantize.report import QuantReport


def wrote(out: Path | None, source: Path, done: Sequence[QuantReport]) -> list[str]:
    """`wrote m.pte (11,755,620 bytes, 0.25 of m.onnx, 21 of 21 layers in int8)`; nothing of what is no file."""
    if out is None or not out.is_file():
        return []
    size, before = _bytes(out), _bytes(file_of(source))
    facts = [f"{size:,} bytes"]
    if file_of(source).suffix != ".py" and before:
        facts.append(f"{size / before:.2f} of {source.name}")
    facts += [layers(each) for each in done if each.layers or each.skipped]
    return [f"wrote {out} ({', '.join(facts)})"]


def layers(report: QuantReport) -> str:
    """How many of the layers there are; of a mix, in which formats."""
    count, of = len(report.layers), len(report.layers) + len(report.skipped)
    if report.coverage is not None:
        count, of = report.coverage.layers, report.coverage.of
    return f"{count} of {of} layers{':' if ' ' in report.formats else ' in'} {report.formats}"


def _bytes(path: Path) -> int:
    """Of a model, with the files of its weights."""
    if path.suffix != ".onnx":
        return path.stat().st_size
    from pteron.export.capture.onnx import files_of

    return sum(part.stat().st_size for part in files_of(path))

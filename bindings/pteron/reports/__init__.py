"""The reports of an export and of a quantization as files: a page (.html) or one JSON object (.json)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import told

if TYPE_CHECKING:
    from pteron.export.report import Report
    from pteron.quantize.report import QuantReport


def write_export(path: Path, report: Report, title: str) -> None:
    """Raises as `export.write.write_text`."""
    from .export import export_page

    _write(path, lambda: export_page(report, title), "export", report.as_dict())


def write_failure(path: Path, error: BaseException, title: str) -> None:
    """Of an export that failed. Raises as `write_export`."""
    from .export import failure_page

    _write(path, lambda: failure_page(error, title), "export", told.facts_of(error))


def write_quantization(path: Path, report: QuantReport, title: str) -> None:
    """Raises as `write_export`."""
    from .quantization import quantization_page

    _write(path, lambda: quantization_page(report, title), "quantize", report.as_dict())


def _write(path: Path, page: Any, command: str, facts: dict[str, Any]) -> None:
    from pteron.export.write import write_text

    write_text(path, page() if path.suffix == ".html" else told.as_text(command, facts))

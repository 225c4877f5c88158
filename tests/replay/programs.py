"""The bytes of programs, model by model: `make replay` writes replay.json anew.

A change that means to leave programs alone leaves the file alone; one that means to change them changes its lines, and
the commit says which and why. Models: ONNX's own, as its package has them, and the digits in every format.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Final

import onnx

from pteron.pipeline import export_model
from pteron.quantize.encode.table import FORMATS
from pteron.quantize.recipe.rules import recipe
from pteron.schema.errors import PteronError

FILE: Final = Path(__file__).with_name("replay.json")
DIGITS: Final = Path(__file__).resolve().parents[2] / "examples/digits/digits.onnx"


def models() -> dict[str, tuple[Path, str | None]]:
    """Name -> (model, format of its weights)."""
    home = Path(onnx.__file__).parent / "backend/test/data"
    found: dict[str, tuple[Path, str | None]] = {
        "/".join(f.relative_to(home).parts[:2]): (f, None) for f in home.glob("*/*/model.onnx")
    }
    return dict(sorted(found.items())) | {
        f"digits/{name or 'f32'}": (DIGITS, name) for name in (None, *sorted(FORMATS))
    }


def digest(model: Path, format_: str | None) -> str:
    """Of the program's file; "refused" where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "model.pte"
        try:
            export_model(model, out, quantize=format_ and recipe(format_, algorithm="nearest"))
        except PteronError:
            return "refused"
        return hashlib.blake2s(out.read_bytes(), digest_size=8).hexdigest()


if __name__ == "__main__":
    FILE.write_text(json.dumps({n: digest(*m) for n, m in models().items()}, indent=0) + "\n")

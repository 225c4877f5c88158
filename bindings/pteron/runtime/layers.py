"""Where Arm's ML emulation layers for Vulkan are: the VGF delegate puts them in where no device has the extensions itself."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "PTERON_VGF_LAYERS"
PACKAGE: Final = "emulation_layer"


def find() -> Path | None:
    """The package's `deploy` folder: of this interpreter, else of the one that PTERON_NPU_PYTHON names, else None."""
    spec = importlib.util.find_spec(PACKAGE)
    places = [Path(p) for p in (spec.submodule_search_locations or ())] if spec else []
    if named := os.environ.get("PTERON_NPU_PYTHON"):
        places += Path(named).parent.parent.glob(f"lib/python*/site-packages/{PACKAGE}")
    return next((p / "deploy" for p in places if (p / "deploy").is_dir()), None)


def offer() -> None:
    """Tells the VGF delegate of this process, unless the user has."""
    if VARIABLE not in os.environ and (found := find()):
        os.environ[VARIABLE] = str(found)

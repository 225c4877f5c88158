"""Files of arrays, .npy and .npz, whose bytes may be anything."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

_DAMAGED: Final = (
    OSError, ValueError, EOFError, RuntimeError, KeyError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What numpy and zipfile raise over the bytes of an open file."""


def read_arrays(path: Path) -> Any:
    """What an .npz holds by name as a dict, or the array of an .npy; None where the bytes are neither, or damaged.

    Objects are not read, for they can run code.

    Raises:
        OSError: the file is not there or cannot be read.
    """
    with path.open("rb") as file:
        try:
            loaded = np.load(file, allow_pickle=False)
            if not isinstance(loaded, np.lib.npyio.NpzFile):
                return loaded
            with loaded:
                return {name: loaded[name] for name in loaded.files}
        except _DAMAGED:
            return None


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """An .npz under exactly this name, of arrays that may have any names."""
    with zipfile.ZipFile(path, "w", allowZip64=True) as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)

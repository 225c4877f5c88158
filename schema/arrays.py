"""Files of arrays, .npy and .npz, whose bytes may be anything."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .errors import DamagedError
from .reading import check_packed, decoding


def read_arrays(path: Path) -> Any:
    """What an .npz holds by name as a dict, or the array of an .npy; None where the bytes are neither, or damaged.

    Objects are not read, for they can run code; nor what claims to be much larger than its file.

    Raises:
        OSError: the file is not there or cannot be read.
    """
    with path.open("rb") as file:
        try:
            with decoding(str(path), "arrays"):
                return _read(file, path.stat().st_size)
        except DamagedError:
            return None


def _read(file: BinaryIO, size: int) -> Any:
    loaded = np.load(file, allow_pickle=False)
    if not isinstance(loaded, np.lib.npyio.NpzFile) or loaded.zip is None:
        return loaded
    with loaded:
        check_packed(loaded.zip, size)
        return {n.removesuffix(".npy"): entry_of(loaded.zip, n) for n in loaded.zip.namelist()}


def entry_of(file: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """An array of an .npz, in as much memory as its entry has bytes, whatever its header claims.

    Raises:
        ValueError: it claims more; any other that a decoder raises.
    """
    with file.open(name) as entry:
        whole = io.BytesIO(entry.read())
    return np.asarray(np.lib.format.read_array(whole, allow_pickle=False))


def write_arrays(path: Path, arrays: Mapping[str, Any]) -> None:
    """An .npz under exactly this name, of arrays that may have any names."""
    with zipfile.ZipFile(path, "w", allowZip64=True) as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)

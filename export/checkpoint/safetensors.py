"""Safetensors files: a header in JSON, then elements. Nothing is read until it is asked for."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Any, Final

import ml_dtypes
import numpy as np

from pteron.schema.errors import ArgumentError, QuantError
from pteron.schema.reading import parsed

from .weight import Array, Tensor

DTYPES: Final[dict[str, np.dtype[Any]]] = {
    "F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype(ml_dtypes.bfloat16),
    "I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "I16": np.dtype("<i2"), "I8": np.dtype("i1"), "U8": np.dtype("u1"),
    "U16": np.dtype("<u2"), "U32": np.dtype("<u4"), "BOOL": np.dtype("u1"),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn), "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "F8_E8M0": np.dtype(ml_dtypes.float8_e8m0fnu),
}  # fmt: skip
HEADER_BYTES: Final = 100 << 20
RANK: Final = 16


def read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors by name, of a file or of a folder, and what config.json beside them says.

    Raises:
        ArgumentError: no such file in the folder; QuantError: a damaged one.
    """
    files = _files(path) if path.is_dir() else [path]
    if not files:
        raise ArgumentError(f"{path}: expected .safetensors files in it, got none")
    found: dict[str, Tensor] = {}
    for file in files:
        found |= _tensors(file)
    config = (path if path.is_dir() else path.parent) / "config.json"
    try:
        facts = parsed(config.read_bytes()) if config.exists() else {}
    except (ValueError, RecursionError):
        raise QuantError(f"{config}: expected JSON") from None
    return found, facts if isinstance(facts, dict) else {}


def _files(folder: Path) -> list[Path]:
    """Those that the index names; else transformers' one file, else all: a folder may have the same weights for another tool beside.

    Raises:
        QuantError: an index that is none, or names a file that is not there.
    """
    index, whole = folder / "model.safetensors.index.json", folder / "model.safetensors"
    if not index.exists():
        return [whole] if whole.exists() else sorted(folder.glob("*.safetensors"))
    try:
        names = sorted(set(parsed(index.read_bytes())["weight_map"].values()))
        paths = [folder / Path(name).name for name in names]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise QuantError(
            f"{index}: expected a weight_map of files by tensors; download it again"
        ) from None
    lost = [path.name for path in paths if not path.is_file()]
    if lost or not paths:
        raise QuantError(
            f"{folder}: expected {lost[0] if lost else 'files'}, which {index.name} names, got none; download the rest of the checkpoint"
        )
    return paths


def _tensors(path: Path) -> dict[str, Tensor]:
    size = path.stat().st_size
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 2 <= length <= min(size - 8, HEADER_BYTES):
                raise ValueError
            header = parsed(file.read(length))
        rows = {
            n: _tensor(path, r, 8 + length, size) for n, r in header.items() if n != "__metadata__"
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise QuantError(f"{path}: expected a safetensors file, got a damaged header") from None
    return rows


def _tensor(path: Path, row: dict[str, Any], start: int, size: int) -> Tensor:
    dtype, shape = DTYPES[row["dtype"]], tuple(int(n) for n in row["shape"][:RANK])
    if len(shape) != len(row["shape"]):
        raise ValueError
    begin, end = row["data_offsets"]
    if (
        min(begin, *shape, 0) < 0
        or end - begin != math.prod(shape) * dtype.itemsize
        or start + end > size
    ):
        raise ValueError
    read = functools.partial(_read, path, dtype, shape, start + begin)
    return Tensor(str(row["dtype"]), shape, end - begin, read)


def _read(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], at: int) -> Array:
    raw = np.fromfile(path, np.uint8, math.prod(shape) * dtype.itemsize, offset=at)
    return raw.view(dtype).reshape(shape)

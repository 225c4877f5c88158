"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path


def write_whole(path: Path, write: Callable[[Path], None]) -> int:
    """Writes beside `path` and renames, so that no reader ever sees half a file; its size in bytes."""
    if not path.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "no such folder; make it or name another", str(path.parent)
        )
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        return part.replace(path).stat().st_size
    finally:
        part.unlink(missing_ok=True)

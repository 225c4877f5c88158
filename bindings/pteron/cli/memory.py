"""What this process has needed of memory."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_bytes() -> int | None:
    """The most that was resident since the process began its program, in bytes; None where the system does not tell.

    Linux by VmHWM: what getrusage says of a process begins with its parent's peak, as fork copies it and exec keeps it.
    """
    if STATUS.exists():
        found = re.search(r"^VmHWM:\s*(\d+) kB", STATUS.read_text(), re.MULTILINE)
        return int(found[1]) * 1024 if found else None
    try:
        usage = importlib.import_module("resource")
    except ModuleNotFoundError:
        return None
    peak = int(usage.getrusage(usage.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else peak * 1024

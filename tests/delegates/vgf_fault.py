"""Makes the VGF delegate of this process fail in the middle of its next run: Vulkan says that the device is lost."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pteron
from pteron._pteron import ffi
from pteron.runtime import delegates as runtime

ROOT = Path(__file__).resolve().parent.parent.parent
DEVICE_LOST = -4
OFFSET = """
#include <stdio.h>
#include "delegates/vgf/device.h"
int main(void) { printf("%zu", offsetof(pte_vgf_device, vkQueueSubmit)); return 0; }
"""
_SUBMIT = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p
)
_keep: list[object] = []


class _Api(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("self", ctypes.c_void_p),
    ]


@cache
def _offset() -> int:
    """Where the delegate keeps its pointer to vkQueueSubmit."""
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "offset.c"), Path(folder, "offset")
        source.write_text(OFFSET)
        home = ROOT / "runtime_c"
        subprocess.run(["cc", f"-I{home}", f"-I{home}/include", source, "-o", program], check=True)
        return int(subprocess.run([program], capture_output=True, check=True).stdout)


def next_run_fails(model: pteron.Model) -> None:
    (row,) = (d for d in runtime.known() if d.name == "vgf")
    api = _Api.from_address(int(ffi.cast("uintptr_t", row.pointer)))
    place = ctypes.c_void_p.from_address(int(api.self or 0) + _offset())
    before = place.value

    def submit(queue: int, count: int, info: int, fence: int) -> int:
        place.value = before
        return DEVICE_LOST

    function = _SUBMIT(submit)
    _keep.append(function)
    place.value = ctypes.cast(function, ctypes.c_void_p).value

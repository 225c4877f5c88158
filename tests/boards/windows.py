"""Programs for 64-bit Windows, cross-compiled, and run by wine."""

from __future__ import annotations

import functools
import os
import tempfile
from pathlib import Path

import trees
from boards import sdk

CC = "x86_64-w64-mingw32-gcc-posix"
TOOLCHAIN = sdk.ROOT / "runtime_c/cmake/x86_64-w64-mingw32.cmake"
QUIET = {"WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}
WINE = ["env", *(f"{name}={value}" for name, value in QUIET.items()), "wine"]


@functools.cache
def need() -> None:
    """Skips where a tool is absent; makes wine's folder, which takes ten seconds, before anybody is timed."""
    sdk.need("cmake", CC, "wine")
    # not in the checkout: drive z: is a link to /, and what lists the sources for an sdist would follow it
    prefix = Path(tempfile.gettempdir()) / f"pteron-wine-{os.getuid()}"
    prefix.mkdir(parents=True, exist_ok=True)
    os.environ["WINEPREFIX"] = str(prefix)
    if not (prefix / "system.reg").exists():
        sdk.sh("wineboot", "-i", **QUIET)


def built(name: str, *options: str, targets: tuple[str, ...] = ()) -> Path:
    """build/boards/<name>: Pteron configured with the options, and the targets (none: all) built."""
    return trees.built(
        f"boards/{name}",
        f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAIN}",
        *options,
        targets=targets,
        timeout=550,
    )

"""Commands that a test runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def sh(where: Path, *command: object, timeout: float | None = None, **environment: str) -> str:
    """What the command prints, run in the folder; fails with its last lines where it does."""
    done = subprocess.run(
        [str(c) for c in command],
        cwd=where,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout

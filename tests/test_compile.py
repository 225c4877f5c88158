"""tests/compile.sh: a kept object is taken for the same text and flags, and for nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
SHELL = Path(__file__).with_name("compile.sh")
SOURCE = """#ifndef N
#define N 1
#endif
int number(void) { int unused; return N; }
"""


def compiled(folder: Path, *flags: str) -> tuple[bytes, bool, str]:
    """The object, whether the compiler was called for it, and what was said."""
    folder.mkdir(exist_ok=True)
    (folder / "number.c").write_text(f"/* {folder.parent} */\n{SOURCE}")
    out, called = folder / "number.o", folder / "called"
    compiler = folder.parent / "cc"
    if not compiler.exists():
        compiler.write_text(
            '#!/bin/sh\ncase " $* " in *" -c "*) touch "$CALLED" ;; esac\nexec cc "$@"\n'
        )
        compiler.chmod(0o755)
    out.unlink(missing_ok=True)
    called.unlink(missing_ok=True)
    words = [SHELL, compiler, *flags, "-MD", "-MF", folder / "number.d", "-o", out, "-c"]
    done = subprocess.run(
        [*map(str, words), str(folder / "number.c")],
        env=os.environ | {"CALLED": str(called)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode == 0) == out.exists()
    assert done.returncode or "number.c" in (folder / "number.d").read_text()
    return out.read_bytes(), called.exists(), done.stderr


def test_the_same_source_elsewhere_is_not_compiled_again(tmp_path: Path) -> None:
    first, called, _ = compiled(tmp_path / "a", "-O1", f"-I{tmp_path}")
    assert called
    again = compiled(tmp_path / "b", "-O1", f"-I{tmp_path}/b", "-DM=2")
    assert again == (first, False, "")
    for flags in (("-O2",), ("-O1", "-DN=2"), ("-O1", "-g"), ("-O1", "-g")):
        assert compiled(tmp_path / "b", *flags)[1], flags


def test_warnings_are_said_each_time(tmp_path: Path) -> None:
    """An object without warnings stands in for one that nobody asked for any; never the other way."""
    clean = compiled(tmp_path / "a", "-O1", "-Wall", "-Wno-unused-variable")
    assert clean[1] and compiled(tmp_path / "b", "-O1") == (clean[0], False, "")
    for _ in range(2):
        _, called, said = compiled(tmp_path / "b", "-O1", "-Wall")
        assert called and "unused variable" in said
    with pytest.raises(FileNotFoundError):
        compiled(tmp_path / "b", "-O1", "-Wall", "-Werror")

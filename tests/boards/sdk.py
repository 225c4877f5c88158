"""The archives of the C library, made once and unpacked, and their programs here or under an emulator."""

from __future__ import annotations

import atexit
import dataclasses
import functools
import os
import platform
import re
import shutil
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import shell
from program import op_samples, samples
from turns import one_at_a_time

import pteron

ROOT = Path(__file__).parents[2]
HERE = f"{platform.machine()}-linux-gnu"


@dataclasses.dataclass(frozen=True)
class Target:
    """A toolchain file's name; the compiler; the emulator, its processors, and where its libraries lie."""

    name: str
    cc: str
    emulator: str = ""
    cpus: tuple[str, ...] = ("",)
    sysroot: str = ""

    def command(self, cpu: str = "") -> list[str]:
        """What stands before a program's path to run it."""
        if not self.emulator:
            return []
        return [self.emulator, "-cpu", cpu or self.cpus[0], "-L", self.sysroot]

    def pte_run(self, cpu: str = "") -> list[str]:
        return [*self.command(cpu), str(unpacked(self) / "bin/pte_run")]


TARGETS = (
    Target(HERE, "cc"),
    Target("aarch64-linux-gnu", "aarch64-linux-gnu-gcc", "qemu-aarch64", ("max", "cortex-a53"), "/usr/aarch64-linux-gnu"),
    Target("armv7-linux-gnueabihf", "arm-linux-gnueabihf-gcc", "qemu-arm", ("cortex-a7", "max"), "/usr/arm-linux-gnueabihf"),
    Target("riscv64-linux-gnu", "riscv64-linux-gnu-gcc", "qemu-riscv64", ("rv64",), "/usr/riscv64-linux-gnu"),
)  # fmt: skip
MAKES_PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
"""As the Makefile has it: after another cmake `make sdk` would compile everything again."""
FORMATS = (None, "nf4", "mxfp4", "int4", "int8", "fp8-e4m3")
ARM64 = TARGETS[1]
LATER = {"armv7-linux-gnueabihf", "riscv64-linux-gnu"}
"""Not in .ci/run: `make test-boards`."""
EACH = [
    pytest.param(t, id=t.name, marks=[pytest.mark.boards] if t.name in LATER else [])
    for t in TARGETS
]


def need(*tools: str) -> None:
    """Skips, with the reason, where a tool is absent."""
    missing = [tool for tool in tools if tool and shutil.which(tool) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def sh(*command: str | Path, timeout: float = 550, **environment: str) -> str:
    return shell.sh(ROOT, *command, timeout=timeout, **environment)


@functools.cache
def unpacked(target: Target) -> Path:
    """The folder that the archive holds, this process's own; a second call, and an unchanged tree, cost little."""
    need("cmake", target.cc, target.emulator)
    what = "native" if target.name == HERE else target.name
    folder = Path(tempfile.mkdtemp(prefix=f"pteron-{target.name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with one_at_a_time("sdk"):
        words = (ROOT / "runtime_c/cmake/sdk.sh", ROOT / "dist/sdk", what)
        archive = Path(sh(*words, PATH=MAKES_PATH).strip())
        with tarfile.open(archive) as packed:
            # 3.11.4 brought filters; the archive is our own
            packed.extractall(
                folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
            )
    (out,) = folder.iterdir()
    assert f"{out.name}.tar.gz" == archive.name
    return out


def declared() -> set[str]:
    """The functions of the C interface: what a library exports."""
    out: set[str] = set()
    for header in (ROOT / "runtime_c/include/pteron").glob("*.h"):
        text = re.sub(r"^[ \t]*#.*$", "", header.read_text(), flags=re.M)
        if header.name != "delegates.h":  # a library of its own
            out |= set(re.findall(r"\bPTE_API\b[^;(]*?\b(pte_\w+)\s*\(", text))
    return out


def write_corpus(folder: Path) -> list[Path]:
    """A program for each operator and each thing that a file can hold; the digit classifier in formats, and static int8."""
    samples.write(folder)
    op_samples.write(folder)
    source = ROOT / "examples/digits/digits.onnx"
    images = (np.load(ROOT / "examples/digits/test.npz")["image"][:64] / 16).astype(np.float32)
    for name in FORMATS:
        pteron.export_model(source, folder / f"digits-{name}.pte", quantize=name)
    static = {"quantize": "int8", "calibrate": {"image": images}}
    pteron.export_model(source, folder / "digits-static.pte", **static)
    return sorted(folder.glob("*.pte"))


def digests(run: list[str], corpus: list[Path], *options: str) -> dict[str, str]:
    """Of each program: what pte_run (`run` starts it) says of its outputs, or why it does not run; sizes of plans and times are
    not compared."""
    out = {}
    script = 'for p in "$@"; do echo "@ $p"; $RUN "$p" $OPTIONS 2>&1 </dev/null; done'
    said = sh("bash", "-c", script, "-", *corpus, RUN=" ".join(run), OPTIONS=" ".join(options))
    for part in said.split("@ ")[1:]:
        path, *lines = part.splitlines()
        out[Path(path).stem] = "\n".join(x for x in lines if not x.startswith(("arena", "1 runs")))
    return out


def run(
    target: Target,
    program: Path,
    feeds: Mapping[str, np.ndarray],
    folder: Path,
    *options: str,
    cpu: str = "",
) -> np.ndarray:
    """The first output of `program`, computed by the archive's pte_run."""
    words: list[str | Path] = [*target.command(cpu), unpacked(target) / "bin/pte_run"]
    words += [program, "--out", folder, *options]
    for name, array in feeds.items():
        np.save(folder / f"{name}.npy", array)
        words += ["--input", f"{name}={folder / name}.npy"]
    sh(*words)
    return np.load(folder / "output_0.npy")

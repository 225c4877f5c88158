"""The TOSA tools run as a child process, in the Python that has the packages of pteron[npu]."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pteron.schema.errors import DelegateError
from pteron.schema.extras import elsewhere

VARIABLE: Final = "PTERON_NPU_PYTHON"
PACKAGES: Final = ("tosa_serializer", "tosa_reference_model", "model_converter", "vgfpy")


def install() -> str:
    """How to get them: in an environment of their own, for tosa-tools pins ml_dtypes and numpy below what onnx takes."""
    wanted = elsewhere("npu")
    return (
        f"python -m venv npu; npu/bin/pip install '{wanted}'; export {VARIABLE}=$PWD/npu/bin/python"
    )


def python() -> str | None:
    """The interpreter for the TOSA tools: $PTERON_NPU_PYTHON, else this one if it has them, else None."""
    if named := os.environ.get(VARIABLE):
        return named
    found = all(importlib.util.find_spec(package) for package in PACKAGES)
    return sys.executable if found else None


def missing() -> list[tuple[str, str]]:
    """What is missing before anything can be compiled for an NPU, and how to install it."""
    found = python()
    if found is None:
        return [("the TOSA tools", install())]
    if shutil.which(found) is None:
        return [(f"the interpreter {found} that {VARIABLE} names", install())]
    absent = _absent(found)
    return [(f"{', '.join(absent)} in {found}", install())] if absent else []


@functools.cache
def _absent(interpreter: str) -> tuple[str, ...]:
    """Those of PACKAGES that an interpreter has not."""
    code = (
        "import importlib.util as u, sys; print(*(p for p in sys.argv[1:] if not u.find_spec(p)))"
    )
    command = [interpreter, "-I", "-c", code, *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True)
    return tuple(done.stdout.split()) if done.returncode == 0 else PACKAGES


def ask(requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What tosa_worker.py answers to each request.

    Raises:
        DelegateError: no interpreter has the tools, or one of them failed.
    """
    for what, how in missing():
        raise DelegateError(f"npu: expected {what}, got none; {how}")
    worker = Path(__file__).with_name("tosa_worker.py")
    done = subprocess.run(
        [str(python()), "-I", str(worker)],
        input=json.dumps(list(requests)),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise DelegateError(f"npu: {worker.name}: {last}; {install()}")
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers

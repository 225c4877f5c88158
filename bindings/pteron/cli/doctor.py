"""Show what works on this machine, and what to install for the rest.

Example:

    pteron doctor
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import platform
import shutil

from pteron.schema.printable import joined

from .. import __version__
from . import say
from .pairs import as_json

_ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("export of ONNX models", "onnx", "onnx", "pip install 'pteron[export]'"),
    ("", "onnx_ir", "onnx-ir", "pip install 'pteron[export]'"),
    ("bfloat16 and 8-bit floats", "ml_dtypes", "ml_dtypes", "pip install 'pteron[export]'"),
    ("export of PyTorch models", "torch", "torch", "pip install 'pteron[torch]'"),
    ("", "onnxscript", "onnxscript", "pip install 'pteron[torch]'"),
    ("bench --vs-onnx", "onnxruntime", "onnxruntime", "pip install onnxruntime"),
    ("bench --vs openvino", "openvino", "openvino", "pip install openvino"),
    ("bench --vs litert", "ai_edge_litert", "ai-edge-litert", "pip install ai-edge-litert"),
    ("bench --vs executorch", "executorch", "executorch", "pip install executorch"),
    ("bench --vs llama.cpp", "llama_cpp", "llama-cpp-python", "pip install llama-cpp-python"),
)

"""What needs a module: what, module, distribution, how to get it."""

_PROGRAMS: tuple[tuple[str, str, str], ...] = (
    (
        "aarch64 cross build",
        "aarch64-linux-gnu-gcc",
        "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    ),
    ("  running it here", "qemu-aarch64", "apt-get install qemu-user"),
)
"""What needs a program: what, program, how to get it."""


def add(parser: argparse.ArgumentParser) -> None:
    as_json(parser)


def run(args: argparse.Namespace) -> int:
    rows = checks()
    say.result("doctor", args.json, {"checks": rows}, lambda: text(rows))
    return 0


def text(rows: list[dict[str, object]]) -> str:
    return joined(
        f"{'ok' if row['ok'] else '--':3s} {row['what']:28s} {row['detail']}" for row in rows
    )


def checks() -> list[dict[str, object]]:
    """One row a capability: what, whether, and the version or the install command."""
    rows: list[dict[str, object]] = [
        {
            "what": "pteron",
            "ok": True,
            "detail": f"{__version__}, Python {platform.python_version()}, {platform.machine()}",
        },
        _runtime(),
    ]
    for what, module, package, install in _ROWS:
        found = importlib.util.find_spec(module) is not None
        detail = (
            f"{package} {importlib.metadata.version(package)}" if found else f"missing: {install}"
        )
        rows.append({"what": what or f"  with {package}", "ok": found, "detail": detail})
    for what, program, install in _PROGRAMS:
        path = shutil.which(program)
        rows.append({"what": what, "ok": path is not None, "detail": path or f"missing: {install}"})
    return rows + _delegates()


def _delegates() -> list[dict[str, object]]:
    """Two rows a delegate: whether segments can be compiled for it here, and whether they run here."""
    try:
        from ..runtime import delegates
    except ImportError:  # said above
        return []
    here = {d.name: d for d in delegates.known()}
    try:
        from pteron.export.delegates import known
    except ImportError:
        detail = f"this build has {', '.join(here)}; to ask each: pip install 'pteron[export]'"
        return [{"what": "delegates", "ok": bool(here), "detail": detail}]
    rows: list[dict[str, object]] = []
    for row in known().values():
        lacks = "; ".join(f"{what}: {install}" for what, install in row.missing())
        detail = f"missing {lacks}" if lacks else f"target {row.target}"
        rows.append({"what": f"delegate {row.name}: compile", "ok": not lacks, "detail": detail})
        how = row.build or "docs/delegates.md says what it needs"
        refusal: str | None = f"not in this build: {how}, then build Pteron again"
        if row.name in here:
            refusal = here[row.name].refusal(row.target)
        detail = refusal or f"target {row.target}"
        rows.append({"what": f"  {row.name}: run", "ok": refusal is None, "detail": detail})
    return rows


def _runtime() -> dict[str, object]:
    try:
        from ..runtime.cpu import features
    except ImportError as error:
        return {"what": "runtime", "ok": False, "detail": f"{error}; reinstall pteron"}
    return {"what": "runtime", "ok": True, "detail": "CPU kernels: " + ", ".join(features())}

"""Other runtimes on the ONNX model that a program came from, where they are installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from pteron.schema.errors import ArgumentError

Runner = Callable[[], list[Any]]


def onnxruntime(path: Path, inputs: dict[str, Any], threads: int) -> Runner:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: list(session.run(None, inputs))


def openvino(path: Path, inputs: dict[str, Any], threads: int) -> Runner:
    """In f32: it would take bf16 where the processor has it."""
    import openvino as ov  # pyright: ignore[reportMissingImports]

    config = {
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = ov.Core().compile_model(str(path), "CPU", config)
    request = compiled.create_infer_request()

    def run() -> list[Any]:
        made = request.infer(inputs, share_inputs=True)
        return [made[port] for port in compiled.outputs]

    return run


PEERS: Final = {"onnxruntime": onnxruntime, "openvino": openvino}


def peer(name: str, path: Path, inputs: dict[str, Any], threads: int) -> Runner:
    """The model, loaded and run once.

    Raises:
        ArgumentError: no such peer, it is not installed, or it refuses the model.
    """
    if name not in PEERS:
        raise ArgumentError(f"--vs: expected one of {', '.join(PEERS)}, got {name!r}")
    try:
        runner = PEERS[name](path, inputs, threads)
        runner()
    except ImportError as error:
        raise ArgumentError(
            f"--vs {name}: it is not installed ({error}); pip install {name}, or leave it out"
        ) from None
    except Exception as error:  # its own kinds
        (why, *_) = str(error).splitlines() or [type(error).__name__]
        raise ArgumentError(f"--vs-onnx {path}: {name} refuses: {why}") from None
    return runner


def version(name: str) -> str:
    return metadata.version(name)

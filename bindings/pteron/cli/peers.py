"""Other runtimes on the model that a program came from, where they are installed."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from pteron.schema.errors import ArgumentError, existing

Runner = Callable[[], list[Any]]

REST: Final = 0.05
"""Seconds, longer than the threads of runtimes spin after a run."""


def _onnxruntime(path: Path, inputs: dict[str, Any], threads: int) -> Runner:
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda: list(session.run(None, inputs))


def _openvino(path: Path, inputs: dict[str, Any], threads: int) -> Runner:
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


def _litert(path: Path, inputs: dict[str, Any], threads: int) -> Runner:
    """Its inputs by name or, where it has others, in order; images with channels last where it wants them so."""
    from ai_edge_litert.interpreter import (  # pyright: ignore[reportMissingImports]
        Interpreter,
    )

    model = Interpreter(str(path), num_threads=threads)
    model.allocate_tensors()
    wanted = model.get_input_details()
    if len(wanted) != len(inputs):
        raise ValueError(f"expected {len(wanted)} inputs, got {len(inputs)}")
    named = all(d["name"] in inputs for d in wanted)
    arrays = [inputs[d["name"]] for d in wanted] if named else list(inputs.values())
    given = [(d["index"], _laid_out(d, array)) for d, array in zip(wanted, arrays)]
    made = [d["index"] for d in model.get_output_details()]

    def run() -> list[Any]:
        for index, array in given:
            model.set_tensor(index, array)
        model.invoke()
        return [model.get_tensor(index) for index in made]

    return run


def _laid_out(wanted: dict[str, Any], array: Any) -> Any:
    shape, dtype = tuple(map(int, wanted["shape"])), np.dtype(wanted["dtype"])
    if array.ndim == 4 and array.shape != shape:
        array = np.ascontiguousarray(array.transpose(0, 2, 3, 1))
    if array.shape != shape or array.dtype != dtype:
        raise ValueError(
            f"input {wanted['name']}: expected {dtype} {list(shape)}, got {array.dtype} {list(array.shape)}"
        )
    return array


def _executorch(path: Path, inputs: dict[str, Any], threads: int) -> Runner:
    """By what its own Runtime calls: that has no say in threads. Arguments are tensors of the PyTorch that it has loaded."""
    from executorch.extension.pybindings import (  # pyright: ignore[reportMissingImports]
        portable_lib,
    )

    portable_lib._unsafe_reset_threadpool(threads)
    model = portable_lib._load_for_executorch(str(path))
    given = [sys.modules["torch"].from_numpy(array) for array in inputs.values()]
    return lambda: [made.numpy() for made in model.forward(given)]


@dataclasses.dataclass(frozen=True, slots=True)
class Peer:
    """`open`: None where it makes text (decoders.py). `reads`: what its files are called, where they are not ONNX."""

    open: Callable[[Path, dict[str, Any], int], Runner] | None
    package: str
    reads: str = ""


PEERS: Final = {
    "onnxruntime": Peer(_onnxruntime, "onnxruntime"),
    "openvino": Peer(_openvino, "openvino"),
    "litert": Peer(_litert, "ai-edge-litert", ".tflite"),
    "executorch": Peer(_executorch, "executorch", ".pte"),
    "llama.cpp": Peer(None, "llama-cpp-python", ".gguf"),
}


def wanted(text: str, model: Path | None) -> dict[str, Path]:
    """Which runtime opens which file, of `--vs NAME[=FILE],...` and the ONNX model beside it.

    Raises:
        ArgumentError: no such runtime, no file for it, or one that does not exist.
    """
    found: dict[str, Path] = {}
    for item in text.split(","):
        name, _, own = (part.strip() for part in item.partition("="))
        if name not in PEERS:
            raise ArgumentError(f"--vs: expected one of {', '.join(PEERS)}, got {name!r}")
        reads = PEERS[name].reads
        if not own and reads:
            raise ArgumentError(
                f"--vs {name}: it opens files of its own, expected {name}=FILE{reads}"
            )
        path = existing(Path(own)) if own else model
        if path is None:
            raise ArgumentError(
                f"--vs {name}: expected --vs-onnx ONNX with it, the model that it opens, or {name}=FILE"
            )
        found[name] = path
    texts = [name for name in found if PEERS[name].open is None]
    if texts and len(texts) < len(found):
        others = ", ".join(name for name in found if name not in texts)
        raise ArgumentError(f"--vs {texts[0]}: it makes text, expected it without {others}")
    return found


def peer(name: str, path: Path, inputs: dict[str, Any], threads: int) -> Runner:
    """The model, loaded and run once.

    Raises:
        ArgumentError: it is not installed, or it refuses the model.
    """
    start = PEERS[name].open
    assert start
    runner = opened(name, path, lambda: start(path, inputs, threads))
    opened(name, path, runner)
    return runner


T = TypeVar("T")


def opened(name: str, path: Path, call: Callable[[], T]) -> T:
    """What the call gives; its errors, of the runtime's own kinds, in our words.

    Raises:
        ArgumentError: the runtime is not installed, or it refuses the model.
    """
    try:
        return call()
    except ImportError as error:
        raise ArgumentError(
            f"--vs {name}: it is not installed ({error}); pip install {PEERS[name].package}, or leave it out"
        ) from None
    except Exception as error:
        (why, *_) = str(error).splitlines() or [type(error).__name__]
        raise ArgumentError(f"{path}: {name} refuses: {why}") from None


def difference(a: Any, b: Any) -> float:
    """The largest, of the largest magnitude in `b`."""
    scale = float(np.abs(b.astype(np.float64)).max(initial=0.0)) or 1.0
    return float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0.0)) / scale


def version(name: str) -> str:
    return metadata.version(PEERS[name].package)

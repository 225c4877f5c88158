"""One node of com.microsoft as a model, its operands, and what onnxruntime and we make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from models.through import Arrays, reference, same
from onnx import TensorProto, helper, numpy_helper

import pteron

RNG = np.random.default_rng(11)


def f(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (RNG.standard_normal(shape) * scale).astype(np.float32)


def u8(*shape: int) -> np.ndarray:
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def i8(*shape: int) -> np.ndarray:
    return RNG.integers(-128, 128, shape, dtype=np.int8)


def i7(*shape: int) -> np.ndarray:
    """Weights in 7 bits: where a processor has AVX2 alone, onnxruntime adds two products of u8 and i8 in 16 bits, which saturate."""
    return RNG.integers(-64, 64, shape, dtype=np.int8)


def i32(*numbers: Any) -> np.ndarray:
    return np.array(numbers, np.int32)


class Fixed:
    """An operand that is an initializer."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array


def model_of(
    op_type: str,
    inputs: Sequence[np.ndarray | Fixed | None],
    attributes: Mapping[str, Any],
    outputs: Sequence[str],
    *,
    domain: str = "com.microsoft",
    version: int = 1,
    opset: int = 17,
    symbols: Mapping[tuple[int, int], str] | None = None,
) -> tuple[onnx.ModelProto, Arrays]:
    """A graph of one node, and its feeds. `outputs`: types by name, "" for one left out; sizes at (input, axis) may be symbols."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    feeds, ports, fixed = {}, [], []
    for i, (name, x) in enumerate(zip(names, inputs, strict=True)):
        if isinstance(x, Fixed):
            fixed.append(numpy_helper.from_array(x.array, name))
        elif x is not None:
            sizes = [(symbols or {}).get((i, a), n) for a, n in enumerate(x.shape)]
            kind = helper.np_dtype_to_tensor_dtype(x.dtype)
            ports.append(helper.make_tensor_value_info(name, kind, sizes))
            feeds[name] = x
    made = [f"y{i}" if kind else "" for i, kind in enumerate(outputs)]
    node = helper.make_node(op_type, names, made, name="the_node", domain=domain, **attributes)
    results = [
        helper.make_tensor_value_info(n, getattr(TensorProto, kind), None)
        for n, kind in zip(made, outputs, strict=True)
        if kind
    ]
    graph = helper.make_graph([node], "one", ports, results, fixed)
    opsets = [helper.make_opsetid(d, v) for d, v in {domain: version, "": opset}.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), feeds


def check(folder: Path, *parts: Any, tolerance: float = 2e-5, **more: Any) -> Any:
    model, feeds = model_of(*parts, **more)
    return same(model, [feeds], folder, tolerance)


def results(model: onnx.ModelProto, feeds: Arrays, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    pteron.export_model(model, folder / "m.pte")
    (got,) = pteron.load(folder / "m.pte").run(feeds).values()
    (want,) = reference(model, feeds).values()
    return got, want

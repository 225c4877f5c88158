"""What other tools make of a model's linear layers: python benchmarks/anchors.py TOOL GIVEN.npz MADE.npz

GIVEN has the matrices w0, w1 ... f32 [n, k] and x0, x1 ... f32 [k, k], rows whose second moments (x^T x / k) are those of what the
layers read, for tools that round a matrix. MADE gets w0, w1 ...: what the tool's own code says its rounded weights are.
NNCF takes whole models. For it GIVEN has `module`, the path of the traced module, `calibration.NAME` and `test.NAME`, the arrays of
samples padded to the longest and laid together; MADE gets `outputs`, by OpenVINO in f32.
Either way `bits` is what a weight is stored in, scales as the tool holds them. A process for each tool, as any may be missing:

    pip install torch==2.13.0 torchao==0.18.0 bitsandbytes==0.50.2 onnxruntime==1.31.1 onnx==1.23.2 onnx-ir gguf==0.19.0 \
        optimum-quanto==0.2.7 nncf==3.4.0 openvino==2026.4.1
    pip install --no-deps xllamacpp==2026.10.11549
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
Rounded = tuple[F32, int]
"""The values [n, k] and the bits that all of them take."""
Tool = Callable[[F32, F32], Rounded]


def bitsandbytes(kind: str, w: F32, _: F32) -> Rounded:
    import bitsandbytes.functional as bnb
    import torch

    codes, state = bnb.quantize_4bit(torch.from_numpy(w), blocksize=64, quant_type=kind)
    bits = 8 * codes.numel() + 32 * state.absmax.numel()
    return bnb.dequantize_4bit(codes, state).numpy(), bits


def torchao_int4(group: int, algorithm: str, w: F32, _: F32) -> Rounded:
    """The format of Int4WeightOnlyConfig where a CPU runs it (that config itself asks for mslk or CUDA): what its kernel multiplies by."""
    import torch
    from torchao.prototype.quantization.int4 import PrototypeInt4WeightOnlyConfig
    from torchao.quantization import quantize_

    linear = _linear(w).to(torch.bfloat16)
    config = PrototypeInt4WeightOnlyConfig(group, algorithm, set_inductor_config=False)  # type: ignore[arg-type]
    quantize_(linear, config)
    held = linear.weight
    with torch.no_grad():
        values = linear(torch.eye(w.shape[1], dtype=torch.bfloat16)).float().numpy().T
    return values, _bits(held.qdata, held.scale_and_zero)


def torchao_intx(group: int, mapping: str, w: F32, _: F32) -> Rounded:
    import torch
    from torchao.quantization import IntxWeightOnlyConfig, PerGroup, quantize_
    from torchao.quantization.quant_primitives import MappingType

    linear = _linear(w)
    config = IntxWeightOnlyConfig(torch.int4, PerGroup(group), MappingType[mapping])
    quantize_(linear, config)
    held = linear.weight
    zeros = 4 * held.zero_point.numel() if mapping == "ASYMMETRIC" else 0
    return held.dequantize().detach().numpy(), 4 * w.size + _bits(held.scale) + zeros


def quanto(kind: str, group: int, w: F32, _: F32) -> Rounded:
    import torch
    from optimum.quanto import freeze, qtypes, quantize

    module = torch.nn.Sequential(_linear(w))
    quantize(module, weights=qtypes[kind])
    freeze(module)
    held = module[0].weight
    scales = [held._scale, *([held._shift] if hasattr(held, "_shift") else [])]
    return held.dequantize().detach().numpy(), qtypes[kind].bits * w.size + _bits(*scales)


def _linear(w: F32) -> Any:
    import torch

    linear = torch.nn.Linear(w.shape[1], w.shape[0], bias=False)
    linear.weight = torch.nn.Parameter(torch.from_numpy(w.copy()), requires_grad=False)
    return linear


def _bits(*tensors: Any) -> int:
    return sum(8 * t.element_size() * t.numel() for t in tensors)


class _Reader:
    """Calibration of one batch."""

    def __init__(self, batch: F32) -> None:
        self.batch = batch

    def __iter__(self) -> Any:
        yield {"x": self.batch}


def onnxruntime(algorithm: str, group: int, symmetric: bool, w: F32, x: F32) -> Rounded:
    """MatMulNBitsQuantizer on a model of one MatMul, run in f32 on the identity: each output is one weight and zeros."""
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import matmul_nbits_quantizer as tool

    n, k = w.shape
    value = functools.partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"], "matmul")], "one",
        [value("x", shape=["m", k])], [value("y", shape=["m", n])],
        [numpy_helper.from_array(np.ascontiguousarray(w.T), "w")],
    )  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    configs: dict[str, Callable[[], Any]] = {
        "RTN": lambda: None,
        "k_quant": tool.KQuantWeightOnlyQuantConfig,
        "HQQ": lambda: tool.HQQWeightOnlyQuantConfig(block_size=group),
        "GPTQ": lambda: tool.GPTQWeightOnlyQuantConfig(_Reader(x)),
    }
    quantizer = tool.MatMulNBitsQuantizer(
        model,
        block_size=group,
        is_symmetric=symmetric,
        accuracy_level=1,
        algo_config=configs[algorithm](),
    )
    quantizer.process()
    made: onnx.ModelProto = quantizer.model.model
    assert any(node.op_type == "MatMulNBits" for node in made.graph.node)
    session = ort.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    values = session.run(None, {"x": np.eye(k, dtype=np.float32)})[0].T
    return values, sum(8 * numpy_helper.to_array(t).nbytes for t in made.graph.initializer)


FALLBACK = {"Q4_K": "Q5_0", "Q5_K": "Q5_1", "Q6_K": "Q8_0", "IQ4_XS": "IQ4_NL"}
"""What llama.cpp takes in place of a kind with blocks of 256 for rows of other lengths (tensor_type_fallback)."""


def llama_cpp(name: str, weighed: bool, w: F32, x: F32) -> Rounded:
    """llama.cpp's own quantizer (ggml_quantize_chunk); `weighed`: by the mean squares of the inputs, as llama-imatrix has them."""
    import gguf

    if name in FALLBACK and w.shape[1] % 256:
        name = FALLBACK[name]
    kind = gguf.GGMLQuantizationType[name]
    library = _ggml()
    library.ggml_quantize_chunk.restype = ctypes.c_size_t
    made = np.zeros(gguf.quant_shape_to_byte_shape(w.shape, kind), np.uint8)
    means = np.ascontiguousarray((x.astype(np.float64) ** 2).mean(0), np.float32)
    size = library.ggml_quantize_chunk(
        ctypes.c_int(kind.value), w.ctypes.data_as(ctypes.c_void_p), made.ctypes.data_as(ctypes.c_void_p),
        ctypes.c_int64(0), ctypes.c_int64(w.shape[0]), ctypes.c_int64(w.shape[1]),
        means.ctypes.data_as(ctypes.c_void_p) if weighed else None,
    )  # fmt: skip
    assert size == made.nbytes, (size, made.shape)
    return gguf.quants.dequantize(made, kind), 8 * made.nbytes


@functools.cache
def _ggml() -> Any:
    spec = importlib.util.find_spec("xllamacpp")
    if spec is None or spec.origin is None:
        raise ImportError("No module named 'xllamacpp'")
    return ctypes.CDLL(str(next(Path(spec.origin).parent.glob("xllamacpp*.so"))))


def nncf(group: int, options: dict[str, bool], given: Any) -> tuple[F32, float]:
    """compress_weights, run by OpenVINO; embeddings stay as they are. With options all calibration samples are read."""
    import nncf
    import openvino
    import torch

    def samples(part: str) -> list[dict[str, NDArray[Any]]]:
        names = [name for name in given.files if name.startswith(f"{part}.")]
        each = zip(*(given[name] for name in names), strict=True)
        keys = [name.split(".")[1] for name in names]
        found = [dict(zip(keys, values, strict=True)) for values in each]
        return [
            {k: v[None, : int(sample["attention_mask"].sum())] for k, v in sample.items()}
            for sample in found
        ]

    test = samples("test")
    example = {k: torch.from_numpy(v) for k, v in test[-1].items()}
    module = torch.jit.load(str(given["module"]))
    model = openvino.convert_model(module, example_input=tuple(example.values()))
    data = nncf.Dataset(samples("calibration"), lambda x: tuple(x.values())) if options else None
    nncf.compress_weights(
        model, mode=nncf.CompressWeightsMode.INT4_ASYM, group_size=group, ratio=1.0, all_layers=True,
        ignored_scope=nncf.IgnoredScope(types=["Gather"]), dataset=data, subset_size=1024, **options,
    )  # fmt: skip
    bits = sum(
        4
        * math.prod(op.get_output_shape(0))
        * (4 if op.get_element_type().get_type_name() == "f16" else 1)
        for op in model.get_ordered_ops()
        if op.get_type_name() == "Constant"
        and op.get_element_type().get_type_name() in ("u4", "f16")
    )
    exact = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    run = openvino.Core().compile_model(model, "CPU", exact)
    outputs = np.concatenate([run(tuple(sample.values()))[0] for sample in test])
    weights = sum(given[name].size for name in given.files if name.startswith("w"))
    return outputs, bits / weights


def whole() -> dict[str, Callable[[Any], tuple[F32, float]]]:
    """Tools that take the model, by the names that the page shows."""
    of = functools.partial
    found = {f"NNCF int4 g{group}": of(nncf, group, {}) for group in (128, 32)}
    found["NNCF int4 g32, AWQ and scale estimation"] = of(
        nncf, 32, {"awq": True, "scale_estimation": True}
    )
    found["NNCF int4 g32, GPTQ"] = of(nncf, 32, {"gptq": True})
    return found


def tools() -> dict[str, Tool]:
    """Tools that take matrices, by the names that the page shows."""
    of = functools.partial
    found: dict[str, Tool] = {
        f"bitsandbytes {kind}": of(bitsandbytes, kind) for kind in ("nf4", "fp4")
    }
    for group in (128, 32):
        found[f"torchao int4 g{group}"] = of(torchao_int4, group, "tinygemm")
        found[f"torchao int4 g{group}, HQQ"] = of(torchao_int4, group, "hqq")
        found[f"torchao intx int4 g{group}, asymmetric"] = of(torchao_intx, group, "ASYMMETRIC")
        for algorithm in ("RTN", "HQQ"):
            found[f"onnxruntime int4 g{group}, {algorithm}"] = of(
                onnxruntime, algorithm, group, False
            )
    for algorithm in ("k_quant", "GPTQ"):  # of g128 they ask for an even number of blocks in a row
        found[f"onnxruntime int4 g32, {algorithm}"] = of(onnxruntime, algorithm, 32, False)
    found["onnxruntime int4 g32 symmetric, RTN"] = of(onnxruntime, "RTN", 32, True)
    found["quanto qint4"] = of(quanto, "qint4", 128)
    for name in (
        "Q4_0",
        "Q4_1",
        "IQ4_XS",
        "IQ4_NL",
        "Q4_K",
        "Q5_0",
        "Q5_1",
        "Q5_K",
        "Q6_K",
        "Q8_0",
    ):
        found[f"llama.cpp {name}"] = of(llama_cpp, name, False)
        if name not in ("Q8_0",):
            found[f"llama.cpp {name}, imatrix"] = of(llama_cpp, name, True)
    return found


def main(name: str, given: str, out: str) -> None:
    with np.load(given) as arrays:
        if name in whole():
            outputs, mean = whole()[name](arrays)
            np.savez(out, bits=mean, outputs=outputs)
            return
        pairs = []
        while f"w{len(pairs)}" in arrays.files:
            each = (arrays[f"{part}{len(pairs)}"] for part in "wx")
            pairs.append(tuple(map(np.ascontiguousarray, each)))
    made = [tools()[name](w, x) for w, x in pairs]
    bits = sum(bits for _, bits in made) / sum(w.size for w, _ in pairs)
    values = {f"w{i}": np.ascontiguousarray(v, np.float32) for i, (v, _) in enumerate(made)}
    np.savez(out, bits=bits, **values)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*sys.argv[1:])

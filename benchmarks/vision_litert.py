"""Networks of vision_nets.py by LiteRT's own tools: litert-torch converts, ai-edge-quantizer rounds, on LiteRT's interpreter.

The ONNX graph is run by PyTorch's functions, as a user's module would, so that the converter sees what it is made for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from torch.nn import functional as F

Tensor = torch.Tensor


def conv(at: dict[str, Any], x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    top, left, low, right = at.get("pads", (0, 0, 0, 0))
    padding: Any = 0
    if (top, left) == (low, right):
        padding = (top, left)
    else:
        x = F.pad(x, (left, right, top, low))
    return F.conv2d(x, w, b, at.get("strides", 1), padding, groups=at.get("group", 1))


def max_pool(at: dict[str, Any], x: Tensor) -> Tensor:
    """Behind Relu: what is filled in is 0."""
    top, left, low, right = at.get("pads", (0, 0, 0, 0))
    x = F.pad(x, (left, right, top, low))
    return F.max_pool2d(x, at["kernel_shape"], at["strides"])


OPS: dict[str, Callable[..., Tensor]] = {
    "Conv": conv,
    "MaxPool": max_pool,
    "Clip": lambda at, x, low, high: F.relu6(x),
    "Relu": lambda at, x: F.relu(x),
    "Add": lambda at, a, b: a + b,
    "Mul": lambda at, a, b: a * b,
    "MatMul": lambda at, a, b: a @ b,
    "Gemm": lambda at, x, w, b: F.linear(x, w, b),
    "GlobalAveragePool": lambda at, x: F.adaptive_avg_pool2d(x, 1),
    "Flatten": lambda at, x: torch.flatten(x, 1),
    "Reshape": lambda at, x, shape: x.reshape(tuple(shape.tolist())),
    "Transpose": lambda at, x: x.permute(at["perm"]),
    "Concat": lambda at, *parts: torch.cat(parts, at["axis"]),
    "LayerNormalization": lambda at, x, g, b: F.layer_norm(x, g.shape, g, b, at["epsilon"]),
    "Softmax": lambda at, x: F.softmax(x, at["axis"]),
    "Gelu": lambda at, x: F.gelu(x),
    "Gather": lambda at, x, i: x.select(at["axis"], int(i)),
}


class Graph(torch.nn.Module):
    """Weights are parameters; shapes and indices stay as they are."""

    def __init__(self, model: onnx.ModelProto) -> None:
        super().__init__()
        self.nodes = list(model.graph.node)
        self.result = model.graph.output[0].name
        self.whole: dict[str, Tensor] = {}
        for constant in model.graph.initializer:
            value = torch.from_numpy(numpy_helper.to_array(constant).copy())
            if value.is_floating_point():
                self.register_parameter(constant.name, torch.nn.Parameter(value, False))
            else:
                self.whole[constant.name] = value

    def forward(self, x: Tensor) -> Tensor:
        held = {"x": x, **self.whole, **dict(self.named_parameters())}
        for node in self.nodes:
            at = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            held[node.output[0]] = OPS[node.op_type](at, *(held[name] for name in node.input))
        return held[self.result]


def quantized(
    model: onnx.ModelProto, samples: Any, folder: Path
) -> tuple[Path, Callable[[Any], Any]]:
    """Static int8: activations of a tensor, weights of a channel, both as its recipe `static_wi8_ai8` says."""
    import litert_torch
    from ai_edge_litert.interpreter import Interpreter
    from ai_edge_quantizer import quantizer, recipe

    module = Graph(model).eval()
    litert_torch.convert(module, (torch.from_numpy(samples[0]),)).export(str(folder / "f32.tflite"))
    tool = quantizer.Quantizer(str(folder / "f32.tflite"), recipe.static_wi8_ai8())
    ranges = tool.calibrate({"serving_default": [{"args_0": x} for x in samples]}, num_threads=1)
    path = folder / "int8.tflite"
    tool.quantize(ranges).export_model(str(path))
    runtime = Interpreter(str(path), num_threads=1)
    runtime.allocate_tensors()
    (into,), (out,) = runtime.get_input_details(), runtime.get_output_details()

    def run(x: Any) -> Any:
        runtime.set_tensor(into["index"], as_asked(x, into))
        runtime.invoke()
        made = runtime.get_tensor(out["index"])
        scale, zero = out["quantization"]
        return (np.float32(made) - zero) * np.float32(scale) if scale else made

    return path, run


def as_asked(x: Any, port: dict[str, Any]) -> Any:
    """Rounded where the model wants codes."""
    scale, zero = port["quantization"]
    if not scale:
        return x
    ends = np.iinfo(port["dtype"])
    return np.clip(np.rint(x / scale) + zero, ends.min, ends.max).astype(port["dtype"])

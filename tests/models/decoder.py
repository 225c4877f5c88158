"""A small decoder as ONNX: rotary embedding, grouped heads, RMS norm, SiLU; its cache grows by Concat, inside of Attention, or is absent."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, WIDTH, HEADS, GROUPS, SIZE, LAYERS = 61, 32, 4, 2, 8, 2


class Decoder:
    """`model()` makes it.

    Args:
        form: "concat", "attention" or "whole" (no cache).
        window: Keys that a query sees in odd layers; 0: all before it.
        padded: With an input attention_mask.
    """

    def __init__(self, form: str = "concat", window: int = 0, padded: bool = False) -> None:
        self.form, self.window, self.padded = form, window, padded
        self.rng = np.random.default_rng(3)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: dict[str, onnx.TensorProto] = {}
        self.pasts: list[str] = []
        self.presents: list[str] = []

    def weight(self, *shape: int, scale: float | None = None) -> str:
        array = self.rng.standard_normal(shape) * (shape[0] ** -0.5 if scale is None else scale)
        return self.constant(array.astype(np.float32))

    def constant(self, array: Any) -> str:
        name = f"c{len(self.weights)}"
        self.weights[name] = numpy_helper.from_array(np.asarray(array), name)
        return name

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def op(self, kind: str, *inputs: str, out: str | list[str] = "", **attributes: Any) -> str:
        names = out if isinstance(out, list) else [out or f"v{len(self.nodes)}"]
        self.nodes.append(
            helper.make_node(kind, inputs, names, name=f"{kind}_{len(self.nodes)}", **attributes)
        )
        return names[0]

    def norm(self, x: str) -> str:
        square = self.op("ReduceMean", self.op("Mul", x, x), self.ints(-1), keepdims=1)
        root = self.op("Sqrt", self.op("Add", square, self.constant(np.float32(1e-6))))
        return self.op("Mul", self.op("Div", x, root), self.weight(WIDTH, scale=1.0))

    def heads(self, x: str, count: int) -> str:
        return self.op(
            "Transpose", self.op("Reshape", x, self.ints(0, 0, count, SIZE)), perm=[0, 2, 1, 3]
        )

    def rotated(self, x: str) -> str:
        low = self.op("Slice", x, self.ints(0), self.ints(SIZE // 2), self.ints(3))
        high = self.op("Slice", x, self.ints(SIZE // 2), self.ints(SIZE), self.ints(3))
        swapped = self.op("Concat", self.op("Neg", high), low, axis=3)
        return self.op("Add", self.op("Mul", x, self.cos), self.op("Mul", swapped, self.sin))

    def mask(self, window: int) -> str:
        """bool [1, 1, tokens, keys]: keys up to the query's place, `window` of them."""
        queries = self.op("Unsqueeze", self.op("Cast", "position_ids", to=7), self.ints(1, 3))
        keys = self.op("Range", self.constant(np.int64(0)), self.whole, self.constant(np.int64(1)))
        seen = self.op("LessOrEqual", keys, queries)
        if window:
            near = self.op(
                "Greater", keys, self.op("Sub", queries, self.constant(np.int64(window)))
            )
            seen = self.op("And", seen, near)
        if self.padded:
            real = self.op("Cast", self.op("Unsqueeze", "attention_mask", self.ints(1, 2)), to=9)
            seen = self.op("And", seen, real)
        return seen

    def attention(self, x: str, layer: int) -> str:
        window = self.window if layer % 2 else 0
        q, k, v = (
            self.op("MatMul", x, self.weight(WIDTH, n * SIZE)) for n in (HEADS, GROUPS, GROUPS)
        )
        q, k, v = (
            self.rotated(self.heads(q, HEADS)),
            self.rotated(self.heads(k, GROUPS)),
            self.heads(v, GROUPS),
        )
        past = [f"past_key_values.{layer}.{n}" for n in ("key", "value")]
        present = [f"present.{layer}.{n}" for n in ("key", "value")]
        if self.form != "whole":
            self.pasts += past
            self.presents += present
        if self.form == "attention":
            y = self.op("Attention", q, k, v, self.mask(window), *past, out=[f"y{layer}", *present])
        else:
            if self.form == "concat":
                k, v = (
                    self.op("Concat", p, new, axis=2, out=made)
                    for p, new, made in zip(past, (k, v), present, strict=True)
                )
            wide = self.op(
                "Concat",
                self.ints(1, GROUPS, HEADS // GROUPS),
                self.op("Reshape", self.whole, self.ints(1)),
                self.ints(SIZE),
                axis=0,
            )
            k, v = (
                self.op(
                    "Reshape",
                    self.op("Expand", self.op("Unsqueeze", t, self.ints(2)), wide),
                    self.ints(0, HEADS, -1, SIZE),
                )
                for t in (k, v)
            )
            scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
            scores = self.op("Mul", scores, self.constant(np.float32(SIZE**-0.5)))
            far = self.constant(np.float32(np.finfo(np.float32).min))
            added = self.op("Where", self.mask(window), self.constant(np.float32(0)), far)
            y = self.op("MatMul", self.op("Softmax", self.op("Add", scores, added), axis=-1), v)
        y = self.op("Reshape", self.op("Transpose", y, perm=[0, 2, 1, 3]), self.ints(0, 0, WIDTH))
        return self.op("MatMul", y, self.weight(WIDTH, WIDTH))

    def model(self) -> onnx.ModelProto:
        tokens = self.op("Gather", self.op("Shape", "input_ids"), self.constant(np.int64(1)))
        before = (
            self.op("Gather", self.op("Shape", "past_key_values.0.key"), self.constant(np.int64(2)))
            if self.form != "whole"
            else ""
        )
        self.whole = self.op("Add", before, tokens) if before else tokens
        frequencies = self.constant(
            (10000.0 ** (-np.arange(SIZE // 2) / (SIZE // 2))).astype(np.float32)
        )
        angle = self.op(
            "Mul",
            self.op("Unsqueeze", self.op("Cast", "position_ids", to=1), self.ints(1, 3)),
            frequencies,
        )
        angle = self.op("Concat", angle, angle, axis=-1)
        self.cos, self.sin = self.op("Cos", angle), self.op("Sin", angle)
        x = self.op("Gather", self.weight(VOCABULARY, WIDTH, scale=1.0), "input_ids")
        for layer in range(LAYERS):
            x = self.op("Add", x, self.attention(self.norm(x), layer))
            gate, up = (
                self.op("MatMul", self.norm(x), self.weight(WIDTH, 2 * WIDTH)) for _ in range(2)
            )
            y = self.op("Mul", self.op("Mul", gate, self.op("Sigmoid", gate)), up)
            x = self.op("Add", x, self.op("MatMul", y, self.weight(2 * WIDTH, WIDTH)))
        self.op("MatMul", self.norm(x), self.weight(WIDTH, VOCABULARY), out="logits")
        return self._finished()

    def _finished(self) -> onnx.ModelProto:
        info = helper.make_tensor_value_info
        inputs = [
            info("input_ids", TensorProto.INT64, [1, "tokens"]),
            info("position_ids", TensorProto.INT64, [1, "tokens"]),
        ]
        if self.padded:
            inputs.append(info("attention_mask", TensorProto.INT64, [1, "all"]))
        inputs += [info(p, TensorProto.FLOAT, ["batch", GROUPS, "past", SIZE]) for p in self.pasts]
        outputs = [info("logits", TensorProto.FLOAT, [1, "tokens", VOCABULARY])]
        outputs += [
            info(p, TensorProto.FLOAT, ["batch", GROUPS, "past + tokens", SIZE])
            for p in self.presents
        ]
        graph = helper.make_graph(
            self.nodes, "decoder", inputs, outputs, list(self.weights.values())
        )
        opset = 24 if self.form == "attention" else 18
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10
        )


def decoder(form: str = "concat", window: int = 0, padded: bool = False) -> onnx.ModelProto:
    return Decoder(form, window, padded).model()


def logits(model: onnx.ModelProto, tokens: Any) -> Any:
    """Of every token, by onnxruntime, a past of length 0."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    feeds: dict[str, Any] = {}
    for port in session.get_inputs():
        feeds[port.name] = {
            "input_ids": lambda: tokens,
            "position_ids": lambda: np.arange(tokens.shape[1])[None],
            "attention_mask": lambda: np.ones_like(tokens),
        }.get(port.name, lambda: np.zeros((1, GROUPS, 0, SIZE), np.float32))()
    return session.run(["logits"], feeds)[0]

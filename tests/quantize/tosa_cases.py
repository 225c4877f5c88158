"""Runs integer operators on the TOSA reference model, in an interpreter of its own: `python tosa_cases.py CASES.npz RESULTS.npz`.

CASES holds for each name: `name/row` JSON {"op", attributes of export/graph/int8.py}, `name/x`, `name/b`, `name/w`, `name/bias`,
`name/multiplier`, `name/shift`; RESULTS the int8 result of each name. Tensors are in ONNX layout on both sides.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import tosa_reference_model  # pyright: ignore[reportMissingImports]
import tosa_serializer as ts  # pyright: ignore[reportMissingImports]

I8, I32 = ts.DType.INT8, ts.DType.INT32


class Graph:
    """One TOSA graph under construction."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row, self.fed, self.made = row, [], 0
        self.graph = ts.TosaSerializer(pathPrefix="", constMode=ts.ConstMode.EMBED)

    def feed(self, x: np.ndarray) -> str:
        self.fed.append(np.ascontiguousarray(x))
        tensor = ts.TosaSerializerTensor(f"in{len(self.fed)}", list(x.shape), I8, None)
        self.graph.addInputTensor(tensor)
        return tensor.name

    def const(self, values: Any, kind: Any) -> str:
        array = np.ascontiguousarray(values, np.int8 if kind == I8 else np.int32)
        self.made += 1
        return self.graph.addConst(list(array.shape), kind, array, name=f"c{self.made}").name

    def op(self, name: str, inputs: list[str], shape: Any, kind: Any, attribute: str, *given: Any):
        attr = ts.TosaSerializerAttribute()
        getattr(attr, attribute)(*given)
        out = self.graph.addIntermediate(list(shape), kind).name
        self.graph.addOperator(getattr(ts.Op, name), inputs, [out], attr)
        return out

    def rescale(
        self, x: str, shape: Any, multiplier: Any, shift: Any, x_zero: int, y_zero: int, kinds: Any
    ) -> str:
        multiplier, shift = np.atleast_1d(multiplier), np.atleast_1d(shift)
        inputs = [
            x,
            self.const(multiplier, I32),
            self.const(shift, I8),
            self.const([x_zero], kinds[0]),
            self.const([y_zero], kinds[1]),
        ]
        given = (True, ts.RoundingMode.SINGLE_ROUND, len(multiplier) > 1, False, False)
        return self.op("RESCALE", inputs, shape, kinds[1], "RescaleAttribute", *given)

    def finish(self, x: str, shape: Any) -> np.ndarray:
        """Clamp, run, int8 result."""
        out = self.graph.addOutput(list(shape), I8).name
        attr = ts.TosaSerializerAttribute()
        low, high = (
            list(np.array([self.row.get(k, d)], np.int8).tobytes())
            for k, d in (("low", -128), ("high", 127))
        )
        attr.ClampAttribute(low, high, ts.NanPropagationMode.PROPAGATE)
        self.graph.addOperator(ts.Op.CLAMP, [x], [out], attr)
        got, status = tosa_reference_model.run(bytes(self.graph.serialize()), self.fed)
        if "VALID" not in str(status) or "INVALID" in str(status):
            raise RuntimeError(f"{self.row}: {status}")
        return np.frombuffer(np.asarray(got[0]).tobytes(), np.int8).reshape(shape)


def conv(row: dict[str, Any], x: np.ndarray, w: np.ndarray, **c: np.ndarray) -> np.ndarray:
    g, (n, _, kh, kw) = Graph(row), w.shape
    top, left, bottom, right = row["pads"]
    given = ([top, bottom, left, right], row["strides"], row["dilations"], False, I32)
    extents = [
        (size + sum(around) - (k - 1) * d - 1) // s + 1
        for size, around, k, d, s in zip(
            x.shape[2:], ((top, bottom), (left, right)), (kh, kw), row["dilations"], row["strides"]
        )
    ]
    shape = [len(x), *extents, n]
    if row["group"] == 1:
        name, attribute, weight = "CONV2D", "Conv2dAttribute", w.transpose(0, 2, 3, 1)
    else:
        name, attribute = "DEPTHWISE_CONV2D", "DepthwiseConv2dAttribute"
        weight = w.reshape(row["group"], -1, kh, kw).transpose(2, 3, 0, 1)
    zeros = [g.const([row["x_zero"]], I8), g.const([0], I8)]
    inputs = [g.feed(x.transpose(0, 2, 3, 1)), g.const(weight, I8), g.const(c["bias"], I32), *zeros]
    total = g.op(name, inputs, shape, I32, attribute, *given)
    y = g.rescale(total, shape, c["multiplier"], c["shift"], 0, row["y_zero"], (I32, I8))
    return g.finish(y, shape).transpose(0, 3, 1, 2)


def linear(row: dict[str, Any], x: np.ndarray, w: np.ndarray, **c: np.ndarray) -> np.ndarray:
    full = {"pads": [0] * 4, "strides": [1, 1], "dilations": [1, 1], "group": 1} | row
    return conv(full, x[:, :, None, None], w[:, :, None, None], **c)[:, :, 0, 0]


def add(row: dict[str, Any], x: np.ndarray, b: np.ndarray) -> np.ndarray:
    g = Graph(row)
    sides = [
        g.rescale(
            g.feed(v), x.shape, row[f"{k}_multiplier"], row[f"{k}_shift"], row[f"{k}_zero"], 0, (I8, I32)
        )
        for k, v in (("a", x), ("b", b))
    ]  # fmt: skip
    total = g.op("ADD", sides, x.shape, I32, "AddAttribute")
    kinds = (I32, I8)
    y = g.rescale(total, x.shape, row["multiplier"], row["shift"], 0, row["y_zero"], kinds)
    return g.finish(y, x.shape)


def rescale(row: dict[str, Any], x: np.ndarray) -> np.ndarray:
    g = Graph(row)
    factor = (row["multiplier"], row["shift"], row["x_zero"], row["y_zero"])
    return g.finish(g.rescale(g.feed(x), x.shape, *factor, (I8, I8)), x.shape)


def average_pool(row: dict[str, Any], x: np.ndarray) -> np.ndarray:
    """A depthwise convolution with ones."""
    c = x.shape[1]
    full = {"pads": [0] * 4, "dilations": [1, 1], "group": c} | row
    consts = {k: np.full(c, row[k]) for k in ("multiplier", "shift")}
    ones = np.ones((c, 1, *row["kernel_shape"]), np.int8)
    return conv(full, x, ones, bias=np.zeros(c, np.int32), **consts)


def interpolate(row: dict[str, Any], x: np.ndarray) -> np.ndarray:
    g, extents = Graph(row), list(row["extents"])
    lines = list(zip(row["numerators"], row["denominators"], row["offsets"]))
    borders = [
        (out - 1) * d - (size - 1) * n + offset
        for (n, d, offset), size, out in zip(lines, x.shape[2:], extents)
    ]
    scale = [part for n, d, _ in lines for part in (n, d)]
    numbers = ((4, scale), (2, [offset for _, _, offset in lines]), (2, borders))
    inputs = [g.feed(x.transpose(0, 2, 3, 1))]
    inputs += [
        g.graph.addConst([n], ts.DType.SHAPE, np.array(v, np.int64), name=f"s{i}").name
        for i, (n, v) in enumerate(numbers)
    ]
    shape = [len(x), *extents, x.shape[1]]
    total = g.op("RESIZE", inputs, shape, I32, "ResizeAttribute", ts.ResizeMode.BILINEAR)
    y = g.rescale(total, shape, row["multiplier"], row["shift"], 0, 0, (I32, I8))
    return g.finish(y, shape).transpose(0, 3, 1, 2)


def max_pool(row: dict[str, Any], x: np.ndarray) -> np.ndarray:
    g = Graph(row)
    top, left, bottom, right = row["pads"]
    extents = [
        (size + sum(around) - k) // s + 1
        for size, around, k, s in zip(
            x.shape[2:], ((top, bottom), (left, right)), row["kernel_shape"], row["strides"]
        )
    ]
    shape = [len(x), *extents, x.shape[1]]
    pads = [top, bottom, left, right]
    nan = ts.NanPropagationMode.PROPAGATE
    given = (row["kernel_shape"], row["strides"], pads, nan)
    fed = g.feed(x.transpose(0, 2, 3, 1))
    y = g.op("MAX_POOL2D", [fed], shape, I8, "MaxPool2dAttribute", *given)
    return g.finish(y, shape).transpose(0, 3, 1, 2)


def main(cases: str, results: str) -> None:
    data = np.load(cases)
    names = [k.removesuffix("/row") for k in data.files if k.endswith("/row")]
    found = {}
    for name in names:
        row = json.loads(str(data[f"{name}/row"]))
        arrays = {
            k.rsplit("/", 1)[1]: data[k]
            for k in data.files
            if k.rsplit("/", 1)[0] == name and not k.endswith("/row")
        }
        found[name] = globals()[row["op"]](row, **arrays)
    np.savez(results, **found)


if __name__ == "__main__":
    main(*sys.argv[1:])

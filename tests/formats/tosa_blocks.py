"""MX blocks on the TOSA reference model, in an interpreter of its own: `python tosa_blocks.py CASES.npz RESULTS.npz`.

CASES holds for each format, named as TOSA names its element, `x` f32 [n, k] to encode, and `codes` uint8 [n, k] with `scale` uint8
[n, k / 32] to decode; RESULTS `element` and `unit`, what the codes and the scales of x stand for, and `value` of the codes.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import tosa_reference_model  # pyright: ignore[reportMissingImports]
import tosa_serializer as ts  # pyright: ignore[reportMissingImports]

ONE = {"FP8E4M3": 0x38, "FP6E2M3": 0x08, "FP4E2M1": 0x02}
"""The code of 1."""
SCALE = ts.DType.FP8UE8M0


class Graph:
    def __init__(self, element: str) -> None:
        self.element = getattr(ts.DType, element)
        self.graph = ts.TosaSerializer(pathPrefix="", constMode=ts.ConstMode.EMBED)
        self.fed: list[np.ndarray] = []

    def feed(self, x: np.ndarray, kind: Any) -> str:
        name = f"in{len(self.fed)}"
        self.graph.addInputTensor(ts.TosaSerializerTensor(name, list(x.shape), kind, None))
        self.fed.append(np.ascontiguousarray(x))
        return name

    def encode(self, x: np.ndarray) -> tuple[str, str]:
        n, k = x.shape
        codes = self.graph.addIntermediate([n, k], self.element).name
        scale = self.graph.addIntermediate([n, k // 32], SCALE).name
        attribute = ts.TosaSerializerAttribute()
        attribute.CastToBlockScaledAttribute(ts.BlockSize.BLOCK_SIZE_32)
        source = self.feed(x, ts.DType.FP32)
        self.graph.addOperator(ts.Op.CAST_TO_BLOCK_SCALED, [source], [codes, scale], attribute)
        return codes, scale

    def decode(self, codes: str, scale: str, shape: tuple[int, ...]) -> None:
        out = self.graph.addOutput(list(shape), ts.DType.FP32).name
        attribute = ts.TosaSerializerAttribute()
        attribute.CastFromBlockScaledAttribute(ts.BlockSize.BLOCK_SIZE_32)
        self.graph.addOperator(ts.Op.CAST_FROM_BLOCK_SCALED, [codes, scale], [out], attribute)

    def run(self) -> list[np.ndarray]:
        got, status = tosa_reference_model.run(bytes(self.graph.serialize()), self.fed)
        if str(status).split(".")[-1] != "TOSA_VALID":
            raise RuntimeError(f"{self.element}: {status}")
        return [np.asarray(y) for y in got]


def encoded(element: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What the codes stand for under scale 1, and the scales with code 1: the model hands out no narrow types."""
    graph, (n, k) = Graph(element), x.shape
    codes, scale = graph.encode(x)
    one = graph.feed(np.full((n, k // 32), 127, np.uint8), SCALE)
    ones = graph.feed(np.full((n, k), ONE[element], np.uint8), graph.element)
    graph.decode(codes, one, x.shape)
    graph.decode(ones, scale, x.shape)
    element_values, units = graph.run()
    return element_values, units[:, ::32]


def decoded(element: str, codes: np.ndarray, scale: np.ndarray) -> np.ndarray:
    graph = Graph(element)
    graph.decode(graph.feed(codes, graph.element), graph.feed(scale, SCALE), codes.shape)
    return graph.run()[0]


def main() -> None:
    cases, results = np.load(sys.argv[1]), {}
    for element in ONE:
        x, codes, scale = (cases[f"{element}/{name}"] for name in ("x", "codes", "scale"))
        results[f"{element}/element"], results[f"{element}/unit"] = encoded(element, x)
        results[f"{element}/value"] = decoded(element, codes, scale)
    np.savez(sys.argv[2], **results)


if __name__ == "__main__":
    main()

"""What an export costs: python benchmarks/export_cost.py [--nodes 100,1000,10000] [--only NAME,...] [--decoder] [--static] [--profile]

Seconds (of the processor: other load does not count) and peak memory of `pteron export`, each in a process of its own: graphs of some shapes by their number of nodes, and
with --decoder a Llama shape of 246 M parameters (984 MB in f32) as it is and in NF4, with --static MobileNetV2's shape (10 MB) in
static int8 by 64 pictures, which is to take BAR seconds of one processor at most. `peak` is the resident set's
highest, `over` what of it the imports had not taken. --python FILE measures with another interpreter: the Pteron installed there.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 16
DECODER = {"layers": 16, "width": 1024, "inner": 2816, "heads": 16, "groups": 4, "words": 32000}


class Graph:
    """Nodes and initializers as they are added; every node has one output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.made = 0
        self.weights: list[onnx.TensorProto] = []
        self.rng = np.random.default_rng(0)

    def add(self, op: str, *inputs: str, to: str = "", **attrs: Any) -> str:
        self.made += 1
        name = to or f"v{self.made}"
        self.nodes.append(helper.make_node(op, inputs, [name], name=f"n{self.made}", **attrs))
        return name

    def weight(self, *shape: int, scale: float = 0.1) -> str:
        return self.constant(self.rng.standard_normal(shape, np.float32) * np.float32(scale))

    def constant(self, array: Any) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def model(self, inputs: list[Any], outputs: list[Any], opset: int = 24) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, "cost", inputs, outputs, self.weights)
        imports = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=imports, ir_version=11)

    def ending(self, last: str) -> onnx.ModelProto:
        """[4, WIDTH] in, the same out."""
        self.nodes[-1].output[0] = last = "y"
        x, y = (
            helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, WIDTH]) for n in ("x", last)
        )
        return self.model([x], [y])


def elementwise(count: int) -> onnx.ModelProto:
    g, v = Graph(), "x"
    for i in range(count):
        v = g.add("Tanh", v) if i % 3 == 2 else g.add(("Add", "Mul")[i % 3], v, g.weight(WIDTH))
    return g.ending(v)


def dense(count: int) -> onnx.ModelProto:
    g, v = Graph(), "x"
    for _ in range(count // 3):
        v = g.add("MatMul", v, g.weight(WIDTH, WIDTH))
        v = g.add("Relu", g.add("Add", v, g.weight(WIDTH)))
    return g.ending(v)


def residual(count: int) -> onnx.ModelProto:
    g, v = Graph(), "x"
    for _ in range(count // 4):
        h = g.add("MatMul", v, g.weight(WIDTH, WIDTH))
        v = g.add("Add", v, g.add("Relu", g.add("Add", h, g.weight(WIDTH))))
    return g.ending(v)


def wide(count: int) -> onnx.ModelProto:
    """One value read by half of the nodes, a tree of sums over them."""
    g = Graph()
    level = [g.add("Softmax", g.add("Mul", "x", g.weight(WIDTH))) for _ in range(count // 3)]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [g.add("Add", a, b) for a, b in pairs] + level[len(level) & ~1 :]
    return g.ending(level[0])


def joined(count: int) -> onnx.ModelProto:
    """One value read by all nodes, one node that reads them all."""
    g = Graph()
    made = [g.add("Softmax", g.add("Mul", "x", g.weight(WIDTH))) for _ in range(count // 2)]
    g.add("Add", "x", g.add("ReduceMax", g.add("Concat", *made, axis=0), keepdims=0))
    return g.ending("")


def branches(count: int) -> onnx.ModelProto:
    """If in If in If, one such nest after the other."""
    g, v = Graph(), "x"
    flag = g.constant(np.array(0.5, np.float32))

    def nest(depth: int, value: str) -> str:
        if depth == 0:
            return g.add("Mul", g.add("Tanh", value), g.weight(WIDTH))
        which = g.add("Less", g.add("ReduceMax", value, keepdims=0), flag)
        bodies = {f"{side}_branch": body(side, depth - 1, value) for side in ("then", "else")}
        return g.add("If", which, **bodies)

    def body(side: str, depth: int, value: str) -> onnx.GraphProto:
        outer, g.nodes = g.nodes, []
        out = helper.make_tensor_value_info(nest(depth, value), TensorProto.FLOAT, [4, WIDTH])
        made, g.nodes = helper.make_graph(g.nodes, side, [], [out]), outer
        return made

    for _ in range(max(count // 37, 1)):
        v = nest(3, v)
    return g.ending(v)


def decoder(folder: Path) -> Path:
    """The Llama shape with a cache that the session keeps; weights in the file beside it."""
    d = DECODER
    width, head = d["width"], d["width"] // d["heads"]
    g = Graph()
    place = folder / "decoder.weights"
    with place.open("wb") as data:

        def weight(*shape: int) -> str:
            name = f"w{len(g.weights)}"
            t = TensorProto(
                name=name,
                dims=shape,
                data_type=TensorProto.FLOAT,
                data_location=TensorProto.EXTERNAL,
            )
            size = 4 * int(np.prod(shape))
            entries = {"location": place.name, "offset": data.tell(), "length": size}
            for key, value in entries.items():
                t.external_data.add(key=key, value=str(value))
            data.write((g.rng.standard_normal(shape, np.float32) * np.float32(0.02)).tobytes())
            g.weights.append(t)
            return name

        def product(x: str, rows: int, columns: int) -> str:
            return g.add("MatMul", x, weight(rows, columns))

        def norm(x: str) -> str:
            return g.add(
                "RMSNormalization", x, g.constant(np.ones(width, np.float32)), epsilon=1e-5
            )

        x = g.add("Gather", weight(d["words"], width), "tokens")
        for _ in range(d["layers"]):
            h = norm(x)
            kv = d["groups"] * head
            q, k, v = product(h, width, width), product(h, width, kv), product(h, width, kv)
            a = g.add(
                "Attention", q, k, v, q_num_heads=d["heads"], kv_num_heads=d["groups"], is_causal=1
            )
            x = g.add("Add", x, product(a, width, width))
            h = norm(x)
            gate = product(h, width, d["inner"])
            gate = g.add("Mul", gate, g.add("Sigmoid", gate))
            gate = g.add("Mul", gate, product(h, width, d["inner"]))
            x = g.add("Add", x, product(gate, d["inner"], width))
        g.add("MatMul", norm(x), weight(width, d["words"]), to="logits")
    tokens = helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, "seq"])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [1, "seq", d["words"]])
    path = folder / "decoder.onnx"
    path.write_bytes(g.model([tokens], [logits]).SerializeToString())
    return path


BAR = 40.0
PICTURES = 64
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]  # fmt: skip
"""Of MobileNetV2: how many times as wide inside, channels, how many, the first one's stride."""


def vision(folder: Path) -> Path:
    """The shape of MobileNetV2 with 256 classes, and pictures as soft as photographs beside it."""
    g = Graph()
    ends = [g.constant(np.float32(n)) for n in (0, 6)]

    def conv(x: str, into: int, out: int, size: int = 1, stride: int = 1, group: int = 1, clip: bool = True) -> str:  # fmt: skip
        each = into // group
        w = g.weight(out, each, size, size, scale=(2 / (each * size * size)) ** 0.5)
        pads = [size // 2] * 4
        x = g.add("Conv", x, w, g.weight(out), strides=[stride] * 2, pads=pads, group=group)
        return g.add("Clip", x, *ends) if clip else x

    x, width = conv("x", 3, 32, 3, 2), 32
    for times, channels, count, first in BLOCKS:
        for i in range(count):
            stride, inside = first if i == 0 else 1, times * width
            h = conv(x, width, inside) if times > 1 else x
            h = conv(conv(h, inside, inside, 3, stride, inside), inside, channels, clip=False)
            x = g.add("Add", x, h) if stride == 1 and channels == width else h
            width = channels
    x = g.add("Flatten", g.add("GlobalAveragePool", conv(x, width, 1280)))
    g.add("Gemm", x, g.weight(1280, 256, scale=0.03), g.weight(256), to="y")
    ports = ("x", [1, 3, 224, 224]), ("y", [1, 256])
    x_, y_ = (helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in ports)
    path = folder / "vision.onnx"
    onnx.save(g.model([x_], [y_]), path)
    noise = g.rng.standard_normal((PICTURES, 3, 224, 224), np.float32)
    soft = noise.cumsum(2).cumsum(3)
    soft -= soft.mean((2, 3), keepdims=True)
    np.savez(path.with_suffix(".npz"), x=soft / soft.std((1, 2, 3), keepdims=True))
    return path


SHAPES: dict[str, Callable[[int], onnx.ModelProto]] = {
    f.__name__: f for f in (elementwise, dense, residual, wide, joined, branches)
}


# --- measuring: in a process of its own ---------------------------------------------------------------------------------


def measure(path: str, kind: str, profile: str) -> None:
    """Exports once; prints a line of JSON."""
    from pteron.cli.memory import peak_bytes
    from pteron.export.delegates import Delegate
    from pteron.pipeline import export_model

    # everything is imported before the clock and the memory are read
    tiny = elementwise(3)
    rows: list[Any] = [Delegate("null", "null-1", _takes, lambda segment: b"null" * 16)]
    options: dict[str, Any] = {"quantize": kind} if kind in ("nf4", "int8") else {}
    options |= {"delegates": rows} if kind == "delegate" else {}
    more = {"quantize": "int8", "calibrate": Path(path).with_suffix(".npz")}
    target = Path(path).with_suffix(f".{kind}.pte")
    export_model(tiny.SerializeToString(), target, **options)
    before = peak_bytes() or 0
    started, trace = time.process_time(), cProfile.Profile()
    if profile:
        trace.enable()
    report = export_model(path, target, **(more if kind == "static" else options))
    trace.disable()
    peak = peak_bytes() or 0
    row = {
        "seconds": time.process_time() - started,
        "peak": peak / 2**20,
        "over": (peak - before) / 2**20,
        "stages": report.seconds,
        "bytes": target.stat().st_size,
    }
    if profile:
        pstats.Stats(trace, stream=sys.stderr).sort_stats("cumulative").print_stats(70)
        pstats.Stats(trace, stream=sys.stderr).sort_stats("tottime").print_stats(25)
    print(json.dumps(row))


def _takes(node: Any) -> str | None:
    return None if node.op_type in ("MatMul", "Add") else "taken by the CPU"


def row(path: Path, kind: str, profile: bool, python: str) -> dict[str, Any]:
    command = [python, __file__, "--measure", str(path), kind, "profile" if profile else ""]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return dict(json.loads(done.stdout)) if done.returncode == 0 else {}


def show(name: str, found: dict[str, Any]) -> None:
    if not found:
        print(f"{name:24s} failed", flush=True)
        return
    stages = ", ".join(f"{k} {v:.2f}" for k, v in found["stages"].items() if v >= 0.05)
    print(
        f"{name:24s} {found['seconds']:8.2f} s  peak {found['peak']:6.0f} MiB  over {found['over']:6.0f} MiB"
        f"  file {found['bytes'] / 1e6:8.2f} MB  ({stages})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", default="100,1000,10000")
    parser.add_argument("--only", default=",".join([*SHAPES, "delegate"]))
    parser.add_argument("--decoder", action="store_true")
    parser.add_argument("--static", action="store_true")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure(*args.measure)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in filter(None, args.only.split(",")):
            for count in map(int, args.nodes.split(",")):
                path = Path(folder) / f"{name}_{count}.onnx"
                onnx.save(SHAPES.get(name, dense)(count), path)
                kind = name if name == "delegate" else "f32"
                show(f"{name} {count:,}", row(path, kind, args.profile, args.python))
        if args.decoder:
            path = decoder(Path(folder))
            for kind in ("f32", "nf4"):
                show(f"decoder {kind}", row(path, kind, args.profile, args.python))
        if args.static:
            found = row(vision(Path(folder)), "static", args.profile, args.python)
            over = not found or found["seconds"] > BAR
            show("vision static int8", found)
            print(f"{'over' if over else 'within'} the bar of {BAR:.0f} s, on a quiet machine")


if __name__ == "__main__":
    main()

"""Integer nodes against schema/meaning/int8.py, to the bit: by the interpreter and by the C runtime, fused and not, from every
variant, on one to three threads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pteron.export.file.emit import emit_bytes
from pteron.export.graph import IR_VERSION, OPSET
from pteron.export.graph import int8 as integer
from pteron.export.lower import lower
from pteron.export.optimize.fuse import fuse
from pteron.export.pack import pack
from pteron.export.plan import plan
from pteron.export.program import Program
from pteron.export.program.interpret import run
from pteron.schema.errors import LoweringError
from pteron.schema.meaning import int8 as meaning

runtime = pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
FEW = settings(max_examples=40, deadline=None, derandomize=True)

Array = np.ndarray[Any, Any]
Nodes = Callable[[ir.Graph, list[ir.Value]], ir.Node]


def codes(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape).astype(np.int8)


@dataclasses.dataclass
class Built:
    """A graph whose inputs are int8 or int16 tensors, and what its nodes compute, in NumPy."""

    graph: ir.Graph
    arrays: dict[str, Array]
    made: dict[ir.Value, Array] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, *arrays: Array, symbolic: bool = False) -> Built:
        inputs = []
        for i, x in enumerate(arrays):
            names = [
                f"d{axis}_{n}" if symbolic and axis != 1 else n for axis, n in enumerate(x.shape)
            ]
            kind = ir.TensorType(ir.DataType.from_numpy(x.dtype))
            inputs.append(ir.Value(name=f"x{i}", type=kind, shape=ir.Shape(names)))
        opsets = {"": OPSET, integer.DOMAIN: integer.VERSION}
        graph = ir.Graph(inputs, [], nodes=[], opset_imports=opsets, name="integers")
        built = cls(graph, {f"x{i}": x for i, x in enumerate(arrays)})
        built.made = dict(zip(inputs, arrays, strict=True))
        return built

    def add(self, row: Any, *xs: ir.Value) -> ir.Value:
        name = f"n{len(self.graph)}"
        return self.append(integer.build(row, xs, self.graph, name), *xs)

    def append(self, node: ir.Node, *xs: ir.Value) -> ir.Value:
        self.graph.append(node)
        self.made[node.outputs[0]] = integer.run(node, *(self.made[x] for x in xs))
        return node.outputs[0]

    def agrees(self, *outputs: ir.Value) -> Program:
        """All ways of running it give these outputs' bytes; returns the fused program."""
        self.graph.outputs.extend(outputs)
        program = lower(ir.Model(self.graph, ir_version=IR_VERSION))
        fused = fuse(program)
        wanted = {str(v.name): self.made[v] for v in outputs}
        for each in (program, fused):
            same(run(each, self.arrays), wanted, "interpreted")
            for how, got in ran(each, self.arrays):
                same(got, wanted, how)
        return fused


def ran(program: Program, arrays: dict[str, Array]) -> list[tuple[str, dict[str, Array]]]:
    """By the C runtime, in every way."""
    from pteron.runtime.program import Program as Opened
    from pteron.runtime.session import Session

    opened = Opened(emit_bytes(plan(pack(program))))
    lib = runtime.lib
    ways = [(c, 1) for c in (0, lib.PTE_CPU_AVX2)]
    ways += [(None, threads) for threads in (1, 2, 3)]
    return [
        (f"cpu {c}, {threads} threads", Session(opened, threads=threads, cpu=c).run(arrays))
        for c, threads in ways
    ]


def same(got: dict[str, Array], wanted: dict[str, Array], how: str) -> None:
    assert got.keys() == wanted.keys()
    for name, want in wanted.items():
        assert got[name].dtype == want.dtype, how
        np.testing.assert_array_equal(got[name], want, err_msg=f"{how}: {name}")


def ends(rng: np.random.Generator) -> dict[str, int]:
    """Zero points and a clamp."""
    low = int(rng.choice([-128, -128, -7]))
    zeros = {name: int(rng.integers(-128, 128)) for name in ("x_zero", "y_zero")}
    return {**zeros, "low": low, "high": int(rng.choice([127, 127, 60]))}


def factor(rng: np.random.Generator, terms: float) -> dict[str, int]:
    """Takes sums of so many terms to codes."""
    pair = integer.integer.multiplier_shift(float(rng.uniform(0.2, 3) / np.sqrt(terms)))
    return dict(zip(("multiplier", "shift"), pair, strict=True))


def channels(rng: np.random.Generator, n: int, depth: int) -> dict[str, Array]:
    """Bias and factors of n sums of `depth` products of codes."""
    scales = rng.uniform(0.2, 3, n) / (75 * np.sqrt(max(depth, 1)))
    multiplier, shift = integer.integer.multipliers_shifts(scales)
    bias = rng.integers(-5000, 5000, n).astype(np.int32)
    return {"bias": bias, "multiplier": multiplier, "shift": shift}


def conv(
    rng: np.random.Generator, n: int, c: int, kernel: Sequence[int], **rest: Any
) -> integer.Conv:
    axes, group = len(kernel), rest.pop("group", 1)
    attrs = {"strides": (1,) * axes, "pads": (0,) * 2 * axes, "dilations": (1,) * axes} | rest
    w = codes(rng, n, c // group, *kernel)
    depth = int(np.prod(w.shape[1:]))
    return integer.Conv(w=w, group=group, **attrs, **channels(rng, n, depth), **ends(rng))


def linear(rng: np.random.Generator, n: int, k: int) -> integer.Linear:
    return integer.Linear(w=codes(rng, n, k), **channels(rng, n, k), **ends(rng))


def addition(rng: np.random.Generator) -> integer.Add:
    scales = rng.uniform(0.01, 1, 3)
    found = [integer.integer.multiplier_shift(f) for f in integer.integer.add_factors(*scales)]
    names = ("a_multiplier", "a_shift", "b_multiplier", "b_shift", "multiplier", "shift")
    some = ends(rng)
    zeros = {"a_zero": some.pop("x_zero"), "b_zero": int(rng.integers(-128, 128))}
    factors = dict(zip(names, sum(found, ()), strict=True))
    return integer.Add(**zeros, **factors, **some)


@st.composite
def convs(draw: st.DrawFn) -> tuple[Array, integer.Conv, bool]:
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    axes = draw(st.integers(1, 3))
    group = draw(st.sampled_from([1, 1, 2, 3]))
    c, n = group * draw(st.integers(1, 9)), group * draw(st.integers(1, 20))
    kernel = draw(st.lists(st.integers(1, 3), min_size=axes, max_size=axes))
    spatial = draw(st.lists(st.integers(5, 9), min_size=axes, max_size=axes))
    strides = draw(st.lists(st.integers(1, 3), min_size=axes, max_size=axes))
    dilations = draw(st.lists(st.integers(1, 2), min_size=axes, max_size=axes))
    pads = draw(st.lists(st.integers(0, 2), min_size=2 * axes, max_size=2 * axes))
    same = draw(st.sampled_from([0, 0, 1, 2]))
    row = conv(
        rng, n, c, kernel, group=group, strides=tuple(strides), dilations=tuple(dilations),
        pads=(0,) * 2 * axes if same else tuple(pads), same=same,
    )  # fmt: skip
    return codes(rng, draw(st.integers(1, 2)), c, *spatial), row, draw(st.booleans())


@FEW
@given(convs())
def test_conv(case: tuple[Array, integer.Conv, bool]) -> None:
    x, row, symbolic = case
    built = Built.of(x, symbolic=symbolic)
    built.agrees(built.add(row, built.graph.inputs[0]))


@pytest.mark.parametrize("size", [(1, 20, 9, 8), (2, 33, 30, 31)])
@pytest.mark.parametrize("kernel", [(3, 3), (5, 2), (1, 1)])
def test_depthwise_conv(size: tuple[int, ...], kernel: tuple[int, ...]) -> None:
    rng, c = np.random.default_rng(1), size[1]
    built = Built.of(codes(rng, *size))
    row = conv(rng, c, c, kernel, group=c, pads=(1, 0, 1, 1), strides=(2, 1))
    built.agrees(built.add(row, built.graph.inputs[0]))


def test_large_conv_on_threads() -> None:
    rng = np.random.default_rng(3)
    built = Built.of(codes(rng, 1, 32, 40, 41))
    row = conv(rng, 70, 32, (3, 3), pads=(1, 1, 1, 1))
    built.agrees(built.add(row, built.graph.inputs[0]))


def test_sums_at_the_ends_of_their_range() -> None:
    """Codes of -128 against zero point 127 and weights of -128 and 127: the largest sums there are."""
    rng = np.random.default_rng(4)
    built = Built.of(np.full((1, 64, 3, 3), -128, np.int8))
    row = conv(rng, 2, 64, (3, 3))
    w = np.stack([np.full((64, 3, 3), v, np.int8) for v in (-128, 127)])
    top = np.array([2**31 - 1 - 64 * 9 * 255 * 128, -(2**31) + 64 * 9 * 255 * 127], np.int32)
    factors = {"multiplier": np.array([2**30] * 2, np.int32), "shift": np.array([54] * 2, np.int8)}
    row = dataclasses.replace(
        row, w=w, bias=top, x_zero=127, y_zero=0, low=-128, high=127, **factors
    )
    built.agrees(built.add(row, built.graph.inputs[0]))


@pytest.mark.parametrize("shape", [(1, 7), (3, 5, 64), (2, 130), (65,)])
@pytest.mark.parametrize("n", [1, 16, 37])
def test_linear(shape: tuple[int, ...], n: int) -> None:
    rng = np.random.default_rng(5)
    built = Built.of(codes(rng, *shape))
    built.agrees(built.add(linear(rng, n, shape[-1]), built.graph.inputs[0]))


@pytest.mark.parametrize("seed", range(6))
def test_add_and_rescale(seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = np.arange(-128, 128).astype(np.int8)
    a, b = np.meshgrid(every, every)
    built = Built.of(a[None], b[None])
    left, right = built.graph.inputs
    total = built.add(addition(rng), left, right)
    row = integer.Rescale(**ends(rng), **factor(rng, 1))
    built.agrees(total, built.add(row, total))


def test_a_value_added_to_itself_is_not_overwritten() -> None:
    """v dies in Add(v, v), and the row lets y lie in a's memory alone."""
    rng = np.random.default_rng(8)
    built = Built.of(codes(rng, 2, 5, 7))
    rows = [integer.Rescale(**ends(rng), **factor(rng, 1)) for _ in range(2)]
    v = built.add(rows[0], built.graph.inputs[0])
    built.agrees(built.add(rows[1], built.add(addition(rng), v, v)))


def test_rescale_by_every_shift() -> None:
    built = Built.of(np.arange(-128, 128).astype(np.int8)[None])
    (x,) = built.graph.inputs
    ys = [
        built.add(integer.Rescale(3, -2, m, shift, -128, 127), x)
        for shift in range(2, 63)
        for m in (1 << 30, 1431655765, (1 << 31) - 1)
    ]
    built.agrees(*ys)


@pytest.mark.parametrize(
    ("size", "kernel", "strides", "pads"),
    [((1, 5, 7, 7), (7, 7), (1, 1), (0, 0, 0, 0)), ((2, 19, 9, 8), (3, 2), (2, 1), (0, 0, 0, 0)), ((1, 4, 11), (3,), (3,), (0, 0)),
     ((1, 64, 8, 8), (2, 2), (2, 2), (0, 0, 0, 0)), ((1, 5, 7, 7), (7, 7), (3, 1), (2, 3, 4, 0)), ((2, 3, 6), (3,), (1,), (1, 1))],
)  # fmt: skip
def test_average_pool(
    size: tuple[int, ...], kernel: tuple[int, ...], strides: tuple[int, ...], pads: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(6)
    built = Built.of(codes(rng, *size))
    some = ends(rng) | factor(rng, float(np.prod(kernel)))
    row = integer.AveragePool(kernel, strides, pads, **some)
    built.agrees(built.add(row, built.graph.inputs[0]))


@pytest.mark.parametrize(
    ("size", "kernel", "strides", "pads", "dilations", "places"),
    [((1, 5, 7, 7), (3, 3), (1, 1), (1, 1, 1, 1), (1, 1), (7, 7)), ((2, 19, 9, 8), (3, 2), (2, 1), (0, 1, 2, 0), (1, 1), (5, 8)),
     ((1, 4, 11), (3,), (3,), (2, 5), (2,), (5,)), ((1, 64, 8, 8), (2, 2), (2, 2), (1, 0, 1, 0), (1, 3), (5, 3))],
)  # fmt: skip
def test_averages_of_what_is_inside(
    size: tuple[int, ...], kernel: tuple[int, ...], strides: tuple[int, ...], pads: tuple[int, ...], dilations: tuple[int, ...],
    places: tuple[int, ...],
) -> None:  # fmt: skip
    """On every thread count and instruction set the bytes of the NumPy meaning, whatever the places' factors."""
    rng = np.random.default_rng(8)
    built = Built.of(codes(rng, *size))
    some = ends(rng)
    first, shift = factor(rng, float(np.prod(kernel))).values()
    factors = (first / rng.integers(1, 10, places)).astype(np.int32)
    row = integer.InnerAverage(factors, kernel, strides, pads, dilations, **some, shift=shift)
    built.agrees(built.add(row, built.graph.inputs[0]))


@pytest.mark.parametrize(
    ("size", "extents", "lines"),
    [((1, 5, 6, 7), (12, 14), ((4, 2, -1), (4, 2, -1))), ((2, 3, 8, 8), (2, 4), ((1, 4, 0), (1, 2, 0))), ((2, 19, 4, 5), (9, 11), ((8, 3, 0), (10, 4, 0))),
     ((1, 3, 9), (31,), ((7, 2, -3),)), ((1, 2, 6, 5), (6, 10), ((1, 1, 0), (4, 2, -1))), ((1, 1, 400, 500), (401, 499), ((400, 399, 0), (498, 499, 0))),
     ((2, 33, 5, 1), (8, 3), ((16, 10, -3), (3, 1, -1))), ((1, 4, 8, 8), (4, 16), ((2, 4, 1), (2, 1, 0)))],
)  # fmt: skip
def test_codes_between_codes(
    size: tuple[int, ...], extents: tuple[int, ...], lines: tuple[tuple[int, int, int], ...]
) -> None:
    """By powers of two, half a pixel aside and not, by other fractions, and where f32 has not all sums."""
    rng = np.random.default_rng(9)
    x = codes(rng, *size)
    x[..., -1], x[..., 0] = -128, 127
    numerators, denominators, offsets = zip(*lines, strict=True)
    ends = factor(rng, 1)
    ends["multiplier"], ends["shift"] = meaning.multiplier_shift(1 / np.prod(numerators))
    row = integer.Interpolate(extents, numerators, denominators, offsets, **ends)
    built = Built.of(x)
    built.agrees(built.add(row, built.graph.inputs[0]))


@pytest.mark.parametrize(("n", "half"), [(4, 0), (6, 0), (9, 0), (10, 1), (12, 1), (28, 0)])
def test_halves_between_codes_go_where_rescale_has_them(n: int, half: int) -> None:
    """What f32 makes of them: factors above and below 1 / n, and it."""
    a, b = np.meshgrid(np.arange(-128, 128), np.arange(-128, 128, 5), indexing="ij")
    x = np.stack([a.reshape(-1), b.reshape(-1)], -1).astype(np.int8)[None]
    factors = meaning.multiplier_shift(1 / n)
    row = integer.Interpolate((n + 1,), (n,), (1 + half,), (-half,), *factors)
    built = Built.of(x)
    built.agrees(built.add(row, built.graph.inputs[0]))


def test_factors_of_other_places_are_refused() -> None:
    built = Built.of(np.zeros((1, 1, 4, 4), np.int8))
    row = integer.InnerAverage(
        np.full((4, 1), 1 << 30, np.int32), (3, 3), (1, 1), (1,) * 4, (1, 1), 0, 0, 40, -128, 127
    )
    with pytest.raises(LoweringError, match=r"factors of \(4, 1\) places, got \(4, 4\)"):
        built.agrees(built.add(row, built.graph.inputs[0]))


def of_two(rng: np.random.Generator, kind: Any, terms: float) -> Any:
    some = ends(rng)
    zeros = {"a_zero": some.pop("x_zero"), "b_zero": int(rng.integers(-128, 128))}
    return kind(**zeros, **some, **factor(rng, 75 * 75 * terms))


@pytest.mark.parametrize(
    "shapes", [((2, 5, 7), (2, 5, 7)), ((1, 6, 5, 3), (1, 6, 1, 1)), ((4,), (3, 4))]
)
def test_products_of_elements(shapes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(9)
    built = Built.of(*(codes(rng, *shape) for shape in shapes))
    built.agrees(built.add(of_two(rng, integer.Mul, 1), *built.graph.inputs))


@pytest.mark.parametrize("terms", [1, 64, 258, 259, 1000])
def test_products_of_two_activations(terms: int) -> None:
    """258 terms are what a sum in f32 holds exactly."""
    rng = np.random.default_rng(terms)
    a, b = codes(rng, 2, 3, 5, terms), codes(rng, 3, terms, 9)
    a[0, 0, 0], b[0, :, 0] = -128, -128
    built = Built.of(a, b)
    row = dataclasses.replace(of_two(rng, integer.Product, terms), a_zero=127, b_zero=127)
    built.agrees(built.add(row, *built.graph.inputs))


def test_codes_that_are_joined_and_resized() -> None:
    rng = np.random.default_rng(10)
    built = Built.of(codes(rng, 1, 3, 4, 5), codes(rng, 1, 2, 4, 5))
    joined = built.append(ir.node("Concat", built.graph.inputs, {"axis": 1}), *built.graph.inputs)
    joined.dtype = ir.DataType.INT8
    assert integer.read(joined.producer()) == integer.Concat(1)  # type: ignore[arg-type]
    built.agrees(joined)


def test_a_pool_that_f32_might_round_says_so() -> None:
    built = Built.of(np.zeros((1, 1, 300, 300), np.int8))
    row = integer.AveragePool((299, 299), (1, 1), (0,) * 4, 0, 0, 1 << 30, 40, -128, 127)
    y = built.add(row, built.graph.inputs[0])
    with pytest.raises(LoweringError, match="fewer than 65794"):
        built.agrees(y)


def test_a_network() -> None:
    """Conv, pool, two branches that meet, a mean, and a classifier: no copy between convolutions."""
    rng = np.random.default_rng(7)
    built = Built.of(codes(rng, 2, 3, 20, 21))
    x = built.add(conv(rng, 16, 3, (3, 3), pads=(1, 1, 1, 1)), built.graph.inputs[0])
    pool = ir.node(
        "MaxPool", [x], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    )
    x = built.append(pool, x)
    x.dtype = ir.DataType.INT8
    y = built.add(conv(rng, 16, 16, (3, 3), pads=(1, 1, 1, 1)), x)
    y = built.add(conv(rng, 16, 16, (1, 1)), y)
    x = built.add(addition(rng), x, y)
    mean = integer.AveragePool((10, 11), (1, 1), (0,) * 4, **ends(rng), **factor(rng, 110))
    x = built.add(mean, x)
    flat = ir.node("Flatten", [x])
    x = built.append(flat, x)
    fused = built.agrees(built.add(linear(rng, 10, 16), x))
    ops = [i.op for i in fused.blocks[0].instrs]
    assert ops.count("copy") == 1, ops  # the image, to channels last
    assert ops.count("conv_i8") == 4

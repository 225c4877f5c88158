"""Pools and Resize against ONNX's reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lower.check import agrees, agrees_with_onnxruntime
from lower.test_families import floats

import pteron
from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run
from pteron.schema.dtypes import DTYPES
from pteron.schema.errors import LoweringError, PteronError

FEW = settings(max_examples=60, deadline=None, derandomize=True)


@FEW
@given(st.data(), st.sampled_from(["MaxPool", "AveragePool", "LpPool"]))
def test_pools(data: st.DataObject, op: str) -> None:
    rank = data.draw(st.integers(1, 3))

    def numbers(low: int, high: int, count: int = rank) -> list[int]:
        return data.draw(st.lists(st.integers(low, high), min_size=count, max_size=count))

    spatial, kernel, stride = numbers(3, 6), numbers(1, 3), numbers(1, 3)
    dilation = numbers(1, 2)
    pads = [min(p, k - 1) for p, k in zip(numbers(0, 1, 2 * rank), kernel * 2, strict=True)]
    for i, k, d, a, b in zip(spatial, kernel, dilation, pads[:rank], pads[rank:], strict=True):
        assume(i + a + b >= (k - 1) * d + 1)
    attrs = f"kernel_shape={kernel}, strides={stride}, dilations={dilation}, pads={pads}"
    ceil = data.draw(st.integers(0, 1)) if op == "MaxPool" else 0
    attrs += f", ceil_mode={ceil}"
    if op == "AveragePool":
        attrs += f", count_include_pad={data.draw(st.integers(0, 1))}"
    x = floats((2, 3, *spatial))
    sizes = ", ".join(f"s{i}" for i in range(rank))
    agrees_with_onnxruntime(f"out = {op}(x, {attrs})", {"x": x}, x=f"f32[n, 3, {sizes}]")


@pytest.mark.parametrize("order", [0, 1])
def test_max_pool_says_where_it_found_the_maximum(order: int) -> None:
    x = floats((2, 3, 6, 5))
    text = f"y, i = MaxPool(x, kernel_shape=[2, 3], strides=[2, 1], storage_order={order})"
    agrees(text, {"x": x}, x="f32[n, 3, h, w]")


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
def test_global_pools(op: str) -> None:
    agrees(f"out = {op}(x)", {"x": floats((2, 3, 4, 5))}, x="f32[n, 3, h, w]")


def test_a_max_pool_of_bytes_stays_in_bytes() -> None:
    x = np.random.default_rng(0).integers(0, 256, (1, 2, 4, 4)).astype(np.uint8)
    agrees("out = MaxPool(x, kernel_shape=[2, 2])", {"x": x}, x="u8[1, 2, h, w]")


@pytest.mark.parametrize("auto", ["SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize(("h", "w"), [(4, 5), (5, 4), (1, 7)])
@pytest.mark.parametrize(
    "op", ["AveragePool", "MaxPool", "LpPool", "AveragePool of all", "MaxPool of bytes", "MaxPool of integers"]
)  # fmt: skip
def test_padding_that_depends_on_sizes(op: str, h: int, w: int, auto: str) -> None:
    """As Keras has "same" of any size."""
    name, _, rest = op.partition(" of ")
    more = ", count_include_pad=1" if rest == "all" else ""
    text = f"out = {name}(x, kernel_shape=[3, 2], strides=[2, 2], auto_pad='{auto}'{more})"
    kind = {"bytes": "i8", "integers": "u8"}.get(rest, "f32")
    x = floats((2, 3, h, w)) - 1
    x = (
        x
        if kind == "f32"
        else (x * 50).astype(np.int8).astype(kind.replace("i", "int").replace("u", "uint"))
    )
    if name == "MaxPool":  # ONNX's reference rounds the number of windows down
        agrees_with_onnxruntime(text, {"x": x}, x=f"{kind}[n, 3, h, w]")
    else:
        agrees(text, {"x": x}, x=f"{kind}[n, 3, h, w]")


def test_places_of_the_largest_need_padding_that_is_known() -> None:
    text = "out, at = MaxPool(x, kernel_shape=[2, 2], strides=[2, 2], auto_pad='SAME_UPPER')"
    with pytest.raises(LoweringError, match="fix the spatial sizes"):
        lower(onnx_text(text, x="f32[1, 2, h, w]"))


RESIZES = [
    "None, f32([1, 1, 2, 3])",
    "None, f32([1, 1, 0.6, 0.5])",
    "None, f32([1, 1, 2, 2]), mode='linear'",
    "None, f32([1, 1, 1.5, 0.7]), mode='cubic'",
    "None, None, [1, 2, 7, 3], mode='linear', coordinate_transformation_mode='align_corners'",
    "None, None, [7, 3], mode='linear', axes=[2, 3]",
    "None, None, [9], axes=[3], coordinate_transformation_mode='asymmetric', nearest_mode='floor'",
    "None, f32([2, 1, 1, 1]), coordinate_transformation_mode='asymmetric', nearest_mode='ceil'",
    "None, f32([0.5, 0.5]), axes=[3, 2], mode='linear', antialias=1",
]


@pytest.mark.parametrize("rest", RESIZES)
@pytest.mark.parametrize("sizes", ["1, 2, 4, 5", "n, 2, h, w"])
def test_resize(rest: str, sizes: str) -> None:
    if "[1, 2, 7, 3]" in rest and "n" in sizes:
        sizes = "1, 2, h, w"
    agrees(f"out = Resize(x, {rest})", {"x": floats((1, 2, 4, 5))}, x=f"f32[{sizes}]")


@pytest.mark.parametrize(
    ("mode", "dtype"),
    [("linear", "f32"), ("nearest", "f32"), ("nearest", "i64"), ("nearest", "u8")],
)
@pytest.mark.parametrize(
    "rest", ["None, s", "None, [2, 5, 3, 6]", "None, [2, 3, 5, 6, 2], axes=[0, 4, 1, 3, 2]"]
)
def test_all_axes_are_resized(rest: str, mode: str, dtype: str) -> None:
    """Four of them by sizes that a run gives, and five; so as the file that states no size of its image has them."""
    rank = 5 if "axes" in rest else 4
    shape = (1, 4, 2, 3, 5)[:rank]
    x = (10 * floats(shape)).astype(DTYPES[dtype].numpy)
    feeds = {"x": x, "s": np.array([2, 3, 4, 4])} if "s" in rest[:8] else {"x": x}
    types = {
        "x": f"{dtype}[{', '.join('abcde'[:rank])}]",
        **({"s": "i64[4]"} if "s" in feeds else {}),
    }
    agrees(f"out = Resize(x, None, {rest}, mode='{mode}')", feeds, **types)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u32"])
def test_resized_integers_are_rounded_and_saturate(mode: str, dtype: str) -> None:
    """Cubic weights reach beyond the largest and the least element."""
    kind = DTYPES[dtype].numpy
    ends = (0, 2**20) if dtype == "u32" else (np.iinfo(kind).min, np.iinfo(kind).max)
    x = np.array([[[[ends[0], 3, ends[1], ends[1], ends[0], ends[0] + 5]]]], kind)
    agrees(
        f"y = Resize(x, None, f32([1, 1, 1, 2]), mode='{mode}')", {"x": x}, x=f"{dtype}[1, 1, 1, n]"
    )


@pytest.mark.parametrize("dtype", ["i32", "u32", "i64", "u64", "f64"])
@pytest.mark.parametrize("sizes", ["2, 3, 4, 5", "b, 3, h, w"])
def test_the_nearest_element_is_moved_whatever_it_is(dtype: str, sizes: str) -> None:
    """f32 has no more than 24 bits."""
    kind = DTYPES[dtype].numpy
    x = (np.arange(120) * 0x11111111111111 % 2**31 + 2**24 + 1).reshape(2, 3, 4, 5).astype(kind)
    agrees("y = Resize(x, None, f32([1, 1, 2.5, 0.7]))", {"x": x}, x=f"{dtype}[{sizes}]")
    agrees("y = Resize(x, None, f32([2.5]), axes=[1])", {"x": x}, x=f"{dtype}[{sizes}]")


def test_the_nearest_element_outside_the_region() -> None:
    x = np.array([[[[2**24 + 1, 7, 2**30 + 1]]]], np.int32)
    text = "y = Resize(x, f32([0, 0, 0, -0.5, 1, 1, 1, 2]), None, [1, 1, 1, 5], extrapolation_value=9.0, coordinate_transformation_mode='tf_crop_and_resize')"
    agrees(text, {"x": x}, x="i32[1, 1, 1, 3]")


MODES = [(m, p) for m in ("linear", "nearest", "cubic") for p in ("zeros", "border", "reflection")]
MODES.remove(("cubic", "border"))  # onnx's reference clamps the point, not each tap: docs/onnx.md


@pytest.mark.parametrize("mode, padding", MODES)
def test_grid_sample(mode: str, padding: str) -> None:
    x = floats((2, 3, 4, 5))
    grid = np.random.default_rng(1).uniform(-1.3, 1.3, (2, 3, 6, 2)).astype(np.float32)
    text = f"out = GridSample(x, g, mode='{mode}', padding_mode='{padding}')"
    agrees(text, {"x": x, "g": grid}, x="f32[n, 3, h, w]", g="f32[n, p, q, 2]")


@pytest.mark.parametrize("dtype", ["i32", "u32", "i64", "u64"])
def test_integers_that_f32_has_not_are_resized_by_no_mean(dtype: str) -> None:
    """Half of 2^24 + 1 and 2^24 + 3 was 2^24 + 2 by luck and others by none: such data end the run."""
    text = "y = Resize(x, None, f32([1, 1, 1, 2]), mode='linear')"
    model = onnx_text(text, outputs="y", x=f"{dtype}[b, 1, 1, n]")
    kind = np.dtype(DTYPES[dtype].numpy)
    least = 0 if kind.kind == "u" else -(2**24)
    agrees(text, {"x": np.array([[[[least, 2**24, 5]]]], kind)}, x=f"{dtype}[b, 1, 1, n]")
    info = np.iinfo(kind)
    wrong = [2**24 + 1, info.max] + ([] if least == 0 else [least - 1, info.min])
    for value in wrong:
        with pytest.raises((PteronError, IndexError), match="gather"):
            run(lower(model), {"x": np.array([[[[value, 0]]]], kind)})


def test_a_size_that_gets_negative_names_its_node(tmp_path: Path) -> None:
    """The pool writes through a view of the output, which its layout needs."""
    graph = onnx_text("y, at = MaxPool(x, kernel_shape=[3, 3])", x="f32[n, 1, h, h]")
    pteron.export_model(ir.to_proto(graph), tmp_path / "m.pte")
    with pytest.raises(pteron.ArgumentError, match=r"extent -1 is negative \[node n_y\]"):
        pteron.load(tmp_path / "m.pte").run({"x": np.zeros((1, 1, 1, 1), np.float32)})


def test_a_size_of_an_output_that_gets_negative_names_the_output(tmp_path: Path) -> None:
    graph = onnx_text("y = ConstantOfShape(Sub(Shape(x), [2]))", x="f32[n]")
    pteron.export_model(ir.to_proto(graph), tmp_path / "m.pte")
    with pytest.raises(pteron.ArgumentError, match=r"extent -1 is negative \[node output y\]"):
        pteron.load(tmp_path / "m.pte").run({"x": np.zeros(1, np.float32)})


def test_scales_without_elements_are_not_given(tmp_path: Path) -> None:
    """Opset 11 required the operand; converters keep it, without elements, in later opsets."""
    text = "y = Resize(x, f32([]), f32([]), Concat(Shape(x, end=2), i64([8, 6]), axis=0), mode='nearest')"
    pteron.export_model(ir.to_proto(onnx_text(text, x="f32[n, 2, 4, 3]")), tmp_path / "m.pte")
    x = floats((1, 2, 4, 3))
    y = pteron.load(tmp_path / "m.pte").run({"x": x})["y"]
    np.testing.assert_array_equal(y, x.repeat(2, 2).repeat(2, 3))

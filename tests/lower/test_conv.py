"""Convolutions against ONNX's reference, on drawn windows; static and symbolic sizes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from lower.check import agrees, agrees_with_onnxruntime, listing
from lower.test_families import floats

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run

FEW = settings(max_examples=60, deadline=None, derandomize=True)


@dataclasses.dataclass(frozen=True)
class Case:
    x: tuple[int, ...]
    w: tuple[int, ...]
    attrs: str
    symbolic: bool

    def type(self) -> str:
        n, c, *spatial = self.x
        sizes = [f"s{i}" for i in range(len(spatial))] if self.symbolic else spatial
        return f"f32[{', '.join(map(str, ['n' if self.symbolic else n, c, *sizes]))}]"


@st.composite
def convs(draw: st.DrawFn, *, transposed: bool = False) -> Case:
    rank = draw(st.integers(1, 3))
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    inner, outer = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    spatial = draw(st.lists(st.integers(3, 7), min_size=rank, max_size=rank))
    kernel = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    stride = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    dilation = draw(st.lists(st.integers(1, 2), min_size=rank, max_size=rank))
    attrs = f"group={groups}, strides={stride}, dilations={dilation}"
    auto = draw(st.sampled_from(["NOTSET", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"]))
    symbolic = draw(st.booleans()) and not (transposed and auto.startswith("SAME"))
    if auto == "NOTSET":
        pads = draw(st.lists(st.integers(0, 2), min_size=2 * rank, max_size=2 * rank))
        attrs += f", pads={pads}"
    else:
        attrs += f", auto_pad='{auto}'"
        pads = [0] * (2 * rank)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    if transposed:
        extra = [draw(st.integers(0, s - 1)) for s in stride]
        short = any(r < s for r, s in zip(reach, stride, strict=True))
        assume(not auto.startswith("SAME") or not (short or any(extra)))
        attrs += f", output_padding={extra}"
        for i, s, r, a, b in zip(spatial, stride, reach, pads[:rank], pads[rank:], strict=True):
            assume((i - 1) * s + r - a - b > 0)
        w = (groups * inner, outer, *kernel)
    else:
        for i, r, a, b in zip(spatial, reach, pads[:rank], pads[rank:], strict=True):
            assume(i + a + b >= r)
        w = (groups * outer, inner, *kernel)
    return Case((2, groups * inner, *spatial), w, attrs, symbolic)


@FEW
@given(convs())
def test_conv(case: Case) -> None:
    x, w, b = floats(case.x), floats(case.w, 1), floats(case.w[:1], 2)
    agrees(f"out = Conv(x, w, b, {case.attrs})", {"x": x}, x=case.type(), w=w, b=b)


@FEW
@given(convs(transposed=True))
def test_conv_transpose(case: Case) -> None:
    x, w = floats(case.x), floats(case.w, 1)
    agrees_with_onnxruntime(
        f"out = ConvTranspose(x, w, {case.attrs})", {"x": x}, x=case.type(), w=w
    )


@pytest.mark.parametrize("auto", ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("size", range(6, 13))
def test_a_transposed_convolution_of_a_given_shape(size: int, auto: str) -> None:
    """Smaller than what the pixels reach (11), or larger: padding is not negative."""
    x, w = floats((1, 2, 3)), floats((2, 1, 3), 1)
    text = f"out = ConvTranspose(x, w, strides=[4], output_shape=[{size}], auto_pad='{auto}')"
    agrees_with_onnxruntime(text, {"x": x}, x="f32[1, 2, 3]", w=w)


@pytest.mark.parametrize("way", ["UPPER", "LOWER"])
def test_a_transposed_convolution_with_gaps_begins_with_its_first_pixel(way: str) -> None:
    """A kernel shorter than the stride; onnxruntime gives fewer elements than the definition says."""
    x = np.array([[[1, 2, 3]]], np.float32)
    text = f"out = ConvTranspose(x, w, strides=[4], auto_pad='SAME_{way}')"
    program = lower(onnx_text(text, x="f32[1, 1, 3]", w=np.ones((1, 1, 2), np.float32)))
    assert run(program, {"x": x})["out"].tolist() == [[[1, 1, 0, 0, 2, 2, 0, 0, 3, 3, 0, 0]]]


@pytest.mark.parametrize("groups", [1, 2])
def test_computed_weights(groups: int) -> None:
    x, w = floats((2, 4, 5, 5)), floats((6, 4 // groups, 3, 3), 1)
    sizes = f"f32[6, {4 // groups}, 3, 3]"
    agrees(f"out = Conv(x, w, group={groups})", {"x": x, "w": w}, x="f32[n, 4, h, w0]", w=sizes)


def test_half_precision_is_computed_in_f32() -> None:
    x, w = floats((1, 2, 5, 5), 0, "float16"), floats((3, 2, 3, 3), 1, "float16")
    agrees("out = Conv(x, w)", {"x": x}, x="f16[1, 2, 5, 5]", w=w)


def test_a_chain_of_convolutions_moves_nothing_between_them() -> None:
    text = "out = Conv(Relu(Conv(x, v)), w, group=8)"
    lines = listing(text, x="f32[n, 3, h, w0]", v=floats((8, 3, 3, 3)), w=floats((8, 1, 3, 3)))
    ops = [line.split(" = ")[1].split("(")[0] for line in lines]
    assert ops == ["copy", "conv", "pointwise", "conv_depthwise", "copy"]


def test_integer_convolution() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (2, 4, 5, 5)).astype(np.uint8)
    w = rng.integers(0, 256, (6, 2, 3, 3)).astype(np.uint8)
    text = "out = ConvInteger(x, w, p, q, group=2, pads=[1, 0, 1, 2], strides=[2, 1])"
    agrees(text, {"x": x}, x="u8[n, 4, 5, 5]", w=w, p=np.uint8(7), q=np.uint8(3))

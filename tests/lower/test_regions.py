"""Operators on regions of images against ONNX's reference or onnxruntime."""

from __future__ import annotations

import numpy as np
import pytest
from lower.check import agrees, agrees_with_onnxruntime
from lower.test_families import floats
from onnx import TensorProto, helper
from onnxruntime import InferenceSession

from pteron.export.capture.onnx import capture_onnx
from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.program.interpret import run

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("center", [0, 1])
@pytest.mark.parametrize("limit", [2, 50])
def test_non_max_suppression(limit: int, center: int) -> None:
    low = RNG.uniform(0, 1, (2, 30, 2)).astype(np.float32)
    feeds = {
        "b": np.concatenate([low, low + RNG.uniform(0.1, 0.5, low.shape).astype(np.float32)], 2),
        "s": RNG.uniform(0, 1, (2, 3, 30)).astype(np.float32),
    }
    text = (
        f"y = NonMaxSuppression(b, s, [{limit}], f32([0.4]), f32([0.3]), center_point_box={center})"
    )
    agrees_with_onnxruntime(text, feeds, b="f32[n, m, 4]", s="f32[n, c, m]")


def test_what_is_kept_is_bounded_by_the_limit() -> None:
    text = "y = NonMaxSuppression(b, s, [7])"
    (dim,) = [
        d
        for d in lower(onnx_text(text, b="f32[n, 90, 4]", s="f32[n, 2, 90]")).dims
        if d.kind == "counted"
    ]
    assert str(dim.capacity) == "14*n"


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("mode", ["half_pixel", "output_half_pixel"])
def test_roi_align(batch: int, mode: str) -> None:
    corners = RNG.uniform(-3, 20, (5, 2)).astype(np.float32)
    feeds = {
        "x": floats((batch, 3, 9, 8)),
        "r": np.concatenate([corners, corners + RNG.uniform(1, 9, (5, 2)).astype(np.float32)], 1),
        "i": RNG.integers(0, batch, 5),
    }
    attrs = f"output_height=3, output_width=2, sampling_ratio=2, spatial_scale=0.5, coordinate_transformation_mode='{mode}'"
    types = {"x": f"f32[{batch}, 3, h, w]", "r": "f32[k, 4]", "i": "i64[k]"}
    agrees_with_onnxruntime(f"y = RoiAlign(x, r, i, {attrs})", feeds, **types)


def test_each_region_has_an_image() -> None:
    """Of one image, too, whose regions need not be told apart."""
    text = "y = RoiAlign(x, r, i, output_height=3, output_width=2, sampling_ratio=1)"
    program = lower(onnx_text(text, x="f32[1, 3, 6, 6]", r="f32[2, 4]", i="i64[k]"))
    assert any("an image for each region" in check.text for check in program.checks)


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("pick", ["avg", "max"])
@pytest.mark.parametrize("mode", ["half_pixel", "output_half_pixel"])
def test_as_many_samples_as_a_bin_has_pixels(batch: int, pick: str, mode: str) -> None:
    """Regions of one pixel and of several, empty ones, and some with their corners in the other order."""
    feeds = {
        "x": floats((batch, 3, 16, 15)),
        "r": np.array(
            [[0, 0, 10, 12], [2, 3, 30, 31], [5, 5, 6, 6], [1.3, 2.2, 25.7, 9.1], [4, 4, 4, 4], [9, 9, 3, 2], [-9, -9, 60, 9]],
            np.float32,
        ),
        "i": RNG.integers(0, batch, 7),
    }  # fmt: skip
    attrs = f"output_height=3, output_width=2, spatial_scale=0.5, mode='{pick}', coordinate_transformation_mode='{mode}'"
    types = {"x": f"f32[{batch}, 3, h, w]", "r": "f32[k, 4]", "i": "i64[k]"}
    text = f"y = RoiAlign(x, r, i, {attrs})"
    agrees_with_onnxruntime(text, feeds, **types)
    none = {**feeds, "r": np.zeros((0, 4), np.float32), "i": np.zeros(0, np.int64)}
    assert run(lower(onnx_text(text, **types)), none)["y"].shape == (0, 3, 3, 2)


@pytest.mark.parametrize(("groups", "parts"), [(1, 1), (1, 2), (2, 1), (2, 4)])
def test_deform_conv(groups: int, parts: int) -> None:
    x, w, b = floats((2, 4, 6, 5)), floats((6, 4 // groups, 3, 2), 1), floats((6,), 2)
    offset, mask = floats((2, parts * 12, 6, 3), 3), abs(floats((2, parts * 6, 6, 3), 4))
    attrs = f"group={groups}, offset_group={parts}, pads=[1, 0, 1, 1], strides=[1, 2]"
    agrees(
        f"y = DeformConv(x, w, o, b, m, {attrs})",
        {"x": x, "o": offset, "m": mask},
        x="f32[n, 4, 6, 5]",
        o=f"f32[n, {parts * 12}, 6, 3]",
        m=f"f32[n, {parts * 6}, 6, 3]",
        w=w,
        b=b,
    )


@pytest.mark.parametrize("corners", [0, 1])
@pytest.mark.parametrize("opset, mode", [(16, "bicubic"), (20, "cubic")])
def test_cubic_samples_at_the_border_are_clamped_each(opset: int, mode: str, corners: int) -> None:
    """As in PyTorch and onnxruntime; ONNX's reference moves the point between them inside."""
    node = helper.make_node(
        "GridSample", ["x", "g"], ["y"], mode=mode, padding_mode="border", align_corners=corners
    )
    ports = {
        name: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 2, 5, 6]), ("g", [1, 8, 9, 2]), ("y", None))
    }
    graph = helper.make_graph([node], "g", [ports["x"], ports["g"]], [ports["y"]])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    feeds = {"x": floats((1, 2, 5, 6)), "g": floats((1, 8, 9, 2)) * np.float32(1.5)}
    (want,) = InferenceSession(model.SerializeToString()).run(None, feeds)
    got = run(lower(capture_onnx(model)), feeds)["y"]
    np.testing.assert_allclose(got, want, atol=1e-4)


@pytest.mark.parametrize("half", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("images", [1, 2])
def test_the_largest_tap_of_regions(half: str, images: int) -> None:
    """Across the edges too, where samples outside count as 0."""
    attrs = f"mode='max', output_height=2, output_width=3, sampling_ratio=2, coordinate_transformation_mode='{half}'"
    x = np.random.default_rng(2).normal(size=(images, 3, 6, 7)).astype(np.float32)
    boxes = np.array([[0, 0, 4, 5], [-3, 1.5, 9, 8], [2.25, 2, 6.5, 4]], np.float32)
    feeds = {"x": x, "b": boxes, "i": np.array([0, images - 1, 0])}
    text = f"y = RoiAlign(x, b, i, {attrs})"
    agrees_with_onnxruntime(text, feeds, x="f32[n, 3, h, w]", b="f32[r, 4]", i="i64[r]")

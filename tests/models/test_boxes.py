"""torchvision's operators of boxes, as a module calls them: registered here, where torchvision has not its compiled ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pteron

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("onnxscript", reason="onnxscript is not installed")
pytest.importorskip("pteron._pteron", reason="the C runtime is not built")

import torch

from pteron.export.capture import input_draws


def nms(boxes: Any, scores: Any, threshold: float) -> Any:
    """Of the boxes in the order of their scores, those that overlap no chosen one by more than the threshold."""
    area = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    chosen: list[int] = []
    for i in scores.argsort(descending=True, stable=True).tolist():
        near = torch.maximum(boxes[chosen, :2], boxes[i, :2])
        far = torch.minimum(boxes[chosen, 2:], boxes[i, 2:])
        both = (far - near).clamp(min=0).prod(1)
        if not bool((both / (area[i] + area[chosen] - both) > threshold).any()):
            chosen.append(i)
    return torch.tensor(chosen, dtype=torch.int64)


@pytest.fixture(scope="module")
def operators() -> Iterator[None]:
    if hasattr(torch.ops.torchvision, "nms"):
        yield
        return
    library = torch.library.Library("torchvision", "FRAGMENT")
    library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    library.impl("nms", nms, "CPU")
    torch.library.register_fake(
        "torchvision::nms",
        lambda boxes, scores, threshold: boxes.new_empty(
            [torch.library.get_ctx().new_dynamic_size()], dtype=torch.long
        ),
        lib=library,
    )
    yield
    library._destroy()


class Chosen(torch.nn.Module):
    def forward(self, boxes: Any, scores: Any) -> Any:
        kept = torch.ops.torchvision.nms(boxes, scores, 0.3)
        return boxes[kept], kept


@pytest.mark.usefixtures("operators")
def test_boxes_that_do_not_overlap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check gives the module no box whose corners are the other way round: ONNX has it the right way, torchvision has not."""
    (tmp_path / "torchvision.py").touch()  # torch.onnx translates its operators where it finds it
    monkeypatch.syspath_prepend(tmp_path)
    rng = torch.Generator().manual_seed(0)
    near = torch.rand(20, 2, generator=rng) * 40
    far = near + torch.rand(20, 2, generator=rng) * 30 + 2
    boxes, scores = torch.cat([near, far], 1), torch.rand(20, generator=rng)
    module = Chosen().eval()
    pteron.export_model(module, tmp_path / "m.pte", args=(boxes, scores))
    model = pteron.load(tmp_path / "m.pte", check=True)
    got = model.run({"boxes": boxes.numpy(), "scores": scores.numpy()}).values()
    for g, w in zip(got, module(boxes, scores), strict=True):
        np.testing.assert_array_equal(g, w.numpy())


def test_drawn_boxes_are_rows_of_the_example() -> None:
    rng = torch.Generator().manual_seed(0)
    corners = torch.tensor([[0.0, 1.0, 5.0, 6.0], [2.0, 2.0, 3.0, 9.0]])
    images = torch.cat([torch.tensor([[0.0], [3.0]]), corners], 1)
    assert input_draws.is_boxes(corners) and input_draws.is_boxes(images)
    assert not input_draws.is_boxes(corners[:, [2, 3, 0, 1]]) and not input_draws.is_boxes(
        corners[0]
    )
    drawn = input_draws.rows(torch, images, [7, 5], rng)
    assert drawn.shape == (7, 5) and len(drawn.unique(dim=0)) == 2
    assert all((images == row).all(1).any() for row in drawn)

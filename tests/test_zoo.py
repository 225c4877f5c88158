"""The zoo of published models: its rows, what they are fed, how results are compared, and the page that is written of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: make dev")


@pytest.fixture(scope="module")
def zoo(root: Path) -> Iterator[Any]:
    sys.path.insert(0, str(root / "benchmarks"))
    import zoo

    yield zoo
    sys.path.remove(str(root / "benchmarks"))


def test_rows_are_files_of_named_versions(zoo: Any) -> None:
    assert len({row.name for row in zoo.ROWS}) == len(zoo.ROWS) >= 40
    for row in zoo.ROWS:
        name, _, version = row.package.removeprefix("npm:").rpartition("==")
        assert name and version[0].isdigit() and row.file.endswith(".onnx"), row


def test_feeds_are_the_same_each_time_and_of_the_sizes_asked(zoo: Any) -> None:
    for row in zoo.ROWS[::6]:
        if not any("text_line" in feed.__qualname__ for feed in row.feeds.values()):
            first, again = (list(zoo.drawn(row, 1)) for _ in range(2))
            assert len(first) == len(row.sizes)
            for a, b in zip(first, again, strict=True):
                assert all(np.array_equal(a[name], b[name]) for name in a), row


@pytest.mark.parametrize(
    "got, share",
    [
        ([1, 2], 0.0),
        ([1, 2.002], 0.001),
        ([np.nan, 2], 1.0),
        ([1], 1.0),
    ],
)
def test_what_differs_is_a_share_of_the_largest(zoo: Any, got: list[float], share: float) -> None:
    want = [np.array([1, 2], np.float32)]
    assert zoo.loss([np.array(got, np.float32)], want)[0] == pytest.approx(share, rel=1e-3)
    assert zoo.loss([np.array([1, 2], np.int64)], want)[0] == 1.0


def test_a_file_comes_with_a_verdict_for_f32_and_each_format(
    zoo: Any, root: Path, tmp_path: Path
) -> None:
    from zoo_feeds import normal

    row = zoo.Row(
        "pteron==0", "digits.onnx", "digits", {"image": normal("n", 1, 8, 8)}, ({"n": 3},)
    )
    path = root / "examples/digits/digits.onnx"
    said = {"seconds": 1, "licence": "Apache-2.0", **zoo.one(row, path, ["int8"])}
    assert said["verdict"] == "right" and said["formats"]["int8"]["loss"] < 0.05
    assert said["formats"]["int8"]["layers"] > 0
    short = zoo.Row("other==1", "digits.onnx", "digits", {"image": normal("n", 1, 8, 8)})
    page = zoo.zoo_page.page([row, short], {row.name: said}, "1", 16)
    assert (
        "**1 right in f32**, 1 not tried" in page and "| pteron | 0 | PyPI | Apache-2.0 |" in page
    )


def test_letters_that_differ_are_counted(zoo: Any) -> None:
    text = zoo.zoo_text
    assert text.collapsed([0, 1, 1, 0, 1, 2, 2], ["", "a", "b"]) == "aab"
    assert text.error_rate(iter([("kitten", "sitting"), ("same", "same")])) == 0.3

"""What people have at hand as samples, for one input and for two, all the same as dicts; and what is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pteron.export.graph.text import onnx_text
from pteron.quantize.observe.samples import held, samples
from pteron.schema.errors import RecipeError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 3, 4)).astype(np.float32)
IDS = np.arange(12, dtype=np.int64).reshape(6, 2)
LABELS = np.arange(6)
ONE = onnx_text("y = Relu(x)", x="f32[1, 3, 4]")
FREE = onnx_text("y = Relu(x)", x="f32[batch, 3, 4]")
TWO = onnx_text("i = Abs(ids); y = Gather(x, i)", x="f32[1, 3, 4]", ids="i64[1, 2]")


class Loader:
    """As a DataLoader: what comes of it is another list each time, in batches, with labels."""

    def __init__(self, *arrays: Any, rows: int = 4) -> None:
        self.arrays, self.rows = arrays, rows

    def __iter__(self) -> Iterator[list[Any]]:
        for i in range(0, 6, self.rows):
            yield [array[i : i + self.rows] for array in self.arrays]


class Dataset:
    """As torch's: numbers in place of an iterator, a label beside each."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, i: int) -> tuple[Any, int]:
        if not 0 <= i < 6:
            raise IndexError
        return X[i], i


class Tensor:
    """Of another library."""

    def __init__(self, array: Any) -> None:
        self._array, self.shape, self.dtype = array, array.shape, array.dtype

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self._array, dtype)


@pytest.mark.parametrize(
    "source",
    [
        X,
        Tensor(X),
        (X,),
        {"x": X},
        list(X),
        [Tensor(x) for x in X],
        tuple(x[None] for x in X),
        [X[:4], X[4:]],
        [{"x": x[None]} for x in X],
        [{"x": x, "labels": 3} for x in X],
        [(x, 3) for x in X],
        [((x,), 3) for x in X],
        [({"x": x}, 3) for x in X],
        Loader(X, LABELS),
        Loader(X, rows=1),
        Dataset(),
    ],
    ids=lambda source: type(source).__name__,
)
def test_one_input(source: Any) -> None:
    for got in (list(samples(ONE, source, 64)), list(samples(ONE, held(source, 64), 64))):
        assert [set(sample) for sample in got] == [{"x"}] * 6
        np.testing.assert_array_equal([sample["x"][0] for sample in got], X)
    assert len(list(samples(ONE, source, 2))) == 2


@pytest.mark.parametrize(
    "source",
    [
        (X, IDS),
        {"x": X, "ids": IDS},
        list(zip(X, IDS, strict=True)),
        [[x[None], i[None], 7] for x, i in zip(X, IDS, strict=True)],
        [((x, i), 7) for x, i in zip(X, IDS, strict=True)],
        [({"ids": i, "x": x}, 7) for x, i in zip(X, IDS, strict=True)],
        Loader(X, IDS, LABELS),
    ],
    ids=lambda source: type(source).__name__,
)
def test_two_inputs(source: Any) -> None:
    got = list(samples(TWO, source, 64))
    np.testing.assert_array_equal([sample["x"][0] for sample in got], X)
    np.testing.assert_array_equal([sample["ids"][0] for sample in got], IDS)


def test_batches_stay_whole_where_the_model_takes_any() -> None:
    assert [len(s["x"]) for s in samples(FREE, Loader(X, LABELS), 64)] == [4, 2]
    assert [len(s["x"]) for s in samples(FREE, list(X), 64)] == [1] * 6


def test_a_generator_is_read_once_and_a_shuffle_holds_still() -> None:
    got = held((x for x in X), 3)
    assert len(got) == 3
    assert len(list(samples(ONE, got, 3))) == len(list(samples(ONE, got, 3))) == 3
    for same in (X, {"x": X}, [X], "a.npz", Path("a.npz")):
        assert held(same, 3) is same


def test_files(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X[:2])
    np.savez(tmp_path / "b.npz", x=X[2:])
    for source in (tmp_path, str(tmp_path), [tmp_path / "a.npy", str(tmp_path / "b.npz")]):
        np.testing.assert_array_equal([s["x"][0] for s in samples(ONE, source, 64)], X)
    with pytest.raises(RecipeError, match=r"a.npy: expected an .npz file with arrays named x, ids"):
        list(samples(TWO, tmp_path / "a.npy", 64))


@pytest.mark.parametrize(
    ("model", "source", "words"),
    [
        (TWO, lambda: X, "inputs x, ids, got one array float32 [6, 3, 4]; give a dict by name"),
        (TWO, lambda: [X[0]], "sample 0: expected the inputs x, ids, got one array float32 [3, 4]"),
        (TWO, lambda: [(X[0],)], "sample 0: expected a tuple that begins with arrays of the inputs x, ids, or a dict of them, got a tuple of 1: float32 [3, 4]"),
        (TWO, lambda: [(X[0], 3)], "got a tuple of 2: float32 [3, 4], 3"),
        (ONE, lambda: [[1.0, 2.0]], "expected an array of input x, a tuple that begins with one, or a dict, got a list of 2: 1.0, 2.0"),
        (ONE, lambda: [None], "sample 0: expected an array of input x"),
        (ONE, lambda: 7, "calibration: expected a file, arrays, tensors or an iterable of samples, got 7"),
        (ONE, lambda: b"123", "expected a file, arrays"),
        (ONE, lambda: [{"y": X[0]}], "sample 0: expected inputs x, got y"),
        (ONE, lambda: [{}], "sample 0: expected inputs x, got nothing"),
        (ONE, lambda: X.astype(np.float64), "expected float32, got float64; convert it"),
        (ONE, lambda: [X[0, :2]], "sample 0: input 'x': expected shape [1,3,4], got [2, 4]"),
        (ONE, lambda: X[:, :2], "input 'x': expected shape [1,3,4], got [1, 2, 4]"),
        (ONE, lambda: [X[0], np.full_like(X[0], np.nan)], "sample 1: input 'x': expected finite"),
    ],
)  # fmt: skip
def test_what_is_no_sample_is_named(model: Any, source: Callable[[], Any], words: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(words)):
        list(samples(model, source(), 64))


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.from_numpy(X), torch.arange(6))
    loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True)
    x = torch.from_numpy(X)
    for source in (x, x.clone().requires_grad_(), list(x), [(t, 3) for t in x], data):
        np.testing.assert_array_equal([s["x"][0] for s in samples(ONE, source, 64)], X)
    assert len(list(samples(ONE, loader, 64))) == 6

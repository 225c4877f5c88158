"""Sizes that only a run knows and that meet in a broadcast: equal, or one of them 1, or 0 where the other is no more than 1."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto as T
from onnx import helper as h

import pteron

SIZES = (0, 1, 3)
FORMULAS = {
    "add": (["m"], ["n"], [("Add", "x y", "z", {})], lambda x, y: x + y),
    "fixed": ([5], ["n"], [("Add", "x y", "z", {})], lambda x, y: x + y),
    "same": (["b", "s"], ["b", 1], [("Mul", "x y", "z", {})], lambda x, y: x * y),
    "moved": (
        ["m", "n"],
        ["k", "l"],
        [("Sub", "x y", "a", {}), ("Transpose", "a", "z", {})],
        lambda x, y: (x - y).T,
    ),
    "products": (
        ["m", 2, 3],
        ["n", 3, 2],
        [("MatMul", "x y", "z", {})],
        lambda x, y: np.matmul(x, y),
    ),
    "joined": (
        ["m", 3],
        ["n", 3],
        [("Add", "x y", "a", {}), ("Concat", "a x a", "z", {"axis": 0})],
        lambda x, y: np.concatenate([x + y, x, x + y]),
    ),
    "expanded": (
        ["m", 2],
        ["n", 2],
        [("Shape", "y", "s", {}), ("Expand", "x s", "z", {})],
        lambda x, y: x + 0 * y,
    ),
}


def model(formula: str) -> onnx.ModelProto:
    left, right, nodes, _ = FORMULAS[formula]
    graph = h.make_graph(
        [h.make_node(op, x.split(), [y], **attrs) for op, x, y, attrs in nodes],
        "g",
        [
            h.make_tensor_value_info("x", T.FLOAT, left),
            h.make_tensor_value_info("y", T.FLOAT, right),
        ],
        [h.make_tensor_value_info("z", T.FLOAT, None)],
    )
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 17)], ir_version=8)


def expected(formula: str, x: np.ndarray, y: np.ndarray) -> np.ndarray | None:
    """By NumPy; None where the sizes do not fit."""
    try:
        return np.asarray(FORMULAS[formula][3](x, y))
    except ValueError:
        return None


@pytest.mark.parametrize("formula", FORMULAS)
def test_sizes_meet_as_they_do_in_numpy(tmp_path: Path, formula: str) -> None:
    pteron.export_model(model(formula), tmp_path / "m.pte")
    run = pteron.load(tmp_path / "m.pte", threads=1)
    left, right, *_ = FORMULAS[formula]
    names = sorted({n for n in (*left, *right) if isinstance(n, str)})
    for sizes in itertools.product((*SIZES, 5), repeat=len(names)):
        at = dict(zip(names, sizes, strict=True))
        x, y = (
            np.arange(np.prod([at.get(n, n) for n in s])).reshape([at.get(n, n) for n in s])
            for s in (left, right)
        )
        x, y = x.astype(np.float32), y.astype(np.float32) + 1
        want = expected(formula, x, y)
        if want is None:
            with pytest.raises(pteron.ArgumentError, match=r"broadcast|axis"):
                run(x, y)
        else:
            got = run(x, y)
            assert got.shape == want.shape and np.array_equal(got, want), sizes


def test_what_meets_is_named(tmp_path: Path) -> None:
    pteron.export_model(model("add"), tmp_path / "m.pte")
    with pytest.raises(pteron.ArgumentError, match=r"m and n are equal, or one is 1: got 3 and 5"):
        pteron.load(tmp_path / "m.pte")(np.ones(3, np.float32), np.ones(5, np.float32))

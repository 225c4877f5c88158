"""Cases of tree_ensemble: trees of many shapes, missing values, tables that are damaged."""

from __future__ import annotations

from typing import Any

import numpy as np
from ops.harness import Array, Case, Status

RNG = np.random.default_rng(5)


def forest(trees: int, depth: int, features: int, dtype: Any = np.float32) -> tuple[Array, ...]:
    """nodes, thresholds, roots: random trees, children behind their parents; leaves are numbered as they come."""
    nodes: list[list[int]] = []
    thresholds: list[float] = []
    leaves = 0

    def leaf() -> int:
        nonlocal leaves
        leaves += 1
        return -leaves

    def grow(left: int) -> int:
        if left == 0 or (left < depth and RNG.random() < 0.2):
            return leaf()
        at = len(nodes)
        nodes.append([int(RNG.integers(2 * features)), 0, 0])
        thresholds.append(float(np.round(RNG.standard_normal(), 1)))
        nodes[at][1:] = [grow(left - 1), grow(left - 1)]
        return at

    roots = [grow(depth) for _ in range(trees)]
    table = np.array(nodes or [[0, -1, -1]], np.int32)
    return table, np.array(thresholds or [0], dtype), np.array(roots, np.int32), np.array(leaves)


def case(
    rows: int,
    groups: int,
    trees: int,
    depth: int,
    width: int,
    how: str = "sum",
    dtype: Any = np.float32,
) -> Case:
    features = 5
    nodes, thresholds, roots, leaves = forest(groups * trees, depth, features, dtype)
    x = np.round(RNG.standard_normal((rows, features)), 1).astype(dtype)  # some equal thresholds
    x[RNG.random(x.shape) < 0.1] = np.nan
    weights = RNG.standard_normal((int(leaves), width)).astype(dtype)
    inputs = [x, nodes, thresholds, roots.reshape(groups, trees), weights]
    return Case(
        "tree_ensemble", inputs, {"reduction": how}, terms=trees, scale=float(np.abs(weights).sum())
    )


def damaged(name: str, position: int, **changes: tuple[Any, int]) -> Case:
    """A tree of two nodes and three leaves, some element changed."""
    tables = {
        "nodes": np.array([[0, 1, -1], [2, -2, -3]], np.int32),
        "roots": np.array([[-1, 0]], np.int32),
    }
    for table, (at, value) in changes.items():
        tables[table][at] = value
    x = np.zeros((3, 2), np.float32)
    inputs = [
        x,
        tables["nodes"],
        np.ones(2, np.float32),
        tables["roots"],
        np.ones((3, 1), np.float32),
    ]
    return Case("tree_ensemble", inputs, status=Status.BAD_DATA, position=position, name=name)


SPECIAL = np.array([[-np.inf], [np.inf], [np.nan], [-0.0], [0.0], [1e-45], [-1e-45]], np.float32)
CASES = [
    *(case(*a) for a in ((1, 1, 1, 1, 1), (3, 1, 7, 3, 1), (70, 3, 5, 4, 1), (130, 1, 9, 5, 4))),
    *(case(20, 2, 6, 4, 3, how) for how in ("sum", "min", "max")),
    *(case(20, 2, 6, 4, 2, how, np.float64) for how in ("sum", "min", "max")),
    case(4, 2, 3, 0, 2),
    case(0, 1, 3, 2, 1),
    case(3, 0, 3, 2, 1),
    case(1000, 1, 20, 6, 1),
    Case(
        "tree_ensemble",
        [
            SPECIAL,
            np.array([[0, -1, -2], [1, -1, -2]], np.int32),
            np.zeros(2, np.float32),
            np.array([[0], [1]], np.int32),
            np.array([[1.0], [2.0]], np.float32),
        ],
    ),
    damaged("no_such_feature", 0, nodes=((0, 0), 4)),
    damaged("feature_below_0", 0, nodes=((0, 0), -1)),
    damaged("next_is_itself", 0, nodes=((0, 1), 0)),
    damaged("next_lies_before", 3, nodes=((1, 1), 0)),
    damaged("no_such_node", 0, nodes=((0, 1), 2)),
    damaged("no_such_leaf", 3, nodes=((1, 1), -4)),
    damaged("least_integer", 3, nodes=((1, 1), -(2**31))),
    damaged("root_is_no_node", 1, roots=((0, 1), 2)),
    damaged("root_is_no_leaf", 0, roots=((0, 0), -4)),
]  # fmt: skip

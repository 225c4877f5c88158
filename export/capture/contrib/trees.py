"""Tables of decision trees: every comparison of ONNX as nodes of the kind that the operator tree_ensemble has.

A node of a `Forest` asks one feature in one of seven ways; a row of a `Table` asks `x <= threshold`, and says where a missing value
goes. A strict comparison takes the number below, an equality two rows, a set a search in it.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import numpy as np

from ... import graph as g

MODES: Final = ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ", "MEMBER")
"""By their numbers in TreeEnsemble; the older operators write BRANCH_ before them."""


class TreeError(ValueError):
    """What is wrong with a node's tables."""


@dataclasses.dataclass(frozen=True, slots=True)
class Forest:
    """Inner nodes; `first` and `second`: where they lead, -1 - i is leaf i. `members`: of the nodes that ask for a set."""

    features: g.Array
    thresholds: g.Array
    modes: g.Array
    missing: g.Array
    first: g.Array
    second: g.Array
    roots: g.Array
    members: dict[int, g.Array]


@dataclasses.dataclass(slots=True)
class _Rows:
    """Rows while they are made; a child below `base` is another node of the forest, not a row yet."""

    split: list[int]
    threshold: list[Any]
    first: list[int]
    second: list[int]

    def add(self, split: int, threshold: Any, first: int, second: int) -> int:
        self.split.append(split)
        self.threshold.append(threshold)
        self.first.append(first)
        self.second.append(second)
        return len(self.split) - 1


def tables(forest: Forest) -> tuple[g.Array, g.Array, g.Array]:
    """nodes i32 [m, 3], thresholds [m] and roots i32 as tree_ensemble has them, each node behind those that lead to it.

    Raises:
        TreeError: a child that is no node, a cycle, a threshold that is no number.
    """
    count = len(forest.features)
    if count and (forest.features.min() < 0 or forest.features.max() >= 1 << 30):
        raise TreeError(f"a node asks feature {forest.features.min()}; expected 0 or more")
    if np.isnan(forest.thresholds[forest.modes != MODES.index("MEMBER")]).any():
        raise TreeError("a threshold is no number")
    rows = _Rows([], [], [], [])
    entry = np.array([_entered(forest, i, rows) for i in range(count)], np.int64).reshape(-1)
    children = np.array([rows.first, rows.second], np.int64).reshape(2, -1)
    # rows of one node lead to each other by numbers from `count` on, to other nodes below it
    whole = np.concatenate([entry, np.arange(len(rows.split))])
    children = np.where(children >= 0, whole[np.maximum(children, 0)], children)
    roots = np.where(
        forest.roots >= 0, entry[np.maximum(forest.roots, 0)] if count else 0, forest.roots
    )
    order = _ordered(children, roots)
    place = np.full(len(rows.split), -1, np.int64)
    place[order] = np.arange(len(order))
    children = np.where(children >= 0, place[np.maximum(children, 0)], children)[:, order]
    split, threshold = (
        np.array(rows.split, np.int64),
        np.array(rows.threshold, forest.thresholds.dtype),
    )
    nodes = np.stack([split[order], *children], axis=1) if count else np.array([[0, -1, -1]])
    values = threshold[order] if count else np.zeros(1, forest.thresholds.dtype)
    roots = np.where(roots >= 0, place[np.maximum(roots, 0)] if count else 0, roots)
    return nodes.astype(np.int32), values, roots.astype(np.int32)


def _entered(forest: Forest, i: int, rows: _Rows) -> int:
    """Adds the rows of node i, and says which comes first."""
    base = len(forest.features)
    feature, missing = 2 * int(forest.features[i]), int(forest.missing[i])
    value, mode = forest.thresholds[i], MODES[int(forest.modes[i])]
    yes, no = int(forest.first[i]), int(forest.second[i])
    if mode == "LEQ":
        return rows.add(feature + missing, value, yes, no)
    if mode == "LT":
        return rows.add(feature + missing, _below(value), yes, no)
    if mode == "GTE":  # not below
        return rows.add(feature + 1 - missing, _below(value), no, yes)
    if mode == "GT":
        return rows.add(feature + 1 - missing, value, no, yes)
    if mode == "NEQ":  # what is missing is not equal
        return _equals(rows, base, feature, value, no, yes)
    sought = [value] if mode == "EQ" else forest.members.get(i, np.zeros(0))
    return _member(rows, base, feature, missing, np.unique(sought), yes, no)


def _below(value: Any) -> Any:
    """The largest number below; NaN, which nothing is below, of the least."""
    if value == -np.inf:
        return value.dtype.type(np.nan)
    return np.nextafter(value, value.dtype.type(-np.inf))


def _equals(rows: _Rows, base: int, feature: int, value: Any, yes: int, no: int) -> int:
    """Rows for x == value; a missing value is not."""
    second = rows.add(feature, _below(value), no, yes)
    return rows.add(feature, value, base + second, no)


def _member(
    rows: _Rows, base: int, feature: int, missing: int, among: g.Array, yes: int, no: int
) -> int:
    """Rows for x in `among`, sorted: halves of it, then one number. A missing value goes to the last."""
    if len(among) == 0:
        return rows.add(feature + missing, among.dtype.type(np.nan), yes, no)

    def sought(low: int, high: int) -> int:
        if high - low > 1:
            middle = (low + high) // 2
            halves = sought(low, middle), sought(middle, high)
            return rows.add(feature, among[middle - 1], *(base + half for half in halves))
        entry = _equals(rows, base, feature, among[low], yes, no)
        rows.split[entry] += missing if high == len(among) else 0
        return entry

    return sought(0, len(among))


def _ordered(children: g.Array, roots: g.Array) -> g.Array:
    """The rows that roots lead to, each behind all that lead to it.

    Raises:
        TreeError: a row leads back to itself.
    """
    count = children.shape[1]
    seen = np.zeros(count, bool)
    layer = np.unique(roots[roots >= 0])
    while len(layer):
        seen[layer] = True
        reached = np.unique(children[:, layer])
        layer = reached[reached >= 0]
        layer = layer[~seen[layer]]
    waits = np.zeros(count, np.int64)
    inner = children[:, seen]
    np.add.at(waits, inner[inner >= 0], 1)
    layer, order = np.flatnonzero(seen & (waits == 0)), []
    while len(layer):
        order.append(layer)
        to = children[:, layer].reshape(-1)
        to = to[to >= 0]
        np.subtract.at(waits, to, 1)
        to = np.unique(to)
        layer = to[waits[to] == 0]
    found = np.concatenate(order) if order else np.zeros(0, np.int64)
    if len(found) != int(seen.sum()):
        raise TreeError("a node leads back to itself")
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class Grouped:
    """`roots` [groups, trees] and `weights` [leaves, width] of tree_ensemble; groups times width are the targets."""

    roots: g.Array
    weights: g.Array


@dataclasses.dataclass(frozen=True, slots=True)
class Gifts:
    """What leaves give: `leaf[k]` gives `weight[k]` to `target[k]`. `owner`: the tree of each leaf."""

    owner: g.Array
    leaf: g.Array
    target: g.Array
    weight: g.Array


REST: Final = {"sum": 0.0, "min": np.inf, "max": -np.inf}
"""What a leaf gives where nothing is said."""


def grouped(roots: g.Array, gifts: Gifts, targets: int, reduction: str) -> Grouped:
    """Where each tree gives to one target alone, as boosting makes them, its trees are a group and a leaf has one weight."""
    tree, leaves = gifts.owner[gifts.leaf], len(gifts.owner)
    one = np.full(len(roots), -1, np.int64)
    one[tree] = gifts.target
    rest = gifts.weight.dtype.type(REST[reduction])
    if (one[tree] != gifts.target).any() or len(np.unique(gifts.leaf)) < len(gifts.leaf):
        table = np.full((leaves, targets), rest)
        combine = {"sum": np.add, "min": np.minimum, "max": np.maximum}[reduction]
        combine.at(table, (gifts.leaf, gifts.target), gifts.weight)
        return Grouped(roots[None, :], table)
    table = np.full((leaves + 1, 1), rest)
    table[gifts.leaf, 0] = gifts.weight
    by = [roots[one == k] for k in range(targets)]
    most = max(1, *map(len, by))
    padded = [np.concatenate([r, np.full(most - len(r), -1 - leaves)]) for r in by]
    return Grouped(np.stack(padded).astype(np.int32), table)

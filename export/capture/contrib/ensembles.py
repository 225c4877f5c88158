"""Tree ensembles of ai.onnx.ml, all versions: tables of nodes for tree_ensemble, then base values, labels and transforms."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir

from ... import graph as g
from .foreign import LEARNED, Foreign, means
from .scores import TRANSFORMS, above, best, both, label, labels_of, rows_of, transformed
from .trees import MODES, Forest, Gifts, TreeError, grouped, tables

Ints = Sequence[int]
MEND: Final = "correct the node"
AGGREGATES: Final = ("AVERAGE", "SUM", "MIN", "MAX")
"""By their numbers in TreeEnsemble."""
REDUCTIONS: Final = {"AVERAGE": "sum", "SUM": "sum", "MIN": "min", "MAX": "max"}


@dataclasses.dataclass(frozen=True, slots=True)
class Ensemble:
    forest: Forest
    gifts: Gifts
    targets: int

    @property
    def trees(self) -> int:
        return len(self.forest.roots)


def _scores(n: Foreign, x: ir.Value, made: Ensemble, aggregate: str) -> ir.Value:
    """Of rows x [n, features], in the type of the tables: [n, targets]."""
    n.only("aggregate_function", aggregate, *AGGREGATES)
    kind = made.forest.thresholds.dtype
    if x.dtype is None or x.dtype.numpy() != kind:
        x = n("Cast", x, to=int(ir.DataType.from_numpy(kind)))
    try:
        nodes, thresholds, roots = tables(made.forest)
    except TreeError as error:
        n.refuse(f"{error}", MEND)
    reduction = REDUCTIONS[aggregate]
    all_of = grouped(roots, made.gifts, made.targets, reduction)
    operands = (nodes, thresholds, all_of.roots, all_of.weights.astype(kind))
    names = ("nodes", "thresholds", "roots", "weights")
    given = [n.constant(a, name) for a, name in zip(operands, names, strict=True)]
    y = n.ours("TreeEnsemble", x.dtype, 3, x, *given, reduction=reduction)
    y = n("Squeeze", y, n.ints(2 if all_of.weights.shape[1] == 1 else 1))
    return n("Div", y, n.like(made.trees, y)) if aggregate == "AVERAGE" else y


# --- the older operators: a list an attribute, nodes named by the numbers of tree and node ------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Listed:
    """Attributes that TreeEnsembleClassifier and TreeEnsembleRegressor share; those of targets are called so or class."""

    trees: Ints
    nodes: Ints
    features: Ints
    modes: Sequence[str]
    first: Ints
    second: Ints
    missing: Ints
    values: g.Array
    gift_trees: Ints
    gift_nodes: Ints
    gift_targets: Ints
    gift_weights: g.Array


def _numbers(floats: Sequence[float] | None, tensor: ir.TensorProtocol | None) -> g.Array:
    if tensor is not None:
        return tensor.numpy().reshape(-1)
    return np.array(floats or (), np.float32)


def _ensemble(n: Foreign, of: Listed, targets: int, x: ir.Value) -> Ensemble:
    """The lists as tables; f64 where x or a tensor of theirs is."""
    find = _finder(n, of)
    kind = (
        np.float64 if np.float64 in (of.values.dtype, x.dtype and x.dtype.numpy()) else np.float32
    )
    is_leaf = np.array([mode == "LEAF" for mode in of.modes])
    code = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    trees, inner = np.array(of.trees, np.int64), ~is_leaf
    names, begin, number = np.unique(trees, return_index=True, return_inverse=True)
    order = np.argsort(begin)  # trees as they come
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    forest = Forest(
        features=np.array(of.features, np.int64)[inner],
        thresholds=of.values.astype(kind)[inner],
        modes=_modes(n, [mode for mode in of.modes if mode != "LEAF"]),
        missing=np.array(of.missing or np.zeros(len(trees)), np.int64)[inner] != 0,
        first=code[find(trees[inner], np.array(of.first, np.int64)[inner])],
        second=code[find(trees[inner], np.array(of.second, np.int64)[inner])],
        roots=code[begin[order]],
        members={},
    )
    gives = code[find(np.array(of.gift_trees), np.array(of.gift_nodes))]
    target = np.array(of.gift_targets, np.int64)
    if ((target < 0) | (target >= targets)).any():
        n.refuse(
            f"expected targets of 0 to {targets - 1}, got {target.min()} to {target.max()}", MEND
        )
    told = gives < 0
    weights = of.gift_weights.astype(kind)[told]
    gifts = Gifts(rank[number[is_leaf]], -1 - gives[told], target[told], weights)
    return Ensemble(forest, gifts, targets)


def _finder(n: Foreign, of: Listed) -> Callable[[g.Array, g.Array], g.Array]:
    """What finds nodes by their numbers of tree and node; the lists are as long as they should be."""
    count = len(of.trees)
    lists = (of.nodes, of.features, of.modes, of.first, of.second, of.values)
    if count == 0 or any(len(each) != count for each in lists) or len(of.missing) not in (0, count):
        n.refuse(f"expected {count} entries in each list of nodes", MEND)
    if not len(of.gift_trees) == len(of.gift_nodes) == len(of.gift_targets) == len(of.gift_weights):
        n.refuse("expected lists of weights that are as long as each other", MEND)
    places = {name: i for i, name in enumerate(zip(of.trees, of.nodes, strict=True))}
    if len(places) != count:
        n.refuse("two nodes have the same numbers of tree and node", MEND)

    def find(trees: g.Array, nodes: g.Array) -> g.Array:
        try:
            found = [places[name] for name in zip(trees.tolist(), nodes.tolist(), strict=True)]
        except KeyError as error:
            n.refuse(f"no node has the numbers {error.args[0]} of tree and node", MEND)
        return np.array(found, np.int64)

    return find


def _modes(n: Foreign, names: Sequence[str]) -> g.Array:
    known = {f"BRANCH_{mode}": i for i, mode in enumerate(MODES)}
    for name in set(names) - known.keys():
        n.refuse(f"expected nodes_modes of {', '.join(known)} or LEAF, got {name!r}", MEND)
    return np.array([known[name] for name in names], np.int64)


@means("TreeEnsembleRegressor", domain=LEARNED)
def tree_ensemble_regressor(
    n: Foreign,
    *,
    nodes_treeids: Ints,
    nodes_nodeids: Ints,
    nodes_featureids: Ints,
    nodes_modes: Sequence[str],
    nodes_truenodeids: Ints,
    nodes_falsenodeids: Ints,
    target_treeids: Ints,
    target_nodeids: Ints,
    target_ids: Ints,
    n_targets: int = 1,
    nodes_values: Sequence[float] | None = None,
    nodes_values_as_tensor: ir.TensorProtocol | None = None,
    nodes_hitrates: Sequence[float] | None = None,
    nodes_hitrates_as_tensor: ir.TensorProtocol | None = None,
    nodes_missing_value_tracks_true: Ints = (),
    target_weights: Sequence[float] | None = None,
    target_weights_as_tensor: ir.TensorProtocol | None = None,
    base_values: Sequence[float] | None = None,
    base_values_as_tensor: ir.TensorProtocol | None = None,
    aggregate_function: str = "SUM",
    post_transform: str = "NONE",
) -> ir.Value:
    listed = Listed(
        nodes_treeids, nodes_nodeids, nodes_featureids, nodes_modes, nodes_truenodeids, nodes_falsenodeids,
        nodes_missing_value_tracks_true, _numbers(nodes_values, nodes_values_as_tensor), target_treeids,
        target_nodeids, target_ids, _numbers(target_weights, target_weights_as_tensor),
    )  # fmt: skip
    x = rows_of(n, wide=True)
    y = _scores(n, x, _ensemble(n, listed, n_targets, x), aggregate_function)
    y = _based(n, y, _numbers(base_values, base_values_as_tensor), n_targets)
    return transformed(n, _float(n, y), post_transform, n_targets)


def _based(n: Foreign, y: ir.Value, base: g.Array, targets: int) -> ir.Value:
    if len(base) == 0:
        return y
    if len(base) != targets:
        n.refuse(f"expected base_values of {targets} numbers, got {len(base)}", MEND)
    kind = ir.DataType.FLOAT if y.dtype is None else y.dtype
    return n("Add", y, n.constant(base.astype(kind.numpy()), "base"))


def _float(n: Foreign, y: ir.Value) -> ir.Value:
    return y if y.dtype == ir.DataType.FLOAT else n("Cast", y, to=int(ir.DataType.FLOAT))


@means("TreeEnsembleClassifier", domain=LEARNED)
def tree_ensemble_classifier(
    n: Foreign,
    *,
    nodes_treeids: Ints,
    nodes_nodeids: Ints,
    nodes_featureids: Ints,
    nodes_modes: Sequence[str],
    nodes_truenodeids: Ints,
    nodes_falsenodeids: Ints,
    class_treeids: Ints,
    class_nodeids: Ints,
    class_ids: Ints,
    classlabels_int64s: Ints | None = None,
    classlabels_strings: Sequence[str] | None = None,
    nodes_values: Sequence[float] | None = None,
    nodes_values_as_tensor: ir.TensorProtocol | None = None,
    nodes_hitrates: Sequence[float] | None = None,
    nodes_hitrates_as_tensor: ir.TensorProtocol | None = None,
    nodes_missing_value_tracks_true: Ints = (),
    class_weights: Sequence[float] | None = None,
    class_weights_as_tensor: ir.TensorProtocol | None = None,
    base_values: Sequence[float] | None = None,
    base_values_as_tensor: ir.TensorProtocol | None = None,
    post_transform: str = "NONE",
) -> Sequence[ir.Value | None]:
    """Labels and scores. Of two classes, one alone may have weights: its score says which."""
    classes = labels_of(n, classlabels_int64s, classlabels_strings)
    weights = _numbers(class_weights, class_weights_as_tensor)
    listed = Listed(
        nodes_treeids, nodes_nodeids, nodes_featureids, nodes_modes, nodes_truenodeids, nodes_falsenodeids,
        nodes_missing_value_tracks_true, _numbers(nodes_values, nodes_values_as_tensor), class_treeids, class_nodeids,
        class_ids, weights,
    )  # fmt: skip
    x = rows_of(n, wide=True)
    y = _scores(n, x, _ensemble(n, listed, classes, x), "SUM")
    base = _numbers(base_values, base_values_as_tensor)
    if classes != 2 or len(set(class_ids)) != 1:
        y = _float(n, _based(n, y, base, classes))
        return label(n, classlabels_int64s, best(n, y)), transformed(n, y, post_transform, classes)
    return _binary(
        n, y, base, class_ids[0], bool((weights >= 0).all()), classlabels_int64s, post_transform
    )


def _binary(
    n: Foreign, y: ir.Value, base: g.Array, given: int, positive: bool, ints: Ints | None, transform: str
) -> Sequence[ir.Value | None]:  # fmt: skip
    """One of two classes has weights. Of the first class: they are the second's score, which is a probability where all are
    positive. What onnxruntime gives; ONNX says nothing of it."""
    limit = 0.5 if positive else 0.0
    if len(base) > 1 or (given == 1 and len(base)):
        n.refuse(
            f"{len(base)} base values, but weights of one class: runtimes differ in what that means"
        )
    if given == 0:
        score = n("Slice", y, n.ints(0), n.ints(1), n.ints(1))
        score = _float(n, _based(n, score, base, 1))
        scores = both(n, score, transform, complement=positive)
    else:
        y = _float(n, y)
        score = n("Slice", y, n.ints(1), n.ints(2), n.ints(1))
        scores = transformed(n, y, transform, 2)
    return label(n, ints, above(n, score, limit)), scores


# --- TreeEnsemble of opset 5: nodes by their places, leaves apart ---------------------------------------------------------------------


@means("TreeEnsemble", domain=LEARNED)
def tree_ensemble(
    n: Foreign,
    *,
    nodes_featureids: Ints,
    nodes_splits: ir.TensorProtocol,
    nodes_modes: ir.TensorProtocol,
    nodes_truenodeids: Ints,
    nodes_trueleafs: Ints,
    nodes_falsenodeids: Ints,
    nodes_falseleafs: Ints,
    leaf_targetids: Ints,
    leaf_weights: ir.TensorProtocol,
    tree_roots: Ints,
    n_targets: int = 1,
    nodes_hitrates: ir.TensorProtocol | None = None,
    nodes_missing_value_tracks_true: Ints = (),
    membership_values: ir.TensorProtocol | None = None,
    aggregate_function: int = 1,
    post_transform: int = 0,
) -> ir.Value:
    n.only("aggregate_function", aggregate_function, *range(len(AGGREGATES)))
    n.only("post_transform", post_transform, *range(len(TRANSFORMS)))
    modes = nodes_modes.numpy().astype(np.int64)
    columns: list[Any] = [
        nodes_featureids, modes, nodes_truenodeids, nodes_trueleafs, nodes_falsenodeids, nodes_falseleafs,
        nodes_missing_value_tracks_true or np.zeros(len(modes)),
    ]  # fmt: skip
    features, modes, first, first_leaf, second, second_leaf, missing = (
        np.array(c, np.int64).reshape(-1) for c in columns
    )
    splits, weights = nodes_splits.numpy().reshape(-1), leaf_weights.numpy().reshape(-1)
    count, leaves = len(modes), len(weights)
    if any(len(c) != count for c in (*columns, splits)) or len(leaf_targetids) != leaves:
        n.refuse("expected lists of nodes, and of leaves, that are as long", MEND)
    first, second = (
        np.where(first_leaf, -1 - first, first),
        np.where(second_leaf, -1 - second, second),
    )
    roots = np.array(tree_roots, np.int64)
    for name, lead in (
        ("nodes_truenodeids", first),
        ("nodes_falsenodeids", second),
        ("tree_roots", roots),
    ):
        if ((lead >= count) | (lead < -leaves)).any():
            n.refuse(f"{name} leads to a node or leaf that is not there", MEND)
    alone = (first == second) & (first < 0)  # a tree of one leaf
    roots = np.where(alone[roots], first[roots], roots)
    members = _members(n, modes, membership_values)
    if splits.dtype not in (np.float32, np.float64):
        splits, weights = splits.astype(np.float32), weights.astype(np.float32)
    forest = Forest(features, splits, modes, missing != 0, first, second, roots, members)
    made = _placed(n, forest, np.array(leaf_targetids, np.int64), weights, n_targets)
    x = rows_of(n, wide=True)
    y = _scores(n, x, made, AGGREGATES[aggregate_function])
    y = transformed(n, y, TRANSFORMS[post_transform], n_targets)
    return y if y.dtype == n[0].dtype else n("CastLike", y, n[0])


def _members(n: Foreign, modes: g.Array, values: ir.TensorProtocol | None) -> dict[int, g.Array]:
    """The sets, one behind the other, each ended by a NaN."""
    asking = np.flatnonzero(modes == MODES.index("MEMBER"))
    if ((modes < 0) | (modes >= len(MODES))).any():
        n.refuse(f"expected nodes_modes of 0 to {len(MODES) - 1}", MEND)
    flat = np.zeros(0) if values is None else values.numpy().reshape(-1)
    ends = np.flatnonzero(np.isnan(flat))
    if len(ends) < len(asking):
        n.refuse(f"expected membership_values of {len(asking)} sets, got {len(ends)}", MEND)
    starts = [0, *(ends + 1)]
    return {int(i): flat[starts[k] : ends[k]] for k, i in enumerate(asking)}


def _placed(
    n: Foreign, forest: Forest, target: g.Array, weights: g.Array, targets: int
) -> Ensemble:
    """Says to which tree each leaf belongs."""
    if ((target < 0) | (target >= targets)).any():
        n.refuse(f"expected leaf_targetids of 0 to {targets - 1}", MEND)
    tree = np.full(len(forest.features), -1, np.int64)
    owner = np.full(len(weights), -1, np.int64)
    for i, root in enumerate(forest.roots):
        layer = np.array([root])
        while len(layer):
            ends = -1 - layer[layer < 0]
            if ((owner[ends] >= 0) & (owner[ends] != i)).any():
                n.refuse("two trees share a leaf, which is not covered")
            owner[ends] = i
            layer = layer[layer >= 0]
            layer = layer[tree[layer] != i]
            tree[layer] = i
            layer = np.unique(np.concatenate([forest.first[layer], forest.second[layer]]))
    used = np.flatnonzero(owner >= 0)
    return Ensemble(forest, Gifts(owner, used, target[used], weights[used]), targets)

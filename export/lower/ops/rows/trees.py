"""Ensembles of decision trees, as capture's tables have them."""

from __future__ import annotations

from .... import graph as g
from ...context import Lowering
from ...node import Node
from ...refs import Ref
from ...table import lowers


@lowers("TreeEnsemble", domain=g.OURS)
def lower_tree_ensemble(l: Lowering, n: Node) -> Ref:
    """x [n, features], nodes, thresholds, roots [groups, trees], weights [leaves, width]: [n, groups, width]."""
    x, nodes, thresholds, roots, weights = (n[i] for i in range(5))
    shape = (x.shape[0], roots.shape[0], weights.shape[1])
    attrs = {"reduction": n.text("reduction", "sum")}
    return l.one("tree_ensemble", [x, nodes, thresholds, roots, weights], attrs, x.dtype, shape)

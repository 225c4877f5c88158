"""Ensembles of decision trees."""

from __future__ import annotations

import numpy as np

from ..row import Array


def ensemble(
    x: Array, nodes: Array, thresholds: Array, roots: Array, weights: Array, reduction: str
) -> Array:
    """All rows take a step in all trees at once, until all are at leaves; [n, groups, c].

    Raises:
        IndexError: a row, node or leaf that is none, or a way that does not lead on.
    """
    at = np.broadcast_to(roots.astype(np.int64), (len(x), *roots.shape)).copy()
    rows = np.broadcast_to(np.arange(len(x))[:, None, None], at.shape)
    while (inner := at >= 0).any():
        node = nodes[at[inner]]
        value = x[rows[inner], node[:, 0] >> 1]
        missing = (value != value) & (node[:, 0] & 1 == 1)
        first = (value <= thresholds[at[inner]]) | missing
        then = np.where(first, node[:, 1], node[:, 2])
        if ((then >= 0) & (then <= at[inner])).any():
            raise IndexError("a next node has no larger number")
        at[inner] = then
    reached = weights[-1 - at]
    return np.asarray(getattr(np, reduction)(reached, axis=2))

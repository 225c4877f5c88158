"""Nodes that give random numbers: their seeds."""

from __future__ import annotations

from typing import Final

import onnx_ir as ir

from pteron.schema.errors import ArgumentError, several, shown

from .. import graph as g

NODES: Final = frozenset(
    {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"}
)  # fmt: skip
MOST: Final = 1 << 23
"""Seeds are f32, and each node adds its number."""


def seed_nodes(model: ir.Model, seed: int | None) -> list[str]:
    """Gives each such node without a seed `seed` and its number among them; what to tell of all that have one then.

    Raises:
        ArgumentError: the seed is no integer from 0 up to 2^23.
    """
    if seed is not None and not (isinstance(seed, int) and 0 <= seed < MOST):
        raise ArgumentError(
            f"random_seed: expected an integer from 0, less than {MOST}, got {shown(seed)}"
        )
    found = [n for n in g.nodes(model) if n.domain == "" and n.op_type in NODES]
    for i, node in enumerate(found):
        if seed is not None and "seed" not in node.attributes:
            node.attributes["seed"] = ir.AttrFloat32("seed", float(seed + i))
    count = sum("seed" in n.attributes for n in found)
    if not count:
        return []
    return [
        f"{several(count, 'node')} of random numbers: by Philox from their seeds, the same numbers at each run"
    ]

"""Constants as initializers, equal initializers once, equal nodes once."""

from __future__ import annotations

from typing import Final

import onnx_ir as ir
import onnx_ir.passes.common as common

from .. import graph as g

SMALL: Final = 4096
"""Elements of an initializer that is compared here; larger ones are deduplicated by content when the file is written."""


def lift_constants(model: ir.Model) -> bool:
    """c = Constant(value) => initializer c.

    Requires: nothing. Declines: c is a graph output.
    """
    return bool(
        common.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(
            model
        ).modified
    )


def deduplicate(model: ir.Model) -> bool:
    """Initializers of one graph with equal type, shape and bytes become one.

    Requires: nothing. Declines: more than 4096 elements; one is a graph input or output.
    """
    return bool(common.DeduplicateInitializersPass(size_limit=SMALL)(model).modified)


def eliminate_common(model: ir.Model) -> bool:
    """y = Op(x); z = Op(x) => uses of z become uses of y, in the main graph.

    Requires: nothing. Declines: nodes with subgraphs, random operators.
    """
    before = _working(model)
    common.CommonSubexpressionEliminationPass(size_limit=SMALL)(model)
    return _working(model) != before


def _working(model: ir.Model) -> int:
    """How many nodes compute: of equal outputs of the graph all but one are an Identity, which the pass would merge for ever."""
    return sum(not g.is_op(node, "Identity") for node in g.nodes(model))

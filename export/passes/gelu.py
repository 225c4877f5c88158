"""Gelu written out becomes one Gelu."""

from __future__ import annotations

from typing import Final

import onnx_ir as ir

from .. import graph as g
from .match import matches, pattern

_ERF: Final = ("Div(x, 1.41421356)", "Mul(x, 0.70710678)")
_CUBE: Final = ("Pow(x, 3)", "Mul(Mul(x, x), x)")
_INNER: Final = (
    *(f"Mul(Add(x, Mul({cube}, 0.044715)), 0.79788456)" for cube in _CUBE),
    "Mul(Mul(x, 0.79788456), Add(Mul(Mul(x, 0.044715), x), 1))",
    "Mul(Mul(x, 0.79788456), Add(Mul(Mul(x, x), 0.044715), 1))",
)
_OUTER: Final = (
    "y = Mul(Mul(x, 0.5), g)",
    "y = Mul(Mul(x, g), 0.5)",
    "y = Mul(x, Mul(g, 0.5))",
)
ERF: Final = tuple(
    pattern(f"g = Add(Erf({inner}), 1); {outer}") for inner in _ERF for outer in _OUTER
)
TANH: Final = tuple(
    pattern(f"g = Add(Tanh({inner}), 1); {outer}") for inner in _INNER for outer in _OUTER
)


def recognise_gelu(model: ir.Model) -> bool:
    """y = x * 0.5 * (1 + erf(x / sqrt 2)) => y = Gelu(x); with tanh(sqrt(2 / pi) (x + 0.044715 x^3)): approximate="tanh".

    Requires: constants within 1e-4 of these, products in the usual orders. Declines: other constants.
    """
    changed = False
    for patterns, approximate in ((ERF, ""), (TANH, "tanh")):
        for m in matches(model, *patterns):
            attributes = [ir.AttrString("approximate", approximate)] if approximate else []
            new = ir.Node("", "Gelu", [m["x"]], attributes)
            g.replace(m.nodes, [new], m["y"], new.outputs[0])
            changed = True
    return changed

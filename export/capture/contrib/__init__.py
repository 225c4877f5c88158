"""Operators of onnxruntime's domain com.microsoft and of ai.onnx.ml as nodes of ONNX, exact by their definitions (onnxruntime's
ContribOperators.md, ONNX's Operators-ml.md).

onnxruntime's optimizers and quantizers write the first, converters of scikit-learn, LightGBM and XGBoost the others; behind
capture nobody knows of them. A function per operator says what it means:
its keyword arguments are the attributes that it knows with their defaults, one without default is required. What it
does not know, or what only some processors define, is refused by the node's name.
"""

from __future__ import annotations

from typing import Final

import onnx_ir as ir

from ... import graph as g
from ...graph.inference import infer_node
from . import (
    activations,
    attention,
    ensembles,
    grouped,
    integer,
    linear,
    mixtures,
    norms,
    products,
    recurrent,
    tabular,
)
from .foreign import DOMAIN, TRANSLATIONS, translate
from .maps import drop_maps
from .reasons import why_not

__all__ = [
    "DOMAIN",
    "MEANS",
    "TRANSLATIONS",
    "adopt",
    "drop_maps",
    "known",
    "translate_contrib",
    "why_not",
]

MEANS: Final = (
    activations, attention, ensembles, grouped, integer, linear, mixtures, norms, products, recurrent, tabular,
)  # fmt: skip
"""The families; importing them fills the table."""
SELF_MADE: Final = {"LayerNormalization": 17, "SimplifiedLayerNormalization": 0}
"""What onnxruntime writes into ONNX's own domain before, or without, an opset that has it: that opset, 0 for none."""


def known(node: ir.Node) -> bool:
    """Whether the node is of an operator with a translation."""
    return node.op_type in TRANSLATIONS.get(node.domain, ())


def adopt(model: ir.Model) -> bool:
    """Nodes that onnxruntime writes as if they were ONNX's get their right domain or opset; whether any are foreign."""
    opset = model.graph.opset_imports.get("", 0)
    foreign = False
    for node in g.nodes(model):
        since = SELF_MADE.get(node.op_type) if node.domain == "" else None
        if since == 0:
            node.domain = DOMAIN
        elif since is not None and (node.version or opset) < since:
            node.version = since
        foreign |= node.domain in TRANSLATIONS
    return foreign


def translate_contrib(model: ir.Model, where: str) -> None:
    """Every node of these domains becomes nodes of ONNX, in place; the model is at an opset that has them.

    Raises:
        ModelError: an attribute, input or output that the translation does not cover; the node is named.
    """
    if not any(node.domain in TRANSLATIONS for node in g.nodes(model)):
        return
    used = g.names(model) | {n.name for n in g.nodes(model) if n.name}
    opsets = dict(model.graph.opset_imports)
    for node in list(g.nodes(model)):
        if node.domain in TRANSLATIONS:
            translate(node, used, opsets, where)
        else:
            infer_node(node, opsets)
    for graph in g.graphs(model):
        for domain in TRANSLATIONS:
            graph.opset_imports.pop(domain, None)
    g.drop_unread(model)

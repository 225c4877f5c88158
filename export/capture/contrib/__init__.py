"""Operators of onnxruntime's domain com.microsoft as nodes of ONNX, exact by their definitions (its ContribOperators.md).

Its optimizers and quantizers write them; behind capture nobody knows of them. A function per operator says what it means:
its keyword arguments are the attributes that it knows with their defaults, one without default is required. What it
does not know, or what only some processors define, is refused by the node's name.
"""

from __future__ import annotations

from typing import Final

import onnx_ir as ir

from ... import graph as g
from ...graph.inference import infer_node
from . import activations, attention, grouped, integer, mixtures, norms, products, recurrent
from .foreign import DOMAIN, TRANSLATIONS, translate

__all__ = ["DOMAIN", "MEANS", "adopt", "known", "translate_contrib"]

MEANS: Final = (activations, attention, grouped, integer, mixtures, norms, products, recurrent)
"""The families; importing them fills the table."""
SELF_MADE: Final = {"LayerNormalization": 17, "SimplifiedLayerNormalization": 0}
"""What onnxruntime writes into ONNX's own domain before, or without, an opset that has it: that opset, 0 for none."""


def known(node: ir.Node) -> bool:
    """Whether the node is of an operator with a translation."""
    return node.domain == DOMAIN and node.op_type in TRANSLATIONS


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
        foreign |= node.domain == DOMAIN
    return foreign


def translate_contrib(model: ir.Model, where: str) -> None:
    """Every node of the domain becomes nodes of ONNX, in place; the model is at an opset that has them.

    Raises:
        ModelError: an attribute, input or output that the translation does not cover; the node is named.
    """
    if not any(node.domain == DOMAIN for node in g.nodes(model)):
        return
    used = g.names(model) | {n.name for n in g.nodes(model) if n.name}
    opsets = dict(model.graph.opset_imports)
    for node in list(g.nodes(model)):
        if node.domain == DOMAIN:
            translate(node, used, opsets, where)
        else:
            infer_node(node, opsets)
    for graph in g.graphs(model):
        graph.opset_imports.pop(DOMAIN, None)
    g.drop_unread(model)

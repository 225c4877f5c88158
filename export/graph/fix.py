"""Sizes given to symbolic dimensions of a Graph, before anything else is done with it: `--fix batch=1`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx_ir as ir

from pteron.schema.errors import ArgumentError

from .. import graph as g
from . import bounds, dimensions


def fix(models: Sequence[ir.Model], sizes: Mapping[str, int]) -> None:
    """Every dimension "batch", or arithmetic on it, of all values of all graphs => a number, in place.

    Raises:
        ArgumentError: no input has a dimension of that name, or the size is no extent.
    """
    there = {n for model in models for n in symbols(model)}
    for name, size in sizes.items():
        if name not in there:
            raise ArgumentError(
                f"fix {name}: expected a symbolic dimension of an input; those are {', '.join(sorted(there)) or 'none'}; correct the name"
            )
        if size < 1:
            raise ArgumentError(f"fix {name}: expected an integer of at least 1, got {size}")
        if size > bounds.MOST:
            raise ArgumentError(f"fix {name}: expected at most {bounds.MOST}, got {size}")
    for model in models if sizes else ():
        if bounds.KEY in model.metadata_props:
            bounds.write(model, bounds.fixed(bounds.read(model), sizes))
        for graph in g.graphs(model):
            made = [v for node in graph for v in node.outputs]
            for value in (*graph.inputs, *graph.outputs, *made):
                if value.shape is not None and not value.is_initializer():
                    value.shape = ir.Shape([_fixed(d, sizes) for d in value.shape])


def symbols(model: ir.Model) -> set[str]:
    """Names of the dimensions of the model's inputs, those in arithmetic too."""
    dims = [d for v in model.graph.inputs for d in v.shape or ()]
    named = [d for d in dims if isinstance(d, ir.SymbolicDim) and d.value is not None]
    return {name for d in named for name in dimensions.names(d)}


def _fixed(dim: int | ir.SymbolicDim, sizes: Mapping[str, int]) -> int | ir.SymbolicDim:
    if isinstance(dim, int) or dim.value is None:
        return dim
    if dim.value in sizes:
        return sizes[dim.value]
    if dimensions.names(dim) & set(sizes):
        return dim.evaluate(dict(sizes))
    return dim

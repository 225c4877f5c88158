"""Normalizations with what is added in front, and BERT's embeddings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from .foreign import Foreign, means


@means("SkipLayerNormalization")
def skip_layer_norm(n: Foreign, *, epsilon: float = 1e-12) -> Sequence[ir.Value | None]:
    """input, skip, gamma, beta, bias => norm, mean, deviation, sum."""
    total = n.plus(n[0], n[1], n.get(4))
    y = n("LayerNormalization", total, n[2], n.get(3), axis=-1, epsilon=epsilon)
    return y, None, None, total


@means("SkipSimplifiedLayerNormalization")
def skip_rms_norm(n: Foreign, *, epsilon: float = 1e-12) -> Sequence[ir.Value | None]:
    """input, skip, gamma, bias => norm, mean, deviation, sum."""
    total = n.plus(n[0], n[1], n.get(3))
    return n("RMSNormalization", total, n[2], axis=-1, epsilon=epsilon), None, None, total


@means("SimplifiedLayerNormalization")
def rms_norm(n: Foreign, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1) -> ir.Value:
    return n("RMSNormalization", n[0], n[1], axis=axis, epsilon=epsilon, stash_type=stash_type)


@means("EmbedLayerNormalization")
def embed_layer_norm(
    n: Foreign, *, epsilon: float = 1e-12, mask_index_type: int = 0
) -> Sequence[ir.Value | None]:
    """Words, positions and segments are looked up and added; the second output counts the ones of the mask."""
    n.only("mask_index_type", mask_index_type, 0, 1)
    return _embedded(n, [n.get(i) for i in range(2, 7)], n.get(8), epsilon)


@means("QEmbedLayerNormalization")
def q_embed_layer_norm(n: Foreign, *, epsilon: float = 1e-12) -> Sequence[ir.Value | None]:
    """The same with codes of 8 bits in inputs 2 to 6, their scales from 8 on, zero points from 13 on."""
    tables = [
        None if n.get(i) is None else n("DequantizeLinear", n[i], n[i + 6], n.get(i + 11))
        for i in range(2, 7)
    ]
    return _embedded(n, tables, None, epsilon)


def _embedded(
    n: Foreign, tables: Sequence[ir.Value | None], positions: ir.Value | None, epsilon: float
) -> Sequence[ir.Value | None]:
    """The norm, the mask's count, the sum; `tables`: words, positions, segments, gamma, beta."""
    words, places, segments, gamma, beta = tables
    total = n("Gather", words, n[0])
    if positions is None:
        places = n("Slice", places, n.ints(0), n.size(n[0], 1), n.ints(0))
    else:
        places = n("Gather", places, positions)
    total = n("Add", total, places)
    if segments is not None and n.get(1) is not None:
        total = n("Add", total, n("Gather", segments, n[1]))
    y = n("LayerNormalization", total, gamma, beta, axis=-1, epsilon=epsilon)
    return y, _count(n) if n.wants(1) else None, total


def _count(n: Foreign) -> ir.Value:
    """Ones of each row of the mask, 0 without one; int32 [batch]."""
    mask = n.get(7)
    if mask is None:
        zero = ir.tensor(np.zeros(1, np.int32))
        return n("ConstantOfShape", n.size(n[0], 0), value=zero)
    one = n.constant(np.array(1, np.int32))
    ones = n("Cast", n("Equal", mask, one), to=int(ir.DataType.INT32))
    return n("ReduceSum", ones, n.ints(1), keepdims=0)

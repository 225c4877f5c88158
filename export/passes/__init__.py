"""ONNX -> ONNX passes over a Graph at opset 28.

A pass is a function `(ir.Model) -> bool`: True when it changed something; idempotent; its docstring states before => after,
what it requires and when it declines. The order is the list. Rewritten nodes take module and source of those they replace,
and names by them at the end.
Functions that are not ours are inlined by capture, before the opset is raised.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

import onnx_ir as ir

from pteron.schema.errors import ModelError

from .. import graph as g
from ..graph.naming import name_nodes
from .affine import fold_batch_norm, fold_factor
from .attention import group_heads, recognise_attention
from .castlike import castlike_to_cast
from .clean import remove_no_ops, remove_unused, remove_zero_bias
from .dedupe import deduplicate, eliminate_common, lift_constants
from .dequantize import recognise_dequantize
from .fold import fold_constants
from .gelu import recognise_gelu
from .invariants import lift_invariants
from .norms import recognise_layer_norm, recognise_rms_norm
from .rotary import recognise_rotary
from .sequences import remove_sequences
from .transpose import merge_transposes, recognise_swap
from .unroll import stack_sequences, unroll_sequences

Pass = Callable[[ir.Model], bool]

PASSES: Final[tuple[Pass, ...]] = (
    lift_constants,
    remove_no_ops,
    castlike_to_cast,
    fold_constants,
    remove_zero_bias,
    recognise_dequantize,
    lift_invariants,
    unroll_sequences,
    stack_sequences,
    remove_sequences,
    deduplicate,
    eliminate_common,
    fold_batch_norm,
    fold_factor,
    recognise_gelu,
    recognise_layer_norm,
    recognise_rms_norm,
    recognise_swap,
    merge_transposes,
    recognise_attention,
    group_heads,
    recognise_rotary,
    remove_unused,
)
ROUNDS: Final = 64
"""Far more than a list of idempotent passes needs: each round must have found what the one before it made possible."""


def run_passes(
    model: ir.Model,
    passes: Sequence[Pass] = PASSES,
    progress: Callable[[str, float], None] | None = None,
) -> ir.Model:
    """Runs the list until nothing changes, in place; types and shapes are inferred before each round.

    `progress(name of the pass, seconds)` is called after each pass that changed something.

    Raises:
        ModelError: a pass broke the graph, or passes still change it after 64 rounds; the text names them.
    """
    unsettled: list[str] = []
    for _ in range(ROUNDS):
        g.infer(model)
        unsettled = []
        for step in passes:
            started = time.perf_counter()
            if step(model):
                unsettled.append(step.__name__)
                g.verify(model, f"pass {step.__name__}")
                if progress is not None:
                    progress(step.__name__, time.perf_counter() - started)
        if not unsettled:
            name_nodes(model)
            return model
    raise ModelError(
        f"passes: {', '.join(unsettled)} still changed the graph in round {ROUNDS}, expected none by then; "
        "this is a bug of the pass: report the model"
    )

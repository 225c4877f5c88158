"""The three things every pass test says: before, after, and that the numbers stay."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from pteron.export.graph import SOURCE, infer, nodes, verify
from pteron.export.graph.text import as_text, onnx_text

SIZES = {"n": 3, "b": 2, "s": 5, "t": 7}


def feeds(model: ir.Model, seed: int = 0) -> dict[str, np.ndarray]:
    """Normal floats, small integers, fair bits; symbolic sizes from SIZES."""
    rng = np.random.default_rng(seed)
    made: dict[str, np.ndarray] = {}
    for v in model.graph.inputs:
        shape = [d if isinstance(d, int) else SIZES[str(d.value)] for d in v.shape or ()]
        kind = v.dtype.numpy() if v.dtype is not None else np.dtype(np.float32)
        if kind.kind == "b":
            array = rng.integers(0, 2, shape).astype(bool)
        elif kind.kind in "iu":
            array = rng.integers(0, 4, shape).astype(kind)
        else:
            array = rng.standard_normal(shape).astype(kind)
        made[v.name or ""] = np.asarray(array)
    return made


def run(model: ir.Model, given: dict[str, np.ndarray]) -> list[np.ndarray]:
    return list(ReferenceEvaluator(ir.to_proto(model)).run(None, given))


def becomes(
    step: Callable[[ir.Model], bool],
    before: str,
    after: str,
    tolerance: float = 2e-6,
    **given: str | np.ndarray,
) -> None:
    """`step` turns `before` into `after`, once; answers, names of outputs and source lines stay. `after` == "": unchanged."""
    model = onnx_text(before, **given)
    infer(model)
    outputs = [v.name for v in model.graph.outputs]
    for node in nodes(model):
        node.metadata_props[SOURCE] = "net.py:3"
    arrays = feeds(model)
    want = run(model, arrays)
    assert step(model) == bool(after), as_text(model)
    want_text = after or as_text(onnx_text(before, **given))
    assert as_text(model) == want_text, f"{as_text(model)!r} is not {want_text!r}"
    infer(model)
    assert not step(model), "a pass is idempotent"
    verify(model, "test")
    onnx.checker.check_model(ir.to_proto(model))
    assert [v.name for v in model.graph.outputs] == outputs
    assert all(SOURCE in n.metadata_props for n in nodes(model)), "source lines survive"
    for a, b in zip(run(model, arrays), want, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)

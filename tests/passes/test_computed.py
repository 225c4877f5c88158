"""Weights that follow from constants alone are computed once, by the runtime: the bits that a run would have had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

import pteron
from pteron.export.graph.text import as_text, onnx_text
from pteron.export.passes.computed import fold_computed

pytest.importorskip("pteron._pteron", reason="the C runtime is not built")
from pteron.recording import record

STANDARDIZED = (
    "m = ReduceMean(w, [1, 2, 3]); c = Sub(w, m); q = ReduceMean(Mul(c, c), [1, 2, 3]); d = Sqrt(Add(q, 1e-5)); s = Div(c, d); "
    "y = Conv(x, s)"
)


def weight(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def standardized() -> ir.Model:
    return onnx_text(STANDARDIZED, x="f32[b, 8, 9, 9]", w=weight(16, 8, 3, 3))


def test_a_standardized_weight_is_a_weight(tmp_path: Path) -> None:
    model, samples = standardized(), weight(2, 8, 9, 9)
    report = pteron.export_model(model, tmp_path / "m.pte")
    assert set(report.methods[0].operators) == {"Conv"}
    report = pteron.export_model(
        model, tmp_path / "q.pte", quantize="int8", calibrate={"x": samples}
    )
    assert [report.coverage[0]["layers"], report.coverage[0]["of"]] == [1, 1]


def test_a_run_gives_the_bits_that_it_gave(tmp_path: Path) -> None:
    x = weight(2, 8, 9, 9)
    (want,) = (found["y"] for found in record(standardized(), ["y"], [{"x": x}]))
    pteron.export_model(standardized(), tmp_path / "m.pte")
    assert np.asarray(pteron.load(tmp_path / "m.pte")(x)).tobytes() == want.tobytes()


def test_it_is_done_once() -> None:
    model = standardized()
    assert fold_computed(model, record)
    assert not fold_computed(model, record)


KEPT: dict[str, tuple[str, dict[str, Any]]] = {
    "an output": ("y = Exp(w)", {"w": weight(4)}),
    "of few bits": ("y = Add(x, Exp(DequantizeLinear(w, 0.5)))", {"w": np.ones(4, np.int8)}),
    "drawn": ("y = Add(x, RandomNormalLike(w))", {"w": weight(4)}),
    "a view": ("y = Add(x, Reshape(Expand(w, [4000, 4]), [4000, 4]))", {"w": weight(4)}),
    "far larger": ("y = Add(x, Exp(Expand(w, [4000, 4])))", {"w": weight(4)}),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_as_it_is(name: str) -> None:
    text, given = KEPT[name]
    model = onnx_text(text, x="f32[4000, 4]", **given)
    assert not fold_computed(model, record), as_text(model)


def test_what_would_be_far_larger_is_computed_as_far_as_it_is_small() -> None:
    model = onnx_text("y = Add(x, Exp(Expand(Exp(w), [4000, 4])))", x="f32[4000, 4]", w=weight(4))
    assert fold_computed(model, record)
    assert [v.name for v in model.graph.initializers.values() if "computed" in str(v.name)]


def test_a_chain_that_is_refused_keeps_no_other() -> None:
    text = "y = Add(Add(x, Exp(u)), Add(Det(w), Sqrt(v))); z = Add(y, Neg(Exp(v)))"
    model = onnx_text(text, x="f32[4]", u=weight(4), v=weight(4) ** 2, w=weight(9, 9))
    assert fold_computed(model, record)
    read = {
        n.op_type for n in model.graph if any(v.uses() or v.is_graph_output() for v in n.outputs)
    }
    assert {"Det", "Sqrt", "Add"} < read and "Neg" not in read, as_text(model)


def test_names_of_nodes_do_not_matter() -> None:
    model = standardized()
    for node in model.graph:
        node.name = "node"
    assert fold_computed(model, record)

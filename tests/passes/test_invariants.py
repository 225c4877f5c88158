"""What a Loop carries although no iteration changes or reads it is not carried; onnxruntime's and the reference's numbers stay."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import onnx_ir as ir
import pytest
from onnx.reference import ReferenceEvaluator

from pteron.export.capture import capture
from pteron.export.graph import is_op, nodes
from pteron.export.lower import lower
from pteron.export.passes import run_passes
from pteron.export.program.interpret import run
from pteron.export.program.listing import as_text

LOOP = """<ir_version: 10, opset_import: ["" : 21]>
agraph (float[2, 4] x, float[4, 4] v, int64 n) => (float[2, 4] y, float[4, 4] after) {{
    go = Constant<value = bool {{1}}>()
    w = Constant<value = float[4, 4] {{1, 0, 0, 1, 0, 1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 1}}>()
    unset = Constant<value = float {{7}}>()
    w_end, y, after, nobody = Loop (n, go, w, x, v, unset) <
        body = b (int64 i, bool c, float[4, 4] w1, float[2, 4] h, float[4, 4] v1, float u)
            => (bool d, float[4, 4] w2, float[2, 4] h2, float[4, 4] v2, float u2) {{
            d = Identity(c)
            {given}
            m = MatMul(h, w1)
            k = MatMul(m, v1)
            h2 = Tanh(k)
            u2 = ReduceMax<keepdims = 0>(h2)
        }}
    >
}}"""
ON = "w2 = Identity(w1)\n            v2 = Identity(v1)"
CHANGED = "w2 = Identity(w1)\n            v2 = Neg(v1)"


def carried(model: ir.Model) -> int:
    (loop,) = (n for n in nodes(model) if is_op(n, "Loop"))
    body = loop.attributes["body"].as_graph()
    assert len(loop.inputs) == len(body.inputs)
    assert len(loop.outputs) == len(body.outputs) - 1 == len(loop.inputs) - 2
    return len(loop.outputs)


@pytest.mark.parametrize(("given", "count"), [(ON, 1), (CHANGED, 2)])
@pytest.mark.parametrize("rounds", [0, 3])
def test_invariants_are_read_of_outside(given: str, count: int, rounds: int) -> None:
    proto = onnx.parser.parse_model(LOOP.format(given=given))
    onnx.checker.check_model(proto)
    model = run_passes(capture(proto))
    assert carried(model) == count
    rng = np.random.default_rng(0)
    feeds = {
        "x": rng.standard_normal((2, 4)).astype(np.float32),
        "v": rng.standard_normal((4, 4)).astype(np.float32),
        "n": np.array(rounds),
    }
    got = run(lower(model), feeds)
    for name, want in zip(("y", "after"), ReferenceEvaluator(proto).run(None, feeds), strict=True):
        np.testing.assert_allclose(got[name], want, rtol=1e-5, atol=1e-6)


def test_a_weight_of_a_body_is_a_constant_of_the_product() -> None:
    program = lower(run_passes(capture(onnx.parser.parse_model(LOOP.format(given=ON)))))
    assert "= matmul(%3, w{1, 4}, -)" in as_text(program)

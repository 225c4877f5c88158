"""What every lowering test says: the program's text, and that its numbers are those of ONNX's reference, fused or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
from onnx.reference import ReferenceEvaluator

from pteron.export.graph.text import onnx_text
from pteron.export.lower import lower
from pteron.export.optimize.fuse import fuse
from pteron.export.program.interpret import run
from pteron.export.program.listing import as_text


def listing(text: str, *, fused: bool = False, **given: Any) -> list[str]:
    """The lines of the program that `text` becomes, without the method's head."""
    program = lower(onnx_text(text, **given))
    return [line.strip() for line in as_text(fuse(program) if fused else program).splitlines()[1:]]


def reference(model: ir.Model, feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    proto: onnx.ModelProto = ir.to_proto(model)
    return list(ReferenceEvaluator(proto).run(None, dict(feeds)))


def agrees(model: ir.Model | str, feeds: Mapping[str, Any], **given: Any) -> None:
    """Lowered, and lowered and fused, the model gives the reference's numbers; the two the same bits."""
    model = onnx_text(model, **given) if isinstance(model, str) else model
    arrays = {name: np.asarray(x) for name, x in feeds.items()}
    program = lower(model)
    plain, fused = run(program, arrays), run(fuse(program), arrays)
    wanted = dict(zip((v.name for v in model.graph.outputs), reference(model, arrays), strict=True))
    assert plain.keys() == wanted.keys()
    for name, want in wanted.items():
        got = plain[name or ""]
        assert got.shape == np.shape(want), name
        assert got.dtype == want.dtype, name
        assert got.tobytes() == fused[name or ""].tobytes(), f"{name}: fusing changed bits"
        close = 2e-3 if want.dtype.itemsize == 2 else 1e-5
        if want.dtype.kind in "fV":
            np.testing.assert_allclose(
                got.astype(np.float64), want.astype(np.float64), rtol=close, atol=close
            )
        else:
            np.testing.assert_array_equal(got, want)


def agrees_with_onnxruntime(text: str, feeds: Mapping[str, np.ndarray], **given: Any) -> None:
    """As `agrees`, where ONNX's reference is wrong or has holes."""
    model = onnx_text(text, opset=21, **given)
    proto: onnx.ModelProto = ir.to_proto(model)
    proto.ir_version = 10
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [v.name for v in session.get_outputs()]
    got = run(lower(model), dict(feeds))
    for name, want in zip(names, session.run(None, dict(feeds)), strict=True):
        assert got[name].shape == want.shape
        np.testing.assert_allclose(got[name], want, rtol=1e-4, atol=1e-5, err_msg=name)

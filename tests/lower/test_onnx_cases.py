"""ONNX's own cases of every operator: the answers that come with the standard.

Each model runs by the interpreter, as it is lowered, and by the C runtime, after the whole pipeline.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import onnx
import onnx.backend.test.case.node as node_cases
import pytest
from onnx import numpy_helper

import pteron
from pteron.export.capture.onnx import capture_onnx
from pteron.export.export import export
from pteron.export.file.emit import emit_bytes
from pteron.export.lower import lower
from pteron.export.program.interpret import run
from pteron.schema.errors import PteronError

Array = np.ndarray[Any, Any]
Way = Callable[[onnx.ModelProto, Mapping[str, Array]], Mapping[str, Any]]

OTHERS: Final = {"_image_decoder_data", "ai_onnx_ml"}
"""Data of another module; operators of another domain, of which there are none here."""

MODULES = sorted({m.name for m in pkgutil.iter_modules(node_cases.__path__)} - OTHERS)
CLOSE: Final = {"float64": 1e-6, "float32": 1e-4, "float16": 4e-3, "bfloat16": 3e-2}
"""Relative and absolute; other types are equal."""

REFUSED: Final = (
    "adagrad", "adam", "momentum", "nesterov_momentum", "training_dropout",  # training
    "bernoulli", "image_decoder", "melweightmatrix", "optional",
    "equal_string", "regex", "string", "strnormalizer",
    "blackmanwindow", "hammingwindow", "hannwindow", "range_float", "range_bfloat16",  # float ranges
    "loop11", "scan_sum",
    "not_2d", "not_3d", "not_4d",  # opset 1
)  # fmt: skip
"""Beginnings of the names of cases that may be refused; every other must run."""


RANDOM: Final = "bernoulli"
"""Beginnings of the names of cases whose answers are one draw of many: ours has its shape and type."""


def plain(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> Mapping[str, Any]:
    return run(lower(capture_onnx(model)), feeds)


def whole(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> Mapping[str, Any]:
    data = emit_bytes(export(model.SerializeToString()))
    return pteron.load(data, threads=1).run(dict(feeds))


def with_constants(model: onnx.ModelProto, feeds: dict[str, Array]) -> onnx.ModelProto:
    """Small operands behind the first become initializers, as real models have them: axes, scales, lengths."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for port in list(made.graph.input)[1:]:
        if port.name in feeds and feeds[port.name].size <= 8:
            made.graph.initializer.append(numpy_helper.from_array(feeds.pop(port.name), port.name))
            made.graph.input.remove(port)
    return made


def agrees(
    way: Way,
    model: onnx.ModelProto,
    feeds: Mapping[str, Array],
    wanted: Mapping[str, Array],
    is_random: bool,
) -> None:
    """As it is or, where that is refused, with constants."""
    try:
        got = way(model, feeds)
    except PteronError:
        left = dict(feeds)
        got = way(with_constants(model, left), left)
    for name, want in wanted.items():
        y = np.asarray(got[name])
        assert (y.shape, y.dtype) == (want.shape, want.dtype), name
        if is_random:
            continue
        if want.dtype.kind in "iub":
            np.testing.assert_array_equal(y, want, name)
            continue
        close = CLOSE.get(want.dtype.name, 0)
        np.testing.assert_allclose(
            y.astype(np.float64), want.astype(np.float64), close, close, err_msg=name
        )


def array(x: Any) -> Array:
    return numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else np.asarray(x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", MODULES)
def test_cases_that_come_with_the_standard(module: str) -> None:
    known = len(node_cases._NodeTestCases)
    importlib.import_module(f"{node_cases.__name__}.{module}")
    found = node_cases._NodeTestCases[known:]
    assert found, "imported before, or the package has changed"
    for case in found:
        graph = case.model.graph
        if not all(p.type.HasField("tensor_type") for p in [*graph.input, *graph.output]):
            continue  # sequences, optionals
        name = case.name.removeprefix("test_")
        ways = (plain,) if name.endswith("_expanded") else (plain, whole)
        for ins, outs in case.data_sets:
            feeds = {p.name: array(x) for p, x in zip(graph.input, ins, strict=False)}
            wanted = {p.name: array(x) for p, x in zip(graph.output, outs, strict=True)}
            for way in ways:
                try:
                    agrees(way, case.model, feeds, wanted, name.startswith(RANDOM))
                except PteronError as e:
                    assert name.startswith(REFUSED), f"{name}: {e}"
                except AssertionError as e:
                    raise AssertionError(f"{name}, {way.__name__}: {e}") from e

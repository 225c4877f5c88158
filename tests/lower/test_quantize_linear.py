"""DequantizeLinear and QuantizeLinear over types of codes and of scales, a scale for all, for a row and for a block, with and without
zero points, of constants and of inputs: the bits of ONNX' reference, which counts in the types of ml_dtypes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import pteron

ROWS, COLUMNS, BLOCK = 16, 64, 16
CODES = {
    **{name: np.dtype(name) for name in ("int8", "uint8", "int16", "uint16", "int32")},
    **{name: np.dtype(getattr(ml_dtypes, name)) for name in ("int4", "uint4", "int2", "uint2")},
    "e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn), "e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "e5m2": np.dtype(ml_dtypes.float8_e5m2), "e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "e2m1": np.dtype(ml_dtypes.float4_e2m1fn), "e2m3": np.dtype(ml_dtypes.float6_e2m3fn),
    "e3m2": np.dtype(ml_dtypes.float6_e3m2fn),
}  # fmt: skip
BITS = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "e2m1": 4, "e2m3": 6, "e3m2": 6}
FLOATS = {"f32": np.dtype(np.float32), "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}  # fmt: skip
E8M0 = np.dtype(ml_dtypes.float8_e8m0fnu)
SCALES = {
    **{name: (dtype, dtype) for name, dtype in FLOATS.items()},
    **{f"e8m0 {name}": (E8M0, dtype) for name, dtype in FLOATS.items()},
}
"""The type of the scales, and that of the floats."""
PLACES: dict[str, tuple[tuple[int, ...], dict[str, int]]] = {
    "all": ((), {}),
    "row": ((ROWS,), {"axis": 0}),
    "column": ((COLUMNS,), {"axis": -1}),
    "block": ((ROWS, COLUMNS // BLOCK), {"axis": 1, "block_size": BLOCK}),
    "block of rows": ((ROWS // 8, COLUMNS), {"axis": 0, "block_size": 8}),
}


def codes(name: str, rng: np.random.Generator) -> Any:
    """Every code, where there are so many places, and others at random."""
    dtype, shape = CODES[name], (ROWS, COLUMNS)
    if dtype.kind in "iu" and dtype.itemsize > 1:
        ends = np.iinfo(dtype)
        return rng.integers(ends.min, ends.max, shape, dtype=dtype, endpoint=True)
    bits = BITS.get(name, 8)
    raw = rng.integers(0, 1 << bits, shape).astype(np.uint8)
    raw.reshape(-1)[: 1 << bits] = np.arange(1 << bits)
    if name.startswith("uint"):
        return raw.astype(dtype)
    if name.startswith("int"):
        return (raw.astype(np.int16) - (1 << (bits - 1))).astype(np.int8).astype(dtype)
    return raw.view(dtype)


def scales(dtype: np.dtype[Any], shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if dtype == E8M0:
        return np.asarray(rng.integers(118, 127, shape), np.uint8).view(E8M0)
    return np.asarray(rng.random(shape) / 8 + 0.01).astype(dtype)


class Table:
    """A model of many nodes, each with an output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.given: dict[str, Any] = {}
        self.inputs: set[str] = set()
        self.outputs: dict[str, int] = {}

    def put(self, name: str, array: Any, *, still: bool = True) -> str:
        self.given[name] = array
        self.inputs |= set() if still else {name}
        return name

    def add(self, op_type: str, inputs: list[str], name: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(op_type, inputs, [name], **attributes))
        return name

    def check(self, folder: Path) -> None:
        def port(name: str, kind: int, shape: Any) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(name, kind, shape)

        kinds = {n: helper.np_dtype_to_tensor_dtype(a.dtype) for n, a in self.given.items()}
        graph = helper.make_graph(
            self.nodes, "g", [port(n, kinds[n], self.given[n].shape) for n in self.given if n in self.inputs],
            [port(n, kind, (ROWS, COLUMNS)) for n, kind in self.outputs.items()],
            [numpy_helper.from_array(a, n) for n, a in self.given.items() if n not in self.inputs],
        )  # fmt: skip
        opset = [helper.make_opsetid("", 28)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=13)
        onnx.checker.check_model(model)
        feeds = {n: self.given[n] for n in self.inputs}
        with np.errstate(all="ignore"):
            wants = ReferenceEvaluator(model).run(None, feeds)
        pteron.export_model(model, folder / "m.pte")
        gots = pteron.load(folder / "m.pte").run(feeds)
        for name, want in zip(self.outputs, wants, strict=True):
            got = np.asarray(gots[name])
            got = got if got.dtype == want.dtype else got.view(want.dtype)
            nan = np.isnan(want.astype(np.float32))
            assert (nan == np.isnan(got.astype(np.float32))).all(), name
            assert got[~nan].tobytes() == want[~nan].tobytes(), name


def zeros(name: str, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    found = codes(name, rng).reshape(-1)[: max(int(np.prod(shape)), 1)]
    return np.ascontiguousarray(found[::-1]).reshape(shape)


@pytest.mark.filterwarnings("error:overflow")
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", CODES)
def test_codes_become_floats(name: str, scale: str, tmp_path: Path) -> None:
    rng, table = np.random.default_rng(3), Table()
    kind, made = SCALES[scale]
    wide = helper.np_dtype_to_tensor_dtype(made)
    one = table.put("one", np.ones(1, made), still=False)
    for still in (True, False):
        table.put(f"q{still}", codes(name, rng), still=still)
        for place, (shape, attributes) in PLACES.items():
            for zero in (
                (False, True) if name.startswith(("int", "uint")) and name != "int32" else (False,)
            ):
                at = f"{place}{still}{zero}".replace(" ", "_")
                parts = [f"q{still}", table.put(f"s{at}", scales(kind, shape, rng))]
                parts += [table.put(f"z{at}", zeros(name, rng, shape))] if zero else []
                told = attributes | ({"output_dtype": wide} if kind == E8M0 else {})
                w = table.add("DequantizeLinear", parts, f"w{at}", **told)
                table.outputs[table.add("Mul", [w, one], f"y{at}")] = wide
    table.check(tmp_path)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", [n for n in CODES if n != "int32"])
def test_floats_become_codes_and_floats_again(name: str, scale: str, tmp_path: Path) -> None:
    rng, table = np.random.default_rng(4), Table()
    kind, made = SCALES[scale]
    wide, codes_type = (helper.np_dtype_to_tensor_dtype(d) for d in (made, CODES[name]))
    x = (rng.standard_normal((ROWS, COLUMNS)) * 10 ** rng.uniform(-3, 2, (ROWS, COLUMNS))).astype(
        made
    )
    table.put("x", x, still=False)
    for place, (shape, attributes) in PLACES.items():
        for zero in (False, True) if name.startswith(("int", "uint")) else (False,):
            at = f"{place}{zero}".replace(" ", "_")
            parts = [table.put(f"s{at}", scales(kind, shape, rng))]
            parts += [table.put(f"z{at}", zeros(name, rng, shape))] if zero else []
            told = {} if zero else {"output_dtype": codes_type}
            q = table.add("QuantizeLinear", ["x", *parts], f"q{at}", **attributes, **told)
            told = attributes | ({"output_dtype": wide} if kind == E8M0 else {})
            table.outputs[table.add("DequantizeLinear", [q, *parts], f"y{at}", **told)] = wide
    table.check(tmp_path)

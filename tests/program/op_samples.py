"""One correct program for each operator that a kernel computes, small and with attributes that are not the defaults.

`python tests/program/op_samples.py FOLDER` writes them as op_<name>.pte. Weights are constants, all else inputs.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import sympy
from numpy.typing import NDArray

from pteron.export.file.emit import emit_bytes
from pteron.export.pack import panels, stored_groups, taps
from pteron.export.pack.codes import pack
from pteron.export.plan import plan
from pteron.export.program import Block, Constant, Instr, Method, Port, Program, Value
from pteron.export.sizes import Dim
from pteron.export.sizes.expressions import symbol
from pteron.schema.dtypes import DTYPES
from pteron.schema.formats import FORMATS
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL
from pteron.schema.steps import Step


@dataclasses.dataclass(frozen=True, slots=True)
class Case:
    """Inputs and outputs as "f32 2 3", or None; attributes by name. Weights: "w 2 3", "w:i4 2 3" in a storage format,
    "w:i8 2 3" of that type. "k:i8 3": a constant, all 30. "i64 2 <12": a counted dimension of that capacity."""

    inputs: tuple[str | None, ...]
    outputs: tuple[str | None, ...]
    attrs: dict[str, Any] = dataclasses.field(default_factory=dict)


def relu(count: int = 1) -> tuple[Step, ...]:
    """y = max(x0 + ... , 0.5)"""
    more = [
        s
        for i in range(1, count)
        for s in (Step("load", "f32", 2, arg=i), Step("add", "f32", 0, (0, 2)))
    ]
    return (
        Step("load", "f32", 0),
        *more,
        Step("literal", "f32", 1, arg=0.5),
        Step("max", "f32", 0, (0, 1)),
        Step("store", "f32", args=(0,)),
    )


WINDOW: Final = {"kernel": (3, 2), "stride": (2, 1), "dilation": (1, 1), "begin": (1, 0)}
CONV: Final = {**WINDOW, "end": (1, 0)}
ADD_I8: Final = {
    "a_zero": 1, "a_multiplier": 1 << 30, "a_shift": 11, "b_multiplier": 1 << 30,
    "y_zero": -4, "multiplier": 1 << 30, "shift": 50, "low": -4, "high": 99,
}  # fmt: skip

ADD_I16: Final = ADD_I8 | {"a_shift": 17, "b_shift": 17, "shift": 44}

CASES: Final[dict[str, Case]] = {
    "pointwise": Case(("f32 2 3", "f32 2 3"), ("f32 2 3",), {"steps": relu(2)}),
    "copy": Case(("i8 2 3",), ("i8 2 3",)),
    "dims": Case((), ("i64 2",), {"values": (5, 7)}),
    "pad": Case(("f32 3 4",), ("f32 6 6",), {"begin": (1, 2), "mode": "reflect"}),
    "gather": Case(("f16 4 3", "i64 2"), ("f16 2 3",)),
    "gather_rows": Case(("w 5 8", "i64 3"), ("f32 3 8",)),
    "gather_elements": Case(("f32 4 3", "i64 2 3"), ("f32 2 3",)),
    "gather_nd": Case(("f32 2 3 4", "i64 2 5 1"), ("f32 2 5 4",), {"batch_dims": 1}),
    "scatter_elements": Case(("f32 4 3", "i64 2 3", "f32 2 3"), ("f32 4 3",), {"reduction": "add"}),
    "scatter_nd": Case(("i64 4 3", "i64 2 1", "i64 2 3"), ("i64 4 3",), {"reduction": "max"}),
    "tensor_scatter": Case(("f32 2 8 4", "f32 2 1 4", "i64 2"), ("f32 2 8 4",), {"circular": True}),
    "panel_scatter": Case(("f32 1 2 3 4 16", "f32 1 2 5 4", "i64 1"), ("f32 1 2 3 4 16",)),
    "nonzero": Case(("bool 3 4",), ("i64 2 <12",)),
    "reshape": Case(("f32 2 6",), ("f32 3 4",)),
    "topk": Case(("f32 2 7",), ("f32 2 3", "i64 2 3"), {"largest": False}),
    "cumulate": Case(("f32 2 5",), ("f32 2 5",), {"kind": "prod", "exclusive": True}),
    "reduce": Case(("f32 2 3 4",), ("f32 2",), {"kind": "mean", "count": 2}),
    "arg_reduce": Case(("i64 2 5",), ("i64 2",), {"kind": "min", "last": True}),
    "tree_ensemble": Case(
        ("f32 3 4", "i32 2 3", "f32 2", "i32 1 2", "f32 3 1"), ("f32 3 1 1",), {"reduction": "max"}
    ),
    "softmax": Case(("f32 2 19",), ("f32 2 19",), {"log": True}),
    "layer_norm": Case(
        ("f32 2 3 4", "f32 3 4", "f32 3 4"), ("f32 2 3 4", "f32 2", None), {"count": 2}
    ),
    "rms_norm": Case(("f32 2 20", "f32 20"), ("f32 2 20",), {"count": 1, "epsilon": 1e-6}),
    "matmul": Case(("f32 3 8", "w 18 8", "f32 18", "f32 3 18"), ("f32 3 18",), {"steps": relu(2)}),
    "batch_matmul": Case(("f32 2 3 5", "f32 2 5 17"), ("f32 2 3 17",)),
    "pack": Case(("f32 17 5",), ("w 17 5",)),
    "conv": Case(
        ("f32 1 5 5 4", "w 6 12", "f32 6"),
        ("f32 1 3 4 6",),
        {**CONV, "spread": (1, 1), "groups": 2, "steps": relu()},
    ),
    "conv_winograd": Case(
        ("f32 1 5 6 16", "w 576 16", "f32 16", "f32 1 4 6 16"),
        ("f32 1 4 6 16",),
        {"begin": 1, "steps": relu(2)},
    ),
    "conv_block": Case(
        ("f32 1 5 6 4", "w 18 4", "w 6 18", "t 18 9", "f32 18", "f32 18", "f32 6", "f32 1 3 3 6"),
        ("f32 1 3 3 6",),
        {
            "kernel": 3,
            "stride": 2,
            "begin": 1,
            "first": "relu6",
            "second": "relu",
            "steps": relu(2),
        },
    ),
    "conv_depthwise": Case(("f32 1 5 5 20", "t 20 6"), ("f32 1 3 4 20",), CONV),
    "attention": Case(
        ("f32 1 4 3 8", "f32 1 2 5 8", "f32 1 2 5 6", "f32 1 4 3 5", "i64 1"),
        ("f32 1 3 4 6",),
        {"scale": 0.25, "causal": "bottom_right", "softcap": 5.0, "left_window": 3},
    ),
    "codes": Case(("f32 2 64",), ("i8 2 64", "f32 2 1"), {"turned": True}),
    "lstm": Case(
        ("f32 3 2 16", "w 16 4", "f32 2 4", "f32 2 4", "f32 12", "i64 2"),
        ("f32 3 2 4", "f32 2 4", "f32 2 4"),
        {"activations": (0, 1, 1), "parameters": (0, 0) * 3, "clip": 2.0},
    ),
    "gru": Case(
        ("f32 3 2 12", "w 12 4", "f32 12", "f32 2 4", "i64 2"),
        ("f32 3 2 4", "f32 2 4"),
        {"activations": (0, 1), "parameters": (0, 0) * 2, "linear_before_reset": True},
    ),
    "rnn": Case(
        ("f32 3 2 4", "w 4 4", "f32 2 4"),
        ("f32 3 2 4", "f32 2 4"),
        {"activations": (1,), "parameters": (0, 0)},
    ),
    "matmul_int8": Case(
        ("f32 3 40", "w:i4 18 40", "f32 18", "f32 3 18"), ("f32 3 18",), {"steps": relu(2)}
    ),
    "matmul_turned": Case(
        ("f32 3 40", "w:i8_channel 18 64", "f32 18", "f32 3 18"), ("f32 3 18",), {"steps": relu(2)}
    ),
    "conv_i8": Case(
        ("i8 1 5 5 4", "w:i8 6 12", "i32 6", "i32 6", "k:i8 6"),
        ("i8 1 3 4 6",),
        {**CONV, "spread": (1, 1), "groups": 2, "x_zero": 3, "y_zero": -4, "low": -4, "high": 99},
    ),
    "conv_i16": Case(
        ("i16 1 5 5 4", "w:i8 6 12", "i32 6", "i32 6", "k:i8 6"),
        ("i16 1 3 4 6",),
        {
            **CONV,
            "groups": 2,
            "x_zero": 3,
            "y_zero": -4,
            "low": -4,
            "high": 999,
            "wide": True,
        },
    ),
    "add_i8": Case(
        ("i8 2 3", "i8 2 3"),
        ("i8 2 3",),
        ADD_I8,
    ),
    "add_i16": Case(("i16 2 3", "i16 2 3"), ("i16 2 3",), ADD_I16),
    "matmul_integer": Case(("i64 2 3 5", "i64 2 5 4"), ("i64 2 3 4",)),
    "max_pool": Case(("f32 1 5 5 3",), ("f32 1 3 4 3", "i64 1 3 4 3"), WINDOW),
    "average_pool": Case(("f32 1 5 5 3",), ("f32 1 3 4 3",), CONV),
    "resize": Case(("f32 1 3 4 2",), ("f32 1 6 7 2",), {"mode": "cubic", "antialias": True}),
    "grid_sample": Case(("f32 1 4 5 2", "f32 1 3 3 2"), ("f32 1 3 3 2",), {"padding": "border"}),
    "non_max_suppression": Case(
        ("f32 1 6 4", "f32 1 2 6", "i64", "f32", "f32"), ("i64 <12 3",), {"center": True}
    ),
    "unpack": Case(("i4 5",), ("i64 5",)),
    "repack": Case(("f32 5",), ("f8e4m3 5",)),
}


def _dim(capacity: int) -> Dim:
    return Dim("count", "counted", min=0, capacity=sympy.Integer(capacity))


COUNTED: Final = symbol(_dim(0))


KINDS: Final = {"f8e8m0": np.uint8, "f16": np.float16, "f32": np.float32, "i8": np.int8}


def coded(name: str, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Bytes of a weight [n, k] in a storage format, with a few kinds of codes and scales."""
    fmt = FORMATS[name]
    codes = (np.arange(np.prod(shape)) * 7 % (1 << fmt.bits)).astype(np.uint8).reshape(shape)
    planes = (
        np.full((shape[0], -(-shape[1] // size) if size else 1), 100, KINDS[dtype])
        for dtype, size in fmt.planes
    )
    return pack(fmt, codes, *planes)


def weight(kind: str, fmt: str, shape: tuple[int, ...], groups: int) -> tuple[str, Any]:
    """Element type and bytes of a weight, "w" or "t"."""
    if fmt in FORMATS:
        return "f32", coded(fmt, shape)
    array = np.arange(np.prod(shape)).reshape(shape)
    array = array.astype(np.int8) if fmt else array.astype(np.float32) / 64
    return fmt or "f32", panels(array, groups) if kind == "w" else taps(array)


def program(name: str) -> Program:
    """The case of operator `name`: its inputs are the method's, its outputs too (a packed one is planned)."""
    case = CASES[name]
    attrs = {"kernel": (), **case.attrs}
    values: list[Value] = []
    constants: list[Constant] = []
    dims: list[Dim] = []
    sides: tuple[list[int | None], list[int | None]] = ([], [])
    ports: tuple[list[Port], list[Port]] = ([], [])
    for side, texts, into in (("input", case.inputs, 0), ("output", case.outputs, 1)):
        for text in texts:
            if text is None:
                sides[into].append(None)
                continue
            dtype, *words = text.split()
            shape = tuple(COUNTED if word.startswith("<") else int(word) for word in words)
            dims += [_dim(int(word[1:])) for word in words if word.startswith("<")]
            sides[into].append(len(values))
            dtype, _, fmt = dtype.partition(":")
            if dtype in ("w", "t"):
                layout = "panels" if dtype == "w" else "taps"
                if side == "input":
                    groups = stored_groups(Instr(name, (), (), attrs), shape)
                    element, stored = weight(dtype, fmt, shape, groups)
                    kind = {"groups": groups, "format": fmt if fmt in FORMATS else "plain"}
                    constants.append(Constant("w", element, shape, stored, layout, **kind))
                    value = Value("w", element, shape, "constant", len(constants) - 1)
                    values.append(dataclasses.replace(value, layout=layout, **kind))
                else:
                    values.append(Value("w", "f32", shape, layout=layout))
                continue
            if dtype == "k":
                constants.append(Constant("k", fmt, shape, np.full(shape, 30, DTYPES[fmt].numpy)))
                values.append(Value("k", fmt, shape, "constant", len(constants) - 1))
                continue
            values.append(Value(f"v{len(values)}", dtype, shape, side, len(ports[into])))
            ports[into].append(Port(f"v{len(values) - 1}", len(values) - 1))
    block = Block((Instr(name, tuple(sides[0]), tuple(sides[1]), case.attrs),))
    method = Method("main", tuple(ports[0]), tuple(ports[1]), (0, len(values)), 0)
    return Program(
        name,
        tuple(dims),
        constants=tuple(constants),
        values=tuple(values),
        blocks=(block,),
        methods=(method,),
    )


def write(folder: Path) -> list[Path]:
    """Every case as FOLDER/op_<name>.pte."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in CASES:
        path = folder / f"op_{name}.pte"
        path.write_bytes(emit_bytes(plan(program(name))))
        paths.append(path)
    return paths


def missing() -> set[str]:
    """Operators without a case; a test wants none."""
    return {op.name for op in OPS.values() if op.name not in CONTROL} - set(CASES)


if __name__ == "__main__":
    write(Path(sys.argv[1]))

"""A random ONNX graph being made: values with sample arrays, nodes that the reference has run on them.

All choices come from one `random.Random`, so a seed is a graph, and hypothesis shrinks what it finds.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
import onnx
from graphs.reference import evaluator
from onnx import TensorProto, helper, numpy_helper

Array = np.ndarray[Any, Any]

DTYPES: Final[dict[str, tuple[int, Any]]] = {
    "float": (TensorProto.FLOAT, np.float32), "double": (TensorProto.DOUBLE, np.float64),
    "float16": (TensorProto.FLOAT16, np.float16), "bfloat16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
    "bool": (TensorProto.BOOL, np.bool_), "int8": (TensorProto.INT8, np.int8), "int16": (TensorProto.INT16, np.int16),
    "int32": (TensorProto.INT32, np.int32), "int64": (TensorProto.INT64, np.int64),
    "uint8": (TensorProto.UINT8, np.uint8), "uint16": (TensorProto.UINT16, np.uint16),
    "uint32": (TensorProto.UINT32, np.uint32), "uint64": (TensorProto.UINT64, np.uint64),
    "float8e4m3fn": (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn), "float8e5m2": (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2),
    "int4": (TensorProto.INT4, ml_dtypes.int4), "uint4": (TensorProto.UINT4, ml_dtypes.uint4),
}  # fmt: skip
NAMES: Final = {np.dtype(kind): name for name, (_, kind) in DTYPES.items()}
CODES: Final = {"int4": (-8, 7), "uint4": (0, 15)}
LIKELY: Final = {"float": 12, "int64": 4, "int32": 3, "bool": 2, "float16": 2, "double": 2}
"""Weights of dtypes; the others have 1."""

EXTENTS: Final = (1, 1, 2, 2, 3, 3, 4, 5, 7)
LARGEST: Final = 512
"""Elements of a tensor: the reference is slow."""


class UnfitError(Exception):
    """The reference refuses the node, or it would be too large."""


class Draft:
    """`arrays`: every value by name; `inputs` and `constants` name those that the graph is given."""

    def __init__(self, rng: random.Random, opset: int, prefix: str = "") -> None:
        self.rng: Final = rng
        self.opset: Final = opset
        self.prefix: Final = prefix
        self.nodes: list[onnx.NodeProto] = []
        self.arrays: dict[str, Array] = {}
        self.inputs: list[str] = []
        self.constants: dict[str, Array] = {}
        self.functions: list[onnx.FunctionProto] = []
        self.zero_sizes: Final = rng.random() < 0.06
        self.specials: Final = rng.random() < 0.25

    # --- choices ---------------------------------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self.rng.randrange(len(items))]

    def extent(self) -> int:
        return 0 if self.zero_sizes and self.chance(0.25) else int(self.pick(EXTENTS))

    def shape(self, low: int = 0, high: int = 5) -> tuple[int, ...]:
        shape = [self.extent() for _ in range(self.rng.randint(low, high))]
        while np.prod([max(n, 1) for n in shape], dtype=np.int64) > LARGEST:
            shape[self.rng.randrange(len(shape))] = 1
        return tuple(shape)

    def axis(self, rank: int) -> int:
        return self.rng.randrange(-rank, rank)

    def axes(self, rank: int, least: int = 1) -> list[int]:
        """Different ones, some negative."""
        count = self.rng.randint(min(least, rank), rank)
        chosen = self.rng.sample(range(rank), count)
        return [a - rank if self.chance(0.3) else a for a in chosen]

    def dtype(self, names: Sequence[str]) -> str:
        names = [n for n in names if n in DTYPES]
        if not names:
            raise UnfitError
        weights = [LIKELY.get(n, 1) for n in names]
        return self.rng.choices(names, weights)[0]

    # --- the standard ----------------------------------------------------------------------------------------------

    def schema(self, op: str) -> Any:
        try:
            schema = onnx.defs.get_schema(op, self.opset)
        except onnx.defs.SchemaError as error:
            raise UnfitError from error
        if schema.deprecated:
            raise UnfitError
        return schema

    def has(self, op: str, attr: str) -> bool:
        return attr in self.schema(op).attributes

    def inputs_of(self, op: str) -> int:
        return len(self.schema(op).inputs)

    def allowed(self, op: str, index: int = 0) -> list[str]:
        """dtypes of an input."""
        return sorted(
            t.removeprefix("tensor(").removesuffix(")")
            for t in self.schema(op).inputs[index].types
            if t.startswith("tensor(")
        )

    # --- values ----------------------------------------------------------------------------------------------------

    def values(self, dtype: str, shape: Sequence[int]) -> Array:
        kind = np.dtype(DTYPES[dtype][1])
        count = int(np.prod(shape, dtype=np.int64))
        if dtype == "bool":
            flat: list[Any] = [self.chance(0.5) for _ in range(count)]
        elif kind.kind in "iu":
            flat = [self._integer(kind) for _ in range(count)]
        elif dtype in CODES:
            flat = [self.rng.randint(*CODES[dtype]) for _ in range(count)]
        else:
            flat = [self._number() for _ in range(count)]
        with np.errstate(over="ignore"):
            return (
                np.array(flat, object)
                .astype(np.float64 if kind.kind in "fV" else kind)
                .astype(kind)
                .reshape(tuple(shape))
            )

    def _integer(self, kind: Any) -> int:
        info = np.iinfo(kind)
        if self.specials and self.chance(0.15):
            return int(self.pick((info.min, info.max, 0, info.max - 1)))
        return max(self.rng.randint(-5, 9), info.min)

    def _number(self) -> float:
        if self.specials and self.chance(0.2):
            special = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 0.5, -2.5)
            return float(self.pick(special))
        return round(self.rng.uniform(-3, 3), 2)

    def fresh(self, dtype: str, shape: Sequence[int], constant: float = 0.4) -> str:
        """A new input, or by this chance an initializer."""
        return self.given(self.values(dtype, shape), constant)

    def given(self, array: Array, constant: float = 0.4) -> str:
        name = f"{self.prefix}{'w' if self.chance(constant) else 'x'}{len(self.arrays)}"
        if name[len(self.prefix)] == "w":
            self.constants[name] = array
        else:
            self.inputs.append(name)
        self.arrays[name] = array
        return name

    def constant_of(self, array: Array) -> str:
        """An initializer."""
        return self.given(array, 1.0)

    def ints(self, values: Sequence[int] | int, dtype: str = "int64") -> str:
        """A tensor that decides shapes: a constant but for 6 of 100."""
        return self.given(np.array(values, DTYPES[dtype][1]), 0.94)

    def tensor(
        self,
        dtypes: Sequence[str],
        low: int = 0,
        high: int = 5,
        shape: Sequence[int] | None = None,
        constant: float = 0.25,
    ) -> str:
        """A value of one of these dtypes and a rank (or the shape): one that is there, or a new one."""
        there = [
            n
            for n, a in self.arrays.items()
            if NAMES[a.dtype] in dtypes
            and (a.shape == tuple(shape) if shape is not None else low <= a.ndim <= high)
        ]
        if there and self.chance(0.7):
            return str(self.pick(there[-6:]))
        wanted = self.shape(low, high) if shape is None else tuple(shape)
        return self.fresh(self.dtype(dtypes), wanted, constant)

    def like(self, name: str, shape: Sequence[int], constant: float = 0.5) -> str:
        """A value of the dtype of `name`."""
        return self.tensor([NAMES[self.arrays[name].dtype]], shape=shape, constant=constant)

    def of(self, name: str) -> tuple[int, ...]:
        return tuple(self.arrays[name].shape)

    def dtype_of(self, name: str) -> str:
        return NAMES[self.arrays[name].dtype]

    # --- nodes -----------------------------------------------------------------------------------------------------

    def add(
        self,
        op: str,
        inputs: Sequence[str],
        attrs: dict[str, Any],
        outputs: int = 1,
        run: bool = True,
    ) -> list[str]:
        """A node, if the reference can run it."""
        names = [f"{self.prefix}n{len(self.nodes)}_{i}" for i in range(outputs)]
        while inputs and inputs[-1] == "":
            inputs = inputs[:-1]
        node = helper.make_node(
            op, list(inputs), names, name=f"{self.prefix}{op}_{len(self.nodes)}", **attrs
        )
        if run:
            results = run_node(node, {n: self.arrays[n] for n in inputs if n}, self.opset)
            for name, result in zip(names, results, strict=True):
                if not isinstance(result, np.ndarray) or result.dtype not in NAMES:
                    raise UnfitError(op)
                if result.size > 4 * LARGEST or result.ndim > 8:
                    raise UnfitError(op)
                self.arrays[name] = result
        self.nodes.append(node)
        return names


def run_node(node: onnx.NodeProto, feeds: dict[str, Array], opset: int) -> list[Array]:
    """One node by the reference.

    Raises:
        UnfitError: it does not run.
    """
    inputs = [value_info(name, array) for name, array in feeds.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "one", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        with np.errstate(all="ignore"):
            results = evaluator(model).run(None, dict(feeds))
    except Exception as error:  # whatever it says, the node is none that it can run
        raise UnfitError(str(error)) from error
    return [np.asarray(r) if np.ndim(r) == 0 and not isinstance(r, list) else r for r in results]


def value_info(
    name: str, array: Array, axes: Sequence[int | str] | None = None
) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(
        name, DTYPES[NAMES[array.dtype]][0], list(array.shape) if axes is None else list(axes)
    )


def initializer(name: str, array: Array) -> onnx.TensorProto:
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)

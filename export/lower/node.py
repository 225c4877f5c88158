"""What a lowering function sees of a node, and the table of lowering functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import onnx_ir as ir
import sympy

from pteron.schema.dtypes import DTYPES
from pteron.schema.row import Op
from pteron.schema.signature import signature

from ..program.views import Elements, Shape
from .refs import Ref, RefusedError

if TYPE_CHECKING:
    from .context import Lowering

NAMES: Final = {ir.DataType(row.onnx): row.name for row in DTYPES.values() if row.onnx}
"""ONNX element types by what we call them; strings and complex numbers are not covered."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One ONNX node with its operands as Refs. `wanted[i]`: somebody reads output i."""

    op_type: str
    domain: str
    opset: int
    name: str
    inputs: tuple[Ref | None, ...]
    attrs: dict[str, ir.Attr]
    wanted: tuple[bool, ...]
    origin: ir.Node | None = None

    def __getitem__(self, i: int) -> Ref:
        """Input i, which must be there."""
        ref = self.get(i)
        if ref is None:
            raise RefusedError(f"input {i} is absent; the operator needs it")
        return ref

    def get(self, i: int) -> Ref | None:
        return self.inputs[i] if i < len(self.inputs) else None

    def has(self, name: str) -> bool:
        return name in self.attrs

    def integer(self, name: str, default: int = 0) -> int:
        return int(self.attrs[name].value) if name in self.attrs else default

    def number(self, name: str, default: float = 0.0) -> float:
        return float(self.attrs[name].value) if name in self.attrs else default

    def text(self, name: str, default: str = "") -> str:
        return str(self.attrs[name].value) if name in self.attrs else default

    def integers(self, name: str) -> tuple[int, ...] | None:
        return tuple(int(v) for v in self.attrs[name].value) if name in self.attrs else None

    def numbers(self, name: str) -> tuple[float, ...] | None:
        return tuple(float(v) for v in self.attrs[name].value) if name in self.attrs else None

    def texts(self, name: str) -> tuple[str, ...] | None:
        return tuple(str(v) for v in self.attrs[name].value) if name in self.attrs else None

    def graph(self, name: str) -> ir.Graph:
        value = self.attrs[name].value
        assert isinstance(value, ir.Graph)
        return value

    def value(self, name: str) -> Any:
        return self.attrs[name].value


Function: TypeAlias = "Callable[[Lowering, Node], Ref | Sequence[Ref | None]]"

LOWERINGS: Final[dict[tuple[str, str], Function]] = {}
"""(domain, operator) -> its lowering, filled by importing the families (export/lower/__init__.py)."""


Folded: TypeAlias = "tuple[Elements, str, frozenset[sympy.Symbol]]"
"""Elements, their dtype, and what they assume (Known.assumes)."""

FOLDS: Final[dict[str, Callable[[Lowering, Node], Folded | None]]] = {}
"""Operator -> how it folds where its operands' elements are known (export/lower/ops/moving/shape.py)."""


def lowers(*op_types: str, domain: str = "") -> Callable[[Function], Function]:
    """Enters the decorated function for these operators.

    Raises:
        ValueError: an operator has a lowering already.
    """

    def enter(function: Function) -> Function:
        for op_type in op_types:
            if (domain, op_type) in LOWERINGS:
                raise ValueError(f"{op_type}: has a lowering already")
            LOWERINGS[domain, op_type] = function
        return function

    return enter


Result: TypeAlias = "tuple[str, Shape] | None"
"""dtype and shape of an output that is wanted."""


def check_dtypes(row: Op, inputs: Sequence[str | None], results: Sequence[Result]) -> None:
    """Compares dtypes with the row's signature.

    Raises:
        RefusedError: they differ.
    """
    sig = signature(row)
    bound: dict[str, str] = {}
    outputs = [None if r is None else r[0] for r in results]
    for ports, got in ((sig.inputs, inputs), (sig.outputs, outputs)):
        for i, dtype in enumerate(got):
            port = ports[min(i, len(ports) - 1)]
            wanted = {"I64": ("i64",), "Bool": ("bool",), "F": row.dtypes}.get(port.rule)
            if dtype is None:
                continue
            if wanted is not None and dtype not in wanted:
                expected = " or ".join(wanted)
                raise RefusedError(f"{row.name}: {port.name} is {dtype}; expected {expected}")
            if port.rule in ("F", "T") and bound.setdefault(port.rule, dtype) != dtype:
                raise RefusedError(
                    f"{row.name}: {port.name} is {dtype}; expected {bound[port.rule]}"
                )

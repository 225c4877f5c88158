"""What a lowering function sees of a node."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

import onnx_ir as ir

from pteron.schema.dtypes import DTYPES

from .refs import Ref, RefusedError

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

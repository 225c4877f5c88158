"""What a walk over ONNX graphs knows: values by name, opsets, functions, and the nodes that have no lowering."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Mapping
from typing import Any

import onnx_ir as ir

from .refs import Ref


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """A node of the user's model that has no lowering."""

    op_type: str
    name: str
    source: str
    operands: str
    text: str
    cause: Exception | None = None  # of a fault of the lowering

    def line(self) -> str:
        where = f" at {self.source}" if self.source else ""
        return f"{self.op_type} {self.name!r}{where} ({self.operands}): {self.text}"


@dataclasses.dataclass(slots=True)
class Env:
    """What names mean in the graph being walked. A value that maps to None comes from a failed node.

    `allowed`: forms of nodes that the standard allows. `attrs` and `depth`: of the function body that is being expanded, and in how many others it lies.
    """

    values: collections.ChainMap[ir.Value, Ref | None] = dataclasses.field(
        default_factory=collections.ChainMap
    )
    opsets: Mapping[str, int] = dataclasses.field(default_factory=dict)
    functions: Mapping[Any, ir.Function] = dataclasses.field(default_factory=dict)
    failures: list[Failure] = dataclasses.field(default_factory=list)
    attrs: Mapping[str, ir.Attr] = dataclasses.field(default_factory=dict)
    depth: int = 0
    ways: int = 0  # Ifs of two ranks around
    allowed: set[Any] = dataclasses.field(default_factory=set)

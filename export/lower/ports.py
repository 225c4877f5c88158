"""Dtypes of an instruction's operands and results against the ports of its row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pteron.schema.row import Op
from pteron.schema.signature import signature

from ..program.views import Shape
from .refs import RefusedError

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

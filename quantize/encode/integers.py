"""Integers of 2 to 4 bits in groups, and of 8, f16 scales: int<bits>[-sym|-asym][-g<group>], groups of 32 where nothing is said.

Without a word the element of the largest magnitude has the lowest code, so the scale has the sign that it has not; -sym: it has the
largest code or that negated; -asym: the ends of a group have the first and the last code, 0 one between, the group's zero point.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pteron.schema.formats import BLOCKS, named

from .elements import I2, I2_SYMMETRIC, I3, I3_SYMMETRIC, I4, I4_SYMMETRIC, I8, Element
from .format import BlockFormat

SMALL: Final = ((I4, I4_SYMMETRIC, "int4", 21), (I3, I3_SYMMETRIC, "int4", 21), (I2, I2_SYMMETRIC, "int2", 25))  # fmt: skip


def _formats() -> Iterator[BlockFormat]:
    for whole, even, codes, opset in SMALL:
        for group in BLOCKS:
            yield _format(whole, group, "", "signed", codes, opset)
            yield _format(even, group, "-sym", "absmax", codes, opset)
            yield _format(whole, group, "-asym", "zero", codes, opset)
    for group in (32, 128):
        yield BlockFormat(
            f"int8-g{group}", named("q8_0", group), I8, group, "f16", "absmax", "int8", 21, "i8_symmetric"
        )  # fmt: skip


def _format(
    element: Element, group: int, kind: str, rule: str, codes: str, opset: int
) -> BlockFormat:
    zero = "_zero" if rule == "zero" else ""
    stored = named(f"i{element.bits}{zero}", group)
    name = f"int{element.bits}{kind}" + (f"-g{group}" if group != 32 else "")
    return BlockFormat(name, stored, element, group, "f16", rule, codes, opset, element.name + zero)


FORMATS: Final = tuple(_formats())

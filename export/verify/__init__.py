"""Whether the runtime would take a Program: the rules of program/ and session/ in C, over the dataclasses.

It runs on what is written, so that what load or prepare refuses is met at export, by the name of the node that it came
from; asked of what is between two stages, it tells which of them is to blame. It states what holds for every size
(program/verify.h) and, at a few sizes of the dimensions (points.py), what prepare proves (session/prepare.c), which must
hold at one of them: shape lines, strides, views inside their base, what may overlap. Left out are what only the bytes of a
file have (offsets, digests, padding) and what a kernel asks beyond its row. Linear in the program.
"""

from __future__ import annotations

from typing import Final

from pteron.schema.errors import InternalError

from ..program import Program
from ..sizes import NONE
from .instructions import check_blocks
from .memory import Memory
from .parts import check_parts
from .points import Points
from .refusal import Refusal

__all__ = ["STAGES", "Refusal", "check", "verify"]

STAGES: Final = ("lower", "share", "fuse", "pack", "plan")
"""Before pack, weights lie in the model's layout; before plan, values in any order and each in a place of its own."""


def check(program: Program, stage: str = "plan") -> None:
    """`stage`: the last one that `program` went through.

    Raises:
        Refusal: the runtime would refuse it, whatever the later stages do.
    """
    at = STAGES.index(stage)
    packed, planned = at >= STAGES.index("pack"), at >= STAGES.index("plan")
    check_parts(program, planned)
    points = Points(program)
    try:
        check_blocks(program, points, Memory(program, points, planned), packed)
    except Refusal:
        if not any(_fits(program, one, planned, packed) for one in points.each()):
            raise


def _fits(program: Program, point: Points, planned: bool, packed: bool) -> bool:
    """At this one point: sizes that a relation should have excluded do not make a dead program."""
    try:
        check_blocks(program, point, Memory(program, point, planned), packed)
    except Refusal:
        return False
    return True


def verify(program: Program, stage: str) -> Program:
    """`program`, which `stage` made.

    Raises:
        InternalError: the runtime would refuse it; the text names the stage, the node and the rule.
    """
    try:
        check(program, stage)
    except Refusal as error:
        raise InternalError(
            f"{stage}: {_node(program, error.node)}{error}; a model that ONNX allows does not come to this: please report it "
            "with the model as a defect of Pteron, or correct the model where onnx.checker refuses it"
        ) from error
    return program


def _node(program: Program, node: int) -> str:
    if node == NONE or node >= len(program.nodes):
        return ""
    n = program.nodes[node]
    return f"{n.op_type} {n.name!r}{f' at {n.source}' if n.source else ''}: "

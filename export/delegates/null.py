"""The null delegate: takes nodes that leave the bytes as they are. To copy from; runtime_c/delegates/null runs it."""

from __future__ import annotations

from typing import Final

import onnx_ir as ir

from .. import graph as g
from . import Delegate, Segment

TARGET: Final = "null-1"


def supports(node: ir.Node) -> str | None:
    """A chain of these copies its one input to its one output."""
    if g.is_op(node, "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"):
        return None
    return f"the null delegate computes nothing; {node.op_type} does"


def compile_segment(segment: Segment) -> bytes:
    """What the runtime needs to know of the segment: nothing."""
    return b"null" * 16


DELEGATE: Final = Delegate("null", TARGET, supports, compile_segment)

"""`Delegate` nodes, as export/delegates/partition.py makes them: an instruction, and a block that stands in for it."""

from __future__ import annotations

from collections.abc import Sequence

from .... import graph as g
from ....program import Delegate
from ...context import Lowering
from ...graphs import outputs_of
from ...node import NAMES, Node
from ...ports import Result
from ...refs import Ref
from ...table import lowers


@lowers("Delegate", domain=g.OURS)
def lower_delegate(l: Lowering, n: Node) -> Sequence[Ref | None]:
    """The fallback's params are bound to the inputs, its results to the outputs, as a call's."""
    fallback = _fallback(l, n) if n.has("fallback") else None
    blob = n.value("blob").numpy().tobytes()
    texts = (n.text("name"), n.text("target"))
    l.delegates.append(Delegate(*texts, blob, fallback, n.text("policy")))
    return l.emit("delegate", n.inputs, {"index": len(l.delegates) - 1}, _results(n))


def _fallback(l: Lowering, n: Node) -> int:
    with l.block() as scope:
        params = [l.param(x.dtype, x.shape) for x in n.inputs if x is not None]
        for ref in outputs_of(l, n.graph("fallback"), params):
            l.bound_result(ref)
    return scope.index


def _results(n: Node) -> list[Result]:
    assert n.origin is not None
    made: list[Result] = []
    for value in n.origin.outputs:
        assert value.dtype is not None and value.shape is not None
        made.append((NAMES[value.dtype], tuple(int(str(d)) for d in value.shape)))
    return made

"""Elementwise work as one `pointwise` instruction: operands broadcast by views, constants of one element as literals.

All operands are permuted by one view, so that the largest of them lies row-major; the dense result is viewed back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pteron.schema.dtypes import DTYPES

from ..program import terms, views
from ..program.terms import Term, load
from ..program.views import Shape, View
from .refs import Ref

if TYPE_CHECKING:
    from .context import Lowering


def compute(
    l: Lowering,
    build: Callable[..., list[Term]],
    operands: Sequence[Ref],
    dtypes: Sequence[str],
    shape: Shape,
) -> list[Ref]:
    """What Lowering.pointwise_many says."""
    refs = [l.unpacked(x) for x in operands]
    full = l.sizes.broadcast([*(x.shape for x in refs), shape])
    loaded: list[View] = []
    given: list[Term] = []
    for x in refs:
        lone = _literal(l, x)
        if lone is None:
            loaded.append(l.real(l.expand(l.real(x), full)))
            lone = load(len(loaded) - 1, x.dtype)
        given.append(lone)
    outputs = build(*given)
    order = _axis_order(l, loaded, len(full))
    if order == tuple(range(len(full))):
        return _run(l, outputs, loaded, dtypes, full)
    turned = {
        t: terms.index(order.index(int(t.arg))) for t in terms.walk(outputs) if t.op == "index"
    }
    ys = _run(
        l,
        terms.substitute(outputs, turned),
        [l.transpose(x, order) for x in loaded],
        dtypes,
        tuple(full[a] for a in order),
    )
    back = [order.index(a) for a in range(len(full))]
    return [l.transpose(y, back) for y in ys]


def _run(
    l: Lowering, outputs: list[Term], operands: Sequence[Ref], dtypes: Sequence[str], shape: Shape
) -> list[Ref]:
    """Drops operands nobody loads, emits, and packs outputs of packed dtypes."""
    loads = terms.loads(outputs)
    used = sorted({int(t.arg) for t in loads})
    if len(used) < len(operands):
        again = {t: terms.make("load", t.type, arg=used.index(int(t.arg))) for t in loads}
        outputs = terms.substitute(outputs, again)
    try:
        steps = terms.compile_terms(outputs)
    except terms.TooLongError as e:
        l.fail(f"the element program is too long ({e})")
    plain = [DTYPES[d].register if DTYPES[d].packed else d for d in dtypes]
    ys = l.emit(
        "pointwise", [operands[i] for i in used], {"steps": steps}, [(d, shape) for d in plain]
    )
    return [
        y if d == y.dtype else l.one("repack", [y], {}, d, shape)
        for y, d in zip(ys, dtypes, strict=True)
        if y is not None
    ]


def _literal(l: Lowering, x: Ref) -> Term | None:
    """The literal of a constant with one element."""
    if any(n != 1 for n in x.shape):
        return None
    array = l.values.array(x)
    if array is None:
        return None
    kind = terms.register(x.dtype)
    if x.dtype == "u64":
        return terms.literal(int(array.reshape(-1).view(np.int64)[0]), kind)
    return terms.literal(array.reshape(-1)[0].item(), kind)


def _axis_order(l: Lowering, operands: Sequence[View], rank: int) -> tuple[int, ...]:
    """The order of the first operand that is computed and has the full shape."""
    for x in operands:
        if not views.is_expanded(x) and l.values.all[x.base].storage != "constant":
            return views.memory_order(x)
    return tuple(range(rank))

"""Guarded inputs (export/graph/guarded.py): each run is checked to have what the program was made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx_ir as ir

from ..program import GUARD, DebugNode
from ..program.terms import Term, cast, eq, register, term
from ..program.views import View
from ..sizes.extents import symbols_of
from .context import Lowering, Origin
from .ops.moving.counted import asserted
from .refs import Known, Ref


def check_guards(
    l: Lowering,
    values: Sequence[ir.Value],
    refs: Sequence[Ref],
    held: Mapping[str, np.ndarray],
) -> None:
    """Integers that prepare sees are compared there, others at the beginning of a run; either names the input."""
    before = l.origin
    for value, ref in zip(values, refs, strict=True):
        name = value.name or ""
        if name not in held or not held[name].size:
            continue
        text = f"input {name} is guarded to what the example had"
        if isinstance(ref, Known):
            for element, want in zip(ref.elements.flat, held[name].flat, strict=True):
                (s,) = symbols_of(element)
                l.sizes.check("eq", l.values.signed.get(s, s), int(want), text)
        else:
            l.at(Origin(DebugNode(text, GUARD, "")))
            assert isinstance(ref, View)
            _compare(l, ref, held[name])
    l.at(before)


def _compare(l: Lowering, x: View, want: np.ndarray) -> None:
    """The run fails where an element is another; NaN is NaN."""
    kind = "f64" if x.dtype == "f64" else register(x.dtype)

    def differs(a: Term, b: Term) -> Term:
        same = eq(a, b)
        if kind in ("f32", "f64"):
            same = same | (term("is_nan", a) & term("is_nan", b))
        return cast(term("not", same), "i64")

    operands = [l.cast(r, kind) for r in (x, l.values.constant(want.reshape(x.shape), x.dtype))]
    each = l.pointwise(differs, operands, "i64")
    found = (
        l.one("reduce", [each], {"kind": "max", "count": each.rank}, "i64", ())
        if each.rank
        else each
    )
    asserted(l, found, lambda n: cast(n, "bool"))

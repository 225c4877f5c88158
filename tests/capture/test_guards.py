"""Guards of torch.export as checks: the same sizes hold them as hold the guard in Python."""

from __future__ import annotations

import itertools
from typing import Any

import onnx_ir as ir
import pytest
import sympy

from pteron.export.capture.guards import InexpressibleError, Reader, settle
from pteron.export.graph import bounds
from pteron.export.graph.fix import fix
from pteron.export.graph.text import onnx_text
from pteron.export.sizes import Check, extents
from pteron.schema.errors import ModelError

GUARDS = [
    "L['x'].size()[0] <= 8",
    "L['x'].size()[0] >= 3",
    "3*L['x'].size()[0] > 7",
    "7 > 3*L['x'].size()[0]",
    "L['x'].size()[0] % 2 == 0",
    "(L['x'].size()[0] % 2) != 0",
    "L['x'].size()[0] != 5",
    "L['x'].size()[0] == L['k']['a'][1].size()[1]",
    "((-1) + L['x'].size()[0]) == L['k']['a'][1].size()[1]",
    "L['x'].size()[0]*L['k']['a'][1].size()[1] > 6",
    "(2*L['x'].size()[0]) == (4*(L['x'].size()[0] // 2))",
    "(L['x'].size()[0] // (L['x'].size()[0] // 2)) == 2",
    "L['x'].size()[0] < 3 or not L['k']['a'][1].size()[1] < 5",
    "not (L['x'].size()[0] == 3 or L['k']['a'][1].size()[1] > 5)",
    "2 <= L['x'].size()[0] < 7",
    "max(3, L['x'].size()[0]) <= min(5, L['k']['a'][1].size()[1])",
    "math.ceil(L['x'].size()[0] / 4) >= 2",
    "L['x'].size()[0]**2 < 17",
    "L['flat_args'][1].size()[1] > 2",
    "L['x'].storage_offset() == 0",
]


class Tensor:
    """What a guard in Python asks of an input."""

    def __init__(self, *size: int) -> None:
        self._size = size

    def size(self) -> tuple[int, ...]:
        return self._size

    def storage_offset(self) -> int:
        return 0


def reader() -> Reader:
    sizes = {("x", 0): bounds.symbol("n"), ("k_a_1", 1): bounds.symbol("m")}
    return Reader({}, ["x", "k_a_1"], lambda name, axis: sizes[name, axis])


def holds(told: bounds.Bounds, n: int, m: int) -> bool:
    at = {bounds.symbol("n"): n, bounds.symbol("m"): m}
    inside = all(a <= {"n": n, "m": m}[name] <= b for name, (a, b) in told.sizes.items())
    try:
        pairs = [(c.kind, *(extents.evaluate(x, at) for x in (c.a, c.b))) for c in told.checks]
    except ZeroDivisionError:
        return False
    return inside and all(bounds.holds(*p) for p in pairs)


@pytest.mark.parametrize("guard", GUARDS)
def test_the_same_sizes_pass(guard: str) -> None:
    import math

    told = settle({"n": (0, bounds.MOST), "m": (0, bounds.MOST)}, reader().checks(guard, guard))
    for n, m in itertools.product(range(9), range(9)):
        x, y = Tensor(n, 2), Tensor(3, m)
        given: dict[str, Any] = {"x": x, "k": {"a": [None, y]}, "flat_args": [x, y]}
        try:
            want = bool(eval(guard, {"L": given, "math": math}))
        except ZeroDivisionError:
            want = False
        assert holds(told, n, m) == want, (n, m, told)


def test_bounds_of_one_size_are_no_checks() -> None:
    found = [c for g in GUARDS[:3] for c in reader().checks(g, g)]
    assert settle({"n": (0, bounds.MOST)}, found) == bounds.Bounds({"n": (3, 8)})


def test_what_was_said_twice_or_always_holds_goes() -> None:
    n = bounds.symbol("n")
    told = [Check("eq", n, 2 * n - n, ""), Check("le", 0, n + 3, ""), Check("divides", 1, n, "")]
    odd = reader().checks("(L['x'].size()[0] % 2) != 0", "odd")
    assert settle({"n": (0, 9)}, [*told, *odd, *odd]).checks == tuple(odd)


@pytest.mark.parametrize(
    "guard",
    [
        "0.7*torch.sym_float(L['x'].size()[0]) < 5.0",
        "L['n'] < 5",
        "L['y'].size()[0] < 5",
        "L['x'].size()[0] / 3 < 2",
        "L['x'].size()[0] % 0 == 0",
        "hasattr(L['x'], 'a')",
    ],
)
def test_what_is_no_formula_over_sizes_is_refused(guard: str) -> None:
    with pytest.raises(InexpressibleError):
        reader().checks(guard, guard)


def model() -> ir.Model:
    made = onnx_text("y = Neg(x)", x="f32[n, m]")
    n, m = bounds.symbol("n"), bounds.symbol("m")
    checks = (Check("eq", sympy.floor(n / 2), m, "half"), Check("divides", 3, n, "thirds"))
    bounds.write(made, bounds.Bounds({"n": (2, 12), "m": (0, 9)}, checks))
    return made


def test_a_graph_keeps_them_as_text() -> None:
    told = bounds.read(model())
    assert told.sizes == {"n": (2, 12), "m": (0, 9)}
    assert holds(told, 6, 3) and not holds(told, 6, 2) and not holds(told, 8, 4)
    damaged = model()
    damaged.metadata_props[bounds.KEY] = '{"sizes": 3}'
    with pytest.raises(ModelError, match="expected what the exporter writes"):
        bounds.read(damaged)


def test_fixed_sizes_are_held_against_them() -> None:
    made = model()
    fix([made], {"n": 6})
    told = bounds.read(made)
    assert told.sizes == {"m": (0, 9)}
    assert [c.text for c in told.checks] == ["half"]
    with pytest.raises(ModelError, match="expected 2 to 12"):
        fix([model()], {"n": 14})
    with pytest.raises(ModelError, match=r"thirds: got 3 and 4"):
        fix([model()], {"n": 4})

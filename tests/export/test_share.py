"""Equal constants are one."""

from __future__ import annotations

import numpy as np

from pteron.export.optimize.share import share
from pteron.export.program import Constant, Program, State, Value


def constant(name: str, *elements: float, dtype: str = "f32") -> Constant:
    kind = {"f32": np.float32, "i32": np.int32}[dtype]
    return Constant(name, dtype, (len(elements),), np.array(elements, kind))


def test_equal_constants_are_one_and_users_follow() -> None:
    constants = (constant("a", 1, 2), constant("b", 3, 4), constant("c", 1, 2), constant("d", 3, 4))
    values = tuple(Value(f"v{i}", "f32", (2,), "constant", i) for i in range(4))
    program = Program(
        "m", constants=constants, values=values, states=(State("s", "f32", (2,), initial=3),)
    )
    shared = share(program)
    assert [c.name for c in shared.constants] == ["a", "b"]
    assert [v.base for v in shared.values] == [0, 1, 0, 1]
    assert shared.states[0].initial == 1
    assert share(shared) is shared


def test_equal_bytes_of_other_types_or_shapes_stay_apart() -> None:
    zero = Constant("z", "f32", (1, 2), np.zeros((1, 2), np.float32))
    program = Program("m", constants=(constant("a", 0, 0), constant("b", 0, 0, dtype="i32"), zero))
    assert share(program) is program

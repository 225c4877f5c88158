"""Terms: unique, compiled to steps within the registers, and back."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.export.program import terms
from pteron.export.program.terms import (
    TooLongError,
    compile_terms,
    literal,
    load,
    read_terms,
    select,
    term,
)
from pteron.schema.steps import REGISTERS, evaluate


def test_equal_terms_are_one_and_zeros_keep_their_sign() -> None:
    x = load(0, "f32")
    assert x + 1.0 is x + 1.0
    assert literal(0.0, "f32") is not literal(-0.0, "f32")
    assert literal(1, "i64") is not literal(True, "bool")


def test_a_long_sum_needs_no_more_registers_than_a_short_one() -> None:
    left = right = term("exp", load(0, "f32"))
    for i in range(1, 9):
        left, right = left + load(i, "f32"), load(i, "f32") + right
    assert left.need == right.need == (load(0, "f32") + load(1, "f32")).need


def test_steps_compute_what_the_terms_say() -> None:
    x, y = load(0, "f32"), load(1, "i32")
    z = select(terms.lt(x, 0.0), -x, x) * terms.cast(y + 3, "f32")
    a, b = np.float32([1, -2, 3]), np.int32([4, 5, 6])
    (got,) = evaluate(compile_terms([z]), (a, b))
    np.testing.assert_array_equal(got, np.abs(a) * (b + 3))


def test_reading_a_program_gives_its_terms_back() -> None:
    x = load(0, "f32")
    outputs = [term("exp", x) + x, x * x]
    assert read_terms(compile_terms(outputs)) == outputs


def test_no_step_writes_a_register_that_it_reads() -> None:
    t = load(0, "f32")
    for i in range(20):
        t = term("tanh", t * float(i)) + load(i % 3, "f32")
    for s in compile_terms([t]):
        assert s.op == "store" or s.dst not in s.args


def test_a_program_that_needs_more_registers_is_refused() -> None:
    parts = [load(i, "f32") for i in range(REGISTERS + 2)]
    with pytest.raises(TooLongError):
        compile_terms([term("exp", p) for p in parts] + [p + 1.0 for p in parts])


def test_a_term_knows_whether_it_reads_an_operand() -> None:
    x, one = load(0, "f32"), literal(1.0, "f32")
    assert x.loads and (x + 1.0).loads and term("exp", one + x).loads
    assert not one.loads and not term("exp", one + one).loads

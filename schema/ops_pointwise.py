"""Work on one element at a time, and the sum of two int8 values. How to read a row: schema/row.py."""

from __future__ import annotations

from .meaning import int8 as integer
from .row import A, F, Outs, Steps, op
from .steps import evaluate


@op(id=1, since=1, shape="[*s]... -> [*s]...", strided="xs y", bound="its steps", inplace="xs")
def pointwise(*xs: A, steps: Steps, out: Outs = ()) -> tuple[A, ...]:
    """Runs one straight-line program over every element; operand j of the program is xs[j], expanded by strides."""
    return evaluate(steps, xs, out[0].shape if out else None)


@op(
    id=47,
    since=1,
    shape="[*s] [*s] -> [*s]",
    dtypes="i8",
    inplace="a",
    where=f"""
        -128 <= a_zero <= 127; 0 <= a_multiplier <= 2**31 - 1; 10 <= a_shift <= 62;
        -128 <= b_zero <= 127; 0 <= b_multiplier <= 2**31 - 1; 10 <= b_shift <= 62;
        0 <= multiplier <= 2**31 - 1; 1 <= shift <= 62; {integer.CODE}
    """,
)
def add_i8(
    a: F,
    b: F | None = None,
    *,
    a_zero: int,
    a_multiplier: int,
    a_shift: int,
    b_zero: int = 0,
    b_multiplier: int = 0,
    b_shift: int = 10,
    y_zero: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
) -> F:
    """add of schema/meaning/int8.py; without b, a's addend alone. a_shift and b_shift in 10 .. 62, so that the sum fits in int32;
    multipliers are not negative."""
    return integer.add(a, b, a_zero, a_multiplier, a_shift, b_zero, b_multiplier, b_shift, y_zero, multiplier, shift, low, high)  # fmt: skip


@op(
    id=78,
    since=1,
    shape="[*s] [*s] -> [*s]",
    dtypes="i16",
    inplace="a",
    where=f"""
        -32768 <= a_zero <= 32767; 0 <= a_multiplier <= 2**31 - 1; 17 <= a_shift <= 62;
        -32768 <= b_zero <= 32767; 0 <= b_multiplier <= 2**31 - 1; 17 <= b_shift <= 62;
        0 <= multiplier <= 2**31 - 1; 1 <= shift <= 62; {integer.WORD}
    """,
)
def add_i16(
    a: F,
    b: F | None = None,
    *,
    a_zero: int,
    a_multiplier: int,
    a_shift: int,
    b_zero: int = 0,
    b_multiplier: int = 0,
    b_shift: int = 17,
    y_zero: int,
    multiplier: int,
    shift: int,
    low: int,
    high: int,
) -> F:
    """add_i8 in i16: a_shift and b_shift in 17 .. 62, so that the sum fits in int32."""
    return integer.add(a, b, a_zero, a_multiplier, a_shift, b_zero, b_multiplier, b_shift, y_zero, multiplier, shift, low, high)  # fmt: skip

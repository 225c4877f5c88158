"""Arithmetic on sizes."""

from __future__ import annotations

import pytest
import sympy

from pteron.export.sizes import extents as e

N, M = e.symbol("n"), e.symbol("m")


def test_what_is_the_same_is_proved() -> None:
    assert e.same(e.mul(e.add(N, 1), 2), 2 * N + 2)
    assert e.same(e.floordiv(e.floordiv(N, 2), 2), e.floordiv(N, 4))
    assert e.same(e.ceildiv(e.ceildiv(N, 2), 3), e.ceildiv(N, 6))
    assert not e.same(e.mul(e.floordiv(N, 2), 2), N)
    assert not e.same(N, M)


def test_order_is_proved_or_unknown() -> None:
    assert e.at_most(1, N) and e.at_most(N, N + M)
    assert not e.at_most(N, 64) and not e.at_most(64, N)
    assert e.minimum(N, 2**62) == N
    assert e.maximum(1, N) == N


def test_of_two_sizes_the_one_of_fewer_operations_is_simpler() -> None:
    long, short = N * N + 2 * N * M + M * M, (N + M) ** 2
    assert e.simpler(long, short) == e.simpler(short, long) == short
    assert e.simpler(N, 3) == e.simpler(3, N) == 3


def test_division_is_whole_where_it_can_be_shown() -> None:
    assert e.exact_div(12 * N * M, 4 * N) == 3 * M
    assert e.exact_div(N * M + 2 * M, M) == N + 2
    assert e.exact_div(N, 2) is None


def test_a_multiple_divides_whole() -> None:
    assert e.floordiv(N - e.mod(N, 3), 3) == e.floordiv(N, 3)
    assert e.floordiv(-N - e.mod(-N, 3), 3) == e.floordiv(-N, 3)
    assert e.floordiv(N + M - e.mod(N, 3), 3) != e.floordiv(N + M, 3)


def test_numbers_stay_numbers() -> None:
    assert isinstance(e.sub(N + 3, N), int)
    assert e.row_major((2, N, 3)) == (3 * N, 3, 1)
    assert e.evaluate(e.ceildiv(N * M, 7), {N: 5, M: 3}) == 3


def test_what_is_missing_up_to_a_multiple_makes_the_multiple() -> None:
    whole = e.mul(e.ceildiv(N, 256), 256)
    assert e.add(N, e.mod(-N, 256)) == whole
    assert e.floordiv(e.add(N, e.mod(-N, 256)), 256) == e.ceildiv(N, 256)
    assert e.mod(e.add(N, e.mod(-N, 256)), 256) == 0
    assert e.add(N, e.mod(256 - e.mod(N, 256), 256)) == whole
    assert e.minimum(N, whole) == N and e.maximum(N, whole) == whole
    assert e.at_most(0, e.mod(-N, 256)) and e.at_most(M * e.floordiv(N, 3) * 3, M * N)
    assert not e.at_most(whole, N) and not e.at_most(e.mul(e.floordiv(N, 2), 2), N - 1)


@pytest.mark.parametrize("b", [1, 2, 3, 7, 256])
def test_remainders_and_quotients_are_those_of_numbers(b: int) -> None:
    sums = [N, -N, N - M, -N - 3 * M, 255 * N, 5 - N, -N - 9, b * N + 2, 3 * N - b * M, -b * N]
    for a in sums:
        for n in range(1, 2 * b + 3, max(1, b // 9)):
            sizes = {N: n, M: 2 * n + 1}
            x = e.evaluate(a, sizes)
            assert e.evaluate(e.mod(a, b), sizes) == x % b, (a, b, sizes)
            assert e.evaluate(e.floordiv(a, b), sizes) == x // b, (a, b, sizes)
            assert e.evaluate(e.ceildiv(a, b), sizes) == -(-x // b), (a, b, sizes)


def test_a_size_that_others_are_divided_by_is_not_tried_at_0() -> None:
    """What the guards of a module that asks for n % min(n, 256) come to."""
    n, by = (sympy.Symbol(k, integer=True, nonnegative=True) for k in "ns")
    rest = sympy.Mod(n, by)
    assert e.same(sympy.Max(by, 1) * rest, by * rest)


def test_min_and_max_have_one_form() -> None:
    padded = e.add(N, e.maximum(0, e.sub(256, N)))
    assert e.same(padded, e.maximum(256, N)) and e.same(e.sub(padded, e.maximum(N, 256)), 0)
    assert e.same(e.minimum(N, M), e.sub(e.add(N, M), e.maximum(N, M)))
    assert not e.same(e.minimum(N, M), e.maximum(N, M))
    assert e.floordiv(e.sub(padded, e.maximum(256, N)), 256) == 0


def test_windows_of_a_padded_length_end() -> None:
    """sympy.simplify goes through all orders of the arguments of Min and Max."""
    padded = e.add(N, e.maximum(0, e.sub(256, N)))
    frames = e.add(e.floordiv(e.add(e.maximum(256, N), 255), 256), 4)
    ends = [
        e.maximum(0, e.sub(e.minimum(e.add(e.maximum(1, e.floordiv(padded, 256)), i), frames), i))
        for i in range(5)
    ]
    assert all(e.evaluate(n, {N: 700}) == 2 and not e.same(n, ends[0]) for n in ends[1:] or ends)

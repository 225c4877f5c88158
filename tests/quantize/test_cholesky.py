"""Factors and systems in blocks, beside NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.quantize.rounding import cholesky


@pytest.mark.parametrize("k", [1, 7, cholesky.BLOCK, cholesky.BLOCK + 1, 3 * cholesky.BLOCK + 5])
@pytest.mark.parametrize("n", [1, cholesky.BAND + 3])
def test_a_factor_and_what_it_solves(k: int, n: int) -> None:
    rng = np.random.default_rng(k)
    x = rng.standard_normal((2 * k, k))
    h = x.T @ x / k + np.eye(k)
    low = cholesky.factor(h)
    np.testing.assert_allclose(low, np.linalg.cholesky(h), rtol=0, atol=1e-12)
    b = rng.standard_normal((k, n))
    np.testing.assert_allclose(cholesky.solve(low, b), np.linalg.solve(h, b), rtol=0, atol=1e-11)


def test_threads_change_no_bit() -> None:
    rng = np.random.default_rng(0)
    k, n = 2 * cholesky.BAND + 9, cholesky.BAND + 1
    x = rng.standard_normal((k, k))
    h, b = x @ x.T + k * np.eye(k), rng.standard_normal((k, n))
    one, two = (cholesky.factor(h, threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(cholesky.solve(one, b), cholesky.solve(one, b, 2))


def test_only_the_lower_half_is_read_and_nothing_is_written() -> None:
    h = np.array([[2.0, np.nan], [1.0, 3.0]])
    np.testing.assert_allclose(cholesky.factor(h), np.linalg.cholesky([[2.0, 1.0], [1.0, 3.0]]))
    b = np.ones((2, 1))
    cholesky.solve(cholesky.factor(h), b)
    assert (b == 1).all()


def test_what_is_not_positive_definite_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        cholesky.factor(np.diag([1.0, -1.0]))

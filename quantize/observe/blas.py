"""NumPy's BLAS, whose sums are in another order by two threads than by one."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

P = ParamSpec("P")
R = TypeVar("R")


def one_order(function: Callable[P, R]) -> Callable[P, R]:
    """Holds BLAS to one thread while the function runs, so that the same bytes come of any number of processors."""

    @functools.wraps(function)
    def held(*args: P.args, **kwargs: P.kwargs) -> R:
        with threadpool_limits(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return held

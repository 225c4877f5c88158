"""Cases of weights in the storage formats: ragged sizes, groups, blocks that end with the row."""

from __future__ import annotations

import math

import numpy as np
from ops.cases_matrix import conv, normal, relu
from ops.harness import Case
from ops.stored import FP8, NAMES, every, stored

from pteron.schema.steps import Step

SIZES = ((1, 1), (5, 7), (16, 32), (17, 33), (33, 70), (48, 129), (70, 300), (20, 0))


def matmul(
    name: str, m: int, n: int, k: int, bias: bool = False, steps: tuple[Step, ...] = ()
) -> Case:
    inputs = (normal(m, k), stored(name, n, k), normal(n) if bias else None)
    attrs = {"steps": steps} if steps else {}
    return Case(
        "matmul", inputs, attrs, terms=k + 1, sums=not steps, scale=k, name=f"{name} {m} {n} {k}"
    )


def stored_conv(name: str, c: int, n: int, groups: int = 1) -> Case:
    """A conv case with its weight in another format."""
    case = conv((6, 5), c, n, 3, groups, begin=1, end=1, bias=False)
    depth = math.prod(case.attrs["kernel"]) * c // groups
    inputs = [case.inputs[0], stored(name, n, depth, groups), None]
    return Case(
        "conv", inputs, case.attrs, case.out, depth + 1, True, depth, name=f"{name} {c} {n}"
    )


def picks(n: int) -> np.ndarray:
    return np.arange(-n, n, 3, dtype=np.int64)


CASES = [
    *(matmul(name, 1 + i % 7, n, k, i % 2 == 0) for name in NAMES for i, (n, k) in enumerate(SIZES)),
    *(matmul(name, m, 40, 70) for name in NAMES for m in (1, 2, 7, 201)),
    *(matmul(name, 3, 40, 70, True, relu()) for name in NAMES),
    *(matmul(name, 1, 600, 530) for name in NAMES),
    *(matmul(name, m, n, k) for name in FP8 for m in range(1, 10) for n, k in ((40, 64), (149, 300))),
    *(matmul(name, m, 70, 132, True, relu()) for name in FP8 for m in (1, 3, 8)),
    *(
        stored_conv(name, c, n, groups)
        for name in NAMES
        for c, n, groups in ((3, 5, 1), (20, 33, 1), (12, 24, 3), (300, 20, 1))
    ),
    *(
        Case("gather_rows", [stored(name, n, k), picks(n)], name=f"{name} {n} {k}")
        for name in NAMES
        for n, k in ((37, 13), (16, 32), (3, 1), (20, 200))
    ),
    *(Case("gather_rows", [every(name), picks(16)], name=f"{name} every code") for name in NAMES),
]  # fmt: skip

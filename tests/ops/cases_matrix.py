"""Cases of matmul, batch_matmul, pack and convolutions: ragged sizes, empty sums, epilogues, hostile attributes."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from ops.harness import Array, Case, Status, taps, weight

from pteron.schema.meaning import windows
from pteron.schema.meaning.windows import WINOGRAD_IN, WINOGRAD_OUT
from pteron.schema.row import Out
from pteron.schema.steps import Step

RNG = np.random.default_rng(5)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def relu() -> tuple[Step, ...]:
    return (
        Step("load", "f32", 0, source="f32", arg=0),
        Step("literal", "f32", 1, arg=0.0),
        Step("max", "f32", 0, (0, 1)),
        Step("store", "f32", args=(0,)),
    )


def limited(op: str, limit: float) -> tuple[Step, ...]:
    """max or min of y and a limit."""
    return (
        Step("load", "f32", 0, source="f32", arg=0),
        Step("literal", "f32", 1, arg=limit),
        Step(op, "f32", 0, (0, 1)),
        Step("store", "f32", args=(0,)),
    )


def signed_zeros(case: Case) -> Case:
    """Products that vanish, so that sums are zeros of either sign, and biases that keep the sign."""
    x, _, bias = (value for value in case.inputs[:3])
    assert isinstance(x, np.ndarray) and isinstance(bias, np.ndarray)
    x *= np.float32(1e-45)
    bias[:] = -0.0
    return case


def scaled_sum() -> tuple[Step, ...]:
    """y * xs[0] + xs[1]."""
    return (
        Step("load", "f32", 0, source="f32", arg=0),
        Step("load", "f32", 1, source="f32", arg=1),
        Step("load", "f32", 2, source="f32", arg=2),
        Step("mul", "f32", 0, (0, 1)),
        Step("add", "f32", 0, (0, 2)),
        Step("store", "f32", args=(0,)),
    )


def clipped_sum() -> tuple[Step, ...]:
    """min(max(y + xs[0], -0.5), 6)."""
    return (
        Step("load", "f32", 0, source="f32", arg=0),
        Step("load", "f32", 1, source="f32", arg=1),
        Step("add", "f32", 0, (0, 1)),
        Step("literal", "f32", 2, arg=-0.5),
        Step("max", "f32", 0, (0, 2)),
        Step("literal", "f32", 3, arg=6.0),
        Step("min", "f32", 0, (0, 3)),
        Step("store", "f32", args=(0,)),
    )


def matmul(m: tuple[int, ...], n: int, k: int, bias: bool = False, **rest: Any) -> Case:
    x, w, b = normal(*m, k), weight(normal(n, k)), normal(n) if bias else None
    xs = rest.pop("xs", ())
    return Case("matmul", (x, w, b, *xs), rest, terms=k + 1, sums="steps" not in rest, scale=k)


def batch(a: tuple[int, ...], b: tuple[int, ...]) -> Case:
    return Case("batch_matmul", (normal(*a), normal(*b)), terms=a[-1], sums=True)


def extents(size: tuple[int, ...], attrs: dict[str, Any]) -> tuple[int, ...]:
    out = []
    for i, n in enumerate(size):
        whole = (n - 1) * attrs.get("spread", (1,) * len(size))[i] + 1 if n else 0
        room = (
            whole
            + attrs["begin"][i]
            + attrs["end"][i]
            - (attrs["kernel"][i] - 1) * attrs["dilation"][i]
            - 1
        )
        out.append(max(room // attrs["stride"][i] + 1, 0))
    return tuple(out)


def window(axes: int, kernel: int | tuple[int, ...], **rest: Any) -> dict[str, Any]:
    def full(value: int | tuple[int, ...]) -> tuple[int, ...]:
        return value if isinstance(value, tuple) else (value,) * axes

    names = {"stride": 1, "dilation": 1, "begin": 0, "end": 0, "spread": 1}
    return {
        "kernel": full(kernel),
        **{name: full(rest.get(name, value)) for name, value in names.items()},
    }


def conv(size: tuple[int, ...], c: int, n: int, kernel: int | tuple[int, ...], groups: int = 1, batch: int = 1,
         bias: bool = True, steps: Any = (), xs: Any = (), **rest: Any) -> Case:  # fmt: skip
    attrs = window(len(size), kernel, **rest)
    out = extents(size, attrs)
    depth = math.prod(attrs["kernel"]) * (c // groups)
    inputs = [
        normal(batch, *size, c),
        weight(normal(n, depth), groups),
        normal(n) if bias else None,
    ]
    inputs += [np.broadcast_to(x, (batch, *out, n)) for x in xs]
    attrs = {**attrs, "groups": groups, **({"steps": steps} if steps else {})}
    return Case(
        "conv",
        inputs,
        attrs,
        [Out((batch, *out, n), "f32")],
        depth + 1,
        sums=not steps,
        scale=depth,
    )


def depthwise(size: tuple[int, ...], c: int, kernel: int | tuple[int, ...], batch: int = 1, steps: Any = (),
              xs: Any = (), **rest: Any) -> Case:  # fmt: skip
    attrs = window(len(size), kernel, **rest)
    out = extents(size, attrs)
    del attrs["spread"]
    depth = math.prod(attrs["kernel"])
    inputs = [normal(batch, *size, c), taps(normal(c, depth)), normal(c)]
    inputs += [np.broadcast_to(x, (batch, *out, c)) for x in xs]
    attrs = {**attrs, **({"steps": steps} if steps else {})}
    return Case(
        "conv_depthwise",
        inputs,
        attrs,
        [Out((batch, *out, c), "f32")],
        depth + 1,
        sums=not steps,
        scale=depth,
    )


def winograd(size: tuple[int, int], c: int, n: int, batch: int = 1, begin: int = 1, end: tuple[int, int] = (1, 1),
             bias: bool = True, steps: Any = (), xs: Any = ()) -> Case:  # fmt: skip
    out = tuple(max(i + begin + e - 2, 0) for i, e in zip(size, end, strict=True))
    x, u = normal(batch, *size, c), normal(36 * n, c)
    inputs = [x, weight(u, 36), normal(n) if bias else None]
    inputs += [np.broadcast_to(x, (batch, *out, n)) for x in xs]
    sums = windows.winograd(
        np.abs(x), np.abs(u), begin, out, np.abs(WINOGRAD_IN), np.abs(WINOGRAD_OUT)
    )
    attrs = {"begin": begin, **({"steps": steps} if steps else {})}
    most = max((float(np.abs(v).max(initial=1)) for v in xs), default=1.0)
    return Case(
        "conv_winograd",
        inputs,
        attrs,
        [Out((batch, *out, n), "f32")],
        c + 16,
        scale=(sums + 4) * most,
    )


def block(size: tuple[int, int], c: int, m: int, n: int, kernel: int = 3, stride: int = 1, begin: int = 1, batch: int = 1,
          out: tuple[int, int] | None = None, expand: bool = True, biases: bool = True, first: str = "relu6",
          second: str = "relu", steps: Any = (), xs: Any = ()) -> Case:  # fmt: skip
    high, wide = out or tuple((i + 2 * begin - kernel) // stride + 1 for i in size)
    x, up, down, filters = normal(batch, *size, c), normal(m, c), normal(n, m), normal(m, kernel**2)
    added = [normal(k) if biases else None for k in (m if expand else 0, m, n)]
    added[0] = added[0] if expand else None
    inputs = [x, weight(up) if expand else None, weight(down), taps(filters), *added]
    inputs += [np.broadcast_to(x, (batch, high, wide, n)) for x in xs]
    sums = np.abs(x).astype(np.float64)
    if expand:
        sums = sums @ np.abs(up).T + np.abs(0 if added[0] is None else added[0])
    sums = windows.filtered(sums, np.abs(filters), kernel, stride, begin, (high, wide))
    sums = (sums + np.abs(0 if added[1] is None else added[1])) @ np.abs(down).T + 4
    sums *= max((float(np.abs(v).max(initial=1)) for v in xs), default=1.0)
    attrs = {"kernel": kernel, "stride": stride, "begin": begin, "first": first, "second": second}
    return Case(
        "conv_block",
        inputs,
        {**attrs, **({"steps": steps} if steps else {})},
        [Out((batch, high, wide, n), "f32")],
        c * expand + kernel**2 + m + 3,
        scale=sums,
    )


def refused(case: Case, status: Status, **attrs: Any) -> Case:
    return Case(case.op, case.inputs, {**case.attrs, **attrs}, case.out, status=status)


PLAIN = conv((7, 7), 4, 6, 3)
HUGE = 1 << 62

CASES = [
    *(matmul((m,), n, 5 + 7 * m, bias=m % 2 == 0) for m in range(1, 9) for n in (1, 15, 16, 33, 70)),
    *(matmul((m,), (33, 80, 48)[m % 3], 19, m % 2 == 0) for m in range(9, 32)),
    matmul((2, 3), 40, 17, True),
    matmul((), 40, 17, True),
    matmul((201,), 50, 300),
    matmul((30,), 530, 40, True),
    matmul((565,), 37, 6),
    matmul((31,), 64, 1100, True),
    matmul((13,), 85, 2100, True, steps=relu()),
    matmul((6,), 40, 4099),
    matmul((26,), 96, 20, True, steps=relu()),
    matmul((1,), 600, 520, True),
    matmul((3,), 20, 0, True),
    matmul((3,), 20, 0),
    matmul((0,), 20, 4),
    matmul((3,), 0, 4),
    matmul((9,), 37, 20, True, steps=relu()),
    matmul((250,), 37, 20, steps=relu()),
    matmul((2, 5), 37, 20, True, steps=scaled_sum(), xs=(np.broadcast_to(normal(37), (2, 5, 37)), normal(2, 5, 37))),
    matmul((5,), 600, 20, True, steps=scaled_sum(), xs=(np.broadcast_to(normal(5, 1), (5, 600)), normal(5, 600))),
    batch((3, 4, 5), (3, 5, 6)),
    batch((2, 3, 20, 33), (2, 3, 33, 40)),
    batch((1, 200, 70), (1, 70, 300)),
    batch((5, 1, 64), (5, 64, 100)),
    batch((7, 9), (9, 11)),
    batch((2, 3, 0), (2, 0, 4)),
    batch((0, 3, 4), (0, 4, 5)),
    *(Case("pack", (normal(n, k),)) for n, k in ((1, 1), (16, 5), (17, 3), (40, 33), (5, 0))),
    conv((9,), 5, 7, 3, begin=1, end=2),
    conv((9, 8), 5, 7, 3, stride=2, begin=1, end=1),
    conv((5, 6, 7), 4, 20, 3, stride=(1, 2, 1), begin=1, end=(0, 1, 2)),
    conv((12, 11), 20, 33, (3, 2), dilation=(2, 3), begin=2, batch=2),
    conv((9, 9), 12, 24, 3, groups=3, begin=1, end=1),
    conv((9, 9), 8, 8, 3, groups=8, bias=False),
    conv((6, 6), 4, 5, 4, begin=2, end=2, spread=2),
    conv((4, 4, 4), 3, 5, 3, begin=2, end=2, spread=(1, 2, 3), groups=1),
    conv((5,), 20, 5, 5, begin=-1, end=3, spread=3),
    conv((30, 30), 3, 40, 7, stride=2, begin=3, end=3),
    conv((6, 6), 300, 20, 3, begin=1, end=1),
    conv((14, 15), 32, 48, 1),
    conv((14, 15), 32, 48, 1, groups=4, batch=2),
    conv((14, 15), 32, 48, 1, stride=2),
    conv((3, 3), 4, 5, 5),
    conv((0, 3), 4, 5, 1),
    conv((3, 3), 0, 5, 1),
    conv((3, 3), 4, 5, 3, begin=9, end=9),
    conv((9, 9), 12, 24, 3, groups=3, begin=1, end=1, steps=relu()),
    conv((20, 20), 12, 24, 3, begin=1, end=1, steps=scaled_sum(), xs=(normal(24), normal(1, 20, 20, 24))),
    *(conv((3, w), (3, 20)[i % 2], (20, 48, 33)[i % 3], 3, stride=1 + i % 2, begin=1, end=1, batch=2, bias=i % 4 > 0)
      for i, w in enumerate((4, 7, 8, 9, 10, 13, 15, 16, 29, 31))),
    conv((2, 3, 30), 5, 20, (2, 3, 5), begin=(1, 1, 3), end=(0, 2, 2), dilation=(1, 2, 1)),
    conv((4, 230), 8, 40, (3, 5), begin=(0, 2), end=2, steps=scaled_sum(), xs=(normal(40), normal(1, 4, 230, 40))),
    # lines that windows of the next line read, too: other images, strides, dilations, rows of a block from amid a line
    *(conv((5, 9), 20, 40, 3, stride=(s, 1), dilation=(d, 1), begin=1, end=1, batch=4) for s, d in ((1, 1), (2, 1), (1, 2), (3, 1))),
    conv((6, 5, 9), 6, 20, (2, 3, 3), begin=1, end=1),
    conv((40, 23), 20, 40, 3, begin=1, end=1),
    # rows that share a set of L1, and blocks of columns of rows that a thread has laid out
    conv((3, 20), 1024, 36, 1),
    conv((7, 16), 512, 40, 3, stride=2, begin=1, end=1),
    conv((14, 14), 64, 400, 3, begin=1, end=1),
    conv((15, 15), 8, 520, 3, begin=1, end=1),
    conv((9, 20), 16, 32, 1, stride=(2, 3), begin=-1, groups=2),
    conv((5, 9), 4, 20, (3, 1), stride=(1, 2), begin=(1, 0)),
    *(winograd((7 + i, 6), (16, 48)[i % 2], (32, 16)[i % 2], batch=1 + i % 2, bias=i % 3 > 0) for i in range(5)),
    winograd((14, 30), 32, 48, begin=2, end=(3, 0)),
    winograd((60, 61), 16, 272, steps=relu()),
    winograd((28, 9), 80, 32, steps=scaled_sum(), xs=(normal(32), normal(1, 28, 9, 32))),
    winograd((6, 6), 16, 544, steps=scaled_sum(), xs=(normal(544), normal(1, 6, 6, 544))),
    winograd((9, 8), 16, 16, steps=clipped_sum(), xs=(normal(2, 9, 8, 16),), batch=2),
    winograd((3, 3), 1200, 16, begin=0, end=(0, 0)),
    winograd((3, 5), 0, 16),
    winograd((9, 20), 0, 48, bias=False),
    winograd((14, 18), 1104, 48, begin=0, end=(0, 0), bias=False),
    winograd((30, 29), 144, 176, batch=2),
    winograd((9, 40), 16, 80, steps=relu()),
    winograd((0, 1), 16, 16, begin=2, end=(9, 1)),
    winograd((2, 4), 16, 16, begin=0, end=(0, 0)),
    *(block((5 + i, 30 - i), 3 + i, (16, 40, 29)[i % 3], (24, 8, 33)[i % 3], stride=1 + i % 2) for i in range(9)),
    *(block((9, 10 + i), 8, 20, 16, (5, 1, 2, 7)[i % 4], 1 + i // 2, i % 3, biases=i % 2 > 0) for i in range(8)),
    *(block((8, 9 + i), 20, 20, 9, stride=1 + i % 2, expand=False, second="relu6", batch=2) for i in range(6)),
    block((30, 60), 5, 33, 24, steps=relu(), batch=2, first="none"),
    block((3, 200), 4, 16, 8, batch=3, first="relu", second="none"),
    block((14, 14), 24, 96, 24, steps=clipped_sum(), xs=(normal(1, 14, 14, 24),)),
    block((14, 15), 24, 96, 24, stride=2, steps=scaled_sum(), xs=(normal(24), normal(1, 7, 8, 24)), batch=2),
    block((20, 7), 16, 64, 40, begin=0, out=(40, 9)),
    block((6, 4), 16, 1030, 17, begin=9, stride=5, out=(7, 6), batch=2),
    *(block((6, 7), *sizes, expand=sizes[0] > 0) for sizes in ((0, 0, 5), (4, 0, 5), (4, 8, 0), (4, 5, 1))),
    block((0, 7), 4, 8, 5, out=(3, 4)),
    block((5, 0), 4, 8, 5, out=(3, 4)),
    block((5, 6), 4, 8, 5, out=(0, 4)),
    block((5, 6), 4, 8, 5, batch=0),
    depthwise((9,), 5, 3, begin=1, end=1),
    depthwise((9, 10), 40, 3, stride=2, begin=1, end=1, batch=2),
    depthwise((9, 10), 33, (5, 3), dilation=(1, 2), begin=2, end=1),
    depthwise((5, 6, 7), 16, 3, begin=1, end=1),
    depthwise((3, 3), 4, 5),
    depthwise((9, 10), 40, 3, begin=-1, steps=relu()),
    depthwise((9, 10), 40, 3, begin=1, end=1, steps=scaled_sum(), xs=(normal(40), normal(1, 9, 10, 40))),
    *(depthwise((2, 1 + i), (16, 29, 136)[i % 3], 3, begin=1, end=1, batch=2) for i in range(20)),
    *(depthwise((7, 30 + i), (40, 150)[i % 2], 3, stride=2, begin=i % 3, end=1) for i in range(4)),
    *(depthwise((3, 5 + i), (16, 40)[i % 2], 3, stride=2, begin=i % 2, end=i // 2 % 2, steps=relu()) for i in range(26)),
    *(depthwise((3, 4 + i), 24, 3, begin=i % 2, end=i // 2 % 3) for i in range(12)),
    *(
        signed_zeros(make(steps=limited(op, limit)))
        for make in (partial(conv, (8, 9), 3, 32, 1), partial(depthwise, (8, 9), 16, 3, begin=1, end=1))
        for op, limit in (("max", 0.0), ("max", -0.0), ("min", 0.0), ("min", -0.0), ("max", -1.0))
    ),
    depthwise((1100,), 70, 9, begin=4, end=4),
    depthwise((40, 300), 20, 3, begin=1, end=1, steps=relu()),
    depthwise((9, 31), 48, (3, 5), dilation=(2, 3), stride=(1, 3), begin=(2, 7), end=(1, 3)),
    depthwise((66, 66), 18, 65),
    *(
        refused(PLAIN, Status.BAD_PROGRAM, **{name: value})
        for name in ("kernel", "stride", "dilation", "spread")
        for value in ((0, 3), (-HUGE, 3), (HUGE, 3), (2, 3), (3,), (3, 3, 3))
    ),
    *(refused(PLAIN, Status.BAD_PROGRAM, **{name: (value, 0)}) for name in ("begin", "end") for value in (1, HUGE, -HUGE)),
    *(refused(winograd((6, 6), 16, 16), Status.BAD_PROGRAM, begin=p) for p in (-HUGE, -1, 3, HUGE)),
    *(
        refused(block((6, 7), 4, 8, 5), Status.BAD_PROGRAM, **{name: value})
        for name in ("kernel", "stride", "begin")
        for value in (-HUGE, -1, 256, HUGE)
    ),
    *(refused(block((6, 7), 4, 8, 5), Status.BAD_PROGRAM, **{name: 0}) for name in ("kernel", "stride")),
    refused(block((6, 7), 4, 8, 5), Status.BAD_PROGRAM, kernel=2),
    *(refused(PLAIN, Status.BAD_PROGRAM, groups=groups) for groups in (-HUGE, -1, 0, 2, 3, HUGE)),
]  # fmt: skip

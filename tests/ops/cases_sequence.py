"""Cases of attention and of the recurrences."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from ops.harness import Array, Case, Status, weight

from pteron.schema.dtypes import DTYPES
from pteron.schema.meaning.narrow import row_codes, turn
from pteron.schema.meaning.sequence import ACTIVATIONS
from pteron.schema.row import Out

RNG = np.random.default_rng(13)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def panels(case: Case, known: int) -> Case:
    """The keys in panels of 16; those from `known` on, which no query sees, are anything."""
    q, k, *rest = case.inputs
    k = np.array(k)
    k[:, :, known:] = np.nan
    b, g, t, d = k.shape
    laid = np.ascontiguousarray(k.reshape(b, g, t // 16, 16, d).swapaxes(3, 4))
    return dataclasses.replace(case, inputs=[q, laid, *rest])


def attention(
    b: int,
    h: int,
    g: int,
    s: int,
    t: int,
    d: int,
    e: int,
    mask: Array | None = None,
    count: list[int] | None = None,
    **how: Any,
) -> Case:
    keys = None if count is None else np.array(count)
    if mask is not None:
        mask = np.broadcast_to(mask, (b, h, s, t))
    inputs = [normal(b, h, s, d), normal(b, g, t, d), normal(b, g, t, e), mask, keys]
    return Case("attention", inputs, {"scale": max(1, d) ** -0.5, **how}, terms=d + t, scale=4.0)


def halves(case: Case, *inputs: int) -> Case:
    """These inputs in f16."""
    given = [x.astype(np.float16) if i in inputs else x for i, x in enumerate(case.inputs)]
    return dataclasses.replace(case, inputs=given)


def eighths(case: Case, *inputs: int) -> Case:
    """These inputs in E4M3."""
    kind = DTYPES["f8e4m3"].numpy
    given = [x.astype(kind) if i in inputs else x for i, x in enumerate(case.inputs)]
    return dataclasses.replace(case, inputs=given)


def coded(case: Case, turned: bool = False) -> Case:
    """Keys and values as codes of 8 bits with a scale a token; what lies behind the count is anything."""
    q, k, v, mask, count = case.inputs
    made = [
        row_codes(turn(x) / np.float32(8) if turned and i == 0 else x) for i, x in enumerate((k, v))
    ]
    codes, scales = [c for c, _ in made], [s[..., None].copy() for _, s in made]
    for i, known in enumerate([] if count is None else count):
        for x in scales:
            x[i, :, known:] = np.nan
    attrs = {**case.attrs, "turned": turned}
    if turned:
        attrs["scale"] /= 8
    return dataclasses.replace(case, inputs=[q, *codes, mask, count, *scales], attrs=attrs)


def in_panels(case: Case) -> Case:
    """Codes of keys in panels of 16."""
    q, k, *rest = case.inputs
    b, g, t, d = k.shape
    laid = np.ascontiguousarray(k.reshape(b, g, t // 16, 16, d).swapaxes(3, 4))
    return dataclasses.replace(case, inputs=[q, laid, *rest])


def biased(case: Case, slope: bool = True, sink: bool = True) -> Case:
    """With slopes, sinks or both by head."""
    bias = np.zeros((2, case.inputs[0].shape[1]), np.float32)
    bias[0] = np.float32(0.5) ** np.arange(bias.shape[1]) if slope else 0
    bias[1] = np.linspace(-2, 9, bias.shape[1]) if sink else -np.inf
    inputs = [*case.inputs, *[None] * (7 - len(case.inputs)), bias]
    return dataclasses.replace(case, inputs=inputs)


def ringed(case: Case, most: int = 2**20) -> Case:
    """Keys at their place modulo the rows; what no query sees is anything."""
    rows, window, count = case.inputs[2].shape[2], case.attrs["left_window"], case.inputs[4]
    for b, keys in enumerate(count):
        held = {j % rows for j in range(max(0, keys - case.inputs[0].shape[2] - window), keys)}
        for x in (*case.inputs[1:3], *case.inputs[5:7]):
            if x is not None and x.dtype.kind == "f" and x.ndim == 4:
                x[b, :, [j for j in range(rows) if j not in held]] = np.nan
    return dataclasses.replace(case, attrs={**case.attrs, "ring": most})


def code_rows(*shape: int, turn: bool = False) -> Case:
    return rows_of(normal(*shape), turn)


def rows_of(x: Array, turn: bool) -> Case:
    out = [Out(x.shape, "i8"), Out((*x.shape[:-1], 1), "f32")]
    return Case("codes", [x], {"turned": turn}, out=out)


def unusual_rows() -> Array:
    """Rows with an infinity, a NaN, zeros, subnormal and huge numbers, ties."""
    x = np.zeros((7, 64), np.float32)
    x[0, 3], x[1, 5], x[3], x[4, ::2] = np.inf, np.nan, 1e-40, 3e38
    x[5] = np.arange(64) - 0.5
    x[5, 0], x[6, 9] = 127, -0.0
    return x


def every_code(nans: bool) -> Case:
    """Values are all codes of E4M3, each weighed alone by a mask; a NaN, times 0 elsewhere, takes its column."""
    look = np.eye(64, dtype=np.bool_)
    made = attention(1, 1, 1, 64, 64, 4, 4, look)
    codes = np.arange(256, dtype=np.uint8)
    if not nans:
        codes[[127, 255]] = 0
    made.inputs[2] = codes.view(DTYPES["f8e4m3"].numpy).reshape(1, 1, 64, 4)
    return dataclasses.replace(made, scale=448.0)


def looks(*shape: int) -> Array:
    return RNG.random(shape) < 0.7


def hidden_values() -> Case:
    """What lies behind key_count is never looked at."""
    made = attention(1, 2, 1, 3, 70, 8, 8, count=[66], causal="bottom_right")
    for x in made.inputs[1:3]:
        x[:, :, 66:] = np.nan
    return made


def not_finite() -> Case:
    """A NaN and infinities in some queries and keys: other rows stay as they are."""
    made = attention(1, 2, 1, 7, 70, 16, 16)
    q, k = made.inputs[0], made.inputs[1]
    q[0, 0, 3, 2], q[0, 1, 5, :2], k[0, 0, 66, 9] = np.nan, np.inf, -np.inf
    return made


def hidden_tile() -> Case:
    """Every other row sees nothing of the first tile, another only a NaN there, which makes all of its row one."""
    mask = np.zeros((50, 150), np.float32)
    mask[::2, :64] = mask[7, :150] = -np.inf
    made = attention(1, 2, 2, 50, 150, 16, 32, mask)
    assert made.inputs[3] is not None
    made.inputs[3] = np.array(made.inputs[3])
    made.inputs[3][:, :, 7, 3] = np.nan
    return made


def recurrent(op: str, t: int, b: int, h: int, *, first: bool = True, **how: Any) -> Case:
    """gates, weight and, where `first`, biases, peepholes and states."""
    gates = {"lstm": 4, "gru": 3, "rnn": 1}[op]
    count = how.pop("count", None)
    state = normal(b, h) if first else None
    middle = {
        "lstm": [state, normal(b, h) if first else None, normal(3 * h) if first else None],
        "gru": [normal(3 * h) if first else None, state],
        "rnn": [state],
    }[op]
    w = weight(normal(gates * h, h) * np.float32(0.5 / max(1, h) ** 0.5))
    inputs = [
        normal(t, b, gates * h),
        w,
        *middle,
        None if count is None else np.array(count),
    ]
    default = {"lstm": (0, 1, 1), "gru": (0, 1), "rnn": (1,)}[op]
    kinds = how.setdefault("activations", default)
    how.setdefault(
        "parameters", tuple(x for kind in kinds for x in USUAL.get(ACTIVATIONS[kind], (0, 0)))
    )
    return Case(op, inputs, how, terms=max(1, t * h))


USUAL = {
    "affine": (1.0, 0.0), "leaky_relu": (0.01, 0.0), "thresholded_relu": (1.0, 0.0), "scaled_tanh": (1.0, 1.0),
    "hard_sigmoid": (0.2, 0.5), "elu": (1.0, 0.0),
}  # fmt: skip


OPS = ("lstm", "gru", "rnn")
FLAGS = {"lstm": "input_forget", "gru": "linear_before_reset"}
CASES = [
    *(
        attention(2, 4, 2, s, t, d, e, causal=causal)
        for causal in ("none", "top_left", "bottom_right")
        for s, t, d, e in (
            (1, 1, 1, 1),
            (5, 3, 8, 8),
            (1, 130, 33, 50),
            (70, 70, 16, 16),
            (130, 65, 8, 48),
        )
    ),
    halves(attention(2, 4, 2, 5, 70, 16, 24), 1, 2),
    *(
        panels(attention(2, 4, 2, s, t, d, 8, count=[t, t // 3], causal="bottom_right"), t - 5)
        for s, t, d in ((1, 16, 8), (3, 80, 5), (7, 64, 1), (210, 240, 16), (2, 160, 40))
    ),
    panels(
        halves(attention(1, 4, 1, 3, 208, 64, 64, count=[170], causal="bottom_right"), 1, 2), 170
    ),
    panels(halves(attention(1, 4, 2, 3, 96, 5, 7), 1), 96),
    panels(
        eighths(attention(1, 4, 1, 3, 208, 64, 64, count=[170], causal="bottom_right"), 1, 2), 170
    ),
    panels(eighths(attention(1, 4, 2, 3, 96, 5, 7), 1), 96),
    eighths(attention(2, 4, 2, 5, 70, 16, 24), 1, 2),
    eighths(attention(1, 2, 2, 7, 65, 5, 3, causal="top_left", left_window=9), 1),
    eighths(halves(attention(1, 2, 1, 2, 64, 9, 20), 2), 1),
    *(
        coded(attention(2, 4, 2, s, t, d, e, causal=causal), turned=d % 64 == 0)
        for causal in ("none", "bottom_right")
        for s, t, d, e in ((1, 1, 64, 1), (5, 70, 16, 24), (3, 130, 128, 50), (70, 70, 64, 64))
    ),
    in_panels(
        coded(attention(2, 4, 1, 3, 208, 64, 64, count=[170, 4], causal="bottom_right"), True)
    ),
    *(
        how(attention(1, h, 1, s, 208, d, e, count=[201], causal="bottom_right"))
        for how in (
            lambda case: in_panels(coded(case)),
            lambda case: panels(halves(case, 1, 2), 201),
        )
        for h, s, d, e in ((1, 1, 64, 64), (2, 1, 64, 128), (7, 1, 32, 64), (3, 5, 64, 192))
    ),
    in_panels(coded(attention(1, 4, 2, 9, 96, 5, 7, causal="top_left", left_window=5))),
    in_panels(coded(attention(1, 3, 1, 2, 2240, 16, 16, count=[2210], causal="bottom_right"))),
    coded(attention(2, 2, 1, 9, 70, 8, 8, looks(2, 2, 9, 70), softcap=2.0)),
    *(
        code_rows(*shape, turn=turn)
        for shape in ((2, 3, 5, 64), (1, 2, 0, 64), (192,))
        for turn in (False, True)
    ),
    *(
        biased(attention(2, 4, 2, s, t, 16, 24, count=c, causal=causal, softcap=cap), slope, sink)
        for s, t, c, causal, cap in (
            (1, 70, [65, 3], "bottom_right", 0.0),
            (70, 130, [130, 77], "bottom_right", 2.0),
            (5, 5, None, "top_left", 0.0),
            (9, 70, [0, 70], "none", 0.0),
        )
        for slope, sink in ((True, False), (False, True), (True, True))
    ),
    biased(attention(1, 4, 1, 2, 2240, 16, 16, count=[2210], causal="bottom_right")),
    biased(attention(2, 2, 2, 9, 70, 8, 8, looks(2, 2, 9, 70), left_window=5, causal="top_left")),
    in_panels(biased(coded(attention(1, 4, 2, 9, 96, 5, 7, causal="top_left")))),
    code_rows(3, 4, 5),
    *(
        ringed(attention(2, 4, 2, s, 128, 16, 24, count=c, causal="bottom_right", left_window=w))
        for s, w, c in (
            (1, 0, [1, 127]),
            (1, 63, [128, 129]),
            (5, 100, [5, 1000]),
            (70, 58, [192, 193]),
            (128, 0, [128, 3000]),
            (7, 2**40, [500, 2**20]),
        )
    ),
    ringed(
        halves(
            attention(1, 2, 1, 3, 64, 64, 64, count=[700], causal="bottom_right", left_window=40),
            1,
            2,
        )
    ),
    panels(
        ringed(
            attention(1, 4, 2, 9, 192, 8, 8, count=[1234], causal="bottom_right", left_window=70),
            1234,
        ),
        192,
    ),
    ringed(
        in_panels(
            coded(
                attention(
                    1, 4, 1, 3, 128, 64, 64, count=[201], causal="bottom_right", left_window=77
                ),
                True,
            )
        )
    ),
    ringed(
        biased(
            attention(1, 4, 2, 4, 128, 16, 16, count=[333], causal="bottom_right", left_window=50)
        )
    ),
    ringed(attention(1, 2, 1, 2, 64, 8, 8, count=[9], left_window=3, right_window=0)),
    dataclasses.replace(
        ringed(
            attention(1, 2, 1, 1, 64, 8, 8, count=[101], causal="bottom_right", left_window=3), 100
        ),
        status=Status.BAD_DATA,
        position=0,
    ),
    code_rows(3, 0),
    *(rows_of(unusual_rows(), turn) for turn in (False, True)),
    every_code(nans=False),
    every_code(nans=True),
    panels(attention(1, 4, 2, 9, 80, 8, 8, softcap=2.0), 80),
    panels(attention(2, 2, 1, 9, 80, 8, 8, looks(2, 2, 9, 80)), 80),
    panels(attention(1, 2, 1, 9, 96, 8, 8, causal="top_left", left_window=5), 9),
    panels(attention(1, 2, 1, 3, 0, 8, 8), 0),
    panels(attention(1, 2, 1, 3, 32, 0, 8), 32),
    halves(attention(1, 4, 1, 3, 200, 64, 64, count=[170], causal="bottom_right"), 1, 2),
    halves(attention(1, 2, 2, 7, 65, 5, 3, causal="top_left", left_window=9), 1),
    halves(attention(1, 2, 1, 2, 64, 9, 20), 2),
    attention(1, 3, 3, 100, 64, 64, 64),
    *(  # few items, so that threads share keys; the first counts end in the first of two waves
        attention(2, 8, 1, s, 2200, 16, 24, count=[count, 2177], causal="bottom_right")
        for s, count in ((1, 2048), (7, 130), (1, 0))
    ),
    attention(1, 4, 1, 3, 300, 8, 8, looks(4, 3, 300)),
    panels(
        eighths(attention(1, 3, 1, 2, 2240, 16, 16, count=[2210], causal="bottom_right"), 1, 2),
        2210,
    ),
    *(attention(1, 2, 1, s, t, 16, 32) for s, t in ((3, 64 + 20), (29, 40), (210, 64 + 5))),
    attention(1, 2, 2, 13, 130, 32, 32, np.float32(np.where(np.arange(130) < 90, 0, -1e4))),
    attention(1, 2, 2, 13, 130, 8, 24, np.float32(np.arange(130) * -1.5)),
    not_finite(),
    hidden_tile(),
    attention(2, 3, 3, 50, 150, 16, 16, causal="bottom_right", left_window=20),
    attention(1, 2, 2, 35, 100, 16, 48, scale=-0.3),
    attention(1, 2, 1, 31, 80, 32, 32, np.float32(np.where(np.arange(80) < 70, 0, -1e4))),
    attention(1, 1, 1, 0, 3, 4, 4),
    attention(1, 1, 1, 3, 0, 4, 4),
    attention(2, 0, 0, 3, 3, 4, 4),
    attention(1, 2, 1, 3, 3, 0, 4),
    attention(1, 2, 1, 3, 3, 4, 0),
    attention(2, 2, 1, 9, 70, 8, 8, looks(2, 2, 9, 70)),
    attention(2, 2, 1, 9, 70, 8, 8, looks(9, 70), causal="top_left"),
    attention(2, 2, 1, 9, 70, 8, 8, normal(2, 1, 1, 70)),
    attention(2, 2, 1, 9, 70, 8, 8, np.float32(np.where(looks(9, 70), 0, -np.inf))),
    attention(1, 1, 1, 2, 70, 8, 8, np.zeros((2, 70), bool)),
    *(
        attention(
            2, 2, 1, 9, 70, 8, 8, count=[3, 70], causal=c, left_window=left, right_window=right
        )
        for c in ("none", "top_left", "bottom_right")
        for left, right in ((-1, -1), (0, -1), (40, 3), (2, 0))
    ),
    attention(2, 2, 2, 9, 70, 8, 8, left_window=5, right_window=66),
    attention(1, 4, 2, 9, 70, 8, 8, softcap=2.0),
    attention(1, 4, 2, 9, 70, 8, 8, looks(9, 70), softcap=50.0, causal="top_left"),
    hidden_values(),
    Case(
        "attention",
        [*attention(2, 2, 1, 2, 5, 4, 4).inputs[:4], np.array([5, 6])],
        {"scale": 1.0},
        status=Status.BAD_DATA,
        position=1,
    ),
    Case(
        "attention",
        attention(1, 3, 2, 2, 5, 4, 4).inputs,
        {"scale": 1.0},
        status=Status.BAD_PROGRAM,
    ),
    *(
        recurrent(op, t, b, h, first=first)
        for op in OPS
        for t, b, h in ((1, 1, 1), (5, 1, 16), (4, 3, 20), (3, 7, 8), (2, 13, 3), (0, 2, 4))
        for first in (True, False)
    ),
    *(recurrent(op, 5, 3, 20, reverse=r, count=[2, 5, 0]) for op in OPS for r in (True, False)),
    *(recurrent(op, 4, 2, 20, clip=0.5, first=f) for op in OPS for f in (True, False)),
    *(recurrent(op, 4, 2, 11, **{flag: True}) for op, flag in FLAGS.items()),
    *(recurrent("rnn", 3, 2, 17, activations=(i,), first=False) for i in range(len(ACTIVATIONS))),
    recurrent("lstm", 3, 2, 17, activations=(7, 9, 2)),
    recurrent("gru", 3, 2, 17, activations=(7, 9)),
    *(
        recurrent("rnn", 3, 2, 17, activations=(i,), parameters=(0.7, -0.3), first=False)
        for i in range(len(ACTIVATIONS))
    ),
    recurrent("lstm", 3, 2, 17, activations=(7, 6, 4), parameters=(0.3, 0.4, 1.5, 0.6, 0.2, 0.0)),
    recurrent("gru", 3, 2, 17, activations=(7, 8), parameters=(0.3, 0.4, 0.5, 0.0)),
    *(
        Case(c.op, [*c.inputs[:-1], np.array([1, 6])], c.attrs, status=Status.BAD_DATA, position=1)
        for c in (recurrent(op, 5, 2, 4) for op in OPS)
    ),
]

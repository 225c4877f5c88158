"""Products with weights: matrices and convolutions. How to read a row: schema/row.py."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .formats import FORMATS
from .meaning import int8 as integer
from .meaning import narrow, windows
from .row import A, F, Ints, Outs, Steps, Taps, W, op
from .steps import epilogue

WINDOW = """
    1 <= len(i) <= 3; len(o) == len(i);
    len(kernel) == len(i); 1 <= kernel <= 2**31 - 1; len(stride) == len(i); 1 <= stride <= 2**31 - 1;
    len(dilation) == len(i); 1 <= dilation <= 2**31 - 1; len(begin) == len(i); -(2**31 - 1) <= begin <= 2**31 - 1;
    len(end) == len(i); -(2**31 - 1) <= end <= 2**31 - 1; i <= 2**31 - 1; o <= 2**31 - 1; product(kernel) <= 2**20
"""
"""The windows of a convolution; products of two such numbers and sums of a few fit in 64 bits. Taps are counted: a kernel
looks at the deadline between windows."""

ROOM = "max(0, (i - 1) * {spread} + 1) + begin + end - (kernel - 1) * dilation - 1"
"""What the last window may still move: x spread and padded, less a window."""

SPREAD = f"""
    len(spread) == 0 or len(spread) == len(i); 1 <= spread <= 2**31 - 1;
    o == max(0, ({ROOM.format(spread="(spread or 1)")}) // stride + 1)
"""

GROUPED = """
    groups >= 1; groups(w) == groups; n % groups == 0; c % groups == 0;
    k == product(kernel) * (c // groups)
"""

MANY_TAPS = 128 * 64
DEPTHWISE = """
    groups >= 1; n % groups == 0; c % groups == 0; k == product(kernel) * (c // groups);
    groups(w) == max(1, groups * min(1, n // groups * (c // groups) + k // 128 // 64 - 1))
"""
"""As GROUPED, but where a channel is a group of its own, of fewer than `MANY_TAPS` taps, weights lie in panels of one group."""

MATRIX = "dtype(w) == f32; groups(w) == 1"
DOT = ", ".join(dict.fromkeys(f.row for f in FORMATS.values() if f.dot))


@op(
    id=30,
    since=1,
    shape="[*m, k] [n, k] [n] [*m, n]... -> [*m, n]",
    strided="xs y",
    bound="2 K eps",
    where=MATRIX,
)
def matmul(x: F, w: W, bias: F | None = None, *xs: A, steps: Steps = ()) -> F:
    """y = x w^T + bias, each output a sequential fused sum over k from +0; then `steps`, whose operand 0 is y and
    operand 1 + j is xs[j]."""
    return epilogue(x @ w.T, bias, xs, steps)


@op(id=31, since=1, shape="[*b, m, k] [*b, k, n] -> [*b, m, n]", strided="a b", bound="2 K eps")
def batch_matmul(a: F, b: F) -> F:
    """y = a b for two computed operands; the same sums as matmul."""
    return a @ b


@op(
    id=32,
    since=1,
    shape="[n, k] -> [n, k]",
    strided="w",
    where="dtype(y) == f32; format(y) == plain; groups(y) == 1",
)
def pack(w: F) -> W:
    """A weight computed at run time, brought into panels."""
    return w


@op(
    id=33,
    since=1,
    shape="[b, *i, c] [n, k] [n] [b, *o, n]... -> [b, *o, n]",
    strided="xs y",
    bound="2 K eps",
    where=f"{WINDOW}; {SPREAD}; dtype(w) == f32; {GROUPED}",
)
def conv(
    x: F,
    w: W,
    bias: F | None = None,
    *xs: A,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    end: Ints,
    spread: Ints,
    groups: int = 1,
    steps: Steps = (),
) -> F:
    """Cross-correlation over 1 to 3 spatial axes; w is [n, (*kernel, c / groups)], k = taps x c / groups. x is first
    spread by inserting spread - 1 zeros between elements (a transposed convolution is a conv with spread > 1), then
    padded by begin and end zeros. Zeros take part in the sum. The panels of each group are padded to 16 rows apart:
    row j of group g is packed row g * round_up(n / groups, 16) + j. Epilogue as in matmul."""
    y = windows.conv(x, w, kernel, stride, dilation, begin, end, spread, groups)
    return epilogue(y, bias, xs, steps)


@op(
    id=76,
    since=1,
    shape="[b, i, j, c] [m, c] [n] [b, p, q, n]... -> [b, p, q, n]",
    strided="xs",
    bound="2 K eps",
    where="""
        0 <= begin <= 2; c % 16 == 0; n % 16 == 0; m == 36 * n;
        dtype(w) == f32; format(w) == plain; groups(w) == 36
    """,
)
def conv_winograd(
    x: F,
    w: W,
    bias: F | None = None,
    *xs: A,
    begin: int,
    steps: Steps = (),
    out: Outs,
) -> F:
    """conv of 3 x 3 windows and stride 1 by F(4 x 4, 3 x 3), x behind `begin` zeros and before as many as y asks for: y = A^T ((B^T x B) * U) A for each 6 x 6 pixels of
    x, whose 36 products are sums over c by groups of w, [36, n, c]: U = G w G^T. K is c + 16, of A^T, B^T, x and U without
    their signs; rms errors are some 3 times those of conv. Lavin and Gray 2015."""
    return epilogue(windows.winograd(x, w, begin, out[0].shape[1:3]), bias, xs, steps)


@op(
    id=34,
    since=1,
    shape="[b, *i, c] [c, t] [c] [b, *o, c]... -> [b, *o, c]",
    strided="xs y",
    bound="2 K eps",
    where=f"""
        {WINDOW}; o == max(0, ({ROOM.format(spread="1")}) // stride + 1);
        dtype(w) == f32; format(w) == plain; t == product(kernel); t <= 2**16
    """,
)
def conv_depthwise(
    x: F,
    w: Taps,
    bias: F | None = None,
    *xs: A,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    end: Ints,
    steps: Steps = (),
) -> F:
    """conv with groups = c and one output a group: the sum runs over the taps, row-major."""
    y = windows.conv(x, w, kernel, stride, dilation, begin, end, (1,) * len(kernel), x.shape[-1])
    return epilogue(y, bias, xs, steps)


@op(
    id=79,
    since=1,
    shape="[b, i, j, c] [m, c] [n, m] [m, t] [m] [m] [n] [b, p, q, n]... -> [b, p, q, n]",
    strided="xs",
    bound="2 K eps",
    where="""
        given(expand) or m == c; dtype(w) == f32; groups(w) == 1; format(w) == plain;
        dtype(taps) == f32; format(taps) == plain; dtype(expand) == f32; groups(expand) == 1; format(expand) == plain;
        1 <= kernel <= 255; t == kernel * kernel; 1 <= stride <= 255; 0 <= begin <= 255
    """,
)
def conv_block(
    x: F,
    expand: W | None,
    w: W,
    taps: Taps,
    expand_bias: F | None = None,
    taps_bias: F | None = None,
    bias: F | None = None,
    *xs: A,
    kernel: int,
    stride: int,
    begin: int,
    first: Literal["none", "relu", "relu6"] = "none",
    second: Literal["none", "relu", "relu6"] = "none",
    steps: Steps = (),
    out: Outs,
) -> F:
    """Three convolutions one behind the other, of which some lines are in memory at a time, with the bits of each: conv of one pixel by
    `expand`, where it is there, and `first`; conv_depthwise of kernel x kernel pixels, x behind `begin` zeros and before as many as y
    asks for, and `second`; conv of one pixel by w, epilogue as there. K is that of all, of sums without signs."""
    if expand is not None:
        x = windows.limited(epilogue(x @ expand.T, expand_bias, (), ()), first)
    x = windows.filtered(x, taps, kernel, stride, begin, out[0].shape[1:3])
    x = windows.limited(epilogue(x, taps_bias, (), ()), second)
    return epilogue(x @ w.T, bias, xs, steps)


@op(id=39, since=1, shape="[*b, m, k] [*b, k, n] -> [*b, m, n]", dtypes="i64", strided="a b")
def matmul_integer(a: F, b: F) -> F:
    """y = a b in i64 with wrap-around; narrower integers are widened and wrapped by the pointwise casts around it."""
    return a @ b


@op(
    id=45,
    since=1,
    shape="[*m, k] [n, k] [n] [*m, n]... -> [*m, n]",
    strided="xs",
    bound="2 K eps",
    where=f"{MATRIX}; format(w) in ({DOT}); block(w) % 32 == 0; k <= 2**18",
)
def matmul_int8(x: F, w: W, bias: F | None = None, *xs: A, steps: Steps = ()) -> F:
    """y = q(x) w^T + bias for w in i8_channel, i4, nf4, mxfp4, mxfp6; steps as in matmul; q: narrow.eight_codes, blocks of 32.
    w = t * factor * w_scale: t is code, code - 8, 2 value (factor 1/2), 8 value (1/8); of nf4 round(63 level) (f32(1/63)).
    Block by block acc = fma(f32(exact sum of x_code * t), (x_scale * factor) * w_scale, acc) from +0."""
    return epilogue(narrow.eights(x) @ w.T, bias, xs, steps)


@op(
    id=74,
    since=1,
    shape="[*m, k] [n, j] [n] [*m, n]... -> [*m, n]",
    strided="xs",
    bound="2 K eps",
    where=f"{MATRIX}; format(w) == i8; block(w) == 0; j == (k + 63) // 64 * 64; k <= 2**17",
)
def matmul_turned(x: F, w: W, bias: F | None = None, *xs: A, steps: Steps = ()) -> F:
    """y = q(turn(x)) w^T + bias for w in i8_channel whose rows were turned, too, and divided by 64; steps as in matmul. turn
    and q: narrow.turned_codes, one scale a row. Each f32(exact sum of x_code * w_code) * (x_scale * w_scale)."""
    return epilogue(narrow.turned(x) @ w.T, bias, xs, steps)


@op(
    id=46,
    since=1,
    shape="[b, *i, c] [n, k] [n] [n] [n] -> [b, *o, n]",
    dtypes="i8",
    where=f"""
        {WINDOW}; {SPREAD}; dtype(w) == i8; format(w) == plain; {DEPTHWISE}; k <= 2**22;
        dtype(bias) == i32; dtype(multiplier) == i32; dtype(shift) == i8; -128 <= x_zero <= 127; {integer.CODE}
    """,
)
def conv_i8(
    x: F,
    w: W,
    bias: A,
    multiplier: A,
    shift: A,
    *,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    end: Ints,
    spread: Ints,
    groups: int,
    x_zero: int,
    y_zero: int,
    low: int,
    high: int,
) -> F:
    """conv in integers: v = bias + the sum of x w, wrapping in int32, padding and what spreads x being x_zero; y =
    rescale(v) (schema/meaning/int8.py) by channel. w i8, bias and multiplier i32, shift i8 in 1 .. 62, else BAD_DATA. The sum of
    x - x_zero is that of x with x_zero times the row's sum of w taken from the bias."""
    pixels, rows = x.astype(np.float64) - x_zero, w.astype(np.float64)
    v = windows.conv(pixels, rows, kernel, stride, dilation, begin, end, spread, groups)
    v = (v + (rows.sum(1) * x_zero + bias)).astype(np.int64).astype(np.int32)
    return integer.rescale(v, multiplier, shift, y_zero, low, high)


@op(
    id=77,
    since=1,
    shape="[b, *i, c] [n, k] [n] [n] [n] -> [b, *o, n]",
    dtypes="i16",
    where=f"""
        {WINDOW}; o == max(0, ({ROOM.format(spread="1")}) // stride + 1); dtype(w) == i8; format(w) == plain; {DEPTHWISE}; k <= 2**22;
        dtype(bias) == i32; dtype(multiplier) == i32; dtype(shift) == i8; -32768 <= x_zero <= 32767; {integer.WORD}
    """,
)
def conv_i16(
    x: F,
    w: W,
    bias: A,
    multiplier: A,
    shift: A,
    *,
    kernel: Ints,
    stride: Ints,
    dilation: Ints,
    begin: Ints,
    end: Ints,
    wide: int = 0,
    groups: int,
    x_zero: int,
    y_zero: int,
    low: int,
    high: int,
) -> F:
    """conv_i8 with x and y in i16, w in i8, without spread. The sum wraps in int32; where `wide` is not 0, it is exact and saturates to int32."""
    pixels, rows = x.astype(np.float64) - x_zero, w.astype(np.float64)
    v = windows.conv(pixels, rows, kernel, stride, dilation, begin, end, (1,) * len(kernel), groups)
    v = (v + (rows.sum(1) * x_zero + bias)).astype(np.int64)
    v = np.clip(v, -(2**31), 2**31 - 1) if wide else v.astype(np.int32)
    return integer.rescale(v, multiplier, shift, y_zero, low, high, np.int16)

"""Operators of networks: products, windows, images, normalization, recurrence, attention, integers; as families.py says."""

from __future__ import annotations

from typing import Any

import numpy as np
from graphs.draft import Draft, UnfitError
from graphs.families import FLOATS, Use, use

# --- products -----------------------------------------------------------------------------------------------------------


@use("MatMul")
def matmul(d: Draft, op: str) -> Use:
    a = d.tensor(list(d.allowed(op)), 1, 4)
    shape = d.of(a)
    n = d.extent()
    outer = tuple(m if d.chance(0.7) else 1 for m in shape[:-2])
    other: tuple[int, ...] = (*outer, shape[-1], n) if d.chance(0.6) else (shape[-1], n)
    if d.chance(0.15):
        other = (shape[-1],)
    return [a, d.like(a, other)], {}, 1


@use("Gemm")
def gemm(d: Draft, op: str) -> Use:
    a = d.tensor(d.allowed(op), 2, 2)
    m, k = d.of(a)
    attrs: dict[str, Any] = {}
    if d.chance(0.4):
        attrs["transA"], m, k = 1, k, m
    n = d.extent()
    shape = (k, n)
    if d.chance(0.4):
        attrs["transB"], shape = 1, (n, k)
    attrs |= {name: d.pick((0.5, 1.0, 2.0, 0.0)) for name in ("alpha", "beta") if d.chance(0.3)}
    c = d.pick(((), (n,), (m, n), (m, 1), (1, n), None))
    if c is None and d.opset < 11:
        c = (n,)
    return [a, d.like(a, shape), "" if c is None else d.like(a, c)], attrs, 1


@use("Einsum")
def einsum(d: Draft, op: str) -> Use:
    words = d.pick(
        (("ij,jk->ik", 2, 2), ("bij,bjk->bik", 3, 3), ("ij->ji", 2), ("ii->i", 2), ("ij->", 2), ("bhqd,bhkd->bhqk", 4, 4),
         ("i,j->ij", 1, 1), ("...ij,...jk->...ik", 3, 3), ("ij,ij->i", 2, 2), ("abc,cd,bd->a", 3, 2, 2))
    )  # fmt: skip
    sizes = {c: d.extent() for c in "abcdhijkq"} | {".": 2}
    parts = words[0].split("->")[0].replace("...", ".").split(",")
    first = d.tensor(("float", "double", "float16"), shape=[sizes[c] for c in parts[0]])
    rest = [d.like(first, [sizes[c] for c in part]) for part in parts[1:]]
    return [first, *rest], {"equation": words[0]}, 1


@use("MatMulInteger")
def matmul_integer(d: Draft, op: str) -> Use:
    a = d.tensor(("int8", "uint8"), 2, 3)
    b = d.fresh(d.pick(("int8", "uint8")), (d.of(a)[-1], d.extent()), 0.7)
    zeros = [d.like(a, ()) if d.chance(0.5) else "", d.like(b, ()) if d.chance(0.5) else ""]
    return [a, b, *zeros], {}, 1


# --- windows ------------------------------------------------------------------------------------------------------------


def window(
    d: Draft, space: tuple[int, ...], kernel: tuple[int, ...], dilations: bool = True
) -> dict[str, Any]:
    """Attributes of a window that fits, mostly."""
    attrs: dict[str, Any] = {}
    rank = len(space)
    dilation = [d.pick((1, 1, 1, 2)) for _ in range(rank)] if dilations else [1] * rank
    if d.chance(0.4):
        attrs["strides"] = [d.pick((1, 2, 3)) for _ in range(rank)]
    if any(n != 1 for n in dilation):
        attrs["dilations"] = dilation
    way = d.pick(("none", "none", "pads", "pads", "SAME_UPPER", "SAME_LOWER", "VALID"))
    if way == "pads":
        attrs["pads"] = [d.rng.randint(0, max(k - 1, 0)) for k in kernel] * 2
    elif way != "none":
        attrs["auto_pad"] = way
    return attrs


def images(d: Draft, op: str, index: int = 0, channels: int = 0) -> str:
    """[n, c, ...] of one to three spatial axes."""
    rank = d.pick((1, 2, 2, 2, 3))
    space = tuple(d.pick((1, 3, 4, 5, 7)) if rank < 3 else d.pick((2, 3, 4)) for _ in range(rank))
    dtypes = [t for t in d.allowed(op, index) if t in FLOATS]
    there = [
        n
        for n, a in d.arrays.items()
        if d.dtype_of(n) in dtypes and 3 <= a.ndim <= 5 and 0 not in a.shape
    ]
    if there and d.chance(0.6) and not channels:
        return str(d.pick(there))
    return d.fresh(
        d.dtype(dtypes), (d.pick((1, 2)), channels or d.pick((1, 2, 3, 4)), *space), 0.05
    )


@use("Conv", "ConvTranspose")
def conv(d: Draft, op: str) -> Use:
    x = images(d, op)
    _n, c, *space = d.of(x)
    group = d.pick([g for g in (1, 1, 2, c) if g and c % g == 0])
    m = group * d.pick((1, 2, 3))
    kernel = tuple(d.rng.randint(1, min(3, s)) if s else 1 for s in space)
    shape = (m, c // group, *kernel) if op == "Conv" else (c, m // group, *kernel)
    attrs = window(d, tuple(space), kernel) | ({"group": group} if group > 1 else {})
    if d.chance(0.5):
        attrs["kernel_shape"] = list(kernel)
    if op == "ConvTranspose" and d.chance(0.3) and "auto_pad" not in attrs:
        strides = attrs.get("strides", [1] * len(space))
        attrs["output_padding"] = [d.rng.randint(0, s - 1) for s in strides]
    return [x, d.like(x, shape, 0.8), d.like(x, (m,), 0.8) if d.chance(0.5) else ""], attrs, 1


@use("ConvInteger")
def conv_integer(d: Draft, op: str) -> Use:
    x = d.fresh("uint8", (1, 2, 5, 4), 0.0)
    w = d.fresh(d.pick(("uint8", "int8")), (3, 2, 2, 2), 0.9)
    zeros = [d.like(x, ()) if d.chance(0.5) else "", d.like(w, ()) if d.chance(0.4) else ""]
    return [x, w, *zeros], window(d, (5, 4), (2, 2)), 1


@use("MaxPool", "AveragePool", "LpPool")
def pool(d: Draft, op: str) -> Use:
    x = images(d, op)
    space = d.of(x)[2:]
    kernel = tuple(d.rng.randint(1, min(3, s)) if s else 1 for s in space)
    dilations = d.has(op, "dilations")
    attrs = window(d, space, kernel, dilations) | {"kernel_shape": list(kernel)}
    if d.has(op, "ceil_mode") and d.chance(0.3):
        attrs["ceil_mode"] = 1
    if d.has(op, "count_include_pad") and d.chance(0.4):
        attrs["count_include_pad"] = 1
    if op == "LpPool" and d.chance(0.5):
        attrs["p"] = d.pick((1, 2, 3))
    return [x], attrs, 2 if op == "MaxPool" and d.opset >= 8 and d.chance(0.3) else 1


@use("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(d: Draft, op: str) -> Use:
    return [images(d, op)], {"p": 1} if op == "GlobalLpPool" and d.chance(0.4) else {}, 1


@use("LRN")
def lrn(d: Draft, op: str) -> Use:
    return (
        [images(d, op)],
        {"size": d.pick((1, 2, 3, 5)), "alpha": 0.1, "beta": d.pick((0.5, 0.75))},
        1,
    )


@use("Resize")
def resize(d: Draft, op: str) -> Use:
    x = images(d, op)
    rank = len(d.of(x))
    mode = d.pick(("nearest", "linear", "cubic")) if rank == 4 else d.pick(("nearest", "linear"))
    attrs: dict[str, Any] = {"mode": mode}
    scales = [1.0, 1.0, *(d.pick((0.5, 1.0, 1.5, 2.0, 0.6, 3.0)) for _ in range(rank - 2))]
    if d.opset < 11:
        attrs["mode"] = "nearest" if mode == "cubic" else mode
        return [x, d.given(np.array(scales, np.float32), 0.95)], attrs, 1
    modes = (
        "half_pixel",
        "asymmetric",
        "align_corners",
        "pytorch_half_pixel",
        *(("half_pixel_symmetric",) if d.opset >= 19 else ()),
    )
    attrs["coordinate_transformation_mode"] = d.pick(modes)
    if mode == "nearest" and d.chance(0.6):
        attrs["nearest_mode"] = d.pick(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic" and d.chance(0.4):
        attrs["cubic_coeff_a"] = -0.5
    if mode != "nearest" and d.opset >= 18 and d.chance(0.25):
        attrs["antialias"] = 1
    if mode != "nearest" and d.chance(0.2):
        attrs["exclude_outside"] = 1
    roi = "" if d.opset >= 13 else d.given(np.zeros(0, np.float32), 1.0)
    if d.chance(0.5):
        return [x, roi, d.given(np.array(scales, np.float32), 0.95)], attrs, 1
    sizes = [*d.of(x)[:2], *(d.pick((1, 2, 3, 5, 8)) for _ in range(rank - 2))]
    empty = "" if d.opset >= 13 else d.given(np.zeros(0, np.float32), 1.0)
    return [x, roi, empty, d.ints(sizes)], attrs, 1


@use("Upsample")
def upsample(d: Draft, op: str) -> Use:
    x = images(d, op)
    scales = [1.0, 1.0, *(d.pick((1.0, 2.0, 3.0)) for _ in d.of(x)[2:])]
    if d.has(op, "scales"):
        return [x], {"scales": scales, "mode": "nearest"}, 1
    return [x, d.given(np.array(scales, np.float32), 0.95)], {"mode": "nearest"}, 1


@use("GridSample")
def grid_sample(d: Draft, op: str) -> Use:
    x = d.tensor(("float",), shape=(d.pick((1, 2)), 2, 4, 3), constant=0.1)
    n = d.of(x)[0]
    modes = ("linear", "nearest", "cubic") if d.opset >= 20 else ("bilinear", "nearest", "bicubic")
    attrs: dict[str, Any] = {
        "mode": d.pick(modes),
        "padding_mode": d.pick(("zeros", "border", "reflection")),
    }
    return (
        [x, d.tensor(("float",), shape=(n, 2, 3, 2))],
        attrs | {"align_corners": d.pick((0, 1))},
        1,
    )


@use("RoiAlign")
def roi_align(d: Draft, op: str) -> Use:
    x = d.fresh("float", (1, 2, 6, 6), 0.1)
    rois = d.given(np.array([[0, 0, 3, 3], [1.5, 1, 5, 4]], np.float32), 0.5)
    batch = d.given(np.zeros(2, np.int64), 0.5)
    attrs: dict[str, Any] = {"output_height": 2, "output_width": 3, "sampling_ratio": 2}
    return [x, rois, batch], attrs | {"mode": d.pick(("avg", "max"))}, 1


# --- normalization --------------------------------------------------------------------------------------------------


@use("BatchNormalization")
def batch_norm(d: Draft, op: str) -> Use:
    x = images(d, op)
    c = d.of(x)[1]
    dtype = d.dtype_of(x)
    parts = [d.fresh(dtype, (c,), 0.8) for _ in range(3)]
    var = d.given(np.abs(d.values(dtype, (c,))) + np.array(0.5, d.arrays[x].dtype), 0.8)
    return [x, *parts, var], {"epsilon": 1e-3} if d.chance(0.4) else {}, 1


@use("InstanceNormalization")
def instance_norm(d: Draft, op: str) -> Use:
    x = images(d, op)
    c = d.of(x)[1]
    return [x, d.like(x, (c,)), d.like(x, (c,))], {"epsilon": 1e-3} if d.chance(0.4) else {}, 1


@use("LayerNormalization", "RMSNormalization")
def layer_norm(d: Draft, op: str) -> Use:
    x = d.tensor([t for t in d.allowed(op) if t in FLOATS], 1, 4)
    axis = d.axis(len(d.of(x)))
    shape = d.of(x)[axis:]
    if op == "RMSNormalization":
        return [x, d.like(x, shape)], {"axis": axis}, 1
    return (
        [x, d.like(x, shape), d.like(x, shape) if d.chance(0.6) else ""],
        {"axis": axis},
        d.pick((1, 1, 3)),
    )


@use("GroupNormalization")
def group_norm(d: Draft, op: str) -> Use:
    groups, each = d.pick((1, 2)), d.pick((1, 2))
    x = images(d, op, channels=groups * each)
    c = groups * each if d.opset >= 21 else groups
    return [x, d.like(x, (c,)), d.like(x, (c,))], {"num_groups": groups}, 1


# --- recurrence and attention -----------------------------------------------------------------------------------------


@use("LSTM", "GRU", "RNN")
def recurrent(d: Draft, op: str) -> Use:
    t, b, i, h = d.pick((1, 3)), d.pick((1, 2)), d.pick((1, 3)), d.pick((1, 2, 4))
    direction = d.pick(("forward", "forward", "reverse", "bidirectional"))
    k = 2 if direction == "bidirectional" else 1
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    x = d.tensor(("float",), shape=(t, b, i), constant=0.1)
    inputs = [x, d.fresh("float", (k, gates * h, i), 0.9), d.fresh("float", (k, gates * h, h), 0.9)]
    inputs.append(d.fresh("float", (k, 2 * gates * h), 0.9) if d.chance(0.5) else "")
    inputs.append("")
    inputs.append(d.fresh("float", (k, b, h), 0.3) if d.chance(0.4) else "")
    attrs: dict[str, Any] = {"hidden_size": h}
    if direction != "forward" or d.chance(0.2):
        attrs["direction"] = direction
    if op == "GRU" and d.chance(0.5):
        attrs["linear_before_reset"] = 1
    return inputs, attrs, d.pick((1, 2))


@use("Attention")
def attention(d: Draft, op: str) -> Use:
    b, h, s, t, e = d.pick((1, 2)), d.pick((1, 2)), d.pick((1, 3)), d.pick((2, 3)), d.pick((2, 4))
    q = d.fresh("float", (b, h, s, e), 0.1)
    k, v = d.fresh("float", (b, h, t, e), 0.1), d.fresh("float", (b, h, t, e), 0.1)
    mask = (
        d.fresh(d.pick(("float", "bool")), d.pick(((s, t), (b, 1, s, t))), 0.5)
        if d.chance(0.4)
        else ""
    )
    attrs: dict[str, Any] = {"is_causal": 1} if d.chance(0.3) else {}
    attrs |= {n: v for n, v in (("scale", 0.3), ("softcap", 2.0)) if d.chance(0.3)}
    return [q, k, v, mask], attrs, 1


@use("RotaryEmbedding")
def rotary(d: Draft, op: str) -> Use:
    b, h, s, e = 2, 2, 3, 4
    x = d.fresh("float", (b, h, s, e), 0.1)
    cos, sin = d.fresh("float", (5, e // 2), 0.5), d.fresh("float", (5, e // 2), 0.5)
    ids = d.given(np.array([[0, 1, 2], [2, 3, 4]], np.int64), 0.5)
    return [x, cos, sin, ids], {"interleaved": d.pick((0, 1))}, 1


# --- integers -----------------------------------------------------------------------------------------------------------


@use("QuantizeLinear")
def quantize(d: Draft, op: str) -> Use:
    x = d.tensor(("float",), 1)
    scale = d.given(np.array(d.pick((0.1, 0.5, 1.0)), np.float32), 0.9)
    zero = d.fresh(d.pick(("uint8", "int8")), (), 0.9) if d.chance(0.7) else ""
    return [x, scale, zero], {}, 1


@use("DequantizeLinear")
def dequantize(d: Draft, op: str) -> Use:
    x = d.tensor(("uint8", "int8"), 1)
    if d.opset >= 13 and d.chance(0.4):
        axis = d.axis(len(d.of(x)))
        n = d.of(x)[axis]
        scale = d.given(np.full(n, 0.5, np.float32), 0.9)
        return [x, scale, d.like(x, (n,)) if d.chance(0.6) else ""], {"axis": axis}, 1
    scale = d.given(np.array(0.25, np.float32), 0.9)
    return [x, scale, d.like(x, ()) if d.chance(0.6) else ""], {}, 1


@use("DynamicQuantizeLinear")
def dynamic_quantize(d: Draft, op: str) -> Use:
    return [d.tensor(("float",), 1)], {}, 3


@use("QLinearMatMul")
def qlinear_matmul(d: Draft, op: str) -> Use:
    def scale() -> str:
        return d.given(np.array(d.pick((0.1, 0.5)), np.float32), 0.9)

    a = d.tensor(("uint8", "int8"), 2, 3)
    b = d.like(a, (d.of(a)[-1], d.extent()), 0.8)
    y = d.fresh(d.dtype_of(a), (), 0.9)
    return [a, scale(), d.like(a, ()), b, scale(), d.like(a, ()), scale(), y], {}, 1


# --- other functions of the standard --------------------------------------------------------------------------------------


@use("MeanVarianceNormalization")
def mvn(d: Draft, op: str) -> Use:
    x = d.tensor(("float",), 4, 4)
    return [x], {}, 1


@use("HannWindow", "HammingWindow", "BlackmanWindow")
def windows(d: Draft, op: str) -> Use:
    return [d.ints(d.rng.randint(1, 9))], {"periodic": d.pick((0, 1))}, 1


@use("DFT")
def dft(d: Draft, op: str) -> Use:
    n = d.pick((3, 4, 5))
    x = d.tensor(("float",), shape=(2, n, d.pick((1, 2))), constant=0.1)
    inverse = d.of(x)[-1] == 2 and d.chance(0.4)
    attrs: dict[str, Any] = {"inverse": 1} if inverse else {}
    if not inverse and d.of(x)[-1] == 1 and d.chance(0.4):
        attrs["onesided"] = 1
    if d.has(op, "axis"):
        return [x], attrs | {"axis": 1}, 1
    return [x, "", d.ints(1)], attrs, 1


@use("CenterCropPad")
def crop(d: Draft, op: str) -> Use:
    x = d.tensor(d.allowed(op), 1, 3)
    axes = sorted(a % len(d.of(x)) for a in d.axes(len(d.of(x))))
    return [x, d.ints([d.extent() for _ in axes])], {"axes": axes}, 1


@use("NonMaxSuppression")
def nms(d: Draft, op: str) -> Use:
    corners = np.abs(d.values("float", (1, 4, 2)))
    if not np.isfinite(corners).all():
        raise UnfitError
    boxes = d.given(np.concatenate([corners, corners + 1], 2).astype(np.float32), 0.2)
    scores = d.fresh("float", (1, 2, 4), 0.2)
    rest = [
        d.ints([3]),
        d.given(np.array([0.5], np.float32), 0.9),
        d.given(np.array([0.0], np.float32), 0.9),
    ]
    return [boxes, scores, *rest], {"center_point_box": d.pick((0, 1))} if d.chance(0.3) else {}, 1

"""Operators of networks: products, windows, images, normalization, recurrence, attention, integers; as families.py says."""

from __future__ import annotations

from typing import Any

import numpy as np
from graphs.draft import DTYPES, Draft, UnfitError
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
    """One to three operands, letters at random: diagonals, sums, outer products, an ellipsis."""
    letters = "abcde"[: d.rng.randint(1, 5)]
    words = []
    for _ in range(d.pick((1, 2, 2, 3))):
        words.append("".join(d.pick(letters) for _ in range(d.rng.randint(0 if words else 1, 3))))
    used = sorted(set("".join(words)))
    kept = [c for c in used if d.chance(0.6)]
    d.rng.shuffle(kept)
    sizes = {c: d.extent() for c in used}
    shapes = [tuple(sizes[c] for c in word) for word in words]
    equation = ",".join(words) + ("->" + "".join(kept) if d.chance(0.8) else "")
    if d.chance(0.2):
        extra = d.shape(1, 2)
        equation = ",".join("..." + w for w in words) + "->..." + "".join(kept)
        shapes = [(*extra, *s) for s in shapes]
    if d.chance(0.2):
        equation = equation.replace(",", " , ").replace("->", " -> ")
    first = d.tensor(("float", "double", "float16", "int32", "int64"), shape=shapes[0])
    return [first, *(d.like(first, s) for s in shapes[1:])], {"equation": equation}, 1


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
    elif op == "ConvTranspose" and d.chance(0.2) and "pads" not in attrs:
        strides = attrs.get("strides", [1] * len(space))
        attrs["output_shape"] = [n * s for n, s in zip(space, strides, strict=True)]
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
    if op == "MaxPool" and d.opset >= 8 and d.chance(0.3):
        return [x], attrs | ({"storage_order": 1} if d.chance(0.3) else {}), 2
    return [x], attrs, 1


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
    if d.chance(0.08):
        attrs["coordinate_transformation_mode"] = "tf_crop_and_resize"
        attrs["extrapolation_value"] = d.pick((0.0, 2.5))
        ends = [0.0] * rank + [1.0] * rank
        ends[2], ends[rank + 2] = d.pick((0.0, 0.2, -0.1)), d.pick((1.0, 0.7, 1.2))
        roi = d.given(np.array(ends, np.float32), 1.0)
    if d.opset >= 18 and d.chance(0.15):
        sizes = [d.pick((1, 2, 3, 5, 8)) for _ in range(rank - 2)]
        attrs["axes"] = list(range(2, rank))
        if d.chance(0.5):
            attrs["keep_aspect_ratio_policy"] = d.pick(("stretch", "not_larger", "not_smaller"))
        if "tf_" in attrs["coordinate_transformation_mode"]:
            raise UnfitError
        return [x, roi, "", d.ints(sizes)], attrs, 1
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
    if d.opset >= 20 and d.chance(0.2):
        x = d.tensor(("float",), shape=(1, 2, 3, 4, 2), constant=0.1)
        grid = d.tensor(("float",), shape=(1, 2, 2, 3, 3))
        return (
            [x, grid],
            {"mode": d.pick(("linear", "nearest")), "align_corners": d.pick((0, 1))},
            1,
        )
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
    attrs: dict[str, Any] = {"output_height": 2, "output_width": 3}
    attrs |= {"sampling_ratio": d.pick((0, 1, 2, 2))} | ({"mode": "max"} if d.chance(0.2) else {})
    if d.chance(0.3):
        attrs["spatial_scale"] = d.pick((0.5, 2.0))
    if d.opset >= 16 and d.chance(0.5):
        modes = ("half_pixel", "output_half_pixel")
        attrs["coordinate_transformation_mode"] = d.pick(modes)
    return [x, rois, batch], attrs, 1


# --- normalization --------------------------------------------------------------------------------------------------


@use("BatchNormalization")
def batch_norm(d: Draft, op: str) -> Use:
    x = images(d, op)
    c = d.of(x)[1]
    dtype = d.dtype_of(x)
    parts = [d.fresh(dtype, (c,), 0.8) for _ in range(3)]
    var = d.given(np.abs(d.values(dtype, (c,))) + np.array(0.5, d.arrays[x].dtype), 0.8)
    attrs: dict[str, Any] = {"epsilon": 1e-3} if d.chance(0.4) else {}
    if d.opset >= 15 and d.chance(0.2):
        return [x, *parts, var], attrs | {"training_mode": 1, "momentum": 0.8}, d.pick((1, 3))
    return [x, *parts, var], attrs, 1


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


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FUNCTIONS = (
    "Relu",
    "Tanh",
    "Sigmoid",
    "Softsign",
    "Softplus",
    "HardSigmoid",
    "LeakyRelu",
    "Elu",
    "tanh",
)


@use("LSTM", "GRU", "RNN")
def recurrent(d: Draft, op: str) -> Use:
    t, b, i, h = d.pick((1, 3)), d.pick((1, 2)), d.pick((1, 3)), d.pick((1, 2, 4))
    direction = d.pick(("forward", "forward", "reverse", "bidirectional"))
    k, gates = 2 if direction == "bidirectional" else 1, GATES[op]
    batch_first = d.opset >= 14 and d.chance(0.15)
    x = d.tensor(("float",), shape=(b, t, i) if batch_first else (t, b, i), constant=0.1)
    state = (b, k, h) if batch_first else (k, b, h)
    inputs = [x, d.fresh("float", (k, gates * h, i), 0.9), d.fresh("float", (k, gates * h, h), 0.9)]
    inputs.append(d.fresh("float", (k, 2 * gates * h), 0.9) if d.chance(0.5) else "")
    lengths = np.array([d.rng.randint(1, t) for _ in range(b)], np.int32)
    inputs.append(d.given(lengths, 0.5) if d.chance(0.2) else "")
    inputs.append(d.fresh("float", state, 0.3) if d.chance(0.4) else "")
    if op == "LSTM":
        inputs.append(d.fresh("float", state, 0.3) if d.chance(0.3) else "")
        inputs.append(d.fresh("float", (k, 3 * h), 0.9) if d.chance(0.2) else "")
    attrs: dict[str, Any] = {"hidden_size": h} | ({"layout": 1} if batch_first else {})
    if direction != "forward" or d.chance(0.2):
        attrs["direction"] = direction
    if op == "GRU" and d.chance(0.5):
        attrs["linear_before_reset"] = 1
    if op == "LSTM" and d.chance(0.1):
        attrs["input_forget"] = 1
    if d.chance(0.15):
        each = {"LSTM": 3, "GRU": 2, "RNN": 1}[op]
        attrs["activations"] = [d.pick(FUNCTIONS) for _ in range(k * each)]
    if d.chance(0.1):
        attrs["clip"] = d.pick((0.5, 2.0))
    return inputs, attrs, d.pick((1, 2, 3) if op == "LSTM" else (1, 2))


@use("Attention")
def attention(d: Draft, op: str) -> Use:
    b, k, s, t, e = d.pick((1, 2)), d.pick((1, 2)), d.pick((1, 3)), d.pick((2, 3)), d.pick((2, 4))
    h, f = k * d.pick((1, 1, 2)), d.pick((e, e, 3))
    dtype = d.pick(("float", "float", "float", "float16", "double"))
    attrs: dict[str, Any] = {}
    if d.chance(0.3):
        shapes = [(b, s, h * e), (b, t, k * e), (b, t, k * f)]
        attrs |= {"q_num_heads": h, "kv_num_heads": k}
    else:
        shapes = [(b, h, s, e), (b, k, t, e), (b, k, t, f)]
    inputs = [d.fresh(dtype, shape, 0.1) for shape in shapes]
    past = d.pick((0, 0, 0, 2))
    mask = d.pick(((s, t + past), (b, 1, s, t + past), (1, h, s, t + past)))
    inputs.append(d.fresh(d.pick((dtype, "bool")), mask, 0.5) if d.chance(0.4) else "")
    if past:
        inputs += [d.fresh(dtype, (b, k, past, n), 0.1) for n in (e, f)]
    attrs |= {n: v for n, v in (("scale", 0.3), ("softcap", 2.0)) if d.chance(0.3)}
    if d.chance(0.3):
        attrs["is_causal"] = 1
    for name in ("left_window_size", "right_window_size"):
        if d.has(op, name) and d.chance(0.2):
            attrs[name] = d.pick((-1, 0, 1, 2))
    if d.chance(0.1):
        attrs["softmax_precision"] = DTYPES["float"][0]
    outputs = 3 if past and d.chance(0.7) else 1
    if d.chance(0.1):
        attrs["qk_matmul_output_mode"] = d.pick((0, 1, 2, 3))
        outputs = 4
    return inputs, attrs, outputs


@use("RotaryEmbedding")
def rotary(d: Draft, op: str) -> Use:
    b, h, s, e = 2, 2, 3, d.pick((4, 8))
    turned = e // 2 if d.chance(0.3) else e
    attrs: dict[str, Any] = {"interleaved": d.pick((0, 1))} if d.chance(0.8) else {}
    if turned != e:
        attrs["rotary_embedding_dim"] = turned
    if d.chance(0.3):
        x = d.fresh("float", (b, s, h * e), 0.1)
        attrs["num_heads"] = h
    else:
        x = d.fresh(d.pick(("float", "float", "float16")), (b, h, s, e), 0.1)
    with_ids = d.chance(0.7)
    shape = (5, turned // 2) if with_ids else (b, s, turned // 2)
    angles = [d.fresh(d.dtype_of(x), shape, 0.5) for _ in range(2)]
    ids = d.given(np.array([[0, 1, 2], [2, 3, 4]], np.int64), 0.5) if with_ids else ""
    return [x, *angles, ids], attrs, 1


# --- integers -----------------------------------------------------------------------------------------------------------


CODES = (
    "uint8",
    "uint8",
    "int8",
    "int8",
    "int16",
    "uint16",
    "int4",
    "uint4",
    "float8e4m3fn",
    "float8e5m2",
)


def codes(d: Draft, op: str, index: int) -> str:
    return d.dtype([t for t in CODES if t in d.allowed(op, index)])


def scales(d: Draft, x: str) -> tuple[tuple[int, ...], dict[str, Any]]:
    """(shape of the scale, attributes): of the tensor, of an axis, of blocks."""
    shape = d.of(x)
    if not shape or d.opset < 13 or d.chance(0.5):
        return (), {}
    axis = d.axis(len(shape))
    if d.opset < 21 or d.chance(0.6):
        return (shape[axis],), {"axis": axis}
    block = d.pick([b for b in (1, 2, 3, 4) if shape[axis] % b == 0])
    blocks = list(shape)
    blocks[axis] = shape[axis] // block
    return tuple(blocks), {"axis": axis, "block_size": block}


def scale(d: Draft, shape: tuple[int, ...], dtype: str = "float") -> str:
    flat = [d.pick((0.1, 0.25, 0.5, 1.0)) for _ in range(int(np.prod(shape)))]
    return d.given(np.array(flat).astype(DTYPES[dtype][1]).reshape(shape), 0.9)


@use("QuantizeLinear")
def quantize(d: Draft, op: str) -> Use:
    x = d.tensor(("float", "float", "float16") if d.opset >= 19 else ("float",), 1)
    shape, attrs = scales(d, x)
    step = scale(d, shape, d.dtype_of(x))
    if d.has(op, "precision") and d.chance(0.2):
        attrs["precision"] = DTYPES[d.pick(("float", "double"))][0]
    if d.opset >= 21 and d.chance(0.2):
        return [x, step], attrs | {"output_dtype": DTYPES[codes(d, op, 2)][0]}, 1
    zero = d.fresh(codes(d, op, 2), shape, 0.9) if d.chance(0.7) else ""
    if zero and d.dtype_of(zero).startswith("float8"):
        d.constants[zero] = d.arrays[zero] = np.zeros_like(d.arrays[zero])
        if zero in d.inputs:
            d.inputs.remove(zero)
        if d.chance(0.3):
            attrs["saturate"] = d.pick((0, 1))
    return [x, step, zero], attrs, 1


@use("DequantizeLinear")
def dequantize(d: Draft, op: str) -> Use:
    x = d.tensor(sorted({*CODES, "int32"} & {*d.allowed(op)}), 1)
    shape, attrs = scales(d, x)
    step = scale(d, shape, "float16" if d.opset >= 19 and d.chance(0.2) else "float")
    whole = d.dtype_of(x).startswith("float8") or d.dtype_of(x) == "int32"
    return [x, step, "" if whole or d.chance(0.4) else d.like(x, shape)], attrs, 1


@use("DynamicQuantizeLinear")
def dynamic_quantize(d: Draft, op: str) -> Use:
    return [d.tensor(("float",), 1)], {}, 3


@use("QLinearMatMul")
def qlinear_matmul(d: Draft, op: str) -> Use:
    a = d.tensor(("uint8", "int8"), 2, 3)
    b = d.like(a, (d.of(a)[-1], d.extent()), 0.8)
    y = d.fresh(d.dtype_of(a), (), 0.9)
    one, two, three = (scale(d, ()) for _ in range(3))
    return [a, one, d.like(a, ()), b, two, d.like(a, ()), three, y], {}, 1


# --- other functions of the standard --------------------------------------------------------------------------------------


@use("MeanVarianceNormalization")
def mvn(d: Draft, op: str) -> Use:
    x = d.tensor(("float",), 4, 4)
    return [x], {}, 1


@use("HannWindow", "HammingWindow", "BlackmanWindow")
def windows(d: Draft, op: str) -> Use:
    attrs: dict[str, Any] = {"periodic": d.pick((0, 1))}
    if d.chance(0.3):
        attrs["output_datatype"] = DTYPES[d.pick(("float", "double", "float16"))][0]
    return [d.ints(d.rng.randint(1, 9), d.pick(("int64", "int64", "int32")))], attrs, 1


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

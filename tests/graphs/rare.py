"""Operators that few models have, as families.py says; those of the last opsets, of losses, signals, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from graphs.draft import DTYPES, Draft, UnfitError
from graphs.families import INTEGERS, Use, use

# --- images ---------------------------------------------------------------------------------------------------------------


@use("Col2Im")
def col2im(d: Draft, op: str) -> Use:
    rank = d.pick((1, 2, 2, 3))
    block = [d.rng.randint(1, 3) for _ in range(rank)]
    strides = [d.pick((1, 1, 2)) for _ in range(rank)]
    dilations = [d.pick((1, 1, 2)) for _ in range(rank)]
    pads = [d.rng.randint(0, 1) for _ in range(2 * rank)] if d.chance(0.4) else [0] * 2 * rank
    steps = [d.rng.randint(1, 3) for _ in range(rank)]
    image = [
        (n - 1) * s + (k - 1) * q + 1 - pads[i] - pads[i + rank]
        for i, (n, s, k, q) in enumerate(zip(steps, strides, block, dilations, strict=True))
    ]
    if min(image) < 1:
        raise UnfitError
    attrs = {"strides": strides, "dilations": dilations, "pads": pads}
    for name, usual in (("strides", 1), ("dilations", 1), ("pads", 0)):
        if all(v == usual for v in attrs[name]) and d.chance(0.7):
            del attrs[name]
    shape = (d.pick((1, 2)), d.pick((1, 2)) * int(np.prod(block)), int(np.prod(steps)))
    x = d.tensor(("float", "double", "float16"), shape=shape, constant=0.1)
    return [x, d.ints(image), d.ints(block)], attrs, 1


@use("DeformConv")
def deform_conv(d: Draft, op: str) -> Use:
    n, h, w = d.pick((1, 2)), d.pick((3, 4, 5)), d.pick((3, 4))
    group, offset_group = d.pick((1, 1, 2)), d.pick((1, 1, 2))
    c = 2 * d.pick((1, 2))
    m = group * d.pick((1, 2))
    kernel = (d.pick((1, 2)), d.pick((1, 2, 3)))
    strides, pads = [d.pick((1, 1, 2)) for _ in range(2)], [d.pick((0, 0, 1))] * 4
    out = [
        (e + 2 * p - k) // s + 1 for e, p, k, s in zip((h, w), pads, kernel, strides, strict=False)
    ]
    if min(out) < 1:
        raise UnfitError
    taps = kernel[0] * kernel[1]
    inputs = [
        d.fresh("float", (n, c, h, w), 0.1),
        d.fresh("float", (m, c // group, *kernel), 0.8),
        d.fresh("float", (n, 2 * offset_group * taps, *out), 0.3),
        d.fresh("float", (m,), 0.8) if d.chance(0.4) else "",
        d.fresh("float", (n, offset_group * taps, *out), 0.3) if d.chance(0.4) else "",
    ]
    attrs = {"group": group, "offset_group": offset_group, "strides": strides, "pads": pads}
    return inputs, attrs | {"kernel_shape": list(kernel)}, 1


@use("MaxUnpool")
def unpool(d: Draft, op: str) -> Use:
    n, c, h, w = 1, d.pick((1, 2)), d.pick((1, 2)), d.pick((2, 3))
    kernel = [d.pick((1, 2)), d.pick((2, 3))]
    size = n * c * h * kernel[0] * w * kernel[1]
    places = np.array(d.rng.sample(range(size), n * c * h * w), np.int64).reshape(n, c, h, w)
    x = d.tensor(("float", "double", "float16"), shape=(n, c, h, w), constant=0.1)
    return [x, d.given(places, 0.5)], {"kernel_shape": kernel, "strides": kernel}, 1


@use("AffineGrid")
def affine_grid(d: Draft, op: str) -> Use:
    rank = d.pick((2, 2, 3))
    n = d.pick((1, 2))
    size = [n, 2, *(d.rng.randint(1, 4) for _ in range(rank))]
    theta = d.tensor(("float", "double"), shape=(n, rank, rank + 1), constant=0.2)
    return [theta, d.ints(size)], {"align_corners": d.pick((0, 1))} if d.chance(0.7) else {}, 1


@use("MaxRoiPool")
def max_roi_pool(d: Draft, op: str) -> Use:
    rois = np.array([[0, 0, 0, 3, 3]], np.float32)
    return [d.fresh("float", (1, 2, 5, 5), 0.1), d.given(rois)], {"pooled_shape": [2, 2]}, 1


# --- sequences of states ----------------------------------------------------------------------------------------------------


@use("TensorScatter")
def tensor_scatter(d: Draft, op: str) -> Use:
    b, h, most, e = d.pick((1, 2)), d.pick((1, 2)), d.pick((3, 5)), d.pick((1, 3))
    length = d.rng.randint(1, most)
    cache = d.tensor(("float", "float16", "int32"), shape=(b, h, most, e), constant=0.1)
    mode = d.pick(("linear", "circular"))
    high = most - length if mode == "linear" else most - 1
    places = np.array([d.rng.randint(0, high) for _ in range(b)], np.int64)
    attrs: dict[str, Any] = {"mode": mode} if d.chance(0.7) or mode != "linear" else {}
    if d.chance(0.4):
        attrs["axis"] = d.pick((2, -2))
    return [cache, d.like(cache, (b, h, length, e)), d.given(places, 0.5)], attrs, 1


@use("CausalConvWithState")
def causal_conv(d: Draft, op: str) -> Use:
    b, c, t, k = d.pick((1, 2)), d.pick((1, 3)), d.pick((1, 4)), d.pick((1, 2, 4))
    x = d.fresh("float", (b, c, t), 0.1)
    inputs = [
        x,
        d.fresh("float", (c, 1, k), 0.8),
        d.fresh("float", (c,), 0.8) if d.chance(0.5) else "",
    ]
    inputs.append(d.fresh("float", (b, c, k - 1), 0.2) if d.chance(0.5) else "")
    attrs = {"activation": d.pick(("none", "silu", "swish"))} if d.chance(0.6) else {}
    return inputs, attrs, d.pick((1, 2))


@use("LinearAttention")
def linear_attention(d: Draft, op: str) -> Use:
    b, h, t, e, f = d.pick((1, 2)), d.pick((1, 2)), d.pick((1, 3)), d.pick((2, 4)), d.pick((2, 3))
    inputs = [d.fresh("float", (b, t, h * n), 0.1) for n in (e, e, f)]
    rule = d.pick(("linear", "gated", "delta", "gated_delta"))
    inputs.append(d.fresh("float", (b, h, e, f), 0.3) if d.chance(0.4) else "")
    inputs.append(d.fresh("float", (b, t, h), 0.3) if "gated" in rule else "")
    inputs.append(d.fresh("float", (b, t, h), 0.3) if "delta" in rule else "")
    attrs: dict[str, Any] = {"update_rule": rule, "q_num_heads": h, "kv_num_heads": h}
    return inputs, attrs | ({"scale": 0.5} if d.chance(0.3) else {}), 2


# --- signals --------------------------------------------------------------------------------------------------------------


@use("STFT")
def stft(d: Draft, op: str) -> Use:
    frame = d.pick((2, 3, 4))
    n, parts = frame + d.rng.randint(0, 6), d.pick((1, 1, 2))
    x = d.tensor(("float",), shape=(d.pick((1, 2)), n, parts), constant=0.1)
    window = d.fresh("float", (frame,), 0.8) if d.chance(0.6) else ""
    length = d.ints(frame) if d.chance(0.7) or not window else ""
    onesided = d.pick((0, 1)) if parts == 1 else 0
    return [x, d.ints(d.pick((1, 2, 3))), window, length], {"onesided": onesided}, 1


@use("MelWeightMatrix")
def mel(d: Draft, op: str) -> Use:
    edges = [d.given(np.array(v, np.float32), 0.9) for v in (0.0, 4000.0)]
    return [d.ints(d.pick((2, 4))), d.ints(16), d.ints(8192), *edges], {}, 1


# --- losses ---------------------------------------------------------------------------------------------------------------


@use("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(d: Draft, op: str) -> Use:
    n, c = d.pick((1, 2, 3)), d.pick((2, 3))
    space = d.pick(((), (), (2,), (2, 3)))
    x = d.tensor(("float", "double"), shape=(n, c, *space), constant=0.1)
    labels = np.array([d.rng.randrange(c) for _ in range(n * int(np.prod(space)))])
    target = d.given(labels.astype(DTYPES[d.pick(INTEGERS)][1]).reshape((n, *space)), 0.4)
    weight = d.given(np.abs(d.values(d.dtype_of(x), (c,))) + 0.5, 0.8) if d.chance(0.4) else ""
    attrs: dict[str, Any] = {"reduction": d.pick(("none", "mean", "sum"))} if d.chance(0.7) else {}
    if d.chance(0.4):
        attrs["ignore_index"] = d.pick((0, 1, -1))
    return [x, target, weight], attrs, d.pick((1, 2)) if op.startswith("Soft") else 1


# --- integers and bits ------------------------------------------------------------------------------------------------------


@use("QLinearConv")
def qlinear_conv(d: Draft, op: str) -> Use:
    from graphs.networks import window

    group = d.pick((1, 1, 2))
    c, m = group * d.pick((1, 2)), group * d.pick((1, 2))
    x = d.tensor(("uint8", "int8"), shape=(d.pick((1, 2)), c, 5, 4), constant=0.05)
    kernel = (d.pick((1, 2, 3)), d.pick((1, 2)))
    w = d.fresh(d.pick(("uint8", "int8")), (m, c // group, *kernel), 0.9)

    def scale(shape: tuple[int, ...] = ()) -> str:
        return d.given(np.full(shape, d.pick((0.1, 0.5)), np.float32), 0.9)

    each = (m,) if d.chance(0.4) else ()
    y = d.fresh(d.dtype_of(x), (), 0.9)
    bias = d.fresh("int32", (m,), 0.9) if d.chance(0.5) else ""
    inputs = [x, scale(), d.like(x, ()), w, scale(each), d.like(w, each), scale(), y, bias]
    return inputs, window(d, (5, 4), kernel) | ({"group": group} if group > 1 else {}), 1


@use("BitCast")
def bit_cast(d: Draft, op: str) -> Use:
    x = d.tensor(
        ("float", "int32", "uint32", "int64", "double", "int16", "float16", "uint8", "int8")
    )
    width = d.arrays[x].dtype.itemsize
    to = d.pick(
        [t for t, (_, kind) in DTYPES.items() if np.dtype(kind).itemsize == width and t != "bool"]
    )
    return [x], {"to": DTYPES[to][0]}, 1


@use("SwiGLU")
def swiglu(d: Draft, op: str) -> Use:
    a = d.tensor(d.allowed(op))
    return [a, d.like(a, d.of(a))], {"alpha": d.pick((1.0, 0.5))} if d.chance(0.4) else {}, 1


@use("Det")
def det(d: Draft, op: str) -> Use:
    return [d.tensor(("float", "double"), shape=(*d.shape(0, 2), 2, 2), constant=0.1)], {}, 1


# --- random numbers without a seed, which are refused ----------------------------------------------------------------------------------------


@use("RandomNormal", "RandomUniform")
def random_shape(d: Draft, op: str) -> Use:
    return [], {"shape": list(d.shape(1, 3))}, 1


@use("RandomNormalLike", "RandomUniformLike", "Bernoulli")
def random_like(d: Draft, op: str) -> Use:
    return [d.tensor(("float", "double"))], {}, 1


@use("Multinomial")
def multinomial(d: Draft, op: str) -> Use:
    return [d.tensor(("float",), 2, 2)], {"sample_size": 2}, 1

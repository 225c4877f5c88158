"""Kernels against onnxruntime, or onnx.reference where that says more: what a row means is what ONNX means."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator
from ops import harness
from ops.cases_sequence import USUAL
from ops.harness import Array, Case, weight

from pteron.schema.dtypes import name_of
from pteron.schema.meaning.sequence import ACTIVATIONS
from pteron.schema.row import Out

RNG = np.random.default_rng(16)


def normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def model(op: str, xs: Sequence[Array | None], attrs: dict[str, Any], outs: int, opset: int) -> Any:
    names = ["" if x is None else f"x{i}" for i, x in enumerate(xs)]
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for n, x in zip(names, xs)
        if x is not None
    ]
    results = [f"y{i}" for i in range(outs)]
    node = helper.make_node(op, names, results, **attrs)
    graph = helper.make_graph(
        [node], op, inputs, [helper.make_empty_tensor_value_info(r) for r in results]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def feeds(xs: Sequence[Array | None]) -> dict[str, Array]:
    return {f"x{i}": x for i, x in enumerate(xs) if x is not None}


def reference(
    op: str, xs: Sequence[Array | None], attrs: dict[str, Any], outs: int = 1, opset: int = 21
) -> list[Array]:
    made = ReferenceEvaluator(model(op, xs, attrs, outs, opset))
    return [np.asarray(y) for y in made.run(None, feeds(xs))]


def runtime(
    op: str, xs: Sequence[Array | None], attrs: dict[str, Any], outs: int = 1, opset: int = 22
) -> list[Array]:
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    made = model(op, xs, attrs, outs, opset).SerializeToString()
    session = onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feeds(xs)))


def kernel(case: Case) -> list[Any]:
    got = harness.run(case, harness.outs_of(case), cpu=harness.features())
    assert got.status == harness.Status.OK, got.text
    return got.outputs


def like(*arrays: Array) -> list[Out]:
    return [Out(a.shape, name_of(a.dtype)) for a in arrays]


def last(x: Array) -> Array:
    """Channels last."""
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


@pytest.mark.parametrize("size", [(9,), (7, 8), (5, 6, 4)], ids=str)
def test_pools(size: tuple[int, ...]) -> None:
    axes = len(size)
    x = RNG.integers(-9, 9, (2, 5, *size)).astype(np.float32)
    for k, s, d, p, ceil, flag in itertools.product((2, 3), (1, 2), (1, 2), (0, 1), (0, 1), (0, 1)):
        if min(size) + 2 * p <= d * (k - 1):
            continue  # no window fits
        attrs = {"kernel_shape": [k] * axes, "strides": [s] * axes, "dilations": [d] * axes}
        attrs |= {"pads": [p] * 2 * axes, "ceil_mode": ceil}
        mine = {name: (v,) * axes for name, v in zip(("kernel", "stride", "dilation"), (k, s, d))}
        mine |= {"begin": (p,) * axes}
        values, index = map(last, runtime("MaxPool", [x], {**attrs, "storage_order": flag}, 2))
        if values.min() > -100:  # onnxruntime gives FLT_LOWEST where a window has no element
            case = Case(
                "max_pool", [last(x)], {**mine, "column_major": bool(flag)}, like(values, index)
            )
            got, places = kernel(case)
            assert got.tobytes() == values.tobytes()
            assert (places == index).all()
        mean = last(runtime("AveragePool", [x], {**attrs, "count_include_pad": flag})[0])
        mine |= {"end": (p,) * axes, "count_padding": bool(flag)}
        (got,) = kernel(Case("average_pool", [last(x)], mine, like(mean)))
        np.testing.assert_allclose(got, mean, atol=1e-5)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("size", [(7,), (5, 6)], ids=str)
def test_resize(size: tuple[int, ...], mode: str) -> None:
    axes = len(size)
    x = normal(2, 3, *size)
    how = ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")
    roundings = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    weighted = mode != "nearest"
    for coordinates, rounding, exclude, antialias, scale in itertools.product(
        how,
        roundings[:1] if weighted else roundings,
        (0, 1) if weighted else (0,),
        (0, 1) if weighted else (0,),
        (0.3, 0.6, 1.0, 1.5, 2.6, None),
    ):
        sizes = None if scale else np.array([2, 3, *RNG.integers(1, 12, axes)])
        scales = np.array([1, 1, *[scale] * axes], np.float32) if scale else None
        crop = coordinates == "tf_crop_and_resize"
        roi = np.array([0, 0, *[0.2] * axes, 1, 1, *[1.3] * axes], np.float32) if crop else None
        attrs = {
            "mode": mode,
            "coordinate_transformation_mode": coordinates,
            "antialias": antialias,
        }
        attrs |= {"nearest_mode": rounding, "exclude_outside": exclude, "extrapolation_value": 7.0}
        want = last(reference("Resize", [x, roi, scales, sizes], attrs, opset=19)[0])
        mine: dict[str, Any] = {"mode": mode, "coordinates": coordinates, "nearest": rounding}
        mine |= {
            "exclude_outside": bool(exclude),
            "antialias": bool(antialias),
            "extrapolation": 7.0,
        }
        mine["scales"] = () if scales is None else tuple(map(float, scales[2:]))
        if roi is not None:
            mine["region"] = (*map(float, roi[2 : 2 + axes]), *map(float, roi[4 + axes :]))
        (got,) = kernel(Case("resize", [last(x)], mine, like(want)))
        np.testing.assert_allclose(got, want, atol=8e-6, rtol=1e-5, err_msg=str(mine))


@pytest.mark.parametrize("size", [(6,), (4, 5), (3, 4, 2)], ids=str)
def test_grid_sample(size: tuple[int, ...]) -> None:
    x, grid = normal(2, 3, *size), normal(2, *size, len(size)) * np.float32(1.2)
    modes = itertools.product(
        ("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1)
    )
    for mode, padding, corners in modes:
        if (mode, padding) == ("cubic", "border"):
            continue  # as PyTorch, which the reference differs from: tests/lower/test_regions.py
        attrs = {"mode": mode, "padding_mode": padding, "align_corners": corners}
        want = last(reference("GridSample", [x, grid], attrs, opset=20)[0])
        mine = {"mode": mode, "padding": padding, "align_corners": bool(corners)}
        (got,) = kernel(Case("grid_sample", [last(x), grid], mine))
        np.testing.assert_allclose(got, want, atol=1e-5, err_msg=str(mine))


@pytest.mark.parametrize("variant", range(12))
def test_attention(variant: int) -> None:
    b, g, h, s, t, d, e = 2, 2, 4, 5, 9, 8, 6
    q, k, v = normal(b, h, s, d), normal(b, g, t, d), normal(b, g, t, e)
    masks = [None, RNG.random((b, 1, s, t)) < 0.6, normal(s, t)]
    mask, count = masks[variant % 3], np.array([9, 4]) if variant % 2 else None
    attrs = {"is_causal": int(variant % 4 > 1), "softcap": [0.0, 4.0][variant // 6]}
    attrs |= {
        "left_window_size": [-1, 2][variant % 2],
        "right_window_size": [-1, 3][variant // 4 % 2],
    }
    want = reference("Attention", [q, k, v, mask, None, None, count], attrs, opset=25)[0]
    causal = ("top_left" if count is None else "bottom_right") if attrs["is_causal"] else "none"
    mine = {"scale": d**-0.5, "causal": causal, "softcap": attrs["softcap"]}
    mine |= {"left_window": attrs["left_window_size"], "right_window": attrs["right_window_size"]}
    spread = None if mask is None else np.broadcast_to(mask, (b, h, s, t))
    (got,) = kernel(Case("attention", [q, k, v, spread, count], mine))
    np.testing.assert_allclose(got.swapaxes(1, 2), want, atol=3e-6)


NAMES_OF = {name: "".join(w.title() for w in name.split("_")) for name in ACTIVATIONS}
# onnxruntime takes alpha = 0 where a model does not say, ONNX the default of the operator of that name
COMPARABLE = [n for n in ACTIVATIONS if n not in ("affine", "thresholded_relu", "scaled_tanh")]


@pytest.mark.parametrize("op", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("variant", range(16))
def test_recurrences(op: str, variant: int) -> None:
    gates, states = {"lstm": (4, 2), "gru": (3, 1), "rnn": (1, 1)}[op]
    t, b, i, h = 1 + variant % 5, 1 + variant % 7, 3, (1, 8, 16, 20)[variant % 4]
    x, w, r = normal(t, b, i), normal(1, gates * h, i), normal(1, gates * h, h) * np.float32(0.3)
    bias, bit = normal(1, 2 * gates * h), [bool(variant >> n & 1) for n in range(4)]
    count = RNG.integers(1, t + 1, b).astype(np.int32) if bit[0] else None
    first = [normal(1, b, h) if bit[1] else None for _ in range(states)]
    peephole = normal(1, 3 * h) if bit[2] and op == "lstm" else None
    kinds = [0, 1, 1] if op == "lstm" else [0, 1] if op == "gru" else [1]
    if bit[3] and op != "gru":  # gates that have no bound overflow
        kinds[-1] = ACTIVATIONS.index(COMPARABLE[variant % len(COMPARABLE)])
    clip, reverse = [0.0, 0.7][variant % 3 == 1], variant % 4 > 1
    flag = {"lstm": "input_forget", "gru": "linear_before_reset"}.get(op)
    attrs: dict[str, Any] = {"hidden_size": h, "direction": "reverse" if reverse else "forward"}
    attrs["activations"] = [NAMES_OF[ACTIVATIONS[n]] for n in kinds]
    attrs |= {flag: int(bit[3])} if flag else {}
    attrs |= {"clip": clip} if clip else {}
    xs = [x, w, r, bias, count, *first, *([peephole] if op == "lstm" else [])]
    wants = runtime(op.upper(), xs, attrs, 1 + states)
    recurrent = bias[0, gates * h :]
    given = x @ w[0].T + bias[0, : gates * h] + (0 if op == "gru" else recurrent)
    here = [None if f is None else f[0] for f in first]
    middle = {
        "lstm": [*here, None if peephole is None else peephole[0]],
        "gru": [recurrent, *here],
        "rnn": here,
    }[op]
    lengths = None if count is None else count.astype(np.int64)
    parameters = tuple(x for kind in kinds for x in USUAL.get(ACTIVATIONS[kind], (0, 0)))
    mine: dict[str, Any] = {"activations": tuple(kinds), "parameters": parameters}
    mine |= {"clip": clip, "reverse": reverse}
    mine |= {flag: bit[3]} if flag else {}
    inputs = [given.astype(np.float32), weight(r[0]), *middle, lengths]
    for got, want in zip(kernel(Case(op, inputs, mine)), wants):
        np.testing.assert_allclose(got, want.reshape(got.shape), atol=2e-5, rtol=2e-5)


def test_gather_and_scatter() -> None:
    x = normal(4, 5, 6)
    for how in ("none", "add", "mul", "max", "min"):
        index, updates = RNG.integers(-4, 4, (9, 5, 2)), normal(9, 5, 2)
        want = reference(
            "ScatterElements", [x, index, updates], {"axis": 0, "reduction": how}, opset=18
        )
        (got,) = kernel(Case("scatter_elements", [x, index, updates], {"reduction": how}))
        assert got.tobytes() == want[0].tobytes()
        index, updates = RNG.integers(-4, 4, (9, 2)), normal(9, 6)
        want = reference("ScatterND", [x, index, updates], {"reduction": how}, opset=18)
        (got,) = kernel(Case("scatter_nd", [x, index, updates], {"reduction": how}))
        assert got.tobytes() == want[0].tobytes()
    index = RNG.integers(-5, 5, (4, 7, 1))
    want = reference("GatherND", [x, index], {"batch_dims": 1})
    (got,) = kernel(Case("gather_nd", [x, index], {"batch_dims": 1}, like(want[0])))
    assert got.tobytes() == want[0].tobytes()

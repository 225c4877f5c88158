"""Operators that onnx's reference evaluator has wrong, set right from the standard's text.

Each class says what the standard says and what onnx's own class does instead.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np
import onnx
from graphs.recurrent import GRU, LSTM, RNN
from onnx.reference.op_run import OpRun
from onnx.reference.ops._op import OpRunReduceNumpy
from onnx.reference.ops._quant_utils import reshape_input
from onnx.reference.ops.op_attention import Attention as _Attention
from onnx.reference.ops.op_conv import Conv as _Conv
from onnx.reference.ops.op_layer_normalization import LayerNormalization as _LayerNormalization
from onnx.reference.ops.op_loop import Loop as _Loop
from onnx.reference.ops.op_quantize_linear import QuantizeLinear_25 as _QuantizeLinear
from onnx.reference.ops.op_roi_align import RoiAlign as _RoiAlign
from onnx.reference.ops.op_unique import Unique as _Unique

Array = np.ndarray[Any, Any]
MOST_TRIPS: Final = 100


class _Along(OpRun):
    """Before opset 13 all axes from `axis` on are one; the reference takes the one axis at any opset."""

    op_domain = ""

    def _run(self, x: Array, axis: int | None = None) -> tuple[Array]:
        if x.size == 0:
            return (x,)
        axis = int(axis or 0)
        old = int(self.run_params["opsets"][""]) < 13
        wide = x.astype(np.float64)
        if old:
            axis += x.ndim if axis < 0 else 0
            y = self._of(wide.reshape(math.prod(x.shape[:axis]), -1), -1).reshape(x.shape)
        else:
            y = self._of(wide, axis)
        return (y.astype(x.dtype),)

    def _of(self, x: Array, axis: int) -> Array:
        raise NotImplementedError


class Softmax(_Along):
    def _of(self, x: Array, axis: int) -> Array:
        y = np.exp(x - x.max(axis, keepdims=True))
        return y / y.sum(axis, keepdims=True)


class LogSoftmax(_Along):
    def _of(self, x: Array, axis: int) -> Array:
        y = x - x.max(axis, keepdims=True)
        return y - np.log(np.exp(y).sum(axis, keepdims=True))


class Hardmax(_Along):
    def _of(self, x: Array, axis: int) -> Array:
        y = np.zeros_like(x)
        np.put_along_axis(y, np.expand_dims(x.argmax(axis), axis), 1, axis)
        return y


class LRN(OpRun):
    """A window over channels; the reference goes over the batch, and takes images of two dimensions only."""

    op_domain = ""

    def _run(
        self, x: Array, alpha: float = 0, beta: float = 0, bias: float = 0, size: int = 0
    ) -> tuple[Array]:
        squares = x.astype(np.float64) ** 2
        total = np.zeros_like(squares)
        for c in range(x.shape[1]):
            low, high = max(0, c - (size - 1) // 2), min(x.shape[1], c + size // 2 + 1)
            total[:, c] = squares[:, low:high].sum(1)
        return ((x / (bias + alpha / size * total) ** beta).astype(x.dtype),)


class LpNormalization(OpRun):
    """The norm is of absolute values, also for p = 1, where the reference sums numbers with their signs."""

    op_domain = ""

    def _run(self, x: Array, axis: int = -1, p: int = 2) -> tuple[Array]:
        wide = x.astype(np.float64)
        norm = (np.abs(wide) ** p).sum(axis, keepdims=True) ** (1 / p)
        return (np.where(norm == 0, 0 * norm, wide / norm).astype(x.dtype),)


class _Once(OpRun):
    """Differences are rounded once, as a result is; the reference rounds each step to 16 bits, where 1 less a number near it has few
    of its own left."""

    op_domain = ""

    def _of(self, x: Array, **given: Any) -> Array:
        raise NotImplementedError

    def _run(self, x: Array, **given: Any) -> tuple[Array]:
        return (np.asarray(self._of(x.astype(np.float64), **given)).astype(x.dtype),)


class Gelu(_Once):
    def _of(self, x: Array, approximate: str = "none") -> Array:
        if approximate == "tanh":
            return x / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
        return x * 0.5 * np.vectorize(math.erfc, otypes=[float])(-x / math.sqrt(2))


class Celu(_Once):
    def _of(self, x: Array, alpha: float = 1.0) -> Array:
        return np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(x / alpha))


class Selu(_Once):
    def _of(self, x: Array, alpha: float = 0.0, gamma: float = 0.0) -> Array:
        return gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


class Softplus(_Once):
    def _of(self, x: Array) -> Array:
        return np.logaddexp(x, 0)


class ReduceLogSumExp(OpRunReduceNumpy):
    """Of an infinity it is infinite; the reference leaves it out of the largest element, and takes -inf from it. Of integers
    in f64, cut to a whole number, as the function of opset 18 says; the reference makes no result of them."""

    op_domain = ""

    def _run(
        self, x: Array, axes: Any = None, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> tuple[Array]:
        over, wide = self.handle_axes(axes, noop_with_empty_axes), x.astype(np.float64)
        top = wide.max(over, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        y = np.log(np.exp(wide - top).sum(over, keepdims=True)) + top
        return ((y if keepdims else np.squeeze(y, over)).astype(x.dtype),)


class GlobalMaxPool(OpRun):
    """All axes behind the channels; the reference takes two."""

    op_domain = ""

    def _run(self, x: Array) -> tuple[Array]:
        return (x.max(tuple(range(2, x.ndim)), keepdims=True),)


class OneHot(OpRun):
    """Indices are cast to int64 in front; the reference compares floats. And off values stay what they are beside
    special ones: the reference multiplies."""

    op_domain = ""

    def _run(
        self, indices: Array, depth: Array, values: Array, axis: int | None = None
    ) -> tuple[Array]:
        n = int(np.asarray(depth).reshape(()))
        at = indices.astype(np.int64)
        at = np.where(at < 0, at + n, at)
        axis = -1 if axis is None else axis
        axis += at.ndim + 1 if axis < 0 else 0
        shape = [1] * (at.ndim + 1)
        shape[axis] = n
        places = np.arange(n).reshape(shape)
        return (np.where(places == np.expand_dims(at, axis), values[1], values[0]),)


class _Pool(OpRun):
    """Windows one by one, as the formulas of the standard say. Of the reference: dilations beside auto_pad are left out, places of
    the largest begin anew with each image, padding is NaN and so are data that are NaN, rounding up lets windows
    begin behind the data."""

    op_domain = ""

    def _run(self, x: Array, **given: Any) -> tuple[Array, ...]:
        kernel, space = given["kernel_shape"], x.shape[2:]
        rank = len(kernel)
        strides = given.get("strides") or [1] * rank
        dilations = given.get("dilations") or [1] * rank
        spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        begins, ends, counts = _extents(given, space, spans, strides)
        y = np.zeros((*x.shape[:2], *counts), x.dtype)
        places = np.zeros(y.shape, np.int64)
        for at in itertools.product(*map(range, counts)):
            starts = [i * s - b for i, s, b in zip(at, strides, begins, strict=True)]
            taken = [
                [j for j in range(p, p + span, d) if 0 <= j < n]
                for p, span, d, n in zip(starts, spans, dilations, space, strict=True)
            ]
            padded = math.prod(
                sum(-b <= j < n + e for j in range(p, p + span, d))
                for p, span, d, n, b, e in zip(
                    starts, spans, dilations, space, begins, ends, strict=True
                )
            )
            window = x[(slice(None), slice(None), *np.ix_(*taken))]
            flat = window.reshape(*x.shape[:2], -1)
            y[(..., *at)] = self._of(flat, given, padded)
            if flat.shape[-1]:
                inside = np.array(list(itertools.product(*taken)))[flat.argmax(-1)]
                order = range(rank) if not given.get("storage_order") else range(rank)[::-1]
                index = np.zeros(x.shape[:2], np.int64)
                for a in order:
                    index = index * space[a] + inside[..., a]
                images = np.arange(math.prod(x.shape[:2])).reshape(x.shape[:2])
                places[(..., *at)] = images * math.prod(space) + index
        return (y, places)[: len(self.output)]

    def _of(self, window: Array, given: dict[str, Any], padded: int) -> Array:
        raise NotImplementedError


def _extents(
    given: dict[str, Any], space: Sequence[int], spans: Sequence[int], strides: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """(padding in front, behind, numbers of windows)."""
    rank = len(space)
    way, up = given.get("auto_pad") or "NOTSET", given.get("ceil_mode")
    pads = list(given.get("pads") or [0] * 2 * rank) if way == "NOTSET" else [0] * 2 * rank
    counts = []
    for i, (n, span, stride) in enumerate(zip(space, spans, strides, strict=True)):
        if way.startswith("SAME"):
            count = -(-n // stride)
            gap = max(0, (count - 1) * stride + span - n)
            pads[i] = gap // 2 if way == "SAME_UPPER" else gap - gap // 2
            pads[i + rank] = gap - pads[i]
        else:
            room = n + pads[i] + pads[i + rank] - span
            count = (-(-room // stride) if up else room // stride) + 1
            if up and (count - 1) * stride >= n + pads[i]:
                count -= 1
        counts.append(max(count, 0))
    return pads[:rank], pads[rank:], counts


class MaxPool(_Pool):
    def _of(self, window: Array, given: dict[str, Any], padded: int) -> Array:
        return window.max(-1)


class AveragePool(_Pool):
    def _of(self, window: Array, given: dict[str, Any], padded: int) -> Array:
        count = padded if given.get("count_include_pad") else window.shape[-1]
        return (window.astype(np.float64).sum(-1) / count).astype(window.dtype)


class LpPool(_Pool):
    def _of(self, window: Array, given: dict[str, Any], padded: int) -> Array:
        p = given.get("p", 2)
        return ((np.abs(window.astype(np.float64)) ** p).sum(-1) ** (1 / p)).astype(window.dtype)


class ConvTranspose(OpRun):
    """Each pixel times each tap, added where it falls, then cut to the result. The reference takes no padding that follows from
    output_shape unless auto_pad is SAME, moves the pixels away from the beginning where that is negative (it is 0 or more),
    and gives all groups the bias of the first."""

    op_domain = ""

    def _run(self, x: Array, w: Array, bias: Array | None = None, **given: Any) -> tuple[Array]:
        rank, groups = x.ndim - 2, given.get("group") or 1
        space, kernel = x.shape[2:], w.shape[2:]
        strides = given.get("strides") or [1] * rank
        dilations = given.get("dilations") or [1] * rank
        extra = given.get("output_padding") or [0] * rank
        steps = zip(space, kernel, strides, dilations, extra, strict=True)
        full = [(n - 1) * s + (k - 1) * d + 1 + e for n, k, s, d, e in steps]
        begins, sizes = _transposed(given, space, strides, full)
        whole = [max(f, b + n) for f, b, n in zip(full, begins, sizes, strict=True)]
        y = np.zeros((x.shape[0], groups, w.shape[1], *whole))
        pixels = x.astype(np.float64).reshape(x.shape[0], groups, -1, *space)
        taps = w.astype(np.float64).reshape(groups, -1, *w.shape[1:])
        for tap in itertools.product(*map(range, kernel)):
            moves = zip(tap, dilations, strides, space, strict=True)
            to = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, s, n in moves)
            y[(..., *to)] += np.einsum("bgc...,gcm->bgm...", pixels, taps[(..., *tap)])
        cut = tuple(slice(b, b + n) for b, n in zip(begins, sizes, strict=True))
        y = y[(..., *cut)].reshape(x.shape[0], -1, *sizes)
        return ((y if bias is None else y + bias.reshape(1, -1, *[1] * rank)).astype(x.dtype),)


def _transposed(
    given: dict[str, Any], space: Sequence[int], strides: Sequence[int], full: Sequence[int]
) -> tuple[list[int], list[int]]:
    """(what is cut off at the beginning, extents of the result)."""
    rank, way = len(space), given.get("auto_pad") or "NOTSET"
    sizes = list(given.get("output_shape") or [])[-rank:]
    if not sizes and way.startswith("SAME"):
        sizes = [n * s for n, s in zip(space, strides, strict=True)]
    if not sizes:
        pads = list(given.get("pads") or []) if way == "NOTSET" else []
        pads = pads or [0] * 2 * rank
        return pads[:rank], [f - pads[i] - pads[i + rank] for i, f in enumerate(full)]
    taken = [max(0, f - n) for f, n in zip(full, sizes, strict=True)]
    return [t // 2 if way == "SAME_UPPER" else t - t // 2 for t in taken], sizes


class LayerNormalization(_LayerNormalization):
    """Mean and deviation are of stash_type, f32; the reference's are of the operand's."""

    op_domain = ""

    def _run(self, *operands: Any, **given: Any) -> tuple[Array, ...]:
        y, *rest = super()._run(*operands, **given)
        return (y, *(r.astype(np.float32) for r in rest))


class Unique(_Unique):
    """Unsorted, elements or slices stand in the order in which they first appear; the reference sorts all the same."""

    op_domain = ""

    def _run(self, x: Array, axis: int | None = None, sorted: int = 1) -> tuple[Array, ...]:
        if sorted:
            return tuple(super()._run(x, axis=axis, sorted=sorted))
        values, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
        order = np.argsort(first)
        place = np.argsort(order)
        values = values[order] if axis is None else np.take(values, order, axis)
        made = (values, first[order], place[inverse.reshape(-1)], counts[order])
        return made[: len(self.output)]


class Attention(_Attention):
    """The scores of mode 0 are the raw products; the reference's are capped where softcap is given."""

    op_domain = ""

    def _run(self, *operands: Array, **given: Any) -> tuple[Array, ...]:
        self._validate_attention25 = int(self.run_params["opsets"][""]) >= 25
        made = super()._run(*operands, **given)
        if given.get("qk_matmul_output_mode") or not given.get("softcap"):
            return made
        return (*made[:3], super()._run(*operands, **{**given, "softcap": 0.0})[3])


class Unsqueeze(OpRun):
    """Axes are those of the result, in any order; before opset 13 the reference inserts one after the other."""

    op_domain = ""

    def _run(self, x: Array, second: Array | None = None, axes: Any = None) -> tuple[Array]:
        places = [int(a) for a in np.asarray(axes if second is None else second).reshape(-1)]
        return (np.expand_dims(x, tuple(places)),)


class RoiAlign(_RoiAlign):
    """Before opset 16 regions are not shifted by half a pixel; the reference's default is that of opset 16."""

    op_domain = ""

    def _run(self, *operands: Array, **given: Any) -> tuple[Array]:
        if int(self.run_params["opsets"][""]) < 16:
            given["coordinate_transformation_mode"] = "output_half_pixel"
        return super()._run(*operands, **given)


class Slice(OpRun):
    """Where it starts and ends is counted from the end if negative, then brought into 0 .. n, or with a negative step 0 .. n-1
    for the start and -1 .. n-1 for the end; NumPy's slices, which the reference takes, begin at -1 too."""

    op_domain = ""

    def _run(
        self, x: Array, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None
    ) -> tuple[Array]:
        firsts, lasts = (np.asarray(v).reshape(-1).tolist() for v in (starts, ends))
        places = list(range(len(firsts))) if axes is None else np.asarray(axes).tolist()
        strides = [1] * len(firsts) if steps is None else np.asarray(steps).tolist()
        for first, last, axis, step in zip(firsts, lasts, places, strides, strict=True):
            n = x.shape[axis]
            low, high = (0, n) if step > 0 else (-1, n - 1)
            first += n if first < 0 else 0
            last += n if last < 0 else 0
            first = min(max(first, 0), high)
            last = min(max(last, low), high)
            x = np.take(x, list(range(first, last, step)), axis)
        return (x,)


class Loop(_Loop):
    """Without a condition it goes on; what iterations give is stacked along a new axis, of extent 0 where there are none. The
    reference takes no condition for a false one, and joins along the first axis."""

    op_domain = ""

    def _run(self, trips: Array | None, cond: Array | None, *state: Array, **given: Any) -> Any:
        names, context = self.body.input_names, given.get("context") or {}
        more = {k: given.get(k) for k in ("attributes", "bindings")}
        rows: list[list[Array]] = [[] for _ in range(self.K)]
        goes_on, count = cond is None or bool(cond), 0
        while goes_on and (trips is None or count < int(np.asarray(trips).reshape(()))):
            if count > MOST_TRIPS:
                raise RuntimeError("a loop without end")
            own = dict(
                zip(names, (np.array(count, np.int64), np.array(goes_on), *state), strict=True)
            )
            goes_on, *results = self._run_body({**context, **own}, **more)
            state = tuple(results[: self.N])
            for row, made in zip(rows, results[self.N :], strict=True):
                row.append(made)
            count += 1
        if count:
            return (*state, *(np.stack(row) for row in rows))
        ports = [o.type.tensor_type for o in self.body.proto_.output[1 + self.N :]]
        return (*state, *map(_no_rows, ports))


def _no_rows(port: onnx.TypeProto.Tensor) -> Array:
    extents = [d.dim_value for d in port.shape.dim]
    return np.zeros((0, *extents), onnx.helper.tensor_dtype_to_np_dtype(port.elem_type))


class BatchNormalization(OpRun):
    """Before opset 14 one output is inference; the reference moves the statistics."""

    op_domain = ""

    def _run(
        self, x: Array, scale: Array, bias: Array, mean: Array, variance: Array, **given: Any
    ) -> Any:
        wide = x.astype(np.float64)
        axes = tuple(i for i in range(x.ndim) if i != 1)
        used = [mean.astype(np.float64), variance.astype(np.float64)]
        moved: list[Array] = []
        if given.get("training_mode"):
            m, own = given["momentum"], [wide.mean(axes), wide.var(axes)]
            moved = [old * m + new * (1 - m) for old, new in zip(used, own, strict=True)]
            used = own
        shape = (1, -1, *[1] * (x.ndim - 2))
        s, b, m, v = (a.reshape(shape).astype(np.float64) for a in (scale, bias, *used))
        y = (wide - m) / np.sqrt(v + given["epsilon"]) * s + b
        made = (y.astype(x.dtype), *(a.astype(mean.dtype) for a in moved))
        return made[: len(self.output)]


class LeakyRelu(OpRun):
    """x below 0 is multiplied by alpha, others stay; the reference multiplies these too, by 0 and by 1."""

    op_domain = ""

    def _run(self, x: Array, alpha: float = 0.01) -> tuple[Array]:
        return (np.where(x < 0, x * x.dtype.type(alpha), x).astype(x.dtype),)


class PRelu(OpRun):
    """As above, with a slope for each element; the reference multiplies 0 too. Before opset 7 slopes are the channels'."""

    op_domain = ""

    def _run(self, x: Array, slope: Array) -> tuple[Array]:
        if int(self.run_params["opsets"][""]) < 7 and slope.ndim == 1:
            slope = slope.reshape(-1, *[1] * (x.ndim - 2))
        return (np.where(x < 0, x * slope, x).astype(x.dtype),)


class Elu(OpRun):
    """0 is 0 whatever alpha is; the reference multiplies there."""

    op_domain = ""

    def _run(self, x: Array, alpha: float = 1.0) -> tuple[Array]:
        return (np.where(x < 0, alpha * np.expm1(x), x).astype(x.dtype),)


class Shape(OpRun):
    """Where it starts and ends is brought into 0 .. rank; the reference adds the rank once and slices as NumPy does."""

    op_domain = ""

    def _run(self, x: Array, start: int | None = None, end: int | None = None) -> tuple[Array]:
        rank = x.ndim
        first, last = (
            min(max(p + rank if p < 0 else p, 0), rank)
            for p in (start or 0, rank if end is None else end)
        )
        return (np.array(x.shape[first:last], np.int64),)


class QuantizeLinear(_QuantizeLinear):
    """Saturates; the reference takes what is beyond 32 bits, and infinity, for the least integer."""

    op_domain = ""

    def _run(self, x: Array, scale: Array, zero: Array | None = None, **given: Any) -> tuple[Array]:
        told = given.get("output_dtype") or onnx.TensorProto.UINT8
        kind = onnx.helper.tensor_dtype_to_np_dtype(told) if zero is None else zero.dtype
        if "float" in kind.name:
            return tuple(super()._run(x, scale, zero, **given))
        axis, block = given.get("axis", 1), given.get("block_size") or None
        divisor = reshape_input(scale, x.shape, axis, block)
        if given.get("precision"):
            wide = onnx.helper.tensor_dtype_to_np_dtype(given["precision"])
            x, divisor = x.astype(wide), divisor.astype(wide)
        codes = np.rint((x / divisor).astype(np.float64))
        if zero is not None:
            codes = codes + reshape_input(zero, x.shape, axis, block).astype(np.float64)
        ends = ml_dtypes.iinfo(kind)
        return (np.clip(codes, ends.min, ends.max).astype(kind),)


class ScatterElements(OpRun):
    """The least and the largest of numbers and NaN are NaN, as Min and Max say; the reference's depend on the order."""

    op_domain = ""

    def _run(
        self, x: Array, indices: Array, updates: Array, axis: int = 0, reduction: str = "none"
    ) -> tuple[Array]:
        ways = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}
        y = x.copy()
        for at in np.ndindex(indices.shape):
            to = list(at)
            to[axis] = int(indices[at])
            old, new = y[tuple(to)], updates[at]
            y[tuple(to)] = ways[reduction](old, new) if reduction in ways else new
        return (y,)


class Conv(_Conv):
    """Pads are zeros that are multiplied; between the taps of a dilated kernel is nothing, where the reference has zeros too."""

    op_domain = ""

    def _run(self, x: Array, w: Array, bias: Array | None = None, **given: Any) -> tuple[Array]:
        rank, groups = x.ndim - 2, given.get("group") or 1
        dilations = given.get("dilations") or [1] * rank
        if _finite(x) or set(dilations) == {1}:
            return tuple(super()._run(x, w, bias, **given))
        strides = given.get("strides") or [1] * rank
        spans = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations, strict=True)]
        begins, ends, counts = _extents(given, x.shape[2:], spans, strides)
        wide = np.pad(x.astype(np.float64), [(0, 0)] * 2 + list(zip(begins, ends, strict=True)))
        y = np.zeros((x.shape[0], w.shape[0], *counts))
        for at in itertools.product(*map(range, counts)):
            for tap in itertools.product(*map(range, w.shape[2:])):
                steps = zip(at, strides, tap, dilations, strict=True)
                pixels = wide[(..., *(i * s + k * d for i, s, k, d in steps))]
                taps = w[(..., *tap)].astype(np.float64).reshape(groups, -1, w.shape[1])
                made = np.einsum("ngc,grc->ngr", pixels.reshape(x.shape[0], groups, -1), taps)
                y[(..., *at)] += made.reshape(x.shape[0], -1)
        return ((y if bias is None else y + bias.reshape(-1, *[1] * rank)).astype(x.dtype),)


def _finite(x: Array) -> bool:
    return bool(np.isfinite(x.astype(np.float64)).all())


class AffineGrid(OpRun):
    """Coordinates as exact as f64 has them, the middle one 0; the reference adds up steps. A single one at the corners is -1, as there."""

    op_domain = ""

    def _run(self, theta: Array, size: Array, align_corners: int = 0) -> tuple[Array]:
        space = [int(n) for n in size[2:]]
        axes = [
            (2 * np.arange(n) + 1 - n) / (max(n - 1, 1) if align_corners else n)
            - (align_corners == n == 1)
            for n in space
        ]
        grids = np.meshgrid(*axes, indexing="ij")[::-1]
        points = np.stack([*grids, np.ones(space)], -1)
        wide = theta.astype(np.float64).reshape(theta.shape[0], *[1] * len(space), *theta.shape[1:])
        y = (wide * points[..., None, :]).sum(-1)
        return (y.astype(theta.dtype),)


class Optional(OpRun):
    """The element itself is in it; the reference gives a list of it, which OptionalGetElement hands on as one axis more."""

    op_domain = ""

    def _run(self, x: Array | None = None, type: Any = None) -> tuple[Array | None]:
        return (x,)


CORRECTED: Final = [
    LSTM, GRU, RNN, Attention, Unique, Unsqueeze, RoiAlign, Slice, Loop, BatchNormalization, LeakyRelu, PRelu, Elu, Shape, QuantizeLinear,
    ScatterElements, AffineGrid, Conv, Optional,
    Softmax, LogSoftmax, Hardmax, LRN, LpNormalization, ReduceLogSumExp, Gelu, Celu, Selu, Softplus, GlobalMaxPool, ConvTranspose, LayerNormalization, OneHot, MaxPool, AveragePool, LpPool,
]  # fmt: skip

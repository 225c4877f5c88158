"""ONNX's reference evaluator, with what it has wrong set right from the standard's text, and with a look into each node.

Each class of `CORRECTED` says what the standard says and what onnx's own class does instead.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import onnx
import onnx.defs
from graphs.recurrent import GRU, LSTM, RNN
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_conv_transpose import ConvTranspose as _ConvTranspose
from onnx.reference.ops.op_layer_normalization import LayerNormalization as _LayerNormalization
from onnx.reference.ops.op_loop import Loop as _Loop
from onnx.reference.ops.op_roi_align import RoiAlign as _RoiAlign
from onnx.reference.ops.op_unique import Unique as _Unique

Array = np.ndarray[Any, Any]
MOST_TRIPS: Final = 100
Call = Callable[..., tuple[Any, ...]]
See = Callable[[onnx.NodeProto, Call, Sequence[Any]], tuple[Any, ...]]
"""Gets a node, what computes it, and its inputs; returns the outputs."""


class Evaluator(ReferenceEvaluator):
    """With the corrected operators, in subgraphs and functions too."""

    def __init__(self, proto: Any, **given: Any) -> None:
        super().__init__(proto, **{**given, "new_ops": CORRECTED})


def evaluator(model: onnx.ModelProto, see: See | None = None) -> ReferenceEvaluator:
    """Runs `model`; `see` is asked for every node, those of subgraphs too."""
    made = Evaluator(with_defaults(model))
    _watch(made, see or _run, model.opset_import[0].version)
    return made


def _run(node: onnx.NodeProto, call: Call, inputs: Sequence[Any]) -> tuple[Any, ...]:
    return call(*inputs)


def _watch(made: ReferenceEvaluator, see: See, opset: int) -> None:
    for node in made.rt_nodes_:
        proto = node.onnx_node

        def run(*inputs: Any, _proto: Any = proto, _call: Call = node.run, **more: Any) -> Any:
            outputs = see(_proto, lambda *xs: _call(*xs, **more), inputs)
            return _as_defined(_proto, opset, inputs, outputs)

        node.run = run
        for a in proto.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                _watch(getattr(node, a.name), see, opset)
        if hasattr(node, "impl_"):  # a function of the model
            _watch(node.impl_, see, opset)


def _as_defined(
    node: onnx.NodeProto, opset: int, inputs: Sequence[Any], outputs: Sequence[Any]
) -> tuple[Any, ...]:
    """Results of the types that the standard says: the reference widens some integers, and some f16."""
    if node.domain or not onnx.defs.has(node.op_type, max_inclusive_version=opset):
        return tuple(outputs)
    schema = onnx.defs.get_schema(node.op_type, opset)
    bound = {
        schema.inputs[min(i, len(schema.inputs) - 1)].type_str: x.dtype
        for i, x in enumerate(inputs)
        if isinstance(x, np.ndarray)
    }
    if schema.outputs and not schema.outputs[-1].is_homogeneous:
        return tuple(outputs)  # If, Loop, Scan: each of a type of its own
    out = []
    for i, y in enumerate(outputs):
        wanted = bound.get(schema.outputs[min(i, len(schema.outputs) - 1)].type_str)
        fits = wanted is None or not isinstance(y, (np.ndarray, np.generic)) or y.dtype == wanted
        out.append(y if fits else np.asarray(y).astype(wanted))
    return tuple(out)


def with_defaults(model: onnx.ModelProto) -> onnx.ModelProto:
    """Attributes that are left out, written down as the model's opset says: the evaluator takes those of the newest one."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    for graph in (out.graph, *out.functions):
        _fill(graph, out.opset_import[0].version)
    return out


def _fill(graph: onnx.GraphProto | onnx.FunctionProto, opset: int) -> None:
    for node in graph.node:
        there = {a.name for a in node.attribute}
        for a in node.attribute:
            if a.type == onnx.AttributeProto.GRAPH:
                _fill(a.g, opset)
        if node.domain or not onnx.defs.has(node.op_type, max_inclusive_version=opset):
            continue
        schema = onnx.defs.get_schema(node.op_type, opset)
        for name, attribute in schema.attributes.items():
            if name not in there and attribute.default_value.type:
                node.attribute.append(attribute.default_value)


# --- what the reference has wrong -----------------------------------------------------------------------------------------


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


class ConvTranspose(_ConvTranspose):
    """The bias is one number an output channel; the reference gives all groups that of the first."""

    op_domain = ""

    def _run(self, x: Array, w: Array, bias: Array | None = None, **given: Any) -> tuple[Array]:
        (y,) = super()._run(x, w, None, **given)
        return (y if bias is None else y + bias.reshape(1, -1, *[1] * (x.ndim - 2)),)


class LayerNormalization(_LayerNormalization):
    """Mean and deviation are of stash_type, f32; the reference's are of the operand's."""

    op_domain = ""

    def _run(self, *operands: Any, **given: Any) -> tuple[Array, ...]:
        y, *rest = super()._run(*operands, **given)
        return (y, *(r.astype(np.float32) for r in rest))


class Unique(_Unique):
    """Unsorted, elements stand in the order in which they first appear; the reference sorts all the same."""

    op_domain = ""

    def _run(self, x: Array, axis: int | None = None, sorted: int = 1) -> tuple[Array, ...]:
        if sorted or axis is not None:
            return tuple(super()._run(x, axis=axis, sorted=sorted))
        values, first, inverse, counts = np.unique(x, True, True, True)
        order = np.argsort(first)
        place = np.argsort(order)
        made = (values[order], first[order], place[inverse.reshape(-1)], counts[order])
        return made[: len(self.output)]


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


CORRECTED: Final = [
    LSTM, GRU, RNN, Unique, Unsqueeze, RoiAlign, Slice, Loop, BatchNormalization,
    Softmax, LogSoftmax, Hardmax, LRN, LpNormalization, GlobalMaxPool, ConvTranspose, LayerNormalization, OneHot, MaxPool, AveragePool, LpPool,
]  # fmt: skip

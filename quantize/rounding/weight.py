"""One weight to codes and scales by one of the algorithms, and what that costs.

nearest  scales from absmax
search   scales of the least squared error, weighted by the input where statistics are there
gptq     codes and scales of the least error at the layer's output, by statistics; `scale_search` for a layer without
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import pteron.export.graph as graphs
from pteron.export.graph.weights import read, rows_of
from pteron.schema.errors import QuantError

from ..encode import blocks
from ..encode.format import BlockFormat, Encoded, joined
from ..observe.statistics import Moments
from ..recipe.layers import Layer
from ..recipe.rules import ALGORITHMS
from ..report import LayerReport
from .gptq import gptq
from .scale_search import search

Array = NDArray[Any]
T = TypeVar("T")

NEAREST, SEARCH, GPTQ = ALGORITHMS


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """A weight's codes [n, k] and scales, and what they cost.

    `missed` f32 [n]: what the mean of the inputs gives less at each output than it did, where a bias makes up for it.
    """

    encoded: Encoded
    report: LayerReport
    missed: Array | None = None

    def weight(self) -> Array:
        """What the codes stand for, f32 [n, k]."""
        return _decoded(self.encoded, *self.report.shape)


def matrix_of(layer: Layer) -> Array:
    """The weight in f32, [n, k]."""
    tensor = graphs.constant_tensor(layer.node.inputs[layer.slot])
    assert tensor is not None
    return np.asarray(layer.matrix(read(tensor)), np.float32)


def rounded(
    layer: Layer,
    fmt: BlockFormat,
    algorithm: str,
    moments: Moments | None,
    threads: int = 1,
    *,
    biased: bool = False,
    w: Array | None = None,
) -> Rounded:
    """Rounds a layer's weight; the result does not depend on the number of threads.

    `biased`: the layer has a bias of its own. By moments that takes the mean of the error, and the codes the rest. `w` [n, k]: is rounded
    in place of the layer's own.

    Raises:
        QuantError: the weight has no form in the format.
    """
    w = matrix_of(layer) if w is None else w
    takes = biased and moments is not None
    moments = moments.centered() if moments is not None and takes else moments
    used = algorithm if moments is not None or algorithm != GPTQ else SEARCH
    if not w.size:
        used = NEAREST
    try:
        blocks.refuse_lost(w, fmt)
        if used == GPTQ and moments is not None:
            encoded = _by_gptq(w, fmt, moments, threads)
        else:
            encoded = _by_rows(w, fmt, used, moments, threads)
    except QuantError as error:
        raise QuantError(f"layer {layer.name}: {_whole(w, fmt) or error}") from None
    made = Rounded(encoded, _report(layer, w, encoded, used, moments, threads))
    if moments is None or not takes:
        return made
    return dataclasses.replace(
        made, missed=mean_of(w - made.weight(), moments.mean).astype(np.float32)
    )


def mean_of(w: Array, mean: Array) -> Array:
    """w x for the mean x of each row's group, f64 [n]."""
    each = np.repeat(mean, len(w) // len(mean), axis=0)
    return np.asarray((w.astype(np.float64) * each).sum(1))


def _by_gptq(w: Array, fmt: BlockFormat, moments: Moments, threads: int) -> Encoded:
    wide, k = _filled(w, fmt), w.shape[1]
    short = wide.shape[1] - k
    second = moments.second
    if short:
        second = np.pad(second, ((0, 0), (0, short), (0, short)))
    made = gptq(wide, fmt, second, threads=threads)
    return dataclasses.replace(made, codes=made.codes[:, :k])


def _in_bands(shape: tuple[int, int], work: Callable[[int, int], T], threads: int) -> list[T]:
    """What `work` makes of each band of rows [begin, end), in order."""
    n, k = shape
    bands = list(rows_of(n, 64 * k)) if n else [(0, 0)]
    if min(threads, len(bands)) == 1:
        return [work(*band) for band in bands]
    with ThreadPoolExecutor(min(threads, len(bands))) as pool:
        return list(pool.map(lambda band: work(*band), bands))


def _by_rows(
    w: Array, fmt: BlockFormat, algorithm: str, moments: Moments | None, threads: int
) -> Encoded:
    """Some rows at a time: the weight in f32 is the most that is held besides codes and scales."""
    n, k = w.shape
    codes, weight = np.empty((n, k), np.uint8), None
    if moments is not None and algorithm == SEARCH:
        weight = np.diagonal(moments.second, axis1=1, axis2=2)
        weight = np.repeat(weight, n // len(weight), axis=0) if len(weight) > 1 else weight

    def encode(begin: int, end: int) -> Encoded:
        rows = _filled(w[begin:end], fmt)
        if algorithm == NEAREST:
            part = blocks.encode(rows, fmt)
        else:
            some = weight if weight is None or len(weight) == 1 else weight[begin:end]
            short = rows.shape[1] - k
            part = search(rows, fmt, None if some is None else np.pad(some, ((0, 0), (0, short))))
        codes[begin:end] = part.codes[:, :k]
        return dataclasses.replace(part, codes=codes[begin:end, :0])

    return dataclasses.replace(joined(_in_bands(w.shape, encode, threads)), codes=codes)


def _filled(rows: Array, fmt: BlockFormat) -> Array:
    """Rows of whole blocks."""
    short = -rows.shape[1] % fmt.block if fmt.block else 0
    wide = np.pad(rows, ((0, 0), (0, short))) if short else rows
    return np.ascontiguousarray(wide, np.float32)


def _whole(w: Array, fmt: BlockFormat) -> str:
    """What is wrong with the whole weight, not with some rows of it."""
    try:
        blocks.encode(_filled(w, fmt), fmt)
    except QuantError as error:
        return str(error)
    return ""


def _decoded(encoded: Encoded, n: int, k: int) -> Array:
    fmt = encoded.format
    codes = encoded.codes
    short = -k % fmt.block if fmt.block else 0
    if short:
        codes = np.pad(codes, ((0, 0), (0, short)))
    return blocks.decode(dataclasses.replace(encoded, codes=codes))[:, :k]


def _report(
    layer: Layer,
    w: Array,
    encoded: Encoded,
    algorithm: str,
    moments: Moments | None,
    threads: int,
) -> LayerReport:
    n, k = w.shape

    def measure(begin: int, end: int) -> tuple[float, ...]:
        rows = w[begin:end]
        error = _decoded(encoded.rows(begin, end), end - begin, k) - rows
        output = signal = 0.0
        second: Sequence[Array] = () if moments is None else tuple(moments.second)
        each = n // max(len(second), 1)
        for g, h in enumerate(second):
            some = slice(max(g * each - begin, 0), max((g + 1) * each - begin, 0))
            output += _along(error[some], h)
            signal += _along(rows[some], h)
        worst = max(float(error.max(initial=0)), -float(error.min(initial=0)))
        return _power(error), _power(rows), output, signal, worst

    sums = _in_bands(w.shape, measure, threads)
    noise, power, output, signal, _ = (sum(part) for part in zip(*sums, strict=True))
    behind = sum(part.nbytes for part in encoded.parts[1:])
    size = n * k * encoded.format.element.bits + behind * 8
    return LayerReport(
        layer.name,
        layer.node.op_type,
        encoded.format.name,
        (n, k),
        size / max(n * k, 1),
        noise,
        power,
        max(band[-1] for band in sums),
        str(layer.node.name),
        algorithm=algorithm,
        output=output / signal if signal > 0 else None,
    )


def _power(x: Array) -> float:
    return float(np.square(x, dtype=np.float64).sum())


def _along(x: Array, second: Array) -> float:
    """The sum of squares at the output."""
    return float(((x @ second) * x).sum(dtype=np.float64))

"""Weights and biases of static int8, layer after layer, by what each layer reads in the network that is rounded so far.

    y = w x + b   =>   y = w' x' + b', w' near w + w E[(x - x') x'^T] (E[x' x'^T] + r)^-1, b' = b + w mean(x) - w' mean(x')

x' is what the layer reads in the rounded network, x in the one in f32: weights make up for what earlier layers lost as far as x' tells
it, the ridge r keeps them from learning the samples by heart, GPTQ rounds them for x', and the result keeps its mean. Moments are about
the mean where a bias takes that. Li et al. 2025, https://arxiv.org/abs/2504.02692 (GPTAQ), in closed form and with a ridge; biases:
Nagel et al. 2019, section 4.2, https://arxiv.org/abs/1906.04721.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray

from ..encode import int8
from ..observe.calibrate import Ranges
from ..observe.layer_inputs import Reading, reading, rows
from ..observe.samples import Runner, Sample
from ..observe.segmented import Order, in_segments
from ..observe.statistics import CHUNK, Moments, together
from ..recipe.layers import Layer, layers
from ..recipe.units import Unit
from ..rounding import cholesky
from ..rounding.journal import NO_JOURNAL, Journal, digest
from ..rounding.spill import Spill
from ..rounding.weight import GPTQ, matrix_of, mean_of, rounded
from .qdq import Constants, Solved, simulate_static

Array = NDArray[Any]

RIDGE: Final = 10.0
"""Times the mean square of a column: weights make up for what the strongest directions of x' tell. MobileNetV2 by 64 crops of photographs,
error of the logits on crops of others, simulated: 0.093 without, 0.158 at 0.01, 0.085 at 3, 0.081 at 10, 0.080 at 30, 0.085 at 100."""

ENOUGH: Final = 16
"""Rows a sample that a layer needs for each of its columns, and `CHUNK` at least: neighbours in a picture tell the same."""

STILL: Final = 2.0**-20
"""Times the mean square: what is left about the mean of inputs that are the same in every sample is rounding in f32, and no reason to
move weights."""


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """A layer of the model in f32 and the same of the rounded one, how each reads its input, and the constants of the latter."""

    place: int
    exact: Layer
    rounded: Layer
    reads: tuple[Reading, Reading]
    constants: Constants


def solved(
    model: ir.Model,
    plan: Sequence[Unit],
    copy: ir.Model,
    copied: list[Unit],
    ranges: Ranges,
    bits: Sequence[int],
    given: Iterable[Sample],
    runner: Runner,
    threads: int = 1,
    progress: Callable[[str], None] | None = None,
    journal: Journal = NO_JOURNAL,
    of: str = "",
) -> dict[int, Solved]:
    """Weights and shifts of biases by places, of the network whose units have activations of these bits.

    Args:
        copy: Is rounded, in place: a copy of the model, with `copied`, the plan of the copy.
        given: Samples; each is run twice, in segments from layer to layer, in f32 and rounded.
        journal: Has what was solved `of` this model, by these ranges and samples. What it lacks sums what the same segments give.

    Raises:
        QuantError: a weight has no form in int8.
    """
    constants = simulate_static(copy, plan, copied, ranges, bits)
    found: dict[int, Solved] = {}
    spill = Spill()
    pairs = _pairs(model, plan, copy, copied, constants)
    for place in constants.keys() - {pair.place for pair in pairs}:
        layer = next(x for x in layers(model) if x.node is plan[place].head)
        made = rounded(layer, int8.FORMAT, GPTQ, None, threads)
        found[place] = Solved(spill.rounded(made))
        constants[place].become(found[place])
    keys = {pair.place: digest("solved", of, list(bits), pair.place) for pair in pairs}
    kept = {place: _kept(journal, key, spill) for place, key in keys.items()}
    parts = _parts(pairs, copy)
    if all(kept.values()):
        return found | {place: one for place, one in kept.items() if one is not None}
    for number, (some, runs) in enumerate(_in_step(model, copy, parts, given, runner), 1):
        if progress:
            progress(f"quantize {number}/{len(parts)} for {some[0].exact.name} int8 {GPTQ}")
        left = [pair for pair in some if kept[pair.place] is None]
        sums = _summed({pair.reads: pair for pair in left}, runs, threads)
        for pair in some:
            one = kept[pair.place]
            if one is None:
                one = _one(pair, sums[pair.reads], plan[pair.place], threads, spill)
                more = {} if one.shift is None else {"shift": one.shift}
                journal.keep(keys[pair.place], one.rounded, **more)
            else:
                pair.constants.become(one)
            found[pair.place] = one
    return found


def _kept(journal: Journal, key: str, spill: Spill) -> Solved | None:
    made = journal.rounded(key, int8.FORMAT)
    return None if made is None else Solved(spill.rounded(made), journal.array(key, "shift"))


def _pairs(
    model: ir.Model,
    plan: Sequence[Unit],
    copy: ir.Model,
    copied: Sequence[Unit],
    constants: Mapping[int, Constants],
) -> list[_Pair]:
    """Of the layers whose inputs samples tell."""
    ours, theirs = ({layer.node: layer for layer in layers(m)} for m in (model, copy))
    found = []
    for place, some in constants.items():
        one, other = ours[plan[place].head], theirs[copied[place].head]
        reads = reading(one, model.graph), reading(other, copy.graph)
        if reads[0] is not None and reads[1] is not None:
            found.append(_Pair(place, one, other, (reads[0], reads[1]), some))
    return found


def _parts(pairs: Iterable[_Pair], copy: ir.Model) -> list[list[_Pair]]:
    """Those that read one value together, in the order in which values are made."""
    by_value: dict[str, list[_Pair]] = {}
    for pair in pairs:
        by_value.setdefault(pair.reads[1].value, []).append(pair)
    order = Order(copy.graph)
    return [by_value[n] for n in sorted(by_value, key=lambda n: order.place(order.values[n]))]


def _in_step(
    model: ir.Model,
    copy: ir.Model,
    parts: Sequence[list[_Pair]],
    given: Iterable[Sample],
    runner: Runner,
) -> Iterator[tuple[list[_Pair], Iterator[tuple[Mapping[str, Array], Mapping[str, Array]]]]]:
    """For each part what it reads in f32 and rounded, a sample at a time."""
    names = [[{pair.reads[i].value for pair in part} for part in parts] for i in (0, 1)]
    exact, rough = (
        in_segments(m, [sorted(some) for some in each], given, runner)
        for m, each in zip((model, copy), names, strict=True)
    )
    for part, *both in zip(parts, exact, rough, strict=True):
        yield part, zip(*both, strict=True)


class _Sums:
    """Of what one layer reads in f32, x, and rounded, x': x' x'^T and (x - x') x'^T, f64 [groups, k, k], and means.

    Rows are summed `CHUNK` at a time, in f32, bands of columns by up to `threads` side by side; of x' x'^T the lower half until it is asked for.
    """

    def __init__(self, groups: int, k: int, threads: int = 1) -> None:
        self.columns = k
        self._second, self._cross = (np.zeros((groups, k, k)) for _ in range(2))
        self._first, self._exact = (np.zeros((groups, k)) for _ in range(2))
        self._parts: list[tuple[Array, Array]] = []
        self._held = self.count = 0
        self._threads = threads

    def add(self, x: Array, y: Array) -> None:
        """`x` in f32, `y` rounded, [groups, m, k]."""
        for begin in range(0, x.shape[1], CHUNK):
            some, other = (z[:, begin : begin + CHUNK] for z in (x, y))
            self._held += some.shape[1]
            if self._held < CHUNK:  # they wait for those of the next sample
                some, other = some.copy("K"), other.copy("K")
            self._parts.append((some, other))
            if self._held >= CHUNK:
                self._sum()

    def _sum(self) -> None:
        if not self._parts:
            return
        x, y = (together(each) for each in zip(*self._parts, strict=True))
        missed = (x - y).swapaxes(1, 2)
        turned = y.swapaxes(1, 2)
        k = y.shape[2]

        def band(begin: int) -> None:
            end = min(begin + cholesky.BAND, k)
            self._second[:, begin:end, :end] += turned[:, begin:end] @ y[:, :, :end]
            self._cross[:, begin:end] += missed[:, begin:end] @ y

        cholesky.in_turn(band, range(0, k, cholesky.BAND), self._threads)
        self._first += y.sum(1, dtype=np.float64)
        self._exact += x.sum(1, dtype=np.float64)
        self.count += x.shape[1]
        self._parts, self._held = [], 0

    def _mean(self, total: Array) -> Array:
        self._sum()
        return np.asarray(total / max(self.count, 1))

    @property
    def first(self) -> Array:
        """The mean of x', [groups, k]."""
        return self._mean(self._first)

    @property
    def exact(self) -> Array:
        """The mean of x, [groups, k]."""
        return self._mean(self._exact)

    @property
    def second(self) -> Array:
        """The mean of x' x'^T, [groups, k, k]."""
        k = self._second.shape[1]
        self._sum()
        for begin in range(0, k, cholesky.BAND):  # above the bands that were summed
            end = min(begin + cholesky.BAND, k)
            self._second[:, begin:end, end:] = self._second[:, end:, begin:end].swapaxes(1, 2)
        return self._mean(self._second)

    def moments(self) -> Moments:
        """Of x'."""
        second, mean = (x.astype(np.float32) for x in (self.second, self.first))
        return Moments(second, mean, None, self.count)

    def made_up(self, w: Array, biased: bool) -> Array:
        """The weight [n, k] that gives of x' what is nearest to w x, with the ridge. Layers that read the same share the sums, which stay."""
        second, cross = self.second, self._mean(self._cross)
        mean, exact = self.first, self.exact
        k = second.shape[1]
        square = np.trace(second, axis1=1, axis2=2) / max(k, 1)
        least = np.maximum(STILL * square, 2.0**-126)
        if biased:
            second -= mean[:, :, None] * mean[:, None, :]
            cross -= (exact - mean)[:, :, None] * mean[:, None, :]
        at = np.arange(k)
        power = np.maximum(np.trace(second, axis1=1, axis2=2) / max(k, 1), least)
        second[:, at, at] += (RIDGE * power)[:, None]
        groups = w.astype(np.float64).reshape(len(second), -1, k)
        wanted = (groups @ cross).swapaxes(1, 2)
        if len(second) > 1:  # groups are many and small
            more = np.linalg.solve(second, wanted)
        else:
            low = cholesky.factor(second[0], self._threads)
            more = cholesky.solve(low, wanted[0], self._threads)[None]
        return np.asarray((groups + more.swapaxes(1, 2)).reshape(w.shape), np.float32)


def _summed(
    wanted: Mapping[tuple[Reading, Reading], _Pair],
    runs: Iterator[tuple[Mapping[str, Array], Mapping[str, Array]]],
    threads: int,
) -> dict[tuple[Reading, Reading], _Sums]:
    sums = {
        reads: _Sums(reads[1].groups, pair.exact.extents[1], threads)
        for reads, pair in wanted.items()
    }
    for number, both in enumerate(runs):
        for reads, total in sums.items():
            most = max(CHUNK, ENOUGH * total.columns)
            x, y = (
                rows(how, np.asarray(values[how.value], np.float32), most, number)
                for how, values in zip(reads, both, strict=True)
            )
            total.add(x, y)
    return sums


def _one(pair: _Pair, sums: _Sums, unit: Unit, threads: int, spill: Spill) -> Solved:
    """A layer's weight and the shift of its bias; the rounded network has them then."""
    w, biased = matrix_of(pair.exact), unit.bias is not None
    moments = sums.moments()
    wanted = sums.made_up(w, biased)
    one = rounded(pair.exact, int8.FORMAT, GPTQ, moments, threads, biased=biased, w=wanted)
    kept = spill.rounded(one)
    made = Solved(kept)
    pair.constants.become(made)
    if biased:
        written = matrix_of(pair.rounded)
        shift = mean_of(w, sums.exact) - mean_of(written, sums.first)
        made = Solved(kept, np.asarray(shift, np.float32))
        pair.constants.become(made)
    return made

"""Integers that say where tokens stand (positions, lengths) become sums over the session's position.

What a graph makes of the lengths of its inputs is evaluated for several numbers of tokens and fitted:
    v[.., s, ..] = of_past * past + of_new * new + first + step * s
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import ModelError

from ... import graph as g
from .probe import Probe

WHOLE_BYTES: Final = "BOOL INT8 INT16 INT32 INT64 UINT8 UINT16 UINT32 UINT64"
INTEGERS: Final = frozenset(ir.DataType[name] for name in WHOLE_BYTES.split())
EXTENTS: Final = {
    "Reshape": (1,), "Expand": (1,), "Slice": (1, 2, 3, 4), "ConstantOfShape": (0,), "Range": (0, 1, 2), "Tile": (1,), "Pad": (1,),
    "Split": (1,), "Unsqueeze": (1,), "Squeeze": (1,), "ReduceSum": (1,), "ReduceMean": (1,),
}  # fmt: skip
"""Inputs that decide extents and nothing else."""


@dataclasses.dataclass(frozen=True, slots=True)
class Runs:
    """Numbers of tokens (before, now) that are tried."""

    tried: tuple[tuple[int, int], ...]
    has_past: bool

    @staticmethod
    def of(capacity: int, has_past: bool) -> Runs:
        pasts = sorted({0, 1, min(5, capacity - 1), capacity - 1}) if has_past else [0]
        news = (1, 2, 3, 7) if has_past else (1, 2, 3, 7, 12)
        return Runs(tuple((p, n) for p in pasts for n in news), has_past)


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    """The fit; `axis` is that of tokens, None where there is none; the others are numbers, or arrays of the value's shape."""

    of_past: g.Array
    of_new: g.Array
    first: g.Array
    step: int
    axis: int | None
    rank: int
    wide: tuple[int, ...] = ()  # extents beside the axis, of which all elements are equal; (): 1

    def at(self, past: int, new: int) -> g.Array:
        base = self.of_past * past + self.of_new * new + self.first
        if self.axis is None:
            return np.asarray(base)
        shape = [new if i == self.axis else 1 for i in range(self.rank)]
        made = np.asarray(base + self.step * np.arange(new)).reshape(shape)
        whole = [new if i == self.axis else n for i, n in enumerate(self.wide or shape)]
        return np.broadcast_to(made, whole)


def fit(arrays: Sequence[g.Array], runs: Runs) -> Place | None:
    """None: the arrays are no such sums."""
    by_run = dict(zip(runs.tried, (a.astype(np.int64) for a in arrays), strict=True))
    rank = arrays[0].ndim
    axes = [i for i in range(rank) if all(a.shape[i] == n for (_, n), a in by_run.items())]
    if len(axes) > 1 or any(a.ndim != rank for a in arrays):
        return None
    axis = axes[0] if axes else None
    firsts = by_run
    step = 0
    if axis is not None:
        lines = {
            run: np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis]) for run, a in by_run.items()
        }
        if any(len(line) == 0 for line in lines.values()):
            return None
        pair = lines[0, 2][0]
        step = int(pair[1] - pair[0])
        firsts = {run: line[0, 0] for run, line in lines.items()}
    elif any(a.shape != arrays[0].shape for a in arrays):
        return None
    start = firsts[0, 1]
    of_past = np.asarray(firsts[1, 1] - start) if runs.has_past and (1, 1) in firsts else start * 0
    made = Place(of_past, np.asarray(firsts[0, 2] - start), np.asarray(0), step, axis, rank)
    wide = tuple(1 if i == axis else n for i, n in enumerate(by_run[0, 1].shape))
    repeated = axis is not None and any(n != 1 for n in wide)
    first = np.asarray(start - made.of_new)
    made = dataclasses.replace(made, first=first, wide=wide if repeated else ())
    return made if all(np.array_equal(made.at(*run), a) for run, a in by_run.items()) else None


def borders(model: ir.Model, probe: Probe) -> Iterator[tuple[ir.Value, list[tuple[ir.Node, int]]]]:
    """Integers that follow from sizes, and who makes something else of them: data, or floats."""
    inner = {n for n in model.graph if all(_is_inner(v, probe) for v in n.outputs)}
    found: dict[ir.Value, list[tuple[ir.Node, int]]] = {}
    for node in model.graph:
        for i, value in enumerate(node.inputs):
            if value is not None and node not in inner and _is_inner(value, probe):
                found.setdefault(value, []).append((node, i))
    yield from found.items()


def _is_inner(value: ir.Value, probe: Probe) -> bool:
    return value in probe.sized and value.dtype in INTEGERS


@dataclasses.dataclass(slots=True)
class Places:
    """Nodes that compute places of the session's `position`, i64[1]; `new` is the number of tokens of a run, i64[1]."""

    graph: ir.Graph
    position: ir.Value
    new: ir.Value
    made: list[ir.Node]
    steps: ir.Value | None = None

    def value(self, place: Place, dtype: ir.DataType) -> ir.Value:
        """A value of these places."""
        base = self._sum(place)
        if place.axis is not None:
            if self.steps is None:
                zero, one = self._constant(np.array(0)), self._constant(np.array(1))
                count = self._op("Squeeze", self.new, self._constant(np.array([0])))
                self.steps = self._op("Range", zero, count, one)
            steps = self.steps
            if place.step != 1:
                steps = self._op("Mul", steps, self._constant(np.array([place.step])))
            base = steps if base is None else self._op("Add", steps, base)
            others = [i for i in range(place.rank) if i != place.axis]
            if others:
                base = self._op("Unsqueeze", base, self._constant(np.array(others)))
            if place.wide:
                base = self._op("Add", base, self._constant(np.zeros(place.wide)))
        assert base is not None
        if place.axis is None and place.rank == 0:
            base = self._op("Squeeze", base, self._constant(np.array([0])))
        if dtype != ir.DataType.INT64:
            base = self._op("Cast", base, to=int(dtype))
        return base

    def _sum(self, place: Place) -> ir.Value | None:
        terms: list[ir.Value] = []
        for factor, of in ((place.of_past, self.position), (place.of_new, self.new)):
            if np.any(factor):
                whole = np.all(factor == 1) and factor.ndim == 0
                terms.append(of if whole else self._op("Mul", of, self._constant(factor)))
        if np.any(place.first) or not (terms or place.axis is not None):
            terms.append(self._constant(place.first))
        total: ir.Value | None = None
        for term in terms:
            total = term if total is None else self._op("Add", total, term)
        return total

    def _constant(self, array: g.Array) -> ir.Value:
        return g.initializer(self.graph, np.asarray(array, np.int64), "place")

    def _op(self, kind: str, *inputs: ir.Value, **attributes: int) -> ir.Value:
        node = ir.node(kind, inputs, attributes)
        node.outputs[0].name = f"place.{len(self.made)}"
        self.made.append(node)
        node.outputs[0].type = ir.TensorType(ir.DataType.INT64)
        return node.outputs[0]


def settle(
    model: ir.Model, probe: Probe, moving: set[ir.Value], runs: Runs, places: Places
) -> None:
    """Every integer that follows from the tokens before a run, and those of a whole text that count tokens, by the session's position.

    Args:
        moving: Values that depend on the number of earlier tokens, or (without caches) on that of all.

    Raises:
        ModelError: one is no sum of that kind, or decides a size.
    """
    found = [(v, users) for v, users in borders(model, probe) if v in moving]
    fitted = [_place(probe, value, users, runs) for value, users in found]
    for (value, users), place in zip(found, fitted, strict=True):
        if place is not None:
            assert value.dtype is not None
            by = places.value(place, value.dtype)
            by.shape = value.shape
            for user, i in users:
                user.replace_input_with(i, by)


def _place(
    probe: Probe, value: ir.Value, users: list[tuple[ir.Node, int]], runs: Runs
) -> Place | None:
    """What the value is; None: it is a size of the run, or follows from none, and stays."""
    place = fit([probe([value], *run)[0] for run in runs.tried], runs)
    node, at = users[0]
    where = f"max_context: node {node.name!r} ({node.op_type}): input {at} ({value.name!r})"
    if place is None:
        raise ModelError(
            f"{where} follows from the number of tokens; expected positions or lengths (a + b * past + c * new + d * i), got other "
            "numbers"
        )
    if place.axis is None and not np.any(place.of_past) and not np.any(place.of_new):
        return None  # the same for any number
    sizes = all(i in EXTENTS.get(n.op_type, ()) for n, i in users)
    if sizes and np.any(place.of_past):
        raise ModelError(
            f"{where} is a size that follows from the number of earlier tokens, expected masks and positions alone to do so"
        )
    if runs.has_past:
        return place
    if sizes and place.axis is None:
        return None
    if place.axis is None or np.any(place.of_new):
        raise ModelError(
            f"{where} is computed from the number of all tokens, which a run of a part does not have; export the model with past and "
            "present"
        )
    return dataclasses.replace(place, of_past=np.asarray(place.step))

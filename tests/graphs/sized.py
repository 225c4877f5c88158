"""Sizes that nobody knows before a run: names for axes of inputs, multiples of them, floats over them, and the same graph at others."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import onnx
from graphs.draft import Array, Draft, UnfitError

FACTORS: Final = (0.5, 0.7, 1.1, 1 / 3, 2.0, 0.1, 2.3, 1.5)
SIZES: Final = (0, 1, 1, 2, 3, 5)


def symbolic(d: Draft) -> dict[str, list[int | str]]:
    """Axes of inputs by name: equal extents may share one, or be the same multiple of one, plus a number."""
    out: dict[str, list[int | str]] = {}
    for name in d.inputs:
        axes: list[int | str] = list(d.of(name))
        for i, n in enumerate(axes):
            assert isinstance(n, int)
            if d.chance(0.4):
                axes[i] = f"s{n}" if d.chance(0.6) else f"{name}_{i}"
            elif n > 1 and d.chance(0.1):
                axes[i] = f"2*h{n}" if n % 2 == 0 else f"2*h{n} + 1"
        out[name] = axes
    return out


def scaled(d: Draft, grow: Callable[..., None]) -> None:
    """A size through floats and back, which then decides a length."""
    x = d.tensor(("float", "int64"), low=1)
    rank = len(d.of(x))
    (shape,) = d.add("Shape", [x], {})
    axis = d.rng.randrange(rank)
    (size,) = d.add("Gather", [shape, d.constant_of(np.array([axis]))], {"axis": 0})
    kind = d.pick(((1, np.float32), (11, np.float64)))
    (number,) = d.add("Cast", [size], {"to": kind[0]})
    for _ in range(d.pick((1, 1, 2))):
        factor = d.constant_of(np.array(d.pick(FACTORS), kind[1]))
        (number,) = d.add(d.pick(("Mul", "Div", "Mul", "Add", "Sub")), [number, factor], {})
    rounding = d.pick(("", "Floor", "Ceil", "Round"))
    if rounding:
        (number,) = d.add(rounding, [number], {})
    d.pick((_filled, _cut, _counted))(d, x, axis, number, kind[1])


def _whole(d: Draft, number: str) -> str:
    (n,) = d.add("Cast", [number], {"to": 7})
    if not 0 <= int(d.arrays[n][0]) <= 64:
        raise UnfitError
    return n


def _filled(d: Draft, x: str, axis: int, number: str, kind: Any) -> None:
    d.add("ConstantOfShape", [_whole(d, number)], {})


def _cut(d: Draft, x: str, axis: int, number: str, kind: Any) -> None:
    if d.opset < 10:
        raise UnfitError
    ends = _whole(d, number)
    d.add("Slice", [x, d.constant_of(np.array([0])), ends, d.constant_of(np.array([axis]))], {})


def _counted(d: Draft, x: str, axis: int, number: str, kind: Any) -> None:
    if d.opset < 13 or abs(float(d.arrays[number][0])) > 64:
        raise UnfitError
    (limit,) = d.add("Squeeze", [number, d.constant_of(np.array([0]))], {})
    step = d.constant_of(np.array(d.pick((1.0, 0.5, 2.0)), kind))
    d.add("Range", [d.constant_of(np.array(0, kind)), limit, step], {})


def elsewhere(model: onnx.ModelProto, feeds: dict[str, Array]) -> dict[str, Array] | None:
    """The feeds at another size of one of the named dimensions; None where there is none."""
    names = sorted(
        {d.dim_param for p in model.graph.input for d in p.type.tensor_type.shape.dim} - {""}
    )
    if not names:
        return None
    rng = random.Random(str(sorted((n, a.shape) for n, a in feeds.items())))
    name = rng.choice(names)
    size = rng.choice(SIZES)
    if "h" in name:  # 2*h + 1
        size = 2 * size + ("+" in name)
    out: dict[str, Array] = {}
    for port in model.graph.input:
        x = feeds[port.name]
        dims = port.type.tensor_type.shape.dim
        shape = [size if d.dim_param == name else n for d, n in zip(dims, x.shape, strict=True)]
        flat = x.reshape(-1) if x.size else np.ones(1, x.dtype)
        out[port.name] = np.resize(flat, shape).astype(x.dtype)
    return out

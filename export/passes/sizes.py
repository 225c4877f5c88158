"""Reading integer vectors: which sizes of which values their elements are, without running anything."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import onnx_ir as ir

from .. import graph as g

DEPTH = 16
FEW: Final = 1024
"""Elements of a vector that is followed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Size:
    """`factor` times the extent of `value` at `axis`, or times the symbol `name` where inference knows one."""

    name: str
    factor: int = 1


Element: TypeAlias = int | Size | None
Elements: TypeAlias = list[Element] | None
Of: TypeAlias = Callable[[ir.Value | None], Elements]


def size_of(value: ir.Value, axis: int) -> Element:
    """The extent of one axis: a number, else a name that equals itself only for one size."""
    extents = _dims(value)
    if extents is not None and axis < len(extents):
        extent = extents[axis]
        if isinstance(extent, int):
            return extent
        if extent is not None:
            return Size(extent)
    return Size(f"{value.name}[{axis}]")


def elements(value: ir.Value | None, depth: int = DEPTH) -> Elements:
    """The elements of an integer vector or scalar, None where even their number is unknown.

    Follows Shape, Size, moves of vectors and integer arithmetic, over at most 16 nodes and 1024 elements.
    """
    found: dict[ir.Value, Elements] = {}

    def of(value: ir.Value | None, depth: int) -> Elements:
        if value is None or value in found:
            return found.get(value) if value is not None else None
        made = constants(value)
        if made is None and depth > 0:
            made = made_of(value, lambda v: of(v, depth - 1))
        found[value] = made
        return made

    return of(value, depth)


def constants(value: ir.Value | None) -> Elements:
    """The integers or truths of a small constant, in order."""
    array = g.constant(value, FEW)
    if array is None or array.dtype.kind not in "iub" or array.dtype.itemsize < 1:
        return None
    return [int(i) for i in array.reshape(-1)]


def made_of(value: ir.Value, of: Of) -> Elements:
    """What the node of `value` makes, where `of` gives the elements of its operands; exact for every size but 0 symbols."""
    node = value.producer()
    if node is None or node.domain != "":
        return None
    rule = RULES.get(node.op_type)
    made = None if rule is None else rule(node, value, of)
    return None if made is None or len(made) > FEW else made


def _dims(value: ir.Value) -> list[int | str | None] | None:
    tensor = g.constant_tensor(value)
    return g.dims(value) if tensor is None else [int(str(n)) for n in tensor.shape]


def _shape(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    x = node.inputs[0]
    extents = None if x is None else _dims(x)
    if x is None or extents is None:
        return None
    every = [size_of(x, i) for i in range(len(extents))]
    return every[g.attr(node, "start", 0) : g.attr(node, "end", len(extents))]


def _size(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    extents = [n for n in _shape(node, value, of) or [None] if isinstance(n, int)]
    x = node.inputs[0]
    return [math.prod(extents)] if x is not None and len(extents) == g.rank(x) else None


def _same(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    return of(node.inputs[0])


def _cast(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    x, to = of(node.inputs[0]), ir.DataType(g.attr(node, "to"))
    if x is None or to != ir.DataType.BOOL:
        return x if x is None or to not in _LIMITS else [_kept(e, to) for e in x]
    return [int(e != 0) if isinstance(e, int) else None for e in x]


def _concat(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    made: list[Element] = []
    for operand in node.inputs:
        part = of(operand)
        if part is None or len(made) + len(part) > FEW or (g.rank(operand) or 0) > 1:
            return None
        made += part
    return made


def _gather(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    data, index = of(node.inputs[0]), of(node.inputs[1])
    if data is None or index is None or (g.rank(node.inputs[0]) or 0) > 1:
        return None
    places = [i for i in index if isinstance(i, int) and -len(data) <= i < len(data)]
    return [data[i] for i in places] if len(places) == len(index) else None


def _slice(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    data = of(node.inputs[0])
    numbers = [_number(of(v)) if v is not None else default for v, default in _bounds(node)]
    if data is None or (g.rank(node.inputs[0]) or 0) > 1:
        return None
    first, last, axis, step = numbers
    if first is None or last is None or axis not in (0, -1) or not step:
        return None
    return data[taken(len(data), first, last, step)]


def taken(n: int, first: int, last: int, step: int) -> slice:
    """What Slice takes of an axis of `n` elements. Places from the end, and beyond it, are brought into 0 .. n, with a negative step into
    0 .. n - 1 for the first and -1 .. n - 1 for the one after the last; slices of NumPy begin at -1, too."""
    low, high = (0, n) if step > 0 else (-1, n - 1)
    first, last = (at + n if at < 0 else at for at in (first, last))
    begin, end = min(max(first, 0), high), min(max(last, low), high)
    return slice(begin, None if end < 0 else end, step) if begin >= 0 else slice(0, 0)


def _bounds(node: ir.Node) -> list[tuple[ir.Value | None, int | None]]:
    """Start, end, axis and step of a Slice, each with what it is where it is left out."""
    given = [*node.inputs[1:], *[None] * 4]
    return list(zip(given, (None, None, 0, 1), strict=False))


def _number(vector: Elements) -> int | None:
    """The one number of a vector."""
    only = vector[0] if vector is not None and len(vector) == 1 else None
    return only if isinstance(only, int) else None


def _split(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    data = of(node.inputs[0])
    sizes = of(node.inputs[1]) if len(node.inputs) > 1 else None
    if data is None or (g.rank(node.inputs[0]) or 0) > 1:
        return None
    if len(node.inputs) < 2 or node.inputs[1] is None:
        each = -(-len(data) // len(node.outputs))
        sizes = [each] * len(node.outputs)
    if sizes is None:
        return None
    known = [n for n in sizes if isinstance(n, int)]
    place = node.outputs.index(value)
    begin = sum(known[:place])
    return data[begin : begin + known[place]] if len(known) == len(sizes) else None


def _expand(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    data, target = of(node.inputs[0]), of(node.inputs[1])
    if data is None or target is None or len(data) != 1 or len(target) > 1:
        return None
    (count,) = target or [1]
    return data * max(count, 1) if isinstance(count, int) and 0 < count <= FEW else None


def _each(node: ir.Node, value: ir.Value, of: Of) -> Elements:
    """An operator of elements, by its row; operands of one element go with all."""
    if value.dtype is not None and value.dtype not in (*_LIMITS, ir.DataType.BOOL):
        return None
    parts = [of(v) for v in node.inputs]
    if any((g.rank(v) or 0) > 1 for v in node.inputs):
        return None
    lists = [p for p in parts if p is not None]
    count = max((len(p) for p in lists), default=0)
    if len(lists) != len(parts) or any(len(p) not in (1, count) for p in lists):
        return None
    work = _EACH[node.op_type]
    made = [work(*(p[i if len(p) > 1 else 0] for p in lists)) for i in range(count)]
    return [_kept(e, value.dtype) for e in made]


_LIMITS: Final[Mapping[ir.DataType, int]] = {ir.DataType.INT64: 63, ir.DataType.INT32: 31}


def _kept(x: Element, dtype: ir.DataType | None) -> Element:
    """What the type holds; beyond it numbers wrap, which nobody means."""
    bits = _LIMITS.get(dtype or ir.DataType.INT64, 63)
    return x if not isinstance(x, int) or -(1 << bits) <= x < 1 << bits else None


def _numbers(work: Callable[..., int]) -> Callable[..., Element]:
    """Of numbers alone."""

    def of(*operands: Element) -> Element:
        known = [x for x in operands if isinstance(x, int)]
        return int(work(*known)) if len(known) == len(operands) else None

    return of


def _add(x: Element, y: Element) -> Element:
    if isinstance(x, int) and isinstance(y, int):
        return x + y
    return y if x == 0 else x if y == 0 else None


def _product(x: Element, y: Element) -> Element:
    if isinstance(x, int) and isinstance(y, int):
        return x * y
    if isinstance(y, Size):
        x, y = y, x
    return Size(x.name, x.factor * y) if isinstance(x, Size) and isinstance(y, int) else None


def _quotient(x: Element, y: Element) -> Element:
    """Toward zero."""
    if not isinstance(y, int) or y == 0:
        return None
    if isinstance(x, Size):
        return Size(x.name, x.factor // y) if x.factor % y == 0 and y > 0 else None
    return None if x is None else abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _equal(x: Element, y: Element) -> Element:
    """No size is negative."""
    if x is None or y is None:
        return None
    if isinstance(x, int) and isinstance(y, int):
        return int(x == y)
    number = x if isinstance(x, int) else y
    size = y if isinstance(x, int) else x
    if isinstance(number, int):
        return 0 if number < 0 and isinstance(size, Size) and size.factor > 0 else None
    return 1 if x == y else None


def _where(c: Element, x: Element, y: Element) -> Element:
    if isinstance(c, int):
        return x if c else y
    return x if x == y else None


_EACH: Final[dict[str, Callable[..., Element]]] = {
    "Add": _add,
    "Mul": _product,
    "Div": _quotient,
    "Sub": _numbers(lambda x, y: x - y),
    "Neg": _numbers(lambda x: -x),
    "Abs": _numbers(abs),
    "Min": _numbers(min),
    "Max": _numbers(max),
    "Equal": _equal,
    "Less": _numbers(lambda x, y: x < y),
    "LessOrEqual": _numbers(lambda x, y: x <= y),
    "Greater": _numbers(lambda x, y: x > y),
    "GreaterOrEqual": _numbers(lambda x, y: x >= y),
    "Not": _numbers(lambda x: 1 - x),
    "And": _numbers(lambda x, y: x & y),
    "Or": _numbers(lambda x, y: x | y),
    "Where": _where,
}
RULES: Final[dict[str, Callable[[ir.Node, ir.Value, Of], Elements]]] = {
    "Shape": _shape,
    "Size": _size,
    **dict.fromkeys(["Unsqueeze", "Squeeze", "Reshape", "Identity"], _same),
    "Cast": _cast,
    "Concat": _concat,
    "Gather": _gather,
    "Slice": _slice,
    "Split": _split,
    "Expand": _expand,
    **dict.fromkeys(_EACH, _each),
}

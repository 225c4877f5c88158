"""A graph run in segments, one after another, so that the weights of one are in memory at a time.

A segment ends with the last of the values that are wanted of it. Floats that later segments read lie in a folder meanwhile, a file
for each value; integers and booleans, which are sizes and masks, are made again from them. No node of a weight runs twice.

    nodes      a  b | c  d | e        wanted (b), (d), (e)
    files         b ->  b, d -> ...   where e reads b and d
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnx_ir.analysis import analyze_implicit_usage

import pteron.export.graph as graphs

from .samples import Runner, Sample, memory_order

KEPT = (ir.DataType.FLOAT, ir.DataType.DOUBLE, ir.DataType.FLOAT16)
"""What files take, and what is worth one."""


class Order:
    """The values of a graph in the order in which they are made; inputs and constants before all others."""

    def __init__(self, graph: ir.Graph) -> None:
        self.graph = graph
        self.values = {str(v.name): v for v in graph.inputs}
        self.at: dict[ir.Node, int] = {}
        self.bytes = [0]  # of constants that nodes up to this one read
        captured = analyze_implicit_usage(graph)
        self.reads: dict[ir.Node, list[ir.Value]] = {}
        seen: set[ir.Value] = set()
        for i, node in enumerate(graph, 1):
            inside = (v for body in graphs.bodies(node) for v in captured.get(body, ()))
            self.reads[node] = [v for v in (*node.inputs, *inside) if v is not None]
            self.at[node] = i
            self.values |= {str(v.name): v for v in node.outputs}
            tensors = {v: v.const_value for v in self.reads[node] if v not in seen}
            seen |= set(tensors)
            new = sum(int(t.nbytes) for t in tensors.values() if t is not None)
            self.bytes.append(self.bytes[-1] + new)

    def place(self, value: ir.Value) -> int:
        node = value.producer()
        return 0 if node is None else self.at[node]

    def weights(self, begin: int, name: str) -> int:
        """Bytes of the constants that nodes behind place `begin` read until the value is made."""
        return max(self.bytes[self.place(self.values[name])] - self.bytes[begin], 0)

    def needs(self, wanted: Iterable[ir.Value], begin: int) -> set[ir.Value]:
        """Inputs of the graph, and floats made up to `begin`, from which nodes make the wanted values."""
        found, seen, left = set[ir.Value](), set[ir.Value](), list(wanted)
        while left:
            value = left.pop()
            if value in seen or value.const_value is not None:
                continue
            seen.add(value)
            node = value.producer()
            if node is None or (self.at[node] <= begin and value.dtype in KEPT):
                found.add(value)
            else:
                left += self.reads[node]
        return found


def within(model: ir.Model, names: Iterable[str], ram_bytes: int) -> list[list[str]]:
    """The named values in parts, as they are made: the weights that are read until each part is made fit into the memory, or are those
    of one value."""
    order = Order(model.graph)
    parts: list[list[str]] = []
    begin = 0
    for name in sorted(names, key=lambda name: order.place(order.values[name])):
        if not parts or order.weights(begin, name) > ram_bytes:
            begin = order.place(order.values[parts[-1][-1]]) if parts else 0
            parts.append([])
        parts[-1].append(name)
    return parts


def in_segments(
    model: ir.Model, parts: Sequence[Sequence[str]], given: Iterable[Sample], runner: Runner
) -> Iterator[Iterator[Mapping[str, NDArray[Any]]]]:
    """For each part, values by name in the order in which they are made, an iterator: for each sample the values of the part.

    Each is to be read to its end before the next. The samples are read once.
    """
    if len(parts) < 2:
        yield from (iter(runner(model, names, given)) for names in parts)
        return
    order = Order(model.graph)
    values = [[order.values[name] for name in part] for part in parts]
    ends = [max(map(order.place, part)) for part in values]
    needs = _needs(order, values, [0, *ends[:-1]])
    with tempfile.TemporaryDirectory() as folder:
        files = _Files(Path(folder))
        for i, part in enumerate(values):
            later = {v for need in needs[i + 1 :] for v in need if order.place(v) <= ends[i]}
            files.only(str(v.name) for v in {*needs[i], *later})
            source: Iterable[Sample] = given if i == 0 else files.read(needs[i])
            yield _run(
                model,
                part,
                needs[i] if i else set(model.graph.inputs),
                later,
                source,
                files,
                runner,
            )


def _needs(
    order: Order, parts: Sequence[Sequence[ir.Value]], begins: Sequence[int]
) -> list[set[ir.Value]]:
    """What each segment starts from: it makes its part, and what later ones start from and is made behind its begin."""
    found: list[set[ir.Value]] = []
    later = set[ir.Value]()
    for part, begin in zip(reversed(parts), reversed(begins), strict=True):
        need = order.needs([*part, *(v for v in later if order.place(v) > begin)], begin)
        found.insert(0, need)
        later = need | {v for v in later if order.place(v) <= begin}
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class _Held:
    """A file of one value, sample behind sample: where each begins, its type and shape, and the order in which its axes lie."""

    path: Path
    parts: list[tuple[int, np.dtype[Any], tuple[int, ...], tuple[int, ...]]]

    def append(self, x: NDArray[Any]) -> None:
        order = memory_order(x)
        with self.path.open("ab") as file:
            self.parts.append((file.seek(0, 2), x.dtype, x.shape, order))
            file.write(np.ascontiguousarray(x.transpose(order)).reshape(-1).view(np.uint8).data)

    def read(self, number: int) -> NDArray[Any]:
        offset, dtype, shape, order = self.parts[number]
        held = np.empty(math.prod(shape), dtype)
        with self.path.open("rb") as file:
            file.seek(offset)
            file.readinto(held.view(np.uint8).data)
        return held.reshape([shape[a] for a in order]).transpose(np.argsort(order))


class _Files:
    """The values of each sample that are still to be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held: dict[str, _Held] = {}
        self.count = self.made = 0
        self.symbols: dict[tuple[int, ...], str] = {}

    def read(self, names: Iterable[ir.Value]) -> Iterator[Sample]:
        wanted = [str(v.name) for v in names]
        for number in range(self.count):
            yield {name: self.held[name].read(number) for name in wanted}

    def keep(self, number: int, values: Mapping[str, Any], names: Iterable[str]) -> None:
        """Those of `names` that the sample's files have not yet."""
        self.count = max(self.count, number + 1)
        for name in (name for name in names if name in values):
            if name not in self.held:
                self.held[name] = _Held(self.folder / str(self.made), [])
                self.made += 1
            if len(self.held[name].parts) == number:
                self.held[name].append(np.asarray(values[name]))

    def only(self, names: Iterable[str]) -> None:
        """The others are read no more."""
        for name in self.held.keys() - set(names):
            self.held.pop(name).path.unlink()

    def shape(self, name: str) -> list[int | str]:
        """As long in all samples: an extent. Else a symbol, the same one for axes that are as long as each other in each sample."""
        columns = zip(*(shape for _, _, shape, _ in self.held[name].parts), strict=True)
        return [
            column[0]
            if len(set(column)) == 1
            else self.symbols.setdefault(column, f"n{len(self.symbols)}")
            for column in columns
        ]


def _run(
    model: ir.Model, part: Sequence[ir.Value], inputs: set[ir.Value], later: set[ir.Value], source: Iterable[Sample],
    files: _Files, runner: Runner,
) -> Iterator[Mapping[str, NDArray[Any]]]:  # fmt: skip
    held = files.held
    made = [v for v in {*part, *later} if v.name not in held and v.producer() is not None]
    names, kept = [str(v.name) for v in part], [str(v.name) for v in later]
    outputs = sorted({str(v.name) for v in made})
    if outputs:
        some = ir.convenience.extract(model.graph, list(inputs), made)
        if files.count:
            for value in (v for node in some for v in node.outputs):
                value.shape = None  # it names the extents of the whole model's inputs
            for value in some.inputs:
                value.shape = ir.Shape(files.shape(str(value.name)))
        cut = ir.Model(some, ir_version=model.ir_version)
        runs = runner(cut, [*outputs, *(str(v.name) for v in some.inputs)], source)
    else:
        runs = source
    for number, values in enumerate(runs):
        yield {name: np.asarray(values[name]) for name in names}
        if kept:
            files.keep(number, values, kept)

"""Which tensor of a checkpoint each parameter of a Graph is, by their names; what is left over on either side."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import numpy as np
import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.checkpoint.families import COMPUTED
from pteron.export.checkpoint.weight import Tensor, floats
from pteron.schema.errors import QuantError, several

from ..recipe.layers import Layer, layers

NORMS: Final = frozenset(
    {"LayerNormalization", "RMSNormalization", "GroupNormalization", "InstanceNormalization", "BatchNormalization"}
)  # fmt: skip
TOLD: Final = 8
"""Names that an error lists."""


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """An initializer that a checkpoint is expected to have. `names`: its own and those of the modules that read it. `layer`: it is
    this one's weight; None where the initializer is the module's parameter as it stands."""

    value: ir.Value
    names: tuple[str, ...]
    layer: Layer | None

    @property
    def shape(self) -> tuple[int, ...]:
        tensor = graphs.constant_tensor(self.value)
        assert tensor is not None
        return tuple(int(str(d)) for d in tensor.shape)


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """Parameter `value` is `tensor`, `name` in its file, or its transpose."""

    parameter: Parameter
    name: str
    tensor: Tensor
    transposed: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Matches:
    """`missing`: parameters without a tensor. `unplaced`: tensors without a parameter."""

    found: tuple[Match, ...]
    missing: tuple[str, ...]
    unplaced: tuple[str, ...]

    def told(self) -> list[str]:
        return [
            f"{count}: {_listed(names)}"
            for names, count in (
                (self.missing, f"{several(len(self.missing), 'parameter')} of the model without a tensor"),
                (self.unplaced, f"{several(len(self.unplaced), 'tensor')} without a place"),
            )
            if names
        ]  # fmt: skip


def parameters(model: ir.Model) -> list[Parameter]:
    """Floats that training makes: of a PyTorch module its state; else weights of layers, norms, and what is called .weight or .bias."""
    known: Collection[str] | None = model.meta.get(graphs.PARAMETERS)
    held = {id(layer.node.inputs[layer.slot]): layer for layer in layers(model, tables=True)}
    found = []
    for graph in graphs.graphs(model):
        for value in graph.initializers.values():
            tensor, name = graphs.constant_tensor(value), str(value.name)
            if tensor is None or not tensor.dtype.is_floating_point() or not value.uses():
                continue
            layer = held.get(id(value)) if known is None else None
            own = name in known if known is not None else layer is not None or _is_trained(value)
            if own:
                found.append(Parameter(value, _names(value, layer), layer))
    return found


def _is_trained(value: ir.Value) -> bool:
    norm = any(use.node.op_type in NORMS and use.idx > 0 for use in value.uses())
    return norm or str(value.name).endswith((".weight", ".bias"))


def _names(value: ir.Value, layer: Layer | None) -> tuple[str, ...]:
    """A tied matrix is called by one of its readers alone, and other exporters call weights by their nodes."""
    names = [plain_name(str(value.name))]
    readers = [] if layer is None else [layer.name]
    readers += [path for use in value.uses() if (path := graphs.module(use.node))]
    is_matrix = len(value.shape or ()) > 1
    return tuple(dict.fromkeys([*names, *(map(plain_name, readers) if is_matrix else ())]))


def plain_name(name: str) -> str:
    """What a tensor is called without `.weight` and the prefixes of wrappers."""
    parts = [part for part in name.split(".") if part not in ("_orig_mod", "module")]
    return ".".join(parts).removesuffix(".weight")


class Names:
    """Tensors by name: the one of a name, or the only one that ends in it or that it ends in."""

    def __init__(self, names: Iterable[str]) -> None:
        self.whole = {plain_name(name): name for name in names}
        self.ends = collections.defaultdict[str, list[str]](list)
        for plain, name in self.whole.items():
            for end in _ends(plain):
                self.ends[end].append(name)

    def __call__(self, wanted: str) -> str | None:
        if wanted in self.whole:
            return self.whole[wanted]
        longer = self.ends.get(wanted, [])
        shorter = [self.whole[end] for end in _ends(wanted) if end in self.whole]
        both = {*longer, *shorter} if wanted else set()
        return both.pop() if len(both) == 1 else None


def _ends(name: str) -> list[str]:
    """b.c and c of a.b.c."""
    parts = name.split(".")
    return [".".join(parts[i:]) for i in range(1, len(parts))]


def match(model: ir.Model, tensors: Mapping[str, Tensor], source: str) -> Matches:
    """Pairs parameters with tensors.

    Raises:
        QuantError: a shape differs; two parameters are one tensor by name; the model ties what the file has two of.
    """
    names, found, missing = Names(tensors), list[Match](), list[str]()
    taken: dict[str, Parameter] = {}
    for parameter in parameters(model):
        mine = dict.fromkeys(n for own in parameter.names if (n := names(own)) is not None)
        if not mine:
            missing.append(parameter.names[0])
            continue
        first, *others = mine
        if first in taken:
            raise QuantError(
                f"{source}: tensor {first} could be {taken[first].names[0]} and {parameter.names[0]}; rename it"
            )
        for other in others:
            _check_tied(source, tensors, first, other)
        taken |= dict.fromkeys(mine, parameter)
        found.append(_matched(parameter, first, tensors[first]))
    known: Collection[str] = model.meta.get(graphs.PARAMETERS, ())
    idle = {plain_name(name) for name in known}
    placed = {id(tensors[name]) for name in taken}
    unplaced = tuple(
        name
        for name, tensor in tensors.items()
        if id(tensor) not in placed
        and not COMPUTED.fullmatch(name)
        and plain_name(name) not in idle
    )
    return Matches(tuple(found), tuple(missing), unplaced)


def _matched(parameter: Parameter, name: str, tensor: Tensor) -> Match:
    """Raises QuantError: the shape is neither the parameter's nor that of its layer."""
    shape, layer = _no_ones(parameter.shape), parameter.layer
    given = _no_ones(tensor.shape)
    as_matrix = layer is not None and _no_ones(layer.extents) == given
    if layer is not None and layer.kind == "matmul" and as_matrix:
        return Match(parameter, name, tensor, True)
    if tensor.transposed and given[::-1] == shape:
        return Match(parameter, name, tensor, True)
    if not tensor.transposed and given == shape:
        return Match(parameter, name, tensor, False)
    wanted = layer.extents if layer is not None else parameter.shape
    raise QuantError(
        f"{name}: expected {list(wanted)} as {parameter.names[-1]} has it, got {list(tensor.shape)}"
    )


def _no_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)


def _check_tied(source: str, tensors: Mapping[str, Tensor], one: str, other: str) -> None:
    a, b = tensors[one], tensors[other]
    if a is b:
        return
    if math.prod(a.shape) != math.prod(b.shape) or not np.array_equal(
        floats(a.read()), floats(b.read())
    ):
        raise QuantError(
            f"{source}: the model holds {one} and {other} as one matrix, the file has two that differ; "
            "build the model without tied weights"
        )


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return ", ".join(names[:TOLD]) + more

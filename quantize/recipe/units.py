"""Which nodes of a Graph become int8 operators: the plan of static quantization, before any number is known.

A unit is what the integer pass turns into one operator: a node, a constant bias added to a product, Relu or Clip last. It reads
and writes quantized activations; what lies between units stays f32. Only the main graph; bodies of If, Loop and Scan stay f32.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Final

import onnx_ir as ir

import pteron.export.graph as graphs
from pteron.export.graph import int8
from pteron.export.graph.int8 import Form, form
from pteron.export.graph.int8_resize import between
from pteron.schema.errors import RecipeError

from .layers import layer_names
from .rules import SKIP, Recipe, Rule

TERMS: Final = 65_000
"""Products of int8 that an int32 sum holds for any data."""


@dataclasses.dataclass(frozen=True, slots=True)
class Unit:
    """`head` computes from `inputs`, `tail` makes the result. `axis`: output channels in the weight, None without one.

    `bias` is the constant that is added, `same`: the result is on the grid of the input. `name`: what rules and reports call it.
    """

    head: ir.Node
    tail: ir.Node
    inputs: tuple[ir.Value, ...]
    axis: int | None = None
    bias: ir.Value | None = None
    same: bool = False
    name: str = ""

    @property
    def output(self) -> ir.Value:
        return self.tail.outputs[0]

    @property
    def weight(self) -> ir.Value | None:
        return self.head.inputs[1] if self.axis is not None else None

    @property
    def in_words(self) -> bool:
        """Whether there is an operator of int16 for it; without one it computes in f32, between Q and DQ where it has 16 bits."""
        kind = form(self.head)
        looked_up = kind == Form.FUNCTION or (kind == Form.PRODUCT and self.axis is None)
        return not looked_up and between(self.head) is None

    @property
    def names(self) -> tuple[str, ...]:
        """Those that a rule may match."""
        weight = "" if self.weight is None else str(self.weight.name or "")
        return graphs.module(self.head) or "", self.head.name or "", weight


def units(model: ir.Model, recipe: Recipe) -> tuple[list[Unit], list[str]]:
    """All units in graph order, and the layers that rules leave out; types and shapes of values must have been inferred.

    Raises:
        RecipeError: a rule asks for another format than int8, or decides no layer.
    """
    for name in {recipe.format, *(rule.format for rule in recipe.rules)} - {SKIP, "int8"}:
        raise RecipeError(f"static int8: expected int8 or skip, got {name!r}; drop the calibration")
    found: list[Unit] = []
    skipped: list[Unit] = []
    taken: set[ir.Node] = set()
    on_grid: set[ir.Value] = set()
    used: set[int] = set()
    for node in model.graph:
        if node in taken:
            continue
        unit = _unit(node, on_grid)
        if unit is None:
            continue
        chosen, _, by = recipe.choose(unit.names)
        used |= {id(by)}
        if chosen is None:
            skipped.append(unit)
            continue
        taken |= {unit.head, unit.tail}
        unit = _with_limits(unit)
        taken |= {unit.tail}
        found.append(unit)
        on_grid |= {*unit.inputs, unit.output}
    names = layer_names([(unit.head, unit.weight) for unit in [*found, *skipped]])
    _refuse_idle(recipe.rules, used, names)
    named = [dataclasses.replace(unit, name=name) for unit, name in zip(found, names, strict=False)]
    return named, names[len(found) :]


def _refuse_idle(rules: tuple[Rule, ...], used: set[int], layers: list[str]) -> None:
    idle = [rule.pattern.pattern for rule in rules if id(rule) not in used]
    if idle:
        names = ", ".join(sorted(layers)[:20])
        raise RecipeError(f"rule {idle[0]!r}: decides no layer; layers are {names}")


def _unit(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    found = form(node)
    if found is None or _dtype(node.outputs[0]) is False:
        return None
    return PLANNERS[found](node, on_grid)


def _dtype(value: ir.Value) -> bool | None:
    """Whether the value is f32; None where that is unknown."""
    return None if value.dtype is None else value.dtype == ir.DataType.FLOAT


def _weight(node: ir.Node, rank: int | None = None) -> list[int] | None:
    """Extents of the constant f32 weight at input 1; None where it has no elements, too."""
    tensor = graphs.constant_tensor(node.inputs[1]) if len(node.inputs) > 1 else None
    if tensor is None or tensor.dtype != ir.DataType.FLOAT:
        return None
    shape = [int(str(n)) for n in tensor.shape]
    return shape if 0 not in shape and rank in (None, len(shape)) else None


def _activation(value: ir.Value | None) -> ir.Value | None:
    """`value` where it is computed while running."""
    constant = value is None or graphs.constant_tensor(value) is not None
    return None if constant else value


def _constant_bias(value: ir.Value | None, n: int) -> bool:
    tensor = graphs.constant_tensor(value)
    return (
        tensor is not None
        and tensor.dtype == ir.DataType.FLOAT
        and len(tensor.shape) > 0
        and [int(str(d)) for d in tensor.shape if int(str(d)) != 1] in ([n], [])
        and int(str(tensor.shape[-1])) == n
    )


def _conv(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    x, shape = _activation(node.inputs[0]), _weight(node)
    if x is None or shape is None or len(shape) < 3:
        return None
    terms = 1
    for extent in shape[1:]:
        terms *= extent
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if terms > TERMS or (bias is not None and not _constant_bias(bias, shape[0])):
        return None
    return Unit(node, node, (x,), 0, bias)


def _product(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    return _gemm(node) if graphs.is_op(node, "Gemm") else _matmul(node, on_grid)


def _gemm(node: ir.Node) -> Unit | None:
    x, shape = _activation(node.inputs[0]), _weight(node, 2)
    plain = not graphs.attr(node, "transA", 0) and all(
        graphs.attr(node, name, 1.0) == 1.0 for name in ("alpha", "beta")
    )
    if x is None or shape is None or not plain:
        return None
    axis = 0 if graphs.attr(node, "transB", 0) else 1
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    if shape[1 - axis] > TERMS or (bias is not None and not _constant_bias(bias, shape[axis])):
        return None
    return Unit(node, node, (x,), axis, bias)


def _matmul(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    """With the Add of a constant [n] that may follow; of two activations, where one is on a grid."""
    x, y = map(_activation, node.inputs)
    if x is not None and y is not None:
        terms = (graphs.dims(x) or [None])[-1]
        fits = isinstance(terms, int) and terms <= TERMS // 2
        matrices = min(graphs.rank(x) or 0, graphs.rank(y) or 0) >= 2
        return Unit(node, node, (x, y)) if fits and matrices and {x, y} & on_grid else None
    shape = _weight(node, 2)
    if x is None or shape is None or shape[0] > TERMS:
        return None
    after = _only_user(node.outputs[0])
    if after is not None and graphs.is_op(after, "Add"):
        for value in after.inputs:
            if _constant_bias(value, shape[1]):
                return Unit(node, after, (x,), 1, value)
    return Unit(node, node, (x,), 1)


def _add(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    a, b = node.inputs
    if a is None or b is None or a not in on_grid or b not in on_grid:
        return None
    same = graphs.dims(a) is not None and graphs.dims(a) == graphs.dims(b)
    return Unit(node, node, (a, b)) if same and None not in (graphs.dims(a) or ()) else None


def _multiply(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    a, b = node.inputs
    if a is None or b is None or a not in on_grid or b not in on_grid:
        return None
    return Unit(node, node, (a, b)) if int8.spreads(graphs.dims(a), graphs.dims(b)) else None


def _join(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    xs = tuple(x for x in node.inputs if x is not None and x in on_grid)
    return Unit(node, node, xs) if len(xs) == len(node.inputs) else None


def _function(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    """Of a value that a unit makes; x * Sigmoid(x) is one."""
    x = node.inputs[0]
    if x is None or x not in on_grid:
        return None
    after = _only_user(node.outputs[0])
    scaled = graphs.is_op(node, "Sigmoid") and after is not None and graphs.is_op(after, "Mul")
    if after is not None and scaled and x in after.inputs:
        return Unit(node, after, (x,))
    return Unit(node, node, (x,))


def _average(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    x = node.inputs[0]
    return Unit(node, node, (x,)) if x is not None and x in on_grid and _means(node) else None


def _means(node: ir.Node) -> bool:
    """Whether the integer contract has this mean: windows whose numbers of elements are known, or all spatial axes, likewise."""
    x = node.inputs[0]
    extents = graphs.dims(x)
    if extents is None or len(extents) < 3:
        return False
    if graphs.is_op(node, "AveragePool"):
        return int8.averages(node) or int8.counted(node, extents) is not None
    if graphs.is_op(node, "ReduceMean"):
        axes = graphs.axes_of(node) or []
        spatial = sorted(a % len(extents) for a in axes) == list(range(2, len(extents)))
        if not spatial:
            return False
    return all(isinstance(n, int) for n in extents[2:])


def _same_grid(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    x = node.inputs[0]
    if x is None or x not in on_grid:
        return None
    if any(graphs.constant_tensor(v) is None for v in node.inputs[1:] if v is not None):
        return None
    if graphs.is_op(node, "MaxPool") and int8.max_pool(node) is None:
        return None
    if graphs.is_op(node, "Resize") and not (int8.copies(node) or between(node)):
        return None
    return Unit(node, node, (x,), same=True)


def _limits(node: ir.Node, on_grid: set[ir.Value]) -> Unit | None:
    x = node.inputs[0]
    return Unit(node, node, (x,)) if x is not None and x in on_grid and _clamps(node) else None


def _clamps(node: ir.Node) -> bool:
    """Relu, or a Clip whose limits are constants."""
    if graphs.is_op(node, "Relu"):
        return True
    return graphs.is_op(node, "Clip") and all(
        value is None or graphs.scalar(value) is not None for value in node.inputs[1:]
    )


def _with_limits(unit: Unit) -> Unit:
    """Takes in a Relu or Clip that alone reads the result."""
    after = _only_user(unit.output)
    if unit.same or after is None or not _clamps(after) or after.inputs[0] is not unit.output:
        return unit
    return dataclasses.replace(unit, tail=after)


def _only_user(value: ir.Value) -> ir.Node | None:
    uses = list(value.uses())
    return uses[0].node if len(uses) == 1 and not value.is_graph_output() else None


PLANNERS: Final[dict[Form, Callable[[ir.Node, set[ir.Value]], Unit | None]]] = {
    Form.CONVOLUTION: _conv,
    Form.PRODUCT: _product,
    Form.SUM: _add,
    Form.SCALING: _multiply,
    Form.JOIN: _join,
    Form.FUNCTION: _function,
    Form.MEAN: _average,
    Form.MOVE: _same_grid,
    Form.LIMITS: _limits,
}

"""Binds a method's inputs, lowers its graph, and settles its outputs and states."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence

import onnx_ir as ir
import sympy

from pteron.schema.errors import ArgumentError, ModelError

from ..graph import bounds, guarded
from ..graph.dimensions import arithmetic
from ..program import DebugNode, Method, Port, State, views
from ..program.views import View, as_elements
from ..sizes import HIGHEST, LOWEST, Extent, extents
from ..sizes.extents import linear
from .context import Lowering, Origin
from .env import Env, Failure
from .graphs import lower_graph
from .guards import check_guards
from .node import NAMES
from .refs import Known, Ref, RefusedError

SHAPE_INPUT_LIMIT = 8
"""Integer inputs of up to so many elements may decide sizes."""


def lower_method(
    l: Lowering,
    name: str,
    model: ir.Model,
    hints: Mapping[str, int],
    minimums: Mapping[str, int],
    states: Mapping[str, str],
) -> tuple[Method, list[Failure]]:
    """Adds one graph to the program."""
    first = len(l.values.all)
    l.values.begin_method()
    failures: list[Failure] = []
    l.env = Env(
        opsets=dict(model.graph.opset_imports), functions=model.functions, failures=failures
    )
    l.sizes.hints, l.sizes.minimums = hints, minimums
    told = bounds.read(model)
    l.sizes.bounds = told.sizes
    with l.block() as main, _refused(name):
        held = [_check_state(model.graph, past, present) for past, present in states.items()]
        inputs, refs, state_refs = _bind_inputs(l, model.graph, {p.name or "" for p, _ in held})
        _check_bounds(l, told)
        check_guards(l, model.graph.inputs, refs, guarded.read(model))
        results = lower_graph(l, model.graph, refs)
        by_name = dict(zip((v.name for v in model.graph.outputs), results, strict=True))
        kept = {present.name for _, present in held}
        outputs: list[Port] = []
        for value, ref in zip(model.graph.outputs, results, strict=True):
            l.at(Origin(DebugNode(f"output {value.name}", "", "")))
            if value.name not in kept:
                port = _output(l, ref, len(outputs)) if ref is not None else 0
                outputs.append(Port(value.name or "", port))
        l.at(Origin(DebugNode("states", "", "")))
        for past, present in held:
            _check_kept(l, past, state_refs[past.name or ""], present, by_name[present.name])
        _store_states(l, [(state_refs[p.name or ""], by_name[q.name]) for p, q in held])
    block = main.index
    return Method(name, tuple(inputs), tuple(outputs), (first, len(l.values.all)), block), failures


@contextlib.contextmanager
def _refused(method: str) -> Iterator[None]:
    """Within it, what no node is refused for is the method's."""
    try:
        yield
    except RefusedError as error:
        raise ModelError(f"{method}: {error}; correct the model or the sizes asked for") from None


def _check_kept(l: Lowering, past: ir.Value, old: Ref, present: ir.Value, new: Ref | None) -> None:
    """A state keeps its dtype and shape; extents that only a run knows are checked at prepare.

    Raises:
        ArgumentError: another dtype, rank or extent.
    """
    if new is None:  # its node has no lowering, which is said
        return
    text = f"state {past.name} = {present.name}"
    try:
        if (old.dtype, len(old.shape)) != (new.dtype, len(new.shape)):
            raise RefusedError
        for a, b in zip(old.shape, new.shape, strict=True):
            l.sizes.require_equal(a, b, f"{text}: a state keeps its shape")
    except RefusedError:
        kinds = (f"{ref.dtype}[{', '.join(map(str, ref.shape))}]" for ref in (old, new))
        was, becomes = kinds
        raise ArgumentError(
            f"{text}: expected the output to be {was} as the input, got {becomes}; name another pair"
        ) from None


def _check_bounds(l: Lowering, told: bounds.Bounds) -> None:
    """Relations that the graph states become checks at prepare."""
    named = {bounds.symbol(name): l.sizes.size(name) for name in told.sizes}
    for c in told.checks:
        a, b = (extents.extent(sympy.sympify(x).xreplace(named)) for x in (c.a, c.b))
        if isinstance(a, int) and isinstance(b, int):
            if not bounds.holds(c.kind, a, b):
                raise ModelError(f"{c.text}: got {a} and {b}; the model's own sizes break it")
            continue
        if not (c.kind == "le" and extents.at_most(a, b)) and not (
            c.kind == "eq" and extents.same(a, b)
        ):
            l.sizes.check(c.kind, a, b, c.text)


def _check_state(graph: ir.Graph, past: str, present: str) -> tuple[ir.Value, ir.Value]:
    inputs = {v.name: v for v in graph.inputs}
    outputs = {v.name: v for v in graph.outputs}
    if past not in inputs or present not in outputs:
        raise ModelError(
            f"state {past} = {present}: expected an input and an output of these names, got inputs "
            f"{sorted(map(str, inputs))} and outputs {sorted(map(str, outputs))}; correct the pair"
        )
    return inputs[past], outputs[present]


def _bind_inputs(
    l: Lowering, graph: ir.Graph, held: set[str]
) -> tuple[list[Port], list[Ref], dict[str, View]]:
    ports: list[Port] = []
    refs: list[Ref] = []
    states: dict[str, View] = {}
    given = [v for v in graph.inputs if v.name not in graph.initializers]
    plain = _plain([d for v in given for d in v.shape or ()])
    for value in given:
        name = value.name or ""
        if value.dtype not in NAMES or value.shape is None:
            raise ModelError(
                f"input {name!r}: expected a tensor of numbers with a known rank, got {value.type} {value.shape}; "
                "give it a type and a rank"
            )
        shape = tuple(_extent(l, d, f"{name}_{i}", plain) for i, d in enumerate(value.shape))
        dtype = NAMES[value.dtype]
        if name in held:
            states[name] = _state(l, name, dtype, shape)
            refs.append(states[name])
        else:
            held_by = l.values.new(dtype, shape, "input", len(ports), name)
            refs.append(_shape_input(l, held_by, name, len(ports)))
            ports.append(Port(name, held_by.base))
        l.env.values[value] = refs[-1]
    names = iter(refs)
    return ports, [next(names) for v in graph.inputs if v in l.env.values], states


def _state(l: Lowering, name: str, dtype: str, shape: views.Shape) -> View:
    """The state of that name; methods share it."""
    for i, s in enumerate(l.states):
        if s.name == name:
            if s.dtype != dtype or not extents.same_shape(s.shape, shape):
                raise ModelError(
                    f"state {name}: expected {s.dtype}{list(s.shape)} as in the other methods, got {dtype}{list(shape)}"
                )
            return l.values.new(dtype, shape, "state", i, name)
    l.states.append(State(name, dtype, shape))
    return l.values.new(dtype, shape, "state", len(l.states) - 1, name)


def _plain(dims: Sequence[int | ir.SymbolicDim]) -> set[str]:
    """Names whose sizes the inputs give: those that an axis is, and those that one is a multiple of, plus a number ("2*h + 1")."""
    plain = {str(d) for d in dims if _is_name(d)}
    for dim in dims:
        if not isinstance(dim, int) and dim.value is not None and not _is_name(dim):
            found = arithmetic(str(dim.value), bounds.symbol)
            root = None if found is None else linear(found)
            plain |= set() if root is None else {root.symbol.name}
    return plain


def _is_name(dim: int | ir.SymbolicDim) -> bool:
    if isinstance(dim, int):
        return False
    return bool(re.fullmatch(r"[A-Za-z_][\w.:/]*", str(dim.value)))


def _extent(l: Lowering, dim: int | ir.SymbolicDim, fallback: str, plain: set[str]) -> Extent:
    """A dimension of an input: a number, a symbol, or arithmetic on symbols that other axes bind ("past + seq")."""
    if isinstance(dim, int):
        return dim
    text = str(dim.value) if dim.value is not None else fallback
    known = arithmetic(text, lambda name: l.sizes.size(name) if name in plain else None)
    return l.sizes.size(text) if text in plain or known is None else extents.extent(known)


def _shape_input(l: Lowering, ref: View, name: str, port: int) -> Ref:
    """A small integer input may decide sizes: its elements are symbols, dropped again where nothing reads them."""
    fixed = [n for n in ref.shape if isinstance(n, int)]
    count = math.prod(fixed)
    if ref.dtype not in ("i32", "i64") or len(fixed) < ref.rank or count > SHAPE_INPUT_LIMIT:
        return ref
    symbols = [
        l.sizes.dim(
            name if ref.rank == 0 else f"{name}[{i}]",
            kind="shape",
            min=l.sizes.minimums.get(name, 0),
            port=port,
            element=i,
            hint=l.sizes.hints.get(name, 1),
        )
        for i in range(count)
    ]
    for s in symbols:
        dim = l.sizes.dims[s]
        if name not in l.sizes.minimums:
            any_sign = extents.symbol(dim.name, LOWEST)
            l.sizes.dims[any_sign] = dataclasses.replace(dim, min=LOWEST, max=HIGHEST)
            l.values.signed[s] = any_sign
    return Known(ref.dtype, as_elements(symbols, fixed), lambda: ref)


def _output(l: Lowering, ref: Ref, port: int) -> int:
    """The caller's buffer of output `port`: what computes `ref` writes there, or a copy does."""
    ref = l.real(ref)
    value = l.values.all[ref.base]
    if value.storage == "planned" and views.covers(ref, value.shape):
        l.values.rehome(ref.base, "output", port)
        return ref.base
    target = l.values.new(ref.dtype, ref.shape, "output", port, value.name)
    l.copy_into(ref, target)
    return l.index(target)


def _store_states(l: Lowering, pairs: Sequence[tuple[View, Ref | None]]) -> None:
    """Each state takes its new value after everything has read the old one."""
    ready: list[tuple[View, View]] = []
    for state, new in pairs:
        if new is None:
            continue
        new = l.real(new)
        if l.values.all[new.base].storage == "state" and new.base != state.base:
            new = l.copy(new)
        ready.append((state, new))
    for state, new in ready:
        if new.base != state.base or new.strides is not None:
            l.copy_into(new, state)

"""A node of another domain while it is being replaced, and the table of what such operators mean."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import ModelError

from ... import graph as g
from ...graph.inference import infer_node

DOMAIN: Final = "com.microsoft"
LEARNED: Final = "ai.onnx.ml"

Meaning = Callable[..., "ir.Value | Sequence[ir.Value | None]"]
TRANSLATIONS: Final[dict[str, dict[str, Meaning]]] = {DOMAIN: {}, LEARNED: {}}
"""Domain -> operator -> what makes nodes of ONNX of it."""
ADVICE: Final = {
    DOMAIN: "export the model without this optimization of onnxruntime",
    LEARNED: "leave it out of what is converted to ONNX",
}


def means(*op_types: str, domain: str = DOMAIN) -> Callable[[Meaning], Meaning]:
    """Enters the decorated function for these operators."""

    def enter(meaning: Meaning) -> Meaning:
        for op_type in op_types:
            if op_type in TRANSLATIONS[domain]:
                raise ValueError(f"{domain}.{op_type}: has a translation already")
            TRANSLATIONS[domain][op_type] = meaning
        return meaning

    return enter


class Foreign:
    """The node: `n[i]` is an input that must be there, `n.get(i)` one that may be; `n("Add", a, b)` makes a node of ONNX before it."""

    def __init__(
        self, node: ir.Node, used: set[str], opsets: Mapping[str, int], where: str
    ) -> None:
        assert isinstance(node.graph, ir.Graph)
        self.node, self.graph, self.where = node, node.graph, where
        self._used, self._opsets = used, opsets

    def __getitem__(self, i: int) -> ir.Value:
        value = self.get(i)
        if value is None:
            self.refuse(f"expected input {i}, got none")
        return value

    def get(self, i: int) -> ir.Value | None:
        value = self.node.inputs[i] if i < len(self.node.inputs) else None
        return value if value is not None and value.name else None

    def wants(self, i: int) -> bool:
        """Whether anybody reads output i."""
        return i < len(self.node.outputs) and g.is_read(self.node.outputs[i])

    def refuse(self, text: str, advice: str = "") -> NoReturn:
        domain = self.node.domain
        title = f"node {self.node.name!r} ({domain}.{self.node.op_type})"
        raise ModelError(f"{self.where}: {title}: {text}; {advice or ADVICE[domain]}")

    def only(self, name: str, value: Any, *allowed: Any) -> None:
        """Refuses an attribute's other values."""
        if value not in allowed:
            wanted = " or ".join(map(repr, allowed))
            self.refuse(f"expected {name} {wanted}, got {value!r}")

    def without(self, first: int, *names: str) -> None:
        """Refuses inputs that are there, `names` from the index `first` on."""
        for i, name in enumerate(names, first):
            if self.get(i) is not None:
                self.refuse(f"input {i} ({name}) is not covered")

    def __call__(self, op_type: str, *inputs: ir.Value | None, **attributes: Any) -> ir.Value:
        (made,) = self.several(op_type, 1, *inputs, **attributes)
        return made

    def several(
        self, op_type: str, outputs: int, *inputs: ir.Value | None, **attributes: Any
    ) -> Sequence[ir.Value]:
        """A node of ONNX with several outputs."""
        given = {k: v for k, v in attributes.items() if v is not None}
        name = g.fresh(self._used, f"{self.node.name}_{op_type}")
        made = ir.node(op_type, list(inputs), given, num_outputs=outputs, name=name)
        for i, value in enumerate(made.outputs):
            value.name = g.fresh(self._used, f"{name}_out{i or ''}")
        made.metadata_props.update(self.node.metadata_props)
        self.graph.insert_before(self.node, made)
        infer_node(made, self._opsets)
        return made.outputs

    def ours(
        self,
        op_type: str,
        dtype: ir.DataType | None,
        rank: int,
        *inputs: ir.Value,
        **attributes: Any,
    ) -> ir.Value:
        """A node of our own domain, whose result onnx's inference does not know."""
        name = g.fresh(self._used, f"{self.node.name}_{op_type}")
        made = ir.node(op_type, list(inputs), attributes, domain=g.OURS, name=name)
        (value,) = made.outputs
        value.name = g.fresh(self._used, f"{name}_out")
        value.type = None if dtype is None else ir.TensorType(dtype)
        value.shape = ir.Shape([None] * rank)
        made.metadata_props.update(self.node.metadata_props)
        self.graph.insert_before(self.node, made)
        return value

    def constant(self, data: g.Array | ir.TensorProtocol, name: str = "constant") -> ir.Value:
        tensor = ir.tensor(data) if isinstance(data, np.ndarray) else data
        value = ir.Value(
            name=g.fresh(self._used, f"{self.node.name}_{name}"),
            shape=g.sizes(tensor),
            type=ir.TensorType(tensor.dtype),
            const_value=tensor,
        )
        self.graph.register_initializer(value)
        return value

    def ints(self, *numbers: int) -> ir.Value:
        return self.constant(np.array(numbers, np.int64))

    def like(self, number: float, x: ir.Value) -> ir.Value:
        """The number as a scalar of x's type."""
        value = self.constant(np.array(number, np.float32))
        if x.dtype == ir.DataType.FLOAT:
            return value
        return self("CastLike", value, x)

    def plus(self, x: ir.Value, *more: ir.Value | None) -> ir.Value:
        """The sum of what is there."""
        for each in more:
            x = x if each is None else self("Add", x, each)
        return x

    def size(self, x: ir.Value, axis: int) -> ir.Value:
        """Extent of an axis, [1]."""
        return self("Shape", x, start=axis, end=axis + 1 if axis != -1 else None)

    def rank(self, x: ir.Value, what: str) -> int:
        rank = g.rank(x)
        if rank is None:
            self.refuse(f"the rank of {what} is not known")
        return rank


def translate(node: ir.Node, used: set[str], opsets: Mapping[str, int], where: str) -> None:
    """Puts nodes of ONNX in the place of one."""
    n = Foreign(node, used, opsets, where)
    meaning = TRANSLATIONS[node.domain][node.op_type]
    made = meaning(n, **_attributes(n, meaning))
    results = [made] if isinstance(made, ir.Value) else list(made)
    for i, old in enumerate(node.outputs):
        new = results[i] if i < len(results) else None
        if not n.wants(i):
            continue
        if new is None:
            n.refuse(f"output {i} ({old.name!r}) is read, which is not covered")
        _hand_over(n, old, new)
    n.graph.remove(node, safe=True)


def _hand_over(n: Foreign, old: ir.Value, new: ir.Value) -> None:
    new.type, new.shape = new.type or old.type, new.shape or old.shape
    name, output = old.name, old.is_graph_output()
    g.take_over(n.graph, old, new)
    if not output and new.producer() is not None:
        old.name, new.name = f"{name}_replaced", name


def _attributes(n: Foreign, meaning: Meaning) -> dict[str, Any]:
    """The node's attributes for the function's keyword arguments."""
    told = {
        p.name: p
        for p in inspect.signature(meaning).parameters.values()
        if p.kind == p.KEYWORD_ONLY
    }
    found = {}
    for name, a in n.node.attributes.items():
        if name not in told:
            n.refuse(f"attribute {name!r} is not covered")
        value = a.value
        default = told[name].default
        if isinstance(default, float) and isinstance(value, int):
            value = float(value)
        if default not in (None, inspect.Parameter.empty) and type(value) is not type(default):
            n.refuse(f"expected {name} as {type(default).__name__}, got {value!r}")
        found[name] = value
    missing = [k for k, p in told.items() if p.default is p.empty and k not in found]
    if missing:
        n.refuse(f"expected the attribute {missing[0]!r}, got none")
    return found

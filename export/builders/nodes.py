"""A Graph in the making: nodes that know their module, constants once, and weights that are the checkpoint's tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import ModelError

from .. import graph as g
from ..checkpoint.families import COMPUTED
from ..checkpoint.weight import Tensor, floats

FLOAT: Final = ir.TensorType(ir.DataType.FLOAT)
NAMED: Final = 8
"""Names that an error lists."""
PREFIX: Final = "model."
"""Of all names but the head's; checkpoints have it or not."""


class Nodes:
    """`tensors`: the checkpoint's, by name. `weights`: those that became initializers, by the names of these."""

    def __init__(self, where: str, name: str, tensors: Mapping[str, Tensor]) -> None:
        self.where = where
        self.graph = ir.Graph([], [], nodes=[], opset_imports={"": g.OPSET}, name=name)
        self.weights: dict[str, Tensor] = {}
        self._left = {
            name.removeprefix(PREFIX): name for name in tensors if not COMPUTED.fullmatch(name)
        }
        self._tensors = tensors
        self._used = set[str]()
        self._constants: dict[tuple[str, tuple[int, ...], bytes], ir.Value] = {}
        self.module = ""

    def op(self, kind: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """A node of the module; numbers and arrays among its inputs become constants. Gives its output, or all of several."""
        node = ir.node(kind, [self._value(x) for x in inputs], attributes, num_outputs=outputs)
        if self.module:
            node.metadata_props[g.MODULE] = self.module
        self.graph.append(node)
        return node.outputs[0] if outputs == 1 else node.outputs

    def _value(self, given: Any) -> ir.Value | None:
        if given is None or isinstance(given, ir.Value):
            return given
        array = np.asarray(given, np.float32 if isinstance(given, float) else None)
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._constants:
            name = f"constant.{len(self._constants)}"
            self._constants[key] = g.initializer(self.graph, array, name, self._used)
        return self._constants[key]

    def weight(self, name: str, shape: Sequence[int]) -> ir.Value:
        """The parameter of that name.

        Raises:
            ModelError: the checkpoint has none, or one of another shape.
        """
        plain = name.removeprefix(PREFIX)
        if name in self.graph.initializers:
            return self.graph.initializers[name]
        if plain not in self._left:
            raise ModelError(
                f"{self.where}: expected tensor {name} {list(shape)}, got none; the checkpoint is incomplete, or of another model"
            )
        tensor = self._tensors[self._left.pop(plain)]
        if tuple(tensor.shape) != tuple(shape):
            raise ModelError(
                f"{self.where}: tensor {name}: expected {list(shape)}, got {list(tensor.shape)}; the checkpoint is of another model"
            )
        return self._initializer(name, tensor)

    def _initializer(self, name: str, tensor: Tensor) -> ir.Value:
        shape = ir.Shape(tensor.shape)

        def made() -> ir.TensorProtocol:
            return ir.tensor(floats(tensor.read()).reshape(tensor.shape), name=name)

        lazy = ir.LazyTensor(made, dtype=ir.DataType.FLOAT, shape=shape, cache=False, name=name)
        value = ir.Value(name=name, type=FLOAT, shape=shape, const_value=lazy)
        self.graph.register_initializer(value)
        self.weights[name] = tensor
        return value

    def tie(self, name: str, to: str) -> None:
        """The parameter of that name is another one, which the checkpoint may have twice.

        Raises:
            ModelError: it has two that differ.
        """
        own = self._left.pop(name.removeprefix(PREFIX), None)
        one, two = self._tensors.get(own or ""), self.weights[to]
        if one is None or one is two:
            return
        if one.shape != two.shape or not np.array_equal(floats(one.read()), floats(two.read())):
            raise ModelError(
                f"{self.where}: expected {name} and {to} to be one tied matrix, got two that differ; correct tie_word_embeddings"
            )

    def finish(self) -> None:
        """Every tensor has its place.

        Raises:
            ModelError: some have none; they are named.
        """
        left = list(self._left.values())
        if left:
            more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
            raise ModelError(
                f"{self.where}: expected no other tensors, got {', '.join(left[:NAMED])}{more}, which have no place in a decoder of "
                "this family; export the module from PyTorch"
            )

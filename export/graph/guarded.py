"""Inputs that decide structure (axes, modes, scales), made what an example has: `--example x.npz`.

The model's input stays, and its readers get a constant. What the constant is stands in the metadata; lowering makes it a check of each run.
As text: {input: [base64 of the .npy file]}.
"""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnx_ir as ir

from pteron.schema.arrays import read_arrays
from pteron.schema.errors import ArgumentError, DamagedError, ModelError, existing, shown

from .. import graph as g

KEY: Final = "pteron.guarded"
"""Metadata key of a model."""
MOST: Final = 256
"""Elements of an input that may decide structure; larger ones are data."""
MOST_SHOWN: Final = 8

STRUCTURE: Final[dict[str, Collection[int]]] = {
    **dict.fromkeys(("Range", "HannWindow", "HammingWindow", "BlackmanWindow", "ConstantOfShape", "If"), (0,)),
    **dict.fromkeys(("Dropout", "Col2Im", "DFT", "Pad"), (1, 2, 3)),
    "Range": (0, 1, 2), "Loop": (0, 1), "MelWeightMatrix": (0, 1, 2, 3, 4), "Slice": (1, 2, 3, 4), "Resize": (1, 2, 3), "STFT": (1, 3),
}  # fmt: skip
"""Operands that decide structure; of another operator all behind the first."""


def read_example(given: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Inputs by name, of a mapping or an .npz file.

    Raises:
        FileError: there is no such file.
        ArgumentError: it has something else than arrays of numbers by name.
    """
    if not isinstance(given, Mapping):
        given = _npz(Path(given))
    arrays = {}
    for name, value in given.items():
        array = np.asarray(value)
        if not isinstance(name, str) or array.dtype.kind not in "biufcV":
            raise ArgumentError(
                f"example {shown(name)}: expected an input's name and numbers, got {shown(value)}"
            )
        arrays[name] = array
    return arrays


def _npz(path: Path) -> dict[str, np.ndarray]:
    loaded = read_arrays(existing(path))
    if isinstance(loaded, dict):
        return loaded
    raise DamagedError(
        f"{path.name}: expected an .npz file with an array for each input, got something else; write it with numpy.savez"
    )


def deciding(model: ir.Model, failed: Iterable[str], example: Mapping[str, np.ndarray]) -> set[str]:
    """The inputs, among those of the example, that what decides the structure of the nodes `failed` comes from: of each node those
    of one operand, the last that has any, for what stands in front may be covered then."""
    wanted = set(failed)
    found: set[str] = set()
    may_be = {name for name, a in example.items() if a.size <= MOST} - read(model).keys()
    for node in g.nodes(model):
        made = {v.name for v in node.outputs}
        if node.name not in wanted and not made & wanted:
            continue
        operands = STRUCTURE.get(node.op_type, range(1, len(node.inputs)))
        sources = [_sources([node.inputs[i]]) & may_be for i in operands if i < len(node.inputs)]
        found |= next((s for s in reversed(sources) if s), set())
    return found


def _sources(values: Iterable[ir.Value | None]) -> set[str]:
    """The graph's inputs whose elements the values are computed from; their shapes alone are none."""
    left = [v for v in values if v is not None]
    seen: set[int] = set()
    found: set[str] = set()
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        node = value.producer()
        if value.is_graph_input():
            found.add(value.name or "")
        elif node is not None and not g.is_op(node, "Shape", "Size"):
            left += [v for v in node.inputs if v is not None]
    return found


def guard(model: ir.Model, example: Mapping[str, np.ndarray], names: Collection[str]) -> None:
    """These inputs are read as the constants that the example has.

    Raises:
        ArgumentError: the example's dtype or shape is another.
    """
    held = read(model)
    for value in model.graph.inputs:
        name = value.name or ""
        if name not in names or name in held:
            continue
        array = _fitting(value, example[name])
        value.shape = ir.Shape(array.shape)
        constant = g.initializer(
            model.graph, ir.tensor(array, dtype=value.dtype), f"{name}.example"
        )
        value.replace_all_uses_with(constant, replace_graph_outputs=False)
        held[name] = array
    model.metadata_props[KEY] = json.dumps({name: _as_text(a) for name, a in held.items()})


def _fitting(value: ir.Value, array: np.ndarray) -> np.ndarray:
    assert value.dtype is not None
    dtype = value.dtype.numpy()
    dims = g.dims(value)
    fits = dims is None or (
        len(dims) == array.ndim
        and all(not isinstance(n, int) or n == m for n, m in zip(dims, array.shape, strict=True))
    )
    if array.dtype != dtype or not fits:
        raise ArgumentError(
            f"example {value.name}: expected {dtype} {'of any shape' if dims is None else dims}, got {array.dtype} {list(array.shape)}"
        )
    return array


def _as_text(array: np.ndarray) -> str:
    file = io.BytesIO()
    np.save(file, array.view(f"u{array.itemsize}") if array.dtype.kind == "V" else array)
    return base64.b64encode(file.getvalue()).decode()


def read(model: ir.Model) -> dict[str, np.ndarray]:
    """What `guard` wrote: the guarded inputs' elements.

    Raises:
        ModelError: the text is something else.
    """
    text = model.metadata_props.get(KEY)
    if text is None:
        return {}
    kinds = {v.name: v.dtype for v in model.graph.inputs}
    try:
        held = {}
        for name, data in json.loads(text).items():
            array = np.load(io.BytesIO(base64.b64decode(data, validate=True)), allow_pickle=False)
            kind = kinds[name]
            assert kind is not None and array.size <= MOST
            held[name] = array.view(kind.numpy())
        return held
    except Exception:
        raise ModelError(
            f"metadata {KEY}: expected inputs and their elements, got {shown(text)}; remove it"
        ) from None


def told(model: ir.Model) -> list[str]:
    """A line for each guarded input, for the report."""
    return [
        f"input {name} is guarded to the example's {_elements(a)}: a run with anything else fails"
        for name, a in read(model).items()
    ]


def _elements(array: np.ndarray) -> str:
    flat = [str(x) for x in array.reshape(-1)[:MOST_SHOWN].tolist()]
    more = f" ... {array.size} in all" if array.size > MOST_SHOWN else ""
    return f"{', '.join(flat)}{more}" if array.ndim == 0 else f"[{', '.join(flat)}{more}]"

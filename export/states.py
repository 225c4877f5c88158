"""State pairs: which inputs and outputs the session keeps, and the values they start with.

A model names its own pairs in `metadata_props["pteron.state"]`, JSON: {past input: present output, ..., "initial": {past input:
base64 of its little-endian bytes}}; a state without initial bytes starts as zeros. The caller may add pairs.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

from pteron.export import graph as g
from pteron.export.program import Constant, Program
from pteron.schema.errors import ModelError


def state_pairs(model: ir.Model, more: Mapping[str, str]) -> dict[str, str]:
    """Past input -> present output, the model's own first.

    Raises:
        ModelError: the metadata is not as described above.
    """
    return {**{k: v for k, v in _record(model).items() if isinstance(v, str)}, **more}


def check_pairs(models: Sequence[ir.Model], pairs: Mapping[str, str]) -> None:
    """Each pair belongs to a method: a misspelt name would silently leave a cache to the caller.

    Raises:
        ModelError: no method has such an input.
    """
    inputs = sorted({v.name or "" for m in models for v in m.graph.inputs})
    for past, present in pairs.items():
        if past not in inputs:
            raise ModelError(
                f"state {past} = {present}: expected one of the inputs {inputs}, got {past!r}"
            )


def initial_values(model: ir.Model) -> dict[str, g.Array]:
    """Past input -> the elements it starts with, for those that do not start as zeros."""
    found: dict[str, g.Array] = {}
    inputs = {v.name: v for v in model.graph.inputs}
    for name, text in _record(model).get("initial", {}).items():
        value = inputs.get(name)
        if value is None or value.dtype is None or value.shape is None:
            raise ModelError(
                f"{g.STATE}: initial of {name!r}: expected one of {sorted(map(str, inputs))}"
            )
        try:
            array = np.frombuffer(base64.b64decode(text, validate=True), value.dtype.numpy())
            found[name] = array.reshape([int(str(d)) for d in value.shape])
        except (ValueError, TypeError, binascii.Error) as error:
            raise ModelError(
                f"{g.STATE}: initial of {name!r}: expected base64 of {value.dtype.name}{value.shape}, got {error}"
            ) from error
    return found


def _record(model: ir.Model) -> dict[str, Any]:
    text = model.metadata_props.get(g.STATE)
    if not text:
        return {}
    try:
        record = json.loads(text)
    except ValueError as error:
        raise ModelError(f"{g.STATE}: expected JSON, got {text[:60]!r}: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("initial", {}), dict):
        raise ModelError(
            f"{g.STATE}: expected an object of input names to output names, got {text[:60]!r}"
        )
    checked: dict[str, Any] = record
    return checked


def with_initial(program: Program, models: Sequence[ir.Model]) -> Program:
    """The program with each state's initial value as a constant; states are named after their inputs."""
    constants, states = list(program.constants), list(program.states)
    values = {name: array for model in models for name, array in initial_values(model).items()}
    for i, state in enumerate(states):
        if state.name in values and state.initial is None:
            array = values[state.name]
            constants.append(Constant(f"{state.name}.initial", state.dtype, array.shape, array))
            states[i] = dataclasses.replace(state, initial=len(constants) - 1)
    return dataclasses.replace(program, constants=tuple(constants), states=tuple(states))

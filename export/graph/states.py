"""State pairs: which inputs and outputs the session keeps, and the values they start with.

A model names its own pairs in `metadata_props["pteron.state"]`, JSON: {past input: present output, ..., "initial": {past input:
base64 of its little-endian bytes}}; a state without initial bytes starts as zeros. The caller may add pairs.
"""

from __future__ import annotations

import base64
import binascii
import collections
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx_ir as ir

from pteron.schema.errors import ArgumentError, ModelError

from .. import graph as g

STAR: Final = "*"
MOST_STARS: Final = 4
SHOWN: Final = 20
"""Names that an error lists."""


def state_pairs(models: Sequence[ir.Model], asked: Mapping[str, str]) -> dict[str, str]:
    """Past input -> present output over all methods: the models' own pairs, then those of patterns, then those asked by name.

    `past_*` = `present_*` pairs every input of the form with the output in which each `*` stands for the same text.

    Raises:
        ModelError: metadata that are not as described above.
        ArgumentError: a name that no method has; a pattern that pairs nothing, or an input with no output or with several.
    """
    pairs: dict[str, str] = {}
    for model in models:
        pairs |= {k: v for k, v in _record(model).items() if isinstance(v, str)}
    inputs = sorted({v.name or "" for m in models for v in m.graph.inputs})
    outputs = {v.name for m in models for v in m.graph.outputs}
    named = {k: v for k, v in asked.items() if STAR not in k + v or (k in inputs and v in outputs)}
    found: dict[str, str] = {}
    for past, present in asked.items():
        if past not in named:
            for name, output in _matches(models, past, present).items():
                if found.setdefault(name, output) != output and name not in named:
                    raise ArgumentError(
                        f"state {past} = {present}: pairs {name!r} with {output!r}, another pattern with "
                        f"{found[name]!r}; name the pair itself: {name}={output}"
                    )
    pairs |= found | named
    for past, present in pairs.items():
        if past not in inputs:
            raise (ArgumentError if past in asked else ModelError)(
                f"state {past} = {present}: expected one of the inputs {_list(inputs)}, got {past!r}"
            )
    return pairs


def _matches(models: Sequence[ir.Model], past: str, present: str) -> dict[str, str]:
    """Input -> output of one pattern; each method's inputs find their outputs in that method."""
    where = f"state {past} = {present}"
    if past.count(STAR) != present.count(STAR):
        raise ArgumentError(
            f"{where}: expected as many * in the output as in the input, got {past.count(STAR)} and {present.count(STAR)}"
        )
    if past.count(STAR) > MOST_STARS:
        raise ArgumentError(f"{where}: expected at most {MOST_STARS} *, got {past.count(STAR)}")
    found: dict[str, str] = {}
    for model in models:
        outputs = {v.name or "" for v in model.graph.outputs}
        for value in model.graph.inputs:
            name = value.name or ""
            texts = list(_splits(past.split(STAR), name))
            wanted = dict.fromkeys(_filled(present.split(STAR), text) for text in texts)
            fitting = [output for output in wanted if output in outputs]
            if texts and len(fitting) != 1:
                got = f"{_list(fitting)}" if fitting else f"none among {_list(sorted(outputs))}"
                raise ArgumentError(
                    f"{where}: input {name!r} expected one output {' or '.join(map(repr, wanted))}, got {got}; "
                    "make the pattern narrower, or name each pair"
                )
            if fitting:
                found[name] = fitting[0]
    twice = [v for v, n in collections.Counter(found.values()).items() if n > 1]
    if twice:
        rivals = [name for name, output in found.items() if output == twice[0]]
        raise ArgumentError(
            f"{where}: output {twice[0]!r} is that of several inputs: {_list(rivals)}"
        )
    if not found:
        inputs = sorted({v.name or "" for m in models for v in m.graph.inputs})
        raise ArgumentError(f"{where}: matches no input; the inputs are {_list(inputs)}")
    return found


def _splits(parts: Sequence[str], name: str) -> Iterator[tuple[str, ...]]:
    """Every way in which texts between the parts of a pattern give the name."""
    if not name.startswith(parts[0]):
        return
    rest = name[len(parts[0]) :]
    if len(parts) == 1:
        if not rest:
            yield ()
        return
    for end in range(len(rest) + 1):
        for more in _splits(parts[1:], rest[end:]):
            yield (rest[:end], *more)


def _filled(parts: Sequence[str], texts: Sequence[str]) -> str:
    return "".join(part + text for part, text in zip(parts, [*texts, ""], strict=True))


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:SHOWN]))
    return f"[{shown}{f', ... {len(names) - SHOWN} more' if len(names) > SHOWN else ''}]"


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


def state_roles(model: ir.Model) -> dict[str, tuple[str, int, int]]:
    """What the states of a context are: ("position", 0, reach), or ("tokens", axis, reach); `reach` as in program.State.

    Raises:
        ModelError: metadata that `keep_context` does not write.
    """
    text = model.metadata_props.get(g.CONTEXT)
    if text is None:
        return {}
    try:
        told = json.loads(text)
        reach = {str(name): int(tokens) for name, tokens in told.get("reach", {}).items()}
        axes = {str(n): ("tokens", int(axis), reach.get(n, 0)) for n, axis in told["axes"].items()}
        position = str(told["position"])
        return {position: ("position", 0, reach.get(position, 0)), **axes}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(
            f"{g.CONTEXT}: expected what --max-context writes, got {text[:60]!r}"
        ) from error


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

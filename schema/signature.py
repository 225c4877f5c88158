"""What an operator's signature says, read from the row: ports, and the attribute struct with its offsets.

The struct of an operator is `uint32 size` followed by its attributes in row order with natural C alignment, filled up to a
multiple of 8 bytes: int 8, float 8, bool and Literal 4 (a Literal is its position), Ints, Floats and Dims (start, count)
of 4 each, Steps two of those (steps, literals), Block 4. Floats lie in the `ints` side table as the bits of f64.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import struct
from collections.abc import Mapping
from typing import Any, Final

from .row import Op

RULES: Final = ("F", "T", "A", "I64", "Bool", "W", "Taps")
"""What a port's dtype may be, see schema/row.py. The position is the number in the C table."""

KINDS: Final = {
    "int": ("q", 8),
    "float": ("d", 8),
    "bool": ("I", 4),
    "enum": ("I", 4),
    "ints": ("II", 4),
    "floats": ("II", 4),
    "dims": ("II", 4),
    "steps": ("IIII", 4),
    "block": ("I", 4),
}
"""Attribute kind -> struct letters, alignment. The position is the number in the C table."""

CONTROL: Final = ("if", "loop", "call", "delegate")
"""Operators that the session runs itself; they have no kernel."""


@dataclasses.dataclass(frozen=True, slots=True)
class Port:
    """One input or output; a variadic port stands for any number of values and is the last one."""

    name: str
    rule: str
    optional: bool
    variadic: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Attr:
    """One attribute. `default` None: required. `values`: the words of an enum."""

    name: str
    kind: str
    offset: int
    default: Any
    values: tuple[str, ...]

    @property
    def bytes(self) -> int:
        return struct.calcsize("<" + KINDS[self.kind][0])


@dataclasses.dataclass(frozen=True, slots=True)
class Signature:
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    attrs: tuple[Attr, ...]
    attrs_bytes: int

    @property
    def has_defaults(self) -> bool:
        """No attribute is required: an instruction may do without a struct."""
        return all(a.default is not None for a in self.attrs)


@functools.cache
def signature(op: Op) -> Signature:
    """Reads the annotations of `op.meaning`.

    Raises:
        ValueError: an annotation is not one of the words of schema/row.py; the message names the operator.
    """
    inputs: list[Port] = []
    fields: list[tuple[str, str, Any]] = []
    parsed = inspect.signature(op.meaning)
    for parameter in parsed.parameters.values():
        word = str(parameter.annotation)
        if word == "Outs":
            continue  # for the meaning only
        if parameter.kind is parameter.KEYWORD_ONLY:
            default = None if parameter.default is parameter.empty else parameter.default
            fields.append((parameter.name, word, default))
        else:
            inputs.append(
                _port(op, parameter.name, word, parameter.kind is parameter.VAR_POSITIONAL)
            )
    outputs = _outputs(op, str(parsed.return_annotation))
    attrs, size = _place(op, fields)
    if any(a.kind == "steps" for a in attrs) and any(p.optional for p in outputs):
        raise ValueError(f"op {op.name}: steps store every output, so that none may be absent")
    return Signature(tuple(inputs), outputs, attrs, size)


def pack_attrs(sig: Signature, values: Mapping[str, Any]) -> bytes:
    """The attribute struct. `values` by name; absent ones take the default; lists are already (start, count) ranges,
    Steps ((start, count) of steps, (start, count) of literals), enums words.

    Raises:
        ValueError: an attribute is unknown, missing, or not one of an enum's words.
    """
    unknown = set(values) - {a.name for a in sig.attrs}
    if unknown:
        raise ValueError(
            f"attributes {sorted(unknown)}: expected one of {[a.name for a in sig.attrs]}"
        )
    out = bytearray(sig.attrs_bytes)
    struct.pack_into("<I", out, 0, sig.attrs_bytes)
    for a in sig.attrs:
        value = values.get(a.name, a.default)
        if value is None:
            raise ValueError(
                f"attribute {a.name}: expected a value, got none, and it has no default"
            )
        struct.pack_into("<" + KINDS[a.kind][0], out, a.offset, *words(a, value))
    return bytes(out)


def words(a: Attr, value: Any) -> tuple[int | float, ...]:
    """The numbers that stand for `value` in the struct."""
    if a.kind == "enum":
        if value not in a.values:
            raise ValueError(f"attribute {a.name}: expected one of {list(a.values)}, got {value!r}")
        return (a.values.index(value),)
    if a.kind in ("ints", "floats", "dims"):
        return tuple(value) or (0, 0)
    if a.kind == "steps":
        return (*value[0], *value[1]) if value else (0, 0, 0, 0)
    return (float(value),) if a.kind == "float" else (int(value),)


def _port(op: Op, name: str, word: str, variadic: bool) -> Port:
    optional = word.endswith(" | None")
    rule = word.removesuffix(" | None")
    if rule not in RULES:
        raise ValueError(f"op {op.name}: {name}: expected one of {RULES}, got {word}")
    return Port(name, rule, optional, variadic)


def _outputs(op: Op, word: str) -> tuple[Port, ...]:
    if not word.startswith("tuple["):
        return (_port(op, "y", word, False),)
    parts = [ast.unparse(part) for part in _elements(word)]
    if parts[-1] == "...":
        return (_port(op, "y", parts[0], True),)
    return tuple(_port(op, f"y{i}", part, False) for i, part in enumerate(parts))


def _elements(word: str) -> list[ast.expr]:
    inside = ast.parse(word, mode="eval").body
    assert isinstance(inside, ast.Subscript)
    return inside.slice.elts if isinstance(inside.slice, ast.Tuple) else [inside.slice]


def _place(op: Op, fields: list[tuple[str, str, Any]]) -> tuple[tuple[Attr, ...], int]:
    offset = 4
    attrs = []
    for name, word, default in fields:
        values: tuple[str, ...] = ()
        kind = word.lower()
        if word.startswith("Literal["):
            kind = "enum"
            values = tuple(ast.literal_eval(part) for part in _elements(word))
        if kind not in KINDS:
            raise ValueError(
                f"op {op.name}: attribute {name}: expected a word of schema/row.py, got {word}"
            )
        align = KINDS[kind][1]
        offset = -(-offset // align) * align
        attrs.append(Attr(name, kind, offset, default, values))
        offset += attrs[-1].bytes
    return tuple(attrs), -(-offset // 8) * 8

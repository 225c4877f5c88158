"""What a Graph says of its named sizes: the bounds of each, and relations between them that must hold when it runs.

Capture writes it where a model was traced for some sizes only; lowering makes it the limits of dimensions and checks at prepare.
As text: {"sizes": {name: [least, most]}, "relations": [[kind, a, b, text]]}; a and b are expressions over d0, d1 ...,
the sizes in order.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

import onnx_ir as ir
import sympy

from pteron.schema.errors import ModelError

from ..sizes import Check, Extent, extents

KEY: Final = "pteron.bounds"
"""Metadata key of a model."""
MOST: Final = 2**31 - 1


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """`sizes`: name -> (least, most). In `checks` the size called n is `symbol(n)`."""

    sizes: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)
    checks: tuple[Check, ...] = ()


def symbol(name: str) -> sympy.Symbol:
    """The size of that name, whatever its bounds."""
    return sympy.Symbol(name, integer=True)


def write(model: ir.Model, bounds: Bounds) -> None:
    places = {symbol(name): sympy.Symbol(f"d{i}") for i, name in enumerate(bounds.sizes)}

    def text(x: Extent) -> str:
        return str(sympy.sympify(x).xreplace(places))

    relations = [[c.kind, text(c.a), text(c.b), c.text] for c in bounds.checks]
    model.metadata_props[KEY] = json.dumps({"sizes": bounds.sizes, "relations": relations})


def read(model: ir.Model) -> Bounds:
    """What `write` wrote; nothing where it did not.

    Raises:
        ModelError: the text is something else.
    """
    text = model.metadata_props.get(KEY)
    if text is None:
        return Bounds()
    try:
        told = json.loads(text)
        sizes = {str(name): (int(a), int(b)) for name, (a, b) in told["sizes"].items()}
        names: dict[str, Any] = {f"d{i}": symbol(name) for i, name in enumerate(sizes)}
        checks = [
            Check(str(kind), _expression(a, names), _expression(b, names), str(why))
            for kind, a, b, why in told["relations"]
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"{KEY}: expected what the exporter writes, got {text[:60]!r}") from error
    return Bounds(sizes, tuple(checks))


def _expression(text: str, names: dict[str, Any]) -> Extent:
    return extents.extent(sympy.sympify(text, locals=names))


def fixed(bounds: Bounds, sizes: Mapping[str, int]) -> Bounds:
    """The rest, where some sizes became numbers.

    Raises:
        ModelError: a number is out of its bounds, or a relation cannot hold any more.
    """
    for name in sizes.keys() & bounds.sizes.keys():
        least, most = bounds.sizes[name]
        if not least <= sizes[name] <= most:
            raise ModelError(
                f"fix {name}: expected {least} to {most}, for which the model was traced, got {sizes[name]}"
            )
    numbers = {symbol(name): n for name, n in sizes.items()}
    left = []
    for c in bounds.checks:
        a, b = (extents.extent(sympy.sympify(x).xreplace(numbers)) for x in (c.a, c.b))
        if isinstance(a, int) and isinstance(b, int):
            if not holds(c.kind, a, b):
                raise ModelError(f"fix {dict(sizes)}: {c.text}: got {a} and {b}")
        else:
            left.append(dataclasses.replace(c, a=a, b=b))
    return Bounds({n: r for n, r in bounds.sizes.items() if n not in sizes}, tuple(left))


def holds(kind: str, a: int, b: int) -> bool:
    """The relation of a Check between two numbers."""
    return {"eq": a == b, "le": a <= b, "divides": a != 0 and b % a == 0}[kind]

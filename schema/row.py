"""What a row is: the decorator `op` and the words an operator's signature may use.

Positional parameters are inputs, keyword-only parameters are attributes, the return annotation names the outputs.

Inputs and outputs: `F` is the row's own type variable, one of `dtypes`, the same everywhere in the row. `A` is any
type, each occurrence on its own; `T` any type, the same everywhere. `I64` and `Bool` are what they say. `W` is a weight
[n, k] in panels, `Taps` depthwise weights [c, t]. `F | None = None` may be absent, `*xs: A` is a variadic tail.
Attributes: int, float, bool, Literal[...] (an enum), `Ints`, `Floats` (constants), `Dims` (expressions, known at
prepare), `Steps` (a pointwise program) and `Block`. A last keyword `out: Outs` is no attribute: where neither inputs nor
attributes say what the outputs look like, the caller of the meaning gives their shapes and dtypes.

Shapes are one line, `inputs -> outputs`, each in square brackets in signature order. A name is one dimension, `*name`
any number of them, `*` any number that is not compared, a number itself, `#attr` the value of an integer attribute,
`*name#attr` as many dimensions as the attribute says. A name means the same wherever it occurs; one that occurs first in
an output is free, and relations say what it may be. `...` after an input repeats it for a variadic tail.

Relations (`where=`, separated by `;`) say all else that must hold between extents, attributes and element types, so that a
kernel relies on them and checks nothing by hand that they can say. Each is a Python expression that is not 0:

    len(o) == len(i)                            as long as: one run of the line and another
    len(kernel) == len(i); 1 <= kernel <= 9     a list attribute has an entry an axis, each within
    o == (i - kernel) // stride + 1             extents, axis by axis
    k == product(kernel) * (c // groups)        extents, lists and numbers
    r == x[d:]                                  run r is what follows the first d extents of x
    n >= 1 or empty(y)                          unless output y has no elements
    kind != mean or dtype(x) == f32             words of an enum, element types
    dtype(w) == f32; format(w) == plain; groups(w) == 1; bits(x) % 8 == 0
    given(w) or m == c                          without w

Names are the line's dimensions and runs, and attributes; `dtype`, `format`, `block`, `groups`, `bits`, `empty` and `given` ask of an
input or output by its name. The operators are + - * // % or, == != <= >=, a <= x <= b, in, [n:], [:n], and the functions len, product,
min, max. What names an absent operand holds, but for `given`, which is 0. schema/relation.py has the rules; verify evaluates what the file decides,
prepare all of it, and the exporter both. A run of the line is best tied to another first: later relations may rely on it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
F: TypeAlias = Array
T: TypeAlias = Array
A: TypeAlias = Array
W: TypeAlias = Array
Taps: TypeAlias = Array
I64 = NDArray[np.int64]
Bool = NDArray[np.bool_]
Ints = tuple[int, ...]
Dims = tuple[int, ...]
Floats = tuple[float, ...]
Steps = tuple[Any, ...]
Block = int


@dataclasses.dataclass(frozen=True, slots=True)
class Out:
    """What an output looks like; dtype by its name in program.fbs, lower case."""

    shape: tuple[int, ...]
    dtype: str


Outs = tuple[Out, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Op:
    """One runtime operator. `meaning` is the decorated function; its signature and docstring belong to the row."""

    id: int
    since: int
    name: str
    dtypes: tuple[str, ...]
    shape: str
    strided: tuple[str, ...]
    bound: str
    inplace: tuple[str, ...]
    counts: str
    where: tuple[str, ...]
    meaning: Callable[..., Any]


OPS: Final[dict[str, Op]] = {}


def op(
    *,
    id: int,
    since: int,
    shape: str,
    dtypes: str = "f32",
    strided: str = "",
    bound: str = "exact",
    inplace: str = "",
    counts: str = "",
    where: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds the decorated function to OPS.

    Args:
        id: Never reused, not even after the operator is gone.
        since: The lowest runtime version that has it.
        shape: See the head of this file.
        dtypes: What `F` may be, space-separated.
        strided: Names of inputs and outputs (`y`, or `y0 y1 ...`) that may have any strides; the others are dense.
        bound: The float promise against this function in f64: "exact", "3 ulp", "4 K eps" (K: terms of the sum).
        inplace: Inputs whose memory output 0 may share.
        counts: The data decides this dimension of the line: the kernel sets it. In a program the axes that it names are
            counted dimensions, and no other axis of the outputs is.
        where: The relations, see the head of this file.

    Raises:
        ValueError: the id or the name is taken; the message names the owner.
    """

    def add(meaning: Callable[..., Any]) -> Callable[..., Any]:
        name = meaning.__name__.rstrip("_")
        for other in OPS.values():
            if other.id == id or other.name == name:
                raise ValueError(
                    f"op {name}: id {id} or the name is taken by {other.name} (id {other.id})"
                )
        row = Op(
            id,
            since,
            name,
            tuple(dtypes.split()),
            shape,
            tuple(strided.split()),
            bound,
            tuple(inplace.split()),
            counts,
            tuple(filter(None, (" ".join(text.split()) for text in where.split(";")))),
            meaning,
        )
        OPS[name] = row
        return meaning

    return add

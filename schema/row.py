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
`*name#attr` as many dimensions as the attribute says. A name means the same wherever it occurs; a name that
occurs first in an output is free, and the kernel's own check decides. `...` after an input repeats it for a variadic tail.
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
    counts: bool
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
    counts: bool = False,
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
        counts: The data decides extents of outputs: the kernel sets axes that are counted dimensions.

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
            meaning,
        )
        OPS[name] = row
        return meaning

    return add

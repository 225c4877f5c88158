"""Arrays between Python and the runtime: what goes in is checked and made dense, what comes out is given its shape."""

from __future__ import annotations

import operator
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.schema.dtypes import BY_ID, from_stored, name_of, to_stored
from pteron.schema.errors import ArgumentError, shown

from .arguments import kind_of, named
from .dtypes import numpy_of
from .program import PortInfo

Array = NDArray[Any]


def as_array(value: Any, port: PortInfo) -> Array:
    """`value` as a dense array of the port's dtype and rank.

    Python numbers and lists take the port's dtype; arrays must have it: nothing is rounded in silence.

    Raises:
        ArgumentError: another dtype, rank or fixed extent, numbers that the dtype has not; the text says what to do.
    """
    want = port.numpy_dtype
    if isinstance(value, (int, float, bool, list, tuple)):
        array = _of_numbers(value, want, port)
    elif isinstance(value, np.ma.MaskedArray):
        raise ArgumentError(f"input {port.name}: expected an array without a mask; fill it first")
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
    elif hasattr(value, "__dlpack__"):
        array = _from_dlpack(value, want, port)
    else:
        array = np.asarray(value)
    if array.dtype.kind in "OSU":
        raise ArgumentError(f"input {port.name}: expected {want}, got {kind_of(value)}")
    if array.dtype != want:
        raise ArgumentError(
            f"input {port.name}: expected {want}, got {array.dtype}; pass x.astype({str(want)!r})"
        )
    _check_shape(array.shape, port)
    return array if array.flags.c_contiguous and array.flags.aligned else np.array(array, order="C")


def empty_of(shape: Any, port: PortInfo) -> Array:
    """An array of `shape` that takes no memory, all zeros, of the port's dtype.

    Raises:
        ArgumentError: no shape, or not one of the port's.
    """
    try:
        extents = tuple(operator.index(n) for n in shape)
    except TypeError:
        raise ArgumentError(f"input {port.name}: expected a shape, got {shown(shape)}") from None
    _check_shape(extents, port)
    try:
        return np.broadcast_to(np.zeros((), port.numpy_dtype), extents)
    except ValueError:  # negative, or more elements than an array can have
        raise ArgumentError(
            f"input {port.name}: expected extents that an array can have, got {list(extents)}"
        ) from None


def _check_shape(shape: tuple[int, ...], port: PortInfo) -> None:
    fits = len(shape) == len(port.shape) and all(
        not isinstance(size, int) or size == got for size, got in zip(port.shape, shape)
    )
    if not fits:
        text = str(list(port.shape)).replace("'", "")
        raise ArgumentError(f"input {port.name}: expected shape {text}, got {list(shape)}")


def _of_numbers(value: Any, want: np.dtype[Any], port: PortInfo) -> Array:
    """Numbers of Python in the port's dtype, where that loses no more than the rounding of floats."""
    where = f"input {port.name}"
    try:
        given = np.asarray(value)
    except ValueError as error:
        raise ArgumentError(f"{where}: expected rows of equal length: {error}") from None
    if given.dtype.kind not in "biuf":
        found = given.dtype if given.dtype.kind == "c" else "something else in it"
        raise ArgumentError(f"{where}: expected numbers, got {found}")
    with np.errstate(invalid="ignore", over="ignore"):
        array = given.astype(want)
    exact = want.kind not in "biu" or bool((array == given).all())
    if not exact or (given.dtype.kind == "f" and given.size and want.kind in "biu"):
        raise ArgumentError(f"{where}: expected numbers that are {want}, got others")
    return array


def from_bytes(room: Array, dtype: int, shape: tuple[int, ...]) -> Array:
    """The array of `shape` that the bytes in `room` are; sub-byte elements are spread to one a byte."""
    numpy_of(dtype)  # says what to install
    return from_stored(room, BY_ID[dtype].name, shape)


def flat(array: Array) -> Array:
    """Its bytes as the runtime reads them: sub-byte elements packed, element 0 in the low bits."""
    return to_stored(array, name_of(array.dtype))


def _from_dlpack(value: Any, want: np.dtype[Any], port: PortInfo) -> Array:
    """Through DLPack, without its history; bfloat16, which NumPy's importer does not know, as its 16 bits."""
    if getattr(value, "requires_grad", False):
        value = value.detach()
    torch = sys.modules.get("torch")
    try:
        if torch is not None and getattr(value, "dtype", None) is torch.bfloat16:
            return np.from_dlpack(value.view(torch.int16)).view(want)
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise ArgumentError(
            f"input {port.name}: expected a dense array in the CPU's memory: {why}"
        ) from None


def buffers(
    out: Mapping[str, Any], ports: Sequence[PortInfo], inputs: Sequence[Array]
) -> dict[str, Array]:
    """The arrays that outputs are written into.

    Raises:
        ArgumentError: no such output, or an array that it cannot be written into as it is; the text says why.
    """
    known = {p.name: p for p in ports}
    out = dict(named("out", out, "arrays"))  # asked once: what was checked is what is written
    taken: list[tuple[str, Array]] = [("an input", a) for a in inputs]
    for name, array in out.items():
        if name not in known:
            raise ArgumentError(f"out: no output is called {name}; there are {', '.join(known)}")
        where, want = f"out {name}", known[name].numpy_dtype
        if not isinstance(array, np.ndarray):
            raise ArgumentError(f"{where}: expected a NumPy array, got {type(array).__name__}")
        if BY_ID[known[name].dtype].is_narrow:
            raise ArgumentError(f"{where}: {want} lies packed in the runtime; leave it out")
        if array.dtype != want:
            raise ArgumentError(f"{where}: expected {want}, got {array.dtype}")
        if not (array.flags.c_contiguous and array.flags.aligned and array.flags.writeable):
            raise ArgumentError(f"{where}: expected a dense array that may be written")
        for other, theirs in taken:
            if np.may_share_memory(array, theirs):
                raise ArgumentError(
                    f"{where}: shares memory with {other}; give it memory of its own"
                )
        taken.append((f"out {name}", array))
    return out


def made_up(port: PortInfo, sizes: Mapping[str, int], rng: np.random.Generator) -> Array:
    """Floats from N(0, 1), booleans, integers 0 or 1 (valid as ids, masks and positions); `sizes` of symbols, else the least,
    at least 1."""
    shape = port.at(sizes)
    kind = numpy_of(port.dtype)
    if kind.kind in "iub":
        return rng.integers(0, 2, shape).astype(kind)
    return rng.standard_normal(shape).astype(np.float32).astype(kind)

"""Values of the Program being made, its constants, and tensors whose elements are known at export."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from pteron.schema.dtypes import name_of

from ..graph.weights import Elements as Stored
from ..graph.weights import Source, whole
from ..program import Constant, Value, views
from ..program.arrays import decode, decoded, same_dtype, strided_view
from ..program.views import Elements, Shape, View, as_elements
from ..sizes import MAX_ELEMENTS, Extent, extents
from .refs import Codes, Known, Ref, RefusedError

KNOWN_LIMIT = 1024
"""Constants of up to so many elements take part in shape arithmetic."""

INLINE_BYTES = 4096
"""Constants of up to so many bytes are shared by content at once; emit shares the others."""


class Values:
    """The values and constants of one Program; `all` is Program.values."""

    def __init__(self) -> None:
        self.all: list[Value] = []
        self.constants: list[Constant] = []
        self.taken: set[sympy.Symbol] = set()  # shape inputs' elements, as sizes
        self.signed: dict[sympy.Symbol, sympy.Symbol] = {}  # the same elements, of any sign
        self.parts: dict[int, list[Ref]] = {}  # of flat tensors joined of others
        self._views: dict[tuple[Any, ...], int] = {}
        self._constant_of: dict[tuple[Any, ...], int] = {}
        self._constant_values: dict[int, int] = {}

    # --- values ------------------------------------------------------------------------------------------------------

    def new(
        self, dtype: str, shape: Shape, storage: str = "planned", base: int = 0, name: str = ""
    ) -> View:
        """A dense value of its own."""
        if len(shape) > 8:
            raise RefusedError(f"rank {len(shape)}; at most 8 dimensions are covered")
        if any(isinstance(n, int) and n < 0 for n in shape):
            raise RefusedError(
                f"its result would have the shape {list(shape)}; expected no extent below 0"
            )
        if math.prod(max(n, 1) for n in shape if isinstance(n, int)) > MAX_ELEMENTS:
            raise RefusedError(
                f"{name or 'its result'} would have the shape {list(shape)}; at most 2^40 elements are covered"
            )
        self.all.append(Value(name, dtype, tuple(shape), storage, base))
        return View(dtype, tuple(shape), len(self.all) - 1)

    def begin_method(self) -> None:
        """Values of other methods are not seen from here on."""
        self._views.clear()
        self._constant_values.clear()

    def rehome(self, index: int, storage: str, base: int) -> None:
        """Gives a planned value another place: an output buffer."""
        self.all[index] = dataclasses.replace(self.all[index], storage=storage, base=base)

    def constant(self, array: Stored, dtype: str = "", name: str = "") -> View:
        """Stored elements. `dtype` defaults to the array's own."""
        if not isinstance(array, Source) or array.nbytes <= INLINE_BYTES:
            array = np.asarray(whole(array))
        dtype = dtype or name_of(array.dtype)
        key: tuple[Any, ...] = (dtype, array.shape, id(array))
        if not isinstance(array, Source) and array.nbytes <= INLINE_BYTES:
            key = (dtype, array.shape, array.tobytes())
        if key not in self._constant_of:
            self._constant_of[key] = len(self.constants)
            self.constants.append(Constant(name, dtype, array.shape, array))
        at = self._constant_of[key]
        if at not in self._constant_values:
            self._constant_values[at] = self.new(dtype, array.shape, "constant", at, name).base
        return View(dtype, array.shape, self._constant_values[at])

    def scalar(self, value: float | bool, dtype: str) -> Ref:
        return self.constant(np.asarray(value, same_dtype(dtype)), dtype)

    def array(self, ref: Ref) -> NDArray[Any] | None:
        """The elements of a constant, also through views; None where `ref` is computed."""
        match ref:
            case Codes():
                return decode(ref.coded, ref.dtype)
            case Known():
                elements = self.elements(ref)
                if elements is None or any(extents.symbols_of(e) for e in elements.flat):
                    return None
                return elements.astype(same_dtype(ref.dtype))
            case View():
                value = self.all[ref.base]
                free = (*ref.shape, *ref.steps, ref.offset)
                if value.storage != "constant" or any(extents.symbols_of(n) for n in free):
                    return None
                return strided_view(self.constants[value.base].array, ref)

    def is_constant(self, ref: Ref) -> bool:
        """`array` has an answer; asking this costs nothing."""
        match ref:
            case Codes():
                return True
            case Known():
                return self.array(ref) is not None
            case View():
                constant = self.all[ref.base].storage == "constant"
                return constant and not any(extents.symbols_of(n) for n in (*ref.shape, ref.offset))

    def decoded(self, codes: Codes) -> View:
        """The constant of these codes, with the codes beside it for packing."""
        y = self.constant(decoded(codes.coded, codes.dtype), codes.dtype)
        at = self.all[y.base].base
        self.constants[at] = dataclasses.replace(self.constants[at], coded=codes.coded)
        return y

    def index(self, ref: View) -> int:
        """The position of `ref` in Program.values; a view gets its value here."""
        if views.covers(ref, self.all[ref.base].shape):
            return ref.base
        key = (ref.base, ref.shape, ref.strides, ref.offset)
        if key not in self._views:
            name = self.all[ref.base].name
            self.all.append(
                Value(name, ref.dtype, ref.shape, "view", ref.base, ref.strides, ref.offset)
            )
            self._views[key] = len(self.all) - 1
        return self._views[key]

    # --- known elements ----------------------------------------------------------------------------------------------

    def elements(self, ref: Ref) -> Elements | None:
        """The elements as numbers or expressions, where they are known for whatever inputs; small constants are."""
        if isinstance(ref, Known):
            return None if ref.assumes else ref.elements
        if any(not isinstance(n, int) for n in ref.shape):
            return None
        if extents.product(ref.shape) > KNOWN_LIMIT:
            return None
        array = self.array(ref)
        if array is None:
            return None
        if ref.dtype == "bool" or array.dtype.kind in "iu":
            return as_elements(array.reshape(-1).tolist(), array.shape)
        return as_elements(array.astype(np.float64).reshape(-1).tolist(), array.shape)

    def sizes_in(self, ref: Ref, *, signed: bool = False) -> Elements | None:
        """The elements, where they are known if shape inputs are sizes; prepare finds those that the result names. `signed`: those
        that were only moved may have any sign."""
        if not isinstance(ref, Known):
            return self.elements(ref)
        if signed and not ref.assumes:
            return as_elements([self._of_any_sign(e) for e in ref.elements.flat], ref.shape)
        named = set().union(*(extents.symbols_of(e) for e in ref.elements.flat))
        if not ref.assumes <= named:
            return None
        self.taken |= named - set(self.signed.values())
        return ref.elements

    def _of_any_sign(self, e: Any) -> Any:
        return e.xreplace(self.signed) if isinstance(e, sympy.Expr) else e

    def joined(self, ref: Ref) -> list[Ref]:
        """What a flat tensor was joined of, or itself."""
        whole = isinstance(ref, View) and views.covers(ref, self.all[ref.base].shape)
        return self.parts.get(ref.base, [ref]) if isinstance(ref, View) and whole else [ref]

    def known(self, ref: Ref, what: str, *, signed: bool = False) -> list[Extent]:
        """The elements of a flat tensor that decides `what`; `signed`: also below 0 where inputs may be.

        Raises:
            RefusedError: they are not known at export.
        """
        elements = self.sizes_in(ref, signed=signed)
        if elements is None:
            raise RefusedError(
                f"{what} is computed while running; expected a constant, arithmetic on sizes, or a small integer "
                "input; make it one of these in the model"
            )
        if any(isinstance(e, extents.Scaled) for e in elements.flat):
            raise RefusedError(
                f"{what} is a float computed from sizes; expected integers: round and cast it"
            )
        return [e if isinstance(e, sympy.Expr) else int(e) for e in elements.flat]

    def numbers(self, ref: Ref, what: str) -> list[int]:
        """Like `known`, for what cannot depend on sizes."""
        values = self.known(ref, what)
        fixed = [v for v in values if isinstance(v, int)]
        if len(fixed) != len(values):
            raise RefusedError(f"{what} depends on sizes ({values}); expected numbers")
        return fixed

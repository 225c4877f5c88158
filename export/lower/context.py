"""The lowering context: values, views, constants, instructions and blocks of the Program being made.

A lowering function gets a `Lowering` and a `Node` and returns Refs. It asks for views (free), for instructions (`emit`,
`pointwise`) and for the known elements of small integer tensors (`known`). What a row does not admit strided is copied.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import sympy
from numpy.typing import NDArray

from pteron.export.graph.weights import Elements as Stored
from pteron.export.graph.weights import Source, later, whole
from pteron.export.lower import pointwise
from pteron.export.lower.node import Result, check_dtypes
from pteron.export.lower.sizes import Sizes
from pteron.export.program import (
    NONE,
    Block,
    Coded,
    Constant,
    DebugNode,
    Delegate,
    Extent,
    Instr,
    State,
    Value,
    terms,
    views,
)
from pteron.export.program.arrays import decode, decoded, same_dtype, strided_view
from pteron.export.program.elements import NAMES
from pteron.export.program.terms import INTEGERS, PACKED, Term
from pteron.export.program.views import Elements, Ref, Shape, as_elements
from pteron.export.sizes import extents
from pteron.export.sizes.extents import same, same_shape
from pteron.schema import shape as shape_line
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL, signature

KNOWN_LIMIT = 1024
"""Constants of up to so many elements take part in shape arithmetic."""

DECODED_LIMIT = 16384
"""Constants of up to so many codes are stored decoded, whatever reads them; larger ones only as weights."""

INLINE_BYTES = 4096
"""Constants of up to so many bytes are shared by content at once; emit shares the others."""


@dataclasses.dataclass(slots=True)
class Scope:
    """A block being filled. `made`: tensors of known elements that were computed here, by the id of their Ref. `done`:
    what was emitted here, so that the same work is done once."""

    index: int
    instrs: list[Instr] = dataclasses.field(default_factory=list)
    params: list[int] = dataclasses.field(default_factory=list)
    results: list[int] = dataclasses.field(default_factory=list)
    made: dict[int, tuple[Ref, Ref]] = dataclasses.field(default_factory=dict)
    done: dict[tuple[Any, ...], list[Ref | None]] = dataclasses.field(default_factory=dict)


class Lowering(Sizes):
    """Everything of one Program; methods are lowered one after the other (export/lower/method.py)."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: list[Constant] = []
        self.states: list[State] = []
        self.values: list[Value] = []
        self.blocks: list[Block | None] = []
        self.nodes: list[DebugNode] = []
        self.delegates: list[Delegate] = []
        self.scopes: list[Scope] = []
        self.env: Any = None  # what names mean in the graph being walked: graphs.Env
        self._node = NONE
        self._views: dict[tuple[Any, ...], int] = {}
        self._constant_of: dict[tuple[Any, ...], int] = {}
        self._constant_values: dict[int, int] = {}

    # --- values ------------------------------------------------------------------------------------------------------

    def new(
        self, dtype: str, shape: Shape, storage: str = "planned", base: int = 0, name: str = ""
    ) -> Ref:
        """A dense value of its own."""
        if len(shape) > 8:
            self.fail(f"rank {len(shape)}; at most 8 dimensions are covered")
        self.values.append(Value(name, dtype, tuple(shape), storage, base))
        return Ref(dtype, tuple(shape), len(self.values) - 1)

    def begin_method(self) -> None:
        """Values of other methods are not seen from here on."""
        self._views.clear()
        self._constant_values.clear()

    def rehome(self, index: int, storage: str, base: int) -> None:
        """Gives a planned value another place: an output buffer."""
        self.values[index] = dataclasses.replace(self.values[index], storage=storage, base=base)

    def constant(self, array: Stored, dtype: str = "", name: str = "") -> Ref:
        """Stored elements. `dtype` defaults to the array's own."""
        if not isinstance(array, Source) or array.nbytes <= INLINE_BYTES:
            array = np.asarray(whole(array))
        dtype = dtype or NAMES[array.dtype]
        key: tuple[Any, ...] = (dtype, array.shape, id(array))
        if not isinstance(array, Source) and array.nbytes <= INLINE_BYTES:
            key = (dtype, array.shape, array.tobytes())
        if key not in self._constant_of:
            self._constant_of[key] = len(self.constants)
            self.constants.append(Constant(name, dtype, array.shape, array))
        at = self._constant_of[key]
        if at not in self._constant_values:
            ref = self.new(dtype, array.shape, "constant", at, name)
            assert ref.base is not None
            self._constant_values[at] = ref.base
        return Ref(dtype, array.shape, self._constant_values[at])

    def scalar(self, value: float | bool, dtype: str) -> Ref:
        return self.constant(np.asarray(value, same_dtype(dtype)), dtype)

    def array(self, ref: Ref) -> NDArray[Any] | None:
        """The elements of a constant, also through views; None where `ref` is computed."""
        if ref.coded is not None:
            return decode(ref.coded, ref.dtype)
        if ref.base is None:
            elements = self.elements(ref)
            if elements is None or any(extents.symbols_of(e) for e in elements.flat):
                return None
            return elements.astype(same_dtype(ref.dtype))
        value = self.values[ref.base]
        if value.storage != "constant" or any(
            extents.symbols_of(n) for n in (*ref.shape, ref.offset)
        ):
            return None
        if any(extents.symbols_of(n) for n in (*ref.shape, *ref.steps, ref.offset)):
            return None
        return strided_view(self.constants[value.base].array, ref)

    def is_constant(self, ref: Ref) -> bool:
        """`array` has an answer; asking this costs nothing."""
        if ref.base is None:
            return ref.coded is not None or self.array(ref) is not None
        constant = self.values[ref.base].storage == "constant"
        return constant and not any(extents.symbols_of(n) for n in (*ref.shape, ref.offset))

    def weight(self, ref: Ref) -> Ref:
        """`ref` as a constant where it is codes, else itself: weights keep their codes beside them for packing."""
        if ref.coded is None:
            return self.real(ref)
        y = self.constant(decoded(ref.coded, ref.dtype), ref.dtype)
        assert y.base is not None
        at = self.values[y.base].base
        self.constants[at] = dataclasses.replace(self.constants[at], coded=ref.coded)
        return y

    def of_codes(self, coded: Coded, dtype: str, make: Callable[[], Ref]) -> Ref:
        """A constant that stays codes until it is known what reads it; `make` decodes it while running."""
        return Ref(dtype, coded.codes.shape, None, None, 0, None, make, coded)

    def index(self, ref: Ref) -> int:
        """The position of `ref` in Program.values; a view gets its value here."""
        ref = self.real(ref)
        assert ref.base is not None
        if views.covers(ref, self.values[ref.base].shape):
            return ref.base
        key = (ref.base, ref.shape, ref.strides, ref.offset)
        if key not in self._views:
            name = self.values[ref.base].name
            self.values.append(
                Value(name, ref.dtype, ref.shape, "view", ref.base, ref.strides, ref.offset)
            )
            self._views[key] = len(self.values) - 1
        return self._views[key]

    # --- known elements ----------------------------------------------------------------------------------------------

    def elements(self, ref: Ref) -> Elements | None:
        """The elements as numbers or expressions, where they are known for whatever inputs; small constants are."""
        if ref.data is not None:
            return None if ref.assumes else ref.data
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

    def sizes_in(self, ref: Ref) -> Elements | None:
        """The elements, where they are known if shape inputs are sizes; prepare finds those that the result names."""
        if not ref.assumes:
            return self.elements(ref)
        assert ref.data is not None
        named = set().union(*(extents.symbols_of(e) for e in ref.data.flat))
        return ref.data if ref.assumes <= named else None

    def known(self, ref: Ref, what: str) -> list[Extent]:
        """The elements of a flat tensor that decides `what`.

        Raises:
            RefusedError: they are not known at export.
        """
        elements = self.sizes_in(ref)
        if elements is None:
            self.fail(
                f"{what} is computed while running; expected a constant, arithmetic on sizes, or a small integer "
                "input; make it one of these in the model"
            )
        if any(isinstance(e, extents.Scaled) for e in elements.flat):
            self.fail(
                f"{what} is a float computed from sizes; expected integers: round and cast it"
            )
        return [e if isinstance(e, sympy.Expr) else int(e) for e in elements.flat]

    def numbers(self, ref: Ref, what: str) -> list[int]:
        """Like `known`, for what cannot depend on sizes."""
        values = self.known(ref, what)
        fixed = [v for v in values if isinstance(v, int)]
        if len(fixed) != len(values):
            self.fail(f"{what} depends on sizes ({values}); expected numbers")
        return fixed

    def of_elements(
        self,
        data: Elements,
        dtype: str,
        make: Callable[[], Ref] | None = None,
        assumes: frozenset[sympy.Symbol] = frozenset(),
    ) -> Ref:
        """A tensor of known elements; it costs nothing until an instruction reads it."""
        return Ref(dtype, tuple(data.shape), None, None, 0, data, make, None, assumes)

    def real(self, ref: Ref) -> Ref:
        """`ref` with a base: known elements become a constant, a `dims` instruction, or what `make` computes."""
        if ref.base is not None:
            return ref
        if ref.coded is not None and self._is_cheap(ref.coded):
            return self.constant(decode(ref.coded, ref.dtype), ref.dtype)
        for scope in self.scopes:
            if id(ref) in scope.made:
                return scope.made[id(ref)][1]
        made = self._materialize(ref)
        self.scopes[-1].made[id(ref)] = (ref, made)
        return made

    def _is_cheap(self, coded: Coded) -> bool:
        """Decoded, it costs the file little."""
        return coded.codes.itemsize >= 4 or coded.codes.size <= DECODED_LIMIT

    def _materialize(self, ref: Ref) -> Ref:
        if ref.coded is not None:
            assert ref.make is not None
            return self.real(ref.make())
        array = self.array(ref)
        if array is not None:
            return self.constant(array, ref.dtype)
        assert ref.data is not None
        used = set().union(*(extents.symbols_of(e) for e in ref.data.flat))
        measured = all(self.dims[s].kind == "symbolic" for s in used) and ref.dtype in INTEGERS
        if ref.make is not None and (ref.assumes or not measured):
            return self.real(ref.make())
        flat = [e if isinstance(e, sympy.Expr) else int(e) for e in ref.data.flat]
        (y,) = self.emit("dims", [], {"values": tuple(flat)}, [("i64", (len(flat),))])
        assert y is not None
        if ref.dtype != "i64":
            y = self.cast(y, ref.dtype)
        return self.reshape(y, ref.shape)

    # --- views -------------------------------------------------------------------------------------------------------

    def _view(
        self, ref: Ref, geometry: Callable[[Ref], Ref], elements: Callable[[Elements], Elements]
    ) -> Ref:
        """Applies a view to the memory and to the known elements alike."""
        data = None if ref.data is None else elements(ref.data)
        if ref.coded is not None:
            return self.of_codes(
                _each(ref.coded, elements), ref.dtype, lambda: geometry(self.real(ref))
            )
        if ref.base is None:
            assert data is not None
            return self.of_elements(data, ref.dtype, lambda: geometry(self.real(ref)), ref.assumes)
        if ref.dtype in terms.SUB_BYTE:
            return self._rearranged(ref, geometry)
        return dataclasses.replace(geometry(ref), data=data)

    def _rearranged(self, ref: Ref, geometry: Callable[[Ref], Ref]) -> Ref:
        """Elements that share bytes have no views: constants are rearranged now, others while running."""
        array = self.array(ref)
        if array is None:
            wide = geometry(self.unpacked(ref))
            return self.one("repack", [wide], {}, ref.dtype, wide.shape)
        dense = dataclasses.replace(ref, strides=None, offset=0)
        return self.constant(np.ascontiguousarray(strided_view(array, geometry(dense))), ref.dtype)

    def transpose(self, ref: Ref, axes: Sequence[int]) -> Ref:
        """Axis i of the result is axis axes[i]."""
        if tuple(axes) == tuple(range(ref.rank)):
            return ref
        return self._view(
            ref, lambda r: views.transpose(r, axes), lambda d: np.transpose(d, tuple(axes))
        )

    def move_axis(self, ref: Ref, source: int, target: int) -> Ref:
        axes = [a for a in range(ref.rank) if a != source % ref.rank]
        axes.insert(target % ref.rank, source % ref.rank)
        return self.transpose(ref, axes)

    def slice(self, ref: Ref, axis: int, start: Extent, count: Extent, step: int = 1) -> Ref:
        """`count` elements of `axis` from `start` on, every `step`-th; that they lie inside is proved or checked."""
        axis %= ref.rank
        self._require_inside(ref.shape[axis], start, count, step)
        picked: slice | None = None
        known = ref.data is not None or ref.coded is not None
        if known and isinstance(start, int) and isinstance(count, int):
            stop = start + count * step
            picked = slice(start, stop if stop >= 0 else None, step)
        at = tuple(picked if a == axis else slice(None) for a in range(ref.rank))
        source = ref if picked is not None else dataclasses.replace(self.real(ref), data=None)
        return self._view(
            source, lambda r: views.slice_axis(r, axis, start, count, step), lambda d: d[at]
        )

    def _require_inside(self, size: Extent, start: Extent, count: Extent, step: int) -> None:
        """Fixed elements of an axis exist; a place that was computed from the axis is inside by how it was computed."""
        if not isinstance(start, int) or not isinstance(count, int) or count == 0:
            return
        last = start + (count - 1) * step
        if min(start, last, count) < 0:
            self.fail(
                f"takes {count} elements from {start} on by steps of {step}; expected none below 0"
            )
        self.require_at_most(max(start, last) + 1, size, "elements lie inside their axis")

    def flip(self, ref: Ref, axis: int) -> Ref:
        n = ref.shape[axis]
        return self.slice(ref, axis, extents.sub(n, 1), n, -1)

    def expand(self, ref: Ref, shape: Shape) -> Ref:
        """Broadcasts to `shape`, which must fit."""
        if same_shape(ref.shape, shape):
            return ref
        for have, want in zip(ref.shape, shape[len(shape) - ref.rank :], strict=True):
            if not same(have, 1):
                self.require_equal(have, want, "expanded axes agree or have extent 1")
        small = all(isinstance(n, int) for n in shape) and extents.product(shape) <= KNOWN_LIMIT
        source = ref if small else dataclasses.replace(self.real(ref), data=None)
        return self._view(
            source,
            lambda r: views.expand(r, tuple(shape)),
            lambda d: np.broadcast_to(d, tuple(int(n) for n in shape)),
        )

    def agree(self, ref: Ref, axis: int, size: Extent, text: str) -> Ref:
        """`ref` with `size` as the extent of `axis`, which is proved or checked at prepare."""
        if same(ref.shape[axis], size):
            return ref
        self.require_equal(ref.shape[axis], size, text)
        ref = self.real(ref)
        shape = list(ref.shape)
        shape[axis] = size
        return self.expand(ref, tuple(shape))

    def reshape(self, ref: Ref, shape: Sequence[Extent]) -> Ref:
        """The same elements in row-major order; a view where strides allow, else a copy."""
        shape = tuple(shape)
        if same_shape(ref.shape, shape):
            return ref
        self._require_as_many(ref.shape, shape)
        fixed = all(isinstance(n, int) for n in shape)
        source = (
            ref if fixed or ref.data is None else dataclasses.replace(self.real(ref), data=None)
        )
        return self._view(
            source,
            lambda r: views.reshape(r, shape) or self._reshape_copy(r, shape),
            lambda d: d.reshape(tuple(int(n) for n in shape)),
        )

    def _require_as_many(self, shape: Shape, wanted: Shape) -> None:
        """The same number of elements, also where a lowering takes for granted what the model does not say."""
        have, want = extents.product(shape), extents.product(wanted)
        if not self.is_counted(have) and not self.is_counted(want):
            self.require_equal(have, want, "a reshaped tensor keeps its number of elements")

    def _reshape_copy(self, ref: Ref, shape: Shape) -> Ref:
        result = views.reshape(self.dense(ref), shape)
        assert result is not None
        return result

    def memory_order(self, ref: Ref) -> tuple[int, ...]:
        """The axes from the widest stride to the narrowest."""
        return views.memory_order(self.real(ref))

    def squeeze(self, ref: Ref, axes: Sequence[int]) -> Ref:
        gone = {a % ref.rank for a in axes}
        for a in gone:
            self.require_equal(ref.shape[a], 1, "squeezed axes have extent 1")
        keep = [a for a in range(ref.rank) if a not in gone]
        return self._view(
            ref,
            lambda r: views.place(
                r, tuple(r.shape[a] for a in keep), tuple(r.steps[a] for a in keep), r.offset
            ),
            lambda d: d.reshape([d.shape[a] for a in keep]),
        )

    def unsqueeze(self, ref: Ref, axes: Sequence[int]) -> Ref:
        rank = ref.rank + len(axes)
        new = {a % rank for a in axes}
        rest = iter(ref.shape)
        shape = tuple(1 if a in new else next(rest) for a in range(rank))
        return self.reshape(ref, shape)

    # --- dense memory ------------------------------------------------------------------------------------------------

    def is_dense(self, ref: Ref) -> bool:
        return ref.strides is None

    def dense(self, ref: Ref) -> Ref:
        """`ref`, copied if its elements do not lie row-major."""
        ref = self.real(ref)
        return ref if ref.strides is None else self.copy(ref)

    def copy(self, ref: Ref) -> Ref:
        array = self.array(ref)
        if array is not None:
            return self.constant(np.ascontiguousarray(array), ref.dtype)
        (y,) = self.emit("copy", [ref], {}, [(ref.dtype, ref.shape)])
        assert y is not None
        return y

    def copy_into(self, source: Ref, target: Ref) -> None:
        """Writes `source` to a view of planned memory: how concat and pad are made."""
        self.append("copy", (self.index(source),), (self.index(target),), {})

    def cast(self, ref: Ref, dtype: str) -> Ref:
        """Element by element to another dtype, as ONNX Cast does with saturation."""
        from pteron.export.lower.ops.pointwise import convert

        return convert(self, ref, dtype)

    # --- instructions ------------------------------------------------------------------------------------------------

    def append(
        self,
        op: str,
        inputs: tuple[int | None, ...],
        outputs: tuple[int | None, ...],
        attrs: dict[str, Any],
    ) -> None:
        """Adds an instruction as it is, for the node being lowered."""
        if self._node == NONE and self.current is not None:
            self._node = len(self.nodes)
            self.nodes.append(self.current)
        self.scopes[-1].instrs.append(Instr(op, inputs, outputs, attrs, self._node))

    def at(self, node: DebugNode | None) -> None:
        """Instructions from now on come from `node`."""
        self.current, self._node = node, NONE

    def emit(
        self,
        op: str,
        inputs: Sequence[Ref | None],
        attrs: Mapping[str, Any],
        results: Sequence[Result],
    ) -> list[Ref | None]:
        """One instruction; its outputs are not to be written again. Inputs that the row wants dense are copied if they are
        not; weights (W, Taps) stay as they are for the packing pass. The same work in this block or around it is done
        once.

        Raises:
            RefusedError: dtypes or shapes are not the row's.
        """
        row = OPS[op]
        ports = signature(row).inputs
        ready: list[Ref | None] = []
        for i, x in enumerate(inputs):
            port = ports[min(i, len(ports) - 1)]
            if x is not None:
                if port.rule in ("W", "Taps"):
                    x = self.weight(x)
                else:
                    x = self.real(x) if port.name in row.strided else self.dense(x)
            ready.append(x)
        shapes = [None if r is None else r[1] for r in results]
        try:
            given = [None if x is None else x.shape for x in ready]
            shape_line.check(row, given, shapes, attrs, same, self.agreed)
        except shape_line.ShapeError as error:
            self.fail(str(error))
        check_dtypes(row, [None if x is None else x.dtype for x in ready], results)
        sources = tuple(None if x is None else self.index(x) for x in ready)
        key = (op, sources, repr(sorted(attrs.items())), tuple(results))
        for scope in () if op in CONTROL else self.scopes:
            if key in scope.done:
                return scope.done[key]
        outputs = [None if r is None else self.new(*r) for r in results]
        self.append(op, sources, tuple(None if y is None else y.base for y in outputs), dict(attrs))
        self.scopes[-1].done[key] = outputs
        return outputs

    def one(
        self,
        op: str,
        inputs: Sequence[Ref | None],
        attrs: Mapping[str, Any],
        dtype: str,
        shape: Sequence[Extent],
    ) -> Ref:
        """`emit` for a single output."""
        (y,) = self.emit(op, inputs, attrs, [(dtype, tuple(shape))])
        assert y is not None
        return y

    # --- pointwise ---------------------------------------------------------------------------------------------------

    def pointwise(
        self, build: Callable[..., Term], operands: Sequence[Ref], dtype: str, shape: Shape = ()
    ) -> Ref:
        """One tensor computed element by element; see `pointwise_many`."""
        return self.pointwise_many(lambda *xs: [build(*xs)], operands, [dtype], shape)[0]

    def pointwise_many(
        self,
        build: Callable[..., list[Term]],
        operands: Sequence[Ref],
        dtypes: Sequence[str],
        shape: Shape = (),
    ) -> list[Ref]:
        """Tensors computed element by element from broadcast operands (and to at least `shape`).

        `build` gets one Term an operand and returns one an output; its register type must be that of the output's
        dtype. Constants of one element become literals. The result lies in the axis order of the largest operand.
        """
        return pointwise.compute(self, build, operands, dtypes, shape)

    def unpacked(self, x: Ref) -> Ref:
        """Elements that no pointwise program can load, as i64 or f32."""
        if x.dtype not in PACKED:
            return x
        return self.one("unpack", [x], {}, PACKED[x.dtype], x.shape)

    # --- blocks ------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def block(self) -> Iterator[Scope]:
        """Instructions inside `with` go to a block of their own, whose index is `scope.index`."""
        scope = Scope(len(self.blocks))
        self.blocks.append(None)
        self.scopes.append(scope)
        try:
            yield scope
        finally:
            self.scopes.pop()
            self.blocks[scope.index] = Block(
                tuple(scope.instrs), tuple(scope.params), tuple(scope.results)
            )

    def param(self, dtype: str, shape: Shape, name: str = "") -> Ref:
        """A parameter of the innermost block."""
        ref = self.new(dtype, shape, "param", 0, name)
        assert ref.base is not None
        self.scopes[-1].params.append(ref.base)
        return ref

    def result(self, ref: Ref) -> Ref:
        """Makes `ref` a result of the innermost block: dense, a planned value that this block computes."""
        own = {v for i in self.scopes[-1].instrs for v in i.outputs}
        ref = self.real(ref)
        assert ref.base is not None
        whole = views.covers(ref, self.values[ref.base].shape)
        if not whole or ref.base not in own or ref.base in self.scopes[-1].results:
            own_value = self.new(ref.dtype, ref.shape)
            self.copy_into(ref, own_value)
            ref = own_value
        assert ref.base is not None
        self.scopes[-1].results.append(ref.base)
        return ref

    def bound_result(self, ref: Ref) -> None:
        """Makes `ref` a result of the innermost block, which is called: bound to the caller's memory, not copied."""
        own = {v for i in self.scopes[-1].instrs for v in i.outputs}
        ref = self.real(ref)
        assert ref.base is not None
        value = self.values[ref.base]
        whole = views.covers(ref, value.shape) and value.storage == "planned"
        if whole and ref.base in own:
            self.rehome(ref.base, "param", 0)
        else:
            target = self.new(ref.dtype, ref.shape, "param")
            self.copy_into(ref, target)
            ref = target
        assert ref.base is not None
        self.scopes[-1].results.append(ref.base)


def _each(coded: Coded, view: Callable[[Any], Any]) -> Coded:
    """The same view of codes, scales and zero points."""
    old, codes = coded.codes.shape, view(coded.codes)

    def seen(part: Stored | None) -> Stored | None:
        if part is None:
            return None
        return later(codes.shape, part.dtype, lambda: view(np.broadcast_to(whole(part), old)))

    return dataclasses.replace(coded, codes=codes, scale=seen(coded.scale), zero=seen(coded.zero))

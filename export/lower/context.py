"""The lowering context: instructions and blocks of the Program being made, over its sizes and its values.

A lowering function gets a `Lowering` and a `Node` and returns Refs. It asks for views (free), for instructions (`emit`,
`pointwise`), for relations between sizes (`sizes`), for constants and the known elements of small integer tensors
(`values`). What a row does not admit strided is copied.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import sympy

from pteron.schema import shape as shape_line
from pteron.schema.dtypes import DTYPES, INTEGERS
from pteron.schema.ops import OPS
from pteron.schema.signature import CONTROL, signature

from ..program import Block, Coded, DebugNode, Delegate, Instr, State, views
from ..program.arrays import decode
from ..program.terms import Term
from ..program.views import Shape, View
from ..sizes import NONE, Extent, extents
from ..sizes.extents import same
from . import elementwise, rearrange
from .env import Env
from .ports import Result, check_dtypes
from .refs import Codes, ImpossibleError, Known, Ref, RefusedError
from .sizes import Sizes
from .values import Values

DECODED_LIMIT = 16384
"""Constants of up to so many codes are stored decoded, whatever reads them; larger ones only as weights."""


@dataclasses.dataclass(slots=True)
class Origin:
    """The node that instructions come from; `index`: its place in Program.nodes, once it has one."""

    node: DebugNode | None = None
    index: int = NONE


@dataclasses.dataclass(slots=True)
class Scope:
    """A block being filled. `made`: tensors of known elements that were computed here, by the id of their Ref. `done`:
    what was emitted here, so that the same work is done once. `is_choice`: a branch that a run may leave out; `holds`:
    conditions, by their values, that are so where the run takes it."""

    index: int
    instrs: list[Instr] = dataclasses.field(default_factory=list)
    params: list[int] = dataclasses.field(default_factory=list)
    results: list[int] = dataclasses.field(default_factory=list)
    made: dict[int, tuple[Ref, View]] = dataclasses.field(default_factory=dict)
    done: dict[tuple[Any, ...], list[Ref | None]] = dataclasses.field(default_factory=dict)
    is_choice: bool = False
    holds: dict[int, bool] = dataclasses.field(default_factory=dict)


class Lowering:
    """Everything of one Program; methods are lowered one after the other (export/lower/method.py)."""

    def __init__(self) -> None:
        self.sizes = Sizes()
        self.values = Values()
        self.states: list[State] = []
        self.blocks: list[Block | None] = []
        self.nodes: list[DebugNode] = []
        self.delegates: list[Delegate] = []
        self.scopes: list[Scope] = []
        self.env = Env()
        self.origin = Origin()

    def fail(self, text: str) -> NoReturn:
        """Refuses the node being lowered."""
        raise RefusedError(text)

    # --- what moves no element, as long as strides can say it (rearrange.py) ---

    transpose = rearrange.transpose
    move_axis = rearrange.move_axis
    slice = rearrange.sliced
    flip = rearrange.flip
    expand = rearrange.expand
    agree = rearrange.agree
    reshape = rearrange.reshape
    memory_order = rearrange.memory_order
    squeeze = rearrange.squeeze
    unsqueeze = rearrange.unsqueeze
    dense = rearrange.dense
    copy = rearrange.copy

    # --- tensors that get memory ---

    def real(self, ref: Ref) -> View:
        """`ref` in memory: known elements become a constant, a `dims` instruction, or what `make` computes."""
        if isinstance(ref, View):
            return ref
        if isinstance(ref, Codes) and self._is_cheap(ref.coded):
            return self.values.constant(decode(ref.coded, ref.dtype), ref.dtype)
        for scope in self.scopes:
            if id(ref) in scope.made:
                return scope.made[id(ref)][1]
        made = self._materialize(ref)
        self.scopes[-1].made[id(ref)] = (ref, made)
        return made

    def _is_cheap(self, coded: Coded) -> bool:
        """Decoded, it costs the file little."""
        return coded.codes.itemsize >= 4 or coded.codes.size <= DECODED_LIMIT

    def _materialize(self, ref: Known | Codes) -> View:
        if isinstance(ref, Codes):
            return self.real(ref.make())
        array = self.values.array(ref)
        if array is not None:
            return self.values.constant(array, ref.dtype)
        used = set().union(*(extents.symbols_of(e) for e in ref.elements.flat))
        measured = (
            all(self.sizes.dims[s].kind == "symbolic" for s in used) and ref.dtype in INTEGERS
        )
        if ref.make is not None and (ref.assumes or not measured):
            return self.real(ref.make())
        flat = [e if isinstance(e, sympy.Expr) else int(e) for e in ref.elements.flat]
        (y,) = self.emit("dims", [], {"values": tuple(flat)}, [("i64", (len(flat),))])
        assert y is not None
        if ref.dtype != "i64":
            y = self.real(self.cast(y, ref.dtype))
        return self.real(self.reshape(y, ref.shape))

    def weight(self, ref: Ref) -> View:
        """`ref` as a constant where it is codes, else itself: weights keep their codes beside them for packing."""
        return self.values.decoded(ref) if isinstance(ref, Codes) else self.real(ref)

    def index(self, ref: Ref) -> int:
        """The position of `ref` in Program.values, in memory."""
        return self.values.index(self.real(ref))

    def copy_into(self, source: Ref, target: Ref) -> None:
        """Writes `source` to a view of planned memory: how concat and pad are made."""
        self.append("copy", (self.index(source),), (self.index(target),), {})

    def cast(self, ref: Ref, dtype: str) -> Ref:
        """Element by element to another dtype, as ONNX Cast does with saturation."""
        return elementwise.convert(self, ref, dtype)

    # --- instructions ------------------------------------------------------------------------------------------------

    def append(
        self,
        op: str,
        inputs: tuple[int | None, ...],
        outputs: tuple[int | None, ...],
        attrs: dict[str, Any],
    ) -> None:
        """Adds an instruction as it is, for the node being lowered."""
        origin = self.origin
        if origin.index == NONE and origin.node is not None:
            origin.index = len(self.nodes)
            self.nodes.append(origin.node)
        self.scopes[-1].instrs.append(Instr(op, inputs, outputs, attrs, origin.index))

    def at(self, origin: Origin) -> None:
        """Instructions and checks from now on come from this node."""
        self.origin = origin
        self.sizes.where = "" if origin.node is None else origin.node.name

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
        ready: list[View | None] = []
        for i, x in enumerate(inputs):
            port = ports[min(i, len(ports) - 1)]
            if x is not None:
                strided = port.name in row.strided
                weight = port.rule in ("W", "Taps")
                x = self.weight(x) if weight else self.real(x) if strided else self.dense(x)
            ready.append(x)
        shapes = [None if r is None else r[1] for r in results]
        try:
            given = [None if x is None else x.shape for x in ready]
            shape_line.check(row, given, shapes, attrs, same, self.sizes.settle)
        except shape_line.ShapeError as error:
            self.fail(str(error))
        check_dtypes(row, [None if x is None else x.dtype for x in ready], results)
        sources = tuple(None if x is None else self.index(x) for x in ready)
        key = (op, sources, repr(sorted(attrs.items())), tuple(results))
        for scope in () if op in CONTROL else self.scopes:
            if key in scope.done:
                return scope.done[key]
        made = [None if r is None else self.values.new(*r) for r in results]
        self.append(op, sources, tuple(None if y is None else y.base for y in made), dict(attrs))
        outputs = self.scopes[-1].done[key] = list[Ref | None](made)
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
        return elementwise.compute(self, build, operands, dtypes, shape)

    def unpacked(self, x: Ref) -> Ref:
        """Elements that no pointwise program can load, as i64 or f32."""
        if not DTYPES[x.dtype].packed:
            return x
        return self.one("unpack", [x], {}, DTYPES[x.dtype].register, x.shape)

    # --- blocks ------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def block(self) -> Iterator[Scope]:
        """Instructions inside `with` go to a block of their own, whose index is `scope.index`. What is impossible there may
        never be run."""
        scope = Scope(len(self.blocks))
        self.blocks.append(None)
        self.scopes.append(scope)
        try:
            yield scope
        except ImpossibleError as error:
            raise RefusedError(str(error)) from error
        finally:
            self.scopes.pop()
            self.blocks[scope.index] = Block(
                tuple(scope.instrs), tuple(scope.params), tuple(scope.results)
            )

    def param(self, dtype: str, shape: Shape, name: str = "") -> View:
        """A parameter of the innermost block."""
        ref = self.values.new(dtype, shape, "param", 0, name)
        self.scopes[-1].params.append(ref.base)
        return ref

    def result(self, ref: Ref) -> View:
        """Makes `ref` a result of the innermost block: dense, a planned value that this block computes."""
        own = {v for i in self.scopes[-1].instrs for v in i.outputs}
        ref = self.real(ref)
        whole = views.covers(ref, self.values.all[ref.base].shape)
        if not whole or ref.base not in own or ref.base in self.scopes[-1].results:
            own_value = self.values.new(ref.dtype, ref.shape)
            self.copy_into(ref, own_value)
            ref = own_value
        self.scopes[-1].results.append(ref.base)
        return ref

    def bound_result(self, ref: Ref) -> None:
        """Makes `ref` a result of the innermost block, which is called: bound to the caller's memory, not copied."""
        own = {v for i in self.scopes[-1].instrs for v in i.outputs}
        ref = self.real(ref)
        value = self.values.all[ref.base]
        whole = views.covers(ref, value.shape) and value.storage == "planned"
        if whole and ref.base in own:
            self.values.rehome(ref.base, "param", 0)
        else:
            target = self.values.new(ref.dtype, ref.shape, "param")
            self.copy_into(ref, target)
            ref = target
        self.scopes[-1].results.append(ref.base)

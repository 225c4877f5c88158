"""Program passes that save memory traffic and change no bit: dead code, fusing, epilogues, copies, work in place.

Order: dead => pointwise chains and epilogues become one instruction => results are written where a copy would take
them => results take the memory of operands that die. What is fused keeps the rounding and wrapping that the unfused
values had (terms.stored).
"""

from __future__ import annotations

import dataclasses

from pteron.export import terms
from pteron.export.draft import Draft
from pteron.export.extents import product, same, same_shape
from pteron.export.inplace import take_dying_memory, write_where_copied
from pteron.export.lower import ref as views
from pteron.export.lower.ref import Ref, Shape
from pteron.export.program import Instr, Program
from pteron.export.terms import (
    Term,
    TooLongError,
    compile_terms,
    load,
    read_terms,
    stored,
    substitute,
)

EPILOGUES = ("matmul", "matmul_int8", "conv", "conv_depthwise")
"""Operators with steps behind them; inputs are x, w, bias, then the steps' operands."""

FIRST_X = 3

AS_IS: Shape = (-2,)
UNREAD: Shape = (-1,)


def fuse(program: Program) -> Program:
    """All passes; the result computes the same bits."""
    draft = Draft(program)
    for block in range(len(draft.blocks)):
        _Fuser(draft, block).run()
    for block in range(len(draft.blocks)):
        write_where_copied(draft, block)
    drop_dead(draft)
    for block in range(len(draft.blocks)):
        take_dying_memory(draft, block)
    return draft.finish()


def drop_dead(draft: Draft) -> None:
    """Instructions that nobody reads: blocks from the inside out, each from its end."""
    live = set(draft.kept)
    live |= {i for i, v in enumerate(draft.values) if v.storage in ("output", "state")}
    todo = list(live)
    needed: set[tuple[int, int]] = set()
    while todo:
        for place in draft.writing.get(todo.pop(), ()):
            while place not in needed:
                needed.add(place)
                block, at = place
                i = draft.blocks[block][at]
                new = draft.reads(i) - live if i is not None else set()
                live |= new
                todo += new
                place = draft.owner.get(block, place)
    for block, instrs in enumerate(draft.blocks):
        for at in range(len(instrs)):
            if (block, at) not in needed:
                draft.put(block, at, None)


@dataclasses.dataclass(slots=True)
class _Fuser:
    """Merges producers into consumers inside one block; the merged instruction stands at the consumer's place."""

    draft: Draft
    block: int

    @property
    def instrs(self) -> list[Instr | None]:
        return self.draft.blocks[self.block]

    def run(self) -> None:
        for at in range(len(self.instrs)):
            while self.merge_into(at):
                pass

    def merge_into(self, at: int) -> bool:
        """Takes one producer into the pointwise instruction at `at`; epilogues first."""
        consumer = self.instrs[at]
        if consumer is None or consumer.op != "pointwise":
            return False
        found: list[tuple[bool, int, int]] = []
        for v in dict.fromkeys(self.draft.base(v) for v in consumer.inputs if v is not None):
            made = self.draft.writers(v, self.block)
            if self.draft.values[v].storage in ("planned", "output") and len(made) == 1:
                (source,) = made
                producer = self.instrs[source]
                if source < at and producer is not None and v in producer.outputs:
                    found.append((producer.op == "pointwise", source, v))
        for is_pointwise, source, v in sorted(found):
            merged = None
            if self.may_move(source, at):
                if is_pointwise:
                    merged = self.chain(source, at, v)
                elif self.instrs[source].op in EPILOGUES:  # type: ignore[union-attr]
                    merged = self.epilogue(source, at, v)
            if merged is not None:
                self.replace(source, at, merged)
                return True
        return False

    def replace(self, source: int, at: int, merged: Instr) -> None:
        self.draft.put(self.block, source, None)
        self.draft.put(self.block, at, merged)

    def may_move(self, source: int, at: int) -> bool:
        """Nothing between touches what the producer writes, or writes what it reads."""
        producer = self.instrs[source]
        assert producer is not None
        for v in self.draft.writes(producer):
            if any(source < u < at for u in self.draft.readers(v, self.block)):
                return False
            if self.draft.writers(v, self.block) != {source}:
                return False
        return not any(
            source < w < at
            for v in self.draft.reads(producer)
            for w in self.draft.writers(v, self.block)
        )

    def only_user(self, v: int, at: int) -> bool:
        """Nobody else reads it, in this block or outside."""
        planned = self.draft.values[v].storage == "planned" and v not in self.draft.kept
        return planned and self.draft.readers(v, self.block) == {at}

    # --- pointwise into pointwise ------------------------------------------------------------------------------------

    def chain(self, source: int, at: int, v: int) -> Instr | None:
        """Both programs as one over the consumer's shape. What others read of the producer stays an output."""
        producer, consumer = self.instrs[source], self.instrs[at]
        assert producer is not None and consumer is not None
        shape = self.shape(consumer)
        made = read_terms(producer.attrs["steps"])
        seen = [self.view_between(o, consumer, shape) for o in producer.outputs if o is not None]
        view = self.view_between(v, consumer, shape)
        if view is None or any(other != view for other in seen if other is not UNREAD):
            return None
        if view != AS_IS and any(t.op == "index" for t in terms.walk(made)):
            return None
        keep = [o for o in producer.outputs if o is not None and not self.only_user(o, at)]
        if view != AS_IS and keep:
            return None
        given = self.moved(producer, v, view, shape)
        if given is None:
            return None
        operands: list[int] = []
        inner = substitute(made, self.loads(made, given, operands))
        wanted = dict(zip(producer.outputs, inner, strict=True))
        known: dict[Term, Term] = {}
        for o, t in wanted.items():
            if o is not None:
                known |= self.results_of(consumer, o, t)
        outer = read_terms(consumer.attrs["steps"])
        joined = substitute(outer, self.loads(outer, list(consumer.inputs), operands, known))
        outputs = (*keep, *consumer.outputs)
        return self.instr(consumer, [*(wanted[o] for o in keep), *joined], operands, outputs)

    def results_of(self, consumer: Instr, v: int, made: Term) -> dict[Term, Term]:
        """Loads of v in the consumer, and what was stored there."""
        dtype = self.draft.values[v].dtype
        return {
            load(j, dtype): stored(made, dtype)
            for j, x in enumerate(consumer.inputs)
            if x is not None and self.draft.base(x) == v
        }

    def loads(
        self,
        outputs: list[Term],
        given: list[int | None],
        operands: list[int],
        known: dict[Term, Term] | None = None,
    ) -> dict[Term, Term]:
        """Loads renumbered to places in `operands`, which grows."""
        what = dict(known or {})
        for t in terms.loads(outputs):
            if t not in what:
                x = given[int(t.arg)]
                assert x is not None
                if x not in operands:
                    operands.append(x)
                what[t] = terms.make("load", t.type, arg=operands.index(x))
        return what

    def instr(
        self, old: Instr, outputs: list[Term], operands: list[int], to: tuple[int | None, ...]
    ) -> Instr | None:
        used = sorted({int(t.arg) for t in terms.loads(outputs)})
        again = {
            t: terms.make("load", t.type, arg=used.index(int(t.arg))) for t in terms.loads(outputs)
        }
        try:
            steps = compile_terms(substitute(outputs, again))
        except TooLongError:
            return None
        inputs = tuple(operands[j] for j in used)
        return dataclasses.replace(old, inputs=inputs, outputs=to, attrs={"steps": steps})

    def shape(self, i: Instr) -> Shape:
        return next(self.draft.values[v].shape for v in i.outputs if v is not None)

    def view_between(self, v: int, consumer: Instr, shape: Shape) -> Shape | None:
        """How the consumer sees v: AS_IS; by its shape, where that is a reshape; UNREAD; None: otherwise."""
        whole = self.draft.values[v].shape
        reads = [x for x in consumer.inputs if x is not None and self.draft.base(x) == v]
        if not reads:
            return UNREAD
        for x in reads:
            ref = self.draft.ref(x)
            if ref.strides is not None or ref.offset != 0:
                return None
        if same_shape(whole, shape):
            return AS_IS
        return shape if same(product(whole), product(shape)) else None

    def moved(self, producer: Instr, v: int, view: Shape, shape: Shape) -> list[int | None] | None:
        """The producer's operands as the consumer's shape sees them."""
        if view == AS_IS:
            return list(producer.inputs)
        refs: list[Ref] = []
        for x in producer.inputs:
            assert x is not None
            ref = self.draft.ref(x)
            seen = views.reshape(ref, shape)
            if seen is None:
                return None
            refs.append(seen)
        return [self.draft.value(ref, self.draft.method_of[v]) for ref in refs]

    # --- pointwise behind matmul and conv ----------------------------------------------------------------------------

    def epilogue(self, source: int, at: int, v: int) -> Instr | None:
        """The consumer's program as the producer's last steps: f32, one output, as many elements in the same order."""
        producer, consumer = self.instrs[source], self.instrs[at]
        assert producer is not None and consumer is not None
        if len(consumer.outputs) != 1 or consumer.outputs[0] is None or not self.only_user(v, at):
            return None
        y, values = consumer.outputs[0], self.draft.values
        if values[y].dtype != "f32" or values[v].dtype != "f32" or values[y].storage == "view":
            return None
        view = self.view_between(v, consumer, values[y].shape)
        others = None if view is None else self.moved(consumer, v, view, values[v].shape)
        outer = read_terms(consumer.attrs["steps"])
        if others is None or any(t.op == "index" for t in terms.walk(outer)):
            return None
        before = producer.attrs.get("steps") or ()
        made = read_terms(before)[0] if before else load(0, "f32")
        operands: list[int] = [v]  # operand 0 is the result
        inner = substitute([made], self.loads([made], [v, *producer.inputs[FIRST_X:]], operands))
        known = self.results_of(consumer, v, inner[0])
        joined = substitute(outer, self.loads(outer, others, operands, known))
        try:
            steps = compile_terms(joined)
        except TooLongError:
            return None
        fixed = (*producer.inputs[:FIRST_X], None, None)[:FIRST_X]
        if view != AS_IS:
            self.take_shape(v, y)
        return dataclasses.replace(
            producer,
            inputs=(*fixed, *operands[1:]),
            outputs=(y if view == AS_IS else v,),
            attrs={**producer.attrs, "steps": steps},
        )

    def take_shape(self, v: int, y: int) -> None:
        """One memory for v and y, which have the same elements in different shapes."""
        if self.draft.values[y].storage == "planned":
            self.draft.settle(y, v)
        else:
            self.draft.settle(v, y)

"""Program passes that save memory traffic and change no bit: dead code, fusing, epilogues, copies, work in place.

Order: pointwise chains and epilogues become one instruction => so do blocks of convolutions (blocks.py) => results are written where a copy would take
them => results take the memory of operands that die. What is fused keeps the rounding and wrapping that the unfused
values had (terms.stored).
"""

from __future__ import annotations

import dataclasses

from ..program import GUARD, Instr, Program, terms, views
from ..program.draft import Draft, Place
from ..program.terms import Term, read_terms, stored
from ..program.views import Shape, View
from ..sizes import NONE
from ..sizes.extents import product, same, same_shape
from . import bodies
from .blocks import join_blocks
from .bodies import RESULT, Body
from .inplace import take_dying_memory, write_where_copied

EPILOGUES = ("matmul", "matmul_int8", "matmul_turned", "conv", "conv_depthwise")
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
        join_blocks(draft, block)
    for block in range(len(draft.blocks)):
        write_where_copied(draft, block)
    drop_dead(draft)
    for block in range(len(draft.blocks)):
        take_dying_memory(draft, block)
    return draft.finish()


def drop_dead(draft: Draft) -> None:
    """Instructions that nobody reads: blocks from the inside out, each from its end.

    What sets a counted dimension is read by whatever has that extent: without it, everybody sees the capacity."""
    live = set(draft.kept)
    live |= {i for i, v in enumerate(draft.values) if v.storage in ("output", "state")}
    counting = draft.counting()
    todo = [place for v in live for place in draft.writing(v)]
    todo += [
        (block, at)
        for block, instrs in enumerate(draft.blocks)
        for at, i in enumerate(instrs)
        if i is not None and i.node != NONE and draft.nodes[i.node].op_type == GUARD
    ]
    needed: set[Place] = set()
    while todo:
        place = todo.pop()
        if place in needed:
            continue
        needed.add(place)
        block, at = place
        i = draft.blocks[block][at]
        if i is not None:
            new = draft.reads(i) - live
            live |= new
            todo += [p for v in new for p in draft.writing(v)]
            if counting:
                todo += [p for s in draft.sizes(i) for p in counting.get(s, ())]
        if block in draft.owner:
            todo.append(draft.owner[block])
    for block, instrs in enumerate(draft.blocks):
        for at in range(len(instrs)):
            if (block, at) not in needed:
                draft.put(block, at, None)


@dataclasses.dataclass(slots=True)
class _Fuser:
    """Merges producers into consumers inside one block; the merged instruction stands at the consumer's place.

    What was merged has its program in `made`, by position, and no steps before `run` ends: compiling every time would take
    the square of a chain's length.
    """

    draft: Draft
    block: int
    made: dict[int, Body] = dataclasses.field(default_factory=dict)
    nodes: dict[int, list[int]] = dataclasses.field(default_factory=dict)  # that a chain is from
    read: dict[int, dict[int, list[int]]] = dataclasses.field(default_factory=dict)  # see reads_of

    @property
    def instrs(self) -> list[Instr | None]:
        return self.draft.blocks[self.block]

    def run(self) -> None:
        for at in range(len(self.instrs)):
            while self.merge_into(at):
                pass
        for at, body in self.made.items():
            i = self.instrs[at]
            assert i is not None
            steps = bodies.compiled(body, 1 if i.op in EPILOGUES else 0)
            node = self.draft.joint_node(self.nodes.get(at, [i.node]))
            self.instrs[at] = dataclasses.replace(i, attrs={**i.attrs, "steps": steps}, node=node)

    def merge_into(self, at: int) -> bool:
        """Takes one producer into the pointwise instruction at `at`; epilogues first."""
        consumer = self.instrs[at]
        if consumer is None or consumer.op != "pointwise":
            return False
        for is_pointwise, source, v in sorted(self.producers(consumer, at)):
            if not self.draft.may_move(self.block, source, at):
                continue
            if self.chain(source, at, v) if is_pointwise else self.epilogue(source, at, v):
                return True
        return False

    def producers(self, consumer: Instr, at: int) -> set[tuple[bool, int, int]]:
        """(whether pointwise, position, base it makes) of what might be merged into the consumer."""
        found = set()
        for v in self.reads_of(at):
            if self.draft.values[v].storage not in ("planned", "output"):
                continue
            source = self.draft.only_writer(v, self.block)
            producer = self.instrs[source] if source is not None and source < at else None
            if source is None or producer is None or v not in producer.outputs:
                continue
            if producer.op == "pointwise" or producer.op in EPILOGUES:
                found.add((producer.op == "pointwise", source, v))
        return found

    def body(self, at: int) -> Body:
        """The program of an instruction that has or may have steps."""
        i = self.instrs[at]
        assert i is not None
        if at in self.made:
            return self.made[at]
        steps = i.attrs.get("steps") or ()
        if i.op == "pointwise":
            return bodies.read(read_terms(steps), [v for v in i.inputs if v is not None])
        result = [read_terms(steps)[0] if steps else terms.load(0, "f32")]
        return bodies.read(result, [RESULT, *(v for v in i.inputs[FIRST_X:] if v is not None)])

    def replace(self, source: int, at: int, merged: Instr, body: Body) -> None:
        self.made.pop(source, None)
        self.made[at] = body
        self.read.pop(at, None)
        self.draft.put(self.block, source, None)
        self.draft.put(self.block, at, merged)

    # --- pointwise into pointwise ------------------------------------------------------------------------------------

    def chain(self, source: int, at: int, v: int) -> bool:
        """Both programs as one over the consumer's shape. What others read of the producer stays an output."""
        producer, consumer = self.instrs[source], self.instrs[at]
        assert producer is not None and consumer is not None
        shape = next(self.draft.values[v].shape for v in consumer.outputs if v is not None)
        reads = self.reads_of(at)
        seen = {o: self.view_of(o, reads, shape) for o in producer.outputs if o is not None}
        view = seen[v]
        if view is None or any(other != view for other in seen.values() if other is not UNREAD):
            return False
        inner = self.body(source)
        if view != AS_IS and any(t.op == "index" for t in inner.terms):
            return False
        keep = [
            o
            for o in producer.outputs
            if o is not None and not self.draft.only_user(o, self.block, at)
        ]
        if view != AS_IS and keep:
            return False
        if view != AS_IS:
            given = self.moved(producer, v, shape)
            if given is None:
                return False
            inner = bodies.moved(inner, given)
        wanted = dict(zip(producer.outputs, inner.outputs, strict=True))
        known: dict[Term, Term] = {}
        for o, t in wanted.items():
            if o is not None:
                known |= self.results_of(reads.get(o, []), o, t)
        joined = bodies.join(inner, [wanted[o] for o in keep], self.body(at), known)
        if joined is None:
            return False
        outputs = (*keep, *consumer.outputs)
        merged = dataclasses.replace(consumer, inputs=joined.operands, outputs=outputs)
        older = self.nodes.pop(source, [producer.node])
        self.nodes[at] = [*older, *self.nodes.get(at, [consumer.node])]
        self.replace(source, at, merged, joined)
        return True

    def reads_of(self, at: int) -> dict[int, list[int]]:
        """Base -> the operands of the instruction that lie in it; without constants, which may be very many."""
        if at not in self.read:
            i, values = self.instrs[at], self.draft.values
            assert i is not None
            found: dict[int, list[int]] = {}
            for x in i.inputs:
                if x is None:
                    continue
                base = self.draft.base(x)
                if values[base].storage != "constant":
                    found.setdefault(base, []).append(x)
            self.read[at] = found
        return self.read[at]

    def results_of(self, reads: list[int], v: int, made: Term) -> dict[Term, Term]:
        """Loads of v in the consumer, and what was stored there."""
        dtype = self.draft.values[v].dtype
        return {bodies.load(x, dtype): stored(made, dtype) for x in reads}

    def view_of(self, v: int, reads: dict[int, list[int]], shape: Shape) -> Shape | None:
        """How the consumer sees v: AS_IS; by its shape, where that is a reshape; UNREAD; None: otherwise."""
        whole = self.draft.values[v].shape
        if v not in reads:
            return UNREAD
        for x in reads[v]:
            ref = self.draft.ref(x)
            if ref.strides is not None or ref.offset != 0:
                return None
        if same_shape(whole, shape):
            return AS_IS
        return shape if same(product(whole), product(shape)) else None

    def moved(self, i: Instr, v: int, shape: Shape) -> dict[int, int] | None:
        """The operands of `i` as `shape` sees them."""
        refs: list[View] = []
        for x in i.inputs:
            assert x is not None
            ref = self.draft.ref(x)
            seen = views.reshape(ref, shape)
            if seen is None:
                return None
            refs.append(seen)
        method = self.draft.method_of[v]
        return {
            x: self.draft.value(ref, method)
            for x, ref in zip(i.inputs, refs, strict=True)
            if x is not None
        }

    # --- pointwise behind matmul and conv ----------------------------------------------------------------------------

    def epilogue(self, source: int, at: int, v: int) -> bool:
        """The consumer's program as the producer's last steps: f32, one output, as many elements in the same order."""
        producer, consumer = self.instrs[source], self.instrs[at]
        assert producer is not None and consumer is not None
        if (
            len(consumer.outputs) != 1
            or consumer.outputs[0] is None
            or not self.draft.only_user(v, self.block, at)
        ):
            return False
        y, values = consumer.outputs[0], self.draft.values
        if values[y].dtype != "f32" or values[v].dtype != "f32" or values[y].storage == "view":
            return False
        reads = dict(self.reads_of(at))
        view = self.view_of(v, reads, values[y].shape)
        outer = self.body(at)
        if view is None or any(t.op == "index" for t in outer.terms):
            return False
        if view != AS_IS:
            given = self.moved(consumer, v, values[v].shape)
            if given is None:
                return False
            outer, reads[v] = bodies.moved(outer, given), [given[x] for x in reads[v]]
        inner = self.body(source)
        joined = bodies.join(inner, [], outer, self.results_of(reads[v], v, inner.outputs[0]))
        if joined is None:
            return False
        fixed = (*producer.inputs[:FIRST_X], None, None)[:FIRST_X]
        if view != AS_IS:
            self.take_shape(v, y)
            self.read.clear()
        merged = dataclasses.replace(
            producer,
            inputs=(*fixed, *joined.operands),
            outputs=(y if view == AS_IS else v,),
        )
        self.nodes.pop(at, None)  # the product's name stands for what comes behind it
        self.replace(source, at, merged, joined)
        return True

    def take_shape(self, v: int, y: int) -> None:
        """One memory for v and y, which have the same elements in different shapes."""
        if self.draft.values[y].storage == "planned":
            self.draft.settle(y, v)
        else:
            self.draft.settle(v, y)

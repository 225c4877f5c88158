"""Copies that need not be: results written straight into their destination, and into memory that dies.

Both only change where values lie. A producer's planned result that is merely copied to an output, or into its place in a
concatenation, becomes a view of that memory; an output may take the memory of an operand read for the last time.
"""

from __future__ import annotations

import dataclasses

from pteron.export.draft import Draft
from pteron.export.extents import product, same, same_shape
from pteron.export.lower import ref as views
from pteron.export.lower.ref import Ref
from pteron.export.program import Instr
from pteron.schema.ops import OPS
from pteron.schema.signature import signature


def write_where_copied(draft: Draft, block: int) -> None:
    """copy(v -> place), v planned and used by nothing else => v's producer writes to the place itself.

    The place is an output buffer that v fills in order, or a strided place where the producer's row admits one.
    """
    instrs = draft.blocks[block]
    for at, copy in enumerate(instrs):
        if copy is None or copy.op != "copy":
            continue
        source, target = copy.inputs[0], copy.outputs[0]
        assert source is not None and target is not None
        v = draft.base(source)
        made = _only(draft, block, v, at)
        if made is None or draft.values[v].storage != "planned":
            continue
        if _fill_output(draft, block, source, target, made, at) or _into_place(
            draft, block, source, target, made, at
        ):
            instrs[at] = None


def _only(draft: Draft, block: int, v: int, at: int) -> int | None:
    """Where v is written, if once, in this block, in front of `at`, whole, and nobody outside keeps it."""
    if any(draft.base(k) == v for k in draft.kept):
        return None
    made: int | None = None
    for other, instrs in enumerate(draft.blocks):
        for place, i in enumerate(instrs):
            if i is None or v not in {draft.base(o) for o in i.outputs if o is not None}:
                continue
            if other != block or made is not None or v not in i.outputs or place >= at:
                return None
            if i.op in ("if", "loop", "call", "delegate"):
                return None
            made = place
    return made


def _touched_between(draft: Draft, block: int, base: int, first: int, last: int) -> bool:
    for i in draft.blocks[block][first:last]:
        if i is not None and base in draft.reads(i) | draft.writes(i):
            return True
    return False


def _fill_output(draft: Draft, block: int, source: int, target: int, made: int, at: int) -> bool:
    """The whole of v, dense, is all of an output: v becomes a view of the output and may still be read."""
    ref, out = draft.ref(source), draft.values[target]
    assert ref.base is not None
    value = draft.values[ref.base]
    whole = ref.strides is None and ref.offset == 0
    if out.storage != "output" or not whole:
        return False
    if not same(product(value.shape), product(out.shape)):
        return False
    if _touched_between(draft, block, target, made, at):
        return False
    draft.settle(ref.base, target)
    return True


def _into_place(draft: Draft, block: int, source: int, target: int, made: int, at: int) -> bool:
    """v, read by the copy alone, is written where the copy would put it, axes permuted as the copy sees them."""
    v = draft.base(source)
    producer = draft.blocks[block][made]
    assert producer is not None
    for other in draft.blocks:
        for i in other:
            if i is not None and i is not draft.blocks[block][at] and v in draft.reads(i):
                return False
    place = draft.ref(target)
    assert place.base is not None
    if place.base == v or _touched_by_reads(draft, block, place.base, made, at):
        return False
    order = _permutation(draft, source)
    if order is None:
        return False
    seen = views.transpose(place, order)
    if not same_shape(seen.shape, draft.values[v].shape):
        return False
    if seen.strides is not None and not _admits_strided(producer):
        return False
    new = draft.value(seen, draft.method_of[v])
    outputs = tuple(new if o == v else o for o in producer.outputs)
    draft.blocks[block][made] = dataclasses.replace(producer, outputs=outputs)
    return True


def _touched_by_reads(draft: Draft, block: int, base: int, first: int, last: int) -> bool:
    """Between, other copies may fill other parts of a planned base; nobody may read it."""
    storage = draft.values[base].storage
    if storage != "planned":
        return _touched_between(draft, block, base, first, last)
    return any(i is not None and base in draft.reads(i) for i in draft.blocks[block][first:last])


def _admits_strided(i: Instr) -> bool:
    return "y" in OPS[i.op].strided


def _permutation(draft: Draft, source: int) -> list[int] | None:
    """The axes of the copied view for each axis of the dense value, where the view is no more than a transpose."""
    ref = draft.ref(source)
    assert ref.base is not None
    whole = draft.values[ref.base].shape
    if ref.offset != 0 or ref.rank != len(whole):
        return None
    order = list(views.memory_order(ref))
    back = views.transpose(ref, order)
    return order if back.strides is None and same_shape(back.shape, whole) else None


# --- memory that dies ---------------------------------------------------------------------------------------------------


def take_dying_memory(draft: Draft, block: int) -> None:
    """Output 0 of an instruction takes the memory of an operand that nobody reads again (the row's `inplace`)."""
    last: dict[int, int] = {}
    own: set[int] = set()
    for at, i in enumerate(draft.blocks[block]):
        if i is not None:
            for v in draft.reads(i) | draft.writes(i):
                last[v] = at
            own |= draft.writes(i)
    outside = {draft.base(v) for v in draft.kept}
    for other, instrs in enumerate(draft.blocks):
        if other != block:
            for i in instrs:
                if i is not None:
                    outside |= draft.reads(i) | draft.writes(i)
    for at, i in enumerate(draft.blocks[block]):
        if i is None or not OPS[i.op].inplace or len(i.outputs) != 1 or i.outputs[0] is None:
            continue
        y = i.outputs[0]
        if draft.values[y].storage != "planned" or y in outside or _partly(draft, block, y, at):
            continue
        for x in _candidates(draft, i):
            base = draft.base(x)
            ok = draft.values[base].storage == "planned" and base in own and base not in outside
            if ok and last[base] == at:
                draft.settle(y, base)
                last[base] = last[y]
                break
        else:
            _state_in_place(draft, block, i, at, y)


def _partly(draft: Draft, block: int, y: int, at: int) -> bool:
    """Somebody else writes into y too."""
    return any(
        i is not None and place != at and y in draft.writes(i)
        for place, i in enumerate(draft.blocks[block])
    )


def _candidates(draft: Draft, i: Instr) -> list[int]:
    """Operands that the row lets output 0 lie in: dense, of its shape and dtype, read through one view only."""
    assert i.outputs[0] is not None
    y = draft.values[i.outputs[0]]
    ports = signature(OPS[i.op]).inputs
    found = []
    for at, x in enumerate(i.inputs):
        if x is None or ports[min(at, len(ports) - 1)].name not in OPS[i.op].inplace:
            continue
        ref, value = draft.ref(x), draft.values[draft.base(x)]
        same_place = ref.strides is None and ref.offset == 0 and same_shape(ref.shape, y.shape)
        others = [o for k, o in enumerate(i.inputs) if o is not None and k != at and o != x]
        if any(draft.base(o) == draft.base(x) for o in others):
            continue
        if same_place and value.dtype == y.dtype and same(product(value.shape), product(y.shape)):
            found.append(x)
    return found


def _state_in_place(draft: Draft, block: int, i: Instr, at: int, y: int) -> None:
    """y = f(state), later copied back whole, the state not read in between => y is the state."""
    instrs = draft.blocks[block]
    for x in _candidates(draft, i):
        state = draft.base(x)
        if draft.values[state].storage != "state":
            continue
        for later in range(at + 1, len(instrs)):
            copy = instrs[later]
            if copy is None or state not in draft.reads(copy) | draft.writes(copy):
                continue
            back = copy.op == "copy" and copy.outputs == (state,) and copy.inputs[0] is not None
            if back and _is_all_of(draft.ref(copy.inputs[0] or 0), y, draft):
                draft.settle(y, state)
                instrs[later] = None
            break


def _is_all_of(ref: Ref, y: int, draft: Draft) -> bool:
    whole = same(product(ref.shape), product(draft.values[y].shape))
    return ref.base == y and ref.strides is None and ref.offset == 0 and whole

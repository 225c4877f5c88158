"""Copies that need not be: results written straight into their destination, and into memory that dies.

Both only change where values lie. A producer's planned result that is merely copied to an output, or into its place in a
concatenation, becomes a view of that memory; an output may take the memory of an operand read for the last time.
"""

from __future__ import annotations

import bisect
import dataclasses

from pteron.schema.ops import OPS
from pteron.schema.signature import signature

from ..program import Instr, views
from ..program.draft import Draft, between
from ..program.views import View
from ..sizes.extents import product, same, same_shape


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
            draft.put(block, at, None)


def _only(draft: Draft, block: int, v: int, at: int) -> int | None:
    """Where v is written, if once, in this block, in front of `at`, whole, and nobody outside keeps it."""
    if v in draft.kept or len(draft.writing(v)) != 1:
        return None
    ((home, made),) = draft.writing(v)
    producer = draft.blocks[home][made]
    assert producer is not None
    by_session = producer.op in ("if", "loop", "call", "delegate")
    if home != block or made >= at or by_session or v not in producer.outputs:
        return None
    return made


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
    if draft.touched(target, block, made, at):
        return False
    draft.settle(ref.base, target)
    return True


def _into_place(draft: Draft, block: int, source: int, target: int, made: int, at: int) -> bool:
    """v, read by the copy alone, is written where the copy would put it, axes permuted as the copy sees them."""
    v = draft.base(source)
    producer = draft.blocks[block][made]
    assert producer is not None
    if draft.reading(v) != {(block, at)}:
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
    draft.put(block, made, dataclasses.replace(producer, outputs=outputs))
    return True


def _touched_by_reads(draft: Draft, block: int, base: int, first: int, last: int) -> bool:
    """Between, other copies may fill other parts of a planned base; nobody may read it."""
    if draft.values[base].storage != "planned":
        return draft.touched(base, block, first, last)
    return between(draft.readers(base, block), first, last)


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
    for at, i in enumerate(draft.blocks[block]):
        if i is None or not OPS[i.op].inplace or not i.outputs or i.outputs[0] is None:
            continue
        if any(o is not None for o in i.outputs[1:]):
            continue
        y = i.outputs[0]
        whole = draft.values[y].storage == "planned" and draft.writing(y) == {(block, at)}
        if not whole or y in draft.kept:
            continue
        for x in _candidates(draft, i):
            if _dies(draft, block, draft.base(x), at):
                draft.settle(y, draft.base(x))
                break
        else:
            _state_in_place(draft, block, i, at, y)


def _dies(draft: Draft, block: int, base: int, at: int) -> bool:
    """Planned memory of this block that nothing reads or writes behind `at`."""
    if draft.values[base].storage != "planned" or base in draft.kept:
        return False
    if _used_elsewhere(draft, base, block):
        return False
    if all(b != block for b, _ in draft.writing(base)):
        return False
    uses = (draft.readers(base, block), draft.writers(base, block))
    return max(positions[-1] for positions in uses if positions) == at


def _used_elsewhere(draft: Draft, base: int, block: int) -> bool:
    return draft.read_elsewhere(base, block) or draft.written_elsewhere(base, block)


def _candidates(draft: Draft, i: Instr) -> list[int]:
    """Operands that the row lets output 0 lie in: dense, of its shape and dtype, read through one view only.

    An operand that is read as another one too, which the row keeps apart from output 0, is none: add_i8(v, v).
    """
    assert i.outputs[0] is not None
    y = draft.values[i.outputs[0]]
    ports = signature(OPS[i.op]).inputs
    names = [ports[min(at, len(ports) - 1)].name for at in range(len(i.inputs))]
    apart = {x for x, name in zip(i.inputs, names, strict=True) if name not in OPS[i.op].inplace}
    found = []
    for at, x in enumerate(i.inputs):
        if x is None or x in apart:
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
        if _used_elsewhere(draft, state, block):
            continue
        uses = (draft.readers(state, block), draft.writers(state, block))
        behind = ((positions, bisect.bisect_right(positions, at)) for positions in uses)
        later = min((positions[i] for positions, i in behind if i < len(positions)), default=-1)
        copy = instrs[later] if later > at else None
        if copy is None or copy.op != "copy" or copy.outputs != (state,):
            continue
        if copy.inputs[0] is not None and _is_all_of(draft.ref(copy.inputs[0]), y, draft):
            draft.put(block, later, None)
            draft.settle(y, state)
            return


def _is_all_of(ref: View, y: int, draft: Draft) -> bool:
    whole = same(product(ref.shape), product(draft.values[y].shape))
    return ref.base == y and ref.strides is None and ref.offset == 0 and whole

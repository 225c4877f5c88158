/* The proof goes through the instructions in the order in which they run. A kernel writes all of
 * its outputs; so a value is written behind the instruction that has it as an output, as a whole or
 * as views that together are all of it. What a block writes counts inside it alone: the branch may
 * not be taken, the loop not entered.
 *
 * Sizes that only data decides prove nothing (a value may grow behind the instruction that wrote
 * it): what depends on them is cleared where it is read. Values that lie in the same memory show
 * each other's bytes if the plan is wrong; these are of the same run. */
#include "session/written.h"

#include <string.h>

#include "core/kept.h"
#include "gen/ops.h"
#include "session/check.h"
#include "session/tensor.h"

enum { MOST_PARTS = 128 };

typedef struct proof {
  pte_session *s;
  uint64_t left;       /* operands that may still be looked at; none: nothing more is proven */
  uint8_t depth;       /* of the block, from 1 on */
  uint32_t first, now; /* instructions of the block before this one are behind it */
} proof;

static void walk_block(proof *p, uint32_t block);

static bool spend(proof *p, uint64_t count) {
  bool enough = p->left > count;
  p->left = enough ? p->left - count : 0;
  return enough;
}

static bool look(proof *p) { return spend(p, 1); }

/* Views of a base that are written and lie apart. */
typedef struct parts {
  const pte_tensor *at[MOST_PARTS];
  uint32_t count;
  int64_t elements; /* of all of them */
} parts;

static int64_t elements_of(const pte_tensor *t) {
  int64_t all = 1; /* at most 2^40 */
  for (uint32_t axis = 0; axis < t->rank; axis++) all *= t->shape[axis];
  return all;
}

/* false: it overlaps another, and is not the same. */
static bool add_part(proof *p, parts *known, const pte_tensor *t) {
  for (uint32_t i = 0; i < known->count; i++) {
    if (pte_check_same(p->s, t, known->at[i])) return true;
    if (!pte_check_apart(p->s, t, known->at[i])) return false;
  }
  if (known->count == MOST_PARTS) return false;
  known->at[known->count++] = t;
  known->elements += elements_of(t);
  return true;
}

/* Whether views that instructions of this block wrote are together all of a base. */
static bool is_covered(proof *p, uint32_t base) {
  const pte_session *s = p->s;
  const int64_t all = elements_of(&s->tensors[base]);
  parts known = {.count = 0};
  for (uint32_t w = p->now; w-- > p->first;) {
    const pte_call *call = &s->works[w].call;
    for (uint32_t i = 0; i < call->out_count; i++) {
      const pte_tensor *t = call->out[i];
      if (!look(p)) return false;
      if (t == NULL || pte_tensor_is_empty(t)) continue;
      uint32_t v = pte_session_value_of(s, t);
      if (s->slots[v].base != base || s->slots[v].written == 0) continue;
      if (!add_part(p, &known, t)) return false;
      if (known.elements == all) return true;
    }
  }
  return false;
}

static void set_written(proof *p, uint32_t v) {
  if (p->s->slots[v].written == 0) p->s->slots[v].written = p->depth;
}

/* A read that nothing wrote before. Of what is bound, whoever binds it answers for it. */
static void leave_to_clearing(pte_session *s, uint32_t base) {
  uint8_t storage = pte_session_file_value(s, base)->storage;
  pte_slot *slot = &s->slots[base];
  if (storage == PTE_STORAGE_PARAM) slot->flags |= PTE_SLOT_UNPROVEN;
  else if (storage == PTE_STORAGE_PLANNED || storage == PTE_STORAGE_OUTPUT)
    slot->flags |= PTE_SLOT_CLEAR;
}

static void read_value(proof *p, uint32_t v) {
  pte_session *s = p->s;
  uint32_t base = s->slots[v].base;
  uint8_t storage = pte_session_file_value(s, base)->storage;
  if (storage == PTE_STORAGE_INPUT || storage == PTE_STORAGE_CONSTANT ||
      storage == PTE_STORAGE_STATE || (s->slots[base].flags & PTE_SLOT_CLEAR) != 0)
    return;
  bool loose = (s->slots[base].flags & PTE_SLOT_LOOSE) != 0;
  if (!loose && (s->slots[base].written != 0 || s->slots[v].written != 0)) return;
  if (!loose && (pte_tensor_is_empty(&s->tensors[v]) || is_covered(p, v))) return;
  leave_to_clearing(s, base);
}

static void read_tensor(proof *p, const pte_tensor *t) {
  if (t != NULL) read_value(p, pte_session_value_of(p->s, t));
}

static void write_tensor(proof *p, const pte_tensor *t) {
  if (t == NULL) return;
  uint32_t v = pte_session_value_of(p->s, t), base = p->s->slots[v].base;
  const pte_tensor *whole = &p->s->tensors[base];
  if ((p->s->slots[base].flags & PTE_SLOT_LOOSE) != 0) return;
  set_written(p, v);
  if (v != base && p->s->slots[v].view_elements == 0 && pte_tensor_is_dense(t) &&
      pte_tensor_bytes(t) == pte_tensor_bytes(whole))
    set_written(p, base);
}

static uint32_t ref_value(const pte_session *s, pte_range refs, uint32_t i) {
  return s->program->tables.refs[refs.start + i] - s->first_value;
}

/* What is bound to a param of sizes that data decides may be read beyond what was written of it. */
static void bind_loose(proof *p, uint32_t param, const pte_tensor *actual) {
  pte_session *s = p->s;
  uint32_t base = s->slots[pte_session_value_of(s, actual)].base;
  if (((s->slots[param].flags | s->slots[base].flags) & PTE_SLOT_LOOSE) != 0)
    leave_to_clearing(s, base);
}

static void leave_block(proof *p, uint32_t block) {
  pte_session *s = p->s;
  const pte_file_block *file = &s->program->blocks[block];
  for (uint32_t k = 0; k < file->instrs.count; k++) {
    const pte_call *call = &s->works[s->first_work[block] + k].call;
    for (uint32_t i = 0; i < call->out_count; i++) {
      if (call->out[i] == NULL) continue;
      uint32_t v = pte_session_value_of(s, call->out[i]), base = s->slots[v].base;
      if (s->slots[v].written == p->depth) s->slots[v].written = 0;
      if (s->slots[base].written == p->depth) s->slots[base].written = 0;
    }
  }
  for (uint32_t i = 0; i < file->params.count; i++)
    s->slots[ref_value(s, file->params, i)].written = 0;
}

/* Whether a later result is the same PARAM: it is bound once, to the last of its outputs. */
static bool is_bound_again(proof *p, pte_range results, uint32_t i) {
  const pte_session *s = p->s;
  if (!spend(p, results.count - i)) return true;
  for (uint32_t k = i + 1; k < results.count; k++)
    if (ref_value(s, results, k) == ref_value(s, results, i)) return true;
  return false;
}

/* A block inside an instruction: its params are written, and its results are read at its end. */
static void walk_inner(proof *p, uint32_t work, uint32_t block, bool called) {
  pte_session *s = p->s;
  const pte_file_block *file = &s->program->blocks[block];
  const pte_call *call = &s->works[work].call;
  proof inner = *p;
  inner.depth++;
  for (uint32_t i = 0; i < file->params.count; i++)
    s->slots[ref_value(s, file->params, i)].written = inner.depth;
  for (uint32_t i = 0; called && i < file->results.count; i++) /* bound behind the params */
    s->slots[ref_value(s, file->results, i)].written = 0;
  for (uint32_t i = 0; called && i < file->params.count; i++)
    bind_loose(p, ref_value(s, file->params, i), call->in[i]);
  walk_block(&inner, block);
  for (uint32_t i = 0; i < file->results.count; i++)
    read_value(&inner, ref_value(s, file->results, i));
  for (uint32_t i = 0; called && i < file->results.count; i++) {
    uint32_t result = ref_value(s, file->results, i);
    bind_loose(p, result, call->out[i]);
    bool again = is_bound_again(&inner, file->results, i);
    if (again ||
        (s->slots[result].flags & PTE_SLOT_UNPROVEN) != 0) /* the caller's memory was read */
      leave_to_clearing(s, s->slots[pte_session_value_of(s, call->out[i])].base);
  }
  leave_block(&inner, block);
  p->left = inner.left;
}

static void walk_control(proof *p, uint32_t work) {
  const pte_session *s = p->s;
  const pte_call *call = &s->works[work].call;
  switch (s->works[work].row->id) {
  case PTE_OP_IF:
    walk_inner(p, work, ((const pte_if_attrs *)call->attrs)->then_block, false);
    walk_inner(p, work, ((const pte_if_attrs *)call->attrs)->else_block, false);
    return;
  case PTE_OP_LOOP: {
    uint32_t body = ((const pte_loop_attrs *)call->attrs)->body;
    pte_range params = s->program->blocks[body].params;
    for (uint32_t i = 1; i < params.count; i++) /* they lie where the outputs do */
      bind_loose(p, ref_value(s, params, i), call->out[i - 1]);
    walk_inner(p, work, body, false);
    return;
  }
  case PTE_OP_CALL: walk_inner(p, work, ((const pte_call_attrs *)call->attrs)->body, true); return;
  case PTE_OP_DELEGATE: {
    uint32_t entry = (uint32_t)((const pte_delegate_attrs *)call->attrs)->index;
    uint32_t fallback = s->program->delegates[entry].fallback;
    if (s->placed[entry].api == NULL && fallback != PTE_NONE) walk_inner(p, work, fallback, true);
    return;
  }
  default: return;
  }
}

static void walk_block(proof *p, uint32_t block) {
  pte_session *s = p->s;
  p->first = s->first_work[block];
  uint32_t end = p->first + s->program->blocks[block].instrs.count;
  for (p->now = p->first; p->now < end; p->now++) {
    const pte_work *work = &s->works[p->now];
    if (!spend(p, 1 + (uint64_t)work->call.in_count + work->call.out_count)) return;
    for (uint32_t i = 0; i < work->call.in_count; i++) read_tensor(p, work->call.in[i]);
    if (work->row->control) walk_control(p, p->now);
    for (uint32_t i = 0; i < work->call.out_count; i++) write_tensor(p, work->call.out[i]);
  }
}

/* Forgets an earlier proof, and notes whose size data decides, a view's in its base. */
static void begin(pte_session *s) {
  for (uint32_t v = 0; v < s->value_count; v++) {
    unsigned kept = s->slots[v].flags & (PTE_SLOT_CLEAR - 1u);
    s->slots[v].flags = (uint8_t)kept;
    s->slots[v].written = 0;
  }
  for (uint32_t v = 0; s->has_dynamic && v < s->value_count; v++)
    if ((s->slots[v].flags & PTE_SLOT_DYNAMIC) != 0)
      s->slots[s->slots[v].base].flags |= PTE_SLOT_LOOSE;
}

void pte_written_find(pte_session *s) {
  proof p = {.s = s, .left = 1024 + (uint64_t)s->work_count * 256, .depth = 1};
  uint32_t looks = s->looks;
  begin(s);
  s->looks = PTE_LOOKS + (s->work_count < 1u << 24 ? s->work_count * 16 : 0);
  walk_block(&p, s->method->block);
  pte_range ports = s->method->outputs;
  for (uint32_t i = 0; i < ports.count; i++)
    read_value(&p, s->program->ports[ports.start + i].value - s->first_value);
  s->looks = looks;
  s->sizes.cleared_bytes = 0;
  for (uint32_t v = 0; v < s->value_count; v++) {
    uint8_t storage = pte_session_file_value(s, v)->storage;
    if (p.left == 0) leave_to_clearing(s, v);
    if (storage != PTE_STORAGE_PARAM && (s->slots[v].flags & PTE_SLOT_CLEAR) != 0)
      s->sizes.cleared_bytes += s->slots[v].room_bytes; /* no more than lies in the address space */
  }
}

void pte_written_clear(const pte_session *s) {
  for (uint32_t v = 0; s->sizes.cleared_bytes != 0 && v < s->value_count; v++)
    if ((s->slots[v].flags & PTE_SLOT_CLEAR) != 0 && s->slots[v].room_bytes != 0)
      memset(s->tensors[v].data, 0, (size_t)s->slots[v].room_bytes);
}

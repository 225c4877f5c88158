#include "session/check.h"

#include <string.h>

#include "core/kept.h"
#include "core/shape.h"
#include "core/size.h"
#include "gen/ops.h"
#include "session/control_check.h"
#include "session/delegates.h"
#include "session/fault.h"
#include "session/tensor.h"

/* Bytes of memory, at an address or, while addresses are not known, at an offset of a stand-in for
 * it. */
typedef struct span {
  uint64_t root;
  uint64_t begin, end;
} span;

/* Where a base would lie: storages are apart from each other, ports and params too. */
static span stand_in(const pte_session *s, uint32_t base) {
  const pte_file_value *file = pte_session_file_value(s, base);
  bool shared = file->storage == PTE_STORAGE_PLANNED || file->storage == PTE_STORAGE_STATE;
  uint64_t root = (uint64_t)file->storage << 32 | (shared ? 0 : base);
  return (span){root, shared ? s->slots[base].offset_bytes : 0, 0};
}

static span span_of(const pte_session *s, const pte_tensor *t, bool placed) {
  uint32_t v = pte_session_value_of(s, t);
  const pte_slot *slot = &s->slots[v];
  span at = placed ? (span){0, (uintptr_t)t->data, 0} : stand_in(s, slot->base);
  uint64_t bits = pte_element_bits(t->dtype);
  if (pte_tensor_is_empty(t)) return (span){at.root, at.begin, at.begin};
  if (t->layout != PTE_STRIDED || bits < 8) { /* dense, and its own base or the whole of one */
    at.end = at.begin + s->slots[slot->base].room_bytes;
    return at;
  }
  int64_t low = 0, high = 0, size = (int64_t)(bits / 8);
  (void)pte_tensor_range(t, 0, &low, &high); /* it fits: tensors have passed pte_value_size */
  if (!placed) at.begin += (uint64_t)(slot->view_elements * size);
  at.end = at.begin + (uint64_t)((high + 1) * size);
  at.begin += (uint64_t)(low * size);
  return at;
}

static uint64_t size_of(int64_t stride) {
  return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* A strided tensor by its axes of more than one element: how far each steps and reaches, in bytes.
 */
typedef struct lattice {
  uint64_t begin, size; /* of an element */
  uint32_t axes;
  uint64_t step[PTE_MAX_RANK], reach[PTE_MAX_RANK];
} lattice;

static lattice lattice_of(const pte_tensor *t, span at) {
  lattice out = {at.begin, pte_element_bits(t->dtype) / 8, 0, {0}, {0}};
  for (uint32_t axis = 0; axis < t->rank; axis++) {
    uint64_t step = size_of(t->stride[axis]) * out.size;
    if (t->shape[axis] == 1 || step == 0) continue;
    out.step[out.axes] = step;
    out.reach[out.axes++] = (uint64_t)(t->shape[axis] - 1) * step;
  }
  return out;
}

/* Splits a tensor at `period` bytes: the outer axes step by multiples of it, the inner ones stay in
 * less than one. Stores where the inner part begins and ends within the period; false: it does not
 * split so. */
static bool split(const lattice *t, uint64_t anchor, uint64_t period, uint64_t *out_begin,
                  uint64_t *out_end) {
  uint64_t inner = t->size;
  for (uint32_t axis = 0; axis < t->axes; axis++)
    if (t->step[axis] < period || t->step[axis] % period != 0) inner += t->reach[axis];
  *out_begin = (t->begin - anchor) % period;
  *out_end = *out_begin + inner;
  return *out_end <= period;
}

static bool tried(const lattice *t, uint32_t axes, uint64_t period) {
  for (uint32_t axis = 0; axis < axes; axis++)
    if (t->step[axis] == period) return true;
  return false;
}

/* Whether two strided tensors that share a range of addresses still touch no common byte: columns
 * of one matrix do so. Tries each stride of either as the row length. */
static bool interleave(const pte_tensor *a, span at_a, const pte_tensor *b, span at_b) {
  if (a->layout != PTE_STRIDED || b->layout != PTE_STRIDED) return false;
  if (pte_element_bits(a->dtype) < 8 || pte_element_bits(b->dtype) < 8) return false;
  uint64_t anchor = at_a.begin < at_b.begin ? at_a.begin : at_b.begin;
  lattice x = lattice_of(a, at_a), y = lattice_of(b, at_b);
  for (uint32_t i = 0; i < x.axes + y.axes; i++) {
    bool first = i < x.axes;
    uint64_t period = first ? x.step[i] : y.step[i - x.axes];
    uint64_t a_begin, a_end, b_begin, b_end;
    if (tried(&x, first ? i : x.axes, period) || (!first && tried(&y, i - x.axes, period)))
      continue;
    if (!split(&x, anchor, period, &a_begin, &a_end) ||
        !split(&y, anchor, period, &b_begin, &b_end))
      continue;
    if (a_end <= b_begin || b_end <= a_begin) return true;
  }
  return false;
}

/* Looking into ranges that overlap takes a microsecond: after so many of those, they touch. */
static bool apart(pte_session *s, const pte_tensor *a, span at_a, const pte_tensor *b, span at_b) {
  if (at_a.root != at_b.root || at_a.end <= at_b.begin || at_b.end <= at_a.begin) return true;
  if (s->looks == 0) return false;
  s->looks--;
  return interleave(a, at_a, b, at_b);
}

/* The same elements in the same places; of elements of another size the places differ, and where an
 * output may lie on an input, the row gives both one layout. */
static bool coincide(const pte_tensor *a, span at_a, const pte_tensor *b, span at_b) {
  if (at_a.begin != at_b.begin || at_a.end != at_b.end || a->rank != b->rank) return false;
  for (uint32_t axis = 0; axis < a->rank; axis++)
    if (a->shape[axis] != b->shape[axis] ||
        (a->shape[axis] > 1 && a->stride[axis] != b->stride[axis]))
      return false;
  return true;
}

bool pte_check_apart(pte_session *s, const pte_tensor *a, const pte_tensor *b) {
  return apart(s, a, span_of(s, a, false), b, span_of(s, b, false));
}

bool pte_check_same(const pte_session *s, const pte_tensor *a, const pte_tensor *b) {
  return a == b || coincide(a, span_of(s, a, false), b, span_of(s, b, false));
}

static pte_status fail_at(pte_session *s, uint32_t work, const char *text, uint32_t port,
                          pte_error *err) {
  return pte_fault_at(s, work, PTE_BAD_PROGRAM, text, port, err);
}

/* Whether two coordinates may name one element: each stride must be longer than all that the axes
 * of shorter strides reach. (Strides of 2 and 3 over 3 and 2 elements do not meet either; nobody
 * makes such.) */
static bool overlaps_itself(const pte_tensor *t) {
  for (uint32_t a = 0; a < t->rank; a++) {
    uint64_t stride = size_of(t->stride[a]), reach = 0; /* it fits: the view lies in its base */
    for (uint32_t b = 0; b < t->rank; b++) {
      bool shorter = size_of(t->stride[b]) < stride || (size_of(t->stride[b]) == stride && b > a);
      if (b != a && shorter) reach += (uint64_t)(t->shape[b] - 1) * size_of(t->stride[b]);
    }
    if (t->shape[a] > 1 && stride <= reach) return true;
  }
  return false;
}

static pte_status check_output(pte_session *s, uint32_t work, uint32_t i, bool placed,
                               pte_error *err) {
  const pte_tensor *t = s->works[work].call.out[i];
  uint32_t v = pte_session_value_of(s, t);
  if ((s->slots[v].flags | s->slots[s->slots[v].base].flags) & PTE_SLOT_READ_ONLY)
    return fail_at(s, work, "writes memory that is read-only", 128 + i, err);
  if (t->layout == PTE_STRIDED && !pte_tensor_is_empty(t) && overlaps_itself(t))
    return fail_at(s, work, "writes a view that is expanded or overlaps itself", 128 + i, err);
  if (placed && t->data == NULL && !pte_tensor_is_empty(t))
    return fail_at(s, work, "is bound to nothing", 128 + i, err);
  return PTE_OK;
}

/* Outputs whose places are kept while all other operands are compared with them: the place of an
 * operand costs ten times as much as a comparison. */
#define AT_ONCE 32

typedef struct some_outputs {
  uint32_t first, count;
  span at[AT_ONCE];
} some_outputs;

static pte_status check_inputs(pte_session *s, uint32_t index, const some_outputs *some,
                               bool placed, pte_error *err) {
  const pte_work *work = &s->works[index];
  for (uint32_t i = 0; i < work->call.in_count; i++) {
    const pte_tensor *x = work->call.in[i];
    if (x == NULL) continue;
    span in = span_of(s, x, placed);
    for (uint32_t k = 0; k < some->count; k++) {
      uint32_t o = some->first + k;
      const pte_tensor *out = work->call.out[o];
      if (out == NULL || apart(s, out, some->at[k], x, in)) continue;
      const pte_op_port *port = pte_op_input(work->row, i);
      bool inplace = o == 0 && port != NULL && port->inplace;
      if (!inplace || !coincide(out, some->at[k], x, in))
        return fail_at(s, index, "shares memory with an input", 128 + o, err);
    }
  }
  return PTE_OK;
}

static pte_status check_some(pte_session *s, uint32_t index, uint32_t first, bool copies,
                             bool placed, pte_error *err) {
  const pte_work *work = &s->works[index];
  some_outputs some = {.first = first};
  while (some.count < AT_ONCE && first + some.count < work->call.out_count) {
    uint32_t k = some.count++;
    if (work->call.out[first + k] == NULL) continue;
    PTE_TRY(check_output(s, index, first + k, placed, err));
    some.at[k] = span_of(s, work->call.out[first + k], placed);
  }
  if (copies) return PTE_OK;
  PTE_TRY(check_inputs(s, index, &some, placed, err));
  for (uint32_t other = 0; other + 1 < first + some.count; other++) {
    const pte_tensor *before = work->call.out[other];
    if (before == NULL) continue;
    span at = other < first ? span_of(s, before, placed) : some.at[other - first];
    for (uint32_t k = other < first ? 0 : other - first + 1; k < some.count; k++)
      if (work->call.out[first + k] != NULL &&
          !apart(s, work->call.out[first + k], some.at[k], before, at))
        return fail_at(s, index, "shares memory with another output", 128 + first + k, err);
  }
  return PTE_OK;
}

pte_status pte_check_overlap(pte_session *s, uint32_t index, bool placed, pte_error *err) {
  const pte_work *work = &s->works[index];
  for (uint32_t i = 0; placed && i < work->call.in_count; i++)
    if (work->call.in[i] != NULL && work->call.in[i]->data == NULL &&
        !pte_tensor_is_empty(work->call.in[i]))
      return fail_at(s, index, "is bound to nothing", i, err);
  bool copies =
      work->row->control && work->row->id != PTE_OP_DELEGATE; /* by memmove, or not at all */
  if (placed) s->looks = PTE_LOOKS;                           /* of this instruction; else of all */
  for (uint32_t first = 0; first < work->call.out_count; first += AT_ONCE)
    PTE_TRY(check_some(s, index, first, copies, placed, err));
  return PTE_OK;
}

static pte_status check_dense(pte_session *s, uint32_t index, pte_error *err) {
  const pte_work *work = &s->works[index];
  for (uint32_t i = 0; i < work->call.in_count; i++) {
    const pte_op_port *port = pte_op_input(work->row, i);
    if (work->call.in[i] != NULL && !port->strided && !pte_tensor_is_dense(work->call.in[i]))
      return fail_at(s, index, "must be dense", i, err);
  }
  for (uint32_t i = 0; i < work->call.out_count; i++) {
    const pte_op_port *port = pte_op_output(work->row, i);
    if (work->call.out[i] != NULL && !port->strided && !pte_tensor_is_dense(work->call.out[i]))
      return fail_at(s, index, "must be dense", 128 + i, err);
  }
  return PTE_OK;
}

/* What does not fit its row although the file does: the caller's sizes, or those that the data
 * made.
 */
static pte_status to_blame(const pte_session *s, pte_status status, bool placed) {
  if (status != PTE_BAD_PROGRAM || s->exprs.dim_count == 0) return status;
  return placed ? PTE_BAD_DATA : PTE_BAD_ARGUMENT;
}

/* Sizes that an attribute names are numbers. */
static pte_status check_sizes(pte_session *s, uint32_t index, bool placed, pte_error *err) {
  const pte_work *work = &s->works[index];
  for (uint32_t a = 0; a < work->row->attr_count; a++) {
    const pte_op_attr *attr = &pte_op_attrs[work->row->attrs + a];
    pte_range range;
    if (attr->kind != PTE_ATTR_DIMS) continue;
    memcpy(&range, (const uint8_t *)work->call.attrs + attr->offset, sizeof range);
    for (uint32_t i = 0; i < range.count; i++) {
      uint8_t known = s->exprs.known[s->tables.refs[range.start + i]];
      if (known == PTE_KNOWN) continue;
      const char *text = known == PTE_DIVIDED ? "divides by zero" : "does not fit in 64 bits";
      s->fault = (pte_fault){text, i, 0, 0, 255, attr->name};
      return pte_fault_text(s, index, to_blame(s, PTE_BAD_PROGRAM, placed), err);
    }
  }
  return PTE_OK;
}

static pte_status check_kernel(pte_session *s, uint32_t index, bool placed, pte_needs *out_needs,
                               pte_error *err) {
  const pte_kernel *kernel = s->works[index].row->kernel;
  const pte_call *call = &s->works[index].call;
  pte_status status = pte_shape_check(s->works[index].row, call);
  if (status == PTE_OK && kernel->check != NULL) status = kernel->check(call);
  if (status != PTE_OK) return pte_fault_text(s, index, to_blame(s, status, placed), err);
  if (kernel->needs != NULL) status = kernel->needs(call, out_needs);
  if (status == PTE_OK && pte_align(out_needs->kept, PTE_ARENA_ALIGN, &out_needs->kept))
    return PTE_OK;
  return pte_fault_at(s, index, PTE_LIMIT, "scratch does not fit in memory", 255, err);
}

pte_status pte_check_work(pte_session *s, uint32_t index, bool placed, pte_needs *out_needs,
                          pte_error *err) {
  const pte_op_row *row = s->works[index].row;
  *out_needs = (pte_needs){0, 0};
  pte_fault_clear(s);
  PTE_TRY(pte_check_overlap(s, index, placed, err));
  if (PTE_OP_KEPT(DELEGATE) && row->id == PTE_OP_DELEGATE)
    return pte_delegate_check(s, index, &out_needs->scratch, err);
  if (row->control) return pte_control_check(s, index, err);
  PTE_TRY(check_dense(s, index, err));
  PTE_TRY(check_sizes(s, index, placed, err));
  return check_kernel(s, index, placed, out_needs, err);
}

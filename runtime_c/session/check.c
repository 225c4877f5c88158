#include "session/check.h"

#include <string.h>

#include "core/shape.h"
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

/* Splits a tensor at `period` bytes: the outer axes step by multiples of it, the inner ones stay in
 * less than one. Stores where the inner part begins and ends within the period; false: it does not
 * split so. */
static bool split(const pte_tensor *t, span at, uint64_t anchor, int64_t period, int64_t *out_begin,
                  int64_t *out_end) {
  int64_t size = (int64_t)(pte_element_bits(t->dtype) / 8), low = 0, high = 0;
  for (uint32_t axis = 0; axis < t->rank; axis++) {
    if (t->shape[axis] == 1) continue;
    int64_t stride = t->stride[axis] * size, step = (t->shape[axis] - 1) * stride;
    if (stride % period == 0) continue; /* whole periods: they do not move the inner part */
    if (step < 0) low += step;
    else high += step;
  }
  *out_begin = (int64_t)((at.begin - anchor) % (uint64_t)period);
  *out_end = *out_begin + (high - low) + size;
  return *out_end <= period;
}

/* Whether two strided tensors that share a range of addresses still touch no common byte: columns
 * of one matrix do so. Tries each stride of either as the row length. */
static bool interleave(const pte_tensor *a, span at_a, const pte_tensor *b, span at_b) {
  if (a->layout != PTE_STRIDED || b->layout != PTE_STRIDED) return false;
  if (pte_element_bits(a->dtype) < 8 || pte_element_bits(b->dtype) < 8) return false;
  uint64_t anchor = at_a.begin < at_b.begin ? at_a.begin : at_b.begin;
  for (uint32_t i = 0; i < (uint32_t)a->rank + b->rank; i++) {
    const pte_tensor *t = i < a->rank ? a : b;
    uint32_t axis = i < a->rank ? i : i - a->rank;
    if (t->shape[axis] == 1 || t->stride[axis] == 0) continue;
    int64_t period = t->stride[axis] * (int64_t)(pte_element_bits(t->dtype) / 8);
    if (period < 0) period = -period;
    int64_t a_begin, a_end, b_begin, b_end;
    if (!split(a, at_a, anchor, period, &a_begin, &a_end) ||
        !split(b, at_b, anchor, period, &b_begin, &b_end))
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

/* The same elements in the same places. */
static bool coincide(const pte_tensor *a, span at_a, const pte_tensor *b, span at_b) {
  if (at_a.begin != at_b.begin || at_a.end != at_b.end || a->rank != b->rank) return false;
  if (pte_element_bits(a->dtype) != pte_element_bits(b->dtype) || a->layout != b->layout)
    return false;
  for (uint32_t axis = 0; axis < a->rank; axis++)
    if (a->shape[axis] != b->shape[axis] ||
        (a->shape[axis] > 1 && a->stride[axis] != b->stride[axis]))
      return false;
  return true;
}

static pte_status fail_at(pte_session *s, uint32_t work, const char *text, uint32_t port,
                          pte_error *err) {
  return pte_fault_at(s, work, PTE_BAD_PROGRAM, text, port, err);
}

static uint64_t size_of(int64_t stride) {
  return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
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
  const pte_tensor *t = s->works[work].out[i];
  uint32_t v = pte_session_value_of(s, t);
  if ((s->slots[v].flags | s->slots[s->slots[v].base].flags) & PTE_SLOT_READ_ONLY)
    return fail_at(s, work, "writes memory that is read-only", 128 + i, err);
  if (t->layout == PTE_STRIDED && !pte_tensor_is_empty(t) && overlaps_itself(t))
    return fail_at(s, work, "writes a view that is expanded or overlaps itself", 128 + i, err);
  if (placed && t->data == NULL && !pte_tensor_is_empty(t))
    return fail_at(s, work, "is bound to nothing", 128 + i, err);
  return PTE_OK;
}

pte_status pte_check_overlap(pte_session *s, uint32_t index, bool placed, pte_error *err) {
  const pte_work *work = &s->works[index];
  for (uint32_t i = 0; placed && i < work->in_count; i++)
    if (work->in[i] != NULL && work->in[i]->data == NULL && !pte_tensor_is_empty(work->in[i]))
      return fail_at(s, index, "is bound to nothing", i, err);
  bool copies =
      work->row->control && work->row->id != PTE_OP_DELEGATE; /* by memmove, or not at all */
  if (placed) s->looks = PTE_LOOKS;                           /* of this instruction; else of all */
  for (uint32_t o = 0; o < work->out_count; o++) {
    const pte_tensor *out = work->out[o];
    if (out == NULL) continue;
    PTE_TRY(check_output(s, index, o, placed, err));
    if (copies) continue;
    span at = span_of(s, out, placed);
    for (uint32_t i = 0; i < work->in_count; i++) {
      if (work->in[i] == NULL) continue;
      span in = span_of(s, work->in[i], placed);
      if (apart(s, out, at, work->in[i], in)) continue;
      const pte_op_port *port = pte_op_input(work->row, i);
      bool allowed = o == 0 && port != NULL && port->inplace && coincide(out, at, work->in[i], in);
      if (!allowed) return fail_at(s, index, "shares memory with an input", 128 + o, err);
    }
    for (uint32_t other = 0; other < o; other++)
      if (work->out[other] != NULL &&
          !apart(s, out, at, work->out[other], span_of(s, work->out[other], placed)))
        return fail_at(s, index, "shares memory with another output", 128 + o, err);
  }
  return PTE_OK;
}

static pte_status check_dense(pte_session *s, uint32_t index, pte_error *err) {
  const pte_work *work = &s->works[index];
  for (uint32_t i = 0; i < work->in_count; i++) {
    const pte_op_port *port = pte_op_input(work->row, i);
    if (work->in[i] != NULL && !port->strided && !pte_tensor_is_dense(work->in[i]))
      return fail_at(s, index, "must be dense", i, err);
  }
  for (uint32_t i = 0; i < work->out_count; i++) {
    const pte_op_port *port = pte_op_output(work->row, i);
    if (work->out[i] != NULL && !port->strided && !pte_tensor_is_dense(work->out[i]))
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
    memcpy(&range, (const uint8_t *)work->attrs + attr->offset, sizeof range);
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

static pte_status check_kernel(pte_session *s, uint32_t index, bool placed, uint64_t *out_scratch,
                               pte_error *err) {
  const pte_kernel *kernel = s->works[index].row->kernel;
  pte_call call = pte_session_call(s, index);
  pte_status status = pte_shape_check(s->works[index].row, &call);
  if (status == PTE_OK && kernel->check != NULL) status = kernel->check(&call);
  if (status != PTE_OK) return pte_fault_text(s, index, to_blame(s, status, placed), err);
  if (kernel->scratch != NULL) status = kernel->scratch(&call, out_scratch);
  if (status == PTE_OK) return PTE_OK;
  return pte_fault_at(s, index, PTE_LIMIT, "scratch does not fit in memory", 255, err);
}

pte_status pte_check_work(pte_session *s, uint32_t index, bool placed, uint64_t *out_scratch,
                          pte_error *err) {
  const pte_op_row *row = s->works[index].row;
  *out_scratch = 0;
  s->fault = (pte_fault){"", -1, 0, 0, 255, 0};
  PTE_TRY(pte_check_overlap(s, index, placed, err));
  if (row->id == PTE_OP_DELEGATE) return pte_delegate_check(s, index, out_scratch, err);
  if (row->control) return pte_control_check(s, index, err);
  PTE_TRY(check_dense(s, index, err));
  PTE_TRY(check_sizes(s, index, placed, err));
  return check_kernel(s, index, placed, out_scratch, err);
}

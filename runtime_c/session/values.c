#include "session/values.h"

#include "core/error.h"
#include "session/tensor.h"

/* Of one value, expanded views too, extents of 0 left out: kernels multiply extents, and loop over
 * those beside a 0. */
#define PTE_MAX_ELEMENTS ((int64_t)1 << 40)

PTE_COLD pte_status pte_value_misfit(const pte_session *s, uint32_t v, pte_status status,
                                     const char *text, pte_error *err) {
  return pte_fail(err, status, "value %u: %s", s->first_value + v, text);
}

PTE_COLD static pte_status extent_unknown(const pte_session *s, uint32_t v, uint32_t expr,
                                          pte_error *err) {
  if (err == NULL) return PTE_BAD_ARGUMENT; /* who tries sizes asks for every value */
  if (s->exprs.known[expr] == PTE_OVERFLOW)
    return pte_value_misfit(s, v, PTE_BAD_ARGUMENT, "a size does not fit in 64 bits", err);
  if (s->exprs.known[expr] == PTE_DIVIDED)
    return pte_value_misfit(s, v, PTE_BAD_ARGUMENT, "a size is divided by zero", err);
  uint32_t dim = pte_expr_blame(&s->exprs, expr);
  return pte_fail(
      err, PTE_BAD_ARGUMENT, "dimension %s: bound by no input of the method; give all shapes",
      dim == PTE_NONE ? "?" : pte_program_string(s->program, s->program->dims[dim].name));
}

static pte_status evaluated(const pte_session *s, uint32_t v, uint32_t ref, int64_t *out,
                            pte_error *err) {
  uint32_t expr = s->program->tables.refs[ref];
  if (s->exprs.known[expr] != PTE_KNOWN) return extent_unknown(s, v, expr, err);
  *out = s->exprs.values[expr];
  return PTE_OK;
}

static pte_status set_shape(pte_session *s, uint32_t v, const pte_file_value *file,
                            pte_error *err) {
  pte_tensor *t = &s->tensors[v];
  for (uint32_t axis = 0; axis < t->rank; axis++) {
    PTE_TRY(evaluated(s, v, file->shape + axis, &t->shape[axis], err));
    if (t->shape[axis] < 0)
      return pte_fail(err, PTE_BAD_ARGUMENT, "value %u axis %u: extent %lld is negative",
                      s->first_value + v, axis, t->shape[axis]);
  }
  return PTE_OK;
}

static pte_status set_strides(pte_session *s, uint32_t v, const pte_file_value *file,
                              pte_error *err) {
  pte_tensor *t = &s->tensors[v];
  int64_t dense = 1, elements = 1;
  for (uint32_t axis = t->rank; axis-- > 0;) {
    int64_t extent = t->shape[axis];
    t->stride[axis] = dense;
    if (file->strides != PTE_NONE)
      PTE_TRY(evaluated(s, v, file->strides + axis, &t->stride[axis], err));
    if (__builtin_mul_overflow(elements, extent > 0 ? extent : 1, &elements) ||
        elements > PTE_MAX_ELEMENTS)
      return pte_value_misfit(s, v, PTE_LIMIT, "more than 2^40 elements", err);
    dense *= extent; /* at most `elements` */
  }
  return PTE_OK;
}

static pte_status size_view(pte_session *s, uint32_t v, const pte_file_value *file,
                            pte_error *err) {
  pte_tensor *t = &s->tensors[v];
  pte_slot *slot = &s->slots[v];
  int64_t first = 0, low = 0, high = 0;
  if (file->offset != PTE_NONE) {
    if (s->exprs.known[file->offset] != PTE_KNOWN) return extent_unknown(s, v, file->offset, err);
    first = s->exprs.values[file->offset];
  }
  if (pte_tensor_is_empty(t)) {
    slot->view_elements = 0;
    return PTE_OK;
  }
  unsigned bits = pte_element_bits(t->dtype);
  uint64_t room = s->slots[slot->base].room_bytes, bytes = 0;
  bool inside = t->layout == PTE_STRIDED && pte_tensor_range(t, first, &low, &high) && low >= 0;
  if (bits >= 8) inside = inside && (uint64_t)high < room / (bits / 8);
  else
    inside = inside && first == 0 && pte_tensor_is_dense(t) && pte_storage_bytes(t, &bytes) &&
             bytes <= room;
  if (!inside)
    return pte_fail(err, PTE_BAD_PROGRAM,
                    "value %u: a view of elements %lld to %lld, value %u has %llu bytes",
                    s->first_value + v, low, high, s->first_value + slot->base, room);
  slot->view_elements = first;
  return PTE_OK;
}

static pte_status size_memory(pte_session *s, uint32_t v, bool fix, pte_error *err) {
  const pte_tensor *t = &s->tensors[v];
  pte_slot *slot = &s->slots[v];
  uint64_t bytes = 0;
  if (!pte_storage_bytes(t, &bytes))
    return pte_value_misfit(s, v, PTE_BAD_ARGUMENT, "its rows do not divide into its groups", err);
  if (fix && bytes > slot->room_bytes) slot->room_bytes = bytes;
  if (bytes <= slot->room_bytes) return PTE_OK;
  return pte_fail(err, PTE_LIMIT, "value %u: needs %llu bytes, its memory has %llu",
                  s->first_value + v, bytes, slot->room_bytes);
}

pte_status pte_value_size(pte_session *s, uint32_t v, bool fix, pte_error *err) {
  const pte_file_value *file = pte_session_file_value(s, v);
  PTE_TRY(set_shape(s, v, file, err));
  PTE_TRY(set_strides(s, v, file, err));
  return file->storage == PTE_STORAGE_VIEW ? size_view(s, v, file, err)
                                           : size_memory(s, v, fix, err);
}

void pte_value_place(pte_session *s, uint32_t v) {
  const pte_file_value *file = pte_session_file_value(s, v);
  pte_tensor *t = &s->tensors[v];
  const pte_slot *slot = &s->slots[v];
  switch (file->storage) {
  case PTE_STORAGE_PLANNED: t->data = s->arena + slot->offset_bytes; break;
  case PTE_STORAGE_STATE: t->data = s->state + slot->offset_bytes; break;
  case PTE_STORAGE_CONSTANT:
    t->data =
        (void *)(uintptr_t)pte_program_constant(s->program, file->base); /* READ_ONLY guards it */
    break;
  case PTE_STORAGE_VIEW: {
    unsigned char *start = s->tensors[slot->base].data;
    int64_t bytes = slot->view_elements * (int64_t)(pte_element_bits(t->dtype) / 8);
    t->data = start == NULL ? NULL : start + bytes;
    break;
  }
  default: break;
  }
}

pte_status pte_value_refresh(pte_session *s, const pte_tensor *tensor, pte_error *err) {
  uint32_t v = pte_session_value_of(s, tensor);
  if ((s->slots[v].flags & PTE_SLOT_DYNAMIC) != 0) PTE_TRY(pte_value_size(s, v, false, err));
  pte_value_place(s, v);
  return PTE_OK;
}

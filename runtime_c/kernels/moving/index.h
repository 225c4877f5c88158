/* Indices that come as data: -extent .. extent - 1, negative ones from the end. They are verified
 * whole, in row-major order, before anything moves, so that the fault is the first one whatever the
 * threads do. Whoever owns the data may change it meanwhile (a mapped file, a caller's buffer): so
 * an index is read once where it is used, and one that is not inside any more is 0. */
#ifndef PTE_INDEX_H
#define PTE_INDEX_H

#include "kernels/rows/rows.h"

/* The index at `data`, once verified against `extent`, which is at least 1 then: 0 .. extent - 1.
 */
static inline int64_t pte_index_at(const int64_t *data, int64_t extent) {
  int64_t index = *(const volatile int64_t *)data;
  if (index < 0) index += extent;
  return (uint64_t)index < (uint64_t)extent ? index : 0;
}

/* The same for a count, once verified to be 0 .. most. */
static inline int64_t pte_count_at(const int64_t *data, int64_t most) {
  int64_t count = *(const volatile int64_t *)data;
  return (uint64_t)count <= (uint64_t)most ? count : 0;
}

/* PTE_BAD_DATA: in[port] has an element outside; `position` is its flat place, `expected` the
 * nearest index inside. PTE_CANCELLED: the run is to end. */
static inline pte_status pte_index_verify(const pte_call *call, unsigned port, int64_t extent) {
  const pte_tensor *t = call->in[port];
  int64_t count = pte_tensor_count(t), length = t->rank > 0 ? t->shape[t->rank - 1] : 1;
  int64_t step = t->rank > 0 ? t->stride[t->rank - 1] : 1;
  unsigned outer = t->rank > 0 ? t->rank - 1u : 0;
  pte_coords coords = {{0}};
  pte_pace pace = pte_call_pace(call);
  for (int64_t first = 0; first < count; first += length) {
    const int64_t *row = (const int64_t *)t->data + pte_coords_offset(&coords, t->stride, outer);
    for (int64_t i = 0, end = 0; i < length; i++) {
      int64_t index = row[i * step];
      if (i == end && (end += pte_pace_take(&pace, length - i, 1, 1)) == i) return PTE_CANCELLED;
      if (index < -extent || index >= extent)
        return pte_kernel_fail(call, PTE_BAD_DATA, "index out of range", port, first + i, index,
                               index < 0 ? -extent : extent - 1);
    }
    pte_coords_next(&coords, t->shape, outer);
  }
  return PTE_OK;
}

/* The same for dense tuples of `depth` indices; component k belongs to axis first + k of `shape`.
 */
static inline pte_status pte_index_verify_tuples(const pte_call *call, unsigned port,
                                                 const int64_t *shape, unsigned first) {
  const pte_tensor *t = call->in[port];
  int64_t depth = t->shape[t->rank - 1], count = pte_tensor_count(t);
  const int64_t *index = t->data;
  pte_pace pace = pte_call_pace(call);
  for (int64_t i = 0, end = 0; i < count; i++) {
    if (i == end && (end += pte_pace_take(&pace, count - i, 1, 1)) == i) return PTE_CANCELLED;
    int64_t extent = shape[first + (unsigned)(i % depth)];
    if (index[i] < -extent || index[i] >= extent)
      return pte_kernel_fail(call, PTE_BAD_DATA, "index out of range", port, i, index[i],
                             index[i] < 0 ? -extent : extent - 1);
  }
  return PTE_OK;
}

/* Offset, in elements, of the place that one verified tuple names. */
static inline int64_t pte_index_offset(const int64_t *tuple, unsigned depth, const int64_t *shape,
                                       const int64_t *stride) {
  int64_t offset = 0;
  for (unsigned k = 0; k < depth; k++) offset += pte_index_at(tuple + k, shape[k]) * stride[k];
  return offset;
}

/* For scatters: y = in[0], unless it lies there. PTE_CANCELLED: the run is to end. */
static inline pte_status pte_copy_first(const pte_call *call, pte_pace *pace) {
  const pte_tensor *x = call->in[0], *y = call->out[0];
  unsigned bytes = pte_dtype_bits(y->dtype) / 8;
  if (y->data == x->data) return PTE_OK;
  bool done = pte_row_move(pace, y->data, 1, x->data, 1, pte_tensor_count(y), bytes);
  return done ? PTE_OK : PTE_CANCELLED;
}

#endif

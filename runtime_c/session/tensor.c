#include "session/tensor.h"

#include <string.h>

#include "program/program.h"

bool pte_tensor_is_dense(const pte_tensor *t) {
  if (t->layout != PTE_STRIDED) return true;
  int64_t stride = 1;
  for (uint32_t axis = t->rank; axis-- > 0;) {
    if (t->shape[axis] == 0) return true;
    if (t->shape[axis] != 1 && t->stride[axis] != stride) return false;
    stride *= t->shape[axis];
  }
  return true;
}

bool pte_tensor_is_empty(const pte_tensor *t) {
  for (uint32_t axis = 0; axis < t->rank; axis++)
    if (t->shape[axis] == 0) return true;
  return false;
}

bool pte_tensor_range(const pte_tensor *t, int64_t first, int64_t *out_low, int64_t *out_high) {
  int64_t low = first, high = first;
  for (uint32_t axis = 0; axis < t->rank; axis++) {
    int64_t reach;
    if (__builtin_mul_overflow(t->shape[axis] - 1, t->stride[axis], &reach)) return false;
    if (__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
      return false;
  }
  *out_low = low;
  *out_high = high;
  return true;
}

uint64_t pte_tensor_bytes(const pte_tensor *t) {
  uint64_t bytes = 0;
  return pte_storage_bytes(t, &bytes) ? bytes : 0; /* tensors have passed pte_value_size: it fits */
}

/* `count` elements; both ends step by their own strides. false: the run is to end. */
static bool move_row(pte_pace *pace, unsigned char *dst, const unsigned char *src, int64_t count,
                     int64_t dst_step, int64_t src_step, int64_t size) {
  bool runs = dst_step == size && src_step == size;
  for (int64_t at = 0, piece; at < count; at += piece) {
    if ((piece = pte_pace_take(pace, runs ? count - at : 1, 1, 1)) == 0) return false;
    memmove(dst + at * dst_step, src + at * src_step, (size_t)(piece * size));
  }
  return true;
}

void pte_tensor_move(const pte_tensor *dst, const pte_tensor *src, pte_watch *watch) {
  const int64_t size = (int64_t)(pte_element_bits(dst->dtype) / 8);
  pte_pace pace = pte_pace_of(watch);
  unsigned char *to = dst->data;
  const unsigned char *from = src->data;
  int64_t at[PTE_MAX_RANK] = {0};
  if (pte_tensor_is_empty(dst)) return;
  if (pte_tensor_is_dense(dst) && pte_tensor_is_dense(src)) { /* rank 0 is */
    if (to != from) (void)move_row(&pace, to, from, (int64_t)pte_tensor_bytes(dst), 1, 1, 1);
    return;
  }
  const uint32_t last = dst->rank - 1u;
  while (move_row(&pace, to, from, dst->shape[last], dst->stride[last] * size,
                  src->stride[last] * size, size)) {
    uint32_t axis = last;
    for (; axis > 0 && ++at[axis - 1] == dst->shape[axis - 1]; axis--) {
      at[axis - 1] = 0;
      to -= (dst->shape[axis - 1] - 1) * dst->stride[axis - 1] * size;
      from -= (dst->shape[axis - 1] - 1) * src->stride[axis - 1] * size;
    }
    if (axis == 0) return;
    to += dst->stride[axis - 1] * size;
    from += src->stride[axis - 1] * size;
  }
}

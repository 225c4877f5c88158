/* Copies a tensor: what control flow needs beside kernels. */
#include <string.h>

#include "session/run.h"

uint64_t pte_tensor_bytes(const pte_tensor *t) {
  uint64_t bytes = 0;
  bool fits =
      pte_storage_bytes(t->dtype, t->layout, t->format, t->groups, t->rank, t->shape, &bytes);
  return fits ? bytes : 0; /* tensors have passed pte_value_size: it fits */
}

/* Elements of the last axis; both ends step by their own strides. */
static void move_row(unsigned char *dst, const unsigned char *src, int64_t count, int64_t dst_step,
                     int64_t src_step, size_t size) {
  if (dst_step == (int64_t)size && src_step == (int64_t)size) {
    memmove(dst, src, (size_t)count * size);
    return;
  }
  for (int64_t i = 0; i < count; i++) memmove(dst + i * dst_step, src + i * src_step, size);
}

static void move_strided(const pte_tensor *dst, const pte_tensor *src) {
  const int64_t size = (int64_t)(pte_element_bits(dst->dtype) / 8);
  const uint32_t last = dst->rank - 1u; /* rank 0 is dense */
  int64_t at[PTE_MAX_RANK] = {0};
  for (;;) {
    int64_t to = 0, from = 0;
    for (uint32_t axis = 0; axis < last; axis++) {
      to += at[axis] * dst->stride[axis];
      from += at[axis] * src->stride[axis];
    }
    move_row((unsigned char *)dst->data + to * size, (const unsigned char *)src->data + from * size,
             dst->shape[last], dst->stride[last] * size, src->stride[last] * size, (size_t)size);
    uint32_t axis = last;
    while (axis-- > 0 && ++at[axis] == dst->shape[axis]) at[axis] = 0;
    if (axis == UINT32_MAX) return;
  }
}

void pte_tensor_move(const pte_tensor *dst, const pte_tensor *src) {
  if (dst->data == src->data && pte_tensor_is_dense(dst) && pte_tensor_is_dense(src)) return;
  for (uint32_t axis = 0; axis < dst->rank; axis++)
    if (dst->shape[axis] == 0) return;
  if (pte_tensor_is_dense(dst) && pte_tensor_is_dense(src))
    memmove(dst->data, src->data, (size_t)pte_tensor_bytes(dst));
  else move_strided(dst, src);
}

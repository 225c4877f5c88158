/* nonzero: the coordinates of x's elements that are not zero, row-major: y [rank, n], dense for the
 * n found, which becomes y's extent. -0 is zero, NaN is not; a scalar gives [0, n]. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"

/* The bits that make an element of this type differ from zero: all but the sign of a float that has
 * a negative zero. */
static uint64_t value_bits(unsigned dtype) {
  switch (dtype) {
  case PTE_F64: return UINT64_MAX >> 1;
  case PTE_F32: return UINT32_MAX >> 1;
  case PTE_F16:
  case PTE_BF16: return UINT16_MAX >> 1;
  case PTE_F8E4M3:
  case PTE_F8E5M2: return UINT8_MAX >> 1;
  default: return UINT64_MAX;
  }
}

static uint64_t element_bits(const char *data, int64_t i, unsigned bytes) {
  switch (bytes) {
  case 1: return ((const uint8_t *)data)[i];
  case 2: return ((const uint16_t *)(const void *)data)[i];
  case 4: return ((const uint32_t *)(const void *)data)[i];
  default: return ((const uint64_t *)(const void *)data)[i];
  }
}

static pte_status nonzero_run(const pte_call *call) {
  const pte_tensor *x = call->in[0];
  pte_tensor *y = call->out[0];
  unsigned bytes = pte_dtype_bits(x->dtype) / 8;
  uint64_t mask = value_bits(x->dtype);
  int64_t count = pte_tensor_count(x), found = 0;
  pte_pace pace = pte_call_pace(call);
  for (int64_t i = 0, end = 0; i < count; i++) {
    if (i == end && (end += pte_pace_take(&pace, count - i, 1, 1)) == i) return PTE_CANCELLED;
    found += (element_bits(x->data, i, bytes) & mask) != 0;
  }
  if (found > y->shape[1])
    return pte_kernel_fail(call, PTE_LIMIT, "more elements than the dimension's capacity", 128, -1,
                           found, y->shape[1]);
  y->shape[1] = y->stride[0] = found;
  int64_t *to = y->data, *end = to + found; /* of its first row, should x change meanwhile */
  pte_coords coords = {{0}};
  for (int64_t i = 0, look = 0; i < count && to < end; i++) {
    if (i == look && (look += pte_pace_take(&pace, count - i, 2, 1)) == i) return PTE_CANCELLED;
    if ((element_bits(x->data, i, bytes) & mask) != 0) {
      for (unsigned axis = 0; axis < x->rank; axis++) to[axis * found] = coords.at[axis];
      to++;
    }
    pte_coords_next(&coords, x->shape, x->rank);
  }
  return PTE_OK;
}

const pte_kernel pte_nonzero_kernel = {.run = nonzero_run};

/* The family of pool_f32: sums and maxima of the taps of a window. */
#ifndef PTE_POOL_F32_H
#define PTE_POOL_F32_H

#include <stdint.h>

#include "kernels/variant.h"

typedef struct pte_pool_f32 {
  /* y[c] = y[c] + x[offset[t] + c], or the larger of the two (NaN where either is), over t < taps
   * in order, c < count; nothing aliases y */
  void (*sum)(int64_t taps, const int64_t *offset, int64_t count, const float *x, float *y);
  void (*larger)(int64_t taps, const int64_t *offset, int64_t count, const float *x, float *y);
} pte_pool_f32;

PTE_FAMILY(pool_f32)

#endif

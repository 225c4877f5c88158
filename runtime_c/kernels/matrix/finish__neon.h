/* kernels/matrix/finish.h for NEON: a tile of sums in registers. */
#ifndef PTE_FINISH_NEON_H
#define PTE_FINISH_NEON_H

#include <arm_neon.h>

#include "kernels/variants.h"

/* sum[m * quads + q]: four elements of row `row` + m, from `column` + 4 q on. Constants in each
 * caller but for `column`: what there is to do is asked once a tile, not once a register. */
static inline __attribute__((always_inline)) void pte_finish_neon(const pte_finish_f32 *f,
                                                                  size_t row, const size_t rows,
                                                                  const size_t quads, size_t column,
                                                                  float32x4_t *sum) {
  const float32x4_t low = vdupq_n_f32(f->low), high = vdupq_n_f32(f->high);
  for (unsigned i = 0; i < PTE_ADDENDS; i++) {
    if (f->add[i] == NULL) continue;
    const size_t stride = f->add_stride[i];
    const float *add = f->add[i] + row * stride + column;
#pragma GCC unroll 8
    for (size_t m = 0; m < rows; m++, add += stride)
#pragma GCC unroll 4
      for (size_t q = 0; q < quads; q++)
        sum[m * quads + q] = vaddq_f32(sum[m * quads + q], vld1q_f32(add + 4 * q));
  }
  if (f->at_least)
#pragma GCC unroll 24
    for (size_t i = 0; i < rows * quads; i++)
      sum[i] = vbslq_f32(vcleq_f32(sum[i], low), low, sum[i]);
  if (f->at_most)
#pragma GCC unroll 24
    for (size_t i = 0; i < rows * quads; i++)
      sum[i] = vbslq_f32(vcgeq_f32(sum[i], high), high, sum[i]);
}

#endif

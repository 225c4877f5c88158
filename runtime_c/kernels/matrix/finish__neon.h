/* kernels/matrix/finish.h for NEON: four elements of a row. */
#ifndef PTE_FINISH_NEON_H
#define PTE_FINISH_NEON_H

#include <arm_neon.h>

#include "kernels/variants.h"

static inline __attribute__((always_inline)) float32x4_t pte_finish_neon(const pte_finish_f32 *f,
                                                                         size_t row, size_t column,
                                                                         float32x4_t y) {
  for (unsigned i = 0; i < PTE_ADDENDS; i++)
    if (f->add[i] != NULL) y = vaddq_f32(y, vld1q_f32(f->add[i] + row * f->add_stride[i] + column));
  float32x4_t low = vdupq_n_f32(f->low), high = vdupq_n_f32(f->high);
  if (f->at_least) y = vbslq_f32(vcleq_f32(y, low), low, y);
  if (f->at_most) y = vbslq_f32(vcgeq_f32(y, high), high, y);
  return y;
}

#endif

/* RESCALE (rescale.h) of sixteen columns on NEON. */
#ifndef PTE_RESCALE_NEON_H
#define PTE_RESCALE_NEON_H

#include <arm_neon.h>

#include "kernels/requantize/rescale.h"

enum { FOURS = PTE_PANEL / 4 };

/* The doubling product's high half is floor(v * multiplier / 2^31); SRSHL rounds half up. Columns
 * that are not `narrow` are as pte_rescale_lift leaves them. */
INLINE int32x4_t four_rescaled(const bool narrow, int32x4_t sum, const pte_rescale_columns *c,
                               size_t n) {
  int32x4_t down = vld1q_s32(c->down + n), one = vdupq_n_s32(1);
  if (!narrow) {
    sum = vqshlq_s32(sum, vmaxq_s32(vsubq_s32(one, down), vdupq_n_s32(0)));
    down = vmaxq_s32(down, one);
  }
  int32x4_t high = vqdmulhq_s32(sum, vld1q_s32(c->multiplier + n));
  return vaddq_s32(vrshlq_s32(high, vsubq_s32(vdupq_n_s32(-1), down)), vdupq_n_s32(c->zero));
}

INLINE void bytes_store(int8_t *y, size_t lanes, int8x16_t bytes) {
  int8_t some[PTE_PANEL];
  if (lanes == PTE_PANEL) {
    vst1q_s8(y, bytes);
    return;
  }
  vst1q_s8(some, bytes);
  memcpy(y, some, lanes);
}

INLINE void sums_store(const bool narrow, const int32x4_t *sum, const pte_rescale_columns *c,
                       size_t lanes, int8_t *y) {
  int32x4_t four[FOURS];
#pragma GCC unroll 4
  for (size_t f = 0; f < FOURS; f++) four[f] = four_rescaled(narrow, sum[f], c, 4 * f);
  int16x8_t low = vcombine_s16(vqmovn_s32(four[0]), vqmovn_s32(four[1]));
  int16x8_t high = vcombine_s16(vqmovn_s32(four[2]), vqmovn_s32(four[3]));
  int8x16_t bytes = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
  bytes = vmaxq_s8(bytes, vdupq_n_s8((int8_t)c->low));
  bytes_store(y, lanes, vminq_s8(bytes, vdupq_n_s8((int8_t)c->high)));
}

#endif

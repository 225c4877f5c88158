/* RESCALE (rescale.h) of sixteen narrow columns on NEON. */
#ifndef PTE_RESCALE_NEON_H
#define PTE_RESCALE_NEON_H

#include <arm_neon.h>

#include "kernels/matrix/rescale.h"

enum { FOURS = PTE_PANEL / 4 };

/* The doubling product's high half is floor(v * multiplier / 2^31); SRSHL rounds half up. */
INLINE int32x4_t four_rescaled(int32x4_t sum, const pte_rescale_columns *c, size_t n) {
  int32x4_t high = vqdmulhq_s32(sum, vld1q_s32(c->multiplier + n));
  int32x4_t down = vsubq_s32(vdupq_n_s32(-1), vld1q_s32(c->down + n));
  return vaddq_s32(vrshlq_s32(high, down), vdupq_n_s32(c->zero));
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

INLINE void sums_store(const int32x4_t *sum, const pte_rescale_columns *c, size_t lanes,
                       int8_t *y) {
  int16x8_t low = vcombine_s16(vqmovn_s32(four_rescaled(sum[0], c, 0)),
                               vqmovn_s32(four_rescaled(sum[1], c, 4)));
  int16x8_t high = vcombine_s16(vqmovn_s32(four_rescaled(sum[2], c, 8)),
                                vqmovn_s32(four_rescaled(sum[3], c, 12)));
  int8x16_t bytes = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
  bytes = vmaxq_s8(bytes, vdupq_n_s8((int8_t)c->low));
  bytes_store(y, lanes, vminq_s8(bytes, vdupq_n_s8((int8_t)c->high)));
}

#endif

/* RESCALE (rescale.h) of sixteen columns on NEON. */
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

/* The same of any columns, as pte_rescale_lift leaves those that are not narrow. */
INLINE int32x4_t four_lifted(int32x4_t sum, const pte_rescale_columns *c, size_t n) {
  int32x4_t one = vdupq_n_s32(1), down = vld1q_s32(c->down + n);
  int32x4_t up = vmaxq_s32(vsubq_s32(one, down), vdupq_n_s32(0));
  int32x4_t high = vqdmulhq_s32(vqshlq_s32(sum, up), vld1q_s32(c->multiplier + n));
  high = vrshlq_s32(high, vsubq_s32(vdupq_n_s32(-1), vmaxq_s32(down, one)));
  return vaddq_s32(high, vdupq_n_s32(c->zero));
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

INLINE void fours_store(const int32x4_t *y, const pte_rescale_columns *c, size_t lanes,
                        int8_t *to) {
  int16x8_t low = vcombine_s16(vqmovn_s32(y[0]), vqmovn_s32(y[1]));
  int16x8_t high = vcombine_s16(vqmovn_s32(y[2]), vqmovn_s32(y[3]));
  int8x16_t bytes = vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
  bytes = vmaxq_s8(bytes, vdupq_n_s8((int8_t)c->low));
  bytes_store(to, lanes, vminq_s8(bytes, vdupq_n_s8((int8_t)c->high)));
}

INLINE void sums_store(const int32x4_t *sum, const pte_rescale_columns *c, size_t lanes,
                       int8_t *y) {
  int32x4_t four[FOURS];
#pragma GCC unroll 4
  for (size_t f = 0; f < FOURS; f++) four[f] = four_rescaled(sum[f], c, 4 * f);
  fours_store(four, c, lanes, y);
}

INLINE void lifted_store(const int32x4_t *sum, const pte_rescale_columns *c, size_t lanes,
                         int8_t *y) {
  int32x4_t four[FOURS];
#pragma GCC unroll 4
  for (size_t f = 0; f < FOURS; f++) four[f] = four_lifted(sum[f], c, 4 * f);
  fours_store(four, c, lanes, y);
}

#endif

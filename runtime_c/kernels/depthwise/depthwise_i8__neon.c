/* Depthwise sums of int8 on NEON: 16-bit products, each exact, are added to 32-bit lanes. */
#if PTE_HAVE_NEON
#include "kernels/depthwise/depthwise_i8_taps.h"
#include "kernels/requantize/rescale__neon.h"

INLINE int8x16_t bytes_load(const int8_t *x, size_t lanes) {
  if (lanes == PTE_PANEL) return vld1q_s8(x);
  int8_t some[PTE_PANEL] = {0};
  memcpy(some, x, lanes);
  return vld1q_s8(some);
}

/* Two taps side by side, whose weights are, too. */
INLINE void lanes_taps(const pte_rescale_columns *c, size_t pairs, const int16_t *weight,
                       const int8_t *const *tap, size_t at, size_t lanes, int8_t *y) {
  int32x4_t sum[FOURS];
#pragma GCC unroll 4
  for (size_t f = 0; f < FOURS; f++) sum[f] = vld1q_s32(c->bias + 4 * f);
  for (size_t p = 0; p < pairs; p++, weight += 2 * PTE_PANEL) {
    const int16x8x2_t low = vld2q_s16(weight), high = vld2q_s16(weight + PTE_PANEL);
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
      const int8x16_t x = bytes_load(tap[2 * p + i] + at, lanes);
      const int16x8_t a = vmovl_s8(vget_low_s8(x)), b = vmovl_high_s8(x);
      sum[0] = vmlal_s16(sum[0], vget_low_s16(a), vget_low_s16(low.val[i]));
      sum[1] = vmlal_high_s16(sum[1], a, low.val[i]);
      sum[2] = vmlal_s16(sum[2], vget_low_s16(b), vget_low_s16(high.val[i]));
      sum[3] = vmlal_high_s16(sum[3], b, high.val[i]);
    }
  }
  if (c->narrow) sums_store(true, sum, c, lanes, y);
  else sums_store(false, sum, c, lanes, y);
}

INLINE void sixteen(const pte_rescale_columns *c, size_t pairs, const int16_t *weight,
                    const int8_t *const *tap, size_t at, size_t lanes, int8_t *y) {
  if (lanes == PTE_PANEL) lanes_taps(c, pairs, weight, tap, at, PTE_PANEL, y);
  else lanes_taps(c, pairs, weight, tap, at, lanes, y);
}
PTE_TAPS_I8(sixteen)

const pte_depthwise_i8 pte_depthwise_i8__neon = {.lay = lay, .taps = taps};
#endif

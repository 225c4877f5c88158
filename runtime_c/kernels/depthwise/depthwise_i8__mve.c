/* Depthwise sums of int8 on the vectors of Cortex-M (MVE). */
#if PTE_HAVE_MVE
#include <arm_mve.h>

#include "kernels/depthwise/depthwise_i8_taps.h"

enum { PAIR = 8 }; /* channels of a vector of 16 bits */

/* Eight channels at a time: sums of the even ones, and of the odd ones. */
static void sixteen_mve(const pte_rescale_columns *columns, size_t pairs, const int16_t *weight,
                        const int8_t *const *tap, size_t at, size_t lanes, int8_t *y) {
  int32_t sum[PTE_PANEL];
  for (size_t c = 0; c < lanes; c += PAIR) {
    const mve_pred16_t here = vctp16q((uint32_t)(lanes - c));
    int32x4x2_t both = vld2q_s32(columns->bias + c);
    for (size_t p = 0; p < pairs; p++) {
      const int16x8x2_t w = vld2q_s16(weight + 2 * (PTE_PANEL * p + c));
#pragma GCC unroll 2
      for (size_t i = 0; i < 2; i++) {
        const int16x8_t x = vldrbq_z_s16(tap[2 * p + i] + at + c, here);
        both.val[0] = vaddq_s32(both.val[0], vmullbq_int_s16(x, w.val[i]));
        both.val[1] = vaddq_s32(both.val[1], vmulltq_int_s16(x, w.val[i]));
      }
    }
    vst2q_s32(sum + c, both);
  }
  pte_rescale_row(sum, columns, lanes, y);
}

PTE_TAPS_I8(sixteen_mve)

const pte_depthwise_i8 pte_depthwise_i8__mve = {.lay = lay, .taps = taps};
#else
typedef int pte_depthwise_i8__mve_is_absent;
#endif

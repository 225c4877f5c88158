/* Codes of int8 on NEON, sixteen at a time. */
#if PTE_HAVE_NEON
#include "kernels/pointwise/codes_i8.h"
#include "kernels/requantize/rescale__neon.h"

enum { LANES = 16 };

/* The doubling product takes one bit less. */
INLINE int32x4_t addend(int16x4_t codes, const pte_addend_i8 *s) {
  int32x4_t d = vsubq_s32(vmovl_s16(codes), vdupq_n_s32(s->zero));
  int32x4_t high = vqdmulhq_s32(vshlq_n_s32(d, PTE_ADDEND_LEFT - 1), vdupq_n_s32(s->multiplier));
  return vshlq_s32(vaddq_s32(high, vdupq_n_s32(s->add)), vdupq_n_s32(-s->down));
}

static void add(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k, int8_t *y) {
  size_t i = 0;
  for (; i + LANES <= count; i += LANES) {
    int32x4_t sum[4];
#pragma GCC unroll 2
    for (size_t h = 0; h < 2; h++) {
      int16x8_t left = vmovl_s8(vld1_s8(a + i + 8 * h)), right = vmovl_s8(vld1_s8(b + i + 8 * h));
      sum[2 * h] = vaddq_s32(addend(vget_low_s16(left), &k->a), addend(vget_low_s16(right), &k->b));
      sum[2 * h + 1] =
          vaddq_s32(addend(vget_high_s16(left), &k->a), addend(vget_high_s16(right), &k->b));
    }
    sums_store(true, sum, &k->columns, PTE_PANEL, y + i);
  }
  pte_codes_end(add, LANES, count - i, a + i, b + i, k, y + i);
}

PTE_CODES_LARGER(larger, int8x16_t, vld1q_s8, vst1q_s8, vmaxq_s8)

const pte_codes_i8 pte_codes_i8__neon = {.add = PTE_WITH(ADD_I8, add), .larger = larger};
#else
typedef int pte_codes_i8__neon_is_absent;
#endif

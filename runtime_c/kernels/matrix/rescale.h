/* TOSA's RESCALE (scale32, SINGLE_ROUND) of int32 sums to int8: what schema/meaning/int8.py says.
 *
 *     y = clamp(((v * multiplier + 2^(shift - 1)) >> shift) + zero, low, high)
 *
 * The product is exact in 64 bits; the shift rounds half up, towards positive infinity. */
#ifndef PTE_RESCALE_H
#define PTE_RESCALE_H

#include <stdint.h>

enum { PTE_SHIFT_LEAST = 1, PTE_SHIFT_MOST = 62 };

/* The result before the zero point; shift in PTE_SHIFT_LEAST .. PTE_SHIFT_MOST. */
static inline int64_t pte_scaled(int32_t v, int32_t multiplier, int32_t shift) {
  int64_t product = (int64_t)v * multiplier; /* at most 2^62 in magnitude: there is room to round */
  return (product + ((int64_t)1 << (shift - 1))) >> shift;
}

static inline int8_t pte_rescale(int32_t v, int32_t multiplier, int32_t shift, int32_t zero,
                                 int32_t low, int32_t high) {
  int64_t y = pte_scaled(v, multiplier, shift) + zero;
  return (int8_t)(y < low ? low : y > high ? high : y);
}

/* a + b, modulo 2^32. */
static inline int32_t pte_wrapping_add(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}

#endif

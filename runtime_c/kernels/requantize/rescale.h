/* TOSA's RESCALE (scale32, SINGLE_ROUND) of int32 sums to int8: what schema/meaning/int8.py says.
 *
 *     y = clamp(((v * multiplier + 2^(shift - 1)) >> shift) + zero, low, high)
 *
 * The product is exact in 64 bits; the shift rounds half up, towards positive infinity. */
#ifndef PTE_RESCALE_H
#define PTE_RESCALE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/panels.h"

#define INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define PTE_WHOLE_LINES _Alignas(64) /* what a vector of 64 bytes reads in one piece */
#else
#define PTE_WHOLE_LINES
#endif

/* What follows the sums of 16 columns; pte_rescale_complete fills it
 * and says what `narrow` is.
 */
typedef struct pte_rescale_columns {
  PTE_WHOLE_LINES int32_t bias[PTE_PANEL];
  int32_t multiplier[PTE_PANEL];
  int32_t down[PTE_PANEL], add[PTE_PANEL]; /* shift - 32; of narrow ones, what rounds */
  int32_t zero, low, high;
  bool narrow;
} pte_rescale_columns;

enum {
  PTE_SHIFT_LEAST = 1,
  PTE_SHIFT_MOST = 62,
  PTE_SHIFT_NARROW = 33, /* these and what lies between: 32-bit lanes are enough */
  PTE_SHIFT_NARROW_MOST = 55
};

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

/* Shifts of a panel, those behind `count` narrow ones. The file that they lie in may change after
 * they were checked: read once, and within the limits whatever they say. */
static inline void pte_shifts_read(const int8_t *from, size_t count, int8_t out[PTE_PANEL]) {
  if (count != PTE_PANEL) memset(out, PTE_SHIFT_NARROW, PTE_PANEL);
  memcpy(out, from, count);
  for (size_t n = 0; n < PTE_PANEL; n++) {
    int8_t least = out[n] < PTE_SHIFT_LEAST ? PTE_SHIFT_LEAST : out[n];
    out[n] = least > PTE_SHIFT_MOST ? PTE_SHIFT_MOST : least;
  }
}

/* Completes columns of which bias, multiplier, zero, low and high are there; `shifts` of each.
 *
 * Narrow: with h = floor(v * multiplier / 2^32) and 33 <= shift <= 55
 *
 *     (v * multiplier + 2^(shift - 1)) >> shift = (h + 2^(shift - 33)) >> (shift - 32)
 *
 * since 2^(shift - 1) is a multiple of 2^32 and what h leaves out is below 2^32. The zero point
 * joins the same addition as zero << (shift - 32); |h| <= 2^30 and |add| <= 2^30 - 2^22 stay within
 * 32 bits. A factor below 1/4 has such a shift. The lowest multiplier is none: NEON's product is
 * doubled. */
static inline void pte_rescale_complete(pte_rescale_columns *c, const int8_t *shifts) {
  uint32_t wide = 0;
  for (size_t n = 0; n < PTE_PANEL; n++) {
    const uint32_t shift = (uint32_t)shifts[n], over = shift - PTE_SHIFT_NARROW;
    const uint32_t most = PTE_SHIFT_NARROW_MOST - PTE_SHIFT_NARROW;
    wide |= (over > most) | (c->multiplier[n] == INT32_MIN);
    c->add[n] = (int32_t)((1u << (over & 31)) * (2u * (uint32_t)c->zero + 1u));
    c->down[n] = (int32_t)(shift - 32);
  }
  c->narrow = wide == 0;
}

/* Columns that are not narrow, after that, as lanes of 32 bits take them, too, where the zero point
 * joins behind the shift: the results are the same.
 *
 * A small multiplier is doubled as the shift is, the lowest one halved. Then a shift below 33 has a
 * multiplier of 2^30 or more: v << (33 - shift), saturated, has the result of v at a shift of 33,
 * as what saturates is beyond all codes; so is every v but 0 at the least shift that is left. */
static inline void pte_rescale_lift(pte_rescale_columns *c) {
  enum { LEAST = 12 }; /* a factor of 2^18 */
  for (size_t n = 0; n < PTE_PANEL; n++) {
    int32_t m = c->multiplier[n], shift = c->down[n] + 32;
    for (; shift < PTE_SHIFT_NARROW && m < 1 << 30 && m > -(1 << 30); m *= 2) shift++;
    if (m == INT32_MIN) m /= 2, shift--;
    shift = shift < LEAST ? LEAST : shift;
    c->multiplier[n] = m, c->down[n] = shift - 32;
  }
}

/* a + b, modulo 2^32. */
static inline int32_t pte_wrapping_add(int32_t a, int32_t b) {
  return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* y[n] of sums that began with the bias, any columns; n < lanes. */
static inline void pte_rescale_row(const int32_t *sum, const pte_rescale_columns *c, size_t lanes,
                                   int8_t *y) {
  for (size_t n = 0; n < lanes; n++)
    y[n] = pte_rescale(sum[n], c->multiplier[n], c->down[n] + 32, c->zero, c->low, c->high);
}

#endif

/* RESCALE of int32 sums to int16, as rescale.h to int8, and where depthwise weights of int16 lie.
 */
#ifndef PTE_RESCALE_I16_H
#define PTE_RESCALE_I16_H

#include "kernels/requantize/rescale.h"

/* Completes columns of which bias, multiplier, zero, low and high are there; `shifts` of each.
 *
 * As pte_rescale_complete and pte_rescale_lift, but that the zero point, of 16 bits, joins behind
 * the shift of all columns: y = clamp(((h + 2^(down - 1)) >> down) + zero, low, high), where h is
 * of the sum << add, saturated. Narrow: `add` is 0 everywhere. */
void pte_rescale_i16_complete(pte_rescale_columns *c, const int8_t *shifts);

/* A sum that began with the bias, of any column n. */
static inline int16_t pte_rescale_i16(int32_t sum, const pte_rescale_columns *c, size_t n) {
  const int64_t v = pte_scaled(sum, c->multiplier[n], 32 + c->down[n] - c->add[n]) + c->zero;
  return (int16_t)(v < c->low ? c->low : v > c->high ? c->high : v);
}

/* Where the weight of tap k and channel c of a block of `block` channels lies. Without pairs: as 16
 * channels of a tap have it. Pairs of taps are as two vectors of `block` words leave them that are
 * unpacked in lanes of 16 bytes, the low halves of all lanes first. */
INLINE size_t pte_tap_word(bool pairs, size_t block, size_t k, size_t c) {
  const size_t lane = c / 8, half = c / 4 % 2;
  if (!pairs) return k * block + c;
  return k / 2 * 2 * block + half * block + lane * 8 + c % 4 * 2 + k % 2;
}

#endif

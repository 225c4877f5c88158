/* What the encoders share: a block's absmax, and numbers to codes of an element type.
 *
 * Every function is branch-free in the element, so that compilers vectorise its loop. Rounding is
 * to nearest, ties to even, after clamping to the largest value (quantize/encode/elements.py). */
#ifndef PTE_CODEC_BLOCK_H
#define PTE_CODEC_BLOCK_H

#include <stdbool.h>

#include "codec/codec.h"
#include "core/half.h"

enum { PTE_BITS_INFINITE = 0x7f800000, PTE_F16_INFINITE = 0x7c00 };

/* The largest magnitude, as bits: PTE_BITS_INFINITE and more where an element is not finite. */
static inline uint32_t pte_block_absmax(const float *w, size_t size) {
  uint32_t most = 0;
  for (size_t i = 0; i < size; i++) {
    uint32_t magnitude = pte_bits(w[i]) & 0x7fffffffu;
    most = most > magnitude ? most : magnitude;
  }
  return most;
}

/* Whether the first of the elements with the largest magnitude is above zero. */
static inline bool pte_block_extreme_above(const float *w, size_t size, uint32_t absmax_bits) {
  size_t i = 0;
  while (i < size && (pte_bits(w[i]) & 0x7fffffffu) != absmax_bits) i++;
  return i < size && w[i] > 0;
}

/* absmax / most, at least the smallest float; 1 for a block of zeros. */
static inline float pte_block_step(uint32_t absmax_bits, float most) {
  float step = pte_float(absmax_bits) / most;
  return absmax_bits == 0 ? 1.0f : step > 0 ? step : pte_float(1);
}

/* 2^(byte - 127), exact; byte < 255. */
static inline float pte_step_e8m0(uint32_t byte) {
  return pte_float(byte == 0 ? 0x00400000u : byte << 23);
}

/* least .. most in two's complement in the low `bits` bits: adding 3 * 2^22 rounds and leaves the
 * integer at the end of the sum's bits. */
static inline uint8_t pte_code_range(float x, float least, float most, unsigned bits) {
  float low = pte_pick(pte_mask(x < least), least, x);
  float kept = pte_pick(pte_mask(low > most), most, low);
  return (uint8_t)(pte_bits(kept + 12582912.0f) & ((1u << bits) - 1));
}

/* -most .. most; most = 2^(bits - 1) - 1. */
static inline uint8_t pte_code_int(float x, float most, unsigned bits) {
  return pte_code_range(x, -most, most, bits);
}

/* A float of `exponent` and `mantissa` bits without infinities; most is its largest value. Where
 * the result is normal, half a step is added to the bits and a carry raises the exponent; below,
 * adding the power of two whose last bit is the smallest step rounds. */
static inline uint8_t pte_code_float(float x, float most, unsigned exponent, unsigned mantissa) {
  const uint32_t bias = (1u << (exponent - 1)) - 1, away = 23 - mantissa;
  const float magic = pte_float((127 + 23 + 1 - bias - mantissa) << 23);
  float size = pte_abs(x), kept = size > most ? most : size;
  uint32_t bits = pte_bits(kept), sign = pte_bits(x) >> 31 << (exponent + mantissa);
  uint32_t normal =
      ((bits + (1u << (away - 1)) - 1 + (bits >> away & 1)) >> away) - ((127 - bias) << mantissa);
  uint32_t small = pte_bits(kept + magic) - pte_bits(magic);
  uint32_t is_small = pte_mask(bits < (127 + 1 - bias) << 23);
  return (uint8_t)((small & is_small) | (normal & ~is_small) | sign);
}

#endif

/* OCP MX v1.0: blocks of 32 with a power of two as scale, its byte of E8M0 by one of two rules. */
#ifndef PTE_CODEC_MX_H
#define PTE_CODEC_MX_H

#include "codec/block.h"

enum { PTE_MX_BLOCK = 32 };

/* floor(log2(absmax)) - emax, section 6.3 of the specification; 127 for a block of zeros. A
 * subnormal absmax gives 0 by any exponent. */
static inline uint32_t pte_mx_floor(uint32_t absmax_bits, uint32_t emax) {
  uint32_t exponent = absmax_bits >> 23;
  return absmax_bits == 0 ? 127 : exponent > emax ? exponent - emax : 0;
}

/* ceil(log2(absmax / most)): nothing is clipped. */
static inline uint32_t pte_mx_rceil(uint32_t absmax_bits, double most) {
  uint64_t ratio = pte_bits_f64((double)pte_float(absmax_bits) / most);
  int32_t byte = (int32_t)(ratio >> 52) - 1023 + 127 + ((ratio << 12) != 0);
  return absmax_bits == 0 ? 127 : byte < 0 ? 0 : (uint32_t)byte;
}

/* Codes of w / step; the reciprocal of a power of two is exact. */
PTE_ALWAYS void pte_mx_nearest(const float *w, size_t size, float step, uint8_t *codes, float most,
                               unsigned exponent, unsigned mantissa) {
  float by = 1 / step;
  for (size_t i = 0; i < size; i++) codes[i] = pte_code_float(w[i] * by, most, exponent, mantissa);
}

/* Encodes blocks to floats of `exponent` and `mantissa` bits; `byte_of` gives the scale of a block
 * with absmax `bits`. Everything but the data is constant where it is called. */
PTE_ALWAYS int pte_mx_encode(const float *w, size_t count, size_t size, uint8_t *codes,
                             uint8_t *scales, uint32_t (*byte_of)(uint32_t bits), float most,
                             unsigned exponent, unsigned mantissa) {
  for (size_t b = 0; b < count; b++, w += size, codes += size) {
    uint32_t bits = pte_block_absmax(w, size), byte = byte_of(bits);
    if (bits >= PTE_BITS_INFINITE) return 1;
    scales[b] = (uint8_t)byte;
    pte_mx_nearest(w, size, pte_step_e8m0(byte), codes, most, exponent, mantissa);
  }
  return 0;
}

/* The codec of floats up to `MOST` (a double) of so many bits; `BYTE` gives a block's scale of its
 * absmax, `bits`. */
#define PTE_MX_CODEC(NAME, BYTE, MOST, EXPONENT, MANTISSA)                                         \
  static uint32_t byte_of(uint32_t bits) { return BYTE; }                                          \
  static void nearest(const float *w, size_t size, float step, uint8_t *codes) {                   \
    pte_mx_nearest(w, size, step, codes, (float)(MOST), EXPONENT, MANTISSA);                       \
  }                                                                                                \
  static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {     \
    return pte_mx_encode(w, count, size, codes, scales, byte_of, (float)(MOST), EXPONENT,          \
                         MANTISSA);                                                                \
  }                                                                                                \
  const pte_codec pte_codec_##NAME = {PTE_MX_BLOCK, 1, encode, nearest, NULL, NULL};

#endif

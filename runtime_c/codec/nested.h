/* Scales in E4M3, times one in f32 that others share: what a block's absmax needs, at least the
 * smallest; 1 for a block of zeros. */
#ifndef PTE_CODEC_NESTED_H
#define PTE_CODEC_NESTED_H

#include "codec/block.h"

/* What a code of E4M3, not NaN and not below zero, stands for. */
static inline float pte_e4m3_value(uint8_t code) {
  float below = (float)code * 0x1p-9f; /* subnormal: steps of 2^-9 */
  return code < 8 ? below : pte_float(((uint32_t)code << 20) + ((127u - 7u) << 23));
}

/* The step of a block: E4M3 times `outer`. */
static inline float pte_step_nested(uint32_t absmax_bits, float most, float outer) {
  uint8_t code = pte_code_float(pte_float(absmax_bits) / most / outer, 448.0f, 4, 3);
  return absmax_bits == 0 ? outer : pte_e4m3_value(code > 0 ? code : 1) * outer;
}

#define PTE_NESTED_CODEC(NAME, BLOCK, MOST, NEAREST)                                               \
  static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {     \
    float *scale = scales;                                                                         \
    for (size_t b = 0; b < count; b++, w += size, codes += size) {                                 \
      uint32_t bits = pte_block_absmax(w, size);                                                   \
      if (bits >= PTE_BITS_INFINITE) return 1;                                                     \
      scale[b] = pte_step_nested(bits, MOST, scale[b]);                                            \
      NEAREST(w, size, scale[b], codes);                                                           \
    }                                                                                              \
    return 0;                                                                                      \
  }                                                                                                \
  const pte_codec pte_codec_##NAME = {BLOCK, sizeof(float), encode, NEAREST, NULL, NULL};

#endif

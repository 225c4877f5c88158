/* FP8 with an f32 scale, absmax / the largest value, a block of any size. */
#ifndef PTE_CODEC_FP8_H
#define PTE_CODEC_FP8_H

#include "codec/block.h"

#define PTE_FP8_CODEC(NAME, MOST, EXPONENT, MANTISSA)                                              \
  static void nearest(const float *w, size_t size, float step, uint8_t *codes) {                   \
    for (size_t i = 0; i < size; i++)                                                              \
      codes[i] = pte_code_float(w[i] / step, MOST, EXPONENT, MANTISSA);                            \
  }                                                                                                \
  static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {     \
    float *scale = scales;                                                                         \
    for (size_t b = 0; b < count; b++, w += size, codes += size) {                                 \
      uint32_t bits = pte_block_absmax(w, size);                                                   \
      if (bits >= PTE_BITS_INFINITE) return 1;                                                     \
      scale[b] = pte_block_step(bits, MOST);                                                       \
      nearest(w, size, scale[b], codes);                                                           \
    }                                                                                              \
    return 0;                                                                                      \
  }                                                                                                \
  const pte_codec pte_codec_##NAME = {0, sizeof(float), encode, nearest, NULL, NULL};

#endif

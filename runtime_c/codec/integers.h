/* Integers of few bits with an f16 scale a block of any size; the codes are those of the rounded
 * scale.
 *
 *     signed     the element of the largest magnitude has the lowest code, so the scale has the
 *                sign that it has not
 *     symmetric  absmax has the largest code
 *     zero       the ends of the block and 0 have codes; that of 0 is its zero point */
#ifndef PTE_CODEC_INTEGERS_H
#define PTE_CODEC_INTEGERS_H

#include "codec/block.h"

/* The f16 next to `step`, at least the smallest; false: there is none. */
static inline bool pte_step_f16(float step, uint16_t *out) {
  uint16_t half = pte_f16_from_f32(step);
  *out = half > 0 ? half : 1;
  return half < PTE_F16_INFINITE;
}

PTE_ALWAYS void pte_nearest_range(const float *w, size_t size, float step, float least, float most,
                                  unsigned bits, uint8_t *codes) {
  for (size_t i = 0; i < size; i++) codes[i] = pte_code_range(w[i] / step, least, most, bits);
}

/* `turns`: signed, else symmetric. */
PTE_ALWAYS int pte_integers_encode(const float *w, size_t count, size_t size, uint8_t *codes,
                                   uint16_t *scale, float least, float most, unsigned bits,
                                   bool turns) {
  for (size_t b = 0; b < count; b++, w += size, codes += size) {
    uint32_t absmax = pte_block_absmax(w, size);
    if (absmax >= PTE_BITS_INFINITE) return 1;
    if (!pte_step_f16(pte_block_step(absmax, turns ? -least : most), scale + b)) return 1;
    if (turns && pte_block_extreme_above(w, size, absmax)) scale[b] |= 0x8000;
    pte_nearest_range(w, size, pte_f32_from_f16(scale[b]), least, most, bits, codes);
  }
  return 0;
}

/* The codes of w / step + zero: what is rounded is w / step. */
PTE_ALWAYS void pte_nearest_shifted(const float *w, size_t size, float step, int32_t zero,
                                    unsigned bits, uint8_t *codes) {
  const float half = (float)(1 << (bits - 1)), least = -half - (float)zero;
  for (size_t i = 0; i < size; i++) {
    float x = w[i] / step, low = pte_pick(pte_mask(x < least), least, x);
    float most = half - 1 - (float)zero, kept = pte_pick(pte_mask(low > most), most, low);
    codes[i] = (uint8_t)((pte_bits(kept + 12582912.0f) + (uint32_t)zero) & ((1u << bits) - 1));
  }
}

PTE_ALWAYS int pte_zero_encode(const float *w, size_t count, size_t size, uint8_t *codes,
                               uint16_t *scale, int8_t *zeros, unsigned bits) {
  const float steps = (float)((1 << bits) - 1);
  for (size_t b = 0; b < count; b++, w += size, codes += size) {
    float least = 0, most = 0;
    if (pte_block_absmax(w, size) >= PTE_BITS_INFINITE) return 1;
    for (size_t i = 0; i < size; i++) {
      least = w[i] < least ? w[i] : least;
      most = w[i] > most ? w[i] : most;
    }
    float range = most / steps - least / steps;
    if (!pte_step_f16(least == most ? 1.0f : range, scale + b)) return 1;
    float step = pte_f32_from_f16(scale[b]);
    zeros[b] = (int8_t)((int32_t)pte_code_range(-least / step, 0, steps, bits) - (1 << (bits - 1)));
    pte_nearest_shifted(w, size, step, zeros[b], bits, codes);
  }
  return 0;
}

#define PTE_RANGE_CODEC(NAME, BITS, LEAST, TURNS)                                                  \
  static void nearest(const float *w, size_t size, float step, uint8_t *codes) {                   \
    pte_nearest_range(w, size, step, LEAST, (1 << (BITS - 1)) - 1, BITS, codes);                   \
  }                                                                                                \
  static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {     \
    return pte_integers_encode(w, count, size, codes, scales, LEAST, (1 << (BITS - 1)) - 1, BITS,  \
                               TURNS);                                                             \
  }                                                                                                \
  const pte_codec pte_codec_##NAME = {0, sizeof(uint16_t), encode, nearest, NULL, NULL};

#define PTE_SIGNED_CODEC(NAME, BITS)    PTE_RANGE_CODEC(NAME, BITS, -(1 << (BITS - 1)), true)
#define PTE_SYMMETRIC_CODEC(NAME, BITS) PTE_RANGE_CODEC(NAME, BITS, 1 - (1 << (BITS - 1)), false)

#define PTE_ZERO_CODEC(NAME, BITS)                                                                 \
  static void nearest(const float *w, size_t size, float step, int32_t zero, uint8_t *codes) {     \
    pte_nearest_shifted(w, size, step, zero, BITS, codes);                                         \
  }                                                                                                \
  static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales,       \
                    int8_t *zeros) {                                                               \
    return pte_zero_encode(w, count, size, codes, scales, zeros, BITS);                            \
  }                                                                                                \
  const pte_codec pte_codec_##NAME = {0, sizeof(uint16_t), NULL, NULL, encode, nearest};

#endif

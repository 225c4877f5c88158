/* i4: integers -8 .. 7 in two's complement, blocks of 32 with an f16 scale: the element with the
 * largest magnitude has code -8, so the scale of a block has the sign that it has not. The codes
 * are those of the rounded scale. */
#include "codec/block.h"

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  for (size_t i = 0; i < size; i++) codes[i] = pte_code_range(w[i] / step, -8.0f, 7.0f, 4);
}

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  uint16_t *scale = scales;
  for (size_t b = 0; b < count; b++, w += size, codes += size) {
    uint32_t bits = pte_block_absmax(w, size);
    if (bits >= PTE_BITS_INFINITE) return 1;
    uint16_t half = pte_f16_from_f32(pte_block_step(bits, 8.0f));
    if (half >= PTE_F16_INFINITE) return 1;
    half = half > 0 ? half : 1;
    scale[b] = pte_block_extreme_above(w, size, bits) ? half | 0x8000 : half;
    float step = pte_f32_from_f16(scale[b]);
    nearest(w, size, step, codes);
  }
  return 0;
}

const pte_codec pte_codec_i4 = {32, sizeof(uint16_t), encode, nearest};

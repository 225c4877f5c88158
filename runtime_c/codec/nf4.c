/* nf4: the nearest of 16 levels, the lower one of a tie, of w times the reciprocal of its block's
 * absmax, which is the f16 scale; blocks of 64. Dettmers et al. 2023, as bitsandbytes computes it.
 */
#include "codec/levels.h"

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  uint16_t *scale = scales;
  float middle[PTE_LEVELS - 1];
  pte_set_middles(middle);
  for (size_t b = 0; b < count; b++, w += size, codes += size) {
    uint32_t bits = pte_block_absmax(w, size);
    scale[b] = pte_f16_from_f32(pte_block_step(bits, 1.0f));
    if (bits >= PTE_BITS_INFINITE || scale[b] >= PTE_F16_INFINITE) return 1;
    float by = 1.0f / pte_float(bits); /* infinite: the block or its scale is zero */
    by = pte_bits(by) == PTE_BITS_INFINITE ? 0 : by;
    for (size_t i = 0; i < size; i++) codes[i] = pte_code_level(w[i] * by, middle);
  }
  return 0;
}

const pte_codec pte_codec_nf4 = {64, sizeof(uint16_t), encode, pte_nearest_level, NULL, NULL};

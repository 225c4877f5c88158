/* i8_channel: signed bytes -127 .. 127 with an f32 scale a row, absmax / 127. */
#include "codec/block.h"

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  for (size_t i = 0; i < size; i++) codes[i] = pte_code_int(w[i] / step, 127.0f, 8);
}

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  float *scale = scales;
  for (size_t b = 0; b < count; b++, w += size, codes += size) {
    uint32_t bits = pte_block_absmax(w, size);
    if (bits >= PTE_BITS_INFINITE) return 1;
    float step = scale[b] = pte_block_step(bits, 127.0f);
    nearest(w, size, step, codes);
  }
  return 0;
}

const pte_codec pte_codec_i8_channel = {0, sizeof(float), encode, nearest, NULL, NULL};

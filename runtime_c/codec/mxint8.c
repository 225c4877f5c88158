/* mxint8: OCP MX, signed bytes -127 .. 127; the scale of a code is 2^-6 of the specification's. */
#include "codec/mx.h"

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  float by = 1 / step;
  for (size_t i = 0; i < size; i++) codes[i] = pte_code_int(w[i] * by, 127.0f, 8);
}

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  uint8_t *scale = scales;
  for (size_t b = 0; b < count; b++, w += size, codes += size) {
    uint32_t bits = pte_block_absmax(w, size);
    if (bits >= PTE_BITS_INFINITE) return 1;
    scale[b] = (uint8_t)pte_mx_floor(bits, 6);
    nearest(w, size, pte_step_e8m0(scale[b]), codes);
  }
  return 0;
}

const pte_codec pte_codec_mxint8 = {PTE_MX_BLOCK, 1, encode, nearest, NULL, NULL};

/* mxfp6_e3m2: OCP MX, elements E3M2. */
#include "codec/mx.h"

static uint32_t byte_of(uint32_t bits) { return pte_mx_floor(bits, 4); }

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  pte_mx_nearest(w, size, step, codes, 28.0f, 3, 2);
}

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  return pte_mx_encode(w, count, size, codes, scales, byte_of, 28.0f, 3, 2);
}

const pte_codec pte_codec_mxfp6_e3m2 = {PTE_MX_BLOCK, 1, encode, nearest};

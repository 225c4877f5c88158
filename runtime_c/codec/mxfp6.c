/* mxfp6: OCP MX, elements E2M3. */
#include "codec/mx.h"

static uint32_t byte_of(uint32_t bits) { return pte_mx_floor(bits, 2); }

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  pte_mx_nearest(w, size, step, codes, 7.5f, 2, 3);
}

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  return pte_mx_encode(w, count, size, codes, scales, byte_of, 7.5f, 2, 3);
}

const pte_codec pte_codec_mxfp6 = {PTE_MX_BLOCK, 1, encode, nearest};

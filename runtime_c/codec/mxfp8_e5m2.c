/* mxfp8_e5m2: OCP MX, elements E5M2; nothing is clipped. */
#include "codec/mx.h"

static uint32_t byte_of(uint32_t bits) { return pte_mx_rceil(bits, 57344.0); }

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  pte_mx_nearest(w, size, step, codes, 57344.0f, 5, 2);
}

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  return pte_mx_encode(w, count, size, codes, scales, byte_of, 57344.0f, 5, 2);
}

const pte_codec pte_codec_mxfp8_e5m2 = {PTE_MX_BLOCK, 1, encode, nearest};

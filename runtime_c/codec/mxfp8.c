/* mxfp8: OCP MX, elements E4M3; nothing is clipped, which the floor rule would cost 1 dB. */
#include "codec/mx.h"

static uint32_t byte_of(uint32_t bits) { return pte_mx_rceil(bits, 448.0); }

static void nearest(const float *w, size_t size, float step, uint8_t *codes) {
  pte_mx_nearest(w, size, step, codes, 448.0f, 4, 3);
}

static int encode(const float *w, size_t count, size_t size, uint8_t *codes, void *scales) {
  return pte_mx_encode(w, count, size, codes, scales, byte_of, 448.0f, 4, 3);
}

const pte_codec pte_codec_mxfp8 = {PTE_MX_BLOCK, 1, encode, nearest};

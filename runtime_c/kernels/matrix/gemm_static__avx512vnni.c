/* int8 products on AVX-512 with VNNI: vpdpbusd adds four products of a byte without sign and one
 * with to each lane, exact. The side without sign is x + 128; 128 times the sum of the weights
 * leaves again. */
#if PTE_HAVE_AVX512VNNI
#include <string.h>

#include "kernels/matrix/rescale__avx512.h"

static void widen_vnni(size_t count, const int8_t *x, void *row) {
  uint8_t *to = row;
  for (size_t i = 0; i < count; i++) to[i] = (uint8_t)x[i] ^ 0x80;
  memset(to + count, 0x80, (4 - count % 4) % 4); /* zeros */
}

INLINE void rows_run(const size_t rows, size_t quads, const char *x, size_t row_bytes,
                     const int8_t *panel, int32_t (*sum)[PTE_PANEL]) {
  const __m512i away = _mm512_set1_epi8((char)0x80);
  __m512i acc[PTE_STRIP], weights = _mm512_setzero_si512();
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) acc[m] = _mm512_setzero_si512();
  for (size_t q = 0; q < quads; q++, panel += 64, x += 4) {
    __m512i w = _mm512_load_si512(panel);
    weights = _mm512_dpbusd_epi32(weights, away, w);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) {
      int32_t four;
      memcpy(&four, x + m * row_bytes, sizeof four);
      acc[m] = _mm512_dpbusd_epi32(acc[m], _mm512_set1_epi32(four), w);
    }
  }
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) _mm512_storeu_si512(sum[m], _mm512_sub_epi32(acc[m], weights));
}

#define RESCALE rescale_avx512
#include "kernels/matrix/gemm_static_x86.inc"

const pte_gemm_static pte_gemm_static__avx512vnni = {widen_vnni, tile_x86, rescale_avx512, taps_x86,
                                                     1};
#endif

/* int8 products on AVX-512: as on AVX2, a register for each row of a panel, six rows at a time. */
#if PTE_HAVE_AVX512
#include <string.h>

#include "kernels/rescale__avx512.h"

/* x0 x2 x1 x3 of each four, as 16 bits. */
static void widen_avx512(size_t count, const int8_t *x, void *row) {
  const __m128i fours = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
  const __m256i order = _mm256_broadcastsi128_si256(fours);
  int16_t *to = row;
  for (size_t at = 0; at < count; at += 32) {
    size_t left = count - at, filled = (left + 3) / 4 * 4;
    __mmask32 have = left < 32 ? (__mmask32)((1u << left) - 1) : ~(__mmask32)0;
    __mmask32 kept = filled < 32 ? (__mmask32)((1u << filled) - 1) : ~(__mmask32)0;
    __m256i bytes = _mm256_shuffle_epi8(_mm256_maskz_loadu_epi8(have, x + at), order);
    _mm512_mask_storeu_epi16(to + at, kept, _mm512_cvtepi8_epi16(bytes));
  }
}

INLINE __m512i pair(const char *x) {
  int32_t both;
  memcpy(&both, x, sizeof both);
  return _mm512_set1_epi32(both);
}

INLINE void rows_run(const size_t rows, size_t quads, const char *x, size_t row_bytes,
                     const int8_t *panel, int32_t (*sum)[PTE_PANEL]) {
  __m512i acc[PTE_STRIP];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) acc[m] = _mm512_setzero_si512();
  for (size_t q = 0; q < quads; q++, panel += 64, x += 8) {
    __m512i w = _mm512_load_si512(panel), odd = _mm512_srai_epi16(w, 8);
    __m512i even = _mm512_srai_epi16(_mm512_slli_epi16(w, 8), 8);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) {
      const char *at = x + m * row_bytes;
      acc[m] = _mm512_add_epi32(acc[m], _mm512_madd_epi16(even, pair(at)));
      acc[m] = _mm512_add_epi32(acc[m], _mm512_madd_epi16(odd, pair(at + 4)));
    }
  }
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) _mm512_storeu_si512(sum[m], acc[m]);
}

#define RESCALE rescale_avx512
#include "kernels/gemm_i32_x86.inc"

const pte_gemm_i32 pte_gemm_i32__avx512 = {widen_avx512, tile_x86, rescale_avx512, taps_x86};
#endif

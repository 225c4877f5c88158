/* RESCALE (rescale.h) on AVX-512: eight columns in 64-bit lanes. */
#ifndef PTE_RESCALE_AVX512_H
#define PTE_RESCALE_AVX512_H

#include <immintrin.h>

#include "kernels/variants.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m128i eight_rescaled(const int32_t *sum, const pte_rescale_columns *c, size_t n) {
  const __m512i one = _mm512_set1_epi64(1);
  const __m256i *bias = (const __m256i *)(const void *)(c->bias + n);
  __m256i v = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)(const void *)(sum + n)),
                               _mm256_loadu_si256(bias));
  __m256i m = _mm256_loadu_si256((const __m256i *)(const void *)(c->multiplier + n));
  __m512i shift = _mm512_loadu_si512(c->shift + n);
  __m512i y = _mm512_mul_epi32(_mm512_cvtepi32_epi64(v), _mm512_cvtepi32_epi64(m));
  y = _mm512_add_epi64(y, _mm512_sllv_epi64(one, _mm512_sub_epi64(shift, one)));
  y = _mm512_add_epi64(_mm512_srav_epi64(y, shift), _mm512_set1_epi64(c->zero));
  y = _mm512_max_epi64(y, _mm512_set1_epi64(c->low));
  return _mm512_cvtepi64_epi8(_mm512_min_epi64(y, _mm512_set1_epi64(c->high)));
}

static void rescale_avx512(size_t rows, int32_t (*sum)[PTE_PANEL], const pte_rescale_columns *c,
                           int8_t *y, size_t y_stride) {
  for (size_t m = 0; m < rows; m++) {
    __m128i both = _mm_unpacklo_epi64(eight_rescaled(sum[m], c, 0), eight_rescaled(sum[m], c, 8));
    _mm_storeu_si128((__m128i *)(void *)(y + m * y_stride), both);
  }
}

#endif

/* RESCALE (rescale.h) of sixteen narrow columns in 32-bit lanes of AVX2. */
#ifndef PTE_RESCALE_AVX2_H
#define PTE_RESCALE_AVX2_H

#include <immintrin.h>

#include "kernels/matrix/rescale.h"

INLINE __m256i load(const void *from) { return _mm256_loadu_si256((const __m256i *)from); }

INLINE __m256i eight_rescaled(__m256i sum, const pte_rescale_columns *c, size_t n) {
  const __m256i multiplier = load(c->multiplier + n);
  __m256i even = _mm256_mul_epi32(sum, multiplier);
  __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(sum, 32), _mm256_srli_epi64(multiplier, 32));
  __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  return _mm256_srav_epi32(_mm256_add_epi32(high, load(c->add + n)), load(c->down + n));
}

INLINE __m128i rescaled_bytes(__m256i low, __m256i high, const pte_rescale_columns *c) {
  __m256i words = _mm256_packs_epi32(eight_rescaled(low, c, 0), eight_rescaled(high, c, 8));
  __m128i bytes = /* of low, high, low, high: four each */
      _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  bytes = _mm_shuffle_epi32(bytes, 0xd8);
  bytes = _mm_max_epi8(bytes, _mm_set1_epi8((char)c->low));
  return _mm_min_epi8(bytes, _mm_set1_epi8((char)c->high));
}

INLINE void bytes_store(int8_t *y, size_t lanes, __m128i bytes) {
  int8_t some[PTE_PANEL];
  if (lanes == PTE_PANEL) {
    _mm_storeu_si128((__m128i *)(void *)y, bytes);
    return;
  }
  _mm_storeu_si128((__m128i *)(void *)some, bytes);
  memcpy(y, some, lanes);
}

#endif

/* RESCALE (rescale.h) of sixteen columns in 32-bit lanes of AVX2. */
#ifndef PTE_RESCALE_AVX2_H
#define PTE_RESCALE_AVX2_H

#include <immintrin.h>

#include "kernels/requantize/rescale.h"

INLINE __m256i load(const void *from) { return _mm256_loadu_si256((const __m256i *)from); }

typedef struct rescale_lanes {
  __m256i multiplier[2], odd[2], add[2], down[2]; /* odd: multipliers of odd lanes */
  __m128i low, high;
} rescale_lanes;

INLINE rescale_lanes rescale_lanes_of(const pte_rescale_columns *c) {
  rescale_lanes r;
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    r.multiplier[h] = load(c->multiplier + 8 * h);
    r.odd[h] = _mm256_srli_epi64(r.multiplier[h], 32);
    r.add[h] = load(c->add + 8 * h), r.down[h] = load(c->down + 8 * h);
  }
  r.low = _mm_set1_epi8((char)c->low), r.high = _mm_set1_epi8((char)c->high);
  return r;
}

INLINE __m256i eight_rescaled(__m256i sum, const rescale_lanes *r, size_t h) {
  __m256i even = _mm256_mul_epi32(sum, r->multiplier[h]);
  __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(sum, 32), r->odd[h]);
  __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  return _mm256_srav_epi32(_mm256_add_epi32(high, r->add[h]), r->down[h]);
}

INLINE __m128i words_bytes(__m256i words, const rescale_lanes *r) {
  __m128i bytes = /* of low, high, low, high: four each */
      _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  bytes = _mm_shuffle_epi32(bytes, 0xd8);
  return _mm_min_epi8(_mm_max_epi8(bytes, r->low), r->high);
}

INLINE __m128i rescaled_bytes(__m256i low, __m256i high, const rescale_lanes *r) {
  return words_bytes(_mm256_packs_epi32(eight_rescaled(low, r, 0), eight_rescaled(high, r, 1)), r);
}

/* rescaled_bytes of any columns, as pte_rescale_lift leaves those that are not narrow. */
INLINE __m128i lifted_bytes(__m256i low, __m256i high, const pte_rescale_columns *c) {
  const __m256i one = _mm256_set1_epi32(1), least = _mm256_set1_epi32(INT32_MIN);
  rescale_lanes r = rescale_lanes_of(c);
  __m256i sum[] = {low, high};
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    const __m256i up = _mm256_max_epi32(_mm256_sub_epi32(one, r.down[h]), _mm256_setzero_si256());
    const __m256i bottom = _mm256_srav_epi32(least, up);
    sum[h] = _mm256_min_epi32(_mm256_max_epi32(sum[h], bottom), ~bottom);
    sum[h] = _mm256_sllv_epi32(sum[h], up);
    r.down[h] = _mm256_max_epi32(r.down[h], one);
    r.add[h] = _mm256_sllv_epi32(one, _mm256_sub_epi32(r.down[h], one));
    sum[h] = eight_rescaled(sum[h], &r, h);
  }
  const __m256i zero = _mm256_set1_epi16((int16_t)c->zero);
  return words_bytes(_mm256_adds_epi16(_mm256_packs_epi32(sum[0], sum[1]), zero), &r);
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

/* RESCALE (rescale.h) of sixteen columns in 32-bit lanes of AVX-512. */
#ifndef PTE_RESCALE_AVX512_H
#define PTE_RESCALE_AVX512_H

#include <immintrin.h>

#include "kernels/requantize/rescale.h"

/* `odd`: multipliers of odd columns, where a 64-bit lane has its low half. */
typedef struct rescale_lanes {
  __m512i even, odd, add, down;
  __m128i low, high;
} rescale_lanes;

INLINE rescale_lanes rescale_lanes_of(const pte_rescale_columns *c) {
  const __m512i multiplier = _mm512_loadu_si512(c->multiplier);
  return (rescale_lanes){.even = multiplier,
                         .odd = _mm512_srli_epi64(multiplier, 32),
                         .add = _mm512_loadu_si512(c->add),
                         .down = _mm512_loadu_si512(c->down),
                         .low = _mm_set1_epi8((char)c->low),
                         .high = _mm_set1_epi8((char)c->high)};
}

INLINE __m512i rescaled_lanes(__m512i sum, const rescale_lanes *r) {
  __m512i even = _mm512_mul_epi32(sum, r->even);
  __m512i odd = _mm512_mul_epi32(_mm512_shuffle_epi32(sum, _MM_PERM_DDBB), r->odd);
  __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
  return _mm512_srav_epi32(_mm512_add_epi32(high, r->add), r->down);
}

/* The same of any columns, as pte_rescale_lift leaves those that are not narrow. */
INLINE __m512i lifted_lanes(__m512i sum, rescale_lanes r, int32_t zero) {
  const __m512i one = _mm512_set1_epi32(1), least = _mm512_set1_epi32(INT32_MIN);
  const __m512i up = _mm512_max_epi32(_mm512_sub_epi32(one, r.down), _mm512_setzero_si512());
  const __m512i bottom = _mm512_srav_epi32(least, up);
  sum = _mm512_min_epi32(_mm512_max_epi32(sum, bottom), ~bottom);
  r.down = _mm512_max_epi32(r.down, one);
  r.add = _mm512_sllv_epi32(one, _mm512_sub_epi32(r.down, one));
  return _mm512_add_epi32(rescaled_lanes(_mm512_sllv_epi32(sum, up), &r), _mm512_set1_epi32(zero));
}

INLINE __m128i rescaled_bytes(__m512i sum, const rescale_lanes *r) {
  __m128i bytes = _mm512_cvtsepi32_epi8(rescaled_lanes(sum, r));
  return _mm_min_epi8(_mm_max_epi8(bytes, r->low), r->high);
}

/* Codes of four vectors, one after another. */
INLINE __m512i bytes_of_four(const __m512i *v) {
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  __m512i words = _mm512_packs_epi32(v[0], v[1]), more = _mm512_packs_epi32(v[2], v[3]);
  return _mm512_permutexvar_epi32(order, _mm512_packs_epi16(words, more));
}

#endif

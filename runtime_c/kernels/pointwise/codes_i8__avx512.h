/* Of the variant for AVX-512, what that with VNNI does likewise. */
#ifndef PTE_CODES_I8_AVX512_H
#define PTE_CODES_I8_AVX512_H

#include <immintrin.h>

#include "kernels/pointwise/codes_i8.h"

/* What follows the sums of 64 codes. */
typedef struct near_ends {
  __m512i decides, low, high;
  __m128i down;
  bool all_sure;
} near_ends;

INLINE near_ends near_ends_of(const pte_add_codes *k) {
  return (near_ends){_mm512_set1_epi32(k->near.decides), _mm512_set1_epi8((char)k->columns.low),
                     _mm512_set1_epi8((char)k->columns.high), _mm_cvtsi32_si128(k->near.down),
                     k->near.decides == 0};
}

/* False: some are too near to a half for such sums to say what they are, and y is as it was. */
INLINE bool near_put(__m512i t0, __m512i t1, __m512i t2, __m512i t3, const near_ends *k,
                     int8_t *y) {
  __mmask16 sure = _mm512_test_epi32_mask(t0, k->decides);
  sure = _mm512_mask_test_epi32_mask(sure, t1, k->decides);
  sure = _mm512_mask_test_epi32_mask(sure, t2, k->decides);
  sure = _mm512_mask_test_epi32_mask(sure, t3, k->decides);
  if (sure != 0xffff && !k->all_sure) return false;
  t0 = _mm512_packs_epi32(_mm512_sra_epi32(t0, k->down), _mm512_sra_epi32(t1, k->down));
  t2 = _mm512_packs_epi32(_mm512_sra_epi32(t2, k->down), _mm512_sra_epi32(t3, k->down));
  t0 = _mm512_packs_epi16(t0, t2);
  _mm512_storeu_si512(y, _mm512_min_epi8(_mm512_max_epi8(t0, k->low), k->high));
  return true;
}

void pte_codes_add__avx512(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k,
                           int8_t *y);
/* `count`: of whole vectors of 16. */
void pte_codes_exact__avx512(size_t count, const int8_t *a, const int8_t *b,
                             const pte_add_codes *factors, int8_t *y);
void pte_codes_larger__avx512(const pte_larger_i8 *windows);

#endif

/* Of the variant for AVX-512, what that with VNNI does likewise. */
#ifndef PTE_CODES_I8_AVX512_H
#define PTE_CODES_I8_AVX512_H

#include <immintrin.h>

#include "kernels/pointwise/codes_i8.h"

/* Whether none of the sums is too near to a half to say what it is. */
INLINE bool near_is_sure(__m512i t0, __m512i t1, __m512i t2, __m512i t3, __m512i decides) {
  __mmask16 sure = _mm512_test_epi32_mask(t0, decides);
  sure = _mm512_mask_test_epi32_mask(sure, t1, decides);
  sure = _mm512_mask_test_epi32_mask(sure, t2, decides);
  return _mm512_mask_test_epi32_mask(sure, t3, decides) == 0xffff;
}

void pte_codes_add__avx512(size_t count, const int8_t *a, const int8_t *b, const pte_add_codes *k,
                           int8_t *y);
void pte_codes_larger__avx512(const pte_larger_i8 *windows);

#endif

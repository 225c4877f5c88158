/* kernels/matrix/finish.h for AVX-512: sixteen elements of a row; those that do not exist are not
 * read. */
#ifndef PTE_FINISH_AVX512_H
#define PTE_FINISH_AVX512_H

#include <immintrin.h>

#include "kernels/variants.h"

static inline __attribute__((always_inline)) __m512 pte_finish_avx512(const pte_finish_f32 *f,
                                                                      size_t row, size_t column,
                                                                      __mmask16 mask, __m512 y) {
  for (unsigned i = 0; i < PTE_ADDENDS; i++)
    if (f->add[i] != NULL)
      y = _mm512_add_ps(y,
                        _mm512_maskz_loadu_ps(mask, f->add[i] + row * f->add_stride[i] + column));
  __m512 low = _mm512_set1_ps(f->low), high = _mm512_set1_ps(f->high);
  if (f->at_least) y = _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(y, low, _CMP_LE_OQ), low);
  if (f->at_most) y = _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(y, high, _CMP_GE_OQ), high);
  return y;
}

#endif

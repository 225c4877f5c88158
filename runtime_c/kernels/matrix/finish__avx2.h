/* kernels/matrix/finish.h for AVX2: eight elements of a row. */
#ifndef PTE_FINISH_AVX2_H
#define PTE_FINISH_AVX2_H

#include <immintrin.h>

#include "kernels/variants.h"

static inline __attribute__((always_inline)) __m256 pte_finish_limits_avx2(const pte_finish_f32 *f,
                                                                           __m256 y) {
  __m256 low = _mm256_set1_ps(f->low), high = _mm256_set1_ps(f->high);
  if (f->at_least) y = _mm256_blendv_ps(y, low, _mm256_cmp_ps(y, low, _CMP_LE_OQ));
  if (f->at_most) y = _mm256_blendv_ps(y, high, _mm256_cmp_ps(y, high, _CMP_GE_OQ));
  return y;
}

static inline __attribute__((always_inline)) __m256 pte_finish_avx2(const pte_finish_f32 *f,
                                                                    size_t row, size_t column,
                                                                    __m256 y) {
  for (unsigned i = 0; i < PTE_ADDENDS; i++)
    if (f->add[i] != NULL)
      y = _mm256_add_ps(y, _mm256_loadu_ps(f->add[i] + row * f->add_stride[i] + column));
  return pte_finish_limits_avx2(f, y);
}

/* Elements that do not exist, where `mask` is clear, are not read. */
static inline __attribute__((always_inline)) __m256 pte_finish_masked_avx2(const pte_finish_f32 *f,
                                                                           size_t row,
                                                                           size_t column,
                                                                           __m256i mask, __m256 y) {
  for (unsigned i = 0; i < PTE_ADDENDS; i++)
    if (f->add[i] != NULL)
      y = _mm256_add_ps(y, _mm256_maskload_ps(f->add[i] + row * f->add_stride[i] + column, mask));
  return pte_finish_limits_avx2(f, y);
}

#endif

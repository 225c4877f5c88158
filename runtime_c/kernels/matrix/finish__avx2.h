/* kernels/matrix/finish.h for AVX2: a tile of sums in registers, and eight elements of a row. */
#ifndef PTE_FINISH_AVX2_H
#define PTE_FINISH_AVX2_H

#include <immintrin.h>

#include "kernels/variants.h"

/* sum[m * eights + e]: eight elements of row `row` + m, from `column` + 8 e on. Constants in each
 * caller but for `column`: what there is to do is asked once a tile, not once a register. Limits
 * are as in finish__avx512.h. */
static inline __attribute__((always_inline)) void pte_finish_avx2(const pte_finish_f32 *f,
                                                                  size_t row, const size_t rows,
                                                                  const size_t eights,
                                                                  size_t column, __m256 *sum) {
  const bool positive = f->at_least && f->low == 0, bias = f->add[0] != NULL && !f->add_stride[0];
  const __m256 zero = _mm256_set1_ps(positive ? 0.0f : -0.0f);
  if (bias || positive)
#pragma GCC unroll 8
    for (size_t e = 0; e < eights; e++) {
      __m256 add = zero;
      if (bias) add = _mm256_add_ps(add, _mm256_loadu_ps(f->add[0] + column + 8 * e));
#pragma GCC unroll 7
      for (size_t m = 0; m < rows; m++)
        sum[m * eights + e] = _mm256_add_ps(sum[m * eights + e], add);
    }
  for (size_t i = bias; i < PTE_ADDENDS; i++) {
    __asm__("" : "+r"(i)); /* one loop, not a copy for each addend */
    if (f->add[i] == NULL) continue;
    const size_t stride = f->add_stride[i];
    const float *add = f->add[i] + row * stride + column;
#pragma GCC unroll 7
    for (size_t m = 0; m < rows; m++, add += stride)
#pragma GCC unroll 8
      for (size_t e = 0; e < eights; e++)
        sum[m * eights + e] = _mm256_add_ps(sum[m * eights + e], _mm256_loadu_ps(add + 8 * e));
  }
  const __m256 low = _mm256_set1_ps(f->low), high = _mm256_set1_ps(f->high);
  if (f->at_least)
#pragma GCC unroll 12
    for (size_t i = 0; i < rows * eights; i++) sum[i] = _mm256_max_ps(low, sum[i]);
  if (f->at_most)
#pragma GCC unroll 12
    for (size_t i = 0; i < rows * eights; i++) sum[i] = _mm256_min_ps(high, sum[i]);
}

/* Elements that do not exist, where `mask` is clear, are not read. */
static inline __attribute__((always_inline)) __m256 pte_finish_masked_avx2(const pte_finish_f32 *f,
                                                                           size_t row,
                                                                           size_t column,
                                                                           __m256i mask, __m256 y) {
  for (unsigned i = 0; i < PTE_ADDENDS; i++)
    if (f->add[i] != NULL)
      y = _mm256_add_ps(y, _mm256_maskload_ps(f->add[i] + row * f->add_stride[i] + column, mask));
  const __m256 low = _mm256_set1_ps(f->low), high = _mm256_set1_ps(f->high);
  if (f->at_least) y = _mm256_blendv_ps(y, low, _mm256_cmp_ps(y, low, _CMP_LE_OQ));
  if (f->at_most) y = _mm256_blendv_ps(y, high, _mm256_cmp_ps(y, high, _CMP_GE_OQ));
  return y;
}

#endif

/* kernels/gemm/finish.h for AVX2, and of eight elements of a row some. */
#ifndef PTE_FINISH_AVX2_H
#define PTE_FINISH_AVX2_H

#include <immintrin.h>

#include "kernels/gemm/finish.h"

#define FINISH_VECTOR        __m256
#define FINISH_LANES         8
#define FINISH_PART          bool /* always */
#define FINISH_WHOLE         true
#define FINISH_LOAD(part, p) ((void)(part), _mm256_loadu_ps(p))
#define FINISH_ALL           _mm256_set1_ps
#define FINISH_ADD           _mm256_add_ps
#define FINISH_MOST          _mm256_max_ps
#define FINISH_LEAST         _mm256_min_ps
#include "kernels/gemm/finish_tile.inc"

/* Elements that do not exist, where `mask` is clear, are not read. */
PTE_ALWAYS __m256 pte_finish_masked(const pte_finish_f32 *f, size_t row, size_t column,
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

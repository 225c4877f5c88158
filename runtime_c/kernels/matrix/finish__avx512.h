/* kernels/matrix/finish.h for AVX-512: a tile of sums in registers; elements that do not exist are
 * not read. */
#ifndef PTE_FINISH_AVX512_H
#define PTE_FINISH_AVX512_H

#include <immintrin.h>

#include "kernels/variants.h"

/* sum[m * panels + p]: sixteen elements of row m, from `column` + 16 p on; those of the last panel
 * that `last` says. Rows from `half` on are those of the second finish, which says the same of
 * other rows. Constants in each caller but for `column` and `last`: what there is to do is asked
 * once a tile, not once a register. */
static inline __attribute__((always_inline)) void
pte_finish_parts_avx512(const pte_finish_f32 *f, const size_t half, const size_t rows,
                        const size_t panels, size_t column, __mmask16 last, __m512 *sum) {
  const __m512 low = _mm512_set1_ps(f->low), high = _mm512_set1_ps(f->high);
  for (unsigned i = 0; i < PTE_ADDENDS; i++) {
    if (f->add[i] == NULL) continue;
    const float *add = f->add[i] + column;
    const size_t stride = f->add_stride[i];
#pragma GCC unroll 14
    for (size_t m = 0; m < rows; m++, add += stride) {
      if (m == half) add = f[1].add[i] + column;
#pragma GCC unroll 8
      for (size_t p = 0; p < panels; p++) {
        const __mmask16 mask = p + 1 < panels ? 0xffff : last;
        sum[m * panels + p] =
            _mm512_add_ps(sum[m * panels + p], _mm512_maskz_loadu_ps(mask, add + p * PTE_PANEL));
      }
    }
  }
  if (f->at_least)
#pragma GCC unroll 28
    for (size_t i = 0; i < rows * panels; i++)
      sum[i] = _mm512_mask_mov_ps(sum[i], _mm512_cmp_ps_mask(sum[i], low, _CMP_LE_OQ), low);
  if (f->at_most)
#pragma GCC unroll 28
    for (size_t i = 0; i < rows * panels; i++)
      sum[i] = _mm512_mask_mov_ps(sum[i], _mm512_cmp_ps_mask(sum[i], high, _CMP_GE_OQ), high);
}

static inline __attribute__((always_inline)) void
pte_finish_avx512(const pte_finish_f32 *f, const size_t rows, const size_t panels, size_t column,
                  __mmask16 last, __m512 *sum) {
  pte_finish_parts_avx512(f, rows, rows, panels, column, last, sum);
}

#endif

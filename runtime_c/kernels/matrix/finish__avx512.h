/* kernels/matrix/finish.h for AVX-512: a tile of sums in registers; elements that do not exist are
 * not read. */
#ifndef PTE_FINISH_AVX512_H
#define PTE_FINISH_AVX512_H

#include <immintrin.h>

#include "kernels/variants.h"

/* sum[m * panels + p]: sixteen elements of row m, from `column` + 16 p on; those of the last panel
 * that `last` says. Row m is that of number row[0] + m, from `half` on row[1] + m - half. Constants
 * in each caller but for these numbers, `column` and `last`: what there is to do is asked once a
 * tile, not once a register.
 *
 * vmaxps and vminps give their second operand where one is NaN, as a limit does, and where both are
 * zeros, which a limit does not: so finish.c lets no limit be a zero but a lower one of +0, and a
 * sum of -0 becomes +0 before that, with the bias, which the limit would make of it anyway. */
static inline __attribute__((always_inline)) void
pte_finish_parts_avx512(const pte_finish_f32 *f, const size_t *row, const size_t half,
                        const size_t rows, const size_t panels, size_t column, __mmask16 last,
                        __m512 *sum) {
  const bool positive = f->at_least && f->low == 0, bias = f->add[0] != NULL && !f->add_stride[0];
  const __m512 zero = _mm512_set1_ps(positive ? 0.0f : -0.0f);
  if (bias || positive)
#pragma GCC unroll 8
    for (size_t p = 0; p < panels; p++) {
      __m512 add = zero;
      if (bias)
        add = _mm512_add_ps(add, _mm512_maskz_loadu_ps(p + 1 < panels ? 0xffff : last,
                                                       f->add[0] + column + p * PTE_PANEL));
#pragma GCC unroll 14
      for (size_t m = 0; m < rows; m++)
        sum[m * panels + p] = _mm512_add_ps(sum[m * panels + p], add);
    }
  for (size_t i = bias; i < PTE_ADDENDS; i++) {
    __asm__("" : "+r"(i)); /* one loop, not a copy for each addend */
    if (f->add[i] == NULL) continue;
    const size_t stride = f->add_stride[i];
    const float *add = f->add[i] + row[0] * stride + column;
#pragma GCC unroll 14
    for (size_t m = 0; m < rows; m++, add += stride) {
      if (m == half) add = f->add[i] + row[1] * stride + column;
#pragma GCC unroll 8
      for (size_t p = 0; p < panels; p++) {
        const __mmask16 mask = p + 1 < panels ? 0xffff : last;
        sum[m * panels + p] =
            _mm512_add_ps(sum[m * panels + p], _mm512_maskz_loadu_ps(mask, add + p * PTE_PANEL));
      }
    }
  }
  const __m512 low = _mm512_set1_ps(f->low), high = _mm512_set1_ps(f->high);
  if (f->at_least)
#pragma GCC unroll 28
    for (size_t i = 0; i < rows * panels; i++) sum[i] = _mm512_max_ps(low, sum[i]);
  if (f->at_most)
#pragma GCC unroll 28
    for (size_t i = 0; i < rows * panels; i++) sum[i] = _mm512_min_ps(high, sum[i]);
}

/* The same of rows that follow each other, the first of number `row`. */
static inline __attribute__((always_inline)) void
pte_finish_avx512(const pte_finish_f32 *f, size_t row, const size_t rows, const size_t panels,
                  size_t column, __mmask16 last, __m512 *sum) {
  pte_finish_parts_avx512(f, &row, rows, rows, panels, column, last, sum);
}

#endif

/* What variants of gemm_static share: rows that stay as they are, RESCALE and taps in plain C. */
#ifndef PTE_GEMM_STATIC_H
#define PTE_GEMM_STATIC_H

#include <string.h>

#include "kernels/matrix/rescale.h"
#include "kernels/variants.h"

static inline void pte_i32_keep(size_t count, const int8_t *x, void *row) {
  memcpy(row, x, count);
  memset((char *)row + count, 0, (4 - count % 4) % 4);
}

static inline void pte_i32_rescale(size_t rows, int32_t (*sum)[PTE_PANEL],
                                   const pte_rescale_columns *c, int8_t *y, size_t y_stride) {
  for (size_t m = 0; m < rows; m++)
    for (size_t n = 0; n < PTE_PANEL; n++)
      y[m * y_stride + n] = pte_rescale(pte_wrapping_add(sum[m][n], c->bias[n]), c->multiplier[n],
                                        (int32_t)c->shift[n], c->zero, c->low, c->high);
}

static inline void pte_i32_taps(const pte_taps_i8 *t, const int64_t *offset, const int8_t *x,
                                int8_t *y) {
  for (size_t c = 0; c < t->channels; c += PTE_PANEL) {
    size_t lanes = t->channels - c < PTE_PANEL ? t->channels - c : PTE_PANEL;
    const int16_t *weight = t->weight + 2 * c * t->pairs;
    int32_t sum[1][PTE_PANEL] = {{0}};
    int8_t tile[PTE_PANEL];
    for (size_t p = 0; p < t->pairs; p++, weight += 2 * PTE_PANEL) {
      const int8_t *first = x + offset[2 * p] + c, *second = x + offset[2 * p + 1] + c;
      for (size_t n = 0; n < lanes; n++)
        sum[0][n] =
            pte_wrapping_add(sum[0][n], first[n] * weight[2 * n] + second[n] * weight[2 * n + 1]);
    }
    pte_i32_rescale(1, sum, t->columns + c / PTE_PANEL, tile, PTE_PANEL);
    memcpy(y + c, tile, lanes);
  }
}

#endif

/* int8 products in plain C: rows stay as they are. This file defines the bits. */
#include <string.h>

#include "kernels/rescale.h"
#include "kernels/variants.h"

static void widen_portable(size_t count, const int8_t *x, void *row) {
  memcpy(row, x, count);
  memset((char *)row + count, 0, (4 - count % 4) % 4);
}

static void tile_portable(size_t rows, size_t quads, const void *x, size_t row_bytes,
                          const int8_t *panel, int32_t (*sum)[PTE_PANEL]) {
  for (size_t m = 0; m < rows; m++) {
    const int8_t *row = (const int8_t *)x + m * row_bytes;
    memset(sum[m], 0, sizeof sum[m]);
    for (size_t q = 0; q < quads; q++)
      for (size_t n = 0; n < PTE_PANEL; n++)
        for (size_t i = 0; i < 4; i++)
          sum[m][n] =
              pte_wrapping_add(sum[m][n], row[4 * q + i] * panel[(PTE_PANEL * q + n) * 4 + i]);
  }
}

static void rescale_portable(size_t rows, int32_t (*sum)[PTE_PANEL], const pte_rescale_columns *c,
                             int8_t *y, size_t y_stride) {
  for (size_t m = 0; m < rows; m++)
    for (size_t n = 0; n < PTE_PANEL; n++)
      y[m * y_stride + n] = pte_rescale(pte_wrapping_add(sum[m][n], c->bias[n]), c->multiplier[n],
                                        (int32_t)c->shift[n], c->zero, c->low, c->high);
}

const pte_gemm_i32 pte_gemm_i32__portable = {widen_portable, tile_portable, rescale_portable};

/* int8 products in plain C: rows stay as they are. This file defines the bits. */
#include "kernels/matrix/gemm_static.h"

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

const pte_gemm_static pte_gemm_static__portable = {pte_i32_keep, tile_portable, pte_i32_rescale,
                                                   pte_i32_taps, 1};

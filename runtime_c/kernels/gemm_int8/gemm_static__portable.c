/* int8 products in plain C: rows stay as they are. This file defines the bits. */
#include "kernels/gemm_int8/gemm_static_lines.h"

static void gather_portable(const pte_gather *g) { pte_i8_gather(g, 0); }

static void tile_portable(size_t rows, size_t panels, const pte_tile_i8 *t) {
  int32_t sum[PTE_STRIP][PTE_PANEL];
  (void)panels; /* one */
  for (size_t m = 0; m < rows; m++) {
    const int8_t *row = (const int8_t *)t->x + m * t->row_bytes;
    memcpy(sum[m], t->start + m * t->start_row, sizeof sum[m]);
    for (size_t q = 0; q < t->quads; q++)
      for (size_t n = 0; n < PTE_PANEL; n++)
        for (size_t i = 0; i < 4; i++)
          sum[m][n] =
              pte_wrapping_add(sum[m][n], row[4 * q + i] * t->panel[(PTE_PANEL * q + n) * 4 + i]);
  }
  pte_i8_put(t, rows, 1, sum);
}

const pte_gemm_static pte_gemm_static__portable = {.gather = gather_portable,
                                                   .columns = pte_rescale_complete,
                                                   .tile = tile_portable,
                                                   .most_rows = PTE_STRIP,
                                                   .most_panels = 1,
                                                   .widened = 1};

/* int8 products on the vectors of Cortex-M (MVE). Rows stay as they are. Sixteen codes of a column
 * along K are four words, 64 bytes apart: a gather brings them together, and VMLADAVA adds their
 * products with those of a row to a general register, which keeps the sum of a column. Predicates
 * cut off what lies behind the last quad. */
#if PTE_HAVE_MVE
#include <arm_mve.h>

#include "kernels/gemm_int8/gemm_static_lines.h"

enum { ROWS = 4, QUADS = 4 }; /* quads of a vector */

static void gather_mve(const pte_gather *g) { pte_i8_gather(g, 0); }

/* sum[m] += the products of column n. */
INLINE void column_add(const size_t rows, const pte_tile_i8 *t, size_t n, int32_t *sum) {
  const uint32x4_t apart = vshlq_n_u32(vidupq_n_u32(0, 8), 3); /* 0, 64, 128, 192 */
  for (size_t q = 0; q < t->quads; q += QUADS) {
    const mve_pred16_t here = vctp32q((uint32_t)(t->quads - q));
    const int32_t *column = (const int32_t *)(const void *)(t->panel + (PTE_PANEL * q + n) * 4);
    const int8x16_t w = vreinterpretq_s8_s32(vldrwq_gather_offset_z_s32(column, apart, here));
#pragma GCC unroll 4
    for (size_t m = 0; m < rows; m++) {
      const int8_t *x = (const int8_t *)t->x + m * t->row_bytes + 4 * q;
      sum[m] = vmladavaq_s8(sum[m], vldrbq_z_s8(x, here), w);
    }
  }
}

INLINE void tile(const size_t rows, const pte_tile_i8 *t) {
  int32_t sum[ROWS][PTE_PANEL];
  for (size_t n = 0; n < PTE_PANEL; n++) {
    int32_t column[ROWS];
    for (size_t m = 0; m < rows; m++) column[m] = t->start[m * t->start_row + n];
    column_add(rows, t, n, column);
    for (size_t m = 0; m < rows; m++) sum[m][n] = column[m];
  }
  pte_i8_put(t, rows, 1, sum);
}

static void tile_mve(size_t rows, size_t panels, const pte_tile_i8 *t) {
  (void)panels; /* one */
  if (rows == ROWS) {
    tile(ROWS, t);
    return;
  }
  pte_tile_i8 row = *t;
  for (size_t m = 0; m < rows; m++) {
    tile(1, &row);
    row.x += row.row_bytes, row.start += row.start_row, row.sum += row.sum != NULL;
    row.y += row.y_stride;
  }
}

const pte_gemm_static pte_gemm_static__mve = {.gather = gather_mve,
                                              .columns = pte_rescale_complete,
                                              .tile = tile_mve,
                                              .most_rows = ROWS,
                                              .most_panels = 1,
                                              .widened = 1};
#else
typedef int pte_gemm_static__mve_is_absent;
#endif

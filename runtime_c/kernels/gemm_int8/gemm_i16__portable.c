/* int16 times int8 in plain C. This file defines the bits. */
#include "core/kept.h"
#include "kernels/gemm_int8/gemm_i16.h"
#include "kernels/requantize/rescale_i16.h"

static void tile(size_t rows, const pte_tile_i16 *t) {
  for (size_t i = 0; i < rows * PTE_PANEL; i++) {
    const size_t m = i / PTE_PANEL, n = i % PTE_PANEL;
    const int16_t *x = t->x + m * t->row;
    const int8_t *w = t->panel + 4 * n;
    int32_t sum = t->start[m * t->start_row][n];
    for (size_t k = 0; k < 4 * t->quads; k++)
      sum = pte_wrapping_add(sum, x[k] * w[k / 4 * (4 * PTE_PANEL) + k % 4]);
    t->sum[m][n] = sum;
    if (t->columns != NULL && n < t->lanes)
      t->y[m * t->y_stride + n] = pte_rescale_i16(sum, t->columns, n);
  }
}

static void taps(const pte_taps_i16 *t, size_t first, size_t end, const int16_t *const *tap,
                 size_t pixels, size_t step, int16_t *y) {
  for (size_t i = 0; i < pixels; i++)
    for (size_t c = first; c < end; c++) {
      const pte_rescale_columns *columns = t->columns + c / PTE_PANEL;
      const int16_t *weight = t->weight + c / PTE_PANEL * PTE_PANEL * (t->taps + t->taps % 2);
      int32_t sum = columns->bias[c % PTE_PANEL];
      for (size_t k = 0; k < t->taps; k++)
        sum = pte_wrapping_add(sum, tap[k][i * step + c] *
                                        weight[pte_tap_word(false, PTE_PANEL, k, c % PTE_PANEL)]);
      y[i * t->channels + c] = pte_rescale_i16(sum, columns, c % PTE_PANEL);
    }
}

static void add(size_t count, const int16_t *a, const int16_t *b, const pte_rescale_columns *f,
                int16_t *y) {
  for (size_t i = 0; i < count; i++) {
    const int64_t left = pte_scaled(a[i] * 65536, f[0].multiplier[0], f[0].down[0] + 32);
    const int64_t right = pte_scaled(b[i] * 65536, f[1].multiplier[0], f[1].down[0] + 32);
    y[i] = pte_rescale_i16((int32_t)(left + right), f + 2, 0);
  }
}

const pte_gemm_i16 pte_gemm_i16__portable = {.tile = tile,
                                             .taps = taps,
                                             .add = PTE_WITH(ADD_I16, add),
                                             .most_rows = PTE_STRIP,
                                             .most_panels = 1,
                                             .block = PTE_PANEL,
                                             .pairs = false};

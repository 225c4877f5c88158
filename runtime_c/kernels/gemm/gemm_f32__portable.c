/* f32 matrix tiles in plain C: this file defines the bits. Each output is one chain of pte_fma over
 * K, ascending, from +0; columns are independent. The other variants must give the same bytes. */
#include "core/math.h"
#include "kernels/gemm/finish.h"
#include "kernels/gemm/gemm_f32.h"

static void row_add(size_t run, const float *a, const float *panel, float *sum) {
  for (size_t k = 0; k < run; k++, panel += PTE_PANEL)
    for (size_t n = 0; n < PTE_PANEL; n++) sum[n] = pte_fma(a[k], panel[n], sum[n]);
}

static void tile_panel(size_t rows, const pte_tile_f32 *tile, size_t strip, size_t p) {
  const float *const *row = tile->row + strip * tile->strip_step;
  for (size_t m = 0; m < rows; m++) {
    float sum[PTE_PANEL] = {0};
    const size_t at = strip * rows + m;
    float *out = tile->out + at * tile->out_stride + p * PTE_PANEL;
    if (!tile->first) memcpy(sum, out, sizeof sum);
    for (size_t t = 0; t < tile->taps; t++)
      row_add(tile->run, row[t * PTE_STRIP + m] + tile->offset,
              tile->panel[p] + t * tile->tap_stride * PTE_PANEL, sum);
    for (size_t n = 0; n < PTE_PANEL; n++)
      out[n] = tile->finish == NULL ? sum[n]
                                    : pte_finish_one(tile->finish, sum[n], at, p * PTE_PANEL + n);
  }
}

static void tile_portable(size_t rows, size_t panels, const pte_tile_f32 *tile) {
  for (size_t i = 0; i < tile->strips; i++)
    for (size_t p = 0; p < panels; p++) tile_panel(rows, tile, i, p);
}

static void vector_portable(size_t k, size_t panels, const float *x, const float *panel, float *y) {
  for (size_t p = 0; p < panels; p++) {
    float sum[PTE_PANEL] = {0};
    row_add(k, x, panel + p * k * PTE_PANEL, sum);
    memcpy(y + p * PTE_PANEL, sum, sizeof sum);
  }
}

const pte_gemm_f32 pte_gemm_f32__portable = {
    .tile = tile_portable,
    .vector = vector_portable,
    .unit = PTE_PANEL,
    .abreast = {0, 1, 1, 1, 1, 1, 1},
};

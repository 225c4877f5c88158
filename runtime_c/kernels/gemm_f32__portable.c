/* f32 matrix tiles in plain C: this file defines the bits. Each output is one chain of pte_fma over
 * K, ascending, from +0; columns are independent. The other variants must give the same bytes. */
#include "core/math.h"
#include "kernels/variants.h"

static void row_add(size_t run, const float *a, const float *panel, float *sum) {
  for (size_t k = 0; k < run; k++, panel += PTE_PANEL)
    for (size_t n = 0; n < PTE_PANEL; n++) sum[n] = pte_fma(a[k], panel[n], sum[n]);
}

static void row_store(const float *sum, const float *bias, float *out) {
  for (size_t n = 0; n < PTE_PANEL; n++) out[n] = bias == NULL ? sum[n] : sum[n] + bias[n];
}

static void tile_panel(size_t rows, const pte_tile_f32 *tile, size_t p) {
  const float *bias = tile->bias == NULL ? NULL : tile->bias + p * PTE_PANEL;
  for (size_t m = 0; m < rows; m++) {
    float sum[PTE_PANEL] = {0};
    float *out = tile->out + m * tile->out_stride + p * PTE_PANEL;
    if (!tile->first) memcpy(sum, out, sizeof sum);
    for (size_t t = 0; t < tile->taps; t++)
      row_add(tile->run, tile->row[t * PTE_STRIP + m] + tile->offset,
              tile->panel[p] + t * tile->tap_stride * PTE_PANEL, sum);
    row_store(sum, bias, out);
  }
}

static void tile_portable(size_t rows, size_t panels, const pte_tile_f32 *tile) {
  for (size_t p = 0; p < panels; p++) tile_panel(rows, tile, p);
}

static void vector_portable(size_t k, size_t panels, const float *x, const float *panel,
                            const float *bias, float *y) {
  for (size_t p = 0; p < panels; p++) {
    float sum[PTE_PANEL] = {0};
    row_add(k, x, panel + p * k * PTE_PANEL, sum);
    row_store(sum, bias == NULL ? NULL : bias + p * PTE_PANEL, y + p * PTE_PANEL);
  }
}

const pte_gemm_f32 pte_gemm_f32__portable = {
    tile_portable, vector_portable, {0, 1, 1, 1, 1, 1, 1}
};

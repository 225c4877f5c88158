/* Depthwise tiles in plain C: one chain of pte_fma over the taps for each channel, from +0. Defines
 * the bits. */
#include "core/math.h"
#include "kernels/matrix/finish.h"

static void tile_row(const pte_depthwise_tile_f32 *s, size_t m) {
  float sum[PTE_PANEL] = {0};
  float *out = s->out + m * s->out_stride;
  for (size_t t = 0; t < s->taps; t++) {
    const float *x = s->row[t * PTE_STRIP + m] + s->channel, *w = s->weight + t * PTE_PANEL;
    for (size_t l = 0; l < s->lanes; l++) sum[l] = pte_fma(x[l], w[l], sum[l]);
  }
  for (size_t l = 0; l < s->lanes; l++) out[l] = pte_finish_one(s->finish, sum[l], m, l);
}

static void tile_portable(size_t rows, const pte_depthwise_tile_f32 *s) {
  for (size_t m = 0; m < rows; m++) tile_row(s, m);
}

const pte_depthwise_f32 pte_depthwise_f32__portable = {tile_portable};

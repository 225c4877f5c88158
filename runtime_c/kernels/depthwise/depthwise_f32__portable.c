/* Depthwise rows in plain C: one chain of pte_fma over the taps for each channel, from +0. Defines
 * the bits. */
#include "core/math.h"
#include "kernels/depthwise/depthwise_f32.h"
#include "kernels/gemm/finish.h"
#include "kernels/panels.h"

/* `lanes` channels from `c` on, a multiple of 16, of pixel `m`. */
static void panel_run(const pte_depthwise_row_f32 *s, size_t m, size_t c, size_t lanes) {
  float sum[PTE_PANEL] = {0}, *out = s->out + m * s->out_stride + c;
  const float *w = s->weight + c * s->lines * s->taps;
  for (size_t i = 0; i < s->lines; i++) {
    const float *x = s->line[i] + m * s->stride * s->step[i] + c;
    for (size_t t = 0; t < s->taps; t++, w += PTE_PANEL, x += s->dilation * s->step[i])
      for (size_t l = 0; l < lanes; l++) sum[l] = pte_fma(x[l], w[l], sum[l]);
  }
  for (size_t l = 0; l < lanes; l++) out[l] = pte_finish_one(s->finish, sum[l], m, c + l);
}

static void row_portable(const pte_depthwise_row_f32 *s) {
  for (size_t c = s->first; c < s->end; c += PTE_PANEL)
    for (size_t m = 0; m < s->pixels; m++)
      panel_run(s, m, c, s->end - c < PTE_PANEL ? s->end - c : PTE_PANEL);
}

const pte_depthwise_f32 pte_depthwise_f32__portable = {.row = row_portable};

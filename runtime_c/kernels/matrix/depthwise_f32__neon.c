/* Depthwise rows on NEON: up to six pixels by 16 channels side by side, so that sums hide the
 * latency of each other and a weight is loaded once; the last channels, fewer than 16, four at a
 * time and then one by one. */
#if PTE_HAVE_NEON
#include "kernels/matrix/finish.h"
#include "kernels/matrix/finish__neon.h"

#define INLINE static inline __attribute__((always_inline))
enum { QUADS = PTE_PANEL / 4 };

/* Pixels m .. m + n, `quads` times four channels from `c` on. Both numbers are constants in each
 * caller, so that the sums live in registers. */
INLINE void sums_run(const size_t n, const size_t quads, const pte_depthwise_row_f32 *s, size_t m,
                     size_t c) {
  float32x4_t sum[PTE_STRIP * QUADS];
#pragma GCC unroll 6
  for (size_t i = 0; i < n; i++)
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; q++) sum[i * quads + q] = vdupq_n_f32(0);
  const float *w = s->weight + c / PTE_PANEL * PTE_PANEL * s->lines * s->taps + c % PTE_PANEL;
  for (size_t l = 0; l < s->lines; l++) {
    const size_t ahead = s->stride * s->step[l], aside = s->dilation * s->step[l];
    const float *x = s->line[l] + m * ahead + c;
    for (size_t t = 0; t < s->taps; t++, w += PTE_PANEL, x += aside) {
      float32x4_t weight[QUADS];
#pragma GCC unroll 4
      for (size_t q = 0; q < quads; q++) weight[q] = vld1q_f32(w + 4 * q);
#pragma GCC unroll 6
      for (size_t i = 0; i < n; i++)
#pragma GCC unroll 4
        for (size_t q = 0; q < quads; q++)
          sum[i * quads + q] =
              vfmaq_f32(sum[i * quads + q], vld1q_f32(x + i * ahead + 4 * q), weight[q]);
    }
  }
  const pte_finish_f32 finish = pte_finish_at(s->finish, m, 0);
  float *out = s->out + m * s->out_stride + c;
  pte_finish_neon(&finish, n, quads, c, sum);
#pragma GCC unroll 6
  for (size_t i = 0; i < n; i++, out += s->out_stride)
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; q++) vst1q_f32(out + 4 * q, sum[i * quads + q]);
}

static void lane_run(const pte_depthwise_row_f32 *s, size_t m, size_t c) {
  const float *w = s->weight + c / PTE_PANEL * PTE_PANEL * s->lines * s->taps + c % PTE_PANEL;
  float sum = 0;
  for (size_t l = 0; l < s->lines; l++) {
    const float *x = s->line[l] + m * s->stride * s->step[l] + c;
    for (size_t t = 0; t < s->taps; t++, w += PTE_PANEL, x += s->dilation * s->step[l])
      sum = __builtin_fmaf(*x, *w, sum);
  }
  s->out[m * s->out_stride + c] = pte_finish_one(s->finish, sum, m, c);
}

static void pixel_last(const pte_depthwise_row_f32 *s, size_t m, size_t c) {
  for (; c + 4 <= s->end; c += 4) sums_run(1, 1, s, m, c);
  for (; c < s->end; c++) lane_run(s, m, c);
}

static void panel_run(const pte_depthwise_row_f32 *s, size_t m, size_t n, size_t c) {
  switch (n) {
  case 1: sums_run(1, QUADS, s, m, c); break;
  case 2: sums_run(2, QUADS, s, m, c); break;
  case 3: sums_run(3, QUADS, s, m, c); break;
  case 4: sums_run(4, QUADS, s, m, c); break;
  case 5: sums_run(5, QUADS, s, m, c); break;
  default: sums_run(6, QUADS, s, m, c); break;
  }
}

/* Pieces of about as many pixels each. */
static void row_neon(const pte_depthwise_row_f32 *s) {
  const size_t pieces = (s->pixels + PTE_STRIP - 1) / PTE_STRIP;
  size_t c = s->first;
  for (; c < s->end && s->end - c >= PTE_PANEL; c += PTE_PANEL)
    for (size_t i = 0, m = 0, end; i < pieces; i++, m = end) {
      end = s->pixels * (i + 1) / pieces;
      panel_run(s, m, end - m, c);
    }
  for (size_t m = 0; c < s->end && m < s->pixels; m++) pixel_last(s, m, c);
}

const pte_depthwise_f32 pte_depthwise_f32__neon = {.row = row_neon};
#else
typedef int pte_depthwise_f32__neon_is_absent;
#endif

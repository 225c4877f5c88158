/* Depthwise tiles on NEON: six pixels by 16 channels, so that a weight is loaded once for six; the
 * last channels, fewer than 16, four at a time and then one by one. */
#if PTE_HAVE_NEON
#include "kernels/matrix/finish.h"
#include "kernels/matrix/finish__neon.h"

#define INLINE static inline __attribute__((always_inline))
enum { QUADS = PTE_PANEL / 4 };

/* `rows` and `quads` are constants in each caller, so that the tile lives in registers. */
INLINE void tile_run(const size_t rows, const size_t quads, size_t first,
                     const pte_depthwise_tile_f32 *s) {
  float32x4_t sum[PTE_STRIP][QUADS];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; q++) sum[m][q] = vdupq_n_f32(0);
  const float *const *row = s->row;
  const float *w = s->weight + first;
  for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP, w += PTE_PANEL) {
    float32x4_t weight[QUADS];
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; q++) weight[q] = vld1q_f32(w + 4 * q);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) {
      const float *x = row[m] + s->channel + first;
#pragma GCC unroll 4
      for (size_t q = 0; q < quads; q++)
        sum[m][q] = vfmaq_f32(sum[m][q], vld1q_f32(x + 4 * q), weight[q]);
    }
  }
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t q = 0; q < quads; q++)
      vst1q_f32(s->out + m * s->out_stride + first + 4 * q,
                pte_finish_neon(s->finish, m, first + 4 * q, sum[m][q]));
}

static void lane_run(const pte_depthwise_tile_f32 *s, size_t m, size_t lane) {
  float sum = 0;
  for (size_t t = 0; t < s->taps; t++)
    sum = __builtin_fmaf(s->row[t * PTE_STRIP + m][s->channel + lane],
                         s->weight[t * PTE_PANEL + lane], sum);
  s->out[m * s->out_stride + lane] = pte_finish_one(s->finish, sum, m, lane);
}

static void rows_run(const size_t rows, const pte_depthwise_tile_f32 *s) {
  size_t lane = 0;
  for (; lane + 4 <= s->lanes; lane += 4)
    for (size_t m = 0; m < rows; m++) {
      pte_finish_f32 finish = pte_finish_at(s->finish, m, 0);
      pte_depthwise_tile_f32 one = *s;
      one.row += m, one.out += m * s->out_stride, one.finish = &finish;
      tile_run(1, 1, lane, &one);
    }
  for (; lane < s->lanes; lane++)
    for (size_t m = 0; m < rows; m++) lane_run(s, m, lane);
}

static void tile_neon(size_t rows, const pte_depthwise_tile_f32 *s) {
  if (s->lanes < PTE_PANEL) {
    rows_run(rows, s);
    return;
  }
  switch (rows) {
  case 1: tile_run(1, QUADS, 0, s); break;
  case 2: tile_run(2, QUADS, 0, s); break;
  case 3: tile_run(3, QUADS, 0, s); break;
  case 4: tile_run(4, QUADS, 0, s); break;
  case 5: tile_run(5, QUADS, 0, s); break;
  default: tile_run(6, QUADS, 0, s); break;
  }
}

const pte_depthwise_f32 pte_depthwise_f32__neon = {tile_neon};
#else
typedef int pte_depthwise_f32__neon_is_absent;
#endif

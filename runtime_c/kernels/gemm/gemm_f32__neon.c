/* f32 matrix tiles on NEON: 6 x 16, four registers a row. K in order. */
#if PTE_HAVE_NEON
#define LANE_VECTOR     float32x4_t
#define LANE_PRODUCT(i) "fmla %[sum].4s, %[w].4s, %[x].s[" #i "]"
#include "kernels/gemm/finish__neon.h"
#include "kernels/gemm/gemm_f32.h"
#include "kernels/gemm/lanes__neon.h"

#define INLINE static inline __attribute__((always_inline))
enum { QUADS = PTE_PANEL / 4 };

/* `rows` is a constant in each caller, so that the tile lives in registers. */
INLINE void strip_run(const size_t rows, const pte_tile_f32 *s, size_t strip) {
  float32x4_t sum[PTE_STRIP * QUADS];
  float *out = s->out + strip * rows * s->out_stride;
  pte_tile_asks(s, strip, 1);
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t q = 0; q < QUADS; q++)
      sum[m * QUADS + q] = s->first ? vdupq_n_f32(0) : vld1q_f32(out + m * s->out_stride + 4 * q);
  const float *const *row = s->row + strip * s->strip_step;
  for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP) {
    const char *a[PTE_STRIP];
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) a[m] = (const char *)(row[m] + s->offset);
    lanes_add(rows, s->run, a, (const char *)(s->panel[0] + t * s->tap_stride * PTE_PANEL), sum);
  }
  if (s->finish != NULL) pte_finish_tile(s->finish, strip * rows, rows, QUADS, 0, true, sum);
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t q = 0; q < QUADS; q++)
      vst1q_f32(out + m * s->out_stride + 4 * q, sum[m * QUADS + q]);
}

static void tile_neon(size_t rows, size_t panels, const pte_tile_f32 *s) {
  (void)panels; /* one: see abreast */
  pte_tile_strips(strip_run, rows, s);
}

/* `count` panels at a distance of `stride` floats, each a stream of its own. */
INLINE void streams_run(const size_t count, size_t k, size_t stride, const float *x,
                        const float *panel, float *y, size_t y_stride) {
  float32x4_t sum[4][QUADS];
  for (size_t p = 0; p < count; p++)
    for (size_t q = 0; q < QUADS; q++) sum[p][q] = vdupq_n_f32(0);
  for (size_t i = 0; i < k; i++)
#pragma GCC unroll 4
    for (size_t p = 0; p < count; p++)
#pragma GCC unroll 4
      for (size_t q = 0; q < QUADS; q++)
        sum[p][q] =
            vfmaq_n_f32(sum[p][q], vld1q_f32(panel + p * stride + i * PTE_PANEL + 4 * q), x[i]);
  for (size_t p = 0; p < count; p++)
    for (size_t q = 0; q < QUADS; q++) vst1q_f32(y + p * y_stride + 4 * q, sum[p][q]);
}

static void vector_neon(size_t k, size_t panels, const float *x, const float *panel, float *y) {
  pte_panels_stream(streams_run, k, panels, x, panel, y);
}

const pte_gemm_f32 pte_gemm_f32__neon = {
    .tile = tile_neon,
    .vector = vector_neon,
    .unit = PTE_PANEL,
    .abreast = {0, 1, 1, 1, 1, 1, 1},
};
#else
typedef int pte_gemm_f32__neon_is_absent;
#endif

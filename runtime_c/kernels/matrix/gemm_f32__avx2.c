/* f32 matrix tiles on AVX2 and FMA: 6 x 16, two registers a row, K in order. Twelve accumulators
 * cover two FMA pipes of latency 4 or 5; a step is 12 FMA against 8 loads. Fewer rows take
 * more panels side by side, or the chains would be too few. */
#if PTE_HAVE_AVX2
#include "kernels/matrix/finish__avx2.h"
#include "kernels/matrix/panels.h"

#define INLINE static inline __attribute__((always_inline))
enum { MOST_HALVES = 2 * PTE_ABREAST };

/* `rows` and `panels` are constants in each caller, so that the tile lives in registers. */
INLINE void tile_run(const size_t rows, const size_t panels, const pte_tile_f32 *s) {
  const size_t halves = 2 * panels;
  __m256 sum[PTE_STRIP * MOST_HALVES];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 8
    for (size_t h = 0; h < halves; h++)
      sum[m * halves + h] =
          s->first ? _mm256_setzero_ps() : _mm256_loadu_ps(s->out + m * s->out_stride + 8 * h);
  const float *const *row = s->row;
  for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP) {
    const float *a[PTE_STRIP], *b[PTE_ABREAST];
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) a[m] = row[m] + s->offset;
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++) b[p] = s->panel[p] + t * s->tap_stride * PTE_PANEL;
#pragma GCC unroll 2
    for (size_t k = 0; k < s->run; k++) {
      __m256 w[MOST_HALVES];
#pragma GCC unroll 8
      for (size_t h = 0; h < halves; h++)
        w[h] = _mm256_load_ps(b[h / 2] + k * PTE_PANEL + h % 2 * 8);
#pragma GCC unroll 6
      for (size_t m = 0; m < rows; m++) {
        __m256 x = _mm256_broadcast_ss(a[m] + k);
#pragma GCC unroll 8
        for (size_t h = 0; h < halves; h++)
          sum[m * halves + h] = _mm256_fmadd_ps(x, w[h], sum[m * halves + h]);
      }
    }
  }
  if (s->finish != NULL) pte_finish_avx2(s->finish, rows, halves, 0, sum);
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 8
    for (size_t h = 0; h < halves; h++)
      _mm256_storeu_ps(s->out + m * s->out_stride + 8 * h, sum[m * halves + h]);
}

static void tile_avx2(size_t rows, size_t panels, const pte_tile_f32 *s) {
  switch (rows * 8 + panels) {
  case 8 + 1: tile_run(1, 1, s); break;
  case 8 + 4: tile_run(1, 4, s); break;
  case 16 + 1: tile_run(2, 1, s); break;
  case 16 + 2: tile_run(2, 2, s); break;
  case 24 + 1: tile_run(3, 1, s); break;
  case 24 + 2: tile_run(3, 2, s); break;
  case 32 + 1: tile_run(4, 1, s); break;
  case 40 + 1: tile_run(5, 1, s); break;
  default: tile_run(6, 1, s); break;
  }
}

/* `count` panels at a distance of `stride` floats, each a stream of its own. */
INLINE void streams_run(const size_t count, size_t k, size_t stride, const float *x,
                        const float *panel, float *y, size_t y_stride) {
  __m256 lo[4], hi[4];
#pragma GCC unroll 4
  for (size_t p = 0; p < count; p++) lo[p] = hi[p] = _mm256_setzero_ps();
  for (size_t i = 0; i < k; i++) {
    __m256 a = _mm256_broadcast_ss(x + i);
#pragma GCC unroll 4
    for (size_t p = 0; p < count; p++) {
      lo[p] = _mm256_fmadd_ps(a, _mm256_load_ps(panel + p * stride + i * PTE_PANEL), lo[p]);
      hi[p] = _mm256_fmadd_ps(a, _mm256_load_ps(panel + p * stride + i * PTE_PANEL + 8), hi[p]);
    }
  }
#pragma GCC unroll 4
  for (size_t p = 0; p < count; p++) {
    _mm256_storeu_ps(y + p * y_stride, lo[p]);
    _mm256_storeu_ps(y + p * y_stride + 8, hi[p]);
  }
}

static void vector_avx2(size_t k, size_t panels, const float *x, const float *panel, float *y) {
  pte_panels_stream(streams_run, k, panels, x, panel, y);
}

const pte_gemm_f32 pte_gemm_f32__avx2 = {
    .tile = tile_avx2,
    .vector = vector_avx2,
    .masked = false,
    .abreast = {0, 4, 2, 2, 1, 1, 1},
};
#else
typedef int pte_gemm_f32__avx2_is_absent;
#endif

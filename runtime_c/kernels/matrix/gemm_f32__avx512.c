/* f32 matrix tiles on AVX-512: 6 x 32, a register for each row of each of two panels, K in order.
 * Twelve accumulators cover two FMA pipes of latency 4; a step is 12 FMA against 8 loads. Fewer
 * rows take more panels side by side. */
#if PTE_HAVE_AVX512
#include "kernels/matrix/finish__avx512.h"

#define INLINE static inline __attribute__((always_inline))

/* `rows` and `panels` are constants in each caller, so that the tile lives in registers. */
INLINE void tile_run(const size_t rows, const size_t panels, const pte_tile_f32 *s) {
  const __mmask16 last = (__mmask16)(0xffffu >> s->missing);
  __m512 sum[PTE_STRIP * PTE_ABREAST];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++)
      sum[m * panels + p] = s->first
                                ? _mm512_setzero_ps()
                                : _mm512_maskz_loadu_ps(p + 1 < panels ? 0xffff : last,
                                                        s->out + m * s->out_stride + PTE_PANEL * p);
  const float *const *row = s->row;
  for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP) {
    const float *a[PTE_STRIP], *b[PTE_ABREAST];
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) a[m] = row[m] + s->offset;
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++) b[p] = s->panel[p] + t * s->tap_stride * PTE_PANEL;
#pragma GCC unroll 2
    for (size_t k = 0; k < s->run; k++) {
      __m512 w[PTE_ABREAST];
#pragma GCC unroll 4
      for (size_t p = 0; p < panels; p++) w[p] = _mm512_load_ps(b[p] + k * PTE_PANEL);
#pragma GCC unroll 6
      for (size_t m = 0; m < rows; m++) {
        __m512 x = _mm512_set1_ps(a[m][k]);
#pragma GCC unroll 4
        for (size_t p = 0; p < panels; p++)
          sum[m * panels + p] = _mm512_fmadd_ps(x, w[p], sum[m * panels + p]);
      }
    }
  }
  if (s->finish != NULL) pte_finish_avx512(s->finish, rows, panels, 0, last, sum);
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++)
      _mm512_mask_storeu_ps(s->out + m * s->out_stride + PTE_PANEL * p,
                            p + 1 < panels ? 0xffff : last, sum[m * panels + p]);
}

static void tile_avx512(size_t rows, size_t panels, const pte_tile_f32 *s) {
  switch (rows * 8 + panels) {
  case 8 + 1: tile_run(1, 1, s); break;
  case 8 + 4: tile_run(1, 4, s); break;
  case 16 + 1: tile_run(2, 1, s); break;
  case 16 + 4: tile_run(2, 4, s); break;
  case 24 + 1: tile_run(3, 1, s); break;
  case 24 + 2: tile_run(3, 2, s); break;
  case 32 + 1: tile_run(4, 1, s); break;
  case 32 + 2: tile_run(4, 2, s); break;
  case 40 + 1: tile_run(5, 1, s); break;
  case 40 + 2: tile_run(5, 2, s); break;
  case 48 + 1: tile_run(6, 1, s); break;
  default: tile_run(6, 2, s); break;
  }
}

/* 12 x 16, 10 x 16 or 8 x 16: with one panel, the chains of a strip would be too few. */
INLINE void tall_run(const size_t rows, const pte_tile_f32 *s) {
  const __mmask16 mask = (__mmask16)(0xffffu >> s->missing);
  __m512 sum[2 * PTE_STRIP];
#pragma GCC unroll 12
  for (size_t m = 0; m < 2 * rows; m++)
    sum[m] =
        s->first ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(mask, s->out + m * s->out_stride);
  for (size_t t = 0; t < s->taps; t++) {
    const float *a[2 * PTE_STRIP], *b = s->panel[0] + t * s->tap_stride * PTE_PANEL;
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) {
      a[m] = s->row[t * PTE_STRIP + m] + s->offset;
      a[rows + m] = s->below[t * PTE_STRIP + m] + s->offset;
    }
    for (size_t k = 0; k < s->run; k++) {
      __m512 w = _mm512_load_ps(b + k * PTE_PANEL);
#pragma GCC unroll 12
      for (size_t m = 0; m < 2 * rows; m++)
        sum[m] = _mm512_fmadd_ps(_mm512_set1_ps(a[m][k]), w, sum[m]);
    }
  }
  if (s->finish != NULL) pte_finish_avx512(s->finish, 2 * rows, 1, 0, mask, sum);
#pragma GCC unroll 12
  for (size_t m = 0; m < 2 * rows; m++)
    _mm512_mask_storeu_ps(s->out + m * s->out_stride, mask, sum[m]);
}

static void tall_avx512(size_t rows, const pte_tile_f32 *s) {
  switch (rows) {
  case 4: tall_run(4, s); break;
  case 5: tall_run(5, s); break;
  default: tall_run(6, s); break;
  }
}

/* 12 x 32 of a matrix: half the weights a product that 6 x 32 asks of L2. */
static void wide_avx512(const pte_tile_f32 *s) {
  __m512 sum[2 * PTE_STRIP * 2];
#pragma GCC unroll 12
  for (size_t m = 0; m < 2 * PTE_STRIP; m++)
#pragma GCC unroll 2
    for (size_t p = 0; p < 2; p++)
      sum[2 * m + p] = s->first ? _mm512_setzero_ps()
                                : _mm512_loadu_ps(s->out + m * s->out_stride + PTE_PANEL * p);
  const size_t r = s->row_stride;
  const float *a[3], *b = s->panel[0], *c = s->panel[1];
  for (size_t i = 0; i < 3; i++) a[i] = s->row[0] + s->offset + 4 * i * r;
  size_t every = s->ahead_lines > 0 ? s->run / s->ahead_lines : s->run, asked = 0;
  for (size_t k = 0, end = 0; k < s->run; k++) {
    if (k == end) {
      end += every;
      if (asked < s->ahead_lines) {
        _mm_prefetch((const char *)(b + s->ahead + asked * PTE_PANEL), _MM_HINT_T1);
        _mm_prefetch((const char *)(c + s->ahead + asked * PTE_PANEL), _MM_HINT_T1);
        asked++;
      }
    }
    __m512 v = _mm512_load_ps(b + k * PTE_PANEL), w = _mm512_load_ps(c + k * PTE_PANEL);
#pragma GCC unroll 12
    for (size_t m = 0; m < 2 * PTE_STRIP; m++) {
      __m512 x = _mm512_set1_ps(a[m / 4][m % 4 * r + k]);
      sum[2 * m] = _mm512_fmadd_ps(x, v, sum[2 * m]);
      sum[2 * m + 1] = _mm512_fmadd_ps(x, w, sum[2 * m + 1]);
    }
  }
  if (s->finish != NULL) pte_finish_avx512(s->finish, 2 * PTE_STRIP, 2, 0, 0xffff, sum);
#pragma GCC unroll 12
  for (size_t m = 0; m < 2 * PTE_STRIP; m++)
#pragma GCC unroll 2
    for (size_t p = 0; p < 2; p++)
      _mm512_storeu_ps(s->out + m * s->out_stride + PTE_PANEL * p, sum[2 * m + p]);
}

/* `count` panels at a distance of `stride` floats, each a stream of its own. */
INLINE void streams_run(const size_t count, size_t k, size_t stride, const float *x,
                        const float *panel, float *y, size_t y_stride) {
  __m512 sum[4];
#pragma GCC unroll 4
  for (size_t p = 0; p < count; p++) sum[p] = _mm512_setzero_ps();
  for (size_t i = 0; i < k; i++) {
    __m512 a = _mm512_set1_ps(x[i]);
#pragma GCC unroll 4
    for (size_t p = 0; p < count; p++)
      sum[p] = _mm512_fmadd_ps(a, _mm512_load_ps(panel + p * stride + i * PTE_PANEL), sum[p]);
  }
#pragma GCC unroll 4
  for (size_t p = 0; p < count; p++) {
    _mm512_storeu_ps(y + p * y_stride, sum[p]);
  }
}

/* Four streams, each a quarter of the panels, so that every one of them is sequential throughout.
 */
static void vector_avx512(size_t k, size_t panels, const float *x, const float *panel, float *y) {
  size_t quarter = panels / 4, size = k * PTE_PANEL;
  for (size_t p = 0; p < quarter; p++)
    streams_run(4, k, quarter * size, x, panel + p * size, y + p * PTE_PANEL, quarter * PTE_PANEL);
  for (size_t p = quarter * 4; p < panels; p++)
    streams_run(1, k, size, x, panel + p * size, y + p * PTE_PANEL, PTE_PANEL);
}

const pte_gemm_f32 pte_gemm_f32__avx512 = {
    .tile = tile_avx512,
    .tall = tall_avx512,
    .wide = wide_avx512,
    .vector = vector_avx512,
    .masked = true,
    .abreast = {0, 4, 4, 2, 2, 2, 2},
};
#else
typedef int pte_gemm_f32__avx512_is_absent;
#endif

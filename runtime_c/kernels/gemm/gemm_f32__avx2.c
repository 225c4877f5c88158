/* f32 matrix tiles on AVX2 and FMA: 6 x 16, two registers a row, K in order. Twelve accumulators
 * cover two FMA pipes of latency 4 or 5; a step is 12 FMA against 8 loads. Fewer rows take
 * more panels side by side, or the chains would be too few. */
#if PTE_HAVE_AVX2
#include "kernels/gemm/finish__avx2.h"
#include "kernels/gemm/gemm_f32.h"

#define INLINE static inline __attribute__((always_inline))
enum {
  MOST_HALVES = 2 * PTE_ABREAST,
#ifdef PTE_KERNEL_LIST_H
  HALVES = false /* a build for known programs is to be small: copies, and rows one by one */
#else
  HALVES = true
#endif
};

/* All of a run into the sums, rows from `a` on, panels from `b` on. A line that is asked for is so
 * with several steps in turn: to do it once would take a branch, which costs more. */
INLINE const char *steps_run(const size_t rows, const size_t halves, size_t run, const float **a,
                             const float **b, const char *ask, size_t further, __m256 *sum) {
  size_t k = 0; /* bytes */
  for (const float *w = b[0], *end = w + run * PTE_PANEL; w != end; w += PTE_PANEL, k += 4) {
    __m256 v[MOST_HALVES];
    __asm__("" : "+r"(k)); /* one place in all rows, not an address of each */
#pragma GCC unroll 8
    for (size_t h = 0; h < halves; h++) v[h] = _mm256_load_ps(w + (b[h / 2] - b[0]) + h % 2 * 8);
    if (halves <= 2) _mm_prefetch(ask, _MM_HINT_T0), ask += further;
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) {
      __m256 x = _mm256_broadcast_ss((const float *)(const void *)((const char *)a[m] + k));
#pragma GCC unroll 8
      for (size_t h = 0; h < halves; h++)
        sum[m * halves + h] = _mm256_fmadd_ps(x, v[h], sum[m * halves + h]);
    }
  }
  return ask;
}

/* `rows` and `halves` are constants in each caller, so that the tile lives in registers. */
INLINE void tile_run(const size_t rows, const size_t halves, const pte_tile_f32 *s) {
  const size_t lines = s->taps * s->run;
  const float *const *first = s->row;
  const size_t further = s->ask == NULL ? 0 : (64 * s->share + lines - 1) / lines;
  const float *from = s->ask == NULL ? s->panel[0] : s->ask;
  float *out = s->out;
  for (size_t i = 0; i < s->strips; i++, first += s->strip_step, out += rows * s->out_stride) {
    __m256 sum[PTE_STRIP * MOST_HALVES];
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 8
      for (size_t h = 0; h < halves; h++)
        sum[m * halves + h] =
            s->first ? _mm256_setzero_ps() : _mm256_loadu_ps(out + m * s->out_stride + 8 * h);
    const float *const *row = first;
    const char *ask = (const char *)from;
    for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP) {
      const float *a[PTE_STRIP], *b[PTE_ABREAST];
#pragma GCC unroll 6
      for (size_t m = 0; m < rows; m++) a[m] = row[m] + s->offset;
#pragma GCC unroll 4
      for (size_t p = 0; 2 * p < halves; p++) b[p] = s->panel[p] + t * s->tap_stride * PTE_PANEL;
      ask = steps_run(rows, halves, s->run, a, b, ask, further, sum);
    }
    if (s->ask != NULL) from += s->share * PTE_PANEL;
    if (s->finish != NULL) pte_finish_tile(s->finish, i * rows, rows, halves, 0, true, sum);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 8
      for (size_t h = 0; h < halves; h++)
        _mm256_storeu_ps(out + m * s->out_stride + 8 * h, sum[m * halves + h]);
  }
}

static void tile_avx2(size_t rows, size_t panels, const pte_tile_f32 *s);

/* Few rows, one by one. */
static void tile_each(size_t rows, const pte_tile_f32 *s) {
  for (size_t i = 0; i < s->strips * rows; i++) {
    pte_tile_f32 one = *s;
    pte_finish_f32 finish;
    one.row += i / rows * s->strip_step + i % rows, one.strips = 1;
    one.out += i * s->out_stride;
    if (s->finish != NULL) finish = pte_finish_at(s->finish, i, 0), one.finish = &finish;
    tile_avx2(1, 1, &one);
  }
}

/* Of a panel whose upper half does not exist the other: six sums wait for each other, which takes
 * two thirds of the time that the whole would. */
static void tile_halved(size_t rows, const pte_tile_f32 *s) {
  if (rows == 6) tile_run(6, 1, s);
  else if (rows == 5) tile_run(5, 1, s);
  else if (rows > 1) tile_each(rows, s);
  else tile_run(1, 1, s);
}

static void tile_avx2(size_t rows, size_t panels, const pte_tile_f32 *s) {
  if (HALVES && s->missing >= 8) {
    tile_halved(rows, s);
    return;
  }
  switch (rows * 8 + panels) {
  case 8 + 1: tile_run(1, 2, s); break;
  case 8 + 4: tile_run(1, 8, s); break;
  case 16 + 1: HALVES ? tile_run(2, 2, s) : tile_each(2, s); break;
  case 16 + 2: tile_run(2, 4, s); break;
  case 24 + 1: HALVES ? tile_run(3, 2, s) : tile_each(3, s); break;
  case 24 + 2: tile_run(3, 4, s); break;
  case 32 + 1: tile_run(4, 2, s); break;
  case 40 + 1: tile_run(5, 2, s); break;
  default: tile_run(6, 2, s); break;
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
    .unit = HALVES ? 8 : PTE_PANEL,
    .abreast = {0, 4, 2, 2, 1, 1, 1},
};
#else
typedef int pte_gemm_f32__avx2_is_absent;
#endif

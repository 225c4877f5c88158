/* Depthwise rows on AVX2 and FMA: up to six pixels by 16 channels side by side, so that sums hide
 * the latency of each other and a weight is loaded once; or one, of more channels. The last ones,
 * fewer than 16, through masks. Lines of three taps with their edges, seven pixels by eight
 * channels, a column of x loaded once for all of them. */
#if PTE_HAVE_AVX2
#include "kernels/depthwise/depthwise_f32.h"
#include "kernels/gemm/finish__avx2.h"
#include "kernels/panels.h"

#define INLINE static inline __attribute__((always_inline))

enum { EIGHT = 8, EIGHTS = PTE_PANEL / EIGHT };

/* Pixels m .. m + n, `panels` times 16 channels from `c` on. Both numbers are constants in each
 * caller, so that the sums live in registers. */
INLINE void sums_run(const size_t n, const size_t panels, const pte_depthwise_row_f32 *s, size_t m,
                     size_t c) {
  __m256 sum[12];
  const size_t eights = panels * EIGHTS, panel = s->lines * s->taps * PTE_PANEL;
#pragma GCC unroll 12
  for (size_t i = 0; i < n * eights; i++) sum[i] = _mm256_setzero_ps();
  const float *w = s->weight + c * s->lines * s->taps;
  for (size_t l = 0; l < s->lines; l++) {
    const size_t ahead = s->stride * s->step[l], aside = s->dilation * s->step[l];
    const float *x = s->line[l] + m * ahead + c, *y = x + 3 * ahead;
    for (size_t t = 0; t < s->taps; t++, w += PTE_PANEL) {
      __m256 weight[6];
#pragma GCC unroll 6
      for (size_t e = 0; e < eights; e++)
        weight[e] = _mm256_load_ps(w + e / EIGHTS * panel + e % EIGHTS * EIGHT);
#pragma GCC unroll 6
      for (size_t i = 0; i < n; i++)
#pragma GCC unroll 6
        for (size_t e = 0; e < eights; e++) {
          const float *at = (i < 3 ? x : y) + i % 3 * ahead + e * EIGHT;
          sum[i * eights + e] =
              _mm256_fmadd_ps(_mm256_loadu_ps(at), weight[e], sum[i * eights + e]);
        }
      x += aside, y += aside;
      __asm__("" : "+r"(x), "+r"(y)); /* two addresses, not one for each load */
    }
  }
  float *out = s->out + m * s->out_stride + c;
  pte_finish_tile(s->finish, m, n, eights, c, true, sum);
#pragma GCC unroll 6
  for (size_t i = 0; i < n; i++, out += s->out_stride)
#pragma GCC unroll 6
    for (size_t e = 0; e < eights; e++) _mm256_storeu_ps(out + e * EIGHT, sum[i * eights + e]);
}

static __m256i lane_mask(size_t lanes) {
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)lanes), index);
}

/* The last channels of pixel `m`, from `c` on: `lanes` of eight. */
static void last_run(const pte_depthwise_row_f32 *s, size_t m, size_t c, size_t lanes) {
  const __m256i mask = lane_mask(lanes < EIGHT ? lanes : EIGHT);
  const float *w = s->weight + c / PTE_PANEL * PTE_PANEL * s->lines * s->taps + c % PTE_PANEL;
  __m256 sum = _mm256_setzero_ps();
  for (size_t l = 0; l < s->lines; l++) {
    const float *x = s->line[l] + m * s->stride * s->step[l] + c;
    for (size_t t = 0; t < s->taps; t++, w += PTE_PANEL, x += s->dilation * s->step[l])
      sum = _mm256_fmadd_ps(_mm256_maskload_ps(x, mask), _mm256_load_ps(w), sum);
  }
  sum = pte_finish_masked(s->finish, m, c, mask, sum);
  _mm256_maskstore_ps(s->out + m * s->out_stride + c, mask, sum);
}

static void panels_run(const pte_depthwise_row_f32 *s, size_t m, size_t n, size_t c, bool wide) {
  if (n == 6) sums_run(6, 1, s, m, c);
  else if (n == 5) sums_run(5, 1, s, m, c);
  else if (n == 3) sums_run(3, 1, s, m, c);
  else if (wide) sums_run(1, 3, s, m, c);
  else sums_run(1, 1, s, m, c);
}

static void row_avx2(const pte_depthwise_row_f32 *s) {
  const size_t n = pte_depthwise_side(s->pixels, (const uint8_t[]){6, 5, 3, 1});
  const size_t wide = PTE_PANEL * (n == 1 ? 3 : 1);
  for (size_t c = s->first, used; c < s->end; c += used) {
    const bool whole = s->end - c >= wide;
    used = whole ? wide : s->end - c < PTE_PANEL ? s->end - c : PTE_PANEL;
    for (size_t m = 0; used >= PTE_PANEL && m < s->pixels; m += n)
      panels_run(s, pte_depthwise_piece(s->pixels, n, m), n, c, whole);
    for (size_t m = 0; used < PTE_PANEL && m < s->pixels; m++)
      for (size_t e = 0; e < used; e += EIGHT) last_run(s, m, c + e, used - e);
  }
}

enum { SIDE = 7 }; /* pixels side by side of a whole line */

INLINE __m256 all_or_none(bool all) { return _mm256_castsi256_ps(_mm256_set1_epi32(-(int)all)); }

/* Pixels m .. m + n of a whole line, eight channels: a column of x that there is not is the one
 * beside it and becomes zeros. */
INLINE void three_run(const size_t n, const size_t stride, const pte_depthwise_row_f32 *s, size_t m,
                      size_t c) {
  const size_t columns = (n - 1) * stride + 3;
  const ptrdiff_t second = s->column + (ptrdiff_t)(m * stride) + 1;
  const bool has_first = second > 0,
             has_last = second + (ptrdiff_t)columns <= (ptrdiff_t)s->width + 1;
  const __m256 left = all_or_none(has_first), right = all_or_none(has_last);
  const float *w = s->weight + c / PTE_PANEL * PTE_PANEL * s->lines * 3 + c % PTE_PANEL;
  __m256 sum[SIDE];
#pragma GCC unroll 7
  for (size_t i = 0; i < n; i++) sum[i] = _mm256_setzero_ps();
  for (size_t l = 0; l < s->lines; l++, w += 3 * PTE_PANEL) {
    const ptrdiff_t step = (ptrdiff_t)s->step[l];
    const float *x = s->line[l] + second * step + c, *first = x - (has_first ? step : 0);
    const float *last = x + (ptrdiff_t)(columns - 3 + has_last) * step;
    const __m256 weight[3] = {_mm256_load_ps(w), _mm256_load_ps(w + PTE_PANEL),
                              _mm256_load_ps(w + 2 * PTE_PANEL)};
#pragma GCC unroll 15
    for (size_t j = 0; j < columns; j++) {
      if (j % 3 == 1 && j > 1) x += 3 * step;
      __m256 v = j == 0             ? _mm256_and_ps(_mm256_loadu_ps(first), left)
                 : j + 1 == columns ? _mm256_and_ps(_mm256_loadu_ps(last), right)
                                    : _mm256_loadu_ps(x + (ptrdiff_t)((j + 2) % 3) * step);
#pragma GCC unroll 3
      for (size_t t = 0; t < 3; t++)
        if (j >= t && (j - t) % stride == 0 && (j - t) / stride < n)
          sum[(j - t) / stride] = _mm256_fmadd_ps(v, weight[t], sum[(j - t) / stride]);
    }
  }
  pte_finish_tile(s->finish, m, n, 1, c, true, sum);
  float *out = s->out + m * s->out_stride + c;
#pragma GCC unroll 7
  for (size_t i = 0; i < n; i++, out += s->out_stride) _mm256_storeu_ps(out, sum[i]);
}

INLINE void line_run(const size_t n, const size_t stride, const pte_depthwise_row_f32 *s) {
  for (size_t c = s->first; c < s->end; c += EIGHT)
    for (size_t m = 0; m < s->pixels; m += n)
      three_run(n, stride, s, pte_depthwise_piece(s->pixels, n, m), c);
}

static void whole_avx2(const pte_depthwise_row_f32 *s) {
  if (s->pixels < SIDE && s->stride == 1) line_run(PTE_WHOLE, 1, s);
  else if (s->pixels < SIDE) line_run(PTE_WHOLE, 2, s);
  else if (s->stride == 1) line_run(SIDE, 1, s);
  else line_run(SIDE, 2, s);
}

const pte_depthwise_f32 pte_depthwise_f32__avx2 = {
    .row = row_avx2, .whole = whole_avx2, .unit = EIGHT};
#else
typedef int pte_depthwise_f32__avx2_is_absent;
#endif

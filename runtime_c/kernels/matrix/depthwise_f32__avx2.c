/* Depthwise rows on AVX2 and FMA: up to six pixels by 16 channels side by side, so that sums hide
 * the latency of each other and a weight is loaded once; the fewer pixels, the more channels. The
 * last channels, fewer than 16, through masks. */
#if PTE_HAVE_AVX2
#include "kernels/matrix/finish.h"
#include "kernels/matrix/finish__avx2.h"

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
  pte_finish_avx2(s->finish, m, n, eights, c, sum);
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
  sum = pte_finish_masked_avx2(s->finish, m, c, mask, sum);
  _mm256_maskstore_ps(s->out + m * s->out_stride + c, mask, sum);
}

static void panels_run(const pte_depthwise_row_f32 *s, size_t m, size_t n, size_t c, bool wide) {
  switch (n) {
  case 1:
    if (wide) sums_run(1, 3, s, m, c);
    else sums_run(1, 1, s, m, c);
    break;
  case 2:
    if (wide) sums_run(2, 3, s, m, c);
    else sums_run(2, 1, s, m, c);
    break;
  case 3: sums_run(3, 1, s, m, c); break;
  case 4: sums_run(4, 1, s, m, c); break;
  case 5: sums_run(5, 1, s, m, c); break;
  default: sums_run(6, 1, s, m, c); break;
  }
}

/* Pieces of about as many pixels each, so of one or two only where there are no more. */
static void row_avx2(const pte_depthwise_row_f32 *s) {
  const size_t pieces = (s->pixels + PTE_STRIP - 1) / PTE_STRIP;
  const size_t wide = PTE_PANEL * (s->pixels <= 2 ? 3 : 1);
  for (size_t c = s->first, used; c < s->end; c += used) {
    const bool whole = s->end - c >= wide;
    used = whole ? wide : s->end - c < PTE_PANEL ? s->end - c : PTE_PANEL;
    for (size_t i = 0, m = 0, end; used >= PTE_PANEL && i < pieces; i++, m = end) {
      end = s->pixels * (i + 1) / pieces;
      panels_run(s, m, end - m, c, whole);
    }
    for (size_t m = 0; used < PTE_PANEL && m < s->pixels; m++)
      for (size_t e = 0; e < used; e += EIGHT) last_run(s, m, c + e, used - e);
  }
}

const pte_depthwise_f32 pte_depthwise_f32__avx2 = {.row = row_avx2};
#else
typedef int pte_depthwise_f32__avx2_is_absent;
#endif

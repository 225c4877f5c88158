/* Depthwise rows on AVX-512: up to eight pixels by 16 channels side by side, so that sums hide the
 * latency of each other and a weight is loaded once; the fewer pixels, the more channels. The last
 * channels, fewer than 16, by a mask. */
#if PTE_HAVE_AVX512
#include "kernels/depthwise/depthwise_f32.h"
#include "kernels/gemm/finish__avx512.h"
#include "kernels/panels.h"

#define INLINE static inline __attribute__((always_inline))

enum { ABREAST = 8 }; /* pixels */

INLINE __m512 some_load(__mmask16 mask, const float *x) { return _mm512_maskz_loadu_ps(mask, x); }

/* Pixels m .. m + n, `panels` times 16 channels from `c` on. Both numbers are constants in each
 * caller, so that the sums live in registers. */
INLINE void sums_run(const size_t n, const size_t panels, const pte_depthwise_row_f32 *s, size_t m,
                     size_t c, __mmask16 mask) {
  __m512 sum[16];
#pragma GCC unroll 16
  for (size_t i = 0; i < n * panels; i++) sum[i] = _mm512_setzero_ps();
  const size_t panel = s->lines * s->taps * PTE_PANEL;
  const float *w = s->weight + c * s->lines * s->taps;
  for (size_t l = 0; l < s->lines; l++) {
    const size_t ahead = s->stride * s->step[l], aside = s->dilation * s->step[l];
    const float *x = s->line[l] + m * ahead + c, *y = x + 3 * ahead, *z = y + 3 * ahead;
    for (size_t t = 0; t < s->taps; t++, w += PTE_PANEL) {
      __m512 weight[ABREAST];
#pragma GCC unroll 8
      for (size_t p = 0; p < panels; p++) weight[p] = _mm512_load_ps(w + p * panel);
#pragma GCC unroll 8
      for (size_t i = 0; i < n; i++) {
        const float *at = (i < 3 ? x : i < 6 ? y : z) + i % 3 * ahead;
#pragma GCC unroll 8
        for (size_t p = 0; p < panels; p++)
          sum[i * panels + p] =
              _mm512_fmadd_ps(some_load(mask, at + p * PTE_PANEL), weight[p], sum[i * panels + p]);
      }
      x += aside, y += aside, z += aside;
      __asm__("" : "+r"(x), "+r"(y), "+r"(z)); /* three addresses, not one for each load */
    }
  }
  float *out = s->out + m * s->out_stride + c;
  pte_finish_tile(s->finish, m, n, panels, c, mask, sum);
#pragma GCC unroll 8
  for (size_t i = 0; i < n; i++, out += s->out_stride)
#pragma GCC unroll 8
    for (size_t p = 0; p < panels; p++)
      _mm512_mask_storeu_ps(out + p * PTE_PANEL, mask, sum[i * panels + p]);
}

static void panel_run(const pte_depthwise_row_f32 *s, size_t m, size_t n, size_t c) {
  const size_t lanes = s->end - c < PTE_PANEL ? s->end - c : PTE_PANEL;
  const __mmask16 mask = (__mmask16)((1u << lanes) - 1);
  switch (n) {
  case 1: sums_run(1, 1, s, m, c, mask); break;
  case 3: sums_run(3, 1, s, m, c, mask); break;
  case 5: sums_run(5, 1, s, m, c, mask); break;
  default: sums_run(8, 1, s, m, c, mask); break;
  }
}

static void panels_run(const pte_depthwise_row_f32 *s, size_t m, size_t n, size_t c) {
  switch (n) {
  case 1: sums_run(1, 8, s, m, c, 0xffff); break;
  case 3: sums_run(3, 2, s, m, c, 0xffff); break;
  case 5: sums_run(5, 2, s, m, c, 0xffff); break;
  default: sums_run(8, 2, s, m, c, 0xffff); break;
  }
}

static void row_avx512(const pte_depthwise_row_f32 *s) {
  const size_t n = pte_depthwise_side(s->pixels, (const uint8_t[]){8, 5, 3, 1});
  const size_t wide = PTE_PANEL * (n == 1 ? 8 : 2);
  for (size_t c = s->first, used; c < s->end; c += used) {
    const bool whole = s->end - c >= wide;
    used = whole ? wide : PTE_PANEL;
    for (size_t m = 0; m < s->pixels; m += n) {
      const size_t at = pte_depthwise_piece(s->pixels, n, m);
      if (whole) panels_run(s, at, n, c);
      else panel_run(s, at, n, c);
    }
  }
}

enum { SIDE = 7 }; /* pixels side by side of a whole line */

/* Pixels m .. m + n of a whole line: what they read of a line of x is loaded once for all of them.
 * Only their first and their last column can be one that there is not: the one beside it is what is
 * read instead, by a mask of nothing. (Where it would be need not be memory, and to suppress such a
 * fault takes hundreds of cycles.) */
INLINE void three_run(const size_t n, const size_t stride, const pte_depthwise_row_f32 *s, size_t m,
                      size_t c, __mmask16 mask) {
  const size_t columns = (n - 1) * stride + 3;
  const ptrdiff_t second = s->column + (ptrdiff_t)(m * stride) + 1;
  const bool has_first = second > 0,
             has_last = second + (ptrdiff_t)columns <= (ptrdiff_t)s->width + 1;
  const __mmask16 left = has_first ? mask : 0, right = has_last ? mask : 0;
  const float *w = s->weight + c * s->lines * 3;
  __m512 sum[SIDE];
#pragma GCC unroll 7
  for (size_t i = 0; i < n; i++) sum[i] = _mm512_setzero_ps();
  for (size_t l = 0; l < s->lines; l++, w += 3 * PTE_PANEL) {
    const ptrdiff_t step = (ptrdiff_t)s->step[l];
    const float *x = s->line[l] + second * step + c, *first = x - (has_first ? step : 0);
    const float *last = x + (ptrdiff_t)(columns - 3 + has_last) * step;
    __m512 v[2 * SIDE + 1];
    v[0] = some_load(left, first), v[columns - 1] = some_load(right, last);
#pragma GCC unroll 13
    for (size_t i = 0; i + 2 < columns; i++) {
      if (i > 0 && i % 3 == 0) x += 3 * step;
      v[i + 1] = some_load(mask, x + (ptrdiff_t)(i % 3) * step);
    }
#pragma GCC unroll 3
    for (size_t t = 0; t < 3; t++) {
      const __m512 weight = _mm512_load_ps(w + t * PTE_PANEL);
#pragma GCC unroll 7
      for (size_t i = 0; i < n; i++) sum[i] = _mm512_fmadd_ps(v[i * stride + t], weight, sum[i]);
    }
  }
  pte_finish_tile(s->finish, m, n, 1, c, mask, sum);
  float *out = s->out + m * s->out_stride + c;
#pragma GCC unroll 7
  for (size_t i = 0; i < n; i++, out += s->out_stride) _mm512_mask_storeu_ps(out, mask, sum[i]);
}

INLINE void line_run(const size_t n, const size_t stride, const pte_depthwise_row_f32 *s) {
  for (size_t c = s->first; c < s->end; c += PTE_PANEL) {
    const size_t lanes = s->end - c < PTE_PANEL ? s->end - c : PTE_PANEL;
    for (size_t m = 0; m < s->pixels; m += n)
      three_run(n, stride, s, pte_depthwise_piece(s->pixels, n, m), c,
                (__mmask16)((1u << lanes) - 1));
  }
}

static void whole_avx512(const pte_depthwise_row_f32 *s) {
  const size_t pieces = (s->pixels + SIDE - 1) / SIDE;
  switch ((s->pixels + pieces - 1) / pieces * 2 + s->stride) {
  case 9:
  case 11: line_run(4, 1, s); break; /* five: fewer loops for a few widths */
  case 10:
  case 12: line_run(4, 2, s); break;
  case 13: line_run(6, 1, s); break;
  case 14: line_run(6, 2, s); break;
  case 15: line_run(7, 1, s); break;
  default: line_run(7, 2, s); break;
  }
}

const pte_depthwise_f32 pte_depthwise_f32__avx512 = {
    .row = row_avx512, .whole = whole_avx512, .unit = 1};
#else
typedef int pte_depthwise_f32__avx512_is_absent;
#endif

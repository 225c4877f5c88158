/* f32 matrix tiles on AVX-512: 14 x 32 of rows that lie evenly, a register for each row of each of
 * two panels, K in order; else 6 x 32, twelve sums, which cover two FMA pipes of latency 4. Fewer
 * rows take more panels side by side. */
#if PTE_HAVE_AVX512
#include "kernels/gemm/finish__avx512.h"
#include "kernels/gemm/gemm_f32.h"
#include "kernels/prefetch.h"

#define INLINE static inline __attribute__((always_inline))

/* `rows` and `panels` are constants in each caller, so that the tile lives in registers. */
INLINE void strip_run(const size_t rows, const size_t panels, const pte_tile_f32 *s, size_t strip) {
  const __mmask16 last = (__mmask16)(0xffffu >> s->missing);
  float *out = s->out + strip * rows * s->out_stride;
  __m512 sum[PTE_STRIP * PTE_ABREAST];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++)
      sum[m * panels + p] = s->first
                                ? _mm512_setzero_ps()
                                : _mm512_maskz_loadu_ps(p + 1 < panels ? 0xffff : last,
                                                        out + m * s->out_stride + PTE_PANEL * p);
  const float *const *row = s->row + strip * s->strip_step;
  for (size_t t = 0; t < s->taps; t++, row += PTE_STRIP) {
    const float *a[PTE_STRIP], *b[PTE_ABREAST];
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) a[m] = row[m] + s->offset;
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++) b[p] = s->panel[p] + t * s->tap_stride * PTE_PANEL;
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
  if (s->finish != NULL) pte_finish_tile(s->finish, strip * rows, rows, panels, 0, last, sum);
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t p = 0; p < panels; p++)
      _mm512_mask_storeu_ps(out + m * s->out_stride + PTE_PANEL * p, p + 1 < panels ? 0xffff : last,
                            sum[m * panels + p]);
}

INLINE void tile_run(const size_t rows, const size_t panels, const pte_tile_f32 *s) {
  for (size_t i = 0; i < s->strips; i++) {
    pte_tile_asks(s, i, panels);
    strip_run(rows, panels, s, i);
  }
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

/* Row `m` of up to seven, one, three and five steps being known: an address needs no sum. */
INLINE const float *row_at(const char *x, const size_t m, size_t step, size_t step_3,
                           size_t step_5) {
  const size_t places[PTE_SPAN] = {0, step, step * 2, step_3, step * 4, step_5, step_3 * 2};
  return (const float *)(const void *)(x + places[m]);
}

/* All of K into the sums of parts_run. A line that is asked for is so with several steps in turn:
 * to do it once would take a branch, which costs more. */
INLINE void steps_run(const size_t rows, const size_t panels, const bool asks,
                      const pte_parts_f32 *s, const pte_pair_f32 *t, const float *next,
                      __m512 *sum) {
  const size_t half = (rows + 1) / 2;
  const char *a = (const char *)(t->x[0] + s->offset), *b = (const char *)(t->x[1] + s->offset);
  const char *w = (const char *)s->panel[0], *ask = (const char *)next;
  size_t beside = panels > 1 ? (size_t)((const char *)s->panel[1] - w) : 0;
  size_t step = 4 * s->row_stride, step_3 = 3 * step, step_5 = 5 * step;
  const ptrdiff_t on = 4 * (ptrdiff_t)(s->tap_stride - s->run); /* below 0 where lines overlap */
  __asm__("" : "+r"(beside), "+r"(step), "+r"(step_3), "+r"(step_5)); /* registers, not additions */
  for (size_t i = 0; i < s->taps; i++, a += on, b += on) {
    const char *end = a + 4 * s->run;
    for (; a != end; a += 4, b += 4, w += 4 * PTE_PANEL) {
      __m512 v = _mm512_load_ps(w), u = panels > 1 ? _mm512_load_ps(w + beside) : v;
      if (asks) {
        _mm_prefetch(ask, _MM_HINT_T0);
        if (panels > 1) _mm_prefetch(ask + beside, _MM_HINT_T0);
        ask += s->further;
      }
#pragma GCC unroll 14
      for (size_t m = 0; m < rows; m++) {
        __m512 x = _mm512_set1_ps(*row_at(m < half ? a : b, m % half, step, step_3, step_5));
        sum[m * panels] = _mm512_fmadd_ps(x, v, sum[m * panels]);
        if (panels > 1) sum[m * panels + 1] = _mm512_fmadd_ps(x, u, sum[m * panels + 1]);
      }
    }
  }
}

/* The same of 14 x 32 where of the second panel only the lower half exists: two rows share a
 * register there, three products for four. */
INLINE void steps_halved(const pte_parts_f32 *s, const pte_pair_f32 *t, __m512 *sum) {
  const char *a = (const char *)(t->x[0] + s->offset), *b = (const char *)(t->x[1] + s->offset);
  const char *w = (const char *)s->panel[0];
  size_t beside = (size_t)((const char *)s->panel[1] - w);
  size_t step = 4 * s->row_stride, step_3 = 3 * step, step_5 = 5 * step;
  const ptrdiff_t on = 4 * (ptrdiff_t)(s->tap_stride - s->run);
  __m512 both[PTE_SPAN];
  __asm__("" : "+r"(beside), "+r"(step), "+r"(step_3), "+r"(step_5));
#pragma GCC unroll 7
  for (size_t m = 0; m < PTE_SPAN; m++) both[m] = _mm512_setzero_ps();
  for (size_t i = 0; i < s->taps; i++, a += on, b += on) {
    const char *end = a + 4 * s->run;
    for (; a != end; a += 4, b += 4, w += 4 * PTE_PANEL) {
      const __m512 v = _mm512_load_ps(w),
                   u = _mm512_broadcast_f32x8(_mm256_load_ps((const float *)(w + beside)));
#pragma GCC unroll 7
      for (size_t m = 0; m < PTE_SPAN; m++) {
        __m512 x = _mm512_set1_ps(*row_at(a, m, step, step_3, step_5));
        __m512 y = _mm512_set1_ps(*row_at(b, m, step, step_3, step_5));
        sum[2 * m] = _mm512_fmadd_ps(x, v, sum[2 * m]);
        sum[2 * (m + PTE_SPAN)] = _mm512_fmadd_ps(y, v, sum[2 * (m + PTE_SPAN)]);
        both[m] = _mm512_fmadd_ps(_mm512_mask_blend_ps(0xff00, x, y), u, both[m]);
      }
    }
  }
#pragma GCC unroll 7
  for (size_t m = 0; m < PTE_SPAN; m++) {
    sum[2 * m + 1] = both[m];
    sum[2 * (m + PTE_SPAN) + 1] = _mm512_shuffle_f32x4(both[m], both[m], 0x4e);
  }
}

/* Up to 14 x 32 of rows that lie evenly: half the weights a product that 6 x 32 asks of L2, and no
 * pointers. What is asked again behind the loops comes from memory then: GCC would keep it in
 * vector registers, whose moves wait for the sums, and the next tile's addresses for them. */
INLINE void parts_run(const size_t rows, const size_t panels, const pte_parts_f32 *s,
                      const pte_pair_f32 *t, const float *ask) {
  const __mmask16 last = (__mmask16)(0xffffu >> s->missing);
  const size_t half = (rows + 1) / 2;
  const pte_parts_f32 *volatile s_kept = s;
  const pte_pair_f32 *volatile t_kept = t;
  __m512 sum[4 * PTE_SPAN];
#pragma GCC unroll 28
  for (size_t i = 0; i < rows * panels; i++) sum[i] = _mm512_setzero_ps();
  if (!s->first) {
    size_t step = 4 * s->out_stride, step_3 = 3 * step, step_5 = 5 * step;
    const char *at[2] = {(char *)s->out + t->row[0] * step, (char *)s->out + t->row[1] * step};
#pragma GCC unroll 14
    for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 2
      for (size_t p = 0; p < panels; p++)
        sum[m * panels + p] = _mm512_maskz_loadu_ps(
            p + 1 < panels ? 0xffff : last,
            row_at(at[m / half], m % half, step, step_3, step_5) + PTE_PANEL * p);
  }
  const bool asks = rows >= 4; /* pte_pair_asks */
  if (panels > 1 && rows == 2 * PTE_SPAN && s->missing >= PTE_PANEL / 2 && s->first)
    steps_halved(s, t, sum);
  else if (panels > 1 && asks && s->further > 0) steps_run(rows, panels, true, s, t, ask, sum);
  else steps_run(rows, panels, false, s, t, ask, sum);
  s = s_kept, t = t_kept;
  if (s->finish != NULL) pte_finish_parts(s->finish, t->row, half, rows, panels, 0, last, sum);
  size_t step = 4 * s->out_stride, step_3 = 3 * step, step_5 = 5 * step;
  char *out[2] = {(char *)s->out + t->row[0] * step, (char *)s->out + t->row[1] * step};
#pragma GCC unroll 14
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 2
    for (size_t p = 0; p < panels; p++)
      _mm512_mask_storeu_ps(
          (float *)(uintptr_t)row_at(out[m / half], m % half, step, step_3, step_5) + PTE_PANEL * p,
          p + 1 < panels ? 0xffff : last, sum[m * panels + p]);
}

#define PANEL(n)                                                                                   \
  case n: parts_run(n, 1, s, t, ask); break
#define PANELS(n)                                                                                  \
  case n: parts_run(n, 2, s, t, ask); break

static void panel_run(const pte_parts_f32 *s, const pte_pair_f32 *t, const float *ask) {
  switch (t->rows) {
    PANEL(1);
    PANEL(2);
    PANEL(3);
    PANEL(4);
    PANEL(5);
    PANEL(6);
    PANEL(7);
    PANEL(14);
  }
}

/* Part `i` of a tile of one panel: seven sums nearly keep both pipes busy. */
static void part_run(const pte_parts_f32 *s, const pte_pair_f32 *t, size_t i, const float *ask) {
  const size_t rows = (t->rows + 1 - i) / 2, half = (rows + 1) / 2;
  const pte_pair_f32 part = {
      {t->x[i],   t->x[i] + half * s->row_stride},
      {t->row[i], t->row[i] + half              },
      rows
  };
  panel_run(s, &part, ask);
}

/* Tiles of 14 x 32 up to `end` or the first of fewer rows, which is what it returns: most there
 * are, and what is between two of them is least where nothing else is. */
__attribute__((noinline)) static const pte_pair_f32 *whole_run(const pte_parts_f32 *s,
                                                               const pte_pair_f32 *t,
                                                               const pte_pair_f32 *end,
                                                               const float *ask) {
  for (; t != end && t->rows == 2 * PTE_SPAN; t++, ask += s->beyond)
    parts_run(2 * PTE_SPAN, 2, s, t, ask);
  return t;
}

static void panels_run(const pte_parts_f32 *s, const pte_pair_f32 *t, const pte_pair_f32 *end) {
  const float *ask = s->ask;
  while (t != end) {
    const pte_pair_f32 *first = t;
    t = whole_run(s, t, end, ask);
    ask += (size_t)(t - first) * s->beyond;
    if (t == end) return;
    switch (t->rows) {
      PANELS(1);
      PANELS(2);
      PANELS(3);
      PANELS(4);
      PANELS(5);
      PANELS(6);
      PANELS(7);
      PANELS(8);
      PANELS(9);
      PANELS(10);
      PANELS(11);
      PANELS(12);
      PANELS(13);
    }
    ask += pte_pair_asks(t++) ? s->beyond : 0;
  }
}

static void parts_avx512(size_t panels, const pte_parts_f32 *s, const pte_pair_f32 *t,
                         size_t count) {
  if (panels > 1) {
    panels_run(s, t, t + count);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    if (t[i].rows == 2 * PTE_SPAN) {
      panel_run(s, &t[i], s->ask);
    } else {
      part_run(s, &t[i], 0, s->ask);
      part_run(s, &t[i], 1, s->ask);
    }
  }
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

static void vector_avx512(size_t k, size_t panels, const float *x, const float *panel, float *y) {
  pte_panels_stream(streams_run, k, panels, x, panel, y);
}

#include "kernels/gemm/gemm_few__avx512.inc"

const pte_gemm_f32 pte_gemm_f32__avx512 = {
    .tile = tile_avx512,
    .parts = parts_avx512,
    .few = few_avx512,
    .vector = vector_avx512,
    .unit = 1,
    .abreast = {0, 4, 4, 2, 2, 2, 2},
};
#else
typedef int pte_gemm_f32__avx512_is_absent;
#endif

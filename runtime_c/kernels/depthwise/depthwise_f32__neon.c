/* Depthwise rows on NEON: up to six pixels by 16 channels side by side, so that sums hide the
 * latency of each other and a weight is loaded once; the last channels, fewer than 16, four at a
 * time and then one by one. */
#if PTE_HAVE_NEON
#include "kernels/depthwise/depthwise_f32.h"
#include "kernels/gemm/finish__neon.h"
#include "kernels/panels.h"

#define INLINE static inline __attribute__((always_inline))
enum {
  QUADS = PTE_PANEL / 4,
  ABREAST = 8, /* pixels of three taps, */
  SPARE = 4    /* of which so many may be computed twice */
};

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
  float *out = s->out + m * s->out_stride + c;
  pte_finish_tile(s->finish, m, n, quads, c, true, sum);
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

/* sum += x * weight, in the order in which it stands: see lanes__neon.h. */
INLINE void add(float32x4_t *sum, float32x4_t x, float32x4_t weight, const float **next,
                const float **w) {
#ifdef __clang__
  __asm__ volatile("fmla %0.4s, %3.4s, %4.4s"
                   : "+w"(*sum), "+r"(*next), "+r"(*w)
                   : "w"(x), "w"(weight));
#else
  (void)next, (void)w;
  __asm__ volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(*sum) : "w"(x), "w"(weight));
#endif
}

/* Eight channels: of a column of x, of a tap. */
typedef struct eight {
  float32x4_t half[2];
} eight;

INLINE eight eight_load(const float *x) {
  return (eight){
      {vld1q_f32(x), vld1q_f32(x + 4)}
  };
}

/* Pixels m .. m + n of three taps, eight channels from `c` on. A column of x is loaded once for all
 * of them, among the products of the column two before; so are the weights of a tap, those of the
 * next line where this one has done with them. Behind the last line the same is read once more. */
INLINE void three_run(const size_t n, const size_t stride, const pte_depthwise_row_f32 *s, size_t m,
                      size_t c) {
  const size_t columns = (n - 1) * stride + 3;
  float32x4_t sum[2 * ABREAST];
#pragma GCC unroll 16
  for (size_t i = 0; i < 2 * n; i++) sum[i] = vdupq_n_f32(0);
  const float *w = s->weight + c / PTE_PANEL * PTE_PANEL * s->lines * 3 + c % PTE_PANEL;
  const float *const *line = s->line;
  const size_t *steps = s->step;
  size_t step = *steps;
  const float *x = *line + m * stride * step + c;
  eight tap[3] = {eight_load(w), eight_load(w + PTE_PANEL)}, now = eight_load(x), next;
  next = eight_load(x + step), x += 2 * step, w += 2 * PTE_PANEL;
  for (size_t left = s->lines; left > 0; left--) {
    const size_t more = left > 1, w_step = more * PTE_PANEL;
    const float *below = x;
    size_t down = step;
#pragma GCC unroll 17
    for (size_t j = 0; j < columns; j++) {
      const size_t t = j == 1 ? 2 : j + 3 - columns; /* the tap whose weights are read */
      const bool reads = j == 1 || j == columns - 3 || j == columns - 2;
      eight after = next;
      size_t done = 0;
      if (j == 0) line += more, steps += more;
      if (j == 1) down = *steps;
      if (j == 2) below = *line + c;
      if (j == 4) below += m * stride * down;
      if (j + 2 == columns) x = below, step = down;
#pragma GCC unroll 6
      for (size_t k = 0; k < 6; k++) { /* a tap, half of the channels */
        const size_t i = (j - k / 2) / stride;
        if (j < k / 2 || (j - k / 2) % stride != 0 || i >= n) continue;
        add(&sum[2 * i + k % 2], now.half[k % 2], tap[k / 2].half[k % 2], &x, &w);
        if (done < 2) after.half[done] = vld1q_f32(x + 4 * done);
        else if (reads && done < 4) tap[t].half[done - 2] = vld1q_f32(w + 4 * (done - 2));
        if (done++ == 1) x += step;
      }
#pragma GCC unroll 2
      for (; reads && done < 4; done++) tap[t].half[done - 2] = vld1q_f32(w + 4 * (done - 2));
      if (reads) w += w_step;
      now = next, next = after;
    }
  }
  float *out = s->out + m * s->out_stride + c;
  pte_finish_tile(s->finish, m, n, 2, c, true, sum);
#pragma GCC unroll 8
  for (size_t i = 0; i < n; i++, out += s->out_stride)
    vst1q_f32(out, sum[2 * i]), vst1q_f32(out + 4, sum[2 * i + 1]);
}

/* Pieces of about as many pixels each, from m on. */
static void pieces_run(const pte_depthwise_row_f32 *s, size_t m, size_t c) {
  const size_t first = m, pixels = s->pixels - m, pieces = (pixels + PTE_STRIP - 1) / PTE_STRIP;
  for (size_t i = 1, end; i <= pieces; i++, m = end) {
    end = first + pixels * i / pieces;
    panel_run(s, m, end - m, c);
  }
}

/* The last of the pieces of eight pixels may begin before the one before it ends, if most of it is
 * new. */
static void threes_run(const pte_depthwise_row_f32 *s, size_t c) {
  size_t m = 0;
  for (; m + SPARE < s->pixels; m += ABREAST) {
    const size_t from = m + ABREAST < s->pixels ? m : s->pixels - ABREAST;
    for (size_t half = c; half < c + PTE_PANEL; half += PTE_PANEL / 2) {
      if (s->stride == 1) three_run(ABREAST, 1, s, from, half);
      else three_run(ABREAST, 2, s, from, half);
    }
  }
  if (m < s->pixels) pieces_run(s, m, c);
}

static void row_neon(const pte_depthwise_row_f32 *s) {
  const bool three = s->taps == 3 && s->dilation == 1 && s->stride - 1 <= 1 && s->pixels >= ABREAST;
  size_t c = s->first;
  for (; c < s->end && s->end - c >= PTE_PANEL; c += PTE_PANEL) {
    if (three) threes_run(s, c);
    else pieces_run(s, 0, c);
  }
  for (size_t m = 0; c < s->end && m < s->pixels; m++) pixel_last(s, m, c);
}

const pte_depthwise_f32 pte_depthwise_f32__neon = {.row = row_neon};
#else
typedef int pte_depthwise_f32__neon_is_absent;
#endif

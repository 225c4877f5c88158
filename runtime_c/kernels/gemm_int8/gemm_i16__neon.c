/* int16 times int8 on NEON: sixteen columns of an element of K come apart on their way from a panel
 * (ld4), are widened, and smlal multiplies them by one lane of four elements of a row. */
#if PTE_HAVE_NEON
#include "core/kept.h"
#include "kernels/gemm_int8/gemm_i16.h"
#include "kernels/requantize/rescale__neon.h"
#include "kernels/requantize/rescale_i16.h"

enum { ROWS = 4 };

INLINE int32x4_t four_shifted(int32x4_t sum, const pte_rescale_columns *c, size_t n) {
  return four_rescaled(true, vqshlq_s32(sum, vld1q_s32(c->add + n)), c, n);
}

INLINE void words_put(const int32x4_t *sum, const pte_rescale_columns *c, size_t lanes,
                      int16_t *y) {
  int16_t some[PTE_PANEL], *to = lanes == PTE_PANEL ? y : some;
#pragma GCC unroll 2
  for (size_t h = 0; h < 2; h++) {
    const int16x4_t low = vqmovn_s32(four_shifted(sum[2 * h], c, 8 * h));
    const int16x4_t high = vqmovn_s32(four_shifted(sum[2 * h + 1], c, 8 * h + 4));
    const int16x8_t words = vmaxq_s16(vcombine_s16(low, high), vdupq_n_s16((int16_t)c->low));
    vst1q_s16(to + 8 * h, vminq_s16(words, vdupq_n_s16((int16_t)c->high)));
  }
  if (lanes < PTE_PANEL) memcpy(y, some, lanes * sizeof *y);
}

INLINE void tile_of(const size_t rows, const pte_tile_i16 *t) {
  int32x4_t sum[ROWS][FOURS];
  const int16_t *x = t->x;
  const int8_t *w = t->panel;
#pragma GCC unroll 4
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t f = 0; f < FOURS; f++) sum[m][f] = vld1q_s32(t->start[m * t->start_row] + 4 * f);
  for (size_t q = 0; q < t->quads; q++, w += 64, x += 4) {
    const int8x16x4_t apart = vld4q_s8(w);
#define ELEMENT(i)                                                                                 \
  do {                                                                                             \
    const int16x8_t low = vmovl_s8(vget_low_s8(apart.val[i]));                                     \
    const int16x8_t high = vmovl_high_s8(apart.val[i]);                                            \
    _Pragma("GCC unroll 4") for (size_t m = 0; m < rows; m++) {                                    \
      const int16x4_t four = vld1_s16(x + m * t->row);                                             \
      sum[m][0] = vmlal_lane_s16(sum[m][0], vget_low_s16(low), four, i);                           \
      sum[m][1] = vmlal_high_lane_s16(sum[m][1], low, four, i);                                    \
      sum[m][2] = vmlal_lane_s16(sum[m][2], vget_low_s16(high), four, i);                          \
      sum[m][3] = vmlal_high_lane_s16(sum[m][3], high, four, i);                                   \
    }                                                                                              \
  } while (0)
    ELEMENT(0);
    ELEMENT(1);
    ELEMENT(2);
    ELEMENT(3);
#undef ELEMENT
  }
#pragma GCC unroll 4
  for (size_t m = 0; m < rows; m++)
#pragma GCC unroll 4
    for (size_t f = 0; f < FOURS; f++) vst1q_s32(t->sum[m] + 4 * f, sum[m][f]);
  for (size_t m = 0; t->columns != NULL && m < rows; m++)
    words_put(sum[m], t->columns, t->lanes, t->y + m * t->y_stride);
}

static void tile(size_t rows, const pte_tile_i16 *t) {
  if (rows == ROWS) tile_of(ROWS, t);
  else if (rows == ROWS / 2) tile_of(ROWS / 2, t);
  else tile_of(1, t);
}

static void taps(const pte_taps_i16 *t, size_t first, size_t end, const int16_t *const *tap,
                 size_t pixels, size_t step, int16_t *y) {
  for (size_t i = 0; i < pixels; i++)
    for (size_t c = first; c < end; c += PTE_PANEL) {
      const size_t lanes = end - c < PTE_PANEL ? end - c : PTE_PANEL;
      const pte_rescale_columns *columns = t->columns + c / PTE_PANEL;
      const int16_t *w = t->weight + c * (t->taps + t->taps % 2);
      int32x4_t sum[FOURS];
#pragma GCC unroll 4
      for (size_t f = 0; f < FOURS; f++) sum[f] = vld1q_s32(columns->bias + 4 * f);
      for (size_t k = 0; k < t->taps; k++, w += PTE_PANEL) {
        int16_t some[PTE_PANEL] = {0};
        const int16_t *x = tap[k] + i * step + c;
        if (lanes < PTE_PANEL) x = memcpy(some, x, lanes * sizeof *x);
#pragma GCC unroll 2
        for (size_t h = 0; h < 2; h++) {
          const int16x8_t a = vld1q_s16(x + 8 * h), b = vld1q_s16(w + 8 * h);
          sum[2 * h] = vmlal_s16(sum[2 * h], vget_low_s16(a), vget_low_s16(b));
          sum[2 * h + 1] = vmlal_high_s16(sum[2 * h + 1], a, b);
        }
      }
      words_put(sum, columns, lanes, y + i * t->channels + c);
    }
}

INLINE int32x4_t addends(int16x4_t codes, const pte_rescale_columns *c) {
  return four_rescaled(true, vshll_n_s16(codes, 16), c, 0);
}

static void add(size_t count, const int16_t *a, const int16_t *b, const pte_rescale_columns *f,
                int16_t *y) {
  const pte_rescale_columns last = f[2]; /* y is words and could be it */
  for (size_t i = 0; i < count; i += PTE_PANEL) {
    int32x4_t sum[FOURS];
#pragma GCC unroll 4
    for (size_t n = 0; n < FOURS; n++)
      sum[n] =
          vaddq_s32(addends(vld1_s16(a + i + 4 * n), f), addends(vld1_s16(b + i + 4 * n), f + 1));
    words_put(sum, &last, PTE_PANEL, y + i);
  }
}

const pte_gemm_i16 pte_gemm_i16__neon = {.tile = tile,
                                         .taps = taps,
                                         .add = PTE_WITH(ADD_I16, add),
                                         .most_rows = ROWS,
                                         .most_panels = 1,
                                         .block = PTE_PANEL,
                                         .pairs = false};
#else
typedef int pte_gemm_i16__neon_is_absent;
#endif

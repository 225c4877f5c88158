/* The family of depthwise_f32: depthwise sums of pixels of a line. */
#ifndef PTE_DEPTHWISE_F32_H
#define PTE_DEPTHWISE_F32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm/finish_f32.h"
#include "kernels/variant.h"

/* Depthwise sums of pixels side by side: out[m][c] = sum over lines l, then t < taps, of
 * line[l][(m * stride + t * dilation) * step[l] + c] * weight of tap l * taps + t, for c in first
 * .. end, sequential and fused. */
typedef struct pte_depthwise_row_f32 {
  const float *const *line;
  const size_t *step; /* floats from pixel to pixel; 0: all of it is padding */
  ptrdiff_t
      column;   /* of pixel 0's first tap, for `whole`: -1 or more; `row` begins line[l] there */
  size_t width; /* columns that there are, for `whole`: no tap is more than one behind them */
  size_t lines, taps, stride, dilation; /* taps: of a line; stride, dilation: in pixels */
  size_t pixels, first, end;            /* first: a multiple of 16 */
  const float *weight;                  /* [c / 16][lines * taps][16], 64-byte aligned */
  const pte_finish_f32 *finish;         /* from channel 0 on, as out */
  float *out;                           /* aliases nothing */
  size_t out_stride;
} pte_depthwise_row_f32;

enum { PTE_WHOLE = 4 }; /* pixels of a whole line, at least */

typedef struct pte_depthwise_f32 {
  void (*row)(const pte_depthwise_row_f32 *row);
  /* The same of a line with its edges: three taps, dilation 1, stride 1 or 2, channels a multiple
   * of `unit`. NULL: there is none. */
  void (*whole)(const pte_depthwise_row_f32 *row);
  uint8_t unit;
} pte_depthwise_f32;

PTE_FAMILY(depthwise_f32)

/* Which of the numbers of pixels that a variant takes side by side, `sides`, the largest first and
 * 1 last, cuts a line of so many into pieces (pte_depthwise_piece) with the least to do. */
static inline size_t pte_depthwise_side(size_t pixels, const uint8_t *sides) {
  size_t best = 1;
  for (size_t least = pixels; *sides > 1; sides++) {
    const size_t all = (pixels + *sides - 1) / *sides * *sides;
    if (*sides <= pixels && (all < least || best == 1)) best = *sides, least = all;
  }
  return best;
}

/* Where the piece of `side` pixels begins that would at m: the last one of a line may begin before
 * the one before it ends. */
static inline size_t pte_depthwise_piece(size_t pixels, size_t side, size_t m) {
  return m + side < pixels ? m : pixels - side;
}

#endif

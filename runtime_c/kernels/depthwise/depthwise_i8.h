/* The family of depthwise_i8: depthwise sums of int8. */
#ifndef PTE_DEPTHWISE_I8_H
#define PTE_DEPTHWISE_I8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/requantize/rescale.h"
#include "kernels/variant.h"

/* A depthwise convolution of int8. */
typedef struct pte_taps_i8 {
  size_t taps, channels;              /* channels: of a pixel */
  const pte_rescale_columns *columns; /* a panel each, of channels up to a multiple of 64 */
  char *weight; /* what `lay` makes: PTE_TAPS_BYTES(taps) for 64 channels, 64-byte aligned */
  bool walk;    /* for `walk`: nine taps, three lines of three */
} pte_taps_i8;

/* Outputs side by side of windows of 3 by 3: output i reads columns i * stride .. + 3 of each line.
 * Columns from .. to exist, `from` lies at line[l], others step[l] further each (0: all of it is
 * padding); the rest reads `zeros`, which are as many as channels. */
typedef struct pte_walk_i8 {
  const int8_t *line[3], *zeros;
  size_t step[3];
  int64_t from, to;
  size_t outputs, stride; /* 1 or 2 */
  int8_t *y;
} pte_walk_i8;

#define PTE_TAPS_BYTES(taps) (((taps) + 3) / 4 * 512 + 1088)

/* Sums of products in int32 that wraps: exact where the sum fits. */
typedef struct pte_depthwise_i8 {
  /* Weights of channels first .. first + count, of 1 to 64, first a multiple of 64, whose panels
   * are at `codes`: pte_tap_codes */
  void (*lay)(const pte_taps_i8 *t, size_t first, size_t count, const int8_t *codes);
  /* Pixels i side by side: y[i * channels + c] = rescaled bias[c] + sum over taps t of tap[t][i *
   * step + c] * weight, for c in first .. end, first as above; up to three pointers follow the
   * last, alike */
  void (*taps)(const pte_taps_i8 *t, size_t first, size_t end, const int8_t *const *tap,
               size_t pixels, size_t step, int8_t *y);
  /* The same of such windows, for channels first .. end; NULL: there is none */
  void (*walk)(const pte_taps_i8 *t, size_t first, size_t end, const pte_walk_i8 *walk);
} pte_depthwise_i8;

PTE_FAMILY(depthwise_i8)

#endif

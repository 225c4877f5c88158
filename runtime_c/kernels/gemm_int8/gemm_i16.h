/* The family of gemm_i16: products, depthwise sums and additions of int16. */
#ifndef PTE_GEMM_I16_H
#define PTE_GEMM_I16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_int8/tiles.h"
#include "kernels/requantize/rescale.h"
#include "kernels/variant.h"

/* Rows of int16 times panels of int8: start + sum over q < quads, i < 4 of x[m][4q + i] *
 * panel[p][(16q + n) * 4 + i] for columns n of panels p, in int32 that wraps. */
typedef struct pte_tile_i16 {
  const int16_t *x;    /* rows of whole quads, `row` elements apart */
  const int8_t *panel; /* 64-byte aligned; the next one, most_panels of them, panel_bytes further */
  size_t row, panel_bytes, quads;
  const int32_t (
      *start)[PTE_PANEL]; /* [rows][most_panels][16], rows start_row apart, in sixteens */
  size_t start_row;
  int32_t (*sum)[PTE_PANEL];          /* [rows][most_panels][16]; may be `start` */
  const pte_rescale_columns *columns; /* a panel each, narrow ones; NULL: sums are all */
  int16_t *y;                         /* dense in a row, aliases nothing */
  size_t y_stride, lanes;             /* lanes: columns of all panels that exist */
} pte_tile_i16;

/* A depthwise convolution of int16. */
typedef struct pte_taps_i16 {
  const pte_rescale_columns *columns; /* a panel each, narrow, of channels up to whole blocks */
  const int16_t *weight;              /* [channels / block][taps up to an even number][block] */
  size_t taps, channels;              /* channels: of a pixel */
} pte_taps_i16;

typedef struct pte_gemm_i16 {
  void (*tile)(size_t rows, const pte_tile_i16 *tile); /* rows: most_rows, half of them, or one */
  /* Pixels i side by side: y[i * channels + c] = rescaled bias[c] + sum over taps k of tap[k][i *
   * step + c] * weight, c in first .. end, first a multiple of PTE_BLOCK_I16, end even; a pointer
   * follows the last, alike */
  void (*taps)(const pte_taps_i16 *t, size_t first, size_t end, const int16_t *const *tap,
               size_t pixels, size_t step, int16_t *y);
  /* y[i] = rescaled sum of a[i] 2^16 and b[i] 2^16, rescaled each, i < count, a multiple of 16;
   * factors of the three, narrow, the columns of each alike; y may be a */
  void (*add)(size_t count, const int16_t *a, const int16_t *b, const pte_rescale_columns *factors,
              int16_t *y);
  uint8_t most_rows, most_panels; /* at most PTE_STRIP, PTE_BESIDE */
  uint8_t block;                  /* channels of a step of `taps`: divides PTE_BLOCK_I16 */
  bool pairs;                     /* of taps: pte_tap_word */
} pte_gemm_i16;

enum { PTE_BLOCK_I16 = 32 };

PTE_FAMILY(gemm_i16)

#endif

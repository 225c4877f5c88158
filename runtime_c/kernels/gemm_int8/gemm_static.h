/* The family of gemm_static: products of int8. */
#ifndef PTE_GEMM_STATIC_H
#define PTE_GEMM_STATIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm_int8/gather.h"
#include "kernels/gemm_int8/tiles.h"
#include "kernels/requantize/rescale.h"
#include "kernels/rotate/rotate_i8.h"
#include "kernels/variant.h"

/* One register tile: start + sum over q < quads, i < 4 of x[m][4q + i] * panel[p][(16q + n) * 4 +
 * i] for columns n of panels p. */
typedef struct pte_tile_i8 {
  const char *x;       /* rows as `gather` leaves them */
  const int8_t *panel; /* 64-byte aligned */
  size_t quads, row_bytes, panel_bytes;
  const int8_t *next; /* what is read later, to be asked for `next_step` bytes further each quad */
  size_t next_step, next_panel; /* 0, or the same so much further */
  const int32_t *start;
  size_t start_row, start_panel;      /* between rows and panels of `start` */
  const pte_rescale_columns *columns; /* a panel each, narrow ones; NULL: sums go to `sum` */
  int32_t (*sum)[PTE_PANEL];          /* [rows][panels][16]; may be `start` */
  int8_t *y;                          /* dense in a row, aliases nothing */
  size_t y_stride, lanes;             /* lanes in 1..16: columns of the last panel that exist */
  const uint32_t *peaks, *pairs;      /* what the functions of these names say, where there are */
} pte_tile_i8;

/* int8 times int8, summed in int32 that wraps: exact where the sum fits. */
typedef struct pte_gemm_static {
  /* Rows in the variant's own form, filled up with zeros to a multiple of 4 elements of at most two
   * bytes. */
  void (*gather)(const pte_gather *gather);
  /* pte_rescale_complete */
  void (*columns)(pte_rescale_columns *columns, const int8_t *shifts);
  /* Where the form of x adds to sums: row 0 of a tile is one of zeros, which sums that alone. It
   * leaves `start`, of all panels `start_panel` apart, which then joins the rows after it. NULL: it
   * adds nothing. */
  void (*settle)(size_t rows, size_t panels, int32_t *start, size_t start_panel,
                 int32_t (*sum)[PTE_PANEL]);
  void (*tile)(size_t rows, size_t panels, const pte_tile_i8 *tile); /* in 1..most */
  /* y of a row's sums of a panel, any columns (pte_rescale_lift); NULL: pte_rescale_row */
  void (*wide)(const int32_t *sum, const pte_rescale_columns *columns, size_t lanes, int8_t *y);
  /* Around the tiles of a task: registers that the thread has only between them; NULL: none */
  void (*enter)(void);
  void (*leave)(void);
  /* What is faster for many rows, where most elements are not far above -128, or not far from 0:
   * NULL, it is this. */
  const struct pte_gemm_static *low, *near;
  /* Where sums of products must fit 16 bits: for every eight elements along K, of the rows of a
   * tile and of a panel, factors of a bound, in the low half of four products, above it of two.
   * Peaks begin with what a tile takes off each of most_rows rows; up to a multiple of eight there
   * is room for factors. NULL: they need not. */
  void (*peaks)(size_t rows, size_t quads, const char *x, size_t row_bytes, uint32_t *peaks);
  void (*pairs)(size_t quads, const int8_t *panel, uint32_t *pairs);
  /* tile and `scaled` of rotate_i8 at once, of most_rows by most_panels panels whose columns all
   * exist, from one start for all rows, with a finish without limits, and the same of strips that
   * follow, `strips` together; settle, too, of a single strip, where it is not NULL: where that
   * leaves `start`. NULL: there is none */
  void (*turned)(const pte_tile_i8 *tile, const pte_scaled_i8 *scaled, size_t strips,
                 int32_t (*settle)[PTE_PANEL]);
  uint8_t most_rows, most_panels; /* at most PTE_BESIDE panels, PTE_SUMS together */
  uint8_t widened;                /* bytes of an element of a row */
} pte_gemm_static;

/* Of a tile's rows. */
static inline size_t pte_peaks_count(const pte_gemm_static *kernel, size_t quads) {
  return kernel->peaks == NULL ? 0 : kernel->most_rows + (quads + 15) / 16 * 8;
}

PTE_FAMILY(gemm_static)

#endif

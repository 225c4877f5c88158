/* The family of winograd_f32: Winograd's transforms of conv_winograd. */
#ifndef PTE_WINOGRAD_F32_H
#define PTE_WINOGRAD_F32_H

#include <stddef.h>

#include "kernels/gemm/finish_f32.h"
#include "kernels/variant.h"

/* Where a tile of up to 4 x 4 pixels goes; `y`, `finish` and their rows are those of its first. */
typedef struct pte_winograd_tile {
  const float *m; /* 36 sums a channel, `step` apart */
  size_t step, rows, columns;
  float *y;
  size_t stride, width; /* floats from pixel to pixel; pixels from line to line */
  const pte_finish_f32 *finish;
} pte_winograd_tile;

/* Winograd's F(4 x 4, 3 x 3) of channels first .. end, multiples of 16. */
typedef struct pte_winograd_f32 {
  /* v[e * step + c], e < 36, of 6 x 6 pixels: their addresses, row by row */
  void (*forward)(const float *const *pixel, size_t first, size_t end, float *v, size_t step);
  void (*back)(const pte_winograd_tile *tile, size_t first, size_t end);
} pte_winograd_f32;

PTE_FAMILY(winograd_f32)

#endif

/* The family of rotate_i8: rows of matmul_turned as codes of 8 bits, and its sums as f32. */
#ifndef PTE_ROTATE_I8_H
#define PTE_ROTATE_I8_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm/finish_f32.h"
#include "kernels/panels.h"
#include "kernels/variant.h"

/* What follows the sums of a tile of matmul_turned: y = finish(f32(sum) * (x_scale * w_scale)). */
typedef struct pte_scaled_i8 {
  const int32_t (*sum)[PTE_PANEL]; /* [rows][panels][16] */
  const float *x_scale, *w_scale;  /* a row each; a column each, 16 of each panel */
  const pte_finish_f32 *finish;    /* as seen from the first element */
  float *y;
  size_t y_stride, lanes; /* lanes in 1..16: columns of the last panel that exist */
} pte_scaled_i8;

typedef struct pte_rotate_i8 {
  /* pte_turned_row, pte_row_codes and pte_scaled_tile of rotate_rows.h */
  uint32_t (*turn)(size_t depth, const float *x, float *to);
  void (*codes)(size_t count, const float *x, uint32_t largest, int8_t *code, float *scale);
  void (*scaled)(const pte_scaled_i8 *scaled, size_t rows, size_t panels);
} pte_rotate_i8;

PTE_FAMILY(rotate_i8)

#endif

/* Rows of a plain matrix and panels in place, for kernels/gemm/gemm.h. */
#ifndef PTE_GEMM_PLAIN_H
#define PTE_GEMM_PLAIN_H

#include "kernels/gemm/gemm.h"

/* A plain matrix: row m of group g starts at a + m * stride + g * group_step. */
typedef struct pte_matrix {
  const float *a;
  size_t stride, group_step;
} pte_matrix;
pte_gemm_fill pte_matrix_fill;

/* The lines of a matrix. */
pte_gemm_lines pte_matrix_lines(size_t rows, size_t run, size_t stride);

/* f32 panels in place: panel p starts at data + p * depth * 16. */
typedef struct pte_plain_panels {
  const float *data;
  size_t depth;
} pte_plain_panels;
pte_panel_read pte_plain_panels_read;

#endif

/* Rows of f32 for AVX2 with FMA: the same source, the same bits. */
#define VARIANT pte_rows_f32__avx2
#include "kernels/rows/rows_f32.inc"

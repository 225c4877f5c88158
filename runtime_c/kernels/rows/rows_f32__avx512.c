/* Rows of f32 for AVX-512: the same source, the same bits. */
#define VARIANT pte_rows_f32__avx512
#include "kernels/rows/rows_f32.inc"

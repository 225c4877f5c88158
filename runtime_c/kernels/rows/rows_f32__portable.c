/* Rows of f32 in portable C: defines the bits. */
#define VARIANT pte_rows_f32__portable
#include "kernels/rows/rows_f32.inc"

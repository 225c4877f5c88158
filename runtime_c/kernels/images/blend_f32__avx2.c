/* Weighted sums of rows for AVX2 and FMA: the portable loops, compiled with -mavx2 -mfma. */
#define VARIANT pte_blend_f32__avx2
#include "kernels/images/blend.inc"

/* Winograd's transforms for AVX2 and FMA: the portable loops, compiled with -mavx2 -mfma. */
#define VARIANT pte_winograd_f32__avx2
#include "kernels/winograd/winograd.inc"

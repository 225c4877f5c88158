/* Sums and maxima of rows for AVX2, compiled with -mavx2 -mfma. */
#define VARIANT pte_pool_f32__avx2
#include "kernels/images/pool.inc"

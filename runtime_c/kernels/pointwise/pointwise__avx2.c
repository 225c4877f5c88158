/* The pointwise engine for AVX2 with FMA and F16C: the same source, vectorised by the compiler, the
 * same bits. */
#define VARIANT pte_pointwise__avx2
#include "kernels/pointwise/pointwise_steps.inc"

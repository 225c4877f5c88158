/* The pointwise engine for AVX-512: the same source, vectorised by the compiler, the
 * same bits. */
#define VARIANT pte_pointwise__avx512
#include "kernels/pointwise/pointwise_steps.inc"

/* attention for AVX-512: the portable loops, compiled for it. */
#define VARIANT pte_attention_f32__avx512
#include "kernels/sequence/attention.inc"

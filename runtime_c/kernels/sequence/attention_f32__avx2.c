/* attention for AVX2 and FMA: the portable loops, compiled with -mavx2 -mfma. */
#define VARIANT pte_attention_f32__avx2
#include "kernels/sequence/attention.inc"

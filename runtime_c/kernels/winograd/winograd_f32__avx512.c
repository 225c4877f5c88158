/* Winograd's transforms for AVX-512: the same, a line of six in registers. */
#if PTE_HAVE_AVX512
#define VARIANT pte_winograd_f32__avx512
#include "kernels/winograd/winograd.inc"
#else
typedef int pte_winograd_f32__avx512_is_absent;
#endif

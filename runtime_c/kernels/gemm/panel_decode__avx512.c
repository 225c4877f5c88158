/* Decoding of FP8 for AVX-512: sixteen rows of a panel are a register. The variant for AVX2 decodes
 * all else. */
#if PTE_HAVE_AVX512
#include "kernels/gemm/panel_decode.h"

extern const pte_panel_decode pte_panel_decode__avx2;

#define VARIANT     pte_panel_decode__avx512
#define OTHERS_READ pte_panel_decode__avx2.read
#include "kernels/gemm/panel_floats.inc"
#else
typedef int pte_panel_decode__avx512_is_absent;
#endif

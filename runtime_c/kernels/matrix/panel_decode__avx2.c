/* Decoding of stored weights for AVX2: the same source, the same bits. */
#define VARIANT pte_panel_decode__avx2
#if PTE_HAVE_AVX2
#include "kernels/matrix/panel_decode.inc"
#endif

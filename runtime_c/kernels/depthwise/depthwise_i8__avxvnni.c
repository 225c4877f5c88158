/* Depthwise sums of int8 on AVX-VNNI: those of AVX2, without windows of 3 by 3. */
#if PTE_HAVE_AVXVNNI
#include "kernels/depthwise/depthwise_i8_x86.inc"

const pte_depthwise_i8 pte_depthwise_i8__avxvnni = {.lay = lay, .taps = taps};
#endif

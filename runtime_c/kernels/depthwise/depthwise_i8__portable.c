/* Depthwise sums of int8 in plain C. This file defines the bits. */
#include "kernels/depthwise/depthwise_i8_taps.h"

PTE_TAPS_I8(pte_i8_sixteen_plain)

const pte_depthwise_i8 pte_depthwise_i8__portable = {.lay = lay, .taps = taps};

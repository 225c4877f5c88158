/* The convolutions of conv_i8 whose groups have one channel and one column each. */
#ifndef PTE_CONV_I8_DEPTHWISE_H
#define PTE_CONV_I8_DEPTHWISE_H

#include "kernels/matrix/conv_i8_plan.h"

/* As `open` of pte_conv_element. */
void pte_conv_i8_taps_open(pte_conv_i8_plan *p);

extern const pte_conv_taps pte_conv_i8_taps;

#endif

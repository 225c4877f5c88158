/* The convolutions of conv_i8 whose groups have one channel and one column each. */
#ifndef PTE_CONV_I8_DEPTHWISE_H
#define PTE_CONV_I8_DEPTHWISE_H

#include "kernels/matrix/conv_i8_plan.h"

/* Completes the plan of a depthwise convolution; false: it needs more memory than there can be. */
bool pte_conv_i8_plan_depthwise(pte_conv_i8_plan *p);

/* Lays out weights and columns behind the plan; false: the run is to end. */
bool pte_conv_i8_depthwise_keep(const pte_conv_i8_plan *p, pte_pace *pace);

/* Runs it; PTE_CANCELLED: the run is to end. */
pte_status pte_conv_i8_depthwise(const pte_conv_i8_plan *p);

#endif

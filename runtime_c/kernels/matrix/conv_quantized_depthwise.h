/* The convolutions of conv_quantized_plan.h whose groups have one channel and one column each. */
#ifndef PTE_CONV_QUANTIZED_DEPTHWISE_H
#define PTE_CONV_QUANTIZED_DEPTHWISE_H

#include "kernels/matrix/conv_quantized_plan.h"

/* Completes the plan; false: it needs more memory than there can be. */
bool pte_conv_taps_plan(pte_conv_plan *p);

/* Lays out weights and columns behind the plan; false: the run is to end. */
bool pte_conv_taps_keep(const pte_conv_plan *p, pte_pace *pace);

/* PTE_CANCELLED: the run is to end. */
pte_status pte_conv_taps_run(const pte_conv_plan *p);

#endif

/* The kernels of conv_quantized_plan.h: what is the same for all element types. */
#ifndef PTE_CONV_QUANTIZED_H
#define PTE_CONV_QUANTIZED_H

#include "kernels/matrix/conv_quantized_plan.h"

/* What a convolution is, beside its tensors. */
typedef struct pte_conv_given {
  const pte_conv_element *element;
  pte_conv_lists lists;
  pte_conv_numbers numbers;
} pte_conv_given;

/* needs, keep and run of a kernel; `plan`: room for one of the element type's. */
pte_status pte_conv_quantized_needs(const pte_call *call, const pte_conv_given *given,
                                    pte_conv_plan *plan, pte_needs *out);
pte_status pte_conv_quantized_keep(const pte_call *call, const pte_conv_given *given);
pte_status pte_conv_quantized_run(const pte_call *call);

#endif

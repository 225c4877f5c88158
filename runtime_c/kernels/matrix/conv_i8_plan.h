/* How a convolution of int8 is divided. */
#ifndef PTE_CONV_I8_PLAN_H
#define PTE_CONV_I8_PLAN_H

#include "kernels/depthwise/depthwise_i8.h"
#include "kernels/gemm_int8/gemm_static.h"
#include "kernels/matrix/conv_quantized_plan.h"

typedef struct pte_conv_i8_plan {
  pte_conv_plan shared;
  const pte_gemm_static *kernel;
  const pte_depthwise_i8 *pixels; /* where it is depthwise */
  size_t peaks;                   /* of a strip, behind the rows of a block */
  bool walk;                      /* depthwise, and the variant takes lines of windows of 3 by 3 */
} pte_conv_i8_plan;

#endif

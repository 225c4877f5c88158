/* How a convolution of static int8 is divided, and what conv_i8.c gives conv_i8_depthwise.c. The
 * plan is what its kernel keeps; behind it are the columns of all panels, and where it is depthwise
 * the weights as variants take them. */
#ifndef PTE_CONV_I8_PLAN_H
#define PTE_CONV_I8_PLAN_H

#include "core/watch.h"
#include "gen/ops.h"
#include "kernels/depthwise/depthwise_i8.h"
#include "kernels/gemm_int8/gemm_static.h"
#include "kernels/requantize/rescale.h"
#include "kernels/window/conv_window.h"

#ifdef PTE_SMALL_BUFFERS /* a machine with some tens of KB of memory, where code is dear */
enum { PTE_CONV_I8_SMALL = 1 };
#else
enum { PTE_CONV_I8_SMALL = 0 };
#endif

typedef struct pte_conv_i8_plan {
  const pte_call *call;
  const pte_conv_i8_attrs *attrs;
  const pte_gemm_static *kernel;
  const pte_depthwise_i8 *pixels; /* where it is depthwise */
  pte_conv_window w;
  size_t groups, rows, columns, channels, depth, quads, panels; /* but for rows, of one group */
  size_t block_rows, row_blocks, column_blocks;
  bool odd_sets; /* column blocks are of whole panels, not of sets of them */
  size_t zeros;  /* 1: the variant wants a row of them before each block (settle) */
  size_t peaks;  /* of a strip, behind the rows of a block */
  bool matrix;   /* rows of x are rows of a matrix */
  bool depthwise;
  bool walk; /* depthwise, and the variant takes lines of windows of 3 by 3 */
  size_t row_bytes;
  uint64_t line_bytes, share_bytes; /* depthwise: a line is in front of the shares */
  uint64_t settled_bytes;           /* of a share: columns after `settle`; 0: they are not kept */
  uint64_t weight_bytes, column_bytes; /* behind the plan, columns first; 0: it has none */
} pte_conv_i8_plan;

static inline pte_rescale_columns *pte_conv_i8_kept_columns(const pte_conv_i8_plan *p) {
  return pte_call_behind(p->call, PTE_KEPT_BYTES(*p));
}

/* Columns `column` .. + `count` of all groups. */
void pte_conv_i8_columns(const pte_conv_i8_plan *p, size_t column, size_t count,
                         pte_rescale_columns *c);

#endif

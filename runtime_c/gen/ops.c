/* The operator table.
 * Written by schema/gen.py from schema/ops.py; do not edit. */
// clang-format off

#include "gen/ops.h"

#include "core/op.h"
#include "pteron/types.h"

_Static_assert(PTE_MAX_ATTRS_BYTES >= 96, "raise PTE_MAX_ATTRS_BYTES");

/* -DPTE_WITHOUT_<OP> leaves a kernel out of a build; programs that need it are PTE_UNSUPPORTED. */
#ifdef PTE_WITHOUT_POINTWISE
#define KERNEL_pointwise NULL
#else
#define KERNEL_pointwise &pte_pointwise_kernel
#endif
#ifdef PTE_WITHOUT_COPY
#define KERNEL_copy NULL
#else
#define KERNEL_copy &pte_copy_kernel
#endif
#ifdef PTE_WITHOUT_DIMS
#define KERNEL_dims NULL
#else
#define KERNEL_dims &pte_dims_kernel
#endif
#ifdef PTE_WITHOUT_PAD
#define KERNEL_pad NULL
#else
#define KERNEL_pad &pte_pad_kernel
#endif
#ifdef PTE_WITHOUT_GATHER
#define KERNEL_gather NULL
#else
#define KERNEL_gather &pte_gather_kernel
#endif
#ifdef PTE_WITHOUT_GATHER_ROWS
#define KERNEL_gather_rows NULL
#else
#define KERNEL_gather_rows &pte_gather_rows_kernel
#endif
#ifdef PTE_WITHOUT_GATHER_ELEMENTS
#define KERNEL_gather_elements NULL
#else
#define KERNEL_gather_elements &pte_gather_elements_kernel
#endif
#ifdef PTE_WITHOUT_GATHER_ND
#define KERNEL_gather_nd NULL
#else
#define KERNEL_gather_nd &pte_gather_nd_kernel
#endif
#ifdef PTE_WITHOUT_SCATTER_ELEMENTS
#define KERNEL_scatter_elements NULL
#else
#define KERNEL_scatter_elements &pte_scatter_elements_kernel
#endif
#ifdef PTE_WITHOUT_SCATTER_ND
#define KERNEL_scatter_nd NULL
#else
#define KERNEL_scatter_nd &pte_scatter_nd_kernel
#endif
#ifdef PTE_WITHOUT_TENSOR_SCATTER
#define KERNEL_tensor_scatter NULL
#else
#define KERNEL_tensor_scatter &pte_tensor_scatter_kernel
#endif
#ifdef PTE_WITHOUT_NONZERO
#define KERNEL_nonzero NULL
#else
#define KERNEL_nonzero &pte_nonzero_kernel
#endif
#ifdef PTE_WITHOUT_TOPK
#define KERNEL_topk NULL
#else
#define KERNEL_topk &pte_topk_kernel
#endif
#ifdef PTE_WITHOUT_CUMULATE
#define KERNEL_cumulate NULL
#else
#define KERNEL_cumulate &pte_cumulate_kernel
#endif
#ifdef PTE_WITHOUT_REDUCE
#define KERNEL_reduce NULL
#else
#define KERNEL_reduce &pte_reduce_kernel
#endif
#ifdef PTE_WITHOUT_ARG_REDUCE
#define KERNEL_arg_reduce NULL
#else
#define KERNEL_arg_reduce &pte_arg_reduce_kernel
#endif
#ifdef PTE_WITHOUT_SOFTMAX
#define KERNEL_softmax NULL
#else
#define KERNEL_softmax &pte_softmax_kernel
#endif
#ifdef PTE_WITHOUT_LAYER_NORM
#define KERNEL_layer_norm NULL
#else
#define KERNEL_layer_norm &pte_layer_norm_kernel
#endif
#ifdef PTE_WITHOUT_RMS_NORM
#define KERNEL_rms_norm NULL
#else
#define KERNEL_rms_norm &pte_rms_norm_kernel
#endif
#ifdef PTE_WITHOUT_MATMUL
#define KERNEL_matmul NULL
#else
#define KERNEL_matmul &pte_matmul_kernel
#endif
#ifdef PTE_WITHOUT_BATCH_MATMUL
#define KERNEL_batch_matmul NULL
#else
#define KERNEL_batch_matmul &pte_batch_matmul_kernel
#endif
#ifdef PTE_WITHOUT_PACK
#define KERNEL_pack NULL
#else
#define KERNEL_pack &pte_pack_kernel
#endif
#ifdef PTE_WITHOUT_CONV
#define KERNEL_conv NULL
#else
#define KERNEL_conv &pte_conv_kernel
#endif
#ifdef PTE_WITHOUT_CONV_DEPTHWISE
#define KERNEL_conv_depthwise NULL
#else
#define KERNEL_conv_depthwise &pte_conv_depthwise_kernel
#endif
#ifdef PTE_WITHOUT_ATTENTION
#define KERNEL_attention NULL
#else
#define KERNEL_attention &pte_attention_kernel
#endif
#ifdef PTE_WITHOUT_LSTM
#define KERNEL_lstm NULL
#else
#define KERNEL_lstm &pte_lstm_kernel
#endif
#ifdef PTE_WITHOUT_GRU
#define KERNEL_gru NULL
#else
#define KERNEL_gru &pte_gru_kernel
#endif
#ifdef PTE_WITHOUT_RNN
#define KERNEL_rnn NULL
#else
#define KERNEL_rnn &pte_rnn_kernel
#endif
#ifdef PTE_WITHOUT_MATMUL_INTEGER
#define KERNEL_matmul_integer NULL
#else
#define KERNEL_matmul_integer &pte_matmul_integer_kernel
#endif
#ifdef PTE_WITHOUT_MAX_POOL
#define KERNEL_max_pool NULL
#else
#define KERNEL_max_pool &pte_max_pool_kernel
#endif
#ifdef PTE_WITHOUT_AVERAGE_POOL
#define KERNEL_average_pool NULL
#else
#define KERNEL_average_pool &pte_average_pool_kernel
#endif
#ifdef PTE_WITHOUT_RESIZE
#define KERNEL_resize NULL
#else
#define KERNEL_resize &pte_resize_kernel
#endif
#ifdef PTE_WITHOUT_GRID_SAMPLE
#define KERNEL_grid_sample NULL
#else
#define KERNEL_grid_sample &pte_grid_sample_kernel
#endif
#ifdef PTE_WITHOUT_NON_MAX_SUPPRESSION
#define KERNEL_non_max_suppression NULL
#else
#define KERNEL_non_max_suppression &pte_non_max_suppression_kernel
#endif
#ifdef PTE_WITHOUT_MATMUL_INT8
#define KERNEL_matmul_int8 NULL
#else
#define KERNEL_matmul_int8 &pte_matmul_int8_kernel
#endif
#ifdef PTE_WITHOUT_CONV_I8
#define KERNEL_conv_i8 NULL
#else
#define KERNEL_conv_i8 &pte_conv_i8_kernel
#endif
#ifdef PTE_WITHOUT_UNPACK
#define KERNEL_unpack NULL
#else
#define KERNEL_unpack &pte_unpack_kernel
#endif
#ifdef PTE_WITHOUT_REPACK
#define KERNEL_repack NULL
#else
#define KERNEL_repack &pte_repack_kernel
#endif

const pte_shape_term pte_op_terms[] = {
  {0, 0, 0, 0},
  {1, 0, 0, 0},
  {0, 1, 0, 0},
  {0, 2, 0, 0},
  {0, 3, 0, 0},
  {0, 0, 0, 0},
  {1, 1, 0, 0},
  {0, 2, 0, 0},
  {0, 0, 0, 0},
  {1, 1, 0, 0},
  {0, 1, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {0, 2, 0, 0},
  {0, 3, 0, 0},
  {0, 0, 0, 0},
  {0, 4, 0, 0},
  {0, 5, 0, 0},
  {0, 3, 0, 0},
  {0, 0, 0, 0},
  {0, 4, 0, 0},
  {0, 5, 0, 0},
  {0, 6, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {0, 2, 0, 0},
  {0, 5, 0, 0},
  {0, 0, 0, 0},
  {0, 2, 0, 0},
  {0, 1, 0, 0},
  {0, 6, 0, 0},
  {0, 1, 0, 0},
  {0, 3, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {0, 3, 0, 0},
  {0, 2, 0, 0},
  {0, 2, 0, 0},
  {1, 0, 0, 0},
  {1, 1, 8, 0},
  {1, 0, 0, 0},
  {1, 1, 0, 0},
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 8, 0},
  {1, 1, 0, 0},
  {1, 0, 8, 0},
  {1, 2, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 8, 0},
  {1, 2, 0, 0},
  {1, 3, 0, 0},
  {4, 0, 0, 0},
  {1, 1, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 0, 0},
  {0, 3, 0, 0},
  {0, 2, 0, 0},
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {0, 2, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {2, 0, 0, 4},
  {0, 3, 0, 0},
  {0, 4, 0, 0},
};

const pte_op_port pte_op_ports[] = {
  {644, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {253, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {852, 1, 3, PTE_RULE_A, false, false, false} /* bias */,
  {371, 1, 3, PTE_RULE_A, false, false, false} /* multiplier */,
  {828, 1, 3, PTE_RULE_A, false, false, false} /* shift */,
  {860, 3, 5, PTE_RULE_F, false, false, false} /* y */,
  {644, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {253, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {852, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {964, 3, 5, PTE_RULE_A, false, true, false} /* xs */,
  {860, 3, 5, PTE_RULE_F, false, true, false} /* y */,
  {644, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {253, 2, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {852, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {964, 3, 8, PTE_RULE_A, false, true, false} /* xs */,
  {860, 3, 8, PTE_RULE_F, false, true, false} /* y */,
  {860, 3, 8, PTE_RULE_F, false, false, false} /* y */,
  {980, 4, 11, PTE_RULE_F, false, true, false} /* q */,
  {358, 4, 15, PTE_RULE_F, false, true, false} /* k */,
  {880, 4, 19, PTE_RULE_F, false, true, false} /* v */,
  {922, 4, 23, PTE_RULE_A, true, true, false} /* mask */,
  {454, 1, 0, PTE_RULE_I64, true, false, false} /* key_count */,
  {860, 4, 27, PTE_RULE_F, false, false, false} /* y */,
  {967, 3, 8, PTE_RULE_F, false, false, false} /* y0 */,
  {970, 3, 8, PTE_RULE_I64, true, false, false} /* y1 */,
  {804, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {253, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {682, 2, 31, PTE_RULE_F, true, false, false} /* hidden */,
  {867, 2, 31, PTE_RULE_F, true, false, false} /* cell */,
  {539, 1, 16, PTE_RULE_F, true, false, false} /* peephole */,
  {458, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {967, 3, 33, PTE_RULE_F, false, false, false} /* y0 */,
  {970, 2, 31, PTE_RULE_F, true, false, false} /* y1 */,
  {973, 2, 31, PTE_RULE_F, true, false, false} /* y2 */,
  {804, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {253, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {852, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {682, 2, 31, PTE_RULE_F, true, false, false} /* hidden */,
  {458, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {804, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {253, 2, 36, PTE_RULE_W, false, false, false} /* w */,
  {682, 2, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {458, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {967, 3, 11, PTE_RULE_F, false, false, false} /* y0 */,
  {970, 2, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {964, 1, 1, PTE_RULE_A, false, true, true} /* xs */,
  {860, 1, 1, PTE_RULE_A, false, true, false} /* y */,
  {644, 2, 38, PTE_RULE_F, false, false, true} /* x */,
  {887, 1, 6, PTE_RULE_F, true, false, false} /* gain */,
  {852, 1, 6, PTE_RULE_F, true, false, false} /* bias */,
  {967, 2, 40, PTE_RULE_F, false, false, false} /* y0 */,
  {970, 1, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {973, 1, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {860, 2, 40, PTE_RULE_F, false, false, false} /* y */,
  {644, 2, 42, PTE_RULE_F, false, false, false} /* x */,
  {253, 2, 10, PTE_RULE_W, false, false, false} /* w */,
  {852, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {964, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {860, 2, 1, PTE_RULE_F, false, true, false} /* y */,
  {860, 2, 1, PTE_RULE_F, false, false, false} /* y */,
  {860, 1, 0, PTE_RULE_I64, false, false, false} /* y */,
  {644, 1, 1, PTE_RULE_T, false, false, false} /* x */,
  {860, 1, 6, PTE_RULE_T, false, false, false} /* y */,
  {644, 2, 44, PTE_RULE_T, false, true, false} /* x */,
  {810, 3, 46, PTE_RULE_I64, false, false, false} /* index */,
  {860, 3, 49, PTE_RULE_T, false, false, false} /* y */,
  {644, 2, 42, PTE_RULE_F, false, true, true} /* x */,
  {860, 2, 42, PTE_RULE_F, false, false, false} /* y */,
  {644, 2, 38, PTE_RULE_F, false, true, false} /* x */,
  {860, 1, 1, PTE_RULE_F, false, false, false} /* y */,
  {644, 2, 42, PTE_RULE_F, false, true, false} /* x */,
  {860, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {644, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {892, 3, 5, PTE_RULE_F, false, false, false} /* grid */,
  {424, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {860, 1, 52, PTE_RULE_A, false, false, false} /* y */,
  {964, 1, 52, PTE_RULE_A, false, false, false} /* xs */,
  {644, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {860, 1, 1, PTE_RULE_T, false, true, false} /* y */,
  {644, 2, 0, PTE_RULE_T, false, true, false} /* x */,
  {810, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {860, 2, 41, PTE_RULE_T, false, false, false} /* y */,
  {253, 2, 11, PTE_RULE_W, false, false, false} /* w */,
  {810, 1, 1, PTE_RULE_I64, false, false, false} /* index */,
  {644, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {810, 1, 6, PTE_RULE_I64, false, true, false} /* index */,
  {644, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {810, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {646, 1, 6, PTE_RULE_T, false, true, false} /* updates */,
  {860, 1, 1, PTE_RULE_T, false, false, false} /* y */,
  {644, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {810, 2, 53, PTE_RULE_I64, false, false, false} /* index */,
  {646, 1, 47, PTE_RULE_T, false, true, false} /* updates */,
  {792, 4, 0, PTE_RULE_T, false, false, true} /* cache */,
  {752, 4, 54, PTE_RULE_T, false, true, false} /* update */,
  {834, 1, 0, PTE_RULE_I64, true, false, false} /* start */,
  {860, 4, 0, PTE_RULE_T, false, false, false} /* y */,
  {644, 1, 1, PTE_RULE_A, false, false, false} /* x */,
  {860, 2, 11, PTE_RULE_I64, false, false, false} /* y */,
  {967, 2, 1, PTE_RULE_F, false, false, false} /* y0 */,
  {970, 2, 1, PTE_RULE_I64, false, false, false} /* y1 */,
  {976, 3, 58, PTE_RULE_F, false, true, false} /* a */,
  {978, 3, 1, PTE_RULE_F, false, true, false} /* b */,
  {860, 3, 61, PTE_RULE_F, false, false, false} /* y */,
  {253, 2, 11, PTE_RULE_F, false, true, false} /* w */,
  {860, 2, 11, PTE_RULE_W, false, false, false} /* y */,
  {786, 3, 64, PTE_RULE_F, false, false, false} /* boxes */,
  {724, 3, 27, PTE_RULE_F, false, false, false} /* scores */,
  {816, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {614, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {484, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {860, 2, 67, PTE_RULE_I64, false, false, false} /* y */,
  {846, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {424, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {566, 1, 52, PTE_RULE_A, false, false, false} /* carried */,
  {860, 1, 1, PTE_RULE_A, false, false, false} /* y */,
};

const pte_op_attr pte_op_attrs[] = {
  {689, 4, 4, 0, true} /* kernel */,
  {738, 12, 4, 0, true} /* stride */,
  {521, 20, 4, 0, true} /* dilation */,
  {780, 28, 4, 0, true} /* begin */,
  {937, 36, 4, 0, true} /* end */,
  {731, 44, 4, 0, true} /* spread */,
  {675, 56, 0, 0, true} /* groups */,
  {766, 64, 0, 0, true} /* x_zero */,
  {773, 72, 0, 0, true} /* y_zero */,
  {949, 80, 0, 0, true} /* low */,
  {897, 88, 0, 0, true} /* high */,
  {689, 4, 4, 0, true} /* kernel */,
  {738, 12, 4, 0, true} /* stride */,
  {521, 20, 4, 0, true} /* dilation */,
  {780, 28, 4, 0, true} /* begin */,
  {937, 36, 4, 0, true} /* end */,
  {731, 44, 4, 0, true} /* spread */,
  {675, 56, 0, 0, false} /* groups */,
  {840, 64, 7, 0, false} /* steps */,
  {689, 4, 4, 0, true} /* kernel */,
  {738, 12, 4, 0, true} /* stride */,
  {521, 20, 4, 0, true} /* dilation */,
  {780, 28, 4, 0, true} /* begin */,
  {937, 36, 4, 0, true} /* end */,
  {840, 44, 7, 0, false} /* steps */,
  {717, 4, 5, 0, false} /* scales */,
  {927, 12, 3, 3, false} /* mode */,
  {267, 16, 3, 6, false} /* coordinates */,
  {598, 20, 3, 4, false} /* nearest */,
  {798, 24, 1, 0, false} /* cubic */,
  {57, 32, 2, 0, false} /* exclude_outside */,
  {404, 36, 2, 0, false} /* antialias */,
  {176, 40, 1, 0, false} /* extrapolation */,
  {696, 48, 5, 0, false} /* region */,
  {822, 8, 1, 0, true} /* scale */,
  {654, 16, 3, 3, false} /* causal */,
  {630, 24, 1, 0, false} /* softcap */,
  {303, 32, 0, 0, false} /* left_window */,
  {242, 40, 0, 0, false} /* right_window */,
  {689, 4, 4, 0, true} /* kernel */,
  {738, 12, 4, 0, true} /* stride */,
  {521, 20, 4, 0, true} /* dilation */,
  {780, 28, 4, 0, true} /* begin */,
  {148, 36, 2, 0, false} /* channel_major */,
  {216, 40, 2, 0, false} /* column_major */,
  {689, 4, 4, 0, true} /* kernel */,
  {738, 12, 4, 0, true} /* stride */,
  {521, 20, 4, 0, true} /* dilation */,
  {780, 28, 4, 0, true} /* begin */,
  {937, 36, 4, 0, true} /* end */,
  {162, 44, 2, 0, false} /* count_padding */,
  {255, 4, 4, 0, true} /* activations */,
  {872, 16, 1, 0, false} /* clip */,
  {229, 24, 2, 0, false} /* input_forget */,
  {622, 28, 2, 0, false} /* reverse */,
  {255, 4, 4, 0, true} /* activations */,
  {872, 16, 1, 0, false} /* clip */,
  {0, 24, 2, 0, false} /* linear_before_reset */,
  {622, 28, 2, 0, false} /* reverse */,
  {255, 4, 4, 0, true} /* activations */,
  {872, 16, 1, 0, false} /* clip */,
  {622, 24, 2, 0, false} /* reverse */,
  {840, 4, 7, 0, true} /* steps */,
  {458, 8, 0, 0, true} /* count */,
  {582, 16, 1, 0, false} /* epsilon */,
  {840, 4, 7, 0, false} /* steps */,
  {759, 4, 6, 0, true} /* values */,
  {780, 4, 6, 0, true} /* begin */,
  {927, 12, 3, 3, true} /* mode */,
  {338, 8, 0, 0, false} /* batch_dims */,
  {902, 4, 3, 2, false} /* kind */,
  {434, 8, 2, 0, false} /* exclusive */,
  {622, 12, 2, 0, false} /* reverse */,
  {902, 4, 3, 5, true} /* kind */,
  {458, 8, 0, 0, true} /* count */,
  {902, 4, 3, 2, true} /* kind */,
  {907, 8, 2, 0, false} /* last */,
  {927, 4, 3, 3, false} /* mode */,
  {168, 8, 3, 3, false} /* padding */,
  {134, 12, 2, 0, false} /* align_corners */,
  {393, 4, 8, 0, true} /* then_block */,
  {349, 8, 8, 0, true} /* else_block */,
  {810, 8, 0, 0, true} /* index */,
  {474, 4, 3, 5, false} /* reduction */,
  {494, 4, 2, 0, false} /* circular */,
  {590, 4, 2, 0, false} /* largest */,
  {945, 4, 2, 0, false} /* log */,
  {661, 4, 2, 0, false} /* center */,
  {857, 4, 8, 0, true} /* body */,
  {557, 4, 2, 0, false} /* saturate */,
};

const uint64_t pte_op_default_words[] = {
  0x60u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x50u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x1u,
  0x0u,
  0x0u,
  0x40u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x38u,
  0x0u,
  0x0u,
  0xbfe8000000000000u,
  0x0u,
  0x0u,
  0x0u,
  0x30u,
  0x0u,
  0x0u,
  0x0u,
  0xffffffffffffffffu,
  0xffffffffffffffffu,
  0x30u,
  0x0u,
  0x0u,
  0x0u,
  0x100000000u,
  0x0u,
  0x30u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x20u,
  0x0u,
  0x0u,
  0x0u,
  0x18u,
  0x0u,
  0x0u,
  0x18u,
  0x0u,
  0x3ee4f8b588e368f1u,
  0x10u,
  0x0u,
  0x8u,
  0x100000008u,
};

const char pte_op_texts[] =
  "linear_before_reset\0" /* 0 */
  "non_max_suppression\0" /* 20 */
  "scatter_elements\0" /* 40 */
  "exclude_outside\0" /* 57 */
  "gather_elements\0" /* 73 */
  "conv_depthwise\0" /* 89 */
  "matmul_integer\0" /* 104 */
  "tensor_scatter\0" /* 119 */
  "align_corners\0" /* 134 */
  "channel_major\0" /* 148 */
  "count_padding\0" /* 162 */
  "extrapolation\0" /* 176 */
  "average_pool\0" /* 190 */
  "batch_matmul\0" /* 203 */
  "column_major\0" /* 216 */
  "input_forget\0" /* 229 */
  "right_window\0" /* 242 */
  "activations\0" /* 255 */
  "coordinates\0" /* 267 */
  "gather_rows\0" /* 279 */
  "grid_sample\0" /* 291 */
  "left_window\0" /* 303 */
  "matmul_int8\0" /* 315 */
  "arg_reduce\0" /* 327 */
  "batch_dims\0" /* 338 */
  "else_block\0" /* 349 */
  "layer_norm\0" /* 360 */
  "multiplier\0" /* 371 */
  "scatter_nd\0" /* 382 */
  "then_block\0" /* 393 */
  "antialias\0" /* 404 */
  "attention\0" /* 414 */
  "condition\0" /* 424 */
  "exclusive\0" /* 434 */
  "gather_nd\0" /* 444 */
  "key_count\0" /* 454 */
  "pointwise\0" /* 464 */
  "reduction\0" /* 474 */
  "threshold\0" /* 484 */
  "circular\0" /* 494 */
  "cumulate\0" /* 503 */
  "delegate\0" /* 512 */
  "dilation\0" /* 521 */
  "max_pool\0" /* 530 */
  "peephole\0" /* 539 */
  "rms_norm\0" /* 548 */
  "saturate\0" /* 557 */
  "carried\0" /* 566 */
  "conv_i8\0" /* 574 */
  "epsilon\0" /* 582 */
  "largest\0" /* 590 */
  "nearest\0" /* 598 */
  "nonzero\0" /* 606 */
  "overlap\0" /* 614 */
  "reverse\0" /* 622 */
  "softcap\0" /* 630 */
  "softmax\0" /* 638 */
  "updates\0" /* 646 */
  "causal\0" /* 654 */
  "center\0" /* 661 */
  "gather\0" /* 668 */
  "groups\0" /* 675 */
  "hidden\0" /* 682 */
  "kernel\0" /* 689 */
  "region\0" /* 696 */
  "repack\0" /* 703 */
  "resize\0" /* 710 */
  "scales\0" /* 717 */
  "scores\0" /* 724 */
  "spread\0" /* 731 */
  "stride\0" /* 738 */
  "unpack\0" /* 745 */
  "update\0" /* 752 */
  "values\0" /* 759 */
  "x_zero\0" /* 766 */
  "y_zero\0" /* 773 */
  "begin\0" /* 780 */
  "boxes\0" /* 786 */
  "cache\0" /* 792 */
  "cubic\0" /* 798 */
  "gates\0" /* 804 */
  "index\0" /* 810 */
  "limit\0" /* 816 */
  "scale\0" /* 822 */
  "shift\0" /* 828 */
  "start\0" /* 834 */
  "steps\0" /* 840 */
  "trips\0" /* 846 */
  "bias\0" /* 852 */
  "body\0" /* 857 */
  "call\0" /* 862 */
  "cell\0" /* 867 */
  "clip\0" /* 872 */
  "conv\0" /* 877 */
  "copy\0" /* 882 */
  "gain\0" /* 887 */
  "grid\0" /* 892 */
  "high\0" /* 897 */
  "kind\0" /* 902 */
  "last\0" /* 907 */
  "loop\0" /* 912 */
  "lstm\0" /* 917 */
  "mask\0" /* 922 */
  "mode\0" /* 927 */
  "topk\0" /* 932 */
  "end\0" /* 937 */
  "gru\0" /* 941 */
  "log\0" /* 945 */
  "low\0" /* 949 */
  "pad\0" /* 953 */
  "rnn\0" /* 957 */
  "if\0" /* 961 */
  "xs\0" /* 964 */
  "y0\0" /* 967 */
  "y1\0" /* 970 */
  "y2\0" /* 973 */
  "a\0" /* 976 */
  "b\0" /* 978 */
  "q\0" /* 980 */
  ;

const pte_op_row pte_op_rows[] = {
  {KERNEL_pointwise, 464, 59, 1u << PTE_F32, 1, 24, 45, 46, 62, 1, 1, 1, true, true, false, false, false},
  {KERNEL_copy, 882, 67, 1u << PTE_F32, 2, 8, 77, 78, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_dims, 344, 65, 1u << PTE_F32, 3, 16, 0, 60, 66, 0, 1, 1, false, false, false, false, false},
  {KERNEL_pad, 953, 65, 1u << PTE_F32, 4, 16, 61, 62, 67, 1, 1, 2, false, false, false, false, false},
  {KERNEL_gather, 668, 67, 1u << PTE_F32, 5, 8, 79, 81, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_rows, 279, 67, 1u << PTE_F32, 6, 8, 82, 59, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_elements, 73, 67, 1u << PTE_F32, 7, 8, 84, 62, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_nd, 444, 65, 1u << PTE_F32, 8, 16, 63, 65, 69, 2, 1, 1, false, false, false, true, false},
  {KERNEL_scatter_elements, 40, 67, 1u << PTE_F32, 9, 8, 86, 89, 83, 3, 1, 1, false, false, false, true, false},
  {KERNEL_scatter_nd, 382, 67, 1u << PTE_F32, 10, 8, 90, 89, 83, 3, 1, 1, false, false, false, true, false},
  {KERNEL_tensor_scatter, 119, 67, 1u << PTE_F32, 11, 8, 93, 96, 84, 3, 1, 1, false, false, false, true, false},
  {KERNEL_nonzero, 606, 67, 1u << PTE_F32, 12, 8, 97, 98, 0, 1, 1, 0, false, false, false, true, true},
  {KERNEL_topk, 932, 68, 1u << PTE_F32 | 1u << PTE_I64, 13, 8, 70, 99, 85, 1, 2, 1, false, false, false, true, false},
  {KERNEL_cumulate, 503, 65, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 16, 66, 67, 70, 1, 1, 3, false, false, false, true, false},
  {KERNEL_reduce, 331, 65, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 16, 68, 69, 73, 1, 1, 2, false, false, false, false, false},
  {KERNEL_arg_reduce, 327, 65, 1u << PTE_F32 | 1u << PTE_I64, 21, 16, 70, 71, 75, 1, 1, 2, false, false, false, false, false},
  {KERNEL_softmax, 638, 67, 1u << PTE_F32, 22, 8, 66, 67, 86, 1, 1, 1, false, false, false, true, false},
  {KERNEL_layer_norm, 360, 62, 1u << PTE_F32, 23, 24, 47, 50, 63, 3, 3, 2, false, false, false, false, false},
  {KERNEL_rms_norm, 548, 62, 1u << PTE_F32, 24, 24, 47, 53, 63, 2, 1, 2, false, false, false, false, false},
  {KERNEL_matmul, 209, 59, 1u << PTE_F32, 30, 24, 54, 58, 65, 4, 1, 1, true, false, false, true, false},
  {KERNEL_batch_matmul, 203, 67, 1u << PTE_F32, 31, 8, 101, 103, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_pack, 705, 67, 1u << PTE_F32, 32, 8, 104, 105, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_conv, 877, 12, 1u << PTE_F32, 33, 80, 6, 10, 11, 4, 1, 8, true, false, false, false, false},
  {KERNEL_conv_depthwise, 89, 22, 1u << PTE_F32, 34, 64, 11, 15, 19, 4, 1, 6, true, false, false, false, false},
  {KERNEL_attention, 414, 37, 1u << PTE_F32, 35, 48, 17, 22, 34, 5, 1, 5, false, false, false, false, false},
  {KERNEL_lstm, 917, 55, 1u << PTE_F32, 36, 32, 25, 31, 51, 6, 3, 4, false, false, false, false, false},
  {KERNEL_gru, 941, 55, 1u << PTE_F32, 37, 32, 34, 31, 55, 5, 2, 4, false, false, false, false, false},
  {KERNEL_rnn, 957, 55, 1u << PTE_F32, 38, 32, 39, 43, 59, 4, 2, 3, false, false, false, false, false},
  {KERNEL_matmul_integer, 104, 67, 1u << PTE_I64, 39, 8, 101, 103, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_max_pool, 530, 43, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_I8, 40, 48, 0, 23, 39, 1, 2, 6, false, false, false, false, false},
  {KERNEL_average_pool, 190, 49, 1u << PTE_F32, 41, 48, 0, 16, 45, 1, 1, 6, false, false, false, false, false},
  {KERNEL_resize, 710, 30, 1u << PTE_F32, 42, 56, 0, 16, 25, 1, 1, 9, false, false, false, true, false},
  {KERNEL_grid_sample, 291, 65, 1u << PTE_F32, 43, 16, 72, 16, 77, 2, 1, 3, false, false, false, true, false},
  {KERNEL_non_max_suppression, 20, 67, 1u << PTE_F32, 44, 8, 106, 111, 87, 5, 1, 1, false, false, false, true, true},
  {KERNEL_matmul_int8, 315, 59, 1u << PTE_F32, 45, 24, 54, 59, 65, 4, 1, 1, true, false, false, true, false},
  {KERNEL_conv_i8, 574, 0, 1u << PTE_I8, 46, 96, 0, 5, 0, 5, 1, 11, false, false, false, false, false},
  {NULL, 961, 65, 1u << PTE_F32, 60, 16, 74, 75, 80, 1, 1, 2, false, true, true, false, false},
  {NULL, 912, 67, 1u << PTE_F32, 61, 8, 112, 75, 88, 3, 1, 1, true, true, true, false, false},
  {NULL, 862, 67, 1u << PTE_F32, 62, 8, 76, 75, 88, 1, 1, 1, true, true, true, false, false},
  {NULL, 512, 65, 1u << PTE_F32, 63, 16, 76, 75, 82, 1, 1, 1, true, true, true, false, false},
  {KERNEL_unpack, 745, 67, 1u << PTE_F32, 70, 8, 97, 115, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_repack, 703, 68, 1u << PTE_F32, 71, 8, 97, 115, 89, 1, 1, 1, false, false, false, true, false},
};

const uint32_t pte_op_row_count = 42;

/* The operator table.
 * Written by schema/gen.py from schema/ops.py; do not edit. */
// clang-format off

#include "gen/ops.h"

#include "core/op.h"
#include "pteron/types.h"

_Static_assert(PTE_MAX_ATTRS_BYTES >= 80, "raise PTE_MAX_ATTRS_BYTES");

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
  {625, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {253, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {813, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {916, 3, 5, PTE_RULE_A, false, true, false} /* xs */,
  {821, 3, 5, PTE_RULE_F, false, true, false} /* y */,
  {625, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {253, 2, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {813, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {916, 3, 8, PTE_RULE_A, false, true, false} /* xs */,
  {821, 3, 8, PTE_RULE_F, false, true, false} /* y */,
  {821, 3, 8, PTE_RULE_F, false, false, false} /* y */,
  {932, 4, 11, PTE_RULE_F, false, true, false} /* q */,
  {358, 4, 15, PTE_RULE_F, false, true, false} /* k */,
  {841, 4, 19, PTE_RULE_F, false, true, false} /* v */,
  {878, 4, 23, PTE_RULE_A, true, true, false} /* mask */,
  {443, 1, 0, PTE_RULE_I64, true, false, false} /* key_count */,
  {821, 4, 27, PTE_RULE_F, false, false, false} /* y */,
  {919, 3, 8, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 3, 8, PTE_RULE_I64, true, false, false} /* y1 */,
  {771, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {253, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {663, 2, 31, PTE_RULE_F, true, false, false} /* hidden */,
  {828, 2, 31, PTE_RULE_F, true, false, false} /* cell */,
  {528, 1, 16, PTE_RULE_F, true, false, false} /* peephole */,
  {447, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {919, 3, 33, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 2, 31, PTE_RULE_F, true, false, false} /* y1 */,
  {925, 2, 31, PTE_RULE_F, true, false, false} /* y2 */,
  {771, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {253, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {813, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {663, 2, 31, PTE_RULE_F, true, false, false} /* hidden */,
  {447, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {771, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {253, 2, 36, PTE_RULE_W, false, false, false} /* w */,
  {663, 2, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {447, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {919, 3, 11, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 2, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {916, 1, 1, PTE_RULE_A, false, true, true} /* xs */,
  {821, 1, 1, PTE_RULE_A, false, true, false} /* y */,
  {625, 2, 38, PTE_RULE_F, false, false, true} /* x */,
  {848, 1, 6, PTE_RULE_F, true, false, false} /* gain */,
  {813, 1, 6, PTE_RULE_F, true, false, false} /* bias */,
  {919, 2, 40, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 1, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {925, 1, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {821, 2, 40, PTE_RULE_F, false, false, false} /* y */,
  {625, 2, 42, PTE_RULE_F, false, false, false} /* x */,
  {253, 2, 10, PTE_RULE_W, false, false, false} /* w */,
  {813, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {916, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {821, 2, 1, PTE_RULE_F, false, true, false} /* y */,
  {821, 2, 1, PTE_RULE_F, false, false, false} /* y */,
  {821, 1, 0, PTE_RULE_I64, false, false, false} /* y */,
  {625, 1, 1, PTE_RULE_T, false, false, false} /* x */,
  {821, 1, 6, PTE_RULE_T, false, false, false} /* y */,
  {625, 2, 44, PTE_RULE_T, false, true, false} /* x */,
  {777, 3, 46, PTE_RULE_I64, false, false, false} /* index */,
  {821, 3, 49, PTE_RULE_T, false, false, false} /* y */,
  {625, 2, 42, PTE_RULE_F, false, true, true} /* x */,
  {821, 2, 42, PTE_RULE_F, false, false, false} /* y */,
  {625, 2, 38, PTE_RULE_F, false, true, false} /* x */,
  {821, 1, 1, PTE_RULE_F, false, false, false} /* y */,
  {625, 2, 42, PTE_RULE_F, false, true, false} /* x */,
  {821, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {625, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {853, 3, 5, PTE_RULE_F, false, false, false} /* grid */,
  {413, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {821, 1, 52, PTE_RULE_A, false, false, false} /* y */,
  {916, 1, 52, PTE_RULE_A, false, false, false} /* xs */,
  {625, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {821, 1, 1, PTE_RULE_T, false, true, false} /* y */,
  {625, 2, 0, PTE_RULE_T, false, true, false} /* x */,
  {777, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {821, 2, 41, PTE_RULE_T, false, false, false} /* y */,
  {253, 2, 11, PTE_RULE_W, false, false, false} /* w */,
  {777, 1, 1, PTE_RULE_I64, false, false, false} /* index */,
  {625, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {777, 1, 6, PTE_RULE_I64, false, true, false} /* index */,
  {625, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {777, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {627, 1, 6, PTE_RULE_T, false, true, false} /* updates */,
  {821, 1, 1, PTE_RULE_T, false, false, false} /* y */,
  {625, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {777, 2, 53, PTE_RULE_I64, false, false, false} /* index */,
  {627, 1, 47, PTE_RULE_T, false, true, false} /* updates */,
  {759, 4, 0, PTE_RULE_T, false, false, true} /* cache */,
  {733, 4, 54, PTE_RULE_T, false, true, false} /* update */,
  {795, 1, 0, PTE_RULE_I64, true, false, false} /* start */,
  {821, 4, 0, PTE_RULE_T, false, false, false} /* y */,
  {625, 1, 1, PTE_RULE_A, false, false, false} /* x */,
  {821, 2, 11, PTE_RULE_I64, false, false, false} /* y */,
  {919, 2, 1, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 2, 1, PTE_RULE_I64, false, false, false} /* y1 */,
  {928, 3, 58, PTE_RULE_F, false, true, false} /* a */,
  {930, 3, 1, PTE_RULE_F, false, true, false} /* b */,
  {821, 3, 61, PTE_RULE_F, false, false, false} /* y */,
  {253, 2, 11, PTE_RULE_F, false, true, false} /* w */,
  {821, 2, 11, PTE_RULE_W, false, false, false} /* y */,
  {753, 3, 64, PTE_RULE_F, false, false, false} /* boxes */,
  {705, 3, 27, PTE_RULE_F, false, false, false} /* scores */,
  {783, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {595, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {473, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {821, 2, 67, PTE_RULE_I64, false, false, false} /* y */,
  {807, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {413, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {555, 1, 52, PTE_RULE_A, false, false, false} /* carried */,
  {821, 1, 1, PTE_RULE_A, false, false, false} /* y */,
};

const pte_op_attr pte_op_attrs[] = {
  {670, 4, 4, 0, true} /* kernel */,
  {719, 12, 4, 0, true} /* stride */,
  {510, 20, 4, 0, true} /* dilation */,
  {747, 28, 4, 0, true} /* begin */,
  {893, 36, 4, 0, true} /* end */,
  {712, 44, 4, 0, true} /* spread */,
  {656, 56, 0, 0, false} /* groups */,
  {801, 64, 7, 0, false} /* steps */,
  {670, 4, 4, 0, true} /* kernel */,
  {719, 12, 4, 0, true} /* stride */,
  {510, 20, 4, 0, true} /* dilation */,
  {747, 28, 4, 0, true} /* begin */,
  {893, 36, 4, 0, true} /* end */,
  {801, 44, 7, 0, false} /* steps */,
  {698, 4, 5, 0, false} /* scales */,
  {883, 12, 3, 3, false} /* mode */,
  {267, 16, 3, 6, false} /* coordinates */,
  {579, 20, 3, 4, false} /* nearest */,
  {765, 24, 1, 0, false} /* cubic */,
  {57, 32, 2, 0, false} /* exclude_outside */,
  {393, 36, 2, 0, false} /* antialias */,
  {176, 40, 1, 0, false} /* extrapolation */,
  {677, 48, 5, 0, false} /* region */,
  {789, 8, 1, 0, true} /* scale */,
  {635, 16, 3, 3, false} /* causal */,
  {611, 24, 1, 0, false} /* softcap */,
  {303, 32, 0, 0, false} /* left_window */,
  {242, 40, 0, 0, false} /* right_window */,
  {670, 4, 4, 0, true} /* kernel */,
  {719, 12, 4, 0, true} /* stride */,
  {510, 20, 4, 0, true} /* dilation */,
  {747, 28, 4, 0, true} /* begin */,
  {148, 36, 2, 0, false} /* channel_major */,
  {216, 40, 2, 0, false} /* column_major */,
  {670, 4, 4, 0, true} /* kernel */,
  {719, 12, 4, 0, true} /* stride */,
  {510, 20, 4, 0, true} /* dilation */,
  {747, 28, 4, 0, true} /* begin */,
  {893, 36, 4, 0, true} /* end */,
  {162, 44, 2, 0, false} /* count_padding */,
  {255, 4, 4, 0, true} /* activations */,
  {833, 16, 1, 0, false} /* clip */,
  {229, 24, 2, 0, false} /* input_forget */,
  {603, 28, 2, 0, false} /* reverse */,
  {255, 4, 4, 0, true} /* activations */,
  {833, 16, 1, 0, false} /* clip */,
  {0, 24, 2, 0, false} /* linear_before_reset */,
  {603, 28, 2, 0, false} /* reverse */,
  {255, 4, 4, 0, true} /* activations */,
  {833, 16, 1, 0, false} /* clip */,
  {603, 24, 2, 0, false} /* reverse */,
  {801, 4, 7, 0, true} /* steps */,
  {447, 8, 0, 0, true} /* count */,
  {563, 16, 1, 0, false} /* epsilon */,
  {801, 4, 7, 0, false} /* steps */,
  {740, 4, 6, 0, true} /* values */,
  {747, 4, 6, 0, true} /* begin */,
  {883, 12, 3, 3, true} /* mode */,
  {338, 8, 0, 0, false} /* batch_dims */,
  {858, 4, 3, 2, false} /* kind */,
  {423, 8, 2, 0, false} /* exclusive */,
  {603, 12, 2, 0, false} /* reverse */,
  {858, 4, 3, 5, true} /* kind */,
  {447, 8, 0, 0, true} /* count */,
  {858, 4, 3, 2, true} /* kind */,
  {863, 8, 2, 0, false} /* last */,
  {883, 4, 3, 3, false} /* mode */,
  {168, 8, 3, 3, false} /* padding */,
  {134, 12, 2, 0, false} /* align_corners */,
  {382, 4, 8, 0, true} /* then_block */,
  {349, 8, 8, 0, true} /* else_block */,
  {777, 8, 0, 0, true} /* index */,
  {463, 4, 3, 5, false} /* reduction */,
  {483, 4, 2, 0, false} /* circular */,
  {571, 4, 2, 0, false} /* largest */,
  {901, 4, 2, 0, false} /* log */,
  {642, 4, 2, 0, false} /* center */,
  {818, 4, 8, 0, true} /* body */,
  {546, 4, 2, 0, false} /* saturate */,
};

const uint64_t pte_op_default_words[] = {
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
  "scatter_nd\0" /* 371 */
  "then_block\0" /* 382 */
  "antialias\0" /* 393 */
  "attention\0" /* 403 */
  "condition\0" /* 413 */
  "exclusive\0" /* 423 */
  "gather_nd\0" /* 433 */
  "key_count\0" /* 443 */
  "pointwise\0" /* 453 */
  "reduction\0" /* 463 */
  "threshold\0" /* 473 */
  "circular\0" /* 483 */
  "cumulate\0" /* 492 */
  "delegate\0" /* 501 */
  "dilation\0" /* 510 */
  "max_pool\0" /* 519 */
  "peephole\0" /* 528 */
  "rms_norm\0" /* 537 */
  "saturate\0" /* 546 */
  "carried\0" /* 555 */
  "epsilon\0" /* 563 */
  "largest\0" /* 571 */
  "nearest\0" /* 579 */
  "nonzero\0" /* 587 */
  "overlap\0" /* 595 */
  "reverse\0" /* 603 */
  "softcap\0" /* 611 */
  "softmax\0" /* 619 */
  "updates\0" /* 627 */
  "causal\0" /* 635 */
  "center\0" /* 642 */
  "gather\0" /* 649 */
  "groups\0" /* 656 */
  "hidden\0" /* 663 */
  "kernel\0" /* 670 */
  "region\0" /* 677 */
  "repack\0" /* 684 */
  "resize\0" /* 691 */
  "scales\0" /* 698 */
  "scores\0" /* 705 */
  "spread\0" /* 712 */
  "stride\0" /* 719 */
  "unpack\0" /* 726 */
  "update\0" /* 733 */
  "values\0" /* 740 */
  "begin\0" /* 747 */
  "boxes\0" /* 753 */
  "cache\0" /* 759 */
  "cubic\0" /* 765 */
  "gates\0" /* 771 */
  "index\0" /* 777 */
  "limit\0" /* 783 */
  "scale\0" /* 789 */
  "start\0" /* 795 */
  "steps\0" /* 801 */
  "trips\0" /* 807 */
  "bias\0" /* 813 */
  "body\0" /* 818 */
  "call\0" /* 823 */
  "cell\0" /* 828 */
  "clip\0" /* 833 */
  "conv\0" /* 838 */
  "copy\0" /* 843 */
  "gain\0" /* 848 */
  "grid\0" /* 853 */
  "kind\0" /* 858 */
  "last\0" /* 863 */
  "loop\0" /* 868 */
  "lstm\0" /* 873 */
  "mask\0" /* 878 */
  "mode\0" /* 883 */
  "topk\0" /* 888 */
  "end\0" /* 893 */
  "gru\0" /* 897 */
  "log\0" /* 901 */
  "pad\0" /* 905 */
  "rnn\0" /* 909 */
  "if\0" /* 913 */
  "xs\0" /* 916 */
  "y0\0" /* 919 */
  "y1\0" /* 922 */
  "y2\0" /* 925 */
  "a\0" /* 928 */
  "b\0" /* 930 */
  "q\0" /* 932 */
  ;

const pte_op_row pte_op_rows[] = {
  {KERNEL_pointwise, 453, 47, 1u << PTE_F32, 1, 24, 39, 40, 51, 1, 1, 1, true, true, false, false, false},
  {KERNEL_copy, 843, 55, 1u << PTE_F32, 2, 8, 71, 72, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_dims, 344, 53, 1u << PTE_F32, 3, 16, 0, 54, 55, 0, 1, 1, false, false, false, false, false},
  {KERNEL_pad, 905, 53, 1u << PTE_F32, 4, 16, 55, 56, 56, 1, 1, 2, false, false, false, false, false},
  {KERNEL_gather, 649, 55, 1u << PTE_F32, 5, 8, 73, 75, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_rows, 279, 55, 1u << PTE_F32, 6, 8, 76, 53, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_elements, 73, 55, 1u << PTE_F32, 7, 8, 78, 56, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_nd, 433, 53, 1u << PTE_F32, 8, 16, 57, 59, 58, 2, 1, 1, false, false, false, true, false},
  {KERNEL_scatter_elements, 40, 55, 1u << PTE_F32, 9, 8, 80, 83, 72, 3, 1, 1, false, false, false, true, false},
  {KERNEL_scatter_nd, 371, 55, 1u << PTE_F32, 10, 8, 84, 83, 72, 3, 1, 1, false, false, false, true, false},
  {KERNEL_tensor_scatter, 119, 55, 1u << PTE_F32, 11, 8, 87, 90, 73, 3, 1, 1, false, false, false, true, false},
  {KERNEL_nonzero, 587, 55, 1u << PTE_F32, 12, 8, 91, 92, 0, 1, 1, 0, false, false, false, true, true},
  {KERNEL_topk, 888, 56, 1u << PTE_F32 | 1u << PTE_I64, 13, 8, 64, 93, 74, 1, 2, 1, false, false, false, true, false},
  {KERNEL_cumulate, 492, 53, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 16, 60, 61, 59, 1, 1, 3, false, false, false, true, false},
  {KERNEL_reduce, 331, 53, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 16, 62, 63, 62, 1, 1, 2, false, false, false, false, false},
  {KERNEL_arg_reduce, 327, 53, 1u << PTE_F32 | 1u << PTE_I64, 21, 16, 64, 65, 64, 1, 1, 2, false, false, false, false, false},
  {KERNEL_softmax, 619, 55, 1u << PTE_F32, 22, 8, 60, 61, 75, 1, 1, 1, false, false, false, true, false},
  {KERNEL_layer_norm, 360, 50, 1u << PTE_F32, 23, 24, 41, 44, 52, 3, 3, 2, false, false, false, false, false},
  {KERNEL_rms_norm, 537, 50, 1u << PTE_F32, 24, 24, 41, 47, 52, 2, 1, 2, false, false, false, false, false},
  {KERNEL_matmul, 209, 47, 1u << PTE_F32, 30, 24, 48, 52, 54, 4, 1, 1, true, false, false, true, false},
  {KERNEL_batch_matmul, 203, 55, 1u << PTE_F32, 31, 8, 95, 97, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_pack, 686, 55, 1u << PTE_F32, 32, 8, 98, 99, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_conv, 838, 0, 1u << PTE_F32, 33, 80, 0, 4, 0, 4, 1, 8, true, false, false, false, false},
  {KERNEL_conv_depthwise, 89, 10, 1u << PTE_F32, 34, 64, 5, 9, 8, 4, 1, 6, true, false, false, false, false},
  {KERNEL_attention, 403, 25, 1u << PTE_F32, 35, 48, 11, 16, 23, 5, 1, 5, false, false, false, false, false},
  {KERNEL_lstm, 873, 43, 1u << PTE_F32, 36, 32, 19, 25, 40, 6, 3, 4, false, false, false, false, false},
  {KERNEL_gru, 897, 43, 1u << PTE_F32, 37, 32, 28, 25, 44, 5, 2, 4, false, false, false, false, false},
  {KERNEL_rnn, 909, 43, 1u << PTE_F32, 38, 32, 33, 37, 48, 4, 2, 3, false, false, false, false, false},
  {KERNEL_matmul_integer, 104, 55, 1u << PTE_I64, 39, 8, 95, 97, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_max_pool, 519, 31, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 40, 48, 0, 17, 28, 1, 2, 6, false, false, false, false, false},
  {KERNEL_average_pool, 190, 37, 1u << PTE_F32, 41, 48, 0, 10, 34, 1, 1, 6, false, false, false, false, false},
  {KERNEL_resize, 691, 18, 1u << PTE_F32, 42, 56, 0, 10, 14, 1, 1, 9, false, false, false, true, false},
  {KERNEL_grid_sample, 291, 53, 1u << PTE_F32, 43, 16, 66, 10, 66, 2, 1, 3, false, false, false, true, false},
  {KERNEL_non_max_suppression, 20, 55, 1u << PTE_F32, 44, 8, 100, 105, 76, 5, 1, 1, false, false, false, true, true},
  {KERNEL_matmul_int8, 315, 47, 1u << PTE_F32, 45, 24, 48, 53, 54, 4, 1, 1, true, false, false, true, false},
  {NULL, 913, 53, 1u << PTE_F32, 60, 16, 68, 69, 69, 1, 1, 2, false, true, true, false, false},
  {NULL, 868, 55, 1u << PTE_F32, 61, 8, 106, 69, 77, 3, 1, 1, true, true, true, false, false},
  {NULL, 823, 55, 1u << PTE_F32, 62, 8, 70, 69, 77, 1, 1, 1, true, true, true, false, false},
  {NULL, 501, 53, 1u << PTE_F32, 63, 16, 70, 69, 71, 1, 1, 1, true, true, true, false, false},
  {KERNEL_unpack, 726, 55, 1u << PTE_F32, 70, 8, 91, 109, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_repack, 684, 56, 1u << PTE_F32, 71, 8, 91, 109, 78, 1, 1, 1, false, false, false, true, false},
};

const uint32_t pte_op_row_count = 41;

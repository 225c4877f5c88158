/* The operator table.
 * Written by schema/gen from schema/ops.py; do not edit. */
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
#ifdef PTE_WITHOUT_ADD_I8
#define KERNEL_add_i8 NULL
#else
#define KERNEL_add_i8 &pte_add_i8_kernel
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
#ifdef PTE_WITHOUT_RESHAPE
#define KERNEL_reshape NULL
#else
#define KERNEL_reshape &pte_reshape_kernel
#endif
#ifdef PTE_WITHOUT_PANEL_SCATTER
#define KERNEL_panel_scatter NULL
#else
#define KERNEL_panel_scatter &pte_panel_scatter_kernel
#endif
#ifdef PTE_WITHOUT_MATMUL_TURNED
#define KERNEL_matmul_turned NULL
#else
#define KERNEL_matmul_turned &pte_matmul_turned_kernel
#endif
#ifdef PTE_WITHOUT_CODES
#define KERNEL_codes NULL
#else
#define KERNEL_codes &pte_codes_kernel
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
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {0, 4, 0, 0},
  {0, 6, 0, 0},
  {0, 7, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {0, 2, 0, 0},
  {0, 6, 0, 0},
  {0, 0, 0, 0},
  {0, 4, 0, 0},
  {0, 6, 0, 0},
  {2, 0, 0, 1},
  {2, 0, 0, 2},
  {0, 1, 0, 0},
  {0, 0, 0, 0},
  {0, 2, 0, 0},
  {0, 1, 0, 0},
  {0, 7, 0, 0},
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
  {1, 0, 0, 0},
  {1, 1, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 0, 0},
  {0, 3, 0, 0},
  {0, 2, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 1},
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {0, 2, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {2, 0, 0, 4},
  {0, 3, 0, 1},
  {0, 4, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {0, 2, 0, 0},
  {0, 3, 0, 0},
  {2, 0, 0, 16},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {0, 4, 0, 0},
  {0, 3, 0, 0},
  {1, 0, 0, 0},
  {2, 0, 0, 1},
};

const pte_op_port pte_op_ports[] = {
  {719, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {307, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {950, 1, 3, PTE_RULE_A, false, false, false} /* bias */,
  {220, 1, 3, PTE_RULE_A, false, false, false} /* multiplier */,
  {611, 1, 3, PTE_RULE_A, false, false, false} /* shift */,
  {958, 3, 5, PTE_RULE_F, false, false, false} /* y */,
  {1074, 1, 1, PTE_RULE_F, false, false, true} /* a */,
  {1076, 1, 1, PTE_RULE_F, true, false, false} /* b */,
  {958, 1, 1, PTE_RULE_F, false, false, false} /* y */,
  {719, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {307, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {950, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {1062, 3, 5, PTE_RULE_A, false, true, false} /* xs */,
  {958, 3, 5, PTE_RULE_F, false, true, false} /* y */,
  {719, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {307, 2, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {950, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1062, 3, 8, PTE_RULE_A, false, true, false} /* xs */,
  {958, 3, 8, PTE_RULE_F, false, true, false} /* y */,
  {1078, 4, 11, PTE_RULE_F, false, true, false} /* q */,
  {412, 5, 15, PTE_RULE_A, false, true, false} /* k */,
  {978, 4, 20, PTE_RULE_A, false, true, false} /* v */,
  {1020, 4, 24, PTE_RULE_A, true, true, false} /* mask */,
  {497, 1, 0, PTE_RULE_I64, true, false, false} /* key_count */,
  {649, 4, 28, PTE_RULE_F, true, false, false} /* k_scale */,
  {729, 4, 28, PTE_RULE_F, true, false, false} /* v_scale */,
  {950, 2, 32, PTE_RULE_F, true, false, false} /* bias */,
  {958, 4, 34, PTE_RULE_F, false, false, false} /* y */,
  {958, 3, 8, PTE_RULE_F, false, false, false} /* y */,
  {1065, 3, 8, PTE_RULE_F, false, false, false} /* y0 */,
  {1068, 3, 8, PTE_RULE_I64, true, false, false} /* y1 */,
  {914, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {307, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {786, 2, 38, PTE_RULE_F, true, false, false} /* hidden */,
  {965, 2, 38, PTE_RULE_F, true, false, false} /* cell */,
  {582, 1, 16, PTE_RULE_F, true, false, false} /* peephole */,
  {501, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1065, 3, 40, PTE_RULE_F, false, false, false} /* y0 */,
  {1068, 2, 38, PTE_RULE_F, true, false, false} /* y1 */,
  {1071, 2, 38, PTE_RULE_F, true, false, false} /* y2 */,
  {914, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {307, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {950, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {786, 2, 38, PTE_RULE_F, true, false, false} /* hidden */,
  {501, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {914, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {307, 2, 43, PTE_RULE_W, false, false, false} /* w */,
  {786, 2, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {501, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1065, 3, 11, PTE_RULE_F, false, false, false} /* y0 */,
  {1068, 2, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {1062, 1, 1, PTE_RULE_A, false, true, true} /* xs */,
  {958, 1, 1, PTE_RULE_A, false, true, false} /* y */,
  {719, 2, 45, PTE_RULE_F, false, false, true} /* x */,
  {985, 1, 6, PTE_RULE_F, true, false, false} /* gain */,
  {950, 1, 6, PTE_RULE_F, true, false, false} /* bias */,
  {1065, 2, 47, PTE_RULE_F, false, false, false} /* y0 */,
  {1068, 1, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {1071, 1, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {958, 2, 47, PTE_RULE_F, false, false, false} /* y */,
  {719, 2, 19, PTE_RULE_F, false, false, false} /* x */,
  {307, 2, 10, PTE_RULE_W, false, false, false} /* w */,
  {950, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1062, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {958, 2, 1, PTE_RULE_F, false, true, false} /* y */,
  {958, 2, 1, PTE_RULE_F, false, false, false} /* y */,
  {719, 2, 19, PTE_RULE_F, false, false, false} /* x */,
  {307, 2, 2, PTE_RULE_W, false, false, false} /* w */,
  {950, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1062, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {958, 1, 0, PTE_RULE_I64, false, false, false} /* y */,
  {719, 1, 1, PTE_RULE_T, false, false, false} /* x */,
  {958, 1, 6, PTE_RULE_T, false, false, false} /* y */,
  {719, 2, 49, PTE_RULE_T, false, true, false} /* x */,
  {920, 3, 51, PTE_RULE_I64, false, false, false} /* index */,
  {958, 3, 54, PTE_RULE_T, false, false, false} /* y */,
  {719, 2, 19, PTE_RULE_F, false, true, true} /* x */,
  {958, 2, 19, PTE_RULE_F, false, false, false} /* y */,
  {719, 2, 45, PTE_RULE_F, false, true, false} /* x */,
  {719, 2, 19, PTE_RULE_F, false, true, false} /* x */,
  {958, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {719, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {990, 3, 5, PTE_RULE_F, false, false, false} /* grid */,
  {467, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {958, 1, 57, PTE_RULE_A, false, false, false} /* y */,
  {1062, 1, 57, PTE_RULE_A, false, false, false} /* xs */,
  {719, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {958, 1, 1, PTE_RULE_T, false, true, false} /* y */,
  {719, 2, 0, PTE_RULE_T, false, true, false} /* x */,
  {920, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {958, 2, 58, PTE_RULE_T, false, false, false} /* y */,
  {307, 2, 11, PTE_RULE_W, false, false, false} /* w */,
  {920, 1, 1, PTE_RULE_I64, false, false, false} /* index */,
  {719, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {920, 1, 6, PTE_RULE_I64, false, true, false} /* index */,
  {719, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {920, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {721, 1, 6, PTE_RULE_T, false, true, false} /* updates */,
  {958, 1, 1, PTE_RULE_T, false, false, false} /* y */,
  {719, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {920, 2, 60, PTE_RULE_I64, false, false, false} /* index */,
  {721, 1, 52, PTE_RULE_T, false, true, false} /* updates */,
  {896, 4, 0, PTE_RULE_T, false, false, true} /* cache */,
  {856, 4, 61, PTE_RULE_T, false, true, false} /* update */,
  {932, 1, 0, PTE_RULE_I64, true, false, false} /* start */,
  {958, 4, 0, PTE_RULE_T, false, false, false} /* y */,
  {719, 1, 1, PTE_RULE_A, false, false, false} /* x */,
  {958, 2, 65, PTE_RULE_I64, false, false, false} /* y */,
  {1065, 2, 1, PTE_RULE_F, false, false, false} /* y0 */,
  {1068, 2, 1, PTE_RULE_I64, false, false, false} /* y1 */,
  {1074, 3, 67, PTE_RULE_F, false, true, false} /* a */,
  {1076, 3, 1, PTE_RULE_F, false, true, false} /* b */,
  {958, 3, 70, PTE_RULE_F, false, false, false} /* y */,
  {307, 2, 11, PTE_RULE_F, false, true, false} /* w */,
  {958, 2, 11, PTE_RULE_W, false, false, false} /* y */,
  {890, 3, 73, PTE_RULE_F, false, false, false} /* boxes */,
  {828, 3, 34, PTE_RULE_F, false, false, false} /* scores */,
  {926, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {681, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {527, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {958, 2, 76, PTE_RULE_I64, false, false, false} /* y */,
  {944, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {467, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {625, 1, 57, PTE_RULE_A, false, false, false} /* carried */,
  {958, 1, 1, PTE_RULE_A, false, false, false} /* y */,
  {896, 5, 78, PTE_RULE_T, false, false, true} /* cache */,
  {856, 4, 83, PTE_RULE_T, false, true, false} /* update */,
  {932, 1, 0, PTE_RULE_I64, false, false, false} /* start */,
  {958, 5, 78, PTE_RULE_T, false, false, false} /* y */,
  {1065, 2, 19, PTE_RULE_A, false, false, false} /* y0 */,
  {1068, 2, 87, PTE_RULE_F, false, false, false} /* y1 */,
};

const pte_op_attr pte_op_attrs[] = {
  {793, 4, 4, 0, true} /* kernel */,
  {842, 12, 4, 0, true} /* stride */,
  {564, 20, 4, 0, true} /* dilation */,
  {884, 28, 4, 0, true} /* begin */,
  {1035, 36, 4, 0, true} /* end */,
  {835, 44, 4, 0, true} /* spread */,
  {779, 56, 0, 0, true} /* groups */,
  {870, 64, 0, 0, true} /* x_zero */,
  {877, 72, 0, 0, true} /* y_zero */,
  {1047, 80, 0, 0, true} /* low */,
  {995, 88, 0, 0, true} /* high */,
  {737, 8, 0, 0, true} /* a_zero */,
  {218, 16, 0, 0, true} /* a_multiplier */,
  {609, 24, 0, 0, true} /* a_shift */,
  {751, 32, 0, 0, false} /* b_zero */,
  {244, 40, 0, 0, false} /* b_multiplier */,
  {617, 48, 0, 0, false} /* b_shift */,
  {877, 56, 0, 0, true} /* y_zero */,
  {220, 64, 0, 0, true} /* multiplier */,
  {611, 72, 0, 0, true} /* shift */,
  {1047, 80, 0, 0, true} /* low */,
  {995, 88, 0, 0, true} /* high */,
  {793, 4, 4, 0, true} /* kernel */,
  {842, 12, 4, 0, true} /* stride */,
  {564, 20, 4, 0, true} /* dilation */,
  {884, 28, 4, 0, true} /* begin */,
  {1035, 36, 4, 0, true} /* end */,
  {835, 44, 4, 0, true} /* spread */,
  {779, 56, 0, 0, false} /* groups */,
  {938, 64, 7, 0, false} /* steps */,
  {793, 4, 4, 0, true} /* kernel */,
  {842, 12, 4, 0, true} /* stride */,
  {564, 20, 4, 0, true} /* dilation */,
  {884, 28, 4, 0, true} /* begin */,
  {1035, 36, 4, 0, true} /* end */,
  {938, 44, 7, 0, false} /* steps */,
  {651, 8, 1, 0, true} /* scale */,
  {758, 16, 3, 3, false} /* causal */,
  {705, 24, 1, 0, false} /* softcap */,
  {357, 32, 0, 0, false} /* left_window */,
  {296, 40, 0, 0, false} /* right_window */,
  {197, 48, 2, 0, false} /* turned */,
  {821, 4, 5, 0, false} /* scales */,
  {1025, 12, 3, 3, false} /* mode */,
  {321, 16, 3, 6, false} /* coordinates */,
  {665, 20, 3, 4, false} /* nearest */,
  {908, 24, 1, 0, false} /* cubic */,
  {57, 32, 2, 0, false} /* exclude_outside */,
  {447, 36, 2, 0, false} /* antialias */,
  {176, 40, 1, 0, false} /* extrapolation */,
  {800, 48, 5, 0, false} /* region */,
  {793, 4, 4, 0, true} /* kernel */,
  {842, 12, 4, 0, true} /* stride */,
  {564, 20, 4, 0, true} /* dilation */,
  {884, 28, 4, 0, true} /* begin */,
  {148, 36, 2, 0, false} /* channel_major */,
  {270, 40, 2, 0, false} /* column_major */,
  {793, 4, 4, 0, true} /* kernel */,
  {842, 12, 4, 0, true} /* stride */,
  {564, 20, 4, 0, true} /* dilation */,
  {884, 28, 4, 0, true} /* begin */,
  {1035, 36, 4, 0, true} /* end */,
  {162, 44, 2, 0, false} /* count_padding */,
  {309, 4, 4, 0, true} /* activations */,
  {970, 16, 1, 0, false} /* clip */,
  {283, 24, 2, 0, false} /* input_forget */,
  {697, 28, 2, 0, false} /* reverse */,
  {309, 4, 4, 0, true} /* activations */,
  {970, 16, 1, 0, false} /* clip */,
  {0, 24, 2, 0, false} /* linear_before_reset */,
  {697, 28, 2, 0, false} /* reverse */,
  {309, 4, 4, 0, true} /* activations */,
  {970, 16, 1, 0, false} /* clip */,
  {697, 24, 2, 0, false} /* reverse */,
  {938, 4, 7, 0, true} /* steps */,
  {501, 8, 0, 0, true} /* count */,
  {641, 16, 1, 0, false} /* epsilon */,
  {938, 4, 7, 0, false} /* steps */,
  {863, 4, 6, 0, true} /* values */,
  {884, 4, 6, 0, true} /* begin */,
  {1025, 12, 3, 3, true} /* mode */,
  {392, 8, 0, 0, false} /* batch_dims */,
  {1000, 4, 3, 2, false} /* kind */,
  {477, 8, 2, 0, false} /* exclusive */,
  {697, 12, 2, 0, false} /* reverse */,
  {1000, 4, 3, 5, true} /* kind */,
  {501, 8, 0, 0, true} /* count */,
  {1000, 4, 3, 2, true} /* kind */,
  {1005, 8, 2, 0, false} /* last */,
  {1025, 4, 3, 3, false} /* mode */,
  {168, 8, 3, 3, false} /* padding */,
  {134, 12, 2, 0, false} /* align_corners */,
  {436, 4, 8, 0, true} /* then_block */,
  {403, 8, 8, 0, true} /* else_block */,
  {920, 8, 0, 0, true} /* index */,
  {517, 4, 3, 5, false} /* reduction */,
  {537, 4, 2, 0, false} /* circular */,
  {657, 4, 2, 0, false} /* largest */,
  {1043, 4, 2, 0, false} /* log */,
  {765, 4, 2, 0, false} /* center */,
  {955, 4, 8, 0, true} /* body */,
  {600, 4, 2, 0, false} /* saturate */,
  {197, 4, 2, 0, false} /* turned */,
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
  0x60u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0x0u,
  0xau,
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
  0x0u,
  0xffffffffffffffffu,
  0xffffffffffffffffu,
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

const int64_t pte_op_numbers[] = {
  INT64_C(2147483647),
  INT64_C(-2147483647),
  INT64_C(1048576),
  INT64_C(1) << PTE_I8,
  INT64_C(1),
  INT64_C(4194304),
  INT64_C(1) << PTE_I32,
  INT64_C(-128),
  INT64_C(1) << PTE_F32,
  INT64_C(65536),
  INT64_C(1) << PTE_BOOL | INT64_C(1) << PTE_F32,
  INT64_C(1) << PTE_F32 | INT64_C(1) << PTE_F16 | INT64_C(1) << PTE_F8E4M3 | INT64_C(1) << PTE_I8,
  INT64_C(2305843009213693952),
  INT64_C(32),
  INT64_C(7516192998),
  INT64_C(262144),
  INT64_C(2),
  INT64_C(131072),
  INT64_C(-4611686018427387904),
  INT64_C(4611686018427387904),
  INT64_C(1) << PTE_BOOL,
  INT64_C(12),
  INT64_C(1) << PTE_I64,
  INT64_C(16777216),
  INT64_C(1) << PTE_BOOL | INT64_C(1) << PTE_I8 | INT64_C(1) << PTE_I16 | INT64_C(1) << PTE_I32 | INT64_C(1) << PTE_I64 | INT64_C(1) << PTE_U8 | INT64_C(1) << PTE_U16 | INT64_C(1) << PTE_U32 | INT64_C(1) << PTE_U64 | INT64_C(1) << PTE_F32 | INT64_C(1) << PTE_F64,
  INT64_C(1) << PTE_F8E8M0,
  INT64_C(1) << PTE_I2 | INT64_C(1) << PTE_U2 | INT64_C(1) << PTE_I4 | INT64_C(1) << PTE_U4,
  INT64_C(1) << PTE_F8E4M3 | INT64_C(1) << PTE_F8E5M2 | INT64_C(1) << PTE_F8E8M0 | INT64_C(1) << PTE_F6E2M3 | INT64_C(1) << PTE_F6E3M2 | INT64_C(1) << PTE_F4E2M1 | INT64_C(1) << PTE_F8E4M3FNUZ | INT64_C(1) << PTE_F8E5M2FNUZ,
  INT64_C(1) << PTE_I64 | INT64_C(1) << PTE_F32,
};

const uint8_t pte_op_relations[] = {
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  16,
  17,
  18,
  19,
  20,
  21,
  22,
  23,
  24,
  25,
  26,
  27,
  28,
  29,
  30,
  31,
  32,
  33,
  34,
  35,
  36,
  37,
  38,
  39,
  40,
  41,
  42,
  31,
  32,
  33,
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  15,
  16,
  17,
  43,
  20,
  44,
  21,
  22,
  23,
  0,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  9,
  10,
  11,
  12,
  13,
  14,
  45,
  43,
  19,
  46,
  47,
  48,
  49,
  50,
  51,
  52,
  53,
  54,
  55,
  56,
  57,
  58,
  59,
  60,
  1,
  61,
  62,
  63,
  64,
  65,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  66,
  12,
  13,
  10,
  67,
  68,
  69,
  70,
  43,
  19,
  71,
  72,
  73,
  74,
  75,
  43,
  19,
  71,
  72,
  73,
  76,
  43,
  19,
  71,
  72,
  73,
  43,
  71,
  77,
  78,
  43,
  71,
  79,
  80,
  81,
  82,
  83,
  1,
  84,
  85,
  86,
  83,
  87,
  88,
  89,
  90,
  0,
  91,
  92,
  93,
  94,
  95,
  83,
  60,
  1,
  96,
  83,
  97,
  98,
  99,
  83,
  97,
  100,
  83,
  101,
  102,
  103,
  104,
  105,
  106,
  107,
  108,
  109,
  18,
  110,
  111,
};

const uint16_t pte_op_relation_starts[] = {
  0,
  9,
  17,
  25,
  33,
  41,
  49,
  57,
  65,
  73,
  81,
  89,
  97,
  103,
  109,
  116,
  131,
  139,
  187,
  192,
  197,
  203,
  212,
  221,
  234,
  270,
  276,
  281,
  286,
  291,
  299,
  307,
  315,
  323,
  329,
  337,
  345,
  353,
  361,
  369,
  377,
  385,
  393,
  401,
  406,
  412,
  457,
  464,
  470,
  479,
  485,
  491,
  496,
  501,
  506,
  518,
  525,
  531,
  541,
  547,
  553,
  560,
  572,
  587,
  605,
  620,
  634,
  642,
  650,
  659,
  668,
  675,
  681,
  689,
  695,
  704,
  711,
  718,
  723,
  729,
  734,
  749,
  755,
  762,
  771,
  779,
  787,
  811,
  820,
  833,
  849,
  858,
  865,
  874,
  880,
  885,
  891,
  903,
  913,
  923,
  936,
  943,
  951,
  957,
  963,
  973,
  978,
  988,
  998,
  1003,
  1013,
  1025,
};

const uint8_t pte_op_codes[] = {
  15, 7, 0, 1, 1, 1, 3, 20, 0, 15, 7, 1, 15, 7, 0, 29, 0, 15, 8, 4, 15, 7, 0, 29,
  0, 8, 4, 1, 1, 2, 0, 20, 0, 15, 8, 12, 15, 7, 0, 29, 0, 8, 12, 1, 1, 2, 0, 20,
  0, 15, 8, 20, 15, 7, 0, 29, 0, 8, 20, 1, 1, 2, 0, 20, 0, 15, 8, 28, 15, 7, 0, 29,
  0, 8, 28, 2, 1, 2, 0, 20, 0, 15, 8, 36, 15, 7, 0, 29, 0, 8, 36, 2, 1, 2, 0, 20,
  0, 7, 0, 2, 0, 32, 0, 7, 1, 2, 0, 32, 0, 16, 8, 4, 2, 2, 32, 0, 15, 8, 44, 1,
  0, 29, 15, 8, 44, 15, 7, 0, 29, 28, 0, 8, 44, 1, 1, 2, 0, 20, 0, 7, 1, 1, 0, 1,
  0, 7, 0, 1, 1, 22, 8, 44, 1, 1, 28, 23, 1, 1, 21, 27, 8, 28, 21, 8, 36, 21, 8, 4,
  1, 1, 22, 8, 20, 23, 22, 1, 1, 22, 8, 12, 24, 1, 1, 21, 27, 29, 0, 10, 1, 19, 3, 0,
  12, 1, 19, 4, 0, 4, 56, 1, 1, 31, 0, 3, 2, 4, 56, 25, 1, 0, 29, 0, 3, 1, 4, 56,
  25, 1, 0, 29, 0, 3, 3, 16, 8, 4, 3, 1, 4, 56, 24, 23, 29, 0, 13, 1, 1, 1, 4, 56,
  1, 1, 3, 2, 4, 56, 24, 3, 1, 4, 56, 24, 23, 3, 3, 1, 128, 24, 1, 64, 24, 21, 1, 1,
  22, 26, 23, 27, 29, 0, 3, 3, 2, 5, 32, 0, 10, 2, 19, 6, 0, 10, 3, 19, 6, 0, 10, 4,
  19, 3, 0, 4, 64, 2, 7, 1, 127, 20, 0, 4, 72, 2, 7, 1, 127, 20, 0, 4, 80, 2, 7, 1,
  127, 20, 0, 4, 88, 2, 7, 1, 127, 20, 0, 4, 80, 4, 88, 32, 0, 4, 8, 2, 7, 1, 127, 20,
  0, 4, 16, 1, 0, 2, 0, 20, 0, 4, 24, 1, 10, 1, 62, 20, 0, 4, 32, 2, 7, 1, 127, 20,
  0, 4, 40, 1, 0, 2, 0, 20, 0, 4, 48, 1, 10, 1, 62, 20, 0, 4, 64, 1, 0, 2, 0, 20,
  0, 4, 72, 1, 1, 1, 62, 20, 0, 4, 56, 2, 7, 1, 127, 20, 0, 10, 1, 19, 8, 0, 13, 1,
  4, 56, 29, 0, 7, 1, 1, 0, 1, 0, 7, 0, 1, 1, 22, 1, 1, 23, 1, 1, 21, 27, 8, 28,
  21, 8, 36, 21, 8, 4, 1, 1, 22, 8, 20, 23, 22, 1, 1, 22, 8, 12, 24, 1, 1, 21, 27, 29,
  0, 3, 2, 16, 8, 4, 29, 0, 3, 2, 2, 9, 32, 0, 3, 1, 3, 4, 25, 1, 0, 29, 0, 3,
  3, 2, 9, 32, 0, 3, 7, 2, 9, 32, 0, 10, 3, 19, 10, 0, 10, 1, 19, 11, 0, 10, 2, 19,
  11, 0, 5, 48, 3, 3, 23, 1, 64, 25, 1, 0, 29, 0, 15, 7, 0, 1, 1, 32, 0, 7, 0, 1,
  16, 29, 0, 3, 5, 16, 7, 0, 23, 3, 6, 29, 0, 4, 32, 2, 12, 32, 0, 4, 40, 2, 12, 32,
  0, 15, 7, 0, 1, 1, 31, 0, 7, 0, 1, 1, 31, 7, 1, 1, 0, 29, 28, 0, 15, 8, 4, 1,
  0, 29, 15, 8, 4, 15, 7, 0, 29, 28, 0, 15, 8, 48, 1, 0, 29, 15, 8, 48, 1, 2, 15, 7,
  0, 23, 29, 28, 0, 5, 16, 19, 13, 1, 0, 29, 15, 8, 48, 1, 1, 31, 28, 0, 5, 12, 19, 4,
  1, 0, 29, 5, 36, 1, 0, 29, 28, 0, 8, 28, 1, 0, 2, 0, 20, 0, 8, 36, 1, 0, 2, 0,
  20, 0, 3, 2, 1, 4, 3, 3, 23, 29, 0, 3, 4, 1, 3, 3, 3, 23, 29, 0, 15, 8, 4, 1,
  3, 29, 0, 13, 1, 1, 1, 29, 0, 8, 4, 1, 0, 1, 10, 20, 0, 6, 16, 1, 0, 31, 0, 3,
  2, 1, 3, 3, 3, 23, 29, 0, 15, 8, 4, 1, 2, 29, 0, 15, 8, 4, 1, 1, 29, 0, 12, 1,
  19, 14, 0, 3, 0, 2, 15, 32, 0, 12, 1, 19, 16, 0, 3, 2, 3, 0, 1, 63, 21, 1, 64, 24,
  1, 64, 23, 29, 0, 3, 0, 2, 17, 32, 0, 15, 9, 4, 3, 0, 29, 0, 11, 0, 1, 8, 25, 1,
  0, 29, 0, 15, 9, 4, 15, 7, 0, 29, 0, 9, 4, 2, 18, 2, 19, 20, 0, 7, 0, 7, 1, 9,
  4, 22, 26, 1, 0, 1, 0, 9, 4, 22, 27, 22, 7, 1, 1, 1, 26, 31, 0, 7, 3, 3, 0, 17,
  7, 1, 29, 0, 10, 0, 19, 20, 1, 0, 29, 5, 4, 19, 21, 28, 0, 10, 0, 19, 22, 1, 0, 29,
  5, 4, 19, 16, 1, 0, 29, 28, 0, 3, 0, 1, 1, 31, 14, 1, 28, 0, 3, 2, 15, 7, 0, 29,
  0, 7, 0, 1, 1, 31, 14, 2, 28, 0, 7, 0, 2, 23, 32, 0, 10, 0, 19, 8, 0, 13, 0, 1,
  1, 29, 0, 1, 1, 17, 7, 1, 1, 1, 17, 7, 0, 32, 0, 5, 4, 19, 4, 10, 0, 19, 24, 28,
  0, 15, 7, 1, 18, 7, 2, 7, 1, 29, 0, 15, 7, 1, 17, 7, 2, 3, 0, 17, 7, 0, 29, 0,
  3, 0, 15, 7, 0, 29, 0, 10, 0, 19, 25, 1, 0, 29, 0, 3, 1, 3, 0, 32, 0, 3, 4, 1,
  3, 29, 0, 10, 0, 19, 26, 10, 0, 19, 27, 28, 0, 10, 1, 19, 28, 0, 10, 0, 19, 26, 10, 1,
  19, 22, 29, 0, 10, 1, 19, 26, 10, 1, 19, 27, 28, 0, 10, 0, 19, 28, 0, 10, 1, 19, 26, 10,
  0, 19, 22, 29, 0, 5, 4, 3, 0, 23, 1, 64, 25, 1, 0, 29, 0, 3, 0, 2, 9, 32, 0,
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
  "matmul_turned\0" /* 190 */
  "panel_scatter\0" /* 204 */
  "a_multiplier\0" /* 218 */
  "average_pool\0" /* 231 */
  "b_multiplier\0" /* 244 */
  "batch_matmul\0" /* 257 */
  "column_major\0" /* 270 */
  "input_forget\0" /* 283 */
  "right_window\0" /* 296 */
  "activations\0" /* 309 */
  "coordinates\0" /* 321 */
  "gather_rows\0" /* 333 */
  "grid_sample\0" /* 345 */
  "left_window\0" /* 357 */
  "matmul_int8\0" /* 369 */
  "arg_reduce\0" /* 381 */
  "batch_dims\0" /* 392 */
  "else_block\0" /* 403 */
  "layer_norm\0" /* 414 */
  "scatter_nd\0" /* 425 */
  "then_block\0" /* 436 */
  "antialias\0" /* 447 */
  "attention\0" /* 457 */
  "condition\0" /* 467 */
  "exclusive\0" /* 477 */
  "gather_nd\0" /* 487 */
  "key_count\0" /* 497 */
  "pointwise\0" /* 507 */
  "reduction\0" /* 517 */
  "threshold\0" /* 527 */
  "circular\0" /* 537 */
  "cumulate\0" /* 546 */
  "delegate\0" /* 555 */
  "dilation\0" /* 564 */
  "max_pool\0" /* 573 */
  "peephole\0" /* 582 */
  "rms_norm\0" /* 591 */
  "saturate\0" /* 600 */
  "a_shift\0" /* 609 */
  "b_shift\0" /* 617 */
  "carried\0" /* 625 */
  "conv_i8\0" /* 633 */
  "epsilon\0" /* 641 */
  "k_scale\0" /* 649 */
  "largest\0" /* 657 */
  "nearest\0" /* 665 */
  "nonzero\0" /* 673 */
  "overlap\0" /* 681 */
  "reshape\0" /* 689 */
  "reverse\0" /* 697 */
  "softcap\0" /* 705 */
  "softmax\0" /* 713 */
  "updates\0" /* 721 */
  "v_scale\0" /* 729 */
  "a_zero\0" /* 737 */
  "add_i8\0" /* 744 */
  "b_zero\0" /* 751 */
  "causal\0" /* 758 */
  "center\0" /* 765 */
  "gather\0" /* 772 */
  "groups\0" /* 779 */
  "hidden\0" /* 786 */
  "kernel\0" /* 793 */
  "region\0" /* 800 */
  "repack\0" /* 807 */
  "resize\0" /* 814 */
  "scales\0" /* 821 */
  "scores\0" /* 828 */
  "spread\0" /* 835 */
  "stride\0" /* 842 */
  "unpack\0" /* 849 */
  "update\0" /* 856 */
  "values\0" /* 863 */
  "x_zero\0" /* 870 */
  "y_zero\0" /* 877 */
  "begin\0" /* 884 */
  "boxes\0" /* 890 */
  "cache\0" /* 896 */
  "codes\0" /* 902 */
  "cubic\0" /* 908 */
  "gates\0" /* 914 */
  "index\0" /* 920 */
  "limit\0" /* 926 */
  "start\0" /* 932 */
  "steps\0" /* 938 */
  "trips\0" /* 944 */
  "bias\0" /* 950 */
  "body\0" /* 955 */
  "call\0" /* 960 */
  "cell\0" /* 965 */
  "clip\0" /* 970 */
  "conv\0" /* 975 */
  "copy\0" /* 980 */
  "gain\0" /* 985 */
  "grid\0" /* 990 */
  "high\0" /* 995 */
  "kind\0" /* 1000 */
  "last\0" /* 1005 */
  "loop\0" /* 1010 */
  "lstm\0" /* 1015 */
  "mask\0" /* 1020 */
  "mode\0" /* 1025 */
  "topk\0" /* 1030 */
  "end\0" /* 1035 */
  "gru\0" /* 1039 */
  "log\0" /* 1043 */
  "low\0" /* 1047 */
  "pad\0" /* 1051 */
  "rnn\0" /* 1055 */
  "if\0" /* 1059 */
  "xs\0" /* 1062 */
  "y0\0" /* 1065 */
  "y1\0" /* 1068 */
  "y2\0" /* 1071 */
  "a\0" /* 1074 */
  "b\0" /* 1076 */
  "q\0" /* 1078 */
  ;

const pte_op_row pte_op_rows[] = {
  {KERNEL_pointwise, 507, 72, 1u << PTE_F32, 1, 24, 51, 52, 74, 0, 1, 1, 1, 0, true, true, false, false, false},
  {KERNEL_copy, 980, 80, 1u << PTE_F32, 2, 8, 86, 87, 0, 0, 1, 1, 0, 0, false, false, false, true, false},
  {KERNEL_dims, 398, 78, 1u << PTE_F32, 3, 16, 0, 70, 78, 152, 0, 1, 1, 1, false, false, false, false, false},
  {KERNEL_pad, 1051, 78, 1u << PTE_F32, 4, 16, 71, 72, 79, 153, 1, 1, 2, 5, false, false, false, false, false},
  {KERNEL_gather, 772, 80, 1u << PTE_F32, 5, 8, 88, 90, 0, 153, 2, 1, 0, 1, false, false, false, true, false},
  {KERNEL_gather_rows, 333, 80, 1u << PTE_F32, 6, 8, 91, 65, 0, 167, 2, 1, 0, 2, false, false, false, true, false},
  {KERNEL_gather_elements, 73, 80, 1u << PTE_F32, 7, 8, 93, 72, 0, 169, 2, 1, 0, 4, false, false, false, true, false},
  {KERNEL_gather_nd, 487, 78, 1u << PTE_F32, 8, 16, 73, 75, 81, 158, 2, 1, 1, 2, false, false, false, true, false},
  {KERNEL_scatter_elements, 40, 80, 1u << PTE_F32, 9, 8, 95, 98, 95, 170, 3, 1, 1, 5, false, false, false, true, false},
  {KERNEL_scatter_nd, 425, 80, 1u << PTE_F32, 10, 8, 99, 98, 95, 175, 3, 1, 1, 4, false, false, false, true, false},
  {KERNEL_tensor_scatter, 119, 80, 1u << PTE_F32, 11, 8, 102, 105, 96, 153, 3, 1, 1, 1, false, false, false, true, false},
  {KERNEL_nonzero, 673, 80, 1u << PTE_F32, 12, 8, 106, 107, 0, 179, 1, 1, 0, 3, false, false, false, true, true},
  {KERNEL_topk, 1030, 81, 1u << PTE_F32 | 1u << PTE_I64, 13, 8, 79, 108, 97, 182, 1, 2, 1, 1, false, false, false, true, false},
  {KERNEL_cumulate, 546, 78, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 16, 76, 77, 82, 0, 1, 1, 3, 0, false, false, false, true, false},
  {KERNEL_reduce, 385, 78, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 16, 78, 8, 85, 160, 1, 1, 2, 2, false, false, false, false, false},
  {KERNEL_arg_reduce, 381, 78, 1u << PTE_F32 | 1u << PTE_I64, 21, 16, 79, 80, 87, 162, 1, 1, 2, 1, false, false, false, false, false},
  {KERNEL_softmax, 713, 80, 1u << PTE_F32, 22, 8, 76, 77, 98, 0, 1, 1, 1, 0, false, false, false, true, false},
  {KERNEL_layer_norm, 414, 75, 1u << PTE_F32, 23, 24, 53, 56, 75, 0, 3, 3, 2, 0, false, false, false, false, false},
  {KERNEL_rms_norm, 591, 75, 1u << PTE_F32, 24, 24, 53, 59, 75, 0, 2, 1, 2, 0, false, false, false, false, false},
  {KERNEL_matmul, 263, 72, 1u << PTE_F32, 30, 24, 60, 64, 77, 143, 4, 1, 1, 2, true, false, false, true, false},
  {KERNEL_batch_matmul, 257, 80, 1u << PTE_F32, 31, 8, 110, 112, 0, 0, 2, 1, 0, 0, false, false, false, true, false},
  {KERNEL_pack, 809, 80, 1u << PTE_F32, 32, 8, 113, 114, 0, 125, 1, 1, 0, 3, false, false, false, true, false},
  {KERNEL_conv, 975, 24, 1u << PTE_F32, 33, 80, 9, 13, 22, 46, 4, 1, 8, 24, true, false, false, false, false},
  {KERNEL_conv_depthwise, 89, 34, 1u << PTE_F32, 34, 64, 14, 18, 30, 70, 4, 1, 6, 20, true, false, false, false, false},
  {KERNEL_attention, 457, 42, 1u << PTE_F32, 35, 56, 19, 27, 36, 90, 8, 1, 6, 12, false, false, false, false, false},
  {KERNEL_lstm, 1015, 68, 1u << PTE_F32, 36, 32, 31, 37, 63, 122, 6, 3, 4, 8, false, false, false, false, false},
  {KERNEL_gru, 1039, 68, 1u << PTE_F32, 37, 32, 40, 37, 67, 130, 5, 2, 4, 7, false, false, false, false, false},
  {KERNEL_rnn, 1055, 68, 1u << PTE_F32, 38, 32, 45, 49, 71, 137, 4, 2, 3, 6, false, false, false, false, false},
  {KERNEL_matmul_integer, 104, 80, 1u << PTE_I64, 39, 8, 110, 112, 0, 0, 2, 1, 0, 0, false, false, false, true, false},
  {KERNEL_max_pool, 573, 56, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_I8, 40, 48, 0, 29, 51, 109, 1, 2, 6, 11, false, false, false, false, false},
  {KERNEL_average_pool, 231, 62, 1u << PTE_F32, 41, 48, 0, 28, 57, 109, 1, 1, 6, 13, false, false, false, false, false},
  {KERNEL_resize, 814, 49, 1u << PTE_F32, 42, 56, 0, 28, 42, 102, 1, 1, 9, 7, false, false, false, true, false},
  {KERNEL_grid_sample, 345, 78, 1u << PTE_F32, 43, 16, 81, 28, 89, 163, 2, 1, 3, 4, false, false, false, true, false},
  {KERNEL_non_max_suppression, 20, 80, 1u << PTE_F32, 44, 8, 115, 120, 99, 183, 5, 1, 1, 1, false, false, false, true, true},
  {KERNEL_matmul_int8, 369, 72, 1u << PTE_F32, 45, 24, 60, 65, 77, 143, 4, 1, 1, 4, true, false, false, true, false},
  {KERNEL_conv_i8, 633, 0, 1u << PTE_I8, 46, 96, 0, 5, 0, 0, 5, 1, 11, 34, false, false, false, false, false},
  {KERNEL_add_i8, 744, 12, 1u << PTE_I8, 47, 96, 6, 8, 11, 34, 2, 1, 11, 12, false, false, false, false, false},
  {NULL, 1059, 78, 1u << PTE_F32, 60, 16, 83, 84, 92, 0, 1, 1, 2, 0, false, true, true, false, false},
  {NULL, 1010, 80, 1u << PTE_F32, 61, 8, 121, 84, 100, 0, 3, 1, 1, 0, true, true, true, false, false},
  {NULL, 960, 80, 1u << PTE_F32, 62, 8, 85, 84, 100, 0, 1, 1, 1, 0, true, true, true, false, false},
  {NULL, 555, 78, 1u << PTE_F32, 63, 16, 85, 84, 94, 0, 1, 1, 1, 0, true, true, true, false, false},
  {KERNEL_unpack, 849, 80, 1u << PTE_F32, 70, 8, 106, 124, 0, 184, 1, 1, 0, 3, false, false, false, true, false},
  {KERNEL_repack, 807, 81, 1u << PTE_F32, 71, 8, 106, 124, 101, 187, 1, 1, 1, 3, false, false, false, true, false},
  {KERNEL_reshape, 689, 80, 1u << PTE_F32, 72, 8, 71, 72, 0, 153, 1, 1, 0, 1, false, false, false, true, false},
  {KERNEL_panel_scatter, 204, 80, 1u << PTE_F32, 73, 8, 125, 128, 0, 153, 3, 1, 0, 1, false, false, false, true, false},
  {KERNEL_matmul_turned, 190, 72, 1u << PTE_F32, 74, 24, 66, 65, 77, 147, 4, 1, 1, 5, true, false, false, true, false},
  {KERNEL_codes, 902, 80, 1u << PTE_F32, 75, 8, 79, 129, 102, 190, 1, 2, 1, 3, false, false, false, true, false},
};

const uint32_t pte_op_row_count = 47;

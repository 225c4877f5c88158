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
#ifdef PTE_WITHOUT_CONV_WINOGRAD
#define KERNEL_conv_winograd NULL
#else
#define KERNEL_conv_winograd &pte_conv_winograd_kernel
#endif
#ifdef PTE_WITHOUT_CONV_I16
#define KERNEL_conv_i16 NULL
#else
#define KERNEL_conv_i16 &pte_conv_i16_kernel
#endif
#ifdef PTE_WITHOUT_ADD_I16
#define KERNEL_add_i16 NULL
#else
#define KERNEL_add_i16 &pte_add_i16_kernel
#endif
#ifdef PTE_WITHOUT_CONV_BLOCK
#define KERNEL_conv_block NULL
#else
#define KERNEL_conv_block &pte_conv_block_kernel
#endif
#ifdef PTE_WITHOUT_TREE_ENSEMBLE
#define KERNEL_tree_ensemble NULL
#else
#define KERNEL_tree_ensemble &pte_tree_ensemble_kernel
#endif

const pte_shape_term pte_op_terms[] = {
  {0, 0, 0},
  {1, 0, 0},
  {0, 1, 0},
  {0, 2, 0},
  {0, 3, 0},
  {0, 0, 0},
  {1, 1, 0},
  {0, 2, 0},
  {0, 0, 0},
  {1, 1, 0},
  {0, 1, 0},
  {0, 0, 0},
  {0, 1, 0},
  {0, 2, 0},
  {0, 3, 0},
  {0, 0, 0},
  {0, 4, 0},
  {0, 5, 0},
  {0, 3, 0},
  {1, 0, 0},
  {0, 0, 0},
  {0, 4, 0},
  {0, 6, 0},
  {0, 7, 0},
  {0, 0, 0},
  {0, 1, 0},
  {0, 2, 0},
  {0, 6, 0},
  {0, 0, 0},
  {0, 4, 0},
  {0, 6, 0},
  {2, 0, 1},
  {2, 0, 2},
  {0, 1, 0},
  {0, 0, 0},
  {0, 2, 0},
  {0, 1, 0},
  {0, 7, 0},
  {0, 4, 0},
  {0, 3, 0},
  {0, 5, 0},
  {0, 4, 0},
  {0, 0, 0},
  {0, 7, 0},
  {0, 8, 0},
  {0, 5, 0},
  {0, 1, 0},
  {0, 3, 0},
  {0, 0, 0},
  {0, 1, 0},
  {0, 3, 0},
  {0, 2, 0},
  {0, 2, 0},
  {0, 0, 0},
  {0, 6, 0},
  {0, 7, 0},
  {0, 5, 0},
  {1, 0, 0},
  {1, 1, 8},
  {1, 0, 0},
  {1, 1, 0},
  {1, 0, 8},
  {1, 1, 0},
  {1, 0, 8},
  {1, 2, 0},
  {0, 0, 0},
  {1, 0, 8},
  {1, 2, 0},
  {1, 3, 0},
  {4, 0, 0},
  {1, 1, 0},
  {1, 0, 0},
  {1, 1, 0},
  {0, 0, 0},
  {1, 0, 0},
  {0, 3, 0},
  {0, 2, 0},
  {0, 0, 0},
  {0, 1, 1},
  {1, 0, 0},
  {0, 0, 0},
  {0, 1, 0},
  {1, 0, 0},
  {0, 0, 0},
  {0, 2, 0},
  {0, 0, 0},
  {0, 1, 0},
  {2, 0, 4},
  {0, 3, 1},
  {0, 4, 0},
  {0, 0, 0},
  {0, 1, 0},
  {0, 2, 0},
  {0, 3, 0},
  {2, 0, 16},
  {0, 0, 0},
  {0, 1, 0},
  {0, 4, 0},
  {0, 3, 0},
  {1, 0, 0},
  {2, 0, 1},
  {0, 2, 0},
  {2, 0, 3},
  {0, 3, 0},
  {0, 4, 0},
  {0, 5, 0},
  {0, 6, 0},
  {0, 0, 0},
  {0, 3, 0},
  {0, 6, 0},
};

const pte_op_port pte_op_ports[] = {
  {819, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 3, PTE_RULE_A, false, false, false} /* bias */,
  {248, 1, 3, PTE_RULE_A, false, false, false} /* multiplier */,
  {703, 1, 3, PTE_RULE_A, false, false, false} /* shift */,
  {1093, 3, 5, PTE_RULE_F, false, false, false} /* y */,
  {1224, 1, 1, PTE_RULE_F, false, false, true} /* a */,
  {1226, 1, 1, PTE_RULE_F, true, false, false} /* b */,
  {1093, 1, 1, PTE_RULE_F, false, false, false} /* y */,
  {819, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {1212, 3, 5, PTE_RULE_A, false, true, false} /* xs */,
  {1093, 3, 5, PTE_RULE_F, false, true, false} /* y */,
  {819, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {368, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1212, 3, 8, PTE_RULE_A, false, true, false} /* xs */,
  {1093, 3, 8, PTE_RULE_F, false, true, false} /* y */,
  {1228, 4, 11, PTE_RULE_F, false, true, false} /* q */,
  {452, 5, 15, PTE_RULE_A, false, true, false} /* k */,
  {1113, 4, 20, PTE_RULE_A, false, true, false} /* v */,
  {1155, 4, 24, PTE_RULE_A, true, true, false} /* mask */,
  {570, 1, 0, PTE_RULE_I64, true, false, false} /* key_count */,
  {749, 4, 28, PTE_RULE_F, true, false, false} /* k_scale */,
  {829, 4, 28, PTE_RULE_F, true, false, false} /* v_scale */,
  {368, 2, 32, PTE_RULE_F, true, false, false} /* bias */,
  {1093, 4, 34, PTE_RULE_F, false, false, false} /* y */,
  {1093, 3, 8, PTE_RULE_F, false, false, false} /* y */,
  {819, 4, 11, PTE_RULE_F, false, false, false} /* x */,
  {880, 2, 38, PTE_RULE_W, true, false, false} /* expand */,
  {335, 2, 40, PTE_RULE_W, false, false, false} /* w */,
  {1170, 2, 21, PTE_RULE_TAPS, false, false, false} /* taps */,
  {361, 1, 16, PTE_RULE_F, true, false, false} /* expand_bias */,
  {600, 1, 16, PTE_RULE_F, true, false, false} /* taps_bias */,
  {368, 1, 17, PTE_RULE_F, true, false, false} /* bias */,
  {1212, 4, 42, PTE_RULE_A, false, true, false} /* xs */,
  {1093, 4, 42, PTE_RULE_F, false, false, false} /* y */,
  {1215, 3, 8, PTE_RULE_F, false, false, false} /* y0 */,
  {1218, 3, 8, PTE_RULE_I64, true, false, false} /* y1 */,
  {1042, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {335, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {901, 2, 46, PTE_RULE_F, true, false, false} /* hidden */,
  {1100, 2, 46, PTE_RULE_F, true, false, false} /* cell */,
  {674, 1, 16, PTE_RULE_F, true, false, false} /* peephole */,
  {574, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1215, 3, 48, PTE_RULE_F, false, false, false} /* y0 */,
  {1218, 2, 46, PTE_RULE_F, true, false, false} /* y1 */,
  {1221, 2, 46, PTE_RULE_F, true, false, false} /* y2 */,
  {1042, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {335, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {901, 2, 46, PTE_RULE_F, true, false, false} /* hidden */,
  {574, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1042, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {335, 2, 51, PTE_RULE_W, false, false, false} /* w */,
  {901, 2, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {574, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1215, 3, 11, PTE_RULE_F, false, false, false} /* y0 */,
  {1218, 2, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {819, 4, 11, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 38, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 17, PTE_RULE_F, true, false, false} /* bias */,
  {1212, 4, 53, PTE_RULE_A, false, true, false} /* xs */,
  {1093, 4, 53, PTE_RULE_F, false, false, false} /* y */,
  {1212, 1, 1, PTE_RULE_A, false, true, true} /* xs */,
  {1093, 1, 1, PTE_RULE_A, false, true, false} /* y */,
  {819, 2, 57, PTE_RULE_F, false, false, true} /* x */,
  {1120, 1, 6, PTE_RULE_F, true, false, false} /* gain */,
  {368, 1, 6, PTE_RULE_F, true, false, false} /* bias */,
  {1215, 2, 59, PTE_RULE_F, false, false, false} /* y0 */,
  {1218, 1, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {1221, 1, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {1093, 2, 59, PTE_RULE_F, false, false, false} /* y */,
  {819, 2, 19, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 10, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1212, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {1093, 2, 1, PTE_RULE_F, false, true, false} /* y */,
  {1093, 2, 1, PTE_RULE_F, false, false, false} /* y */,
  {819, 2, 19, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 2, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1212, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {1093, 1, 0, PTE_RULE_I64, false, false, false} /* y */,
  {819, 1, 1, PTE_RULE_T, false, false, false} /* x */,
  {1093, 1, 6, PTE_RULE_T, false, false, false} /* y */,
  {819, 2, 61, PTE_RULE_T, false, true, false} /* x */,
  {1048, 3, 63, PTE_RULE_I64, false, false, false} /* index */,
  {1093, 3, 66, PTE_RULE_T, false, false, false} /* y */,
  {819, 2, 19, PTE_RULE_F, false, true, true} /* x */,
  {1093, 2, 19, PTE_RULE_F, false, false, false} /* y */,
  {819, 2, 57, PTE_RULE_F, false, true, false} /* x */,
  {819, 2, 19, PTE_RULE_F, false, true, false} /* x */,
  {1093, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {819, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {1125, 3, 5, PTE_RULE_F, false, false, false} /* grid */,
  {540, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {1093, 1, 69, PTE_RULE_A, false, false, false} /* y */,
  {1212, 1, 69, PTE_RULE_A, false, false, false} /* xs */,
  {819, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {1093, 1, 1, PTE_RULE_T, false, true, false} /* y */,
  {819, 2, 0, PTE_RULE_T, false, true, false} /* x */,
  {1048, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {1093, 2, 70, PTE_RULE_T, false, false, false} /* y */,
  {335, 2, 11, PTE_RULE_W, false, false, false} /* w */,
  {1048, 1, 1, PTE_RULE_I64, false, false, false} /* index */,
  {819, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {1048, 1, 6, PTE_RULE_I64, false, true, false} /* index */,
  {819, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {1048, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {821, 1, 6, PTE_RULE_T, false, true, false} /* updates */,
  {1093, 1, 1, PTE_RULE_T, false, false, false} /* y */,
  {819, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {1048, 2, 72, PTE_RULE_I64, false, false, false} /* index */,
  {821, 1, 64, PTE_RULE_T, false, true, false} /* updates */,
  {1018, 4, 0, PTE_RULE_T, false, false, true} /* cache */,
  {978, 4, 73, PTE_RULE_T, false, true, false} /* update */,
  {1072, 1, 0, PTE_RULE_I64, true, false, false} /* start */,
  {1093, 4, 0, PTE_RULE_T, false, false, false} /* y */,
  {819, 1, 1, PTE_RULE_A, false, false, false} /* x */,
  {1093, 2, 77, PTE_RULE_I64, false, false, false} /* y */,
  {1215, 2, 1, PTE_RULE_F, false, false, false} /* y0 */,
  {1218, 2, 1, PTE_RULE_I64, false, false, false} /* y1 */,
  {1224, 3, 79, PTE_RULE_F, false, true, false} /* a */,
  {1226, 3, 1, PTE_RULE_F, false, true, false} /* b */,
  {1093, 3, 82, PTE_RULE_F, false, false, false} /* y */,
  {335, 2, 11, PTE_RULE_F, false, true, false} /* w */,
  {1093, 2, 11, PTE_RULE_W, false, false, false} /* y */,
  {1012, 3, 85, PTE_RULE_F, false, false, false} /* boxes */,
  {943, 3, 34, PTE_RULE_F, false, false, false} /* scores */,
  {1054, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {781, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {610, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {1093, 2, 88, PTE_RULE_I64, false, false, false} /* y */,
  {1084, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {540, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {725, 1, 69, PTE_RULE_A, false, false, false} /* carried */,
  {1093, 1, 1, PTE_RULE_A, false, false, false} /* y */,
  {1093, 1, 6, PTE_RULE_A, false, false, false} /* y */,
  {1018, 5, 90, PTE_RULE_T, false, false, true} /* cache */,
  {978, 4, 95, PTE_RULE_T, false, true, false} /* update */,
  {1072, 1, 0, PTE_RULE_I64, false, false, false} /* start */,
  {1093, 5, 90, PTE_RULE_T, false, false, false} /* y */,
  {1215, 2, 19, PTE_RULE_A, false, false, false} /* y0 */,
  {1218, 2, 99, PTE_RULE_F, false, false, false} /* y1 */,
  {819, 2, 11, PTE_RULE_F, false, true, false} /* x */,
  {1060, 2, 101, PTE_RULE_A, false, false, false} /* nodes */,
  {509, 1, 3, PTE_RULE_F, false, false, false} /* thresholds */,
  {1066, 2, 103, PTE_RULE_A, false, false, false} /* roots */,
  {837, 2, 105, PTE_RULE_F, false, false, false} /* weights */,
  {1093, 3, 107, PTE_RULE_F, false, false, false} /* y */,
};

const pte_op_attr pte_op_attrs[] = {
  {908, 4, 4, 0, true} /* kernel */,
  {964, 12, 4, 0, true} /* stride */,
  {656, 20, 4, 0, true} /* dilation */,
  {1006, 28, 4, 0, true} /* begin */,
  {1185, 36, 4, 0, true} /* end */,
  {957, 44, 4, 0, true} /* spread */,
  {894, 56, 0, 0, true} /* groups */,
  {992, 64, 0, 0, true} /* x_zero */,
  {999, 72, 0, 0, true} /* y_zero */,
  {1197, 80, 0, 0, true} /* low */,
  {1130, 88, 0, 0, true} /* high */,
  {845, 8, 0, 0, true} /* a_zero */,
  {246, 16, 0, 0, true} /* a_multiplier */,
  {701, 24, 0, 0, true} /* a_shift */,
  {859, 32, 0, 0, false} /* b_zero */,
  {272, 40, 0, 0, false} /* b_multiplier */,
  {717, 48, 0, 0, false} /* b_shift */,
  {999, 56, 0, 0, true} /* y_zero */,
  {248, 64, 0, 0, true} /* multiplier */,
  {703, 72, 0, 0, true} /* shift */,
  {1197, 80, 0, 0, true} /* low */,
  {1130, 88, 0, 0, true} /* high */,
  {908, 4, 4, 0, true} /* kernel */,
  {964, 12, 4, 0, true} /* stride */,
  {656, 20, 4, 0, true} /* dilation */,
  {1006, 28, 4, 0, true} /* begin */,
  {1185, 36, 4, 0, true} /* end */,
  {1180, 48, 0, 0, false} /* wide */,
  {894, 56, 0, 0, true} /* groups */,
  {992, 64, 0, 0, true} /* x_zero */,
  {999, 72, 0, 0, true} /* y_zero */,
  {1197, 80, 0, 0, true} /* low */,
  {1130, 88, 0, 0, true} /* high */,
  {908, 4, 4, 0, true} /* kernel */,
  {964, 12, 4, 0, true} /* stride */,
  {656, 20, 4, 0, true} /* dilation */,
  {1006, 28, 4, 0, true} /* begin */,
  {1185, 36, 4, 0, true} /* end */,
  {957, 44, 4, 0, true} /* spread */,
  {894, 56, 0, 0, false} /* groups */,
  {1078, 64, 7, 0, false} /* steps */,
  {908, 4, 4, 0, true} /* kernel */,
  {964, 12, 4, 0, true} /* stride */,
  {656, 20, 4, 0, true} /* dilation */,
  {1006, 28, 4, 0, true} /* begin */,
  {1185, 36, 4, 0, true} /* end */,
  {1078, 44, 7, 0, false} /* steps */,
  {751, 8, 1, 0, true} /* scale */,
  {866, 16, 3, 3, false} /* causal */,
  {805, 24, 1, 0, false} /* softcap */,
  {397, 32, 0, 0, false} /* left_window */,
  {324, 40, 0, 0, false} /* right_window */,
  {211, 48, 2, 0, false} /* turned */,
  {1165, 56, 0, 0, false} /* ring */,
  {936, 4, 5, 0, false} /* scales */,
  {1160, 12, 3, 3, false} /* mode */,
  {349, 16, 3, 6, false} /* coordinates */,
  {765, 20, 3, 4, false} /* nearest */,
  {1030, 24, 1, 0, false} /* cubic */,
  {57, 32, 2, 0, false} /* exclude_outside */,
  {520, 36, 2, 0, false} /* antialias */,
  {190, 40, 1, 0, false} /* extrapolation */,
  {915, 48, 5, 0, false} /* region */,
  {908, 8, 0, 0, true} /* kernel */,
  {964, 16, 0, 0, true} /* stride */,
  {1006, 24, 0, 0, true} /* begin */,
  {1036, 32, 3, 3, false} /* first */,
  {950, 36, 3, 3, false} /* second */,
  {1078, 40, 7, 0, false} /* steps */,
  {908, 4, 4, 0, true} /* kernel */,
  {964, 12, 4, 0, true} /* stride */,
  {656, 20, 4, 0, true} /* dilation */,
  {1006, 28, 4, 0, true} /* begin */,
  {148, 36, 2, 0, false} /* channel_major */,
  {298, 40, 2, 0, false} /* column_major */,
  {908, 4, 4, 0, true} /* kernel */,
  {964, 12, 4, 0, true} /* stride */,
  {656, 20, 4, 0, true} /* dilation */,
  {1006, 28, 4, 0, true} /* begin */,
  {1185, 36, 4, 0, true} /* end */,
  {176, 44, 2, 0, false} /* count_padding */,
  {337, 4, 4, 0, true} /* activations */,
  {476, 12, 5, 0, true} /* parameters */,
  {1105, 24, 1, 0, false} /* clip */,
  {311, 32, 2, 0, false} /* input_forget */,
  {797, 36, 2, 0, false} /* reverse */,
  {337, 4, 4, 0, true} /* activations */,
  {476, 12, 5, 0, true} /* parameters */,
  {1105, 24, 1, 0, false} /* clip */,
  {0, 32, 2, 0, false} /* linear_before_reset */,
  {797, 36, 2, 0, false} /* reverse */,
  {337, 4, 4, 0, true} /* activations */,
  {476, 12, 5, 0, true} /* parameters */,
  {1105, 24, 1, 0, false} /* clip */,
  {797, 32, 2, 0, false} /* reverse */,
  {1006, 8, 0, 0, true} /* begin */,
  {1078, 16, 7, 0, false} /* steps */,
  {1078, 4, 7, 0, true} /* steps */,
  {574, 8, 0, 0, true} /* count */,
  {741, 16, 1, 0, false} /* epsilon */,
  {1078, 4, 7, 0, false} /* steps */,
  {985, 4, 6, 0, true} /* values */,
  {1006, 4, 6, 0, true} /* begin */,
  {1160, 12, 3, 3, true} /* mode */,
  {432, 8, 0, 0, false} /* batch_dims */,
  {1135, 4, 3, 2, false} /* kind */,
  {550, 8, 2, 0, false} /* exclusive */,
  {797, 12, 2, 0, false} /* reverse */,
  {1135, 4, 3, 5, true} /* kind */,
  {574, 8, 0, 0, true} /* count */,
  {1135, 4, 3, 2, true} /* kind */,
  {1140, 8, 2, 0, false} /* last */,
  {1160, 4, 3, 3, false} /* mode */,
  {182, 8, 3, 3, false} /* padding */,
  {134, 12, 2, 0, false} /* align_corners */,
  {498, 4, 8, 0, true} /* then_block */,
  {454, 8, 8, 0, true} /* else_block */,
  {1048, 8, 0, 0, true} /* index */,
  {590, 4, 3, 5, false} /* reduction */,
  {620, 4, 2, 0, false} /* circular */,
  {757, 4, 2, 0, false} /* largest */,
  {1193, 4, 2, 0, false} /* log */,
  {873, 4, 2, 0, false} /* center */,
  {1090, 4, 8, 0, true} /* body */,
  {692, 4, 2, 0, false} /* saturate */,
  {211, 4, 2, 0, false} /* turned */,
  {590, 4, 3, 3, false} /* reduction */,
};

const uint64_t pte_op_default_words[] = {
  0,
  0x0u,
  0x0u,
  0x8u,
  0x10u,
  0x0u,
  0x100000008u,
  0x3ee4f8b588e368f1u,
  0x18u,
  0x0u,
  0x0u,
  0x1u,
  0x0u,
  0x0u,
  0x0u,
  0xffffffffffffffffu,
  0xffffffffffffffffu,
  0x0u,
  0x0u,
  0x100000000u,
  0x0u,
  0x38u,
  0x0u,
  0x0u,
  0xbfe8000000000000u,
  0x0u,
  0x0u,
  0x0u,
};

const int64_t pte_op_numbers[] = {
  INT64_C(-4611686018427387904),
  INT64_C(4611686018427387904),
  INT64_C(1) << PTE_F32,
  INT64_C(1),
  INT64_C(1) << PTE_BOOL | INT64_C(1) << PTE_I8 | INT64_C(1) << PTE_I16 | INT64_C(1) << PTE_I32 | INT64_C(1) << PTE_I64 | INT64_C(1) << PTE_U8 | INT64_C(1) << PTE_U16 | INT64_C(1) << PTE_U32 | INT64_C(1) << PTE_U64 | INT64_C(1) << PTE_F32 | INT64_C(1) << PTE_F64,
  INT64_C(1) << PTE_F8E8M0,
  INT64_C(1) << PTE_BOOL,
  INT64_C(12),
  INT64_C(1) << PTE_I64,
  INT64_C(2),
  INT64_C(2147483647),
  INT64_C(-2147483647),
  INT64_C(1048576),
  INT64_C(65536),
  INT64_C(1) << PTE_BOOL | INT64_C(1) << PTE_F32,
  INT64_C(1) << PTE_F32 | INT64_C(1) << PTE_F16 | INT64_C(1) << PTE_F8E4M3 | INT64_C(1) << PTE_I8,
  INT64_C(2305843009213693952),
  INT64_C(32),
  INT64_C(16777216),
  INT64_C(230),
  INT64_C(262144),
  INT64_C(1) << PTE_I8,
  INT64_C(4194304),
  INT64_C(1) << PTE_I32,
  INT64_C(-128),
  INT64_C(1) << PTE_I2 | INT64_C(1) << PTE_U2 | INT64_C(1) << PTE_I4 | INT64_C(1) << PTE_U4,
  INT64_C(1) << PTE_F8E4M3 | INT64_C(1) << PTE_F8E5M2 | INT64_C(1) << PTE_F8E8M0 | INT64_C(1) << PTE_F6E2M3 | INT64_C(1) << PTE_F6E3M2 | INT64_C(1) << PTE_F4E2M1 | INT64_C(1) << PTE_F8E4M3FNUZ | INT64_C(1) << PTE_F8E5M2FNUZ,
  INT64_C(1) << PTE_I64 | INT64_C(1) << PTE_F32,
  INT64_C(131072),
  INT64_C(-32768),
  INT64_C(32767),
};

const uint16_t pte_op_relations[] = {
  211,
  16,
  220,
  228,
  236,
  244,
  252,
  260,
  268,
  276,
  284,
  292,
  300,
  306,
  312,
  319,
  334,
  342,
  842,
  206,
  390,
  402,
  411,
  420,
  847,
  883,
  889,
  894,
  899,
  904,
  912,
  920,
  928,
  936,
  211,
  16,
  220,
  228,
  236,
  244,
  252,
  260,
  268,
  276,
  284,
  292,
  300,
  306,
  312,
  433,
  842,
  206,
  390,
  402,
  411,
  420,
  847,
  883,
  889,
  894,
  899,
  1174,
  1182,
  1190,
  1198,
  936,
  211,
  16,
  220,
  228,
  236,
  244,
  252,
  260,
  268,
  276,
  284,
  292,
  300,
  306,
  312,
  319,
  334,
  342,
  195,
  390,
  396,
  402,
  411,
  420,
  211,
  16,
  220,
  228,
  236,
  244,
  252,
  260,
  268,
  276,
  284,
  292,
  300,
  306,
  312,
  433,
  195,
  206,
  478,
  485,
  16,
  220,
  228,
  236,
  244,
  252,
  260,
  268,
  704,
  300,
  306,
  284,
  712,
  1246,
  1255,
  1260,
  1266,
  1271,
  1276,
  195,
  200,
  206,
  1281,
  1289,
  1298,
  1306,
  1206,
  950,
  1214,
  1222,
  974,
  1230,
  990,
  998,
  1238,
  1190,
  1198,
  936,
  942,
  950,
  958,
  966,
  974,
  982,
  990,
  998,
  1006,
  920,
  928,
  936,
  621,
  630,
  639,
  646,
  195,
  206,
  200,
  653,
  661,
  667,
  676,
  683,
  195,
  206,
  200,
  653,
  661,
  1133,
  1141,
  1150,
  1159,
  195,
  206,
  1168,
  75,
  16,
  720,
  732,
  747,
  765,
  780,
  690,
  697,
  195,
  206,
  200,
  653,
  661,
  195,
  200,
  1083,
  1088,
  1094,
  1109,
  195,
  200,
  822,
  827,
  836,
  7,
  16,
  24,
  32,
  40,
  75,
  16,
  82,
  7,
  103,
  7,
  75,
  16,
  82,
  211,
  794,
  801,
  810,
  113,
  123,
  7,
  103,
  842,
  1115,
  1127,
  136,
  7,
  143,
  7,
  1064,
  1070,
  1314,
  894,
  1319,
  7,
  94,
  0,
  151,
  186,
  816,
  64,
  69,
  157,
  170,
  1014,
  1024,
  1029,
  1039,
  1049,
  1054,
  491,
  500,
  506,
  512,
  517,
  522,
  527,
  539,
  546,
  552,
  562,
  570,
  585,
  597,
  609,
  615,
};

const uint8_t pte_op_codes[] = {
  17, 9, 4, 3, 0, 31, 0, 11, 0, 1, 8, 27, 1, 0, 31, 0, 17, 7, 1, 17, 7, 0, 31, 0,
  17, 9, 4, 17, 7, 0, 31, 0, 9, 4, 2, 0, 2, 1, 22, 0, 7, 0, 7, 1, 9, 4, 24, 28,
  1, 0, 1, 0, 9, 4, 24, 29, 24, 7, 1, 1, 1, 28, 33, 0, 10, 0, 21, 2, 0, 14, 0, 1,
  1, 31, 0, 17, 7, 0, 1, 1, 33, 0, 1, 1, 19, 7, 1, 1, 1, 19, 7, 0, 34, 0, 7, 3,
  3, 0, 19, 7, 1, 31, 0, 5, 4, 21, 3, 10, 0, 21, 4, 30, 0, 17, 7, 1, 20, 7, 2, 7,
  1, 31, 0, 17, 7, 1, 19, 7, 2, 3, 0, 19, 7, 0, 31, 0, 3, 0, 17, 7, 0, 31, 0, 10,
  0, 21, 5, 1, 0, 31, 0, 3, 1, 3, 0, 34, 0, 10, 0, 21, 6, 1, 0, 31, 5, 4, 21, 7,
  30, 0, 10, 0, 21, 8, 1, 0, 31, 5, 4, 21, 9, 1, 0, 31, 30, 0, 3, 0, 1, 1, 33, 15,
  1, 30, 0, 10, 1, 21, 2, 0, 14, 1, 1, 1, 31, 0, 12, 1, 21, 3, 0, 17, 7, 0, 1, 1,
  1, 3, 22, 0, 17, 8, 4, 17, 7, 0, 31, 0, 8, 4, 1, 1, 2, 10, 22, 0, 17, 8, 12, 17,
  7, 0, 31, 0, 8, 12, 1, 1, 2, 10, 22, 0, 17, 8, 20, 17, 7, 0, 31, 0, 8, 20, 1, 1,
  2, 10, 22, 0, 17, 8, 28, 17, 7, 0, 31, 0, 8, 28, 2, 11, 2, 10, 22, 0, 17, 8, 36, 17,
  7, 0, 31, 0, 8, 36, 2, 11, 2, 10, 22, 0, 7, 0, 2, 10, 34, 0, 7, 1, 2, 10, 34, 0,
  18, 8, 4, 2, 12, 34, 0, 17, 8, 44, 1, 0, 31, 17, 8, 44, 17, 7, 0, 31, 30, 0, 8, 44,
  1, 1, 2, 10, 22, 0, 7, 1, 1, 0, 1, 0, 7, 0, 1, 1, 24, 8, 44, 1, 1, 30, 25, 1,
  1, 23, 29, 8, 28, 23, 8, 36, 23, 8, 4, 1, 1, 24, 8, 20, 25, 24, 1, 1, 24, 8, 12, 26,
  1, 1, 23, 29, 31, 0, 4, 56, 1, 1, 33, 0, 14, 1, 4, 56, 31, 0, 3, 2, 4, 56, 27, 1,
  0, 31, 0, 3, 1, 4, 56, 27, 1, 0, 31, 0, 3, 3, 18, 8, 4, 3, 1, 4, 56, 26, 25, 31,
  0, 7, 1, 1, 0, 1, 0, 7, 0, 1, 1, 24, 1, 1, 25, 1, 1, 23, 29, 8, 28, 23, 8, 36,
  23, 8, 4, 1, 1, 24, 8, 20, 25, 24, 1, 1, 24, 8, 12, 26, 1, 1, 23, 29, 31, 0, 3, 2,
  18, 8, 4, 31, 0, 3, 2, 2, 13, 34, 0, 3, 1, 3, 4, 27, 1, 0, 31, 0, 3, 3, 2, 13,
  34, 0, 3, 7, 2, 13, 34, 0, 10, 3, 21, 14, 0, 10, 1, 21, 15, 0, 10, 2, 21, 15, 0, 5,
  48, 3, 3, 25, 1, 64, 27, 1, 0, 31, 0, 17, 7, 0, 1, 1, 34, 0, 7, 0, 1, 16, 31, 0,
  3, 5, 18, 7, 0, 25, 3, 6, 31, 0, 4, 56, 1, 0, 2, 16, 22, 0, 4, 56, 1, 0, 31, 3,
  6, 1, 64, 27, 1, 0, 31, 30, 0, 4, 56, 1, 0, 31, 11, 3, 1, 0, 31, 30, 0, 4, 56, 1,
  0, 31, 4, 32, 1, 0, 33, 30, 0, 4, 32, 2, 16, 34, 0, 4, 40, 2, 16, 34, 0, 3, 2, 1,
  4, 3, 3, 25, 31, 0, 3, 4, 1, 3, 3, 3, 25, 31, 0, 17, 8, 4, 1, 3, 31, 0, 17, 8,
  12, 1, 6, 31, 0, 8, 4, 1, 0, 1, 10, 22, 0, 6, 24, 1, 0, 33, 0, 3, 2, 1, 3, 3,
  3, 25, 31, 0, 17, 8, 4, 1, 2, 31, 0, 17, 8, 12, 1, 4, 31, 0, 17, 8, 4, 1, 1, 31,
  0, 17, 8, 12, 1, 2, 31, 0, 8, 28, 1, 0, 2, 10, 22, 0, 8, 36, 1, 0, 2, 10, 22, 0,
  7, 0, 1, 1, 33, 7, 1, 1, 0, 31, 30, 0, 17, 8, 4, 1, 0, 31, 17, 8, 4, 17, 7, 0,
  31, 30, 0, 17, 8, 48, 1, 0, 31, 17, 8, 48, 1, 2, 17, 7, 0, 25, 31, 30, 0, 5, 16, 21,
  17, 1, 0, 31, 17, 8, 48, 1, 1, 33, 30, 0, 5, 12, 21, 3, 1, 0, 31, 5, 36, 1, 0, 31,
  30, 0, 3, 2, 17, 7, 0, 31, 0, 7, 0, 1, 1, 33, 15, 2, 30, 0, 7, 0, 2, 18, 34, 0,
  3, 4, 1, 3, 31, 0, 12, 1, 21, 19, 0, 13, 1, 1, 32, 27, 1, 0, 31, 0, 3, 0, 2, 20,
  34, 0, 10, 1, 21, 21, 0, 14, 1, 1, 1, 4, 56, 1, 1, 3, 2, 4, 56, 26, 3, 1, 4, 56,
  26, 25, 3, 3, 1, 128, 26, 1, 64, 26, 23, 1, 1, 24, 28, 25, 29, 31, 0, 3, 3, 2, 22, 34,
  0, 10, 2, 21, 23, 0, 10, 3, 21, 23, 0, 10, 4, 21, 21, 0, 4, 64, 2, 24, 1, 127, 22, 0,
  4, 72, 2, 24, 1, 127, 22, 0, 4, 80, 2, 24, 1, 127, 22, 0, 4, 88, 2, 24, 1, 127, 22, 0,
  4, 80, 4, 88, 34, 0, 4, 8, 2, 24, 1, 127, 22, 0, 4, 16, 1, 0, 2, 10, 22, 0, 4, 24,
  1, 10, 1, 62, 22, 0, 4, 32, 2, 24, 1, 127, 22, 0, 4, 40, 1, 0, 2, 10, 22, 0, 4, 48,
  1, 10, 1, 62, 22, 0, 4, 64, 1, 0, 2, 10, 22, 0, 4, 72, 1, 1, 1, 62, 22, 0, 4, 56,
  2, 24, 1, 127, 22, 0, 10, 0, 21, 25, 10, 0, 21, 26, 30, 0, 10, 1, 21, 27, 0, 10, 0, 21,
  25, 10, 1, 21, 8, 31, 0, 10, 1, 21, 25, 10, 1, 21, 26, 30, 0, 10, 0, 21, 27, 0, 10, 1,
  21, 25, 10, 0, 21, 8, 31, 0, 11, 1, 11, 0, 31, 0, 10, 1, 21, 6, 1, 0, 31, 10, 0, 21,
  6, 30, 0, 12, 1, 21, 9, 0, 13, 1, 1, 0, 31, 0, 3, 2, 3, 0, 1, 63, 23, 1, 64, 26,
  1, 64, 25, 31, 0, 3, 0, 2, 28, 34, 0, 5, 4, 3, 0, 25, 1, 64, 27, 1, 0, 31, 0, 3,
  0, 2, 13, 34, 0, 4, 8, 1, 0, 1, 2, 22, 0, 3, 3, 1, 16, 27, 1, 0, 31, 0, 3, 5,
  1, 16, 27, 1, 0, 31, 0, 3, 4, 1, 36, 3, 5, 25, 31, 0, 14, 1, 1, 36, 31, 0, 4, 64,
  2, 29, 2, 30, 22, 0, 4, 72, 2, 29, 2, 30, 22, 0, 4, 80, 2, 29, 2, 30, 22, 0, 4, 88,
  2, 29, 2, 30, 22, 0, 4, 8, 2, 29, 2, 30, 22, 0, 4, 24, 1, 17, 1, 62, 22, 0, 4, 32,
  2, 29, 2, 30, 22, 0, 4, 48, 1, 17, 1, 62, 22, 0, 4, 56, 2, 29, 2, 30, 22, 0, 16, 1,
  3, 4, 3, 3, 31, 30, 0, 10, 2, 21, 2, 0, 14, 2, 1, 1, 31, 0, 12, 2, 21, 3, 0, 10,
  3, 21, 2, 0, 12, 3, 21, 3, 0, 4, 8, 1, 1, 1, 255, 22, 0, 3, 6, 4, 8, 4, 8, 25,
  31, 0, 4, 16, 1, 1, 1, 255, 22, 0, 4, 24, 1, 0, 1, 255, 22, 0, 10, 1, 21, 23, 0, 3,
  4, 1, 1, 33, 0,
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
  "conv_winograd\0" /* 162 */
  "count_padding\0" /* 176 */
  "extrapolation\0" /* 190 */
  "matmul_turned\0" /* 204 */
  "panel_scatter\0" /* 218 */
  "tree_ensemble\0" /* 232 */
  "a_multiplier\0" /* 246 */
  "average_pool\0" /* 259 */
  "b_multiplier\0" /* 272 */
  "batch_matmul\0" /* 285 */
  "column_major\0" /* 298 */
  "input_forget\0" /* 311 */
  "right_window\0" /* 324 */
  "activations\0" /* 337 */
  "coordinates\0" /* 349 */
  "expand_bias\0" /* 361 */
  "gather_rows\0" /* 373 */
  "grid_sample\0" /* 385 */
  "left_window\0" /* 397 */
  "matmul_int8\0" /* 409 */
  "arg_reduce\0" /* 421 */
  "batch_dims\0" /* 432 */
  "conv_block\0" /* 443 */
  "else_block\0" /* 454 */
  "layer_norm\0" /* 465 */
  "parameters\0" /* 476 */
  "scatter_nd\0" /* 487 */
  "then_block\0" /* 498 */
  "thresholds\0" /* 509 */
  "antialias\0" /* 520 */
  "attention\0" /* 530 */
  "condition\0" /* 540 */
  "exclusive\0" /* 550 */
  "gather_nd\0" /* 560 */
  "key_count\0" /* 570 */
  "pointwise\0" /* 580 */
  "reduction\0" /* 590 */
  "taps_bias\0" /* 600 */
  "threshold\0" /* 610 */
  "circular\0" /* 620 */
  "conv_i16\0" /* 629 */
  "cumulate\0" /* 638 */
  "delegate\0" /* 647 */
  "dilation\0" /* 656 */
  "max_pool\0" /* 665 */
  "peephole\0" /* 674 */
  "rms_norm\0" /* 683 */
  "saturate\0" /* 692 */
  "a_shift\0" /* 701 */
  "add_i16\0" /* 709 */
  "b_shift\0" /* 717 */
  "carried\0" /* 725 */
  "conv_i8\0" /* 733 */
  "epsilon\0" /* 741 */
  "k_scale\0" /* 749 */
  "largest\0" /* 757 */
  "nearest\0" /* 765 */
  "nonzero\0" /* 773 */
  "overlap\0" /* 781 */
  "reshape\0" /* 789 */
  "reverse\0" /* 797 */
  "softcap\0" /* 805 */
  "softmax\0" /* 813 */
  "updates\0" /* 821 */
  "v_scale\0" /* 829 */
  "weights\0" /* 837 */
  "a_zero\0" /* 845 */
  "add_i8\0" /* 852 */
  "b_zero\0" /* 859 */
  "causal\0" /* 866 */
  "center\0" /* 873 */
  "expand\0" /* 880 */
  "gather\0" /* 887 */
  "groups\0" /* 894 */
  "hidden\0" /* 901 */
  "kernel\0" /* 908 */
  "region\0" /* 915 */
  "repack\0" /* 922 */
  "resize\0" /* 929 */
  "scales\0" /* 936 */
  "scores\0" /* 943 */
  "second\0" /* 950 */
  "spread\0" /* 957 */
  "stride\0" /* 964 */
  "unpack\0" /* 971 */
  "update\0" /* 978 */
  "values\0" /* 985 */
  "x_zero\0" /* 992 */
  "y_zero\0" /* 999 */
  "begin\0" /* 1006 */
  "boxes\0" /* 1012 */
  "cache\0" /* 1018 */
  "codes\0" /* 1024 */
  "cubic\0" /* 1030 */
  "first\0" /* 1036 */
  "gates\0" /* 1042 */
  "index\0" /* 1048 */
  "limit\0" /* 1054 */
  "nodes\0" /* 1060 */
  "roots\0" /* 1066 */
  "start\0" /* 1072 */
  "steps\0" /* 1078 */
  "trips\0" /* 1084 */
  "body\0" /* 1090 */
  "call\0" /* 1095 */
  "cell\0" /* 1100 */
  "clip\0" /* 1105 */
  "conv\0" /* 1110 */
  "copy\0" /* 1115 */
  "gain\0" /* 1120 */
  "grid\0" /* 1125 */
  "high\0" /* 1130 */
  "kind\0" /* 1135 */
  "last\0" /* 1140 */
  "loop\0" /* 1145 */
  "lstm\0" /* 1150 */
  "mask\0" /* 1155 */
  "mode\0" /* 1160 */
  "ring\0" /* 1165 */
  "taps\0" /* 1170 */
  "topk\0" /* 1175 */
  "wide\0" /* 1180 */
  "end\0" /* 1185 */
  "gru\0" /* 1189 */
  "log\0" /* 1193 */
  "low\0" /* 1197 */
  "pad\0" /* 1201 */
  "rnn\0" /* 1205 */
  "if\0" /* 1209 */
  "xs\0" /* 1212 */
  "y0\0" /* 1215 */
  "y1\0" /* 1218 */
  "y2\0" /* 1221 */
  "a\0" /* 1224 */
  "b\0" /* 1226 */
  "q\0" /* 1228 */
  ;

const pte_op_row pte_op_rows[] = {
  {KERNEL_pointwise, 580, true, true, false, false, 1u << PTE_F32, 1, 0, 24, 65, 66, 97, 1, 1, 0, false, 0, 1},
  {KERNEL_copy, 1115, false, false, false, true, 1u << PTE_F32, 2, 3, 8, 100, 101, 0, 1, 1, 0, false, 0, 0},
  {KERNEL_dims, 438, false, false, false, false, 1u << PTE_F32, 3, 0, 16, 0, 84, 101, 0, 1, 1, false, 245, 1},
  {KERNEL_pad, 1201, false, false, false, false, 1u << PTE_F32, 4, 0, 16, 85, 86, 102, 1, 1, 5, false, 209, 2},
  {KERNEL_gather, 887, false, false, false, true, 1u << PTE_F32, 5, 3, 8, 102, 104, 0, 2, 1, 1, false, 209, 0},
  {KERNEL_gather_rows, 373, false, false, false, true, 1u << PTE_F32, 6, 3, 8, 105, 79, 0, 2, 1, 2, false, 249, 0},
  {KERNEL_gather_elements, 73, false, false, false, true, 1u << PTE_F32, 7, 3, 8, 107, 86, 0, 2, 1, 4, false, 219, 0},
  {KERNEL_gather_nd, 560, false, false, false, true, 1u << PTE_F32, 8, 4, 16, 87, 89, 104, 2, 1, 2, false, 243, 1},
  {KERNEL_scatter_elements, 40, false, false, false, true, 1u << PTE_F32, 9, 3, 8, 109, 112, 118, 3, 1, 5, false, 214, 1},
  {KERNEL_scatter_nd, 487, false, false, false, true, 1u << PTE_F32, 10, 3, 8, 113, 112, 118, 3, 1, 4, false, 227, 1},
  {KERNEL_tensor_scatter, 119, false, false, false, true, 1u << PTE_F32, 11, 3, 8, 116, 119, 119, 3, 1, 1, false, 209, 1},
  {KERNEL_nonzero, 773, false, false, false, true, 1u << PTE_F32, 12, 3, 8, 120, 121, 0, 1, 1, 3, true, 234, 0},
  {KERNEL_topk, 1175, false, false, false, true, 1u << PTE_F32 | 1u << PTE_I64, 13, 6, 8, 93, 122, 120, 1, 2, 1, false, 246, 1},
  {KERNEL_cumulate, 638, false, false, false, true, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 4, 16, 90, 91, 105, 1, 1, 0, false, 0, 3},
  {KERNEL_reduce, 425, false, false, false, false, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 0, 16, 92, 8, 108, 1, 1, 2, false, 251, 2},
  {KERNEL_arg_reduce, 421, false, false, false, false, 1u << PTE_F32 | 1u << PTE_I64, 21, 0, 16, 93, 94, 110, 1, 1, 1, false, 247, 2},
  {KERNEL_softmax, 813, false, false, false, true, 1u << PTE_F32, 22, 3, 8, 90, 91, 121, 1, 1, 0, false, 0, 1},
  {KERNEL_layer_norm, 465, false, false, false, false, 1u << PTE_F32, 23, 5, 24, 67, 70, 98, 3, 3, 0, false, 0, 2},
  {KERNEL_rms_norm, 683, false, false, false, false, 1u << PTE_F32, 24, 5, 24, 67, 73, 98, 2, 1, 0, false, 0, 2},
  {KERNEL_matmul, 291, true, false, false, true, 1u << PTE_F32, 30, 8, 24, 74, 78, 100, 4, 1, 2, false, 129, 1},
  {KERNEL_batch_matmul, 285, false, false, false, true, 1u << PTE_F32, 31, 3, 8, 124, 126, 0, 2, 1, 0, false, 0, 0},
  {KERNEL_pack, 924, false, false, false, true, 1u << PTE_F32, 32, 3, 8, 127, 128, 0, 1, 1, 3, false, 164, 0},
  {KERNEL_conv, 1110, true, false, false, false, 1u << PTE_F32, 33, 4, 80, 9, 13, 33, 4, 1, 24, false, 66, 8},
  {KERNEL_conv_depthwise, 89, true, false, false, false, 1u << PTE_F32, 34, 7, 64, 14, 18, 41, 4, 1, 20, false, 90, 6},
  {KERNEL_attention, 530, false, false, false, false, 1u << PTE_F32, 35, 11, 64, 19, 27, 47, 8, 1, 16, false, 259, 7},
  {KERNEL_lstm, 1150, false, false, false, false, 1u << PTE_F32, 36, 10, 40, 40, 46, 81, 6, 3, 9, false, 160, 5},
  {KERNEL_gru, 1189, false, false, false, false, 1u << PTE_F32, 37, 10, 40, 49, 46, 86, 5, 2, 8, false, 169, 5},
  {KERNEL_rnn, 1205, false, false, false, false, 1u << PTE_F32, 38, 10, 40, 54, 58, 91, 4, 2, 7, false, 191, 4},
  {KERNEL_matmul_integer, 104, false, false, false, true, 1u << PTE_I64, 39, 3, 8, 124, 126, 0, 2, 1, 0, false, 0, 0},
  {KERNEL_max_pool, 665, false, false, false, false, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_I8, 40, 15, 48, 0, 38, 69, 1, 2, 11, false, 110, 6},
  {KERNEL_average_pool, 259, false, false, false, false, 1u << PTE_F32, 41, 0, 48, 0, 28, 75, 1, 1, 13, false, 110, 6},
  {KERNEL_resize, 929, false, false, false, true, 1u << PTE_F32, 42, 21, 56, 0, 28, 54, 1, 1, 7, false, 184, 9},
  {KERNEL_grid_sample, 385, false, false, false, true, 1u << PTE_F32, 43, 4, 16, 95, 28, 112, 2, 1, 4, false, 223, 3},
  {KERNEL_non_max_suppression, 20, false, false, false, true, 1u << PTE_F32, 44, 3, 8, 129, 134, 122, 5, 1, 1, true, 248, 1},
  {KERNEL_matmul_int8, 409, true, false, false, true, 1u << PTE_F32, 45, 8, 24, 74, 79, 100, 4, 1, 5, false, 204, 1},
  {KERNEL_conv_i8, 733, false, false, false, false, 1u << PTE_I8, 46, 0, 96, 0, 5, 0, 5, 1, 34, false, 0, 11},
  {KERNEL_add_i8, 852, false, false, false, false, 1u << PTE_I8, 47, 0, 96, 6, 8, 11, 2, 1, 12, false, 148, 11},
  {NULL, 1209, false, true, true, false, 1u << PTE_F32, 60, 0, 16, 97, 98, 115, 1, 1, 0, false, 0, 2},
  {NULL, 1145, true, true, true, false, 1u << PTE_F32, 61, 0, 8, 135, 98, 123, 3, 1, 0, false, 0, 1},
  {NULL, 1095, true, true, true, false, 1u << PTE_F32, 62, 0, 8, 99, 98, 123, 1, 1, 0, false, 0, 1},
  {NULL, 647, true, true, true, false, 1u << PTE_F32, 63, 0, 16, 99, 98, 117, 1, 1, 0, false, 0, 1},
  {KERNEL_unpack, 971, false, false, false, true, 1u << PTE_F32, 70, 3, 8, 120, 138, 0, 1, 1, 3, false, 253, 0},
  {KERNEL_repack, 922, false, false, false, true, 1u << PTE_F32, 71, 6, 8, 120, 138, 124, 1, 1, 3, false, 256, 1},
  {KERNEL_reshape, 789, false, false, false, true, 1u << PTE_F32, 72, 3, 8, 120, 139, 0, 1, 1, 3, false, 237, 0},
  {KERNEL_panel_scatter, 218, false, false, false, true, 1u << PTE_F32, 73, 3, 8, 140, 143, 119, 3, 1, 1, false, 209, 1},
  {KERNEL_matmul_turned, 204, true, false, false, true, 1u << PTE_F32, 74, 8, 24, 80, 79, 100, 4, 1, 6, false, 198, 1},
  {KERNEL_codes, 1024, false, false, false, true, 1u << PTE_F32, 75, 3, 8, 93, 144, 125, 1, 2, 3, false, 231, 1},
  {KERNEL_conv_winograd, 162, true, false, false, false, 1u << PTE_F32, 76, 7, 32, 60, 64, 95, 4, 1, 7, false, 177, 2},
  {KERNEL_conv_i16, 629, false, false, false, false, 1u << PTE_I16, 77, 0, 96, 0, 5, 22, 5, 1, 32, false, 34, 11},
  {KERNEL_add_i16, 709, false, false, false, false, 1u << PTE_I16, 78, 0, 96, 6, 8, 11, 2, 1, 12, false, 136, 11},
  {KERNEL_conv_block, 443, true, false, false, false, 1u << PTE_F32, 79, 8, 56, 29, 37, 63, 8, 1, 13, false, 123, 6},
  {KERNEL_tree_ensemble, 232, false, false, false, true, 1u << PTE_F32 | 1u << PTE_F64, 80, 3, 8, 146, 151, 126, 5, 1, 3, false, 240, 1},
};

const uint32_t pte_op_row_count = 52;

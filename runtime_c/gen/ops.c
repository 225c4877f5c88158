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
  {808, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 3, PTE_RULE_A, false, false, false} /* bias */,
  {248, 1, 3, PTE_RULE_A, false, false, false} /* multiplier */,
  {692, 1, 3, PTE_RULE_A, false, false, false} /* shift */,
  {1082, 3, 5, PTE_RULE_F, false, false, false} /* y */,
  {1213, 1, 1, PTE_RULE_F, false, false, true} /* a */,
  {1215, 1, 1, PTE_RULE_F, true, false, false} /* b */,
  {1082, 1, 1, PTE_RULE_F, false, false, false} /* y */,
  {808, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {1201, 3, 5, PTE_RULE_A, false, true, false} /* xs */,
  {1082, 3, 5, PTE_RULE_F, false, true, false} /* y */,
  {808, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {368, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1201, 3, 8, PTE_RULE_A, false, true, false} /* xs */,
  {1082, 3, 8, PTE_RULE_F, false, true, false} /* y */,
  {1217, 4, 11, PTE_RULE_F, false, true, false} /* q */,
  {452, 5, 15, PTE_RULE_A, false, true, false} /* k */,
  {1102, 4, 20, PTE_RULE_A, false, true, false} /* v */,
  {1144, 4, 24, PTE_RULE_A, true, true, false} /* mask */,
  {559, 1, 0, PTE_RULE_I64, true, false, false} /* key_count */,
  {738, 4, 28, PTE_RULE_F, true, false, false} /* k_scale */,
  {818, 4, 28, PTE_RULE_F, true, false, false} /* v_scale */,
  {368, 2, 32, PTE_RULE_F, true, false, false} /* bias */,
  {1082, 4, 34, PTE_RULE_F, false, false, false} /* y */,
  {1082, 3, 8, PTE_RULE_F, false, false, false} /* y */,
  {808, 4, 11, PTE_RULE_F, false, false, false} /* x */,
  {869, 2, 38, PTE_RULE_W, true, false, false} /* expand */,
  {335, 2, 40, PTE_RULE_W, false, false, false} /* w */,
  {1159, 2, 21, PTE_RULE_TAPS, false, false, false} /* taps */,
  {361, 1, 16, PTE_RULE_F, true, false, false} /* expand_bias */,
  {589, 1, 16, PTE_RULE_F, true, false, false} /* taps_bias */,
  {368, 1, 17, PTE_RULE_F, true, false, false} /* bias */,
  {1201, 4, 42, PTE_RULE_A, false, true, false} /* xs */,
  {1082, 4, 42, PTE_RULE_F, false, false, false} /* y */,
  {1204, 3, 8, PTE_RULE_F, false, false, false} /* y0 */,
  {1207, 3, 8, PTE_RULE_I64, true, false, false} /* y1 */,
  {1031, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {335, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {890, 2, 46, PTE_RULE_F, true, false, false} /* hidden */,
  {1089, 2, 46, PTE_RULE_F, true, false, false} /* cell */,
  {663, 1, 16, PTE_RULE_F, true, false, false} /* peephole */,
  {563, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1204, 3, 48, PTE_RULE_F, false, false, false} /* y0 */,
  {1207, 2, 46, PTE_RULE_F, true, false, false} /* y1 */,
  {1210, 2, 46, PTE_RULE_F, true, false, false} /* y2 */,
  {1031, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {335, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {890, 2, 46, PTE_RULE_F, true, false, false} /* hidden */,
  {563, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1031, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {335, 2, 51, PTE_RULE_W, false, false, false} /* w */,
  {890, 2, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {563, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1204, 3, 11, PTE_RULE_F, false, false, false} /* y0 */,
  {1207, 2, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {808, 4, 11, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 38, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 17, PTE_RULE_F, true, false, false} /* bias */,
  {1201, 4, 53, PTE_RULE_A, false, true, false} /* xs */,
  {1082, 4, 53, PTE_RULE_F, false, false, false} /* y */,
  {1201, 1, 1, PTE_RULE_A, false, true, true} /* xs */,
  {1082, 1, 1, PTE_RULE_A, false, true, false} /* y */,
  {808, 2, 57, PTE_RULE_F, false, false, true} /* x */,
  {1109, 1, 6, PTE_RULE_F, true, false, false} /* gain */,
  {368, 1, 6, PTE_RULE_F, true, false, false} /* bias */,
  {1204, 2, 59, PTE_RULE_F, false, false, false} /* y0 */,
  {1207, 1, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {1210, 1, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {1082, 2, 59, PTE_RULE_F, false, false, false} /* y */,
  {808, 2, 19, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 10, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1201, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {1082, 2, 1, PTE_RULE_F, false, true, false} /* y */,
  {1082, 2, 1, PTE_RULE_F, false, false, false} /* y */,
  {808, 2, 19, PTE_RULE_F, false, false, false} /* x */,
  {335, 2, 2, PTE_RULE_W, false, false, false} /* w */,
  {368, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1201, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {1082, 1, 0, PTE_RULE_I64, false, false, false} /* y */,
  {808, 1, 1, PTE_RULE_T, false, false, false} /* x */,
  {1082, 1, 6, PTE_RULE_T, false, false, false} /* y */,
  {808, 2, 61, PTE_RULE_T, false, true, false} /* x */,
  {1037, 3, 63, PTE_RULE_I64, false, false, false} /* index */,
  {1082, 3, 66, PTE_RULE_T, false, false, false} /* y */,
  {808, 2, 19, PTE_RULE_F, false, true, true} /* x */,
  {1082, 2, 19, PTE_RULE_F, false, false, false} /* y */,
  {808, 2, 57, PTE_RULE_F, false, true, false} /* x */,
  {808, 2, 19, PTE_RULE_F, false, true, false} /* x */,
  {1082, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {808, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {1114, 3, 5, PTE_RULE_F, false, false, false} /* grid */,
  {529, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {1082, 1, 69, PTE_RULE_A, false, false, false} /* y */,
  {1201, 1, 69, PTE_RULE_A, false, false, false} /* xs */,
  {808, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {1082, 1, 1, PTE_RULE_T, false, true, false} /* y */,
  {808, 2, 0, PTE_RULE_T, false, true, false} /* x */,
  {1037, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {1082, 2, 70, PTE_RULE_T, false, false, false} /* y */,
  {335, 2, 11, PTE_RULE_W, false, false, false} /* w */,
  {1037, 1, 1, PTE_RULE_I64, false, false, false} /* index */,
  {808, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {1037, 1, 6, PTE_RULE_I64, false, true, false} /* index */,
  {808, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {1037, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {810, 1, 6, PTE_RULE_T, false, true, false} /* updates */,
  {1082, 1, 1, PTE_RULE_T, false, false, false} /* y */,
  {808, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {1037, 2, 72, PTE_RULE_I64, false, false, false} /* index */,
  {810, 1, 64, PTE_RULE_T, false, true, false} /* updates */,
  {1007, 4, 0, PTE_RULE_T, false, false, true} /* cache */,
  {967, 4, 73, PTE_RULE_T, false, true, false} /* update */,
  {1061, 1, 0, PTE_RULE_I64, true, false, false} /* start */,
  {1082, 4, 0, PTE_RULE_T, false, false, false} /* y */,
  {808, 1, 1, PTE_RULE_A, false, false, false} /* x */,
  {1082, 2, 77, PTE_RULE_I64, false, false, false} /* y */,
  {1204, 2, 1, PTE_RULE_F, false, false, false} /* y0 */,
  {1207, 2, 1, PTE_RULE_I64, false, false, false} /* y1 */,
  {1213, 3, 79, PTE_RULE_F, false, true, false} /* a */,
  {1215, 3, 1, PTE_RULE_F, false, true, false} /* b */,
  {1082, 3, 82, PTE_RULE_F, false, false, false} /* y */,
  {335, 2, 11, PTE_RULE_F, false, true, false} /* w */,
  {1082, 2, 11, PTE_RULE_W, false, false, false} /* y */,
  {1001, 3, 85, PTE_RULE_F, false, false, false} /* boxes */,
  {932, 3, 34, PTE_RULE_F, false, false, false} /* scores */,
  {1043, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {770, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {599, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {1082, 2, 88, PTE_RULE_I64, false, false, false} /* y */,
  {1073, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {529, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {714, 1, 69, PTE_RULE_A, false, false, false} /* carried */,
  {1082, 1, 1, PTE_RULE_A, false, false, false} /* y */,
  {1082, 1, 6, PTE_RULE_A, false, false, false} /* y */,
  {1007, 5, 90, PTE_RULE_T, false, false, true} /* cache */,
  {967, 4, 95, PTE_RULE_T, false, true, false} /* update */,
  {1061, 1, 0, PTE_RULE_I64, false, false, false} /* start */,
  {1082, 5, 90, PTE_RULE_T, false, false, false} /* y */,
  {1204, 2, 19, PTE_RULE_A, false, false, false} /* y0 */,
  {1207, 2, 99, PTE_RULE_F, false, false, false} /* y1 */,
  {808, 2, 11, PTE_RULE_F, false, true, false} /* x */,
  {1049, 2, 101, PTE_RULE_A, false, false, false} /* nodes */,
  {498, 1, 3, PTE_RULE_F, false, false, false} /* thresholds */,
  {1055, 2, 103, PTE_RULE_A, false, false, false} /* roots */,
  {826, 2, 105, PTE_RULE_F, false, false, false} /* weights */,
  {1082, 3, 107, PTE_RULE_F, false, false, false} /* y */,
};

const pte_op_attr pte_op_attrs[] = {
  {897, 4, 4, 0, true} /* kernel */,
  {953, 12, 4, 0, true} /* stride */,
  {645, 20, 4, 0, true} /* dilation */,
  {995, 28, 4, 0, true} /* begin */,
  {1174, 36, 4, 0, true} /* end */,
  {946, 44, 4, 0, true} /* spread */,
  {883, 56, 0, 0, true} /* groups */,
  {981, 64, 0, 0, true} /* x_zero */,
  {988, 72, 0, 0, true} /* y_zero */,
  {1186, 80, 0, 0, true} /* low */,
  {1119, 88, 0, 0, true} /* high */,
  {834, 8, 0, 0, true} /* a_zero */,
  {246, 16, 0, 0, true} /* a_multiplier */,
  {690, 24, 0, 0, true} /* a_shift */,
  {848, 32, 0, 0, false} /* b_zero */,
  {272, 40, 0, 0, false} /* b_multiplier */,
  {706, 48, 0, 0, false} /* b_shift */,
  {988, 56, 0, 0, true} /* y_zero */,
  {248, 64, 0, 0, true} /* multiplier */,
  {692, 72, 0, 0, true} /* shift */,
  {1186, 80, 0, 0, true} /* low */,
  {1119, 88, 0, 0, true} /* high */,
  {897, 4, 4, 0, true} /* kernel */,
  {953, 12, 4, 0, true} /* stride */,
  {645, 20, 4, 0, true} /* dilation */,
  {995, 28, 4, 0, true} /* begin */,
  {1174, 36, 4, 0, true} /* end */,
  {1169, 48, 0, 0, false} /* wide */,
  {883, 56, 0, 0, true} /* groups */,
  {981, 64, 0, 0, true} /* x_zero */,
  {988, 72, 0, 0, true} /* y_zero */,
  {1186, 80, 0, 0, true} /* low */,
  {1119, 88, 0, 0, true} /* high */,
  {897, 4, 4, 0, true} /* kernel */,
  {953, 12, 4, 0, true} /* stride */,
  {645, 20, 4, 0, true} /* dilation */,
  {995, 28, 4, 0, true} /* begin */,
  {1174, 36, 4, 0, true} /* end */,
  {946, 44, 4, 0, true} /* spread */,
  {883, 56, 0, 0, false} /* groups */,
  {1067, 64, 7, 0, false} /* steps */,
  {897, 4, 4, 0, true} /* kernel */,
  {953, 12, 4, 0, true} /* stride */,
  {645, 20, 4, 0, true} /* dilation */,
  {995, 28, 4, 0, true} /* begin */,
  {1174, 36, 4, 0, true} /* end */,
  {1067, 44, 7, 0, false} /* steps */,
  {740, 8, 1, 0, true} /* scale */,
  {855, 16, 3, 3, false} /* causal */,
  {794, 24, 1, 0, false} /* softcap */,
  {397, 32, 0, 0, false} /* left_window */,
  {324, 40, 0, 0, false} /* right_window */,
  {211, 48, 2, 0, false} /* turned */,
  {1154, 56, 0, 0, false} /* ring */,
  {925, 4, 5, 0, false} /* scales */,
  {1149, 12, 3, 3, false} /* mode */,
  {349, 16, 3, 6, false} /* coordinates */,
  {754, 20, 3, 4, false} /* nearest */,
  {1019, 24, 1, 0, false} /* cubic */,
  {57, 32, 2, 0, false} /* exclude_outside */,
  {509, 36, 2, 0, false} /* antialias */,
  {190, 40, 1, 0, false} /* extrapolation */,
  {904, 48, 5, 0, false} /* region */,
  {897, 8, 0, 0, true} /* kernel */,
  {953, 16, 0, 0, true} /* stride */,
  {995, 24, 0, 0, true} /* begin */,
  {1025, 32, 3, 3, false} /* first */,
  {939, 36, 3, 3, false} /* second */,
  {1067, 40, 7, 0, false} /* steps */,
  {897, 4, 4, 0, true} /* kernel */,
  {953, 12, 4, 0, true} /* stride */,
  {645, 20, 4, 0, true} /* dilation */,
  {995, 28, 4, 0, true} /* begin */,
  {148, 36, 2, 0, false} /* channel_major */,
  {298, 40, 2, 0, false} /* column_major */,
  {897, 4, 4, 0, true} /* kernel */,
  {953, 12, 4, 0, true} /* stride */,
  {645, 20, 4, 0, true} /* dilation */,
  {995, 28, 4, 0, true} /* begin */,
  {1174, 36, 4, 0, true} /* end */,
  {176, 44, 2, 0, false} /* count_padding */,
  {337, 4, 4, 0, true} /* activations */,
  {1094, 16, 1, 0, false} /* clip */,
  {311, 24, 2, 0, false} /* input_forget */,
  {786, 28, 2, 0, false} /* reverse */,
  {337, 4, 4, 0, true} /* activations */,
  {1094, 16, 1, 0, false} /* clip */,
  {0, 24, 2, 0, false} /* linear_before_reset */,
  {786, 28, 2, 0, false} /* reverse */,
  {337, 4, 4, 0, true} /* activations */,
  {1094, 16, 1, 0, false} /* clip */,
  {786, 24, 2, 0, false} /* reverse */,
  {995, 8, 0, 0, true} /* begin */,
  {1067, 16, 7, 0, false} /* steps */,
  {1067, 4, 7, 0, true} /* steps */,
  {563, 8, 0, 0, true} /* count */,
  {730, 16, 1, 0, false} /* epsilon */,
  {1067, 4, 7, 0, false} /* steps */,
  {974, 4, 6, 0, true} /* values */,
  {995, 4, 6, 0, true} /* begin */,
  {1149, 12, 3, 3, true} /* mode */,
  {432, 8, 0, 0, false} /* batch_dims */,
  {1124, 4, 3, 2, false} /* kind */,
  {539, 8, 2, 0, false} /* exclusive */,
  {786, 12, 2, 0, false} /* reverse */,
  {1124, 4, 3, 5, true} /* kind */,
  {563, 8, 0, 0, true} /* count */,
  {1124, 4, 3, 2, true} /* kind */,
  {1129, 8, 2, 0, false} /* last */,
  {1149, 4, 3, 3, false} /* mode */,
  {182, 8, 3, 3, false} /* padding */,
  {134, 12, 2, 0, false} /* align_corners */,
  {487, 4, 8, 0, true} /* then_block */,
  {454, 8, 8, 0, true} /* else_block */,
  {1037, 8, 0, 0, true} /* index */,
  {579, 4, 3, 5, false} /* reduction */,
  {609, 4, 2, 0, false} /* circular */,
  {746, 4, 2, 0, false} /* largest */,
  {1182, 4, 2, 0, false} /* log */,
  {862, 4, 2, 0, false} /* center */,
  {1079, 4, 8, 0, true} /* body */,
  {681, 4, 2, 0, false} /* saturate */,
  {211, 4, 2, 0, false} /* turned */,
  {579, 4, 3, 3, false} /* reduction */,
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
  821,
  206,
  390,
  402,
  411,
  420,
  826,
  862,
  868,
  873,
  878,
  883,
  891,
  899,
  907,
  915,
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
  821,
  206,
  390,
  402,
  411,
  420,
  826,
  862,
  868,
  873,
  878,
  1153,
  1161,
  1169,
  1177,
  915,
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
  683,
  300,
  306,
  284,
  691,
  1225,
  1234,
  1239,
  1245,
  1250,
  1255,
  195,
  200,
  206,
  1260,
  1268,
  1277,
  1285,
  1185,
  929,
  1193,
  1201,
  953,
  1209,
  969,
  977,
  1217,
  1169,
  1177,
  915,
  921,
  929,
  937,
  945,
  953,
  961,
  969,
  977,
  985,
  899,
  907,
  915,
  621,
  630,
  639,
  195,
  206,
  200,
  646,
  654,
  1112,
  1120,
  1129,
  1138,
  195,
  206,
  1147,
  660,
  669,
  195,
  206,
  200,
  646,
  654,
  75,
  16,
  699,
  711,
  726,
  744,
  759,
  195,
  200,
  1062,
  1067,
  1073,
  1088,
  676,
  195,
  206,
  200,
  646,
  654,
  195,
  200,
  801,
  806,
  815,
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
  773,
  780,
  789,
  113,
  123,
  7,
  103,
  821,
  1094,
  1106,
  136,
  7,
  143,
  7,
  1043,
  1049,
  1293,
  873,
  1298,
  7,
  94,
  0,
  151,
  186,
  795,
  64,
  69,
  157,
  170,
  993,
  1003,
  1008,
  1018,
  1028,
  1033,
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
  4, 3, 3, 25, 31, 0, 3, 4, 1, 3, 3, 3, 25, 31, 0, 17, 8, 4, 1, 3, 31, 0, 8, 4,
  1, 0, 1, 10, 22, 0, 6, 16, 1, 0, 33, 0, 3, 2, 1, 3, 3, 3, 25, 31, 0, 17, 8, 4,
  1, 2, 31, 0, 17, 8, 4, 1, 1, 31, 0, 8, 28, 1, 0, 2, 10, 22, 0, 8, 36, 1, 0, 2,
  10, 22, 0, 7, 0, 1, 1, 33, 7, 1, 1, 0, 31, 30, 0, 17, 8, 4, 1, 0, 31, 17, 8, 4,
  17, 7, 0, 31, 30, 0, 17, 8, 48, 1, 0, 31, 17, 8, 48, 1, 2, 17, 7, 0, 25, 31, 30, 0,
  5, 16, 21, 17, 1, 0, 31, 17, 8, 48, 1, 1, 33, 30, 0, 5, 12, 21, 3, 1, 0, 31, 5, 36,
  1, 0, 31, 30, 0, 3, 2, 17, 7, 0, 31, 0, 7, 0, 1, 1, 33, 15, 2, 30, 0, 7, 0, 2,
  18, 34, 0, 3, 4, 1, 3, 31, 0, 12, 1, 21, 19, 0, 13, 1, 1, 32, 27, 1, 0, 31, 0, 3,
  0, 2, 20, 34, 0, 10, 1, 21, 21, 0, 14, 1, 1, 1, 4, 56, 1, 1, 3, 2, 4, 56, 26, 3,
  1, 4, 56, 26, 25, 3, 3, 1, 128, 26, 1, 64, 26, 23, 1, 1, 24, 28, 25, 29, 31, 0, 3, 3,
  2, 22, 34, 0, 10, 2, 21, 23, 0, 10, 3, 21, 23, 0, 10, 4, 21, 21, 0, 4, 64, 2, 24, 1,
  127, 22, 0, 4, 72, 2, 24, 1, 127, 22, 0, 4, 80, 2, 24, 1, 127, 22, 0, 4, 88, 2, 24, 1,
  127, 22, 0, 4, 80, 4, 88, 34, 0, 4, 8, 2, 24, 1, 127, 22, 0, 4, 16, 1, 0, 2, 10, 22,
  0, 4, 24, 1, 10, 1, 62, 22, 0, 4, 32, 2, 24, 1, 127, 22, 0, 4, 40, 1, 0, 2, 10, 22,
  0, 4, 48, 1, 10, 1, 62, 22, 0, 4, 64, 1, 0, 2, 10, 22, 0, 4, 72, 1, 1, 1, 62, 22,
  0, 4, 56, 2, 24, 1, 127, 22, 0, 10, 0, 21, 25, 10, 0, 21, 26, 30, 0, 10, 1, 21, 27, 0,
  10, 0, 21, 25, 10, 1, 21, 8, 31, 0, 10, 1, 21, 25, 10, 1, 21, 26, 30, 0, 10, 0, 21, 27,
  0, 10, 1, 21, 25, 10, 0, 21, 8, 31, 0, 11, 1, 11, 0, 31, 0, 10, 1, 21, 6, 1, 0, 31,
  10, 0, 21, 6, 30, 0, 12, 1, 21, 9, 0, 13, 1, 1, 0, 31, 0, 3, 2, 3, 0, 1, 63, 23,
  1, 64, 26, 1, 64, 25, 31, 0, 3, 0, 2, 28, 34, 0, 5, 4, 3, 0, 25, 1, 64, 27, 1, 0,
  31, 0, 3, 0, 2, 13, 34, 0, 4, 8, 1, 0, 1, 2, 22, 0, 3, 3, 1, 16, 27, 1, 0, 31,
  0, 3, 5, 1, 16, 27, 1, 0, 31, 0, 3, 4, 1, 36, 3, 5, 25, 31, 0, 14, 1, 1, 36, 31,
  0, 4, 64, 2, 29, 2, 30, 22, 0, 4, 72, 2, 29, 2, 30, 22, 0, 4, 80, 2, 29, 2, 30, 22,
  0, 4, 88, 2, 29, 2, 30, 22, 0, 4, 8, 2, 29, 2, 30, 22, 0, 4, 24, 1, 17, 1, 62, 22,
  0, 4, 32, 2, 29, 2, 30, 22, 0, 4, 48, 1, 17, 1, 62, 22, 0, 4, 56, 2, 29, 2, 30, 22,
  0, 16, 1, 3, 4, 3, 3, 31, 30, 0, 10, 2, 21, 2, 0, 14, 2, 1, 1, 31, 0, 12, 2, 21,
  3, 0, 10, 3, 21, 2, 0, 12, 3, 21, 3, 0, 4, 8, 1, 1, 1, 255, 22, 0, 3, 6, 4, 8,
  4, 8, 25, 31, 0, 4, 16, 1, 1, 1, 255, 22, 0, 4, 24, 1, 0, 1, 255, 22, 0, 10, 1, 21,
  23, 0, 3, 4, 1, 1, 33, 0,
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
  "scatter_nd\0" /* 476 */
  "then_block\0" /* 487 */
  "thresholds\0" /* 498 */
  "antialias\0" /* 509 */
  "attention\0" /* 519 */
  "condition\0" /* 529 */
  "exclusive\0" /* 539 */
  "gather_nd\0" /* 549 */
  "key_count\0" /* 559 */
  "pointwise\0" /* 569 */
  "reduction\0" /* 579 */
  "taps_bias\0" /* 589 */
  "threshold\0" /* 599 */
  "circular\0" /* 609 */
  "conv_i16\0" /* 618 */
  "cumulate\0" /* 627 */
  "delegate\0" /* 636 */
  "dilation\0" /* 645 */
  "max_pool\0" /* 654 */
  "peephole\0" /* 663 */
  "rms_norm\0" /* 672 */
  "saturate\0" /* 681 */
  "a_shift\0" /* 690 */
  "add_i16\0" /* 698 */
  "b_shift\0" /* 706 */
  "carried\0" /* 714 */
  "conv_i8\0" /* 722 */
  "epsilon\0" /* 730 */
  "k_scale\0" /* 738 */
  "largest\0" /* 746 */
  "nearest\0" /* 754 */
  "nonzero\0" /* 762 */
  "overlap\0" /* 770 */
  "reshape\0" /* 778 */
  "reverse\0" /* 786 */
  "softcap\0" /* 794 */
  "softmax\0" /* 802 */
  "updates\0" /* 810 */
  "v_scale\0" /* 818 */
  "weights\0" /* 826 */
  "a_zero\0" /* 834 */
  "add_i8\0" /* 841 */
  "b_zero\0" /* 848 */
  "causal\0" /* 855 */
  "center\0" /* 862 */
  "expand\0" /* 869 */
  "gather\0" /* 876 */
  "groups\0" /* 883 */
  "hidden\0" /* 890 */
  "kernel\0" /* 897 */
  "region\0" /* 904 */
  "repack\0" /* 911 */
  "resize\0" /* 918 */
  "scales\0" /* 925 */
  "scores\0" /* 932 */
  "second\0" /* 939 */
  "spread\0" /* 946 */
  "stride\0" /* 953 */
  "unpack\0" /* 960 */
  "update\0" /* 967 */
  "values\0" /* 974 */
  "x_zero\0" /* 981 */
  "y_zero\0" /* 988 */
  "begin\0" /* 995 */
  "boxes\0" /* 1001 */
  "cache\0" /* 1007 */
  "codes\0" /* 1013 */
  "cubic\0" /* 1019 */
  "first\0" /* 1025 */
  "gates\0" /* 1031 */
  "index\0" /* 1037 */
  "limit\0" /* 1043 */
  "nodes\0" /* 1049 */
  "roots\0" /* 1055 */
  "start\0" /* 1061 */
  "steps\0" /* 1067 */
  "trips\0" /* 1073 */
  "body\0" /* 1079 */
  "call\0" /* 1084 */
  "cell\0" /* 1089 */
  "clip\0" /* 1094 */
  "conv\0" /* 1099 */
  "copy\0" /* 1104 */
  "gain\0" /* 1109 */
  "grid\0" /* 1114 */
  "high\0" /* 1119 */
  "kind\0" /* 1124 */
  "last\0" /* 1129 */
  "loop\0" /* 1134 */
  "lstm\0" /* 1139 */
  "mask\0" /* 1144 */
  "mode\0" /* 1149 */
  "ring\0" /* 1154 */
  "taps\0" /* 1159 */
  "topk\0" /* 1164 */
  "wide\0" /* 1169 */
  "end\0" /* 1174 */
  "gru\0" /* 1178 */
  "log\0" /* 1182 */
  "low\0" /* 1186 */
  "pad\0" /* 1190 */
  "rnn\0" /* 1194 */
  "if\0" /* 1198 */
  "xs\0" /* 1201 */
  "y0\0" /* 1204 */
  "y1\0" /* 1207 */
  "y2\0" /* 1210 */
  "a\0" /* 1213 */
  "b\0" /* 1215 */
  "q\0" /* 1217 */
  ;

const pte_op_row pte_op_rows[] = {
  {KERNEL_pointwise, 569, true, true, false, false, 1u << PTE_F32, 1, 0, 24, 65, 66, 94, 1, 1, 0, false, 0, 1},
  {KERNEL_copy, 1104, false, false, false, true, 1u << PTE_F32, 2, 3, 8, 100, 101, 0, 1, 1, 0, false, 0, 0},
  {KERNEL_dims, 438, false, false, false, false, 1u << PTE_F32, 3, 0, 16, 0, 84, 98, 0, 1, 1, false, 242, 1},
  {KERNEL_pad, 1190, false, false, false, false, 1u << PTE_F32, 4, 0, 16, 85, 86, 99, 1, 1, 5, false, 206, 2},
  {KERNEL_gather, 876, false, false, false, true, 1u << PTE_F32, 5, 3, 8, 102, 104, 0, 2, 1, 1, false, 206, 0},
  {KERNEL_gather_rows, 373, false, false, false, true, 1u << PTE_F32, 6, 3, 8, 105, 79, 0, 2, 1, 2, false, 246, 0},
  {KERNEL_gather_elements, 73, false, false, false, true, 1u << PTE_F32, 7, 3, 8, 107, 86, 0, 2, 1, 4, false, 216, 0},
  {KERNEL_gather_nd, 549, false, false, false, true, 1u << PTE_F32, 8, 4, 16, 87, 89, 101, 2, 1, 2, false, 240, 1},
  {KERNEL_scatter_elements, 40, false, false, false, true, 1u << PTE_F32, 9, 3, 8, 109, 112, 115, 3, 1, 5, false, 211, 1},
  {KERNEL_scatter_nd, 476, false, false, false, true, 1u << PTE_F32, 10, 3, 8, 113, 112, 115, 3, 1, 4, false, 224, 1},
  {KERNEL_tensor_scatter, 119, false, false, false, true, 1u << PTE_F32, 11, 3, 8, 116, 119, 116, 3, 1, 1, false, 206, 1},
  {KERNEL_nonzero, 762, false, false, false, true, 1u << PTE_F32, 12, 3, 8, 120, 121, 0, 1, 1, 3, true, 231, 0},
  {KERNEL_topk, 1164, false, false, false, true, 1u << PTE_F32 | 1u << PTE_I64, 13, 6, 8, 93, 122, 117, 1, 2, 1, false, 243, 1},
  {KERNEL_cumulate, 627, false, false, false, true, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 4, 16, 90, 91, 102, 1, 1, 0, false, 0, 3},
  {KERNEL_reduce, 425, false, false, false, false, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 0, 16, 92, 8, 105, 1, 1, 2, false, 248, 2},
  {KERNEL_arg_reduce, 421, false, false, false, false, 1u << PTE_F32 | 1u << PTE_I64, 21, 0, 16, 93, 94, 107, 1, 1, 1, false, 244, 2},
  {KERNEL_softmax, 802, false, false, false, true, 1u << PTE_F32, 22, 3, 8, 90, 91, 118, 1, 1, 0, false, 0, 1},
  {KERNEL_layer_norm, 465, false, false, false, false, 1u << PTE_F32, 23, 5, 24, 67, 70, 95, 3, 3, 0, false, 0, 2},
  {KERNEL_rms_norm, 672, false, false, false, false, 1u << PTE_F32, 24, 5, 24, 67, 73, 95, 2, 1, 0, false, 0, 2},
  {KERNEL_matmul, 291, true, false, false, true, 1u << PTE_F32, 30, 8, 24, 74, 78, 97, 4, 1, 2, false, 129, 1},
  {KERNEL_batch_matmul, 285, false, false, false, true, 1u << PTE_F32, 31, 3, 8, 124, 126, 0, 2, 1, 0, false, 0, 0},
  {KERNEL_pack, 913, false, false, false, true, 1u << PTE_F32, 32, 3, 8, 127, 128, 0, 1, 1, 3, false, 163, 0},
  {KERNEL_conv, 1099, true, false, false, false, 1u << PTE_F32, 33, 4, 80, 9, 13, 33, 4, 1, 24, false, 66, 8},
  {KERNEL_conv_depthwise, 89, true, false, false, false, 1u << PTE_F32, 34, 7, 64, 14, 18, 41, 4, 1, 20, false, 90, 6},
  {KERNEL_attention, 519, false, false, false, false, 1u << PTE_F32, 35, 11, 64, 19, 27, 47, 8, 1, 16, false, 256, 7},
  {KERNEL_lstm, 1139, false, false, false, false, 1u << PTE_F32, 36, 11, 32, 40, 46, 81, 6, 3, 8, false, 160, 4},
  {KERNEL_gru, 1178, false, false, false, false, 1u << PTE_F32, 37, 11, 32, 49, 46, 85, 5, 2, 7, false, 175, 4},
  {KERNEL_rnn, 1194, false, false, false, false, 1u << PTE_F32, 38, 11, 32, 54, 58, 89, 4, 2, 6, false, 195, 3},
  {KERNEL_matmul_integer, 104, false, false, false, true, 1u << PTE_I64, 39, 3, 8, 124, 126, 0, 2, 1, 0, false, 0, 0},
  {KERNEL_max_pool, 654, false, false, false, false, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_I8, 40, 15, 48, 0, 38, 69, 1, 2, 11, false, 110, 6},
  {KERNEL_average_pool, 259, false, false, false, false, 1u << PTE_F32, 41, 0, 48, 0, 28, 75, 1, 1, 13, false, 110, 6},
  {KERNEL_resize, 918, false, false, false, true, 1u << PTE_F32, 42, 21, 56, 0, 28, 54, 1, 1, 7, false, 182, 9},
  {KERNEL_grid_sample, 385, false, false, false, true, 1u << PTE_F32, 43, 4, 16, 95, 28, 109, 2, 1, 4, false, 220, 3},
  {KERNEL_non_max_suppression, 20, false, false, false, true, 1u << PTE_F32, 44, 3, 8, 129, 134, 119, 5, 1, 1, true, 245, 1},
  {KERNEL_matmul_int8, 409, true, false, false, true, 1u << PTE_F32, 45, 8, 24, 74, 79, 97, 4, 1, 5, false, 201, 1},
  {KERNEL_conv_i8, 722, false, false, false, false, 1u << PTE_I8, 46, 0, 96, 0, 5, 0, 5, 1, 34, false, 0, 11},
  {KERNEL_add_i8, 841, false, false, false, false, 1u << PTE_I8, 47, 0, 96, 6, 8, 11, 2, 1, 12, false, 148, 11},
  {NULL, 1198, false, true, true, false, 1u << PTE_F32, 60, 0, 16, 97, 98, 112, 1, 1, 0, false, 0, 2},
  {NULL, 1134, true, true, true, false, 1u << PTE_F32, 61, 0, 8, 135, 98, 120, 3, 1, 0, false, 0, 1},
  {NULL, 1084, true, true, true, false, 1u << PTE_F32, 62, 0, 8, 99, 98, 120, 1, 1, 0, false, 0, 1},
  {NULL, 636, true, true, true, false, 1u << PTE_F32, 63, 0, 16, 99, 98, 114, 1, 1, 0, false, 0, 1},
  {KERNEL_unpack, 960, false, false, false, true, 1u << PTE_F32, 70, 3, 8, 120, 138, 0, 1, 1, 3, false, 250, 0},
  {KERNEL_repack, 911, false, false, false, true, 1u << PTE_F32, 71, 6, 8, 120, 138, 121, 1, 1, 3, false, 253, 1},
  {KERNEL_reshape, 778, false, false, false, true, 1u << PTE_F32, 72, 3, 8, 120, 139, 0, 1, 1, 3, false, 234, 0},
  {KERNEL_panel_scatter, 218, false, false, false, true, 1u << PTE_F32, 73, 3, 8, 140, 143, 116, 3, 1, 1, false, 206, 1},
  {KERNEL_matmul_turned, 204, true, false, false, true, 1u << PTE_F32, 74, 8, 24, 80, 79, 97, 4, 1, 6, false, 189, 1},
  {KERNEL_codes, 1013, false, false, false, true, 1u << PTE_F32, 75, 3, 8, 93, 144, 122, 1, 2, 3, false, 228, 1},
  {KERNEL_conv_winograd, 162, true, false, false, false, 1u << PTE_F32, 76, 7, 32, 60, 64, 92, 4, 1, 7, false, 168, 2},
  {KERNEL_conv_i16, 618, false, false, false, false, 1u << PTE_I16, 77, 0, 96, 0, 5, 22, 5, 1, 32, false, 34, 11},
  {KERNEL_add_i16, 698, false, false, false, false, 1u << PTE_I16, 78, 0, 96, 6, 8, 11, 2, 1, 12, false, 136, 11},
  {KERNEL_conv_block, 443, true, false, false, false, 1u << PTE_F32, 79, 8, 56, 29, 37, 63, 8, 1, 13, false, 123, 6},
  {KERNEL_tree_ensemble, 232, false, false, false, true, 1u << PTE_F32 | 1u << PTE_F64, 80, 3, 8, 146, 151, 123, 5, 1, 3, false, 237, 1},
};

const uint32_t pte_op_row_count = 52;

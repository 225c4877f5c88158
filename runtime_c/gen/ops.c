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
};

const pte_op_port pte_op_ports[] = {
  {683, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {279, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {906, 1, 3, PTE_RULE_A, false, false, false} /* bias */,
  {192, 1, 3, PTE_RULE_A, false, false, false} /* multiplier */,
  {583, 1, 3, PTE_RULE_A, false, false, false} /* shift */,
  {914, 3, 5, PTE_RULE_F, false, false, false} /* y */,
  {1030, 1, 1, PTE_RULE_F, false, false, true} /* a */,
  {1032, 1, 1, PTE_RULE_F, true, false, false} /* b */,
  {914, 1, 1, PTE_RULE_F, false, false, false} /* y */,
  {683, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {279, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {906, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {1018, 3, 5, PTE_RULE_A, false, true, false} /* xs */,
  {914, 3, 5, PTE_RULE_F, false, true, false} /* y */,
  {683, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {279, 2, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {906, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1018, 3, 8, PTE_RULE_A, false, true, false} /* xs */,
  {914, 3, 8, PTE_RULE_F, false, true, false} /* y */,
  {914, 3, 8, PTE_RULE_F, false, false, false} /* y */,
  {1034, 4, 11, PTE_RULE_F, false, true, false} /* q */,
  {384, 4, 15, PTE_RULE_A, false, true, false} /* k */,
  {934, 4, 19, PTE_RULE_A, false, true, false} /* v */,
  {976, 4, 23, PTE_RULE_A, true, true, false} /* mask */,
  {469, 1, 0, PTE_RULE_I64, true, false, false} /* key_count */,
  {914, 4, 27, PTE_RULE_F, false, false, false} /* y */,
  {1021, 3, 8, PTE_RULE_F, false, false, false} /* y0 */,
  {1024, 3, 8, PTE_RULE_I64, true, false, false} /* y1 */,
  {864, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {279, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {742, 2, 31, PTE_RULE_F, true, false, false} /* hidden */,
  {921, 2, 31, PTE_RULE_F, true, false, false} /* cell */,
  {554, 1, 16, PTE_RULE_F, true, false, false} /* peephole */,
  {473, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1021, 3, 33, PTE_RULE_F, false, false, false} /* y0 */,
  {1024, 2, 31, PTE_RULE_F, true, false, false} /* y1 */,
  {1027, 2, 31, PTE_RULE_F, true, false, false} /* y2 */,
  {864, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {279, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {906, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {742, 2, 31, PTE_RULE_F, true, false, false} /* hidden */,
  {473, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {864, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {279, 2, 36, PTE_RULE_W, false, false, false} /* w */,
  {742, 2, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {473, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1021, 3, 11, PTE_RULE_F, false, false, false} /* y0 */,
  {1024, 2, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {1018, 1, 1, PTE_RULE_A, false, true, true} /* xs */,
  {914, 1, 1, PTE_RULE_A, false, true, false} /* y */,
  {683, 2, 38, PTE_RULE_F, false, false, true} /* x */,
  {941, 1, 6, PTE_RULE_F, true, false, false} /* gain */,
  {906, 1, 6, PTE_RULE_F, true, false, false} /* bias */,
  {1021, 2, 40, PTE_RULE_F, false, false, false} /* y0 */,
  {1024, 1, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {1027, 1, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {914, 2, 40, PTE_RULE_F, false, false, false} /* y */,
  {683, 2, 42, PTE_RULE_F, false, false, false} /* x */,
  {279, 2, 10, PTE_RULE_W, false, false, false} /* w */,
  {906, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1018, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {914, 2, 1, PTE_RULE_F, false, true, false} /* y */,
  {914, 2, 1, PTE_RULE_F, false, false, false} /* y */,
  {914, 1, 0, PTE_RULE_I64, false, false, false} /* y */,
  {683, 1, 1, PTE_RULE_T, false, false, false} /* x */,
  {914, 1, 6, PTE_RULE_T, false, false, false} /* y */,
  {683, 2, 44, PTE_RULE_T, false, true, false} /* x */,
  {870, 3, 46, PTE_RULE_I64, false, false, false} /* index */,
  {914, 3, 49, PTE_RULE_T, false, false, false} /* y */,
  {683, 2, 42, PTE_RULE_F, false, true, true} /* x */,
  {914, 2, 42, PTE_RULE_F, false, false, false} /* y */,
  {683, 2, 38, PTE_RULE_F, false, true, false} /* x */,
  {683, 2, 42, PTE_RULE_F, false, true, false} /* x */,
  {914, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {683, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {946, 3, 5, PTE_RULE_F, false, false, false} /* grid */,
  {439, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {914, 1, 52, PTE_RULE_A, false, false, false} /* y */,
  {1018, 1, 52, PTE_RULE_A, false, false, false} /* xs */,
  {683, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {914, 1, 1, PTE_RULE_T, false, true, false} /* y */,
  {683, 2, 0, PTE_RULE_T, false, true, false} /* x */,
  {870, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {914, 2, 41, PTE_RULE_T, false, false, false} /* y */,
  {279, 2, 11, PTE_RULE_W, false, false, false} /* w */,
  {870, 1, 1, PTE_RULE_I64, false, false, false} /* index */,
  {683, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {870, 1, 6, PTE_RULE_I64, false, true, false} /* index */,
  {683, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {870, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {685, 1, 6, PTE_RULE_T, false, true, false} /* updates */,
  {914, 1, 1, PTE_RULE_T, false, false, false} /* y */,
  {683, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {870, 2, 53, PTE_RULE_I64, false, false, false} /* index */,
  {685, 1, 47, PTE_RULE_T, false, true, false} /* updates */,
  {852, 4, 0, PTE_RULE_T, false, false, true} /* cache */,
  {812, 4, 54, PTE_RULE_T, false, true, false} /* update */,
  {888, 1, 0, PTE_RULE_I64, true, false, false} /* start */,
  {914, 4, 0, PTE_RULE_T, false, false, false} /* y */,
  {683, 1, 1, PTE_RULE_A, false, false, false} /* x */,
  {914, 2, 58, PTE_RULE_I64, false, false, false} /* y */,
  {1021, 2, 1, PTE_RULE_F, false, false, false} /* y0 */,
  {1024, 2, 1, PTE_RULE_I64, false, false, false} /* y1 */,
  {1030, 3, 60, PTE_RULE_F, false, true, false} /* a */,
  {1032, 3, 1, PTE_RULE_F, false, true, false} /* b */,
  {914, 3, 63, PTE_RULE_F, false, false, false} /* y */,
  {279, 2, 11, PTE_RULE_F, false, true, false} /* w */,
  {914, 2, 11, PTE_RULE_W, false, false, false} /* y */,
  {846, 3, 66, PTE_RULE_F, false, false, false} /* boxes */,
  {784, 3, 27, PTE_RULE_F, false, false, false} /* scores */,
  {876, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {645, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {499, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {914, 2, 69, PTE_RULE_I64, false, false, false} /* y */,
  {900, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {439, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {597, 1, 52, PTE_RULE_A, false, false, false} /* carried */,
  {914, 1, 1, PTE_RULE_A, false, false, false} /* y */,
};

const pte_op_attr pte_op_attrs[] = {
  {749, 4, 4, 0, true} /* kernel */,
  {798, 12, 4, 0, true} /* stride */,
  {536, 20, 4, 0, true} /* dilation */,
  {840, 28, 4, 0, true} /* begin */,
  {991, 36, 4, 0, true} /* end */,
  {791, 44, 4, 0, true} /* spread */,
  {735, 56, 0, 0, true} /* groups */,
  {826, 64, 0, 0, true} /* x_zero */,
  {833, 72, 0, 0, true} /* y_zero */,
  {1003, 80, 0, 0, true} /* low */,
  {951, 88, 0, 0, true} /* high */,
  {693, 8, 0, 0, true} /* a_zero */,
  {190, 16, 0, 0, true} /* a_multiplier */,
  {581, 24, 0, 0, true} /* a_shift */,
  {707, 32, 0, 0, false} /* b_zero */,
  {216, 40, 0, 0, false} /* b_multiplier */,
  {589, 48, 0, 0, false} /* b_shift */,
  {833, 56, 0, 0, true} /* y_zero */,
  {192, 64, 0, 0, true} /* multiplier */,
  {583, 72, 0, 0, true} /* shift */,
  {1003, 80, 0, 0, true} /* low */,
  {951, 88, 0, 0, true} /* high */,
  {749, 4, 4, 0, true} /* kernel */,
  {798, 12, 4, 0, true} /* stride */,
  {536, 20, 4, 0, true} /* dilation */,
  {840, 28, 4, 0, true} /* begin */,
  {991, 36, 4, 0, true} /* end */,
  {791, 44, 4, 0, true} /* spread */,
  {735, 56, 0, 0, false} /* groups */,
  {894, 64, 7, 0, false} /* steps */,
  {749, 4, 4, 0, true} /* kernel */,
  {798, 12, 4, 0, true} /* stride */,
  {536, 20, 4, 0, true} /* dilation */,
  {840, 28, 4, 0, true} /* begin */,
  {991, 36, 4, 0, true} /* end */,
  {894, 44, 7, 0, false} /* steps */,
  {777, 4, 5, 0, false} /* scales */,
  {981, 12, 3, 3, false} /* mode */,
  {293, 16, 3, 6, false} /* coordinates */,
  {629, 20, 3, 4, false} /* nearest */,
  {858, 24, 1, 0, false} /* cubic */,
  {57, 32, 2, 0, false} /* exclude_outside */,
  {419, 36, 2, 0, false} /* antialias */,
  {176, 40, 1, 0, false} /* extrapolation */,
  {756, 48, 5, 0, false} /* region */,
  {882, 8, 1, 0, true} /* scale */,
  {714, 16, 3, 3, false} /* causal */,
  {669, 24, 1, 0, false} /* softcap */,
  {329, 32, 0, 0, false} /* left_window */,
  {268, 40, 0, 0, false} /* right_window */,
  {749, 4, 4, 0, true} /* kernel */,
  {798, 12, 4, 0, true} /* stride */,
  {536, 20, 4, 0, true} /* dilation */,
  {840, 28, 4, 0, true} /* begin */,
  {148, 36, 2, 0, false} /* channel_major */,
  {242, 40, 2, 0, false} /* column_major */,
  {749, 4, 4, 0, true} /* kernel */,
  {798, 12, 4, 0, true} /* stride */,
  {536, 20, 4, 0, true} /* dilation */,
  {840, 28, 4, 0, true} /* begin */,
  {991, 36, 4, 0, true} /* end */,
  {162, 44, 2, 0, false} /* count_padding */,
  {281, 4, 4, 0, true} /* activations */,
  {926, 16, 1, 0, false} /* clip */,
  {255, 24, 2, 0, false} /* input_forget */,
  {661, 28, 2, 0, false} /* reverse */,
  {281, 4, 4, 0, true} /* activations */,
  {926, 16, 1, 0, false} /* clip */,
  {0, 24, 2, 0, false} /* linear_before_reset */,
  {661, 28, 2, 0, false} /* reverse */,
  {281, 4, 4, 0, true} /* activations */,
  {926, 16, 1, 0, false} /* clip */,
  {661, 24, 2, 0, false} /* reverse */,
  {894, 4, 7, 0, true} /* steps */,
  {473, 8, 0, 0, true} /* count */,
  {613, 16, 1, 0, false} /* epsilon */,
  {894, 4, 7, 0, false} /* steps */,
  {819, 4, 6, 0, true} /* values */,
  {840, 4, 6, 0, true} /* begin */,
  {981, 12, 3, 3, true} /* mode */,
  {364, 8, 0, 0, false} /* batch_dims */,
  {956, 4, 3, 2, false} /* kind */,
  {449, 8, 2, 0, false} /* exclusive */,
  {661, 12, 2, 0, false} /* reverse */,
  {956, 4, 3, 5, true} /* kind */,
  {473, 8, 0, 0, true} /* count */,
  {956, 4, 3, 2, true} /* kind */,
  {961, 8, 2, 0, false} /* last */,
  {981, 4, 3, 3, false} /* mode */,
  {168, 8, 3, 3, false} /* padding */,
  {134, 12, 2, 0, false} /* align_corners */,
  {408, 4, 8, 0, true} /* then_block */,
  {375, 8, 8, 0, true} /* else_block */,
  {870, 8, 0, 0, true} /* index */,
  {489, 4, 3, 5, false} /* reduction */,
  {509, 4, 2, 0, false} /* circular */,
  {621, 4, 2, 0, false} /* largest */,
  {999, 4, 2, 0, false} /* log */,
  {721, 4, 2, 0, false} /* center */,
  {911, 4, 8, 0, true} /* body */,
  {572, 4, 2, 0, false} /* saturate */,
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
  INT64_C(32),
  INT64_C(1) << PTE_BOOL | INT64_C(1) << PTE_F32,
  INT64_C(1) << PTE_F32 | INT64_C(1) << PTE_F16,
  INT64_C(2305843009213693952),
  INT64_C(230),
  INT64_C(262144),
  INT64_C(-4611686018427387904),
  INT64_C(4611686018427387904),
  INT64_C(1) << PTE_BOOL,
  INT64_C(12),
  INT64_C(1) << PTE_I64,
  INT64_C(2),
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
  21,
  22,
  23,
  24,
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
  44,
  43,
  19,
  45,
  46,
  47,
  1,
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
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  61,
  12,
  13,
  10,
  62,
  63,
  64,
  65,
  43,
  19,
  66,
  67,
  68,
  69,
  70,
  43,
  19,
  66,
  67,
  68,
  71,
  43,
  19,
  66,
  67,
  68,
  43,
  66,
  72,
  73,
  74,
  75,
  1,
  76,
  77,
  78,
  75,
  79,
  80,
  81,
  82,
  0,
  83,
  84,
  85,
  86,
  87,
  75,
  47,
  1,
  88,
  75,
  89,
  90,
  91,
  75,
  89,
  92,
  75,
  93,
  94,
  95,
  96,
  97,
  98,
  99,
  100,
  101,
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
  209,
  218,
  227,
  240,
  246,
  251,
  256,
  261,
  269,
  277,
  285,
  293,
  299,
  307,
  315,
  323,
  331,
  339,
  347,
  355,
  363,
  371,
  376,
  421,
  428,
  434,
  441,
  453,
  468,
  486,
  501,
  515,
  524,
  530,
  536,
  541,
  546,
  551,
  557,
  563,
  571,
  579,
  588,
  597,
  604,
  610,
  618,
  624,
  633,
  640,
  647,
  652,
  658,
  665,
  674,
  682,
  690,
  714,
  723,
  736,
  752,
  761,
  768,
  777,
  783,
  788,
  794,
  806,
  816,
  826,
  839,
  846,
  854,
  860,
  866,
  876,
  881,
  891,
  901,
  906,
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
  12, 1, 19, 4, 0, 4, 56, 1, 1, 31, 0, 13, 1, 4, 56, 29, 0, 3, 2, 4, 56, 25, 1, 0,
  29, 0, 3, 1, 4, 56, 25, 1, 0, 29, 0, 3, 3, 16, 8, 4, 3, 1, 4, 56, 24, 23, 29, 0,
  3, 3, 2, 5, 32, 0, 10, 2, 19, 6, 0, 10, 3, 19, 6, 0, 10, 4, 19, 3, 0, 4, 64, 2,
  7, 1, 127, 20, 0, 4, 72, 2, 7, 1, 127, 20, 0, 4, 80, 2, 7, 1, 127, 20, 0, 4, 88, 2,
  7, 1, 127, 20, 0, 4, 80, 4, 88, 32, 0, 4, 8, 2, 7, 1, 127, 20, 0, 4, 16, 1, 0, 2,
  0, 20, 0, 4, 24, 1, 10, 1, 62, 20, 0, 4, 32, 2, 7, 1, 127, 20, 0, 4, 40, 1, 0, 2,
  0, 20, 0, 4, 48, 1, 10, 1, 62, 20, 0, 4, 64, 1, 0, 2, 0, 20, 0, 4, 72, 1, 1, 1,
  62, 20, 0, 4, 56, 2, 7, 1, 127, 20, 0, 10, 1, 19, 8, 0, 7, 1, 1, 0, 1, 0, 7, 0,
  1, 1, 22, 1, 1, 23, 1, 1, 21, 27, 8, 28, 21, 8, 36, 21, 8, 4, 1, 1, 22, 8, 20, 23,
  22, 1, 1, 22, 8, 12, 24, 1, 1, 21, 27, 29, 0, 3, 2, 16, 8, 4, 29, 0, 3, 2, 2, 9,
  32, 0, 15, 7, 0, 1, 1, 31, 0, 7, 0, 1, 1, 31, 7, 1, 1, 0, 29, 28, 0, 15, 8, 4,
  1, 0, 29, 15, 8, 4, 15, 7, 0, 29, 28, 0, 15, 8, 48, 1, 0, 29, 15, 8, 48, 1, 2, 15,
  7, 0, 23, 29, 28, 0, 5, 16, 19, 10, 1, 0, 29, 15, 8, 48, 1, 1, 31, 28, 0, 5, 12, 19,
  4, 1, 0, 29, 5, 36, 1, 0, 29, 28, 0, 3, 1, 3, 4, 25, 1, 0, 29, 0, 3, 3, 2, 9,
  32, 0, 3, 6, 2, 9, 32, 0, 10, 3, 19, 11, 0, 10, 1, 19, 12, 0, 10, 2, 19, 12, 0, 4,
  32, 2, 13, 32, 0, 4, 40, 2, 13, 32, 0, 8, 28, 1, 0, 2, 0, 20, 0, 8, 36, 1, 0, 2,
  0, 20, 0, 3, 2, 1, 4, 3, 3, 23, 29, 0, 3, 4, 1, 3, 3, 3, 23, 29, 0, 15, 8, 4,
  1, 3, 29, 0, 13, 1, 1, 1, 29, 0, 8, 4, 1, 0, 1, 10, 20, 0, 6, 16, 1, 0, 31, 0,
  3, 2, 1, 3, 3, 3, 23, 29, 0, 15, 8, 4, 1, 2, 29, 0, 15, 8, 4, 1, 1, 29, 0, 12,
  1, 19, 14, 0, 3, 0, 2, 15, 32, 0, 15, 9, 4, 3, 0, 29, 0, 11, 0, 1, 8, 25, 1, 0,
  29, 0, 15, 9, 4, 15, 7, 0, 29, 0, 9, 4, 2, 16, 2, 17, 20, 0, 7, 0, 7, 1, 9, 4,
  22, 26, 1, 0, 1, 0, 9, 4, 22, 27, 22, 7, 1, 1, 1, 26, 31, 0, 7, 3, 3, 0, 17, 7,
  1, 29, 0, 10, 0, 19, 18, 1, 0, 29, 5, 4, 19, 19, 28, 0, 10, 0, 19, 20, 1, 0, 29, 5,
  4, 19, 21, 1, 0, 29, 28, 0, 3, 0, 1, 1, 31, 14, 1, 28, 0, 3, 2, 15, 7, 0, 29, 0,
  7, 0, 1, 1, 31, 14, 2, 28, 0, 7, 0, 2, 22, 32, 0, 10, 0, 19, 8, 0, 13, 0, 1, 1,
  29, 0, 1, 1, 17, 7, 1, 1, 1, 17, 7, 0, 32, 0, 5, 4, 19, 4, 10, 0, 19, 23, 28, 0,
  15, 7, 1, 18, 7, 2, 7, 1, 29, 0, 15, 7, 1, 17, 7, 2, 3, 0, 17, 7, 0, 29, 0, 3,
  0, 15, 7, 0, 29, 0, 10, 0, 19, 24, 1, 0, 29, 0, 3, 1, 3, 0, 32, 0, 3, 4, 1, 3,
  29, 0, 10, 0, 19, 25, 10, 0, 19, 26, 28, 0, 10, 1, 19, 27, 0, 10, 0, 19, 25, 10, 1, 19,
  20, 29, 0, 10, 1, 19, 25, 10, 1, 19, 26, 28, 0, 10, 0, 19, 27, 0, 10, 1, 19, 25, 10, 0,
  19, 20, 29, 0,
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
  "a_multiplier\0" /* 190 */
  "average_pool\0" /* 203 */
  "b_multiplier\0" /* 216 */
  "batch_matmul\0" /* 229 */
  "column_major\0" /* 242 */
  "input_forget\0" /* 255 */
  "right_window\0" /* 268 */
  "activations\0" /* 281 */
  "coordinates\0" /* 293 */
  "gather_rows\0" /* 305 */
  "grid_sample\0" /* 317 */
  "left_window\0" /* 329 */
  "matmul_int8\0" /* 341 */
  "arg_reduce\0" /* 353 */
  "batch_dims\0" /* 364 */
  "else_block\0" /* 375 */
  "layer_norm\0" /* 386 */
  "scatter_nd\0" /* 397 */
  "then_block\0" /* 408 */
  "antialias\0" /* 419 */
  "attention\0" /* 429 */
  "condition\0" /* 439 */
  "exclusive\0" /* 449 */
  "gather_nd\0" /* 459 */
  "key_count\0" /* 469 */
  "pointwise\0" /* 479 */
  "reduction\0" /* 489 */
  "threshold\0" /* 499 */
  "circular\0" /* 509 */
  "cumulate\0" /* 518 */
  "delegate\0" /* 527 */
  "dilation\0" /* 536 */
  "max_pool\0" /* 545 */
  "peephole\0" /* 554 */
  "rms_norm\0" /* 563 */
  "saturate\0" /* 572 */
  "a_shift\0" /* 581 */
  "b_shift\0" /* 589 */
  "carried\0" /* 597 */
  "conv_i8\0" /* 605 */
  "epsilon\0" /* 613 */
  "largest\0" /* 621 */
  "nearest\0" /* 629 */
  "nonzero\0" /* 637 */
  "overlap\0" /* 645 */
  "reshape\0" /* 653 */
  "reverse\0" /* 661 */
  "softcap\0" /* 669 */
  "softmax\0" /* 677 */
  "updates\0" /* 685 */
  "a_zero\0" /* 693 */
  "add_i8\0" /* 700 */
  "b_zero\0" /* 707 */
  "causal\0" /* 714 */
  "center\0" /* 721 */
  "gather\0" /* 728 */
  "groups\0" /* 735 */
  "hidden\0" /* 742 */
  "kernel\0" /* 749 */
  "region\0" /* 756 */
  "repack\0" /* 763 */
  "resize\0" /* 770 */
  "scales\0" /* 777 */
  "scores\0" /* 784 */
  "spread\0" /* 791 */
  "stride\0" /* 798 */
  "unpack\0" /* 805 */
  "update\0" /* 812 */
  "values\0" /* 819 */
  "x_zero\0" /* 826 */
  "y_zero\0" /* 833 */
  "begin\0" /* 840 */
  "boxes\0" /* 846 */
  "cache\0" /* 852 */
  "cubic\0" /* 858 */
  "gates\0" /* 864 */
  "index\0" /* 870 */
  "limit\0" /* 876 */
  "scale\0" /* 882 */
  "start\0" /* 888 */
  "steps\0" /* 894 */
  "trips\0" /* 900 */
  "bias\0" /* 906 */
  "body\0" /* 911 */
  "call\0" /* 916 */
  "cell\0" /* 921 */
  "clip\0" /* 926 */
  "conv\0" /* 931 */
  "copy\0" /* 936 */
  "gain\0" /* 941 */
  "grid\0" /* 946 */
  "high\0" /* 951 */
  "kind\0" /* 956 */
  "last\0" /* 961 */
  "loop\0" /* 966 */
  "lstm\0" /* 971 */
  "mask\0" /* 976 */
  "mode\0" /* 981 */
  "topk\0" /* 986 */
  "end\0" /* 991 */
  "gru\0" /* 995 */
  "log\0" /* 999 */
  "low\0" /* 1003 */
  "pad\0" /* 1007 */
  "rnn\0" /* 1011 */
  "if\0" /* 1015 */
  "xs\0" /* 1018 */
  "y0\0" /* 1021 */
  "y1\0" /* 1024 */
  "y2\0" /* 1027 */
  "a\0" /* 1030 */
  "b\0" /* 1032 */
  "q\0" /* 1034 */
  ;

const pte_op_row pte_op_rows[] = {
  {KERNEL_pointwise, 479, 71, 1u << PTE_F32, 1, 24, 48, 49, 73, 0, 1, 1, 1, 0, true, true, false, false, false},
  {KERNEL_copy, 936, 79, 1u << PTE_F32, 2, 8, 79, 80, 0, 0, 1, 1, 0, 0, false, false, false, true, false},
  {KERNEL_dims, 370, 77, 1u << PTE_F32, 3, 16, 0, 63, 77, 143, 0, 1, 1, 1, false, false, false, false, false},
  {KERNEL_pad, 1007, 77, 1u << PTE_F32, 4, 16, 64, 65, 78, 144, 1, 1, 2, 5, false, false, false, false, false},
  {KERNEL_gather, 728, 79, 1u << PTE_F32, 5, 8, 81, 83, 0, 144, 2, 1, 0, 1, false, false, false, true, false},
  {KERNEL_gather_rows, 305, 79, 1u << PTE_F32, 6, 8, 84, 62, 0, 158, 2, 1, 0, 2, false, false, false, true, false},
  {KERNEL_gather_elements, 73, 79, 1u << PTE_F32, 7, 8, 86, 65, 0, 160, 2, 1, 0, 4, false, false, false, true, false},
  {KERNEL_gather_nd, 459, 77, 1u << PTE_F32, 8, 16, 66, 68, 80, 149, 2, 1, 1, 2, false, false, false, true, false},
  {KERNEL_scatter_elements, 40, 79, 1u << PTE_F32, 9, 8, 88, 91, 94, 161, 3, 1, 1, 5, false, false, false, true, false},
  {KERNEL_scatter_nd, 397, 79, 1u << PTE_F32, 10, 8, 92, 91, 94, 166, 3, 1, 1, 4, false, false, false, true, false},
  {KERNEL_tensor_scatter, 119, 79, 1u << PTE_F32, 11, 8, 95, 98, 95, 144, 3, 1, 1, 1, false, false, false, true, false},
  {KERNEL_nonzero, 637, 79, 1u << PTE_F32, 12, 8, 99, 100, 0, 170, 1, 1, 0, 3, false, false, false, true, true},
  {KERNEL_topk, 986, 80, 1u << PTE_F32 | 1u << PTE_I64, 13, 8, 72, 101, 96, 173, 1, 2, 1, 1, false, false, false, true, false},
  {KERNEL_cumulate, 518, 77, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 16, 69, 70, 81, 0, 1, 1, 3, 0, false, false, false, true, false},
  {KERNEL_reduce, 357, 77, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 16, 71, 8, 84, 151, 1, 1, 2, 2, false, false, false, false, false},
  {KERNEL_arg_reduce, 353, 77, 1u << PTE_F32 | 1u << PTE_I64, 21, 16, 72, 73, 86, 153, 1, 1, 2, 1, false, false, false, false, false},
  {KERNEL_softmax, 677, 79, 1u << PTE_F32, 22, 8, 69, 70, 97, 0, 1, 1, 1, 0, false, false, false, true, false},
  {KERNEL_layer_norm, 386, 74, 1u << PTE_F32, 23, 24, 50, 53, 74, 0, 3, 3, 2, 0, false, false, false, false, false},
  {KERNEL_rms_norm, 563, 74, 1u << PTE_F32, 24, 24, 50, 56, 74, 0, 2, 1, 2, 0, false, false, false, false, false},
  {KERNEL_matmul, 235, 71, 1u << PTE_F32, 30, 24, 57, 61, 76, 139, 4, 1, 1, 2, true, false, false, true, false},
  {KERNEL_batch_matmul, 229, 79, 1u << PTE_F32, 31, 8, 103, 105, 0, 0, 2, 1, 0, 0, false, false, false, true, false},
  {KERNEL_pack, 765, 79, 1u << PTE_F32, 32, 8, 106, 107, 0, 121, 1, 1, 0, 3, false, false, false, true, false},
  {KERNEL_conv, 931, 24, 1u << PTE_F32, 33, 80, 9, 13, 22, 46, 4, 1, 8, 24, true, false, false, false, false},
  {KERNEL_conv_depthwise, 89, 34, 1u << PTE_F32, 34, 64, 14, 18, 30, 70, 4, 1, 6, 20, true, false, false, false, false},
  {KERNEL_attention, 429, 49, 1u << PTE_F32, 35, 48, 20, 25, 45, 97, 5, 1, 5, 8, false, false, false, false, false},
  {KERNEL_lstm, 971, 67, 1u << PTE_F32, 36, 32, 28, 34, 62, 118, 6, 3, 4, 8, false, false, false, false, false},
  {KERNEL_gru, 995, 67, 1u << PTE_F32, 37, 32, 37, 34, 66, 126, 5, 2, 4, 7, false, false, false, false, false},
  {KERNEL_rnn, 1011, 67, 1u << PTE_F32, 38, 32, 42, 46, 70, 133, 4, 2, 3, 6, false, false, false, false, false},
  {KERNEL_matmul_integer, 104, 79, 1u << PTE_I64, 39, 8, 103, 105, 0, 0, 2, 1, 0, 0, false, false, false, true, false},
  {KERNEL_max_pool, 545, 55, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_I8, 40, 48, 0, 26, 50, 105, 1, 2, 6, 11, false, false, false, false, false},
  {KERNEL_average_pool, 203, 61, 1u << PTE_F32, 41, 48, 0, 19, 56, 105, 1, 1, 6, 13, false, false, false, false, false},
  {KERNEL_resize, 770, 42, 1u << PTE_F32, 42, 56, 0, 19, 36, 90, 1, 1, 9, 7, false, false, false, true, false},
  {KERNEL_grid_sample, 317, 77, 1u << PTE_F32, 43, 16, 74, 19, 88, 154, 2, 1, 3, 4, false, false, false, true, false},
  {KERNEL_non_max_suppression, 20, 79, 1u << PTE_F32, 44, 8, 108, 113, 98, 174, 5, 1, 1, 1, false, false, false, true, true},
  {KERNEL_matmul_int8, 341, 71, 1u << PTE_F32, 45, 24, 57, 62, 76, 139, 4, 1, 1, 4, true, false, false, true, false},
  {KERNEL_conv_i8, 605, 0, 1u << PTE_I8, 46, 96, 0, 5, 0, 0, 5, 1, 11, 34, false, false, false, false, false},
  {KERNEL_add_i8, 700, 12, 1u << PTE_I8, 47, 96, 6, 8, 11, 34, 2, 1, 11, 12, false, false, false, false, false},
  {NULL, 1015, 77, 1u << PTE_F32, 60, 16, 76, 77, 91, 0, 1, 1, 2, 0, false, true, true, false, false},
  {NULL, 966, 79, 1u << PTE_F32, 61, 8, 114, 77, 99, 0, 3, 1, 1, 0, true, true, true, false, false},
  {NULL, 916, 79, 1u << PTE_F32, 62, 8, 78, 77, 99, 0, 1, 1, 1, 0, true, true, true, false, false},
  {NULL, 527, 77, 1u << PTE_F32, 63, 16, 78, 77, 93, 0, 1, 1, 1, 0, true, true, true, false, false},
  {KERNEL_unpack, 805, 79, 1u << PTE_F32, 70, 8, 99, 117, 0, 175, 1, 1, 0, 3, false, false, false, true, false},
  {KERNEL_repack, 763, 80, 1u << PTE_F32, 71, 8, 99, 117, 100, 178, 1, 1, 1, 3, false, false, false, true, false},
  {KERNEL_reshape, 653, 79, 1u << PTE_F32, 72, 8, 64, 65, 0, 144, 1, 1, 0, 1, false, false, false, true, false},
};

const uint32_t pte_op_row_count = 44;

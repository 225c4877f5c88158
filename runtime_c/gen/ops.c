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
};

const pte_op_port pte_op_ports[] = {
  {697, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {293, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {920, 1, 3, PTE_RULE_A, false, false, false} /* bias */,
  {206, 1, 3, PTE_RULE_A, false, false, false} /* multiplier */,
  {597, 1, 3, PTE_RULE_A, false, false, false} /* shift */,
  {928, 3, 5, PTE_RULE_F, false, false, false} /* y */,
  {1044, 1, 1, PTE_RULE_F, false, false, true} /* a */,
  {1046, 1, 1, PTE_RULE_F, true, false, false} /* b */,
  {928, 1, 1, PTE_RULE_F, false, false, false} /* y */,
  {697, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {293, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {920, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {1032, 3, 5, PTE_RULE_A, false, true, false} /* xs */,
  {928, 3, 5, PTE_RULE_F, false, true, false} /* y */,
  {697, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {293, 2, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {920, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1032, 3, 8, PTE_RULE_A, false, true, false} /* xs */,
  {928, 3, 8, PTE_RULE_F, false, true, false} /* y */,
  {928, 3, 8, PTE_RULE_F, false, false, false} /* y */,
  {1048, 4, 11, PTE_RULE_F, false, true, false} /* q */,
  {398, 5, 15, PTE_RULE_A, false, true, false} /* k */,
  {948, 4, 20, PTE_RULE_A, false, true, false} /* v */,
  {990, 4, 24, PTE_RULE_A, true, true, false} /* mask */,
  {483, 1, 0, PTE_RULE_I64, true, false, false} /* key_count */,
  {928, 4, 28, PTE_RULE_F, false, false, false} /* y */,
  {1035, 3, 8, PTE_RULE_F, false, false, false} /* y0 */,
  {1038, 3, 8, PTE_RULE_I64, true, false, false} /* y1 */,
  {878, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {293, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {756, 2, 32, PTE_RULE_F, true, false, false} /* hidden */,
  {935, 2, 32, PTE_RULE_F, true, false, false} /* cell */,
  {568, 1, 16, PTE_RULE_F, true, false, false} /* peephole */,
  {487, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1035, 3, 34, PTE_RULE_F, false, false, false} /* y0 */,
  {1038, 2, 32, PTE_RULE_F, true, false, false} /* y1 */,
  {1041, 2, 32, PTE_RULE_F, true, false, false} /* y2 */,
  {878, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {293, 2, 3, PTE_RULE_W, false, false, false} /* w */,
  {920, 1, 3, PTE_RULE_F, true, false, false} /* bias */,
  {756, 2, 32, PTE_RULE_F, true, false, false} /* hidden */,
  {487, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {878, 3, 11, PTE_RULE_F, false, true, false} /* gates */,
  {293, 2, 37, PTE_RULE_W, false, false, false} /* w */,
  {756, 2, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {487, 1, 2, PTE_RULE_I64, true, false, false} /* count */,
  {1035, 3, 11, PTE_RULE_F, false, false, false} /* y0 */,
  {1038, 2, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {1032, 1, 1, PTE_RULE_A, false, true, true} /* xs */,
  {928, 1, 1, PTE_RULE_A, false, true, false} /* y */,
  {697, 2, 39, PTE_RULE_F, false, false, true} /* x */,
  {955, 1, 6, PTE_RULE_F, true, false, false} /* gain */,
  {920, 1, 6, PTE_RULE_F, true, false, false} /* bias */,
  {1035, 2, 41, PTE_RULE_F, false, false, false} /* y0 */,
  {1038, 1, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {1041, 1, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {928, 2, 41, PTE_RULE_F, false, false, false} /* y */,
  {697, 2, 19, PTE_RULE_F, false, false, false} /* x */,
  {293, 2, 10, PTE_RULE_W, false, false, false} /* w */,
  {920, 1, 2, PTE_RULE_F, true, false, false} /* bias */,
  {1032, 2, 1, PTE_RULE_A, false, true, false} /* xs */,
  {928, 2, 1, PTE_RULE_F, false, true, false} /* y */,
  {928, 2, 1, PTE_RULE_F, false, false, false} /* y */,
  {928, 1, 0, PTE_RULE_I64, false, false, false} /* y */,
  {697, 1, 1, PTE_RULE_T, false, false, false} /* x */,
  {928, 1, 6, PTE_RULE_T, false, false, false} /* y */,
  {697, 2, 43, PTE_RULE_T, false, true, false} /* x */,
  {884, 3, 45, PTE_RULE_I64, false, false, false} /* index */,
  {928, 3, 48, PTE_RULE_T, false, false, false} /* y */,
  {697, 2, 19, PTE_RULE_F, false, true, true} /* x */,
  {928, 2, 19, PTE_RULE_F, false, false, false} /* y */,
  {697, 2, 39, PTE_RULE_F, false, true, false} /* x */,
  {697, 2, 19, PTE_RULE_F, false, true, false} /* x */,
  {928, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {697, 3, 0, PTE_RULE_F, false, false, false} /* x */,
  {960, 3, 5, PTE_RULE_F, false, false, false} /* grid */,
  {453, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {928, 1, 51, PTE_RULE_A, false, false, false} /* y */,
  {1032, 1, 51, PTE_RULE_A, false, false, false} /* xs */,
  {697, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {928, 1, 1, PTE_RULE_T, false, true, false} /* y */,
  {697, 2, 0, PTE_RULE_T, false, true, false} /* x */,
  {884, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {928, 2, 52, PTE_RULE_T, false, false, false} /* y */,
  {293, 2, 11, PTE_RULE_W, false, false, false} /* w */,
  {884, 1, 1, PTE_RULE_I64, false, false, false} /* index */,
  {697, 1, 1, PTE_RULE_T, false, true, false} /* x */,
  {884, 1, 6, PTE_RULE_I64, false, true, false} /* index */,
  {697, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {884, 1, 6, PTE_RULE_I64, false, false, false} /* index */,
  {699, 1, 6, PTE_RULE_T, false, true, false} /* updates */,
  {928, 1, 1, PTE_RULE_T, false, false, false} /* y */,
  {697, 1, 1, PTE_RULE_T, false, false, true} /* x */,
  {884, 2, 54, PTE_RULE_I64, false, false, false} /* index */,
  {699, 1, 46, PTE_RULE_T, false, true, false} /* updates */,
  {866, 4, 0, PTE_RULE_T, false, false, true} /* cache */,
  {826, 4, 55, PTE_RULE_T, false, true, false} /* update */,
  {902, 1, 0, PTE_RULE_I64, true, false, false} /* start */,
  {928, 4, 0, PTE_RULE_T, false, false, false} /* y */,
  {697, 1, 1, PTE_RULE_A, false, false, false} /* x */,
  {928, 2, 59, PTE_RULE_I64, false, false, false} /* y */,
  {1035, 2, 1, PTE_RULE_F, false, false, false} /* y0 */,
  {1038, 2, 1, PTE_RULE_I64, false, false, false} /* y1 */,
  {1044, 3, 61, PTE_RULE_F, false, true, false} /* a */,
  {1046, 3, 1, PTE_RULE_F, false, true, false} /* b */,
  {928, 3, 64, PTE_RULE_F, false, false, false} /* y */,
  {293, 2, 11, PTE_RULE_F, false, true, false} /* w */,
  {928, 2, 11, PTE_RULE_W, false, false, false} /* y */,
  {860, 3, 67, PTE_RULE_F, false, false, false} /* boxes */,
  {798, 3, 28, PTE_RULE_F, false, false, false} /* scores */,
  {890, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {659, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {513, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {928, 2, 70, PTE_RULE_I64, false, false, false} /* y */,
  {914, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {453, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {611, 1, 51, PTE_RULE_A, false, false, false} /* carried */,
  {928, 1, 1, PTE_RULE_A, false, false, false} /* y */,
  {866, 5, 72, PTE_RULE_T, false, false, true} /* cache */,
  {826, 4, 77, PTE_RULE_T, false, true, false} /* update */,
  {902, 1, 0, PTE_RULE_I64, false, false, false} /* start */,
  {928, 5, 72, PTE_RULE_T, false, false, false} /* y */,
};

const pte_op_attr pte_op_attrs[] = {
  {763, 4, 4, 0, true} /* kernel */,
  {812, 12, 4, 0, true} /* stride */,
  {550, 20, 4, 0, true} /* dilation */,
  {854, 28, 4, 0, true} /* begin */,
  {1005, 36, 4, 0, true} /* end */,
  {805, 44, 4, 0, true} /* spread */,
  {749, 56, 0, 0, true} /* groups */,
  {840, 64, 0, 0, true} /* x_zero */,
  {847, 72, 0, 0, true} /* y_zero */,
  {1017, 80, 0, 0, true} /* low */,
  {965, 88, 0, 0, true} /* high */,
  {707, 8, 0, 0, true} /* a_zero */,
  {204, 16, 0, 0, true} /* a_multiplier */,
  {595, 24, 0, 0, true} /* a_shift */,
  {721, 32, 0, 0, false} /* b_zero */,
  {230, 40, 0, 0, false} /* b_multiplier */,
  {603, 48, 0, 0, false} /* b_shift */,
  {847, 56, 0, 0, true} /* y_zero */,
  {206, 64, 0, 0, true} /* multiplier */,
  {597, 72, 0, 0, true} /* shift */,
  {1017, 80, 0, 0, true} /* low */,
  {965, 88, 0, 0, true} /* high */,
  {763, 4, 4, 0, true} /* kernel */,
  {812, 12, 4, 0, true} /* stride */,
  {550, 20, 4, 0, true} /* dilation */,
  {854, 28, 4, 0, true} /* begin */,
  {1005, 36, 4, 0, true} /* end */,
  {805, 44, 4, 0, true} /* spread */,
  {749, 56, 0, 0, false} /* groups */,
  {908, 64, 7, 0, false} /* steps */,
  {763, 4, 4, 0, true} /* kernel */,
  {812, 12, 4, 0, true} /* stride */,
  {550, 20, 4, 0, true} /* dilation */,
  {854, 28, 4, 0, true} /* begin */,
  {1005, 36, 4, 0, true} /* end */,
  {908, 44, 7, 0, false} /* steps */,
  {791, 4, 5, 0, false} /* scales */,
  {995, 12, 3, 3, false} /* mode */,
  {307, 16, 3, 6, false} /* coordinates */,
  {643, 20, 3, 4, false} /* nearest */,
  {872, 24, 1, 0, false} /* cubic */,
  {57, 32, 2, 0, false} /* exclude_outside */,
  {433, 36, 2, 0, false} /* antialias */,
  {176, 40, 1, 0, false} /* extrapolation */,
  {770, 48, 5, 0, false} /* region */,
  {896, 8, 1, 0, true} /* scale */,
  {728, 16, 3, 3, false} /* causal */,
  {683, 24, 1, 0, false} /* softcap */,
  {343, 32, 0, 0, false} /* left_window */,
  {282, 40, 0, 0, false} /* right_window */,
  {763, 4, 4, 0, true} /* kernel */,
  {812, 12, 4, 0, true} /* stride */,
  {550, 20, 4, 0, true} /* dilation */,
  {854, 28, 4, 0, true} /* begin */,
  {148, 36, 2, 0, false} /* channel_major */,
  {256, 40, 2, 0, false} /* column_major */,
  {763, 4, 4, 0, true} /* kernel */,
  {812, 12, 4, 0, true} /* stride */,
  {550, 20, 4, 0, true} /* dilation */,
  {854, 28, 4, 0, true} /* begin */,
  {1005, 36, 4, 0, true} /* end */,
  {162, 44, 2, 0, false} /* count_padding */,
  {295, 4, 4, 0, true} /* activations */,
  {940, 16, 1, 0, false} /* clip */,
  {269, 24, 2, 0, false} /* input_forget */,
  {675, 28, 2, 0, false} /* reverse */,
  {295, 4, 4, 0, true} /* activations */,
  {940, 16, 1, 0, false} /* clip */,
  {0, 24, 2, 0, false} /* linear_before_reset */,
  {675, 28, 2, 0, false} /* reverse */,
  {295, 4, 4, 0, true} /* activations */,
  {940, 16, 1, 0, false} /* clip */,
  {675, 24, 2, 0, false} /* reverse */,
  {908, 4, 7, 0, true} /* steps */,
  {487, 8, 0, 0, true} /* count */,
  {627, 16, 1, 0, false} /* epsilon */,
  {908, 4, 7, 0, false} /* steps */,
  {833, 4, 6, 0, true} /* values */,
  {854, 4, 6, 0, true} /* begin */,
  {995, 12, 3, 3, true} /* mode */,
  {378, 8, 0, 0, false} /* batch_dims */,
  {970, 4, 3, 2, false} /* kind */,
  {463, 8, 2, 0, false} /* exclusive */,
  {675, 12, 2, 0, false} /* reverse */,
  {970, 4, 3, 5, true} /* kind */,
  {487, 8, 0, 0, true} /* count */,
  {970, 4, 3, 2, true} /* kind */,
  {975, 8, 2, 0, false} /* last */,
  {995, 4, 3, 3, false} /* mode */,
  {168, 8, 3, 3, false} /* padding */,
  {134, 12, 2, 0, false} /* align_corners */,
  {422, 4, 8, 0, true} /* then_block */,
  {389, 8, 8, 0, true} /* else_block */,
  {884, 8, 0, 0, true} /* index */,
  {503, 4, 3, 5, false} /* reduction */,
  {523, 4, 2, 0, false} /* circular */,
  {635, 4, 2, 0, false} /* largest */,
  {1013, 4, 2, 0, false} /* log */,
  {735, 4, 2, 0, false} /* center */,
  {925, 4, 8, 0, true} /* body */,
  {586, 4, 2, 0, false} /* saturate */,
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
  61,
  62,
  63,
  1,
  2,
  3,
  4,
  5,
  6,
  7,
  8,
  64,
  12,
  13,
  10,
  65,
  66,
  67,
  68,
  43,
  19,
  69,
  70,
  71,
  72,
  73,
  43,
  19,
  69,
  70,
  71,
  74,
  43,
  19,
  69,
  70,
  71,
  43,
  69,
  75,
  76,
  77,
  78,
  1,
  79,
  80,
  81,
  78,
  82,
  83,
  84,
  85,
  0,
  86,
  87,
  88,
  89,
  90,
  78,
  47,
  1,
  91,
  78,
  92,
  93,
  94,
  78,
  92,
  95,
  78,
  96,
  97,
  98,
  99,
  100,
  101,
  102,
  103,
  104,
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
  558,
  564,
  574,
  580,
  586,
  594,
  602,
  611,
  620,
  627,
  633,
  641,
  647,
  656,
  663,
  670,
  675,
  681,
  688,
  697,
  705,
  713,
  737,
  746,
  759,
  775,
  784,
  791,
  800,
  806,
  811,
  817,
  829,
  839,
  849,
  862,
  869,
  877,
  883,
  889,
  899,
  904,
  914,
  924,
  929,
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
  32, 0, 3, 7, 2, 9, 32, 0, 10, 3, 19, 11, 0, 10, 1, 19, 12, 0, 10, 2, 19, 12, 0, 15,
  7, 0, 1, 1, 32, 0, 7, 0, 1, 16, 29, 0, 3, 5, 16, 7, 0, 23, 3, 6, 29, 0, 4, 32,
  2, 13, 32, 0, 4, 40, 2, 13, 32, 0, 8, 28, 1, 0, 2, 0, 20, 0, 8, 36, 1, 0, 2, 0,
  20, 0, 3, 2, 1, 4, 3, 3, 23, 29, 0, 3, 4, 1, 3, 3, 3, 23, 29, 0, 15, 8, 4, 1,
  3, 29, 0, 13, 1, 1, 1, 29, 0, 8, 4, 1, 0, 1, 10, 20, 0, 6, 16, 1, 0, 31, 0, 3,
  2, 1, 3, 3, 3, 23, 29, 0, 15, 8, 4, 1, 2, 29, 0, 15, 8, 4, 1, 1, 29, 0, 12, 1,
  19, 14, 0, 3, 0, 2, 15, 32, 0, 15, 9, 4, 3, 0, 29, 0, 11, 0, 1, 8, 25, 1, 0, 29,
  0, 15, 9, 4, 15, 7, 0, 29, 0, 9, 4, 2, 16, 2, 17, 20, 0, 7, 0, 7, 1, 9, 4, 22,
  26, 1, 0, 1, 0, 9, 4, 22, 27, 22, 7, 1, 1, 1, 26, 31, 0, 7, 3, 3, 0, 17, 7, 1,
  29, 0, 10, 0, 19, 18, 1, 0, 29, 5, 4, 19, 19, 28, 0, 10, 0, 19, 20, 1, 0, 29, 5, 4,
  19, 21, 1, 0, 29, 28, 0, 3, 0, 1, 1, 31, 14, 1, 28, 0, 3, 2, 15, 7, 0, 29, 0, 7,
  0, 1, 1, 31, 14, 2, 28, 0, 7, 0, 2, 22, 32, 0, 10, 0, 19, 8, 0, 13, 0, 1, 1, 29,
  0, 1, 1, 17, 7, 1, 1, 1, 17, 7, 0, 32, 0, 5, 4, 19, 4, 10, 0, 19, 23, 28, 0, 15,
  7, 1, 18, 7, 2, 7, 1, 29, 0, 15, 7, 1, 17, 7, 2, 3, 0, 17, 7, 0, 29, 0, 3, 0,
  15, 7, 0, 29, 0, 10, 0, 19, 24, 1, 0, 29, 0, 3, 1, 3, 0, 32, 0, 3, 4, 1, 3, 29,
  0, 10, 0, 19, 25, 10, 0, 19, 26, 28, 0, 10, 1, 19, 27, 0, 10, 0, 19, 25, 10, 1, 19, 20,
  29, 0, 10, 1, 19, 25, 10, 1, 19, 26, 28, 0, 10, 0, 19, 27, 0, 10, 1, 19, 25, 10, 0, 19,
  20, 29, 0,
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
  "panel_scatter\0" /* 190 */
  "a_multiplier\0" /* 204 */
  "average_pool\0" /* 217 */
  "b_multiplier\0" /* 230 */
  "batch_matmul\0" /* 243 */
  "column_major\0" /* 256 */
  "input_forget\0" /* 269 */
  "right_window\0" /* 282 */
  "activations\0" /* 295 */
  "coordinates\0" /* 307 */
  "gather_rows\0" /* 319 */
  "grid_sample\0" /* 331 */
  "left_window\0" /* 343 */
  "matmul_int8\0" /* 355 */
  "arg_reduce\0" /* 367 */
  "batch_dims\0" /* 378 */
  "else_block\0" /* 389 */
  "layer_norm\0" /* 400 */
  "scatter_nd\0" /* 411 */
  "then_block\0" /* 422 */
  "antialias\0" /* 433 */
  "attention\0" /* 443 */
  "condition\0" /* 453 */
  "exclusive\0" /* 463 */
  "gather_nd\0" /* 473 */
  "key_count\0" /* 483 */
  "pointwise\0" /* 493 */
  "reduction\0" /* 503 */
  "threshold\0" /* 513 */
  "circular\0" /* 523 */
  "cumulate\0" /* 532 */
  "delegate\0" /* 541 */
  "dilation\0" /* 550 */
  "max_pool\0" /* 559 */
  "peephole\0" /* 568 */
  "rms_norm\0" /* 577 */
  "saturate\0" /* 586 */
  "a_shift\0" /* 595 */
  "b_shift\0" /* 603 */
  "carried\0" /* 611 */
  "conv_i8\0" /* 619 */
  "epsilon\0" /* 627 */
  "largest\0" /* 635 */
  "nearest\0" /* 643 */
  "nonzero\0" /* 651 */
  "overlap\0" /* 659 */
  "reshape\0" /* 667 */
  "reverse\0" /* 675 */
  "softcap\0" /* 683 */
  "softmax\0" /* 691 */
  "updates\0" /* 699 */
  "a_zero\0" /* 707 */
  "add_i8\0" /* 714 */
  "b_zero\0" /* 721 */
  "causal\0" /* 728 */
  "center\0" /* 735 */
  "gather\0" /* 742 */
  "groups\0" /* 749 */
  "hidden\0" /* 756 */
  "kernel\0" /* 763 */
  "region\0" /* 770 */
  "repack\0" /* 777 */
  "resize\0" /* 784 */
  "scales\0" /* 791 */
  "scores\0" /* 798 */
  "spread\0" /* 805 */
  "stride\0" /* 812 */
  "unpack\0" /* 819 */
  "update\0" /* 826 */
  "values\0" /* 833 */
  "x_zero\0" /* 840 */
  "y_zero\0" /* 847 */
  "begin\0" /* 854 */
  "boxes\0" /* 860 */
  "cache\0" /* 866 */
  "cubic\0" /* 872 */
  "gates\0" /* 878 */
  "index\0" /* 884 */
  "limit\0" /* 890 */
  "scale\0" /* 896 */
  "start\0" /* 902 */
  "steps\0" /* 908 */
  "trips\0" /* 914 */
  "bias\0" /* 920 */
  "body\0" /* 925 */
  "call\0" /* 930 */
  "cell\0" /* 935 */
  "clip\0" /* 940 */
  "conv\0" /* 945 */
  "copy\0" /* 950 */
  "gain\0" /* 955 */
  "grid\0" /* 960 */
  "high\0" /* 965 */
  "kind\0" /* 970 */
  "last\0" /* 975 */
  "loop\0" /* 980 */
  "lstm\0" /* 985 */
  "mask\0" /* 990 */
  "mode\0" /* 995 */
  "topk\0" /* 1000 */
  "end\0" /* 1005 */
  "gru\0" /* 1009 */
  "log\0" /* 1013 */
  "low\0" /* 1017 */
  "pad\0" /* 1021 */
  "rnn\0" /* 1025 */
  "if\0" /* 1029 */
  "xs\0" /* 1032 */
  "y0\0" /* 1035 */
  "y1\0" /* 1038 */
  "y2\0" /* 1041 */
  "a\0" /* 1044 */
  "b\0" /* 1046 */
  "q\0" /* 1048 */
  ;

const pte_op_row pte_op_rows[] = {
  {KERNEL_pointwise, 493, 71, 1u << PTE_F32, 1, 24, 48, 49, 73, 0, 1, 1, 1, 0, true, true, false, false, false},
  {KERNEL_copy, 950, 79, 1u << PTE_F32, 2, 8, 79, 80, 0, 0, 1, 1, 0, 0, false, false, false, true, false},
  {KERNEL_dims, 384, 77, 1u << PTE_F32, 3, 16, 0, 63, 77, 146, 0, 1, 1, 1, false, false, false, false, false},
  {KERNEL_pad, 1021, 77, 1u << PTE_F32, 4, 16, 64, 65, 78, 147, 1, 1, 2, 5, false, false, false, false, false},
  {KERNEL_gather, 742, 79, 1u << PTE_F32, 5, 8, 81, 83, 0, 147, 2, 1, 0, 1, false, false, false, true, false},
  {KERNEL_gather_rows, 319, 79, 1u << PTE_F32, 6, 8, 84, 62, 0, 161, 2, 1, 0, 2, false, false, false, true, false},
  {KERNEL_gather_elements, 73, 79, 1u << PTE_F32, 7, 8, 86, 65, 0, 163, 2, 1, 0, 4, false, false, false, true, false},
  {KERNEL_gather_nd, 473, 77, 1u << PTE_F32, 8, 16, 66, 68, 80, 152, 2, 1, 1, 2, false, false, false, true, false},
  {KERNEL_scatter_elements, 40, 79, 1u << PTE_F32, 9, 8, 88, 91, 94, 164, 3, 1, 1, 5, false, false, false, true, false},
  {KERNEL_scatter_nd, 411, 79, 1u << PTE_F32, 10, 8, 92, 91, 94, 169, 3, 1, 1, 4, false, false, false, true, false},
  {KERNEL_tensor_scatter, 119, 79, 1u << PTE_F32, 11, 8, 95, 98, 95, 147, 3, 1, 1, 1, false, false, false, true, false},
  {KERNEL_nonzero, 651, 79, 1u << PTE_F32, 12, 8, 99, 100, 0, 173, 1, 1, 0, 3, false, false, false, true, true},
  {KERNEL_topk, 1000, 80, 1u << PTE_F32 | 1u << PTE_I64, 13, 8, 72, 101, 96, 176, 1, 2, 1, 1, false, false, false, true, false},
  {KERNEL_cumulate, 532, 77, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 16, 69, 70, 81, 0, 1, 1, 3, 0, false, false, false, true, false},
  {KERNEL_reduce, 371, 77, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 16, 71, 8, 84, 154, 1, 1, 2, 2, false, false, false, false, false},
  {KERNEL_arg_reduce, 367, 77, 1u << PTE_F32 | 1u << PTE_I64, 21, 16, 72, 73, 86, 156, 1, 1, 2, 1, false, false, false, false, false},
  {KERNEL_softmax, 691, 79, 1u << PTE_F32, 22, 8, 69, 70, 97, 0, 1, 1, 1, 0, false, false, false, true, false},
  {KERNEL_layer_norm, 400, 74, 1u << PTE_F32, 23, 24, 50, 53, 74, 0, 3, 3, 2, 0, false, false, false, false, false},
  {KERNEL_rms_norm, 577, 74, 1u << PTE_F32, 24, 24, 50, 56, 74, 0, 2, 1, 2, 0, false, false, false, false, false},
  {KERNEL_matmul, 249, 71, 1u << PTE_F32, 30, 24, 57, 61, 76, 142, 4, 1, 1, 2, true, false, false, true, false},
  {KERNEL_batch_matmul, 243, 79, 1u << PTE_F32, 31, 8, 103, 105, 0, 0, 2, 1, 0, 0, false, false, false, true, false},
  {KERNEL_pack, 779, 79, 1u << PTE_F32, 32, 8, 106, 107, 0, 124, 1, 1, 0, 3, false, false, false, true, false},
  {KERNEL_conv, 945, 24, 1u << PTE_F32, 33, 80, 9, 13, 22, 46, 4, 1, 8, 24, true, false, false, false, false},
  {KERNEL_conv_depthwise, 89, 34, 1u << PTE_F32, 34, 64, 14, 18, 30, 70, 4, 1, 6, 20, true, false, false, false, false},
  {KERNEL_attention, 443, 49, 1u << PTE_F32, 35, 48, 20, 25, 45, 97, 5, 1, 5, 11, false, false, false, false, false},
  {KERNEL_lstm, 985, 67, 1u << PTE_F32, 36, 32, 28, 34, 62, 121, 6, 3, 4, 8, false, false, false, false, false},
  {KERNEL_gru, 1009, 67, 1u << PTE_F32, 37, 32, 37, 34, 66, 129, 5, 2, 4, 7, false, false, false, false, false},
  {KERNEL_rnn, 1025, 67, 1u << PTE_F32, 38, 32, 42, 46, 70, 136, 4, 2, 3, 6, false, false, false, false, false},
  {KERNEL_matmul_integer, 104, 79, 1u << PTE_I64, 39, 8, 103, 105, 0, 0, 2, 1, 0, 0, false, false, false, true, false},
  {KERNEL_max_pool, 559, 55, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_I8, 40, 48, 0, 26, 50, 108, 1, 2, 6, 11, false, false, false, false, false},
  {KERNEL_average_pool, 217, 61, 1u << PTE_F32, 41, 48, 0, 19, 56, 108, 1, 1, 6, 13, false, false, false, false, false},
  {KERNEL_resize, 784, 42, 1u << PTE_F32, 42, 56, 0, 19, 36, 90, 1, 1, 9, 7, false, false, false, true, false},
  {KERNEL_grid_sample, 331, 77, 1u << PTE_F32, 43, 16, 74, 19, 88, 157, 2, 1, 3, 4, false, false, false, true, false},
  {KERNEL_non_max_suppression, 20, 79, 1u << PTE_F32, 44, 8, 108, 113, 98, 177, 5, 1, 1, 1, false, false, false, true, true},
  {KERNEL_matmul_int8, 355, 71, 1u << PTE_F32, 45, 24, 57, 62, 76, 142, 4, 1, 1, 4, true, false, false, true, false},
  {KERNEL_conv_i8, 619, 0, 1u << PTE_I8, 46, 96, 0, 5, 0, 0, 5, 1, 11, 34, false, false, false, false, false},
  {KERNEL_add_i8, 714, 12, 1u << PTE_I8, 47, 96, 6, 8, 11, 34, 2, 1, 11, 12, false, false, false, false, false},
  {NULL, 1029, 77, 1u << PTE_F32, 60, 16, 76, 77, 91, 0, 1, 1, 2, 0, false, true, true, false, false},
  {NULL, 980, 79, 1u << PTE_F32, 61, 8, 114, 77, 99, 0, 3, 1, 1, 0, true, true, true, false, false},
  {NULL, 930, 79, 1u << PTE_F32, 62, 8, 78, 77, 99, 0, 1, 1, 1, 0, true, true, true, false, false},
  {NULL, 541, 77, 1u << PTE_F32, 63, 16, 78, 77, 93, 0, 1, 1, 1, 0, true, true, true, false, false},
  {KERNEL_unpack, 819, 79, 1u << PTE_F32, 70, 8, 99, 117, 0, 178, 1, 1, 0, 3, false, false, false, true, false},
  {KERNEL_repack, 777, 80, 1u << PTE_F32, 71, 8, 99, 117, 100, 181, 1, 1, 1, 3, false, false, false, true, false},
  {KERNEL_reshape, 667, 79, 1u << PTE_F32, 72, 8, 64, 65, 0, 147, 1, 1, 0, 1, false, false, false, true, false},
  {KERNEL_panel_scatter, 190, 79, 1u << PTE_F32, 73, 8, 118, 121, 0, 147, 3, 1, 0, 1, false, false, false, true, false},
};

const uint32_t pte_op_row_count = 45;

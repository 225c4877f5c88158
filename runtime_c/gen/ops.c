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

typedef struct all_defaults {
  pte_pointwise_attrs pointwise_;
  pte_copy_attrs copy_;
  pte_dims_attrs dims_;
  pte_pad_attrs pad_;
  pte_gather_attrs gather_;
  pte_gather_rows_attrs gather_rows_;
  pte_gather_elements_attrs gather_elements_;
  pte_gather_nd_attrs gather_nd_;
  pte_scatter_elements_attrs scatter_elements_;
  pte_scatter_nd_attrs scatter_nd_;
  pte_tensor_scatter_attrs tensor_scatter_;
  pte_nonzero_attrs nonzero_;
  pte_topk_attrs topk_;
  pte_cumulate_attrs cumulate_;
  pte_reduce_attrs reduce_;
  pte_arg_reduce_attrs arg_reduce_;
  pte_softmax_attrs softmax_;
  pte_layer_norm_attrs layer_norm_;
  pte_rms_norm_attrs rms_norm_;
  pte_matmul_attrs matmul_;
  pte_batch_matmul_attrs batch_matmul_;
  pte_pack_attrs pack_;
  pte_conv_attrs conv_;
  pte_conv_depthwise_attrs conv_depthwise_;
  pte_attention_attrs attention_;
  pte_lstm_attrs lstm_;
  pte_gru_attrs gru_;
  pte_rnn_attrs rnn_;
  pte_matmul_integer_attrs matmul_integer_;
  pte_max_pool_attrs max_pool_;
  pte_average_pool_attrs average_pool_;
  pte_resize_attrs resize_;
  pte_grid_sample_attrs grid_sample_;
  pte_non_max_suppression_attrs non_max_suppression_;
  pte_matmul_int8_attrs matmul_int8_;
  pte_if_attrs if_;
  pte_loop_attrs loop_;
  pte_call_attrs call_;
  pte_delegate_attrs delegate_;
  pte_unpack_attrs unpack_;
  pte_repack_attrs repack_;
} all_defaults;

static const all_defaults defaults = {
  .pointwise_ = {.size = 24},
  .copy_ = {.size = 8},
  .dims_ = {.size = 16},
  .pad_ = {.size = 16},
  .gather_ = {.size = 8},
  .gather_rows_ = {.size = 8},
  .gather_elements_ = {.size = 8},
  .gather_nd_ = {.size = 16, .batch_dims = 0},
  .scatter_elements_ = {.size = 8, .reduction = 0},
  .scatter_nd_ = {.size = 8, .reduction = 0},
  .tensor_scatter_ = {.size = 8, .circular = 0},
  .nonzero_ = {.size = 8},
  .topk_ = {.size = 8, .largest = 1},
  .cumulate_ = {.size = 16, .kind = 0, .exclusive = 0, .reverse = 0},
  .reduce_ = {.size = 16},
  .arg_reduce_ = {.size = 16, .last = 0},
  .softmax_ = {.size = 8, .log = 0},
  .layer_norm_ = {.size = 24, .epsilon = 1e-05},
  .rms_norm_ = {.size = 24, .epsilon = 1e-05},
  .matmul_ = {.size = 24, .steps = {{0, 0}, {0, 0}}},
  .batch_matmul_ = {.size = 8},
  .pack_ = {.size = 8},
  .conv_ = {.size = 80, .groups = 1, .steps = {{0, 0}, {0, 0}}},
  .conv_depthwise_ = {.size = 64, .steps = {{0, 0}, {0, 0}}},
  .attention_ = {.size = 48, .causal = 0, .softcap = 0.0, .left_window = -1, .right_window = -1},
  .lstm_ = {.size = 32, .clip = 0.0, .input_forget = 0, .reverse = 0},
  .gru_ = {.size = 32, .clip = 0.0, .linear_before_reset = 0, .reverse = 0},
  .rnn_ = {.size = 32, .clip = 0.0, .reverse = 0},
  .matmul_integer_ = {.size = 8},
  .max_pool_ = {.size = 48, .channel_major = 1, .column_major = 0},
  .average_pool_ = {.size = 48, .count_padding = 0},
  .resize_ = {.size = 56, .scales = {0, 0}, .mode = 0, .coordinates = 0, .nearest = 0, .cubic = -0.75, .exclude_outside = 0, .antialias = 0, .extrapolation = 0.0, .region = {0, 0}},
  .grid_sample_ = {.size = 16, .mode = 0, .padding = 0, .align_corners = 0},
  .non_max_suppression_ = {.size = 8, .center = 0},
  .matmul_int8_ = {.size = 24, .steps = {{0, 0}, {0, 0}}},
  .if_ = {.size = 16},
  .loop_ = {.size = 8},
  .call_ = {.size = 8},
  .delegate_ = {.size = 16},
  .unpack_ = {.size = 8},
  .repack_ = {.size = 8, .saturate = 1},
};

const void *pte_op_defaults(const pte_op_row *row) {
  return (const unsigned char *)&defaults + row->defaults;
}

const pte_shape_term pte_op_terms[] = {
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {1, 1, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 0, 0},
  {1, 1, 0, 0},
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {1, 0, 0, 0},
  {0, 1, 0, 0},
  {1, 0, 8, 0},
  {1, 1, 0, 0},
  {1, 0, 8, 0},
  {1, 2, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 8, 0},
  {1, 2, 0, 0},
  {1, 3, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 0, 0},
  {0, 1, 0, 0},
  {0, 2, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 0, 0},
  {0, 3, 0, 0},
  {0, 2, 0, 0},
  {1, 0, 0, 0},
  {1, 1, 8, 0},
  {0, 1, 0, 0},
  {0, 0, 0, 0},
  {1, 0, 0, 0},
  {0, 0, 0, 0},
  {0, 2, 0, 0},
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
  {0, 0, 0, 0},
  {0, 1, 0, 0},
  {2, 0, 0, 4},
  {0, 3, 0, 0},
  {0, 4, 0, 0},
  {4, 0, 0, 0},
};

const pte_op_port pte_op_ports[] = {
  {916, 0, 1, PTE_RULE_A, false, true, true} /* xs */,
  {821, 0, 1, PTE_RULE_A, false, true, false} /* y */,
  {625, 0, 1, PTE_RULE_T, false, true, false} /* x */,
  {821, 0, 1, PTE_RULE_T, false, true, false} /* y */,
  {821, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {625, 0, 1, PTE_RULE_T, false, false, false} /* x */,
  {821, 2, 1, PTE_RULE_T, false, false, false} /* y */,
  {625, 3, 2, PTE_RULE_T, false, true, false} /* x */,
  {777, 2, 1, PTE_RULE_I64, false, false, false} /* index */,
  {821, 5, 2, PTE_RULE_T, false, false, false} /* y */,
  {253, 7, 2, PTE_RULE_W, false, false, false} /* w */,
  {777, 0, 1, PTE_RULE_I64, false, false, false} /* index */,
  {821, 9, 2, PTE_RULE_F, false, false, false} /* y */,
  {625, 0, 1, PTE_RULE_T, false, true, false} /* x */,
  {777, 2, 1, PTE_RULE_I64, false, true, false} /* index */,
  {625, 11, 2, PTE_RULE_T, false, true, false} /* x */,
  {777, 13, 3, PTE_RULE_I64, false, false, false} /* index */,
  {821, 16, 3, PTE_RULE_T, false, false, false} /* y */,
  {625, 0, 1, PTE_RULE_T, false, false, true} /* x */,
  {777, 2, 1, PTE_RULE_I64, false, false, false} /* index */,
  {627, 2, 1, PTE_RULE_T, false, true, false} /* updates */,
  {821, 0, 1, PTE_RULE_T, false, false, false} /* y */,
  {625, 0, 1, PTE_RULE_T, false, false, true} /* x */,
  {777, 2, 2, PTE_RULE_I64, false, false, false} /* index */,
  {627, 14, 1, PTE_RULE_T, false, true, false} /* updates */,
  {759, 19, 4, PTE_RULE_T, false, false, true} /* cache */,
  {733, 23, 4, PTE_RULE_T, false, true, false} /* update */,
  {795, 1, 1, PTE_RULE_I64, true, false, false} /* start */,
  {821, 19, 4, PTE_RULE_T, false, false, false} /* y */,
  {625, 0, 1, PTE_RULE_A, false, false, false} /* x */,
  {821, 7, 2, PTE_RULE_I64, false, false, false} /* y */,
  {625, 0, 2, PTE_RULE_F, false, true, false} /* x */,
  {919, 9, 2, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 9, 2, PTE_RULE_I64, false, false, false} /* y1 */,
  {625, 0, 2, PTE_RULE_F, false, true, true} /* x */,
  {821, 0, 2, PTE_RULE_F, false, false, false} /* y */,
  {625, 27, 2, PTE_RULE_F, false, true, false} /* x */,
  {821, 0, 1, PTE_RULE_F, false, false, false} /* y */,
  {821, 0, 1, PTE_RULE_I64, false, false, false} /* y */,
  {625, 27, 2, PTE_RULE_F, false, false, true} /* x */,
  {848, 2, 1, PTE_RULE_F, true, false, false} /* gain */,
  {813, 2, 1, PTE_RULE_F, true, false, false} /* bias */,
  {919, 4, 2, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 0, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {925, 0, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {821, 4, 2, PTE_RULE_F, false, false, false} /* y */,
  {625, 0, 2, PTE_RULE_F, false, false, false} /* x */,
  {253, 29, 2, PTE_RULE_W, false, false, false} /* w */,
  {813, 8, 1, PTE_RULE_F, true, false, false} /* bias */,
  {916, 9, 2, PTE_RULE_A, false, true, false} /* xs */,
  {821, 9, 2, PTE_RULE_F, false, true, false} /* y */,
  {928, 6, 3, PTE_RULE_F, false, true, false} /* a */,
  {930, 20, 3, PTE_RULE_F, false, true, false} /* b */,
  {821, 31, 3, PTE_RULE_F, false, false, false} /* y */,
  {253, 7, 2, PTE_RULE_F, false, true, false} /* w */,
  {821, 7, 2, PTE_RULE_W, false, false, false} /* y */,
  {625, 19, 3, PTE_RULE_F, false, false, false} /* x */,
  {253, 34, 2, PTE_RULE_W, false, false, false} /* w */,
  {813, 22, 1, PTE_RULE_F, true, false, false} /* bias */,
  {916, 36, 3, PTE_RULE_A, false, true, false} /* xs */,
  {821, 36, 3, PTE_RULE_F, false, true, false} /* y */,
  {625, 19, 3, PTE_RULE_F, false, false, false} /* x */,
  {253, 21, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {813, 8, 1, PTE_RULE_F, true, false, false} /* bias */,
  {916, 39, 3, PTE_RULE_A, false, true, false} /* xs */,
  {821, 39, 3, PTE_RULE_F, false, true, false} /* y */,
  {932, 42, 4, PTE_RULE_F, false, true, false} /* q */,
  {358, 46, 4, PTE_RULE_F, false, true, false} /* k */,
  {841, 50, 4, PTE_RULE_F, false, true, false} /* v */,
  {878, 54, 4, PTE_RULE_A, true, true, false} /* mask */,
  {443, 1, 1, PTE_RULE_I64, true, false, false} /* key_count */,
  {821, 58, 4, PTE_RULE_F, false, false, false} /* y */,
  {771, 42, 3, PTE_RULE_F, false, true, false} /* gates */,
  {253, 34, 2, PTE_RULE_W, false, false, false} /* w */,
  {663, 62, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {828, 62, 2, PTE_RULE_F, true, false, false} /* cell */,
  {528, 47, 1, PTE_RULE_F, true, false, false} /* peephole */,
  {447, 8, 1, PTE_RULE_I64, true, false, false} /* count */,
  {919, 64, 3, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 62, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {925, 62, 2, PTE_RULE_F, true, false, false} /* y2 */,
  {771, 42, 3, PTE_RULE_F, false, true, false} /* gates */,
  {253, 34, 2, PTE_RULE_W, false, false, false} /* w */,
  {813, 22, 1, PTE_RULE_F, true, false, false} /* bias */,
  {663, 62, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {447, 8, 1, PTE_RULE_I64, true, false, false} /* count */,
  {771, 42, 3, PTE_RULE_F, false, true, false} /* gates */,
  {253, 33, 2, PTE_RULE_W, false, false, false} /* w */,
  {663, 21, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {447, 8, 1, PTE_RULE_I64, true, false, false} /* count */,
  {919, 42, 3, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 21, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {919, 39, 3, PTE_RULE_F, false, false, false} /* y0 */,
  {922, 39, 3, PTE_RULE_I64, true, false, false} /* y1 */,
  {821, 39, 3, PTE_RULE_F, false, false, false} /* y */,
  {625, 19, 3, PTE_RULE_F, false, false, false} /* x */,
  {853, 36, 3, PTE_RULE_F, false, false, false} /* grid */,
  {753, 67, 3, PTE_RULE_F, false, false, false} /* boxes */,
  {705, 58, 3, PTE_RULE_F, false, false, false} /* scores */,
  {783, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {595, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {473, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {821, 70, 2, PTE_RULE_I64, false, false, false} /* y */,
  {413, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {821, 72, 1, PTE_RULE_A, false, false, false} /* y */,
  {807, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {413, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {555, 72, 1, PTE_RULE_A, false, false, false} /* carried */,
  {916, 72, 1, PTE_RULE_A, false, false, false} /* xs */,
  {821, 0, 1, PTE_RULE_A, false, false, false} /* y */,
};

const pte_op_attr pte_op_attrs[] = {
  {801, 4, 7, 0, true} /* steps */,
  {740, 4, 6, 0, true} /* values */,
  {747, 4, 6, 0, true} /* begin */,
  {883, 12, 3, 3, true} /* mode */,
  {338, 8, 0, 0, false} /* batch_dims */,
  {463, 4, 3, 5, false} /* reduction */,
  {483, 4, 2, 0, false} /* circular */,
  {571, 4, 2, 0, false} /* largest */,
  {858, 4, 3, 2, false} /* kind */,
  {423, 8, 2, 0, false} /* exclusive */,
  {603, 12, 2, 0, false} /* reverse */,
  {858, 4, 3, 5, true} /* kind */,
  {447, 8, 0, 0, true} /* count */,
  {858, 4, 3, 2, true} /* kind */,
  {863, 8, 2, 0, false} /* last */,
  {901, 4, 2, 0, false} /* log */,
  {447, 8, 0, 0, true} /* count */,
  {563, 16, 1, 0, false} /* epsilon */,
  {801, 4, 7, 0, false} /* steps */,
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
  {789, 8, 1, 0, true} /* scale */,
  {635, 16, 3, 3, false} /* causal */,
  {611, 24, 1, 0, false} /* softcap */,
  {303, 32, 0, 0, false} /* left_window */,
  {242, 40, 0, 0, false} /* right_window */,
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
  {698, 4, 5, 0, false} /* scales */,
  {883, 12, 3, 3, false} /* mode */,
  {267, 16, 3, 6, false} /* coordinates */,
  {579, 20, 3, 4, false} /* nearest */,
  {765, 24, 1, 0, false} /* cubic */,
  {57, 32, 2, 0, false} /* exclude_outside */,
  {393, 36, 2, 0, false} /* antialias */,
  {176, 40, 1, 0, false} /* extrapolation */,
  {677, 48, 5, 0, false} /* region */,
  {883, 4, 3, 3, false} /* mode */,
  {168, 8, 3, 3, false} /* padding */,
  {134, 12, 2, 0, false} /* align_corners */,
  {642, 4, 2, 0, false} /* center */,
  {382, 4, 8, 0, true} /* then_block */,
  {349, 8, 8, 0, true} /* else_block */,
  {818, 4, 8, 0, true} /* body */,
  {777, 8, 0, 0, true} /* index */,
  {546, 4, 2, 0, false} /* saturate */,
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
  {KERNEL_pointwise, 453, offsetof(all_defaults, pointwise_), 1u << PTE_F32, 1, 24, 0, 1, 0, 1, 1, 1, true, true, false, false, false},
  {KERNEL_copy, 843, offsetof(all_defaults, copy_), 1u << PTE_F32, 2, 8, 2, 3, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_dims, 344, offsetof(all_defaults, dims_), 1u << PTE_F32, 3, 16, 0, 4, 1, 0, 1, 1, false, false, false, false, false},
  {KERNEL_pad, 905, offsetof(all_defaults, pad_), 1u << PTE_F32, 4, 16, 5, 6, 2, 1, 1, 2, false, false, false, false, false},
  {KERNEL_gather, 649, offsetof(all_defaults, gather_), 1u << PTE_F32, 5, 8, 7, 9, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_rows, 279, offsetof(all_defaults, gather_rows_), 1u << PTE_F32, 6, 8, 10, 12, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_elements, 73, offsetof(all_defaults, gather_elements_), 1u << PTE_F32, 7, 8, 13, 6, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_nd, 433, offsetof(all_defaults, gather_nd_), 1u << PTE_F32, 8, 16, 15, 17, 4, 2, 1, 1, false, false, false, true, false},
  {KERNEL_scatter_elements, 40, offsetof(all_defaults, scatter_elements_), 1u << PTE_F32, 9, 8, 18, 21, 5, 3, 1, 1, false, false, false, true, false},
  {KERNEL_scatter_nd, 371, offsetof(all_defaults, scatter_nd_), 1u << PTE_F32, 10, 8, 22, 21, 5, 3, 1, 1, false, false, false, true, false},
  {KERNEL_tensor_scatter, 119, offsetof(all_defaults, tensor_scatter_), 1u << PTE_F32, 11, 8, 25, 28, 6, 3, 1, 1, false, false, false, true, false},
  {KERNEL_nonzero, 587, offsetof(all_defaults, nonzero_), 1u << PTE_F32, 12, 8, 29, 30, 0, 1, 1, 0, false, false, false, true, true},
  {KERNEL_topk, 888, offsetof(all_defaults, topk_), 1u << PTE_F32 | 1u << PTE_I64, 13, 8, 31, 32, 7, 1, 2, 1, false, false, false, true, false},
  {KERNEL_cumulate, 492, offsetof(all_defaults, cumulate_), 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 16, 34, 35, 8, 1, 1, 3, false, false, false, true, false},
  {KERNEL_reduce, 331, offsetof(all_defaults, reduce_), 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 16, 36, 37, 11, 1, 1, 2, false, false, false, false, false},
  {KERNEL_arg_reduce, 327, offsetof(all_defaults, arg_reduce_), 1u << PTE_F32 | 1u << PTE_I64, 21, 16, 31, 38, 13, 1, 1, 2, false, false, false, false, false},
  {KERNEL_softmax, 619, offsetof(all_defaults, softmax_), 1u << PTE_F32, 22, 8, 34, 35, 15, 1, 1, 1, false, false, false, true, false},
  {KERNEL_layer_norm, 360, offsetof(all_defaults, layer_norm_), 1u << PTE_F32, 23, 24, 39, 42, 16, 3, 3, 2, false, false, false, false, false},
  {KERNEL_rms_norm, 537, offsetof(all_defaults, rms_norm_), 1u << PTE_F32, 24, 24, 39, 45, 16, 2, 1, 2, false, false, false, false, false},
  {KERNEL_matmul, 209, offsetof(all_defaults, matmul_), 1u << PTE_F32, 30, 24, 46, 50, 18, 4, 1, 1, true, false, false, true, false},
  {KERNEL_batch_matmul, 203, offsetof(all_defaults, batch_matmul_), 1u << PTE_F32, 31, 8, 51, 53, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_pack, 686, offsetof(all_defaults, pack_), 1u << PTE_F32, 32, 8, 54, 55, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_conv, 838, offsetof(all_defaults, conv_), 1u << PTE_F32, 33, 80, 56, 60, 19, 4, 1, 8, true, false, false, false, false},
  {KERNEL_conv_depthwise, 89, offsetof(all_defaults, conv_depthwise_), 1u << PTE_F32, 34, 64, 61, 65, 27, 4, 1, 6, true, false, false, false, false},
  {KERNEL_attention, 403, offsetof(all_defaults, attention_), 1u << PTE_F32, 35, 48, 66, 71, 33, 5, 1, 5, false, false, false, false, false},
  {KERNEL_lstm, 873, offsetof(all_defaults, lstm_), 1u << PTE_F32, 36, 32, 72, 78, 38, 6, 3, 4, false, false, false, false, false},
  {KERNEL_gru, 897, offsetof(all_defaults, gru_), 1u << PTE_F32, 37, 32, 81, 78, 42, 5, 2, 4, false, false, false, false, false},
  {KERNEL_rnn, 909, offsetof(all_defaults, rnn_), 1u << PTE_F32, 38, 32, 86, 90, 46, 4, 2, 3, false, false, false, false, false},
  {KERNEL_matmul_integer, 104, offsetof(all_defaults, matmul_integer_), 1u << PTE_I64, 39, 8, 51, 53, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_max_pool, 519, offsetof(all_defaults, max_pool_), 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 40, 48, 56, 92, 49, 1, 2, 6, false, false, false, false, false},
  {KERNEL_average_pool, 190, offsetof(all_defaults, average_pool_), 1u << PTE_F32, 41, 48, 56, 94, 55, 1, 1, 6, false, false, false, false, false},
  {KERNEL_resize, 691, offsetof(all_defaults, resize_), 1u << PTE_F32, 42, 56, 56, 94, 61, 1, 1, 9, false, false, false, true, false},
  {KERNEL_grid_sample, 291, offsetof(all_defaults, grid_sample_), 1u << PTE_F32, 43, 16, 95, 94, 70, 2, 1, 3, false, false, false, true, false},
  {KERNEL_non_max_suppression, 20, offsetof(all_defaults, non_max_suppression_), 1u << PTE_F32, 44, 8, 97, 102, 73, 5, 1, 1, false, false, false, true, true},
  {KERNEL_matmul_int8, 315, offsetof(all_defaults, matmul_int8_), 1u << PTE_F32, 45, 24, 46, 12, 18, 4, 1, 1, true, false, false, true, false},
  {NULL, 913, offsetof(all_defaults, if_), 1u << PTE_F32, 60, 16, 103, 104, 74, 1, 1, 2, false, true, true, false, false},
  {NULL, 868, offsetof(all_defaults, loop_), 1u << PTE_F32, 61, 8, 105, 104, 76, 3, 1, 1, true, true, true, false, false},
  {NULL, 823, offsetof(all_defaults, call_), 1u << PTE_F32, 62, 8, 108, 104, 76, 1, 1, 1, true, true, true, false, false},
  {NULL, 501, offsetof(all_defaults, delegate_), 1u << PTE_F32, 63, 16, 108, 104, 77, 1, 1, 1, true, true, true, false, false},
  {KERNEL_unpack, 726, offsetof(all_defaults, unpack_), 1u << PTE_F32, 70, 8, 29, 109, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_repack, 684, offsetof(all_defaults, repack_), 1u << PTE_F32, 71, 8, 29, 109, 78, 1, 1, 1, false, false, false, true, false},
};

const uint32_t pte_op_row_count = 41;

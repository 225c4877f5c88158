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
#ifdef PTE_WITHOUT_MATMUL_INT8
#define KERNEL_matmul_int8 NULL
#else
#define KERNEL_matmul_int8 &pte_matmul_int8_kernel
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
  pte_matmul_int8_attrs matmul_int8_;
  pte_max_pool_attrs max_pool_;
  pte_average_pool_attrs average_pool_;
  pte_resize_attrs resize_;
  pte_grid_sample_attrs grid_sample_;
  pte_non_max_suppression_attrs non_max_suppression_;
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
  .matmul_int8_ = {.size = 24, .steps = {{0, 0}, {0, 0}}},
  .max_pool_ = {.size = 48, .channel_major = 1, .column_major = 0},
  .average_pool_ = {.size = 48, .count_padding = 0},
  .resize_ = {.size = 56, .scales = {0, 0}, .mode = 0, .coordinates = 0, .nearest = 0, .cubic = -0.75, .exclude_outside = 0, .antialias = 0, .extrapolation = 0.0, .region = {0, 0}},
  .grid_sample_ = {.size = 16, .mode = 0, .padding = 0, .align_corners = 0},
  .non_max_suppression_ = {.size = 8, .center = 0},
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
  {10, 0, 1, PTE_RULE_A, false, true, true} /* xs */,
  {13, 0, 1, PTE_RULE_A, false, true, false} /* y */,
  {26, 0, 1, PTE_RULE_T, false, true, false} /* x */,
  {13, 0, 1, PTE_RULE_T, false, true, false} /* y */,
  {13, 1, 1, PTE_RULE_I64, false, false, false} /* y */,
  {26, 0, 1, PTE_RULE_T, false, false, false} /* x */,
  {13, 2, 1, PTE_RULE_T, false, false, false} /* y */,
  {26, 3, 2, PTE_RULE_T, false, true, false} /* x */,
  {62, 2, 1, PTE_RULE_I64, false, false, false} /* index */,
  {13, 5, 2, PTE_RULE_T, false, false, false} /* y */,
  {80, 7, 2, PTE_RULE_W, false, false, false} /* w */,
  {62, 0, 1, PTE_RULE_I64, false, false, false} /* index */,
  {13, 9, 2, PTE_RULE_F, false, false, false} /* y */,
  {26, 0, 1, PTE_RULE_T, false, true, false} /* x */,
  {62, 2, 1, PTE_RULE_I64, false, true, false} /* index */,
  {26, 11, 2, PTE_RULE_T, false, true, false} /* x */,
  {62, 13, 3, PTE_RULE_I64, false, false, false} /* index */,
  {13, 16, 3, PTE_RULE_T, false, false, false} /* y */,
  {26, 0, 1, PTE_RULE_T, false, false, true} /* x */,
  {62, 2, 1, PTE_RULE_I64, false, false, false} /* index */,
  {136, 2, 1, PTE_RULE_T, false, true, false} /* updates */,
  {13, 0, 1, PTE_RULE_T, false, false, false} /* y */,
  {26, 0, 1, PTE_RULE_T, false, false, true} /* x */,
  {62, 2, 2, PTE_RULE_I64, false, false, false} /* index */,
  {136, 14, 1, PTE_RULE_T, false, true, false} /* updates */,
  {180, 19, 4, PTE_RULE_T, false, false, true} /* cache */,
  {186, 23, 4, PTE_RULE_T, false, true, false} /* update */,
  {193, 1, 1, PTE_RULE_I64, true, false, false} /* start */,
  {13, 19, 4, PTE_RULE_T, false, false, false} /* y */,
  {26, 0, 1, PTE_RULE_A, false, false, false} /* x */,
  {13, 7, 2, PTE_RULE_I64, false, false, false} /* y */,
  {26, 0, 2, PTE_RULE_F, false, true, false} /* x */,
  {221, 9, 2, PTE_RULE_F, false, false, false} /* y0 */,
  {224, 9, 2, PTE_RULE_I64, false, false, false} /* y1 */,
  {26, 0, 2, PTE_RULE_F, false, true, true} /* x */,
  {13, 0, 2, PTE_RULE_F, false, false, false} /* y */,
  {26, 27, 2, PTE_RULE_F, false, true, false} /* x */,
  {13, 0, 1, PTE_RULE_F, false, false, false} /* y */,
  {13, 0, 1, PTE_RULE_I64, false, false, false} /* y */,
  {26, 27, 2, PTE_RULE_F, false, false, true} /* x */,
  {319, 2, 1, PTE_RULE_F, true, false, false} /* gain */,
  {324, 2, 1, PTE_RULE_F, true, false, false} /* bias */,
  {221, 4, 2, PTE_RULE_F, false, false, false} /* y0 */,
  {224, 0, 1, PTE_RULE_F, true, false, false} /* y1 */,
  {329, 0, 1, PTE_RULE_F, true, false, false} /* y2 */,
  {13, 4, 2, PTE_RULE_F, false, false, false} /* y */,
  {26, 0, 2, PTE_RULE_F, false, false, false} /* x */,
  {80, 29, 2, PTE_RULE_W, false, false, false} /* w */,
  {324, 8, 1, PTE_RULE_F, true, false, false} /* bias */,
  {10, 9, 2, PTE_RULE_A, false, true, false} /* xs */,
  {13, 9, 2, PTE_RULE_F, false, true, false} /* y */,
  {369, 6, 3, PTE_RULE_F, false, true, false} /* a */,
  {371, 20, 3, PTE_RULE_F, false, true, false} /* b */,
  {13, 31, 3, PTE_RULE_F, false, false, false} /* y */,
  {80, 7, 2, PTE_RULE_F, false, true, false} /* w */,
  {13, 7, 2, PTE_RULE_W, false, false, false} /* y */,
  {26, 19, 3, PTE_RULE_F, false, false, false} /* x */,
  {80, 34, 2, PTE_RULE_W, false, false, false} /* w */,
  {324, 22, 1, PTE_RULE_F, true, false, false} /* bias */,
  {10, 36, 3, PTE_RULE_A, false, true, false} /* xs */,
  {13, 36, 3, PTE_RULE_F, false, true, false} /* y */,
  {26, 19, 3, PTE_RULE_F, false, false, false} /* x */,
  {80, 21, 2, PTE_RULE_TAPS, false, false, false} /* w */,
  {324, 8, 1, PTE_RULE_F, true, false, false} /* bias */,
  {10, 39, 3, PTE_RULE_A, false, true, false} /* xs */,
  {13, 39, 3, PTE_RULE_F, false, true, false} /* y */,
  {449, 42, 4, PTE_RULE_F, false, true, false} /* q */,
  {451, 46, 4, PTE_RULE_F, false, true, false} /* k */,
  {453, 50, 4, PTE_RULE_F, false, true, false} /* v */,
  {455, 54, 4, PTE_RULE_A, true, true, false} /* mask */,
  {460, 1, 1, PTE_RULE_I64, true, false, false} /* key_count */,
  {13, 58, 4, PTE_RULE_F, false, false, false} /* y */,
  {521, 42, 3, PTE_RULE_F, false, true, false} /* gates */,
  {80, 34, 2, PTE_RULE_W, false, false, false} /* w */,
  {527, 62, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {534, 62, 2, PTE_RULE_F, true, false, false} /* cell */,
  {539, 47, 1, PTE_RULE_F, true, false, false} /* peephole */,
  {274, 8, 1, PTE_RULE_I64, true, false, false} /* count */,
  {221, 64, 3, PTE_RULE_F, false, false, false} /* y0 */,
  {224, 62, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {329, 62, 2, PTE_RULE_F, true, false, false} /* y2 */,
  {521, 42, 3, PTE_RULE_F, false, true, false} /* gates */,
  {80, 34, 2, PTE_RULE_W, false, false, false} /* w */,
  {324, 22, 1, PTE_RULE_F, true, false, false} /* bias */,
  {527, 62, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {274, 8, 1, PTE_RULE_I64, true, false, false} /* count */,
  {521, 42, 3, PTE_RULE_F, false, true, false} /* gates */,
  {80, 33, 2, PTE_RULE_W, false, false, false} /* w */,
  {527, 21, 2, PTE_RULE_F, true, false, false} /* hidden */,
  {274, 8, 1, PTE_RULE_I64, true, false, false} /* count */,
  {221, 42, 3, PTE_RULE_F, false, false, false} /* y0 */,
  {224, 21, 2, PTE_RULE_F, true, false, false} /* y1 */,
  {221, 39, 3, PTE_RULE_F, false, false, false} /* y0 */,
  {224, 39, 3, PTE_RULE_I64, true, false, false} /* y1 */,
  {13, 39, 3, PTE_RULE_F, false, false, false} /* y */,
  {26, 19, 3, PTE_RULE_F, false, false, false} /* x */,
  {783, 36, 3, PTE_RULE_F, false, false, false} /* grid */,
  {830, 67, 3, PTE_RULE_F, false, false, false} /* boxes */,
  {836, 58, 3, PTE_RULE_F, false, false, false} /* scores */,
  {843, 0, 0, PTE_RULE_I64, true, false, false} /* limit */,
  {849, 0, 0, PTE_RULE_F, true, false, false} /* overlap */,
  {857, 0, 0, PTE_RULE_F, true, false, false} /* threshold */,
  {13, 70, 2, PTE_RULE_I64, false, false, false} /* y */,
  {889, 0, 0, PTE_RULE_BOOL, false, false, false} /* condition */,
  {13, 72, 1, PTE_RULE_A, false, false, false} /* y */,
  {926, 0, 0, PTE_RULE_I64, true, false, false} /* trips */,
  {889, 0, 0, PTE_RULE_BOOL, true, false, false} /* condition */,
  {932, 72, 1, PTE_RULE_A, false, false, false} /* carried */,
  {10, 72, 1, PTE_RULE_A, false, false, false} /* xs */,
  {13, 0, 1, PTE_RULE_A, false, false, false} /* y */,
};

const pte_op_attr pte_op_attrs[] = {
  {15, 4, 7, 0, true} /* steps */,
  {33, 4, 6, 0, true} /* values */,
  {44, 4, 6, 0, true} /* begin */,
  {50, 12, 3, 3, true} /* mode */,
  {108, 8, 0, 0, false} /* batch_dims */,
  {144, 4, 3, 5, false} /* reduction */,
  {199, 4, 2, 0, false} /* circular */,
  {227, 4, 2, 0, false} /* largest */,
  {244, 4, 3, 2, false} /* kind */,
  {249, 8, 2, 0, false} /* exclusive */,
  {259, 12, 2, 0, false} /* reverse */,
  {244, 4, 3, 5, true} /* kind */,
  {274, 8, 0, 0, true} /* count */,
  {244, 4, 3, 2, true} /* kind */,
  {291, 8, 2, 0, false} /* last */,
  {304, 4, 2, 0, false} /* log */,
  {274, 8, 0, 0, true} /* count */,
  {332, 16, 1, 0, false} /* epsilon */,
  {15, 4, 7, 0, false} /* steps */,
  {383, 4, 4, 0, true} /* kernel */,
  {390, 12, 4, 0, true} /* stride */,
  {397, 20, 4, 0, true} /* dilation */,
  {44, 28, 4, 0, true} /* begin */,
  {406, 36, 4, 0, true} /* end */,
  {410, 44, 4, 0, true} /* spread */,
  {417, 56, 0, 0, false} /* groups */,
  {15, 64, 7, 0, false} /* steps */,
  {383, 4, 4, 0, true} /* kernel */,
  {390, 12, 4, 0, true} /* stride */,
  {397, 20, 4, 0, true} /* dilation */,
  {44, 28, 4, 0, true} /* begin */,
  {406, 36, 4, 0, true} /* end */,
  {15, 44, 7, 0, false} /* steps */,
  {470, 8, 1, 0, true} /* scale */,
  {476, 16, 3, 3, false} /* causal */,
  {483, 24, 1, 0, false} /* softcap */,
  {491, 32, 0, 0, false} /* left_window */,
  {503, 40, 0, 0, false} /* right_window */,
  {548, 4, 4, 0, true} /* activations */,
  {560, 16, 1, 0, false} /* clip */,
  {565, 24, 2, 0, false} /* input_forget */,
  {259, 28, 2, 0, false} /* reverse */,
  {548, 4, 4, 0, true} /* activations */,
  {560, 16, 1, 0, false} /* clip */,
  {582, 24, 2, 0, false} /* linear_before_reset */,
  {259, 28, 2, 0, false} /* reverse */,
  {548, 4, 4, 0, true} /* activations */,
  {560, 16, 1, 0, false} /* clip */,
  {259, 24, 2, 0, false} /* reverse */,
  {383, 4, 4, 0, true} /* kernel */,
  {390, 12, 4, 0, true} /* stride */,
  {397, 20, 4, 0, true} /* dilation */,
  {44, 28, 4, 0, true} /* begin */,
  {630, 36, 2, 0, false} /* channel_major */,
  {644, 40, 2, 0, false} /* column_major */,
  {383, 4, 4, 0, true} /* kernel */,
  {390, 12, 4, 0, true} /* stride */,
  {397, 20, 4, 0, true} /* dilation */,
  {44, 28, 4, 0, true} /* begin */,
  {406, 36, 4, 0, true} /* end */,
  {670, 44, 2, 0, false} /* count_padding */,
  {691, 4, 5, 0, false} /* scales */,
  {50, 12, 3, 3, false} /* mode */,
  {698, 16, 3, 6, false} /* coordinates */,
  {710, 20, 3, 4, false} /* nearest */,
  {718, 24, 1, 0, false} /* cubic */,
  {724, 32, 2, 0, false} /* exclude_outside */,
  {740, 36, 2, 0, false} /* antialias */,
  {750, 40, 1, 0, false} /* extrapolation */,
  {764, 48, 5, 0, false} /* region */,
  {50, 4, 3, 3, false} /* mode */,
  {788, 8, 3, 3, false} /* padding */,
  {796, 12, 2, 0, false} /* align_corners */,
  {867, 4, 2, 0, false} /* center */,
  {899, 4, 8, 0, true} /* then_block */,
  {910, 8, 8, 0, true} /* else_block */,
  {940, 4, 8, 0, true} /* body */,
  {62, 8, 0, 0, true} /* index */,
  {973, 4, 2, 0, false} /* saturate */,
};

const char pte_op_texts[] =
  "pointwise\0" /* 0 */
  "xs\0" /* 10 */
  "y\0" /* 13 */
  "steps\0" /* 15 */
  "copy\0" /* 21 */
  "x\0" /* 26 */
  "dims\0" /* 28 */
  "values\0" /* 33 */
  "pad\0" /* 40 */
  "begin\0" /* 44 */
  "mode\0" /* 50 */
  "gather\0" /* 55 */
  "index\0" /* 62 */
  "gather_rows\0" /* 68 */
  "w\0" /* 80 */
  "gather_elements\0" /* 82 */
  "gather_nd\0" /* 98 */
  "batch_dims\0" /* 108 */
  "scatter_elements\0" /* 119 */
  "updates\0" /* 136 */
  "reduction\0" /* 144 */
  "scatter_nd\0" /* 154 */
  "tensor_scatter\0" /* 165 */
  "cache\0" /* 180 */
  "update\0" /* 186 */
  "start\0" /* 193 */
  "circular\0" /* 199 */
  "nonzero\0" /* 208 */
  "topk\0" /* 216 */
  "y0\0" /* 221 */
  "y1\0" /* 224 */
  "largest\0" /* 227 */
  "cumulate\0" /* 235 */
  "kind\0" /* 244 */
  "exclusive\0" /* 249 */
  "reverse\0" /* 259 */
  "reduce\0" /* 267 */
  "count\0" /* 274 */
  "arg_reduce\0" /* 280 */
  "last\0" /* 291 */
  "softmax\0" /* 296 */
  "log\0" /* 304 */
  "layer_norm\0" /* 308 */
  "gain\0" /* 319 */
  "bias\0" /* 324 */
  "y2\0" /* 329 */
  "epsilon\0" /* 332 */
  "rms_norm\0" /* 340 */
  "matmul\0" /* 349 */
  "batch_matmul\0" /* 356 */
  "a\0" /* 369 */
  "b\0" /* 371 */
  "pack\0" /* 373 */
  "conv\0" /* 378 */
  "kernel\0" /* 383 */
  "stride\0" /* 390 */
  "dilation\0" /* 397 */
  "end\0" /* 406 */
  "spread\0" /* 410 */
  "groups\0" /* 417 */
  "conv_depthwise\0" /* 424 */
  "attention\0" /* 439 */
  "q\0" /* 449 */
  "k\0" /* 451 */
  "v\0" /* 453 */
  "mask\0" /* 455 */
  "key_count\0" /* 460 */
  "scale\0" /* 470 */
  "causal\0" /* 476 */
  "softcap\0" /* 483 */
  "left_window\0" /* 491 */
  "right_window\0" /* 503 */
  "lstm\0" /* 516 */
  "gates\0" /* 521 */
  "hidden\0" /* 527 */
  "cell\0" /* 534 */
  "peephole\0" /* 539 */
  "activations\0" /* 548 */
  "clip\0" /* 560 */
  "input_forget\0" /* 565 */
  "gru\0" /* 578 */
  "linear_before_reset\0" /* 582 */
  "rnn\0" /* 602 */
  "matmul_integer\0" /* 606 */
  "max_pool\0" /* 621 */
  "channel_major\0" /* 630 */
  "column_major\0" /* 644 */
  "average_pool\0" /* 657 */
  "count_padding\0" /* 670 */
  "resize\0" /* 684 */
  "scales\0" /* 691 */
  "coordinates\0" /* 698 */
  "nearest\0" /* 710 */
  "cubic\0" /* 718 */
  "exclude_outside\0" /* 724 */
  "antialias\0" /* 740 */
  "extrapolation\0" /* 750 */
  "region\0" /* 764 */
  "grid_sample\0" /* 771 */
  "grid\0" /* 783 */
  "padding\0" /* 788 */
  "align_corners\0" /* 796 */
  "non_max_suppression\0" /* 810 */
  "boxes\0" /* 830 */
  "scores\0" /* 836 */
  "limit\0" /* 843 */
  "overlap\0" /* 849 */
  "threshold\0" /* 857 */
  "center\0" /* 867 */
  "matmul_int8\0" /* 874 */
  "if\0" /* 886 */
  "condition\0" /* 889 */
  "then_block\0" /* 899 */
  "else_block\0" /* 910 */
  "loop\0" /* 921 */
  "trips\0" /* 926 */
  "carried\0" /* 932 */
  "body\0" /* 940 */
  "call\0" /* 945 */
  "delegate\0" /* 950 */
  "unpack\0" /* 959 */
  "repack\0" /* 966 */
  "saturate\0" /* 973 */
  ;

const pte_op_row pte_op_rows[] = {
  {KERNEL_pointwise, 0, offsetof(all_defaults, pointwise_), 1u << PTE_F32, 1, 24, 0, 1, 0, 1, 1, 1, true, true, false, false, false},
  {KERNEL_copy, 21, offsetof(all_defaults, copy_), 1u << PTE_F32, 2, 8, 2, 3, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_dims, 28, offsetof(all_defaults, dims_), 1u << PTE_F32, 3, 16, 0, 4, 1, 0, 1, 1, false, false, false, false, false},
  {KERNEL_pad, 40, offsetof(all_defaults, pad_), 1u << PTE_F32, 4, 16, 5, 6, 2, 1, 1, 2, false, false, false, false, false},
  {KERNEL_gather, 55, offsetof(all_defaults, gather_), 1u << PTE_F32, 5, 8, 7, 9, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_rows, 68, offsetof(all_defaults, gather_rows_), 1u << PTE_F32, 6, 8, 10, 12, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_elements, 82, offsetof(all_defaults, gather_elements_), 1u << PTE_F32, 7, 8, 13, 6, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_gather_nd, 98, offsetof(all_defaults, gather_nd_), 1u << PTE_F32, 8, 16, 15, 17, 4, 2, 1, 1, false, false, false, true, false},
  {KERNEL_scatter_elements, 119, offsetof(all_defaults, scatter_elements_), 1u << PTE_F32, 9, 8, 18, 21, 5, 3, 1, 1, false, false, false, true, false},
  {KERNEL_scatter_nd, 154, offsetof(all_defaults, scatter_nd_), 1u << PTE_F32, 10, 8, 22, 21, 5, 3, 1, 1, false, false, false, true, false},
  {KERNEL_tensor_scatter, 165, offsetof(all_defaults, tensor_scatter_), 1u << PTE_F32, 11, 8, 25, 28, 6, 3, 1, 1, false, false, false, true, false},
  {KERNEL_nonzero, 208, offsetof(all_defaults, nonzero_), 1u << PTE_F32, 12, 8, 29, 30, 0, 1, 1, 0, false, false, false, true, true},
  {KERNEL_topk, 216, offsetof(all_defaults, topk_), 1u << PTE_F32 | 1u << PTE_I64, 13, 8, 31, 32, 7, 1, 2, 1, false, false, false, true, false},
  {KERNEL_cumulate, 235, offsetof(all_defaults, cumulate_), 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 16, 34, 35, 8, 1, 1, 3, false, false, false, true, false},
  {KERNEL_reduce, 267, offsetof(all_defaults, reduce_), 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 16, 36, 37, 11, 1, 1, 2, false, false, false, false, false},
  {KERNEL_arg_reduce, 280, offsetof(all_defaults, arg_reduce_), 1u << PTE_F32 | 1u << PTE_I64, 21, 16, 31, 38, 13, 1, 1, 2, false, false, false, false, false},
  {KERNEL_softmax, 296, offsetof(all_defaults, softmax_), 1u << PTE_F32, 22, 8, 34, 35, 15, 1, 1, 1, false, false, false, true, false},
  {KERNEL_layer_norm, 308, offsetof(all_defaults, layer_norm_), 1u << PTE_F32, 23, 24, 39, 42, 16, 3, 3, 2, false, false, false, false, false},
  {KERNEL_rms_norm, 340, offsetof(all_defaults, rms_norm_), 1u << PTE_F32, 24, 24, 39, 45, 16, 2, 1, 2, false, false, false, false, false},
  {KERNEL_matmul, 349, offsetof(all_defaults, matmul_), 1u << PTE_F32, 30, 24, 46, 50, 18, 4, 1, 1, true, false, false, true, false},
  {KERNEL_batch_matmul, 356, offsetof(all_defaults, batch_matmul_), 1u << PTE_F32, 31, 8, 51, 53, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_pack, 373, offsetof(all_defaults, pack_), 1u << PTE_F32, 32, 8, 54, 55, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_conv, 378, offsetof(all_defaults, conv_), 1u << PTE_F32, 33, 80, 56, 60, 19, 4, 1, 8, true, false, false, false, false},
  {KERNEL_conv_depthwise, 424, offsetof(all_defaults, conv_depthwise_), 1u << PTE_F32, 34, 64, 61, 65, 27, 4, 1, 6, true, false, false, false, false},
  {KERNEL_attention, 439, offsetof(all_defaults, attention_), 1u << PTE_F32, 35, 48, 66, 71, 33, 5, 1, 5, false, false, false, false, false},
  {KERNEL_lstm, 516, offsetof(all_defaults, lstm_), 1u << PTE_F32, 36, 32, 72, 78, 38, 6, 3, 4, false, false, false, false, false},
  {KERNEL_gru, 578, offsetof(all_defaults, gru_), 1u << PTE_F32, 37, 32, 81, 78, 42, 5, 2, 4, false, false, false, false, false},
  {KERNEL_rnn, 602, offsetof(all_defaults, rnn_), 1u << PTE_F32, 38, 32, 86, 90, 46, 4, 2, 3, false, false, false, false, false},
  {KERNEL_matmul_integer, 606, offsetof(all_defaults, matmul_integer_), 1u << PTE_I64, 39, 8, 51, 53, 0, 2, 1, 0, false, false, false, true, false},
  {KERNEL_max_pool, 621, offsetof(all_defaults, max_pool_), 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 40, 48, 56, 92, 49, 1, 2, 6, false, false, false, false, false},
  {KERNEL_average_pool, 657, offsetof(all_defaults, average_pool_), 1u << PTE_F32, 41, 48, 56, 94, 55, 1, 1, 6, false, false, false, false, false},
  {KERNEL_resize, 684, offsetof(all_defaults, resize_), 1u << PTE_F32, 42, 56, 56, 94, 61, 1, 1, 9, false, false, false, true, false},
  {KERNEL_grid_sample, 771, offsetof(all_defaults, grid_sample_), 1u << PTE_F32, 43, 16, 95, 94, 70, 2, 1, 3, false, false, false, true, false},
  {KERNEL_non_max_suppression, 810, offsetof(all_defaults, non_max_suppression_), 1u << PTE_F32, 44, 8, 97, 102, 73, 5, 1, 1, false, false, false, true, true},
  {KERNEL_matmul_int8, 874, offsetof(all_defaults, matmul_int8_), 1u << PTE_F32, 45, 24, 46, 12, 18, 4, 1, 1, true, false, false, true, false},
  {NULL, 886, offsetof(all_defaults, if_), 1u << PTE_F32, 60, 16, 103, 104, 74, 1, 1, 2, false, true, true, false, false},
  {NULL, 921, offsetof(all_defaults, loop_), 1u << PTE_F32, 61, 8, 105, 104, 76, 3, 1, 1, true, true, true, false, false},
  {NULL, 945, offsetof(all_defaults, call_), 1u << PTE_F32, 62, 8, 108, 104, 76, 1, 1, 1, true, true, true, false, false},
  {NULL, 950, offsetof(all_defaults, delegate_), 1u << PTE_F32, 63, 16, 108, 104, 77, 1, 1, 1, true, true, true, false, false},
  {KERNEL_unpack, 959, offsetof(all_defaults, unpack_), 1u << PTE_F32, 70, 8, 29, 109, 0, 1, 1, 0, false, false, false, true, false},
  {KERNEL_repack, 966, offsetof(all_defaults, repack_), 1u << PTE_F32, 71, 8, 29, 109, 78, 1, 1, 1, false, false, false, true, false},
};

const uint32_t pte_op_row_count = 41;

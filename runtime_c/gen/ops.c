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

static const pte_pointwise_attrs pointwise_defaults = {.size = 24};
static const pte_op_attr pointwise_attrs[] = {
  {"steps", 4, 7, true, 0},
};
static const pte_shape_term pointwise_in0[] = {{1, 0, 0, 0}};
static const pte_op_port pointwise_in[] = {
  {"xs", pointwise_in0, 1, PTE_RULE_A, false, true, true},
};
static const pte_shape_term pointwise_out0[] = {{1, 0, 0, 0}};
static const pte_op_port pointwise_out[] = {
  {"y", pointwise_out0, 1, PTE_RULE_A, false, true, false},
};

static const pte_copy_attrs copy_defaults = {.size = 8};
static const pte_shape_term copy_in0[] = {{1, 0, 0, 0}};
static const pte_op_port copy_in[] = {
  {"x", copy_in0, 1, PTE_RULE_T, false, true, false},
};
static const pte_shape_term copy_out0[] = {{1, 0, 0, 0}};
static const pte_op_port copy_out[] = {
  {"y", copy_out0, 1, PTE_RULE_T, false, true, false},
};

static const pte_dims_attrs dims_defaults = {.size = 16};
static const pte_op_attr dims_attrs[] = {
  {"values", 4, 6, true, 0},
};
static const pte_shape_term dims_out0[] = {{0, 0, 0, 0}};
static const pte_op_port dims_out[] = {
  {"y", dims_out0, 1, PTE_RULE_I64, false, false, false},
};

static const pte_pad_attrs pad_defaults = {.size = 16};
static const pte_op_attr pad_attrs[] = {
  {"begin", 4, 6, true, 0},
  {"mode", 12, 3, true, 3},
};
static const pte_shape_term pad_in0[] = {{1, 0, 0, 0}};
static const pte_op_port pad_in[] = {
  {"x", pad_in0, 1, PTE_RULE_T, false, false, false},
};
static const pte_shape_term pad_out0[] = {{1, 1, 0, 0}};
static const pte_op_port pad_out[] = {
  {"y", pad_out0, 1, PTE_RULE_T, false, false, false},
};

static const pte_gather_attrs gather_defaults = {.size = 8};
static const pte_shape_term gather_in0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}};
static const pte_shape_term gather_in1[] = {{1, 1, 0, 0}};
static const pte_op_port gather_in[] = {
  {"x", gather_in0, 2, PTE_RULE_T, false, true, false},
  {"index", gather_in1, 1, PTE_RULE_I64, false, false, false},
};
static const pte_shape_term gather_out0[] = {{1, 1, 0, 0}, {1, 0, 0, 0}};
static const pte_op_port gather_out[] = {
  {"y", gather_out0, 2, PTE_RULE_T, false, false, false},
};

static const pte_gather_rows_attrs gather_rows_defaults = {.size = 8};
static const pte_shape_term gather_rows_in0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_shape_term gather_rows_in1[] = {{1, 0, 0, 0}};
static const pte_op_port gather_rows_in[] = {
  {"w", gather_rows_in0, 2, PTE_RULE_W, false, false, false},
  {"index", gather_rows_in1, 1, PTE_RULE_I64, false, false, false},
};
static const pte_shape_term gather_rows_out0[] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port gather_rows_out[] = {
  {"y", gather_rows_out0, 2, PTE_RULE_F, false, false, false},
};

static const pte_gather_elements_attrs gather_elements_defaults = {.size = 8};
static const pte_shape_term gather_elements_in0[] = {{1, 0, 0, 0}};
static const pte_shape_term gather_elements_in1[] = {{1, 1, 0, 0}};
static const pte_op_port gather_elements_in[] = {
  {"x", gather_elements_in0, 1, PTE_RULE_T, false, true, false},
  {"index", gather_elements_in1, 1, PTE_RULE_I64, false, true, false},
};
static const pte_shape_term gather_elements_out0[] = {{1, 1, 0, 0}};
static const pte_op_port gather_elements_out[] = {
  {"y", gather_elements_out0, 1, PTE_RULE_T, false, false, false},
};

static const pte_gather_nd_attrs gather_nd_defaults = {.size = 16, .batch_dims = 0};
static const pte_op_attr gather_nd_attrs[] = {
  {"batch_dims", 8, 0, false, 0},
};
static const pte_shape_term gather_nd_in0[] = {{1, 0, 8, 0}, {1, 1, 0, 0}};
static const pte_shape_term gather_nd_in1[] = {{1, 0, 8, 0}, {1, 2, 0, 0}, {0, 0, 0, 0}};
static const pte_op_port gather_nd_in[] = {
  {"x", gather_nd_in0, 2, PTE_RULE_T, false, true, false},
  {"index", gather_nd_in1, 3, PTE_RULE_I64, false, false, false},
};
static const pte_shape_term gather_nd_out0[] = {{1, 0, 8, 0}, {1, 2, 0, 0}, {1, 3, 0, 0}};
static const pte_op_port gather_nd_out[] = {
  {"y", gather_nd_out0, 3, PTE_RULE_T, false, false, false},
};

static const pte_scatter_elements_attrs scatter_elements_defaults = {.size = 8, .reduction = 0};
static const pte_op_attr scatter_elements_attrs[] = {
  {"reduction", 4, 3, false, 5},
};
static const pte_shape_term scatter_elements_in0[] = {{1, 0, 0, 0}};
static const pte_shape_term scatter_elements_in1[] = {{1, 1, 0, 0}};
static const pte_shape_term scatter_elements_in2[] = {{1, 1, 0, 0}};
static const pte_op_port scatter_elements_in[] = {
  {"x", scatter_elements_in0, 1, PTE_RULE_T, false, false, true},
  {"index", scatter_elements_in1, 1, PTE_RULE_I64, false, false, false},
  {"updates", scatter_elements_in2, 1, PTE_RULE_T, false, true, false},
};
static const pte_shape_term scatter_elements_out0[] = {{1, 0, 0, 0}};
static const pte_op_port scatter_elements_out[] = {
  {"y", scatter_elements_out0, 1, PTE_RULE_T, false, false, false},
};

static const pte_scatter_nd_attrs scatter_nd_defaults = {.size = 8, .reduction = 0};
static const pte_op_attr scatter_nd_attrs[] = {
  {"reduction", 4, 3, false, 5},
};
static const pte_shape_term scatter_nd_in0[] = {{1, 0, 0, 0}};
static const pte_shape_term scatter_nd_in1[] = {{1, 1, 0, 0}, {0, 0, 0, 0}};
static const pte_shape_term scatter_nd_in2[] = {{1, 2, 0, 0}};
static const pte_op_port scatter_nd_in[] = {
  {"x", scatter_nd_in0, 1, PTE_RULE_T, false, false, true},
  {"index", scatter_nd_in1, 2, PTE_RULE_I64, false, false, false},
  {"updates", scatter_nd_in2, 1, PTE_RULE_T, false, true, false},
};
static const pte_shape_term scatter_nd_out0[] = {{1, 0, 0, 0}};
static const pte_op_port scatter_nd_out[] = {
  {"y", scatter_nd_out0, 1, PTE_RULE_T, false, false, false},
};

static const pte_tensor_scatter_attrs tensor_scatter_defaults = {.size = 8, .circular = 0};
static const pte_op_attr tensor_scatter_attrs[] = {
  {"circular", 4, 2, false, 0},
};
static const pte_shape_term tensor_scatter_in0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term tensor_scatter_in1[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 3, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term tensor_scatter_in2[] = {{0, 0, 0, 0}};
static const pte_op_port tensor_scatter_in[] = {
  {"cache", tensor_scatter_in0, 4, PTE_RULE_T, false, false, true},
  {"update", tensor_scatter_in1, 4, PTE_RULE_T, false, true, false},
  {"start", tensor_scatter_in2, 1, PTE_RULE_I64, true, false, false},
};
static const pte_shape_term tensor_scatter_out0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port tensor_scatter_out[] = {
  {"y", tensor_scatter_out0, 4, PTE_RULE_T, false, false, false},
};

static const pte_nonzero_attrs nonzero_defaults = {.size = 8};
static const pte_shape_term nonzero_in0[] = {{1, 0, 0, 0}};
static const pte_op_port nonzero_in[] = {
  {"x", nonzero_in0, 1, PTE_RULE_A, false, false, false},
};
static const pte_shape_term nonzero_out0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port nonzero_out[] = {
  {"y", nonzero_out0, 2, PTE_RULE_I64, false, false, false},
};

static const pte_topk_attrs topk_defaults = {.size = 8, .largest = 1};
static const pte_op_attr topk_attrs[] = {
  {"largest", 4, 2, false, 0},
};
static const pte_shape_term topk_in0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}};
static const pte_op_port topk_in[] = {
  {"x", topk_in0, 2, PTE_RULE_F, false, true, false},
};
static const pte_shape_term topk_out0[] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_shape_term topk_out1[] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port topk_out[] = {
  {"y0", topk_out0, 2, PTE_RULE_F, false, false, false},
  {"y1", topk_out1, 2, PTE_RULE_I64, false, false, false},
};

static const pte_cumulate_attrs cumulate_defaults = {.size = 16, .kind = 0, .exclusive = 0, .reverse = 0};
static const pte_op_attr cumulate_attrs[] = {
  {"kind", 4, 3, false, 2},
  {"exclusive", 8, 2, false, 0},
  {"reverse", 12, 2, false, 0},
};
static const pte_shape_term cumulate_in0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}};
static const pte_op_port cumulate_in[] = {
  {"x", cumulate_in0, 2, PTE_RULE_F, false, true, true},
};
static const pte_shape_term cumulate_out0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}};
static const pte_op_port cumulate_out[] = {
  {"y", cumulate_out0, 2, PTE_RULE_F, false, false, false},
};

static const pte_reduce_attrs reduce_defaults = {.size = 16};
static const pte_op_attr reduce_attrs[] = {
  {"kind", 4, 3, true, 5},
  {"count", 8, 0, true, 0},
};
static const pte_shape_term reduce_in0[] = {{1, 0, 0, 0}, {1, 1, 8, 0}};
static const pte_op_port reduce_in[] = {
  {"x", reduce_in0, 2, PTE_RULE_F, false, true, false},
};
static const pte_shape_term reduce_out0[] = {{1, 0, 0, 0}};
static const pte_op_port reduce_out[] = {
  {"y", reduce_out0, 1, PTE_RULE_F, false, false, false},
};

static const pte_arg_reduce_attrs arg_reduce_defaults = {.size = 16, .last = 0};
static const pte_op_attr arg_reduce_attrs[] = {
  {"kind", 4, 3, true, 2},
  {"last", 8, 2, false, 0},
};
static const pte_shape_term arg_reduce_in0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}};
static const pte_op_port arg_reduce_in[] = {
  {"x", arg_reduce_in0, 2, PTE_RULE_F, false, true, false},
};
static const pte_shape_term arg_reduce_out0[] = {{1, 0, 0, 0}};
static const pte_op_port arg_reduce_out[] = {
  {"y", arg_reduce_out0, 1, PTE_RULE_I64, false, false, false},
};

static const pte_softmax_attrs softmax_defaults = {.size = 8, .log = 0};
static const pte_op_attr softmax_attrs[] = {
  {"log", 4, 2, false, 0},
};
static const pte_shape_term softmax_in0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}};
static const pte_op_port softmax_in[] = {
  {"x", softmax_in0, 2, PTE_RULE_F, false, true, true},
};
static const pte_shape_term softmax_out0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}};
static const pte_op_port softmax_out[] = {
  {"y", softmax_out0, 2, PTE_RULE_F, false, false, false},
};

static const pte_layer_norm_attrs layer_norm_defaults = {.size = 24, .epsilon = 1e-05};
static const pte_op_attr layer_norm_attrs[] = {
  {"count", 8, 0, true, 0},
  {"epsilon", 16, 1, false, 0},
};
static const pte_shape_term layer_norm_in0[] = {{1, 0, 0, 0}, {1, 1, 8, 0}};
static const pte_shape_term layer_norm_in1[] = {{1, 1, 0, 0}};
static const pte_shape_term layer_norm_in2[] = {{1, 1, 0, 0}};
static const pte_op_port layer_norm_in[] = {
  {"x", layer_norm_in0, 2, PTE_RULE_F, false, false, true},
  {"gain", layer_norm_in1, 1, PTE_RULE_F, true, false, false},
  {"bias", layer_norm_in2, 1, PTE_RULE_F, true, false, false},
};
static const pte_shape_term layer_norm_out0[] = {{1, 0, 0, 0}, {1, 1, 0, 0}};
static const pte_shape_term layer_norm_out1[] = {{1, 0, 0, 0}};
static const pte_shape_term layer_norm_out2[] = {{1, 0, 0, 0}};
static const pte_op_port layer_norm_out[] = {
  {"y0", layer_norm_out0, 2, PTE_RULE_F, false, false, false},
  {"y1", layer_norm_out1, 1, PTE_RULE_F, true, false, false},
  {"y2", layer_norm_out2, 1, PTE_RULE_F, true, false, false},
};

static const pte_rms_norm_attrs rms_norm_defaults = {.size = 24, .epsilon = 1e-05};
static const pte_op_attr rms_norm_attrs[] = {
  {"count", 8, 0, true, 0},
  {"epsilon", 16, 1, false, 0},
};
static const pte_shape_term rms_norm_in0[] = {{1, 0, 0, 0}, {1, 1, 8, 0}};
static const pte_shape_term rms_norm_in1[] = {{1, 1, 0, 0}};
static const pte_op_port rms_norm_in[] = {
  {"x", rms_norm_in0, 2, PTE_RULE_F, false, false, true},
  {"gain", rms_norm_in1, 1, PTE_RULE_F, true, false, false},
};
static const pte_shape_term rms_norm_out0[] = {{1, 0, 0, 0}, {1, 1, 0, 0}};
static const pte_op_port rms_norm_out[] = {
  {"y", rms_norm_out0, 2, PTE_RULE_F, false, false, false},
};

static const pte_matmul_attrs matmul_defaults = {.size = 24, .steps = {{0, 0}, {0, 0}}};
static const pte_op_attr matmul_attrs[] = {
  {"steps", 4, 7, false, 0},
};
static const pte_shape_term matmul_in0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}};
static const pte_shape_term matmul_in1[] = {{0, 1, 0, 0}, {0, 0, 0, 0}};
static const pte_shape_term matmul_in2[] = {{0, 1, 0, 0}};
static const pte_shape_term matmul_in3[] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port matmul_in[] = {
  {"x", matmul_in0, 2, PTE_RULE_F, false, false, false},
  {"w", matmul_in1, 2, PTE_RULE_W, false, false, false},
  {"bias", matmul_in2, 1, PTE_RULE_F, true, false, false},
  {"xs", matmul_in3, 2, PTE_RULE_A, false, true, false},
};
static const pte_shape_term matmul_out0[] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port matmul_out[] = {
  {"y", matmul_out0, 2, PTE_RULE_F, false, true, false},
};

static const pte_batch_matmul_attrs batch_matmul_defaults = {.size = 8};
static const pte_shape_term batch_matmul_in0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_shape_term batch_matmul_in1[] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port batch_matmul_in[] = {
  {"a", batch_matmul_in0, 3, PTE_RULE_F, false, true, false},
  {"b", batch_matmul_in1, 3, PTE_RULE_F, false, true, false},
};
static const pte_shape_term batch_matmul_out0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port batch_matmul_out[] = {
  {"y", batch_matmul_out0, 3, PTE_RULE_F, false, false, false},
};

static const pte_pack_attrs pack_defaults = {.size = 8};
static const pte_shape_term pack_in0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port pack_in[] = {
  {"w", pack_in0, 2, PTE_RULE_F, false, true, false},
};
static const pte_shape_term pack_out0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port pack_out[] = {
  {"y", pack_out0, 2, PTE_RULE_W, false, false, false},
};

static const pte_conv_attrs conv_defaults = {.size = 80, .groups = 1, .steps = {{0, 0}, {0, 0}}};
static const pte_op_attr conv_attrs[] = {
  {"kernel", 4, 4, true, 0},
  {"stride", 12, 4, true, 0},
  {"dilation", 20, 4, true, 0},
  {"begin", 28, 4, true, 0},
  {"end", 36, 4, true, 0},
  {"spread", 44, 4, true, 0},
  {"groups", 56, 0, false, 0},
  {"steps", 64, 7, false, 0},
};
static const pte_shape_term conv_in0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_shape_term conv_in1[] = {{0, 2, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term conv_in2[] = {{0, 2, 0, 0}};
static const pte_shape_term conv_in3[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port conv_in[] = {
  {"x", conv_in0, 3, PTE_RULE_F, false, false, false},
  {"w", conv_in1, 2, PTE_RULE_W, false, false, false},
  {"bias", conv_in2, 1, PTE_RULE_F, true, false, false},
  {"xs", conv_in3, 3, PTE_RULE_A, false, true, false},
};
static const pte_shape_term conv_out0[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port conv_out[] = {
  {"y", conv_out0, 3, PTE_RULE_F, false, true, false},
};

static const pte_conv_depthwise_attrs conv_depthwise_defaults = {.size = 64, .steps = {{0, 0}, {0, 0}}};
static const pte_op_attr conv_depthwise_attrs[] = {
  {"kernel", 4, 4, true, 0},
  {"stride", 12, 4, true, 0},
  {"dilation", 20, 4, true, 0},
  {"begin", 28, 4, true, 0},
  {"end", 36, 4, true, 0},
  {"steps", 44, 7, false, 0},
};
static const pte_shape_term conv_depthwise_in0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_shape_term conv_depthwise_in1[] = {{0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term conv_depthwise_in2[] = {{0, 1, 0, 0}};
static const pte_shape_term conv_depthwise_in3[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port conv_depthwise_in[] = {
  {"x", conv_depthwise_in0, 3, PTE_RULE_F, false, false, false},
  {"w", conv_depthwise_in1, 2, PTE_RULE_TAPS, false, false, false},
  {"bias", conv_depthwise_in2, 1, PTE_RULE_F, true, false, false},
  {"xs", conv_depthwise_in3, 3, PTE_RULE_A, false, true, false},
};
static const pte_shape_term conv_depthwise_out0[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port conv_depthwise_out[] = {
  {"y", conv_depthwise_out0, 3, PTE_RULE_F, false, true, false},
};

static const pte_attention_attrs attention_defaults = {.size = 48, .causal = 0, .softcap = 0.0, .left_window = -1, .right_window = -1};
static const pte_op_attr attention_attrs[] = {
  {"scale", 8, 1, true, 0},
  {"causal", 16, 3, false, 3},
  {"softcap", 24, 1, false, 0},
  {"left_window", 32, 0, false, 0},
  {"right_window", 40, 0, false, 0},
};
static const pte_shape_term attention_in0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term attention_in1[] = {{0, 0, 0, 0}, {0, 4, 0, 0}, {0, 5, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term attention_in2[] = {{0, 0, 0, 0}, {0, 4, 0, 0}, {0, 5, 0, 0}, {0, 6, 0, 0}};
static const pte_shape_term attention_in3[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}, {0, 5, 0, 0}};
static const pte_shape_term attention_in4[] = {{0, 0, 0, 0}};
static const pte_op_port attention_in[] = {
  {"q", attention_in0, 4, PTE_RULE_F, false, true, false},
  {"k", attention_in1, 4, PTE_RULE_F, false, true, false},
  {"v", attention_in2, 4, PTE_RULE_F, false, true, false},
  {"mask", attention_in3, 4, PTE_RULE_A, true, true, false},
  {"key_count", attention_in4, 1, PTE_RULE_I64, true, false, false},
};
static const pte_shape_term attention_out0[] = {{0, 0, 0, 0}, {0, 2, 0, 0}, {0, 1, 0, 0}, {0, 6, 0, 0}};
static const pte_op_port attention_out[] = {
  {"y", attention_out0, 4, PTE_RULE_F, false, false, false},
};

static const pte_lstm_attrs lstm_defaults = {.size = 32, .clip = 0.0, .input_forget = 0, .reverse = 0};
static const pte_op_attr lstm_attrs[] = {
  {"activations", 4, 4, true, 0},
  {"clip", 16, 1, false, 0},
  {"input_forget", 24, 2, false, 0},
  {"reverse", 28, 2, false, 0},
};
static const pte_shape_term lstm_in0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term lstm_in1[] = {{0, 2, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term lstm_in2[] = {{0, 1, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term lstm_in3[] = {{0, 1, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term lstm_in4[] = {{0, 4, 0, 0}};
static const pte_shape_term lstm_in5[] = {{0, 1, 0, 0}};
static const pte_op_port lstm_in[] = {
  {"gates", lstm_in0, 3, PTE_RULE_F, false, true, false},
  {"w", lstm_in1, 2, PTE_RULE_W, false, false, false},
  {"hidden", lstm_in2, 2, PTE_RULE_F, true, false, false},
  {"cell", lstm_in3, 2, PTE_RULE_F, true, false, false},
  {"peephole", lstm_in4, 1, PTE_RULE_F, true, false, false},
  {"count", lstm_in5, 1, PTE_RULE_I64, true, false, false},
};
static const pte_shape_term lstm_out0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term lstm_out1[] = {{0, 1, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term lstm_out2[] = {{0, 1, 0, 0}, {0, 3, 0, 0}};
static const pte_op_port lstm_out[] = {
  {"y0", lstm_out0, 3, PTE_RULE_F, false, false, false},
  {"y1", lstm_out1, 2, PTE_RULE_F, true, false, false},
  {"y2", lstm_out2, 2, PTE_RULE_F, true, false, false},
};

static const pte_gru_attrs gru_defaults = {.size = 32, .clip = 0.0, .linear_before_reset = 0, .reverse = 0};
static const pte_op_attr gru_attrs[] = {
  {"activations", 4, 4, true, 0},
  {"clip", 16, 1, false, 0},
  {"linear_before_reset", 24, 2, false, 0},
  {"reverse", 28, 2, false, 0},
};
static const pte_shape_term gru_in0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term gru_in1[] = {{0, 2, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term gru_in2[] = {{0, 2, 0, 0}};
static const pte_shape_term gru_in3[] = {{0, 1, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term gru_in4[] = {{0, 1, 0, 0}};
static const pte_op_port gru_in[] = {
  {"gates", gru_in0, 3, PTE_RULE_F, false, true, false},
  {"w", gru_in1, 2, PTE_RULE_W, false, false, false},
  {"bias", gru_in2, 1, PTE_RULE_F, true, false, false},
  {"hidden", gru_in3, 2, PTE_RULE_F, true, false, false},
  {"count", gru_in4, 1, PTE_RULE_I64, true, false, false},
};
static const pte_shape_term gru_out0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 3, 0, 0}};
static const pte_shape_term gru_out1[] = {{0, 1, 0, 0}, {0, 3, 0, 0}};
static const pte_op_port gru_out[] = {
  {"y0", gru_out0, 3, PTE_RULE_F, false, false, false},
  {"y1", gru_out1, 2, PTE_RULE_F, true, false, false},
};

static const pte_rnn_attrs rnn_defaults = {.size = 32, .clip = 0.0, .reverse = 0};
static const pte_op_attr rnn_attrs[] = {
  {"activations", 4, 4, true, 0},
  {"clip", 16, 1, false, 0},
  {"reverse", 24, 2, false, 0},
};
static const pte_shape_term rnn_in0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term rnn_in1[] = {{0, 2, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term rnn_in2[] = {{0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term rnn_in3[] = {{0, 1, 0, 0}};
static const pte_op_port rnn_in[] = {
  {"gates", rnn_in0, 3, PTE_RULE_F, false, true, false},
  {"w", rnn_in1, 2, PTE_RULE_W, false, false, false},
  {"hidden", rnn_in2, 2, PTE_RULE_F, true, false, false},
  {"count", rnn_in3, 1, PTE_RULE_I64, true, false, false},
};
static const pte_shape_term rnn_out0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_shape_term rnn_out1[] = {{0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port rnn_out[] = {
  {"y0", rnn_out0, 3, PTE_RULE_F, false, false, false},
  {"y1", rnn_out1, 2, PTE_RULE_F, true, false, false},
};

static const pte_matmul_integer_attrs matmul_integer_defaults = {.size = 8};
static const pte_shape_term matmul_integer_in0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_shape_term matmul_integer_in1[] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port matmul_integer_in[] = {
  {"a", matmul_integer_in0, 3, PTE_RULE_F, false, true, false},
  {"b", matmul_integer_in1, 3, PTE_RULE_F, false, true, false},
};
static const pte_shape_term matmul_integer_out0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port matmul_integer_out[] = {
  {"y", matmul_integer_out0, 3, PTE_RULE_F, false, false, false},
};

static const pte_matmul_int8_attrs matmul_int8_defaults = {.size = 24, .steps = {{0, 0}, {0, 0}}};
static const pte_op_attr matmul_int8_attrs[] = {
  {"steps", 4, 7, false, 0},
};
static const pte_shape_term matmul_int8_in0[] = {{1, 0, 0, 0}, {0, 0, 0, 0}};
static const pte_shape_term matmul_int8_in1[] = {{0, 1, 0, 0}, {0, 0, 0, 0}};
static const pte_shape_term matmul_int8_in2[] = {{0, 1, 0, 0}};
static const pte_shape_term matmul_int8_in3[] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port matmul_int8_in[] = {
  {"x", matmul_int8_in0, 2, PTE_RULE_F, false, false, false},
  {"w", matmul_int8_in1, 2, PTE_RULE_W, false, false, false},
  {"bias", matmul_int8_in2, 1, PTE_RULE_F, true, false, false},
  {"xs", matmul_int8_in3, 2, PTE_RULE_A, false, true, false},
};
static const pte_shape_term matmul_int8_out0[] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port matmul_int8_out[] = {
  {"y", matmul_int8_out0, 2, PTE_RULE_F, false, false, false},
};

static const pte_max_pool_attrs max_pool_defaults = {.size = 48, .channel_major = 1, .column_major = 0};
static const pte_op_attr max_pool_attrs[] = {
  {"kernel", 4, 4, true, 0},
  {"stride", 12, 4, true, 0},
  {"dilation", 20, 4, true, 0},
  {"begin", 28, 4, true, 0},
  {"channel_major", 36, 2, false, 0},
  {"column_major", 40, 2, false, 0},
};
static const pte_shape_term max_pool_in0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port max_pool_in[] = {
  {"x", max_pool_in0, 3, PTE_RULE_F, false, false, false},
};
static const pte_shape_term max_pool_out0[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}};
static const pte_shape_term max_pool_out1[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port max_pool_out[] = {
  {"y0", max_pool_out0, 3, PTE_RULE_F, false, false, false},
  {"y1", max_pool_out1, 3, PTE_RULE_I64, true, false, false},
};

static const pte_average_pool_attrs average_pool_defaults = {.size = 48, .count_padding = 0};
static const pte_op_attr average_pool_attrs[] = {
  {"kernel", 4, 4, true, 0},
  {"stride", 12, 4, true, 0},
  {"dilation", 20, 4, true, 0},
  {"begin", 28, 4, true, 0},
  {"end", 36, 4, true, 0},
  {"count_padding", 44, 2, false, 0},
};
static const pte_shape_term average_pool_in0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port average_pool_in[] = {
  {"x", average_pool_in0, 3, PTE_RULE_F, false, false, false},
};
static const pte_shape_term average_pool_out0[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port average_pool_out[] = {
  {"y", average_pool_out0, 3, PTE_RULE_F, false, false, false},
};

static const pte_resize_attrs resize_defaults = {.size = 56, .scales = {0, 0}, .mode = 0, .coordinates = 0, .nearest = 0, .cubic = -0.75, .exclude_outside = 0, .antialias = 0, .extrapolation = 0.0, .region = {0, 0}};
static const pte_op_attr resize_attrs[] = {
  {"scales", 4, 5, false, 0},
  {"mode", 12, 3, false, 3},
  {"coordinates", 16, 3, false, 6},
  {"nearest", 20, 3, false, 4},
  {"cubic", 24, 1, false, 0},
  {"exclude_outside", 32, 2, false, 0},
  {"antialias", 36, 2, false, 0},
  {"extrapolation", 40, 1, false, 0},
  {"region", 48, 5, false, 0},
};
static const pte_shape_term resize_in0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port resize_in[] = {
  {"x", resize_in0, 3, PTE_RULE_F, false, false, false},
};
static const pte_shape_term resize_out0[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port resize_out[] = {
  {"y", resize_out0, 3, PTE_RULE_F, false, false, false},
};

static const pte_grid_sample_attrs grid_sample_defaults = {.size = 16, .mode = 0, .padding = 0, .align_corners = 0};
static const pte_op_attr grid_sample_attrs[] = {
  {"mode", 4, 3, false, 3},
  {"padding", 8, 3, false, 3},
  {"align_corners", 12, 2, false, 0},
};
static const pte_shape_term grid_sample_in0[] = {{0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}};
static const pte_shape_term grid_sample_in1[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 2, 0, 0}};
static const pte_op_port grid_sample_in[] = {
  {"x", grid_sample_in0, 3, PTE_RULE_F, false, false, false},
  {"grid", grid_sample_in1, 3, PTE_RULE_F, false, false, false},
};
static const pte_shape_term grid_sample_out0[] = {{0, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port grid_sample_out[] = {
  {"y", grid_sample_out0, 3, PTE_RULE_F, false, false, false},
};

static const pte_non_max_suppression_attrs non_max_suppression_defaults = {.size = 8, .center = 0};
static const pte_op_attr non_max_suppression_attrs[] = {
  {"center", 4, 2, false, 0},
};
static const pte_shape_term non_max_suppression_in0[] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {2, 0, 0, 4}};
static const pte_shape_term non_max_suppression_in1[] = {{0, 0, 0, 0}, {0, 2, 0, 0}, {0, 1, 0, 0}};
static const pte_op_port non_max_suppression_in[] = {
  {"boxes", non_max_suppression_in0, 3, PTE_RULE_F, false, false, false},
  {"scores", non_max_suppression_in1, 3, PTE_RULE_F, false, false, false},
  {"limit", NULL, 0, PTE_RULE_I64, true, false, false},
  {"overlap", NULL, 0, PTE_RULE_F, true, false, false},
  {"threshold", NULL, 0, PTE_RULE_F, true, false, false},
};
static const pte_shape_term non_max_suppression_out0[] = {{0, 3, 0, 0}, {0, 4, 0, 0}};
static const pte_op_port non_max_suppression_out[] = {
  {"y", non_max_suppression_out0, 2, PTE_RULE_I64, false, false, false},
};

static const pte_if_attrs if_defaults = {.size = 16};
static const pte_op_attr if_attrs[] = {
  {"then_block", 4, 8, true, 0},
  {"else_block", 8, 8, true, 0},
};
static const pte_op_port if_in[] = {
  {"condition", NULL, 0, PTE_RULE_BOOL, false, false, false},
};
static const pte_shape_term if_out0[] = {{4, 0, 0, 0}};
static const pte_op_port if_out[] = {
  {"y", if_out0, 1, PTE_RULE_A, false, false, false},
};

static const pte_loop_attrs loop_defaults = {.size = 8};
static const pte_op_attr loop_attrs[] = {
  {"body", 4, 8, true, 0},
};
static const pte_shape_term loop_in2[] = {{4, 0, 0, 0}};
static const pte_op_port loop_in[] = {
  {"trips", NULL, 0, PTE_RULE_I64, true, false, false},
  {"condition", NULL, 0, PTE_RULE_BOOL, true, false, false},
  {"carried", loop_in2, 1, PTE_RULE_A, false, false, false},
};
static const pte_shape_term loop_out0[] = {{4, 0, 0, 0}};
static const pte_op_port loop_out[] = {
  {"y", loop_out0, 1, PTE_RULE_A, false, false, false},
};

static const pte_call_attrs call_defaults = {.size = 8};
static const pte_op_attr call_attrs[] = {
  {"body", 4, 8, true, 0},
};
static const pte_shape_term call_in0[] = {{4, 0, 0, 0}};
static const pte_op_port call_in[] = {
  {"xs", call_in0, 1, PTE_RULE_A, false, false, false},
};
static const pte_shape_term call_out0[] = {{4, 0, 0, 0}};
static const pte_op_port call_out[] = {
  {"y", call_out0, 1, PTE_RULE_A, false, false, false},
};

static const pte_delegate_attrs delegate_defaults = {.size = 16};
static const pte_op_attr delegate_attrs[] = {
  {"index", 8, 0, true, 0},
};
static const pte_shape_term delegate_in0[] = {{4, 0, 0, 0}};
static const pte_op_port delegate_in[] = {
  {"xs", delegate_in0, 1, PTE_RULE_A, false, false, false},
};
static const pte_shape_term delegate_out0[] = {{4, 0, 0, 0}};
static const pte_op_port delegate_out[] = {
  {"y", delegate_out0, 1, PTE_RULE_A, false, false, false},
};

static const pte_unpack_attrs unpack_defaults = {.size = 8};
static const pte_shape_term unpack_in0[] = {{1, 0, 0, 0}};
static const pte_op_port unpack_in[] = {
  {"x", unpack_in0, 1, PTE_RULE_A, false, false, false},
};
static const pte_shape_term unpack_out0[] = {{1, 0, 0, 0}};
static const pte_op_port unpack_out[] = {
  {"y", unpack_out0, 1, PTE_RULE_A, false, false, false},
};

static const pte_repack_attrs repack_defaults = {.size = 8, .saturate = 1};
static const pte_op_attr repack_attrs[] = {
  {"saturate", 4, 2, false, 0},
};
static const pte_shape_term repack_in0[] = {{1, 0, 0, 0}};
static const pte_op_port repack_in[] = {
  {"x", repack_in0, 1, PTE_RULE_A, false, false, false},
};
static const pte_shape_term repack_out0[] = {{1, 0, 0, 0}};
static const pte_op_port repack_out[] = {
  {"y", repack_out0, 1, PTE_RULE_A, false, false, false},
};

const pte_op_row pte_op_rows[] = {
  {"pointwise", KERNEL_pointwise, &pointwise_defaults, pointwise_in, pointwise_out, pointwise_attrs, 1u << PTE_F32, 1, 24, 1, 1, 1, true, true, false, false, false},
  {"copy", KERNEL_copy, &copy_defaults, copy_in, copy_out, NULL, 1u << PTE_F32, 2, 8, 1, 1, 0, false, false, false, true, false},
  {"dims", KERNEL_dims, &dims_defaults, NULL, dims_out, dims_attrs, 1u << PTE_F32, 3, 16, 0, 1, 1, false, false, false, false, false},
  {"pad", KERNEL_pad, &pad_defaults, pad_in, pad_out, pad_attrs, 1u << PTE_F32, 4, 16, 1, 1, 2, false, false, false, false, false},
  {"gather", KERNEL_gather, &gather_defaults, gather_in, gather_out, NULL, 1u << PTE_F32, 5, 8, 2, 1, 0, false, false, false, true, false},
  {"gather_rows", KERNEL_gather_rows, &gather_rows_defaults, gather_rows_in, gather_rows_out, NULL, 1u << PTE_F32, 6, 8, 2, 1, 0, false, false, false, true, false},
  {"gather_elements", KERNEL_gather_elements, &gather_elements_defaults, gather_elements_in, gather_elements_out, NULL, 1u << PTE_F32, 7, 8, 2, 1, 0, false, false, false, true, false},
  {"gather_nd", KERNEL_gather_nd, &gather_nd_defaults, gather_nd_in, gather_nd_out, gather_nd_attrs, 1u << PTE_F32, 8, 16, 2, 1, 1, false, false, false, true, false},
  {"scatter_elements", KERNEL_scatter_elements, &scatter_elements_defaults, scatter_elements_in, scatter_elements_out, scatter_elements_attrs, 1u << PTE_F32, 9, 8, 3, 1, 1, false, false, false, true, false},
  {"scatter_nd", KERNEL_scatter_nd, &scatter_nd_defaults, scatter_nd_in, scatter_nd_out, scatter_nd_attrs, 1u << PTE_F32, 10, 8, 3, 1, 1, false, false, false, true, false},
  {"tensor_scatter", KERNEL_tensor_scatter, &tensor_scatter_defaults, tensor_scatter_in, tensor_scatter_out, tensor_scatter_attrs, 1u << PTE_F32, 11, 8, 3, 1, 1, false, false, false, true, false},
  {"nonzero", KERNEL_nonzero, &nonzero_defaults, nonzero_in, nonzero_out, NULL, 1u << PTE_F32, 12, 8, 1, 1, 0, false, false, false, true, true},
  {"topk", KERNEL_topk, &topk_defaults, topk_in, topk_out, topk_attrs, 1u << PTE_F32 | 1u << PTE_I64, 13, 8, 1, 2, 1, false, false, false, true, false},
  {"cumulate", KERNEL_cumulate, &cumulate_defaults, cumulate_in, cumulate_out, cumulate_attrs, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 14, 16, 1, 1, 3, false, false, false, true, false},
  {"reduce", KERNEL_reduce, &reduce_defaults, reduce_in, reduce_out, reduce_attrs, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64 | 1u << PTE_BOOL, 20, 16, 1, 1, 2, false, false, false, false, false},
  {"arg_reduce", KERNEL_arg_reduce, &arg_reduce_defaults, arg_reduce_in, arg_reduce_out, arg_reduce_attrs, 1u << PTE_F32 | 1u << PTE_I64, 21, 16, 1, 1, 2, false, false, false, false, false},
  {"softmax", KERNEL_softmax, &softmax_defaults, softmax_in, softmax_out, softmax_attrs, 1u << PTE_F32, 22, 8, 1, 1, 1, false, false, false, true, false},
  {"layer_norm", KERNEL_layer_norm, &layer_norm_defaults, layer_norm_in, layer_norm_out, layer_norm_attrs, 1u << PTE_F32, 23, 24, 3, 3, 2, false, false, false, false, false},
  {"rms_norm", KERNEL_rms_norm, &rms_norm_defaults, rms_norm_in, rms_norm_out, rms_norm_attrs, 1u << PTE_F32, 24, 24, 2, 1, 2, false, false, false, false, false},
  {"matmul", KERNEL_matmul, &matmul_defaults, matmul_in, matmul_out, matmul_attrs, 1u << PTE_F32, 30, 24, 4, 1, 1, true, false, false, true, false},
  {"batch_matmul", KERNEL_batch_matmul, &batch_matmul_defaults, batch_matmul_in, batch_matmul_out, NULL, 1u << PTE_F32, 31, 8, 2, 1, 0, false, false, false, true, false},
  {"pack", KERNEL_pack, &pack_defaults, pack_in, pack_out, NULL, 1u << PTE_F32, 32, 8, 1, 1, 0, false, false, false, true, false},
  {"conv", KERNEL_conv, &conv_defaults, conv_in, conv_out, conv_attrs, 1u << PTE_F32, 33, 80, 4, 1, 8, true, false, false, false, false},
  {"conv_depthwise", KERNEL_conv_depthwise, &conv_depthwise_defaults, conv_depthwise_in, conv_depthwise_out, conv_depthwise_attrs, 1u << PTE_F32, 34, 64, 4, 1, 6, true, false, false, false, false},
  {"attention", KERNEL_attention, &attention_defaults, attention_in, attention_out, attention_attrs, 1u << PTE_F32, 35, 48, 5, 1, 5, false, false, false, false, false},
  {"lstm", KERNEL_lstm, &lstm_defaults, lstm_in, lstm_out, lstm_attrs, 1u << PTE_F32, 36, 32, 6, 3, 4, false, false, false, false, false},
  {"gru", KERNEL_gru, &gru_defaults, gru_in, gru_out, gru_attrs, 1u << PTE_F32, 37, 32, 5, 2, 4, false, false, false, false, false},
  {"rnn", KERNEL_rnn, &rnn_defaults, rnn_in, rnn_out, rnn_attrs, 1u << PTE_F32, 38, 32, 4, 2, 3, false, false, false, false, false},
  {"matmul_integer", KERNEL_matmul_integer, &matmul_integer_defaults, matmul_integer_in, matmul_integer_out, NULL, 1u << PTE_I64, 39, 8, 2, 1, 0, false, false, false, true, false},
  {"max_pool", KERNEL_max_pool, &max_pool_defaults, max_pool_in, max_pool_out, max_pool_attrs, 1u << PTE_F32 | 1u << PTE_F64 | 1u << PTE_I64, 40, 48, 1, 2, 6, false, false, false, false, false},
  {"average_pool", KERNEL_average_pool, &average_pool_defaults, average_pool_in, average_pool_out, average_pool_attrs, 1u << PTE_F32, 41, 48, 1, 1, 6, false, false, false, false, false},
  {"resize", KERNEL_resize, &resize_defaults, resize_in, resize_out, resize_attrs, 1u << PTE_F32, 42, 56, 1, 1, 9, false, false, false, true, false},
  {"grid_sample", KERNEL_grid_sample, &grid_sample_defaults, grid_sample_in, grid_sample_out, grid_sample_attrs, 1u << PTE_F32, 43, 16, 2, 1, 3, false, false, false, true, false},
  {"non_max_suppression", KERNEL_non_max_suppression, &non_max_suppression_defaults, non_max_suppression_in, non_max_suppression_out, non_max_suppression_attrs, 1u << PTE_F32, 44, 8, 5, 1, 1, false, false, false, true, true},
  {"matmul_int8", KERNEL_matmul_int8, &matmul_int8_defaults, matmul_int8_in, matmul_int8_out, matmul_int8_attrs, 1u << PTE_F32, 45, 24, 4, 1, 1, true, false, false, true, false},
  {"if", NULL, &if_defaults, if_in, if_out, if_attrs, 1u << PTE_F32, 60, 16, 1, 1, 2, false, true, true, false, false},
  {"loop", NULL, &loop_defaults, loop_in, loop_out, loop_attrs, 1u << PTE_F32, 61, 8, 3, 1, 1, true, true, true, false, false},
  {"call", NULL, &call_defaults, call_in, call_out, call_attrs, 1u << PTE_F32, 62, 8, 1, 1, 1, true, true, true, false, false},
  {"delegate", NULL, &delegate_defaults, delegate_in, delegate_out, delegate_attrs, 1u << PTE_F32, 63, 16, 1, 1, 1, true, true, true, false, false},
  {"unpack", KERNEL_unpack, &unpack_defaults, unpack_in, unpack_out, NULL, 1u << PTE_F32, 70, 8, 1, 1, 0, false, false, false, true, false},
  {"repack", KERNEL_repack, &repack_defaults, repack_in, repack_out, repack_attrs, 1u << PTE_F32, 71, 8, 1, 1, 1, false, false, false, true, false},
};

const uint32_t pte_op_row_count = 41;

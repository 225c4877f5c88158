/* Operators: numbers, attribute structs, kernels.
 * Written by schema/gen from schema/ops.py; do not edit. */
// clang-format off
#ifndef PTE_GEN_OPS_H
#define PTE_GEN_OPS_H

#include <stddef.h>

#include "core/kernel.h"

enum {
  PTE_OP_POINTWISE = 1,
  PTE_OP_COPY = 2,
  PTE_OP_DIMS = 3,
  PTE_OP_PAD = 4,
  PTE_OP_GATHER = 5,
  PTE_OP_GATHER_ROWS = 6,
  PTE_OP_GATHER_ELEMENTS = 7,
  PTE_OP_GATHER_ND = 8,
  PTE_OP_SCATTER_ELEMENTS = 9,
  PTE_OP_SCATTER_ND = 10,
  PTE_OP_TENSOR_SCATTER = 11,
  PTE_OP_NONZERO = 12,
  PTE_OP_TOPK = 13,
  PTE_OP_CUMULATE = 14,
  PTE_OP_REDUCE = 20,
  PTE_OP_ARG_REDUCE = 21,
  PTE_OP_SOFTMAX = 22,
  PTE_OP_LAYER_NORM = 23,
  PTE_OP_RMS_NORM = 24,
  PTE_OP_MATMUL = 30,
  PTE_OP_BATCH_MATMUL = 31,
  PTE_OP_PACK = 32,
  PTE_OP_CONV = 33,
  PTE_OP_CONV_DEPTHWISE = 34,
  PTE_OP_ATTENTION = 35,
  PTE_OP_LSTM = 36,
  PTE_OP_GRU = 37,
  PTE_OP_RNN = 38,
  PTE_OP_MATMUL_INTEGER = 39,
  PTE_OP_MAX_POOL = 40,
  PTE_OP_AVERAGE_POOL = 41,
  PTE_OP_RESIZE = 42,
  PTE_OP_GRID_SAMPLE = 43,
  PTE_OP_NON_MAX_SUPPRESSION = 44,
  PTE_OP_MATMUL_INT8 = 45,
  PTE_OP_CONV_I8 = 46,
  PTE_OP_ADD_I8 = 47,
  PTE_OP_IF = 60,
  PTE_OP_LOOP = 61,
  PTE_OP_CALL = 62,
  PTE_OP_DELEGATE = 63,
  PTE_OP_UNPACK = 70,
  PTE_OP_REPACK = 71,
  PTE_OP_RESHAPE = 72,
  PTE_OP_PANEL_SCATTER = 73,
  PTE_OP_MATMUL_TURNED = 74,
  PTE_OP_CODES = 75,
  PTE_OP_CONV_WINOGRAD = 76,
  PTE_OP_CONV_I16 = 77,
  PTE_OP_ADD_I16 = 78,
  PTE_OP_CONV_BLOCK = 79,
  PTE_OP_TREE_ENSEMBLE = 80,
};

enum { /* elements of `activations` */
  PTE_ACTIVATION_SIGMOID = 0,
  PTE_ACTIVATION_TANH = 1,
  PTE_ACTIVATION_RELU = 2,
  PTE_ACTIVATION_AFFINE = 3,
  PTE_ACTIVATION_LEAKY_RELU = 4,
  PTE_ACTIVATION_THRESHOLDED_RELU = 5,
  PTE_ACTIVATION_SCALED_TANH = 6,
  PTE_ACTIVATION_HARD_SIGMOID = 7,
  PTE_ACTIVATION_ELU = 8,
  PTE_ACTIVATION_SOFTSIGN = 9,
  PTE_ACTIVATION_SOFTPLUS = 10,
};

typedef struct pte_pointwise_attrs {
  uint32_t size;
  pte_steps steps;
  uint32_t zero;
} pte_pointwise_attrs;
_Static_assert(sizeof(pte_pointwise_attrs) == 24, "pointwise");
_Static_assert(offsetof(pte_pointwise_attrs, steps) == 4, "pointwise");
extern const pte_kernel pte_pointwise_kernel;

typedef struct pte_copy_attrs {
  uint32_t size;
  uint32_t zero;
} pte_copy_attrs;
_Static_assert(sizeof(pte_copy_attrs) == 8, "copy");
extern const pte_kernel pte_copy_kernel;

typedef struct pte_dims_attrs {
  uint32_t size;
  pte_range values;
  uint32_t zero;
} pte_dims_attrs;
_Static_assert(sizeof(pte_dims_attrs) == 16, "dims");
_Static_assert(offsetof(pte_dims_attrs, values) == 4, "dims");
extern const pte_kernel pte_dims_kernel;

enum { PTE_PAD_MODE_REFLECT = 0, PTE_PAD_MODE_EDGE = 1, PTE_PAD_MODE_WRAP = 2 };
#ifdef PTE_KEPT_PAD_MODE
#define PTE_KEPT_IS_PAD_MODE(name, value) || (value) == PTE_PAD_MODE_##name
#define PTE_PAD_MODE_KEPT(value) (0 PTE_KEPT_PAD_MODE(PTE_KEPT_IS_PAD_MODE, value))
#else
#define PTE_PAD_MODE_KEPT(value) 1
#endif
typedef struct pte_pad_attrs {
  uint32_t size;
  pte_range begin;
  uint32_t mode;
} pte_pad_attrs;
_Static_assert(sizeof(pte_pad_attrs) == 16, "pad");
_Static_assert(offsetof(pte_pad_attrs, mode) == 12, "pad");
extern const pte_kernel pte_pad_kernel;

typedef struct pte_gather_attrs {
  uint32_t size;
  uint32_t zero;
} pte_gather_attrs;
_Static_assert(sizeof(pte_gather_attrs) == 8, "gather");
extern const pte_kernel pte_gather_kernel;

typedef struct pte_gather_rows_attrs {
  uint32_t size;
  uint32_t zero;
} pte_gather_rows_attrs;
_Static_assert(sizeof(pte_gather_rows_attrs) == 8, "gather_rows");
extern const pte_kernel pte_gather_rows_kernel;

typedef struct pte_gather_elements_attrs {
  uint32_t size;
  uint32_t zero;
} pte_gather_elements_attrs;
_Static_assert(sizeof(pte_gather_elements_attrs) == 8, "gather_elements");
extern const pte_kernel pte_gather_elements_kernel;

typedef struct pte_gather_nd_attrs {
  uint32_t size;
  int64_t batch_dims;
} pte_gather_nd_attrs;
_Static_assert(sizeof(pte_gather_nd_attrs) == 16, "gather_nd");
_Static_assert(offsetof(pte_gather_nd_attrs, batch_dims) == 8, "gather_nd");
extern const pte_kernel pte_gather_nd_kernel;

enum { PTE_SCATTER_ELEMENTS_REDUCTION_NONE = 0, PTE_SCATTER_ELEMENTS_REDUCTION_ADD = 1, PTE_SCATTER_ELEMENTS_REDUCTION_MUL = 2, PTE_SCATTER_ELEMENTS_REDUCTION_MAX = 3, PTE_SCATTER_ELEMENTS_REDUCTION_MIN = 4 };
#ifdef PTE_KEPT_SCATTER_ELEMENTS_REDUCTION
#define PTE_KEPT_IS_SCATTER_ELEMENTS_REDUCTION(name, value) || (value) == PTE_SCATTER_ELEMENTS_REDUCTION_##name
#define PTE_SCATTER_ELEMENTS_REDUCTION_KEPT(value) (0 PTE_KEPT_SCATTER_ELEMENTS_REDUCTION(PTE_KEPT_IS_SCATTER_ELEMENTS_REDUCTION, value))
#else
#define PTE_SCATTER_ELEMENTS_REDUCTION_KEPT(value) 1
#endif
typedef struct pte_scatter_elements_attrs {
  uint32_t size;
  uint32_t reduction;
} pte_scatter_elements_attrs;
_Static_assert(sizeof(pte_scatter_elements_attrs) == 8, "scatter_elements");
_Static_assert(offsetof(pte_scatter_elements_attrs, reduction) == 4, "scatter_elements");
extern const pte_kernel pte_scatter_elements_kernel;

enum { PTE_SCATTER_ND_REDUCTION_NONE = 0, PTE_SCATTER_ND_REDUCTION_ADD = 1, PTE_SCATTER_ND_REDUCTION_MUL = 2, PTE_SCATTER_ND_REDUCTION_MAX = 3, PTE_SCATTER_ND_REDUCTION_MIN = 4 };
#ifdef PTE_KEPT_SCATTER_ND_REDUCTION
#define PTE_KEPT_IS_SCATTER_ND_REDUCTION(name, value) || (value) == PTE_SCATTER_ND_REDUCTION_##name
#define PTE_SCATTER_ND_REDUCTION_KEPT(value) (0 PTE_KEPT_SCATTER_ND_REDUCTION(PTE_KEPT_IS_SCATTER_ND_REDUCTION, value))
#else
#define PTE_SCATTER_ND_REDUCTION_KEPT(value) 1
#endif
typedef struct pte_scatter_nd_attrs {
  uint32_t size;
  uint32_t reduction;
} pte_scatter_nd_attrs;
_Static_assert(sizeof(pte_scatter_nd_attrs) == 8, "scatter_nd");
_Static_assert(offsetof(pte_scatter_nd_attrs, reduction) == 4, "scatter_nd");
extern const pte_kernel pte_scatter_nd_kernel;

typedef struct pte_tensor_scatter_attrs {
  uint32_t size;
  uint32_t circular;
} pte_tensor_scatter_attrs;
_Static_assert(sizeof(pte_tensor_scatter_attrs) == 8, "tensor_scatter");
_Static_assert(offsetof(pte_tensor_scatter_attrs, circular) == 4, "tensor_scatter");
extern const pte_kernel pte_tensor_scatter_kernel;

typedef struct pte_nonzero_attrs {
  uint32_t size;
  uint32_t zero;
} pte_nonzero_attrs;
_Static_assert(sizeof(pte_nonzero_attrs) == 8, "nonzero");
extern const pte_kernel pte_nonzero_kernel;

typedef struct pte_topk_attrs {
  uint32_t size;
  uint32_t largest;
} pte_topk_attrs;
_Static_assert(sizeof(pte_topk_attrs) == 8, "topk");
_Static_assert(offsetof(pte_topk_attrs, largest) == 4, "topk");
extern const pte_kernel pte_topk_kernel;

enum { PTE_CUMULATE_KIND_SUM = 0, PTE_CUMULATE_KIND_PROD = 1 };
#ifdef PTE_KEPT_CUMULATE_KIND
#define PTE_KEPT_IS_CUMULATE_KIND(name, value) || (value) == PTE_CUMULATE_KIND_##name
#define PTE_CUMULATE_KIND_KEPT(value) (0 PTE_KEPT_CUMULATE_KIND(PTE_KEPT_IS_CUMULATE_KIND, value))
#else
#define PTE_CUMULATE_KIND_KEPT(value) 1
#endif
typedef struct pte_cumulate_attrs {
  uint32_t size;
  uint32_t kind;
  uint32_t exclusive;
  uint32_t reverse;
} pte_cumulate_attrs;
_Static_assert(sizeof(pte_cumulate_attrs) == 16, "cumulate");
_Static_assert(offsetof(pte_cumulate_attrs, reverse) == 12, "cumulate");
extern const pte_kernel pte_cumulate_kernel;

enum { PTE_REDUCE_KIND_SUM = 0, PTE_REDUCE_KIND_MEAN = 1, PTE_REDUCE_KIND_MAX = 2, PTE_REDUCE_KIND_MIN = 3, PTE_REDUCE_KIND_PROD = 4 };
#ifdef PTE_KEPT_REDUCE_KIND
#define PTE_KEPT_IS_REDUCE_KIND(name, value) || (value) == PTE_REDUCE_KIND_##name
#define PTE_REDUCE_KIND_KEPT(value) (0 PTE_KEPT_REDUCE_KIND(PTE_KEPT_IS_REDUCE_KIND, value))
#else
#define PTE_REDUCE_KIND_KEPT(value) 1
#endif
typedef struct pte_reduce_attrs {
  uint32_t size;
  uint32_t kind;
  int64_t count;
} pte_reduce_attrs;
_Static_assert(sizeof(pte_reduce_attrs) == 16, "reduce");
_Static_assert(offsetof(pte_reduce_attrs, count) == 8, "reduce");
extern const pte_kernel pte_reduce_kernel;

enum { PTE_ARG_REDUCE_KIND_MAX = 0, PTE_ARG_REDUCE_KIND_MIN = 1 };
#ifdef PTE_KEPT_ARG_REDUCE_KIND
#define PTE_KEPT_IS_ARG_REDUCE_KIND(name, value) || (value) == PTE_ARG_REDUCE_KIND_##name
#define PTE_ARG_REDUCE_KIND_KEPT(value) (0 PTE_KEPT_ARG_REDUCE_KIND(PTE_KEPT_IS_ARG_REDUCE_KIND, value))
#else
#define PTE_ARG_REDUCE_KIND_KEPT(value) 1
#endif
typedef struct pte_arg_reduce_attrs {
  uint32_t size;
  uint32_t kind;
  uint32_t last;
  uint32_t zero;
} pte_arg_reduce_attrs;
_Static_assert(sizeof(pte_arg_reduce_attrs) == 16, "arg_reduce");
_Static_assert(offsetof(pte_arg_reduce_attrs, last) == 8, "arg_reduce");
extern const pte_kernel pte_arg_reduce_kernel;

typedef struct pte_softmax_attrs {
  uint32_t size;
  uint32_t log;
} pte_softmax_attrs;
_Static_assert(sizeof(pte_softmax_attrs) == 8, "softmax");
_Static_assert(offsetof(pte_softmax_attrs, log) == 4, "softmax");
extern const pte_kernel pte_softmax_kernel;

typedef struct pte_layer_norm_attrs {
  uint32_t size;
  int64_t count;
  double epsilon;
} pte_layer_norm_attrs;
_Static_assert(sizeof(pte_layer_norm_attrs) == 24, "layer_norm");
_Static_assert(offsetof(pte_layer_norm_attrs, epsilon) == 16, "layer_norm");
extern const pte_kernel pte_layer_norm_kernel;

typedef struct pte_rms_norm_attrs {
  uint32_t size;
  int64_t count;
  double epsilon;
} pte_rms_norm_attrs;
_Static_assert(sizeof(pte_rms_norm_attrs) == 24, "rms_norm");
_Static_assert(offsetof(pte_rms_norm_attrs, epsilon) == 16, "rms_norm");
extern const pte_kernel pte_rms_norm_kernel;

typedef struct pte_matmul_attrs {
  uint32_t size;
  pte_steps steps;
  uint32_t zero;
} pte_matmul_attrs;
_Static_assert(sizeof(pte_matmul_attrs) == 24, "matmul");
_Static_assert(offsetof(pte_matmul_attrs, steps) == 4, "matmul");
extern const pte_kernel pte_matmul_kernel;

typedef struct pte_batch_matmul_attrs {
  uint32_t size;
  uint32_t zero;
} pte_batch_matmul_attrs;
_Static_assert(sizeof(pte_batch_matmul_attrs) == 8, "batch_matmul");
extern const pte_kernel pte_batch_matmul_kernel;

typedef struct pte_pack_attrs {
  uint32_t size;
  uint32_t zero;
} pte_pack_attrs;
_Static_assert(sizeof(pte_pack_attrs) == 8, "pack");
extern const pte_kernel pte_pack_kernel;

typedef struct pte_conv_attrs {
  uint32_t size;
  pte_range kernel;
  pte_range stride;
  pte_range dilation;
  pte_range begin;
  pte_range end;
  pte_range spread;
  int64_t groups;
  pte_steps steps;
} pte_conv_attrs;
_Static_assert(sizeof(pte_conv_attrs) == 80, "conv");
_Static_assert(offsetof(pte_conv_attrs, steps) == 64, "conv");
extern const pte_kernel pte_conv_kernel;

typedef struct pte_conv_depthwise_attrs {
  uint32_t size;
  pte_range kernel;
  pte_range stride;
  pte_range dilation;
  pte_range begin;
  pte_range end;
  pte_steps steps;
  uint32_t zero;
} pte_conv_depthwise_attrs;
_Static_assert(sizeof(pte_conv_depthwise_attrs) == 64, "conv_depthwise");
_Static_assert(offsetof(pte_conv_depthwise_attrs, steps) == 44, "conv_depthwise");
extern const pte_kernel pte_conv_depthwise_kernel;

enum { PTE_ATTENTION_CAUSAL_NONE = 0, PTE_ATTENTION_CAUSAL_TOP_LEFT = 1, PTE_ATTENTION_CAUSAL_BOTTOM_RIGHT = 2 };
#ifdef PTE_KEPT_ATTENTION_CAUSAL
#define PTE_KEPT_IS_ATTENTION_CAUSAL(name, value) || (value) == PTE_ATTENTION_CAUSAL_##name
#define PTE_ATTENTION_CAUSAL_KEPT(value) (0 PTE_KEPT_ATTENTION_CAUSAL(PTE_KEPT_IS_ATTENTION_CAUSAL, value))
#else
#define PTE_ATTENTION_CAUSAL_KEPT(value) 1
#endif
typedef struct pte_attention_attrs {
  uint32_t size;
  double scale;
  uint32_t causal;
  double softcap;
  int64_t left_window;
  int64_t right_window;
  uint32_t turned;
  int64_t ring;
} pte_attention_attrs;
_Static_assert(sizeof(pte_attention_attrs) == 64, "attention");
_Static_assert(offsetof(pte_attention_attrs, ring) == 56, "attention");
extern const pte_kernel pte_attention_kernel;

typedef struct pte_lstm_attrs {
  uint32_t size;
  pte_range activations;
  pte_range parameters;
  double clip;
  uint32_t input_forget;
  uint32_t reverse;
} pte_lstm_attrs;
_Static_assert(sizeof(pte_lstm_attrs) == 40, "lstm");
_Static_assert(offsetof(pte_lstm_attrs, reverse) == 36, "lstm");
extern const pte_kernel pte_lstm_kernel;

typedef struct pte_gru_attrs {
  uint32_t size;
  pte_range activations;
  pte_range parameters;
  double clip;
  uint32_t linear_before_reset;
  uint32_t reverse;
} pte_gru_attrs;
_Static_assert(sizeof(pte_gru_attrs) == 40, "gru");
_Static_assert(offsetof(pte_gru_attrs, reverse) == 36, "gru");
extern const pte_kernel pte_gru_kernel;

typedef struct pte_rnn_attrs {
  uint32_t size;
  pte_range activations;
  pte_range parameters;
  double clip;
  uint32_t reverse;
  uint32_t zero;
} pte_rnn_attrs;
_Static_assert(sizeof(pte_rnn_attrs) == 40, "rnn");
_Static_assert(offsetof(pte_rnn_attrs, reverse) == 32, "rnn");
extern const pte_kernel pte_rnn_kernel;

typedef struct pte_matmul_integer_attrs {
  uint32_t size;
  uint32_t zero;
} pte_matmul_integer_attrs;
_Static_assert(sizeof(pte_matmul_integer_attrs) == 8, "matmul_integer");
extern const pte_kernel pte_matmul_integer_kernel;

typedef struct pte_max_pool_attrs {
  uint32_t size;
  pte_range kernel;
  pte_range stride;
  pte_range dilation;
  pte_range begin;
  uint32_t channel_major;
  uint32_t column_major;
  uint32_t zero;
} pte_max_pool_attrs;
_Static_assert(sizeof(pte_max_pool_attrs) == 48, "max_pool");
_Static_assert(offsetof(pte_max_pool_attrs, column_major) == 40, "max_pool");
extern const pte_kernel pte_max_pool_kernel;

typedef struct pte_average_pool_attrs {
  uint32_t size;
  pte_range kernel;
  pte_range stride;
  pte_range dilation;
  pte_range begin;
  pte_range end;
  uint32_t count_padding;
} pte_average_pool_attrs;
_Static_assert(sizeof(pte_average_pool_attrs) == 48, "average_pool");
_Static_assert(offsetof(pte_average_pool_attrs, count_padding) == 44, "average_pool");
extern const pte_kernel pte_average_pool_kernel;

enum { PTE_RESIZE_MODE_NEAREST = 0, PTE_RESIZE_MODE_LINEAR = 1, PTE_RESIZE_MODE_CUBIC = 2 };
#ifdef PTE_KEPT_RESIZE_MODE
#define PTE_KEPT_IS_RESIZE_MODE(name, value) || (value) == PTE_RESIZE_MODE_##name
#define PTE_RESIZE_MODE_KEPT(value) (0 PTE_KEPT_RESIZE_MODE(PTE_KEPT_IS_RESIZE_MODE, value))
#else
#define PTE_RESIZE_MODE_KEPT(value) 1
#endif
enum { PTE_RESIZE_COORDINATES_HALF_PIXEL = 0, PTE_RESIZE_COORDINATES_HALF_PIXEL_SYMMETRIC = 1, PTE_RESIZE_COORDINATES_PYTORCH_HALF_PIXEL = 2, PTE_RESIZE_COORDINATES_ALIGN_CORNERS = 3, PTE_RESIZE_COORDINATES_ASYMMETRIC = 4, PTE_RESIZE_COORDINATES_TF_CROP_AND_RESIZE = 5 };
#ifdef PTE_KEPT_RESIZE_COORDINATES
#define PTE_KEPT_IS_RESIZE_COORDINATES(name, value) || (value) == PTE_RESIZE_COORDINATES_##name
#define PTE_RESIZE_COORDINATES_KEPT(value) (0 PTE_KEPT_RESIZE_COORDINATES(PTE_KEPT_IS_RESIZE_COORDINATES, value))
#else
#define PTE_RESIZE_COORDINATES_KEPT(value) 1
#endif
enum { PTE_RESIZE_NEAREST_ROUND_PREFER_FLOOR = 0, PTE_RESIZE_NEAREST_ROUND_PREFER_CEIL = 1, PTE_RESIZE_NEAREST_FLOOR = 2, PTE_RESIZE_NEAREST_CEIL = 3 };
#ifdef PTE_KEPT_RESIZE_NEAREST
#define PTE_KEPT_IS_RESIZE_NEAREST(name, value) || (value) == PTE_RESIZE_NEAREST_##name
#define PTE_RESIZE_NEAREST_KEPT(value) (0 PTE_KEPT_RESIZE_NEAREST(PTE_KEPT_IS_RESIZE_NEAREST, value))
#else
#define PTE_RESIZE_NEAREST_KEPT(value) 1
#endif
typedef struct pte_resize_attrs {
  uint32_t size;
  pte_range scales;
  uint32_t mode;
  uint32_t coordinates;
  uint32_t nearest;
  double cubic;
  uint32_t exclude_outside;
  uint32_t antialias;
  double extrapolation;
  pte_range region;
} pte_resize_attrs;
_Static_assert(sizeof(pte_resize_attrs) == 56, "resize");
_Static_assert(offsetof(pte_resize_attrs, region) == 48, "resize");
extern const pte_kernel pte_resize_kernel;

enum { PTE_GRID_SAMPLE_MODE_LINEAR = 0, PTE_GRID_SAMPLE_MODE_NEAREST = 1, PTE_GRID_SAMPLE_MODE_CUBIC = 2 };
#ifdef PTE_KEPT_GRID_SAMPLE_MODE
#define PTE_KEPT_IS_GRID_SAMPLE_MODE(name, value) || (value) == PTE_GRID_SAMPLE_MODE_##name
#define PTE_GRID_SAMPLE_MODE_KEPT(value) (0 PTE_KEPT_GRID_SAMPLE_MODE(PTE_KEPT_IS_GRID_SAMPLE_MODE, value))
#else
#define PTE_GRID_SAMPLE_MODE_KEPT(value) 1
#endif
enum { PTE_GRID_SAMPLE_PADDING_ZEROS = 0, PTE_GRID_SAMPLE_PADDING_BORDER = 1, PTE_GRID_SAMPLE_PADDING_REFLECTION = 2 };
#ifdef PTE_KEPT_GRID_SAMPLE_PADDING
#define PTE_KEPT_IS_GRID_SAMPLE_PADDING(name, value) || (value) == PTE_GRID_SAMPLE_PADDING_##name
#define PTE_GRID_SAMPLE_PADDING_KEPT(value) (0 PTE_KEPT_GRID_SAMPLE_PADDING(PTE_KEPT_IS_GRID_SAMPLE_PADDING, value))
#else
#define PTE_GRID_SAMPLE_PADDING_KEPT(value) 1
#endif
typedef struct pte_grid_sample_attrs {
  uint32_t size;
  uint32_t mode;
  uint32_t padding;
  uint32_t align_corners;
} pte_grid_sample_attrs;
_Static_assert(sizeof(pte_grid_sample_attrs) == 16, "grid_sample");
_Static_assert(offsetof(pte_grid_sample_attrs, align_corners) == 12, "grid_sample");
extern const pte_kernel pte_grid_sample_kernel;

typedef struct pte_non_max_suppression_attrs {
  uint32_t size;
  uint32_t center;
} pte_non_max_suppression_attrs;
_Static_assert(sizeof(pte_non_max_suppression_attrs) == 8, "non_max_suppression");
_Static_assert(offsetof(pte_non_max_suppression_attrs, center) == 4, "non_max_suppression");
extern const pte_kernel pte_non_max_suppression_kernel;

typedef struct pte_matmul_int8_attrs {
  uint32_t size;
  pte_steps steps;
  uint32_t zero;
} pte_matmul_int8_attrs;
_Static_assert(sizeof(pte_matmul_int8_attrs) == 24, "matmul_int8");
_Static_assert(offsetof(pte_matmul_int8_attrs, steps) == 4, "matmul_int8");
extern const pte_kernel pte_matmul_int8_kernel;

typedef struct pte_conv_i8_attrs {
  uint32_t size;
  pte_range kernel;
  pte_range stride;
  pte_range dilation;
  pte_range begin;
  pte_range end;
  pte_range spread;
  int64_t groups;
  int64_t x_zero;
  int64_t y_zero;
  int64_t low;
  int64_t high;
} pte_conv_i8_attrs;
_Static_assert(sizeof(pte_conv_i8_attrs) == 96, "conv_i8");
_Static_assert(offsetof(pte_conv_i8_attrs, high) == 88, "conv_i8");
extern const pte_kernel pte_conv_i8_kernel;

typedef struct pte_add_i8_attrs {
  uint32_t size;
  int64_t a_zero;
  int64_t a_multiplier;
  int64_t a_shift;
  int64_t b_zero;
  int64_t b_multiplier;
  int64_t b_shift;
  int64_t y_zero;
  int64_t multiplier;
  int64_t shift;
  int64_t low;
  int64_t high;
} pte_add_i8_attrs;
_Static_assert(sizeof(pte_add_i8_attrs) == 96, "add_i8");
_Static_assert(offsetof(pte_add_i8_attrs, high) == 88, "add_i8");
extern const pte_kernel pte_add_i8_kernel;

typedef struct pte_if_attrs {
  uint32_t size;
  uint32_t then_block;
  uint32_t else_block;
  uint32_t zero;
} pte_if_attrs;
_Static_assert(sizeof(pte_if_attrs) == 16, "if");
_Static_assert(offsetof(pte_if_attrs, else_block) == 8, "if");

typedef struct pte_loop_attrs {
  uint32_t size;
  uint32_t body;
} pte_loop_attrs;
_Static_assert(sizeof(pte_loop_attrs) == 8, "loop");
_Static_assert(offsetof(pte_loop_attrs, body) == 4, "loop");

typedef struct pte_call_attrs {
  uint32_t size;
  uint32_t body;
} pte_call_attrs;
_Static_assert(sizeof(pte_call_attrs) == 8, "call");
_Static_assert(offsetof(pte_call_attrs, body) == 4, "call");

typedef struct pte_delegate_attrs {
  uint32_t size;
  int64_t index;
} pte_delegate_attrs;
_Static_assert(sizeof(pte_delegate_attrs) == 16, "delegate");
_Static_assert(offsetof(pte_delegate_attrs, index) == 8, "delegate");

typedef struct pte_unpack_attrs {
  uint32_t size;
  uint32_t zero;
} pte_unpack_attrs;
_Static_assert(sizeof(pte_unpack_attrs) == 8, "unpack");
extern const pte_kernel pte_unpack_kernel;

typedef struct pte_repack_attrs {
  uint32_t size;
  uint32_t saturate;
} pte_repack_attrs;
_Static_assert(sizeof(pte_repack_attrs) == 8, "repack");
_Static_assert(offsetof(pte_repack_attrs, saturate) == 4, "repack");
extern const pte_kernel pte_repack_kernel;

typedef struct pte_reshape_attrs {
  uint32_t size;
  uint32_t zero;
} pte_reshape_attrs;
_Static_assert(sizeof(pte_reshape_attrs) == 8, "reshape");
extern const pte_kernel pte_reshape_kernel;

typedef struct pte_panel_scatter_attrs {
  uint32_t size;
  uint32_t circular;
} pte_panel_scatter_attrs;
_Static_assert(sizeof(pte_panel_scatter_attrs) == 8, "panel_scatter");
_Static_assert(offsetof(pte_panel_scatter_attrs, circular) == 4, "panel_scatter");
extern const pte_kernel pte_panel_scatter_kernel;

typedef struct pte_matmul_turned_attrs {
  uint32_t size;
  pte_steps steps;
  uint32_t zero;
} pte_matmul_turned_attrs;
_Static_assert(sizeof(pte_matmul_turned_attrs) == 24, "matmul_turned");
_Static_assert(offsetof(pte_matmul_turned_attrs, steps) == 4, "matmul_turned");
extern const pte_kernel pte_matmul_turned_kernel;

typedef struct pte_codes_attrs {
  uint32_t size;
  uint32_t turned;
} pte_codes_attrs;
_Static_assert(sizeof(pte_codes_attrs) == 8, "codes");
_Static_assert(offsetof(pte_codes_attrs, turned) == 4, "codes");
extern const pte_kernel pte_codes_kernel;

typedef struct pte_conv_winograd_attrs {
  uint32_t size;
  int64_t begin;
  pte_steps steps;
} pte_conv_winograd_attrs;
_Static_assert(sizeof(pte_conv_winograd_attrs) == 32, "conv_winograd");
_Static_assert(offsetof(pte_conv_winograd_attrs, steps) == 16, "conv_winograd");
extern const pte_kernel pte_conv_winograd_kernel;

typedef struct pte_conv_i16_attrs {
  uint32_t size;
  pte_range kernel;
  pte_range stride;
  pte_range dilation;
  pte_range begin;
  pte_range end;
  int64_t wide;
  int64_t groups;
  int64_t x_zero;
  int64_t y_zero;
  int64_t low;
  int64_t high;
} pte_conv_i16_attrs;
_Static_assert(sizeof(pte_conv_i16_attrs) == 96, "conv_i16");
_Static_assert(offsetof(pte_conv_i16_attrs, high) == 88, "conv_i16");
extern const pte_kernel pte_conv_i16_kernel;

typedef struct pte_add_i16_attrs {
  uint32_t size;
  int64_t a_zero;
  int64_t a_multiplier;
  int64_t a_shift;
  int64_t b_zero;
  int64_t b_multiplier;
  int64_t b_shift;
  int64_t y_zero;
  int64_t multiplier;
  int64_t shift;
  int64_t low;
  int64_t high;
} pte_add_i16_attrs;
_Static_assert(sizeof(pte_add_i16_attrs) == 96, "add_i16");
_Static_assert(offsetof(pte_add_i16_attrs, high) == 88, "add_i16");
extern const pte_kernel pte_add_i16_kernel;

enum { PTE_CONV_BLOCK_FIRST_NONE = 0, PTE_CONV_BLOCK_FIRST_RELU = 1, PTE_CONV_BLOCK_FIRST_RELU6 = 2 };
#ifdef PTE_KEPT_CONV_BLOCK_FIRST
#define PTE_KEPT_IS_CONV_BLOCK_FIRST(name, value) || (value) == PTE_CONV_BLOCK_FIRST_##name
#define PTE_CONV_BLOCK_FIRST_KEPT(value) (0 PTE_KEPT_CONV_BLOCK_FIRST(PTE_KEPT_IS_CONV_BLOCK_FIRST, value))
#else
#define PTE_CONV_BLOCK_FIRST_KEPT(value) 1
#endif
enum { PTE_CONV_BLOCK_SECOND_NONE = 0, PTE_CONV_BLOCK_SECOND_RELU = 1, PTE_CONV_BLOCK_SECOND_RELU6 = 2 };
#ifdef PTE_KEPT_CONV_BLOCK_SECOND
#define PTE_KEPT_IS_CONV_BLOCK_SECOND(name, value) || (value) == PTE_CONV_BLOCK_SECOND_##name
#define PTE_CONV_BLOCK_SECOND_KEPT(value) (0 PTE_KEPT_CONV_BLOCK_SECOND(PTE_KEPT_IS_CONV_BLOCK_SECOND, value))
#else
#define PTE_CONV_BLOCK_SECOND_KEPT(value) 1
#endif
typedef struct pte_conv_block_attrs {
  uint32_t size;
  int64_t kernel;
  int64_t stride;
  int64_t begin;
  uint32_t first;
  uint32_t second;
  pte_steps steps;
} pte_conv_block_attrs;
_Static_assert(sizeof(pte_conv_block_attrs) == 56, "conv_block");
_Static_assert(offsetof(pte_conv_block_attrs, steps) == 40, "conv_block");
extern const pte_kernel pte_conv_block_kernel;

enum { PTE_TREE_ENSEMBLE_REDUCTION_SUM = 0, PTE_TREE_ENSEMBLE_REDUCTION_MIN = 1, PTE_TREE_ENSEMBLE_REDUCTION_MAX = 2 };
#ifdef PTE_KEPT_TREE_ENSEMBLE_REDUCTION
#define PTE_KEPT_IS_TREE_ENSEMBLE_REDUCTION(name, value) || (value) == PTE_TREE_ENSEMBLE_REDUCTION_##name
#define PTE_TREE_ENSEMBLE_REDUCTION_KEPT(value) (0 PTE_KEPT_TREE_ENSEMBLE_REDUCTION(PTE_KEPT_IS_TREE_ENSEMBLE_REDUCTION, value))
#else
#define PTE_TREE_ENSEMBLE_REDUCTION_KEPT(value) 1
#endif
typedef struct pte_tree_ensemble_attrs {
  uint32_t size;
  uint32_t reduction;
} pte_tree_ensemble_attrs;
_Static_assert(sizeof(pte_tree_ensemble_attrs) == 8, "tree_ensemble");
_Static_assert(offsetof(pte_tree_ensemble_attrs, reduction) == 4, "tree_ensemble");
extern const pte_kernel pte_tree_ensemble_kernel;

/* X(name) for every operator that has a kernel. */
#define PTE_KERNELS(X) \
  X(pointwise) \
  X(copy) \
  X(dims) \
  X(pad) \
  X(gather) \
  X(gather_rows) \
  X(gather_elements) \
  X(gather_nd) \
  X(scatter_elements) \
  X(scatter_nd) \
  X(tensor_scatter) \
  X(nonzero) \
  X(topk) \
  X(cumulate) \
  X(reduce) \
  X(arg_reduce) \
  X(softmax) \
  X(layer_norm) \
  X(rms_norm) \
  X(matmul) \
  X(batch_matmul) \
  X(pack) \
  X(conv) \
  X(conv_depthwise) \
  X(attention) \
  X(lstm) \
  X(gru) \
  X(rnn) \
  X(matmul_integer) \
  X(max_pool) \
  X(average_pool) \
  X(resize) \
  X(grid_sample) \
  X(non_max_suppression) \
  X(matmul_int8) \
  X(conv_i8) \
  X(add_i8) \
  X(unpack) \
  X(repack) \
  X(reshape) \
  X(panel_scatter) \
  X(matmul_turned) \
  X(codes) \
  X(conv_winograd) \
  X(conv_i16) \
  X(add_i16) \
  X(conv_block) \
  X(tree_ensemble)

/* X(OP, op, ATTR, attr) for every attribute that is one of some words. */
#define PTE_ENUM_ATTRS(X) \
  X(PAD, pad, MODE, mode) \
  X(SCATTER_ELEMENTS, scatter_elements, REDUCTION, reduction) \
  X(SCATTER_ND, scatter_nd, REDUCTION, reduction) \
  X(CUMULATE, cumulate, KIND, kind) \
  X(REDUCE, reduce, KIND, kind) \
  X(ARG_REDUCE, arg_reduce, KIND, kind) \
  X(ATTENTION, attention, CAUSAL, causal) \
  X(RESIZE, resize, MODE, mode) \
  X(RESIZE, resize, COORDINATES, coordinates) \
  X(RESIZE, resize, NEAREST, nearest) \
  X(GRID_SAMPLE, grid_sample, MODE, mode) \
  X(GRID_SAMPLE, grid_sample, PADDING, padding) \
  X(CONV_BLOCK, conv_block, FIRST, first) \
  X(CONV_BLOCK, conv_block, SECOND, second) \
  X(TREE_ENSEMBLE, tree_ensemble, REDUCTION, reduction)

#endif

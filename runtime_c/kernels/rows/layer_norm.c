/* layer_norm: (x - mean) / sqrt(variance + epsilon) * gain + bias over the last `count` axes,
 * dense; y may be x; gain and bias by one fused operation. Two passes: the mean, then the mean of
 * squared differences, each in 16 lanes and one tree. Source: Ba, Kiros and Hinton 2016. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"
#include "kernels/rows/rows_f32.h"

static float *optional_data(const pte_tensor *t) { return t == NULL ? NULL : t->data; }

static void layer_norm_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_layer_norm_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0];
  int64_t n = pte_tensor_span(x, x->rank - (unsigned)attrs->count, x->rank), row = (int64_t)begin;
  float *y = optional_data(call->out[0]), *mean = optional_data(call->out[1]);
  float *scale = optional_data(call->out[2]);
  pte_norm norm = {.rows = (int64_t)end - row,
                   .n = n,
                   .x = (const float *)x->data + row * n,
                   .gain = optional_data(call->in[1]),
                   .bias = optional_data(call->in[2]),
                   .epsilon = (float)attrs->epsilon,
                   .y = y == NULL ? NULL : y + row * n,
                   .mean = mean == NULL ? NULL : mean + row,
                   .scale = scale == NULL ? NULL : scale + row,
                   .centred = true};
  pte_pace pace = pte_call_pace(call);
  (void)thread;
  (void)pte_rows_f32_pick(call->cpu)->layer_norm(&pace, &norm);
}

static pte_status layer_norm_run(const pte_call *call) {
  const pte_layer_norm_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0];
  unsigned split = x->rank - (unsigned)attrs->count;
  int64_t n = pte_tensor_span(x, split, x->rank);
  pte_parallel(call, (size_t)pte_tensor_span(x, 0, split), pte_grain(n * 8), layer_norm_task,
               (void *)(uintptr_t)call);
  return PTE_OK;
}

const pte_kernel pte_layer_norm_kernel = {.run = layer_norm_run};

/* rms_norm: y = x / sqrt(mean(x^2) + epsilon) * gain over the last `count` axes, dense; y may alias
 * x. The sum runs in 16 lanes and one tree. Source: Zhang and Sennrich 2019. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"
#include "kernels/rows/rows_f32.h"

static void rms_norm_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_rms_norm_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0], *gain = call->in[1];
  int64_t n = pte_tensor_span(x, x->rank - (unsigned)attrs->count, x->rank), row = (int64_t)begin;
  pte_norm norm = {.rows = (int64_t)end - row,
                   .n = n,
                   .x = (const float *)x->data + row * n,
                   .gain = gain == NULL ? NULL : gain->data,
                   .epsilon = (float)attrs->epsilon,
                   .y = (float *)call->out[0]->data + row * n};
  pte_pace pace = pte_call_pace(call);
  (void)thread;
  (void)pte_rows_f32_pick(call->cpu)->rms_norm(&pace, &norm);
}

static pte_status rms_norm_run(const pte_call *call) {
  const pte_rms_norm_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0];
  unsigned split = x->rank - (unsigned)attrs->count;
  int64_t n = pte_tensor_span(x, split, x->rank);
  pte_parallel(call, (size_t)pte_tensor_span(x, 0, split), pte_grain(n * 8), rms_norm_task,
               (void *)(uintptr_t)call);
  return PTE_OK;
}

const pte_kernel pte_rms_norm_kernel = {.run = rms_norm_run};

/* rms_norm: y = x / sqrt(mean(x^2) + epsilon) * gain over the last `count` axes, dense; y may alias
 * x. The sum runs in 16 lanes and one tree. Source: Zhang and Sennrich 2019. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"
#include "kernels/variants.h"

static void rms_norm_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_rms_norm_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0], *gain = call->in[1];
  const pte_rows_f32 *rows = pte_rows_f32_pick(call->cpu);
  int64_t n = pte_tensor_span(x, x->rank - (unsigned)attrs->count, x->rank);
  pte_pace pace = pte_call_pace(call);
  (void)thread;
  for (int64_t row = (int64_t)begin; row < (int64_t)end; row++)
    if (!rows->rms_norm(&pace, n, (const float *)x->data + row * n,
                        gain == NULL ? NULL : gain->data, (float)attrs->epsilon,
                        (float *)call->out[0]->data + row * n))
      return;
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

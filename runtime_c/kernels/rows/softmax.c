/* softmax: exp(x - max) / sum over the last axis, or its logarithm x - max - ln(sum). Rows of x
 * with any strides, y dense; y may be x. The sum runs in 16 lanes and one tree; each
 * quotient is one division. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"
#include "kernels/rows/rows_f32.h"

static void softmax_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *x = call->in[0];
  const pte_rows_f32 *rows = pte_rows_f32_pick(call->cpu);
  bool log = ((const pte_softmax_attrs *)call->attrs)->log != 0;
  unsigned last = x->rank - 1u;
  int64_t n = x->shape[last];
  pte_pace pace = pte_call_pace(call);
  (void)thread;
  pte_coords at = pte_coords_at((int64_t)begin, x->shape, last);
  for (size_t row = begin; row < end; row++, pte_coords_next(&at, x->shape, last)) {
    const float *from = (const float *)x->data + pte_coords_offset(&at, x->stride, last);
    float *to = (float *)call->out[0]->data + (int64_t)row * n;
    if (!rows->softmax(&pace, n, from, x->stride[last], to, log)) return;
  }
}

static pte_status softmax_run(const pte_call *call) {
  const pte_tensor *x = call->in[0];
  int64_t n = x->shape[x->rank - 1u], count = pte_tensor_count(x);
  if (count > 0)
    pte_parallel(call, (size_t)(count / n), pte_grain(n * 8), softmax_task,
                 (void *)(uintptr_t)call);
  return PTE_OK;
}

const pte_kernel pte_softmax_kernel = {.run = softmax_run};

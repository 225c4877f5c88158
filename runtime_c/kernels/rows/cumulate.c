/* cumulate: the running sum or product along the last axis, sequential from 0 or 1; without the
 * element itself where exclusive, from the end where reverse. x with any strides, y dense; y may be
 * x. i64 wraps. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"

#define CUMULATE_ROW(name, type, joined)                                                           \
  static bool name(const pte_cumulate_attrs *attrs, pte_pace *pace, const type *x, int64_t step,   \
                   int64_t n, type *y) {                                                           \
    bool product = attrs->kind == PTE_CUMULATE_KIND_PROD;                                          \
    type total = product ? 1 : 0;                                                                  \
    for (int64_t i = 0, end = 0; i < n; i++) {                                                     \
      if (i == end && (end += pte_pace_take(pace, n - i, 1, 1)) == i) return false;                \
      int64_t at = attrs->reverse ? n - 1 - i : i;                                                 \
      type before = total, v = x[at * step];                                                       \
      total = joined;                                                                              \
      y[at] = attrs->exclusive ? before : total;                                                   \
    }                                                                                              \
    return true;                                                                                   \
  }

CUMULATE_ROW(cumulate_f32, float, product ? total * v : total + v)
CUMULATE_ROW(cumulate_f64, double, product ? total * v : total + v)
CUMULATE_ROW(cumulate_i64, int64_t,
             (int64_t)(product ? (uint64_t)total * (uint64_t)v : (uint64_t)total + (uint64_t)v))

static void cumulate_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *x = call->in[0], *y = call->out[0];
  unsigned last = x->rank - 1u;
  int64_t n = x->shape[last], step = x->stride[last];
  pte_pace pace = pte_call_pace(call);
  bool goes_on = true;
  (void)thread;
  pte_coords at = pte_coords_at((int64_t)begin, x->shape, last);
  for (int64_t row = (int64_t)begin; goes_on && row < (int64_t)end;
       row++, pte_coords_next(&at, x->shape, last)) {
    const void *from = pte_element(x, pte_coords_offset(&at, x->stride, last));
    void *to = pte_element(y, row * n);
    if (x->dtype == PTE_F32) goes_on = cumulate_f32(call->attrs, &pace, from, step, n, to);
    else if (x->dtype == PTE_F64) goes_on = cumulate_f64(call->attrs, &pace, from, step, n, to);
    else goes_on = cumulate_i64(call->attrs, &pace, from, step, n, to);
  }
}

static pte_status cumulate_run(const pte_call *call) {
  const pte_tensor *x = call->in[0];
  int64_t n = x->shape[x->rank - 1u], count = pte_tensor_count(x);
  if (count > 0)
    pte_parallel(call, (size_t)(count / n), pte_grain(n * 8), cumulate_task,
                 (void *)(uintptr_t)call);
  return PTE_OK;
}

const pte_kernel pte_cumulate_kernel = {.run = cumulate_run};

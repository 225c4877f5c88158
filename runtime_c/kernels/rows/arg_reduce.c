/* arg_reduce: where the largest or smallest element of the last axis stands: the first of equals,
 * or the last; a NaN beats everything. x with any strides. Exact. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"

/* ahead(a, b): a takes the place of b, which stands before it. `best` of the elements before
 * `begin`. */
#define ARG_ROW(name, type, ahead)                                                                 \
  static int64_t name(const type *x, int64_t best, int64_t begin, int64_t end, int64_t step,       \
                      bool least, bool last) {                                                     \
    type top = x[best * step];                                                                     \
    for (int64_t i = begin; i < end; i++) {                                                        \
      type v = x[i * step];                                                                        \
      if (!ahead(v, top, least, last)) continue;                                                   \
      top = v;                                                                                     \
      best = i;                                                                                    \
    }                                                                                              \
    return best;                                                                                   \
  }

static inline bool ahead_f32(float v, float top, bool least, bool last) {
  if (top != top) return last && v != v;
  if (v != v) return true;
  return (least ? v < top : v > top) || (last && v == top);
}

static inline bool ahead_i64(int64_t v, int64_t top, bool least, bool last) {
  return (least ? v < top : v > top) || (last && v == top);
}

ARG_ROW(arg_row_f32, float, ahead_f32)
ARG_ROW(arg_row_i64, int64_t, ahead_i64)

static void arg_reduce_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_arg_reduce_attrs *attrs = call->attrs;
  const pte_tensor *x = call->in[0];
  unsigned axis = x->rank - 1u;
  int64_t *y = call->out[0]->data, n = x->shape[axis], step = x->stride[axis];
  bool least = attrs->kind == PTE_ARG_REDUCE_KIND_MIN, last = attrs->last != 0;
  pte_pace pace = pte_call_pace(call);
  (void)thread;
  pte_coords at = pte_coords_at((int64_t)begin, x->shape, axis);
  for (size_t i = begin; i < end; i++, pte_coords_next(&at, x->shape, axis)) {
    const void *from = pte_element(x, pte_coords_offset(&at, x->stride, axis));
    int64_t best = 0;
    for (int64_t j = 0, count; j < n; j += count) {
      if ((count = pte_pace_take(&pace, n - j, 1, 1)) == 0) return;
      best = x->dtype == PTE_F32 ? arg_row_f32(from, best, j, j + count, step, least, last)
                                 : arg_row_i64(from, best, j, j + count, step, least, last);
    }
    y[i] = best;
  }
}

static pte_status arg_reduce_run(const pte_call *call) {
  const pte_tensor *x = call->in[0];
  int64_t n = x->shape[x->rank - 1u], rows = pte_tensor_count(call->out[0]);
  pte_parallel(call, (size_t)rows, pte_grain(n * 4), arg_reduce_task, (void *)(uintptr_t)call);
  return PTE_OK;
}

const pte_kernel pte_arg_reduce_kernel = {.run = arg_reduce_run};

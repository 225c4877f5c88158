/* matmul_integer: y = a b in i64 with wrap-around. a [*b, m, k], b [*b, k, n] with any strides, y
 * dense; no aliasing. */
#include "gen/ops.h"
#include "kernels/rows/rows.h"

enum { COLUMNS = 65536 }; /* of y that are summed together */

/* y += a * row; unsigned, because signed overflow has no meaning in C. */
static void add_scaled(uint64_t *restrict y, uint64_t a, const uint64_t *restrict row, int64_t step,
                       int64_t n) {
  if (step == 1)
    for (int64_t j = 0; j < n; j++) y[j] += a * row[j];
  else
    for (int64_t j = 0; j < n; j++) y[j] += a * row[j * step];
}

/* Items are rows of y. */
static void matmul_integer_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *a = call->in[0], *b = call->in[1], *y = call->out[0];
  unsigned batch = y->rank - 2u;
  int64_t m = y->shape[batch], n = y->shape[batch + 1], k = a->shape[batch + 1];
  pte_pace pace = pte_call_pace(call);
  (void)thread;
  for (int64_t row = (int64_t)begin; row < (int64_t)end; row++) {
    pte_coords at = pte_coords_at(row / m, y->shape, batch);
    const uint64_t *from = (const uint64_t *)a->data + pte_coords_offset(&at, a->stride, batch) +
                           row % m * a->stride[batch];
    const uint64_t *with = (const uint64_t *)b->data + pte_coords_offset(&at, b->stride, batch);
    uint64_t *to = (uint64_t *)y->data + row * n;
    for (int64_t j = 0, count; j < n; j += count) {
      count = n - j < COLUMNS ? n - j : COLUMNS;
      memset(to + j, 0, (size_t)count * sizeof *to);
      for (int64_t i = 0; i < k; i++) {
        if (!pte_pace_go(&pace, count)) return;
        add_scaled(to + j, from[i * a->stride[batch + 1]],
                   with + i * b->stride[batch] + j * b->stride[batch + 1], b->stride[batch + 1],
                   count);
      }
    }
  }
}

static pte_status matmul_integer_run(const pte_call *call) {
  const pte_tensor *y = call->out[0];
  if (pte_tensor_count(y) == 0) return PTE_OK;
  size_t rows = (size_t)pte_tensor_span(y, 0, y->rank - 1u);
  int64_t work = y->shape[y->rank - 1] * call->in[0]->shape[y->rank - 1];
  pte_parallel(call, rows, pte_grain(work * 8), matmul_integer_task, (void *)call);
  return PTE_OK;
}

const pte_kernel pte_matmul_integer_kernel = {.run = matmul_integer_run};

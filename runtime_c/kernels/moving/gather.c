/* gather: y[i, r] = x[index[i], r]. x [d, *r] with any strides, index [*i], y [*i, *r]; no
 * aliasing. Moves bits. */
#include "gen/ops.h"
#include "kernels/moving/index.h"

typedef struct gather {
  const pte_call *call;
  pte_rows rows; /* of one x[d] */
  int64_t extent, stride;
  unsigned bytes;
} gather;

/* Items are (index, row of x[index]). */
static void gather_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const gather *g = context;
  const pte_rows *rows = &g->rows;
  const int64_t *index = g->call->in[1]->data;
  int64_t i = (int64_t)begin / rows->count, row = (int64_t)begin % rows->count;
  char *y = (char *)g->call->out[0]->data + (int64_t)begin * rows->length * g->bytes;
  pte_coords coords = pte_coords_at(row, rows->shape, rows->rank);
  pte_pace pace = pte_call_pace(g->call);
  (void)thread;
  for (size_t item = begin; item < end; item++, y += rows->length * g->bytes) {
    int64_t at = pte_index_at(index + i, g->extent) * g->stride;
    at += pte_coords_offset(&coords, rows->stride, rows->rank);
    const void *from = pte_element(g->call->in[0], at);
    if (!pte_row_move(&pace, y, 1, from, rows->step, rows->length, g->bytes)) return;
    pte_coords_next(&coords, rows->shape, rows->rank);
    if (++row == rows->count) row = 0, i++;
  }
}

static pte_status gather_run(const pte_call *call) {
  const pte_tensor *x = call->in[0];
  PTE_TRY(pte_index_verify(call, 1, x->shape[0]));
  gather g = {.call = call,
              .rows = pte_rows_of(x, 1, x->rank),
              .extent = x->shape[0],
              .stride = x->stride[0]};
  g.bytes = pte_dtype_bits(x->dtype) / 8;
  if (g.rows.length == 0) return PTE_OK;
  size_t items = (size_t)(pte_tensor_count(call->in[1]) * g.rows.count);
  pte_parallel(call, items, pte_grain(g.rows.length * g.bytes), gather_task, &g);
  return PTE_OK;
}

const pte_kernel pte_gather_kernel = {.run = gather_run};

/* gather_nd: y[b, i] = x[b, *index[b, i]]. x with any strides; no aliasing. Moves bits. */
#include "gen/ops.h"
#include "kernels/moving/index.h"

typedef struct gather_nd {
  const pte_call *call;
  pte_rows rows; /* of one slice x[b, *index] */
  unsigned batch, depth, bytes;
  int64_t tuples; /* in one batch */
} gather_nd;

static void gather_nd_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const gather_nd *g = context;
  const pte_tensor *x = g->call->in[0];
  const pte_rows *rows = &g->rows;
  char *y = pte_element(g->call->out[0], (int64_t)begin * rows->count * rows->length);
  pte_pace pace = pte_call_pace(g->call);
  (void)thread;
  for (size_t i = begin; i < end; i++) {
    const int64_t *tuple = (const int64_t *)g->call->in[1]->data + i * g->depth;
    pte_coords batch = pte_coords_at((int64_t)i / g->tuples, x->shape, g->batch), coords = {{0}};
    int64_t at = pte_coords_offset(&batch, x->stride, g->batch);
    at += pte_index_offset(tuple, g->depth, x->shape + g->batch, x->stride + g->batch);
    for (int64_t row = 0; row < rows->count; row++, y += rows->length * g->bytes) {
      int64_t from = at + pte_coords_offset(&coords, rows->stride, rows->rank);
      if (!pte_row_move(&pace, y, 1, pte_element(x, from), rows->step, rows->length, g->bytes))
        return;
      pte_coords_next(&coords, rows->shape, rows->rank);
    }
  }
}

static unsigned slice_axis(const pte_call *call) {
  const pte_gather_nd_attrs *attrs = call->attrs;
  const pte_tensor *index = call->in[1];
  return (unsigned)(attrs->batch_dims + index->shape[index->rank - 1]);
}

static pte_status gather_nd_run(const pte_call *call) {
  const pte_tensor *x = call->in[0], *index = call->in[1];
  if (pte_tensor_count(call->out[0]) == 0) return PTE_OK;
  gather_nd g = {.call = call, .rows = pte_rows_of(x, slice_axis(call), x->rank)};
  g.batch = (unsigned)((const pte_gather_nd_attrs *)call->attrs)->batch_dims;
  g.depth = slice_axis(call) - g.batch;
  g.bytes = pte_dtype_bits(x->dtype) / 8;
  g.tuples = pte_tensor_span(index, g.batch, index->rank - 1u);
  if (g.depth > 0) PTE_TRY(pte_index_verify_tuples(call, 1, x->shape, g.batch));
  size_t items = (size_t)pte_tensor_span(index, 0, index->rank - 1u);
  pte_parallel(call, items, pte_grain(g.rows.count * g.rows.length * g.bytes), gather_nd_task, &g);
  return PTE_OK;
}

const pte_kernel pte_gather_nd_kernel = {.run = gather_nd_run};

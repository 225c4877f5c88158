/* scatter_nd: y = x; then in row-major order of index: y[*index[i]] op= updates[i]. y may be x;
 * updates with any strides. One thread: the order of equal targets is the meaning. */
#include "gen/ops.h"
#include "kernels/moving/combine.h"
#include "kernels/moving/index.h"

static unsigned reduction_of(const pte_call *call) {
  return ((const pte_scatter_nd_attrs *)call->attrs)->reduction;
}

static pte_status scatter_nd_run(const pte_call *call) {
  const pte_tensor *index = call->in[1], *updates = call->in[2], *y = call->out[0];
  unsigned lead = index->rank - 1u, depth = (unsigned)index->shape[lead];
  pte_combine combine = pte_combine_pick(y->dtype, reduction_of(call));
  pte_pace pace = pte_call_pace(call);
  if (depth > 0) PTE_TRY(pte_index_verify_tuples(call, 1, y->shape, 0));
  PTE_TRY(pte_copy_first(call, &pace));
  pte_rows rows = pte_rows_of(updates, lead, updates->rank);
  int64_t count = rows.length > 0 ? pte_tensor_span(index, 0, lead) : 0;
  const int64_t *tuple = index->data;
  pte_coords outer = {{0}};
  for (int64_t i = 0; i < count; i++, tuple += depth) {
    int64_t to = pte_index_offset(tuple, depth, y->shape, y->stride);
    int64_t from = pte_coords_offset(&outer, updates->stride, lead);
    pte_coords coords = {{0}};
    if (!pte_pace_go(&pace, 8)) return PTE_CANCELLED;
    for (int64_t row = 0; row < rows.count; row++, to += rows.length) {
      int64_t at = from + pte_coords_offset(&coords, rows.stride, rows.rank);
      for (int64_t j = 0, piece; j < rows.length; j += piece) {
        if ((piece = pte_pace_take(&pace, rows.length - j, 2, 1)) == 0) return PTE_CANCELLED;
        combine(pte_element(y, to + j), 1, pte_element(updates, at + j * rows.step), rows.step,
                piece);
      }
      pte_coords_next(&coords, rows.shape, rows.rank);
    }
    pte_coords_next(&outer, updates->shape, lead);
  }
  return PTE_OK;
}

const pte_kernel pte_scatter_nd_kernel = {.run = scatter_nd_run};

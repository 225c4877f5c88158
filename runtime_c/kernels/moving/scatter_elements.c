/* scatter_elements: y = x; then in row-major order of index: y[index[i, r], r] op= updates[i, r],
 * along axis 0. y may be x; updates with any strides. One thread: the order of equal targets is the
 * meaning. */
#include "gen/ops.h"
#include "kernels/moving/combine.h"
#include "kernels/moving/index.h"

static unsigned reduction_of(const pte_call *call) {
  return ((const pte_scatter_elements_attrs *)call->attrs)->reduction;
}

static pte_status scatter_elements_run(const pte_call *call) {
  const pte_tensor *index = call->in[1], *updates = call->in[2], *y = call->out[0];
  unsigned last = index->rank - 1u;
  pte_combine combine = pte_combine_pick(y->dtype, reduction_of(call));
  pte_pace pace = pte_call_pace(call);
  PTE_TRY(pte_index_verify(call, 1, y->shape[0]));
  PTE_TRY(pte_copy_first(call, &pace));
  int64_t count = pte_tensor_count(index), length = index->shape[last];
  const int64_t *row = index->data;
  pte_coords coords = {{0}};
  for (int64_t first = 0; first < count; first += length, row += length) {
    int64_t from = pte_coords_offset(&coords, updates->stride, last);
    int64_t to =
        pte_coords_offset(&coords, y->stride, last) - coords.at[0] * (last > 0 ? y->stride[0] : 0);
    for (int64_t j = 0; j < length; j++) {
      if (!pte_pace_go(&pace, 4)) return PTE_CANCELLED;
      int64_t at = to + pte_index_at(row + j, y->shape[0]) * y->stride[0] + (last > 0 ? j : 0);
      combine(pte_element(y, at), 1, pte_element(updates, from + j * updates->stride[last]), 1, 1);
    }
    pte_coords_next(&coords, index->shape, last);
  }
  return PTE_OK;
}

const pte_kernel pte_scatter_elements_kernel = {.run = scatter_elements_run};

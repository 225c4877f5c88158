/* tensor_scatter: y = cache with y[b, h, start[b] + j] = update[b, h, j]; modulo t if circular.
 * cache [b, *h, t, d], update [b, *h, u, d] with any strides. y may be cache (a state): then
 * nothing else is touched. Moves bits. */
#include "gen/ops.h"
#include "kernels/moving/index.h"
#include "kernels/moving/rows_scatter.h"

/* panel_scatter: the rows lie in panels of so many, [p, d, 16]; else each by itself, [t, d]. */
enum { PANEL = 16 };

static int64_t panel_of(const pte_tensor *cache, const pte_tensor *update) {
  return cache->rank > update->rank ? PANEL : 1;
}

/* Rows that the cache has beyond those of the update; negative: the update is longer. */
static int64_t room_of(const pte_call *call) {
  const pte_tensor *cache = call->in[0], *update = call->in[1];
  unsigned axis = update->rank - 2u;
  return cache->shape[axis] * panel_of(cache, update) - update->shape[axis];
}

/* The last place where a write may begin. */
static int64_t last_start(const pte_call *call, bool circular) {
  return circular ? INT64_MAX / 2 : room_of(call);
}

static pte_status verify_starts(const pte_call *call, pte_pace *pace, bool circular) {
  const pte_tensor *cache = call->in[0], *start = call->in[2];
  int64_t room = room_of(call), largest = last_start(call, circular);
  if (start == NULL && room >= 0) return PTE_OK;
  if (start == NULL && !circular)
    return pte_kernel_fail(call, PTE_BAD_DATA, "update does not fit into the cache", 1, -1, -room,
                           0);
  for (int64_t b = 0; start != NULL && b < cache->shape[0]; b++) {
    int64_t at = ((const int64_t *)start->data)[b];
    if (!pte_pace_go(pace, 1)) return PTE_CANCELLED;
    if (at < 0 || at > largest)
      return pte_kernel_fail(call, PTE_BAD_DATA, "no room in the cache at this position", 2, b, at,
                             largest);
  }
  return PTE_OK;
}

pte_status pte_rows_scatter(const pte_call *call, bool circular) {
  const pte_tensor *update = call->in[1], *y = call->out[0];
  unsigned axis = update->rank - 2u, bytes = pte_dtype_bits(y->dtype) / 8;
  const int64_t *start = call->in[2] != NULL ? call->in[2]->data : NULL;
  int64_t panel = panel_of(y, update), last = last_start(call, circular),
          t = y->shape[axis] * panel, d = y->shape[axis + 1], u = update->shape[axis];
  if (pte_tensor_count(update) == 0 && y->data == call->in[0]->data) return PTE_OK;
  pte_pace pace = pte_call_pace(call);
  PTE_TRY(verify_starts(call, &pace, circular));
  PTE_TRY(pte_copy_first(call, &pace));
  if (pte_tensor_count(y) == 0) return PTE_OK;
  int64_t blocks = pte_tensor_span(y, 0, axis), per_batch = pte_tensor_span(y, 1, axis);
  pte_coords coords = {{0}};
  for (int64_t block = 0; block < blocks; block++) {
    int64_t from = pte_coords_offset(&coords, update->stride, axis);
    if (!pte_pace_go(&pace, 8)) return PTE_CANCELLED; /* u may be 0 */
    int64_t first = start != NULL ? pte_count_at(start + block / per_batch, last) : 0;
    for (int64_t j = 0; j < u; j++) {
      int64_t at = circular ? (first + j) % t : first + j;
      const char *row = pte_element(update, from + j * update->stride[axis]);
      int64_t to = (block * t + at - at % panel) * d + at % panel;
      if (!pte_row_move(&pace, pte_element(y, to), panel, row, update->stride[axis + 1], d, bytes))
        return PTE_CANCELLED;
    }
    pte_coords_next(&coords, y->shape, axis);
  }
  return PTE_OK;
}

static pte_status tensor_scatter_run(const pte_call *call) {
  return pte_rows_scatter(call, ((const pte_tensor_scatter_attrs *)call->attrs)->circular != 0);
}

const pte_kernel pte_tensor_scatter_kernel = {.run = tensor_scatter_run};

/* topk: the k first of each row [.., n] and where they stood, sorted; ties by lower index; a NaN
 * counts as the largest, -0 equals +0. x with any strides; no aliasing. A heap of the k best so
 * far, its worst on top: O(n log k). Source: heapsort, Williams 1964. */
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/rows/rows.h"

enum { SINK = 16 }; /* operations that an element costs, about, when it enters the heap */

/* `rank` orders as the row wants it: larger is better. */
typedef struct entry {
  uint64_t rank;
  int64_t index;
} entry;

static uint64_t rank_f32(float value) {
  uint32_t bits;
  value = value == 0.0f ? 0.0f : value;
  memcpy(&bits, &value, 4);
  if (value != value) return UINT32_MAX;
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

static uint64_t rank_i64(int64_t value) { return (uint64_t)value ^ (UINT64_C(1) << 63); }

static bool better(entry a, entry b) {
  return a.rank > b.rank || (a.rank == b.rank && a.index < b.index);
}

/* Lets heap[at] sink until no child is worse than it. */
static void sink(entry *heap, int64_t at, int64_t count) {
  entry moving = heap[at];
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= count) break;
    if (child + 1 < count && better(heap[child], heap[child + 1])) child++;
    if (!better(moving, heap[child])) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moving;
}

static entry entry_at(const pte_tensor *x, int64_t offset, int64_t index, bool largest) {
  uint64_t rank = x->dtype == PTE_F32 ? rank_f32(((const float *)x->data)[offset])
                                      : rank_i64(((const int64_t *)x->data)[offset]);
  return (entry){largest ? rank : ~rank, index};
}

/* Leaves the k best of the row in `heap`, best first. */
static bool select_row(pte_pace *pace, const pte_tensor *x, int64_t offset, int64_t k, bool largest,
                       entry *heap) {
  int64_t n = x->shape[x->rank - 1], step = x->stride[x->rank - 1];
  for (int64_t i = 0, end = 0; i < k; i++) {
    if (i == end && (end += pte_pace_take(pace, k - i, 1, 1)) == i) return false;
    heap[i] = entry_at(x, offset + i * step, i, largest);
  }
  for (int64_t i = k / 2; i-- > 0; sink(heap, i, k))
    if (!pte_pace_go(pace, 4)) return false;
  for (int64_t i = k, end = k; i < n; i++) {
    if (i == end && (end += pte_pace_take(pace, n - i, SINK, 1)) == i) return false;
    entry next = entry_at(x, offset + i * step, i, largest);
    if (!better(next, heap[0])) continue;
    heap[0] = next;
    sink(heap, 0, k);
  }
  for (int64_t left = k; left-- > 1;) {
    if (!pte_pace_go(pace, 2 * SINK)) return false;
    entry worst = heap[0];
    heap[0] = heap[left];
    heap[left] = worst;
    sink(heap, 0, left);
  }
  return true;
}

static void topk_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const pte_call *call = context;
  const pte_tensor *x = call->in[0], *values = call->out[0], *indices = call->out[1];
  const pte_tensor *y = values != NULL ? values : indices;
  unsigned last = x->rank - 1u, bytes = pte_dtype_bits(x->dtype) / 8;
  int64_t k = y->shape[last];
  bool largest = ((const pte_topk_attrs *)call->attrs)->largest != 0;
  entry *heap = (entry *)call->scratch + (int64_t)thread * k;
  pte_coords coords = pte_coords_at((int64_t)begin, x->shape, last);
  pte_pace pace = pte_call_pace(call);
  for (int64_t row = (int64_t)begin; row < (int64_t)end; row++) {
    int64_t offset = pte_coords_offset(&coords, x->stride, last);
    if (!select_row(&pace, x, offset, k, largest, heap)) return;
    for (int64_t i = 0, stop = 0; i < k; i++) {
      if (i == stop && (stop += pte_pace_take(&pace, k - i, 4, 1)) == i) return;
      int64_t from = offset + heap[i].index * x->stride[last];
      if (values != NULL) memcpy(pte_element(values, row * k + i), pte_element(x, from), bytes);
      if (indices != NULL) ((int64_t *)indices->data)[row * k + i] = heap[i].index;
    }
    pte_coords_next(&coords, x->shape, last);
  }
}

static const pte_tensor *any_out(const pte_call *call) {
  return call->out[0] != NULL ? call->out[0] : call->out[1];
}

static pte_status topk_needs(const pte_call *call, pte_needs *out) {
  const pte_tensor *y = any_out(call);
  uint64_t bytes = y == NULL ? 0 : (uint64_t)y->shape[y->rank - 1];
  if (!pte_mul(bytes, sizeof(entry), &bytes) || !pte_mul(bytes, call->threads, &bytes))
    return PTE_NO_MEMORY;
  out->scratch = bytes;
  return PTE_OK;
}

static pte_status topk_run(const pte_call *call) {
  const pte_tensor *x = call->in[0], *y = any_out(call);
  if (y == NULL || pte_tensor_count(y) == 0) return PTE_OK;
  size_t rows = (size_t)pte_tensor_span(x, 0, x->rank - 1u);
  pte_parallel(call, rows, pte_grain(x->shape[x->rank - 1] * 32), topk_task, (void *)call);
  return PTE_OK;
}

const pte_kernel pte_topk_kernel = {.needs = topk_needs, .run = topk_run};

/* attention: softmax(cap(scale q k^T) + mask) v, query head i with key head i // (h / g).
 *
 * For each query row and each tile of 64 keys at absolute positions: s = cap(scale * (q . k)) +
 * mask, the sum over d sequential; m = max s, p = exp(s - m), l = sum p (16 lanes and the tree), o
 * = p v, sequential over the keys it sees. The tiles are merged in ascending order: m' = max(m,
 * mT), l' = l exp(m - m') + lT exp(mT - m'), o' alike; y = o / l. A tile in which nothing is seen
 * does not exist. So decoding token by token gives the bits of one long prefill, and T x T is never
 * stored. q k v mask with any strides, y dense with the
 * heads of a query side by side, no aliasing. Sources: Milakov and Gimelshein 2018;
 * Dao et al. 2022. */
#include "kernels/sequence/attention.h"

#include "core/size.h"
#include "kernels/variants.h"

enum {
  TILE = PTE_ATTENTION_TILE,
  STRIP = PTE_ATTENTION_STRIP,
  ROWS = PTE_ATTENTION_ROWS,
  ROWS_LEAST = 4 * PTE_ATTENTION_STRIP, /* fewer are not worth laying out the keys */
  LANES = PTE_ATTENTION_LANES
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static pte_attention plan(const pte_call *call) {
  const pte_tensor *const *in = call->in;
  pte_attention a = {
      .call = call, .attrs = call->attrs, .q = in[0], .k = in[1], .v = in[2], .mask = in[3]};
  a.groups = a.k->shape[1];
  a.per_group = a.groups > 0 ? a.q->shape[1] / a.groups : 0;
  a.queries = a.q->shape[2];
  a.keys = a.v->shape[2];
  a.panels = a.k->rank == 5;
  a.d = a.q->shape[3];
  a.e = a.v->shape[3];
  a.staged = a.k->dtype != PTE_F32 && !a.panels ? TILE * a.d : 0;
  a.e_padded = (a.e + LANES - 1) / LANES * LANES;
  a.rows = a.per_group * a.queries;
  a.items_per_group = (a.rows + ROWS - 1) / ROWS;
  /* A block of keys is laid out anew for each item: few items, but three a thread. */
  int64_t blocks = a.q->shape[0] * a.groups, wanted = 3 * (int64_t)call->threads;
  if (call->threads > 1 && blocks > 0 && blocks * a.items_per_group < wanted)
    a.items_per_group =
        least((wanted + blocks - 1) / blocks, (a.rows + ROWS_LEAST - 1) / ROWS_LEAST);
  if (a.items_per_group > 0) { /* items of like size, in whole strips */
    int64_t rows = (a.rows + a.items_per_group - 1) / a.items_per_group;
    a.rows_per_item = (rows + STRIP - 1) / STRIP * STRIP;
  }
  return a;
}

static pte_status scratch_of(const pte_attention *a, uint64_t *out_bytes) {
  uint64_t d = (uint64_t)a->d, e = (uint64_t)a->e_padded, rows = (uint64_t)a->rows_per_item;
  if (d > UINT32_MAX || e > UINT32_MAX) return PTE_NO_MEMORY;
  uint64_t facts = (rows + LANES) * (sizeof(pte_attention_row) + 2 * sizeof(float));
  uint64_t floats = TILE * (d + e + STRIP) + STRIP * e + rows * d + (uint64_t)a->staged;
  return pte_align(facts + floats * sizeof(float), 64, out_bytes) ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status attention_scratch(const pte_call *call, uint64_t *out_bytes) {
  pte_attention a = plan(call);
  uint64_t bytes;
  PTE_TRY(scratch_of(&a, &bytes));
  return pte_mul(bytes, call->threads, out_bytes) ? PTE_OK : PTE_NO_MEMORY;
}

typedef struct job {
  pte_attention a;
  const pte_attention_f32 *variant;
} job;

static void attention_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const job *j = context;
  float *scratch = (float *)j->a.call->scratch + j->a.scratch_bytes / sizeof(float) * thread;
  for (size_t i = begin; i < end; i++) j->variant->item(&j->a, (int64_t)i, scratch);
}

static pte_status attention_run(const pte_call *call) {
  job j = {.a = plan(call), .variant = pte_attention_f32_pick(call->cpu)};
  PTE_TRY(scratch_of(&j.a, &j.a.scratch_bytes));
  if (pte_tensor_count(call->out[0]) == 0) return PTE_OK;
  pte_pace pace = pte_call_pace(call);
  for (int64_t b = 0; call->in[4] != NULL && b < j.a.q->shape[0]; b++) {
    if (!pte_pace_go(&pace, 1)) return PTE_CANCELLED;
    int64_t count = ((const int64_t *)call->in[4]->data)[b];
    if (count < 0 || count > j.a.keys)
      return pte_kernel_fail(call, PTE_BAD_DATA, "key count out of range", 4, b, count, j.a.keys);
  }
  size_t items = (size_t)(j.a.q->shape[0] * j.a.groups * j.a.items_per_group);
  pte_parallel(call, items, 1, attention_task, &j);
  return PTE_OK;
}

const pte_kernel pte_attention_kernel = {.scratch = attention_scratch, .run = attention_run};

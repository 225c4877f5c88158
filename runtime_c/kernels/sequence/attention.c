/* attention: softmax(cap(scale q k^T) + mask) v, query head i with key head i // (h / g).
 *
 * For each query row and each tile of 64 keys at absolute positions: s = cap(scale * (q . k)) +
 * mask, the sum over d sequential; m = max s, p = exp(s - m), l = sum p (16 lanes and the tree), o
 * = p v, sequential over the keys it sees. The tiles are merged in ascending order: m' = max(m,
 * mT), l' = l exp(m - m') + lT exp(mT - m'), o' alike; y = o / l. A tile in which nothing is seen
 * does not exist. So decoding token by token gives the bits of one long prefill, and T x T is never
 * stored. In a ring a tile lies at its place modulo the keys there is room for. q k v mask with any
 * strides, y dense with the
 * heads of a query side by side, no aliasing. Sources: Milakov and Gimelshein 2018;
 * Dao et al. 2022. */
#include "kernels/sequence/attention.h"

#include "core/integer.h"
#include "core/machine.h"
#include "core/size.h"
#include "kernels/sequence/attention_f32.h"

enum {
  TILE = PTE_ATTENTION_TILE,
  STRIP = PTE_ATTENTION_STRIP,
  ROWS = PTE_ATTENTION_ROWS,
  TALL = PTE_ATTENTION_TALL,
  ROWS_LEAST = 4 * TALL, /* fewer are not worth laying out the keys */
  LANES = PTE_ATTENTION_LANES,
  WAVE = PTE_ATTENTION_WAVE,
  PARTS = WAVE / PTE_ATTENTION_PART,
  ALONE = 64,       /* queries of a head that pay for keys of its own: none is copied then */
  SHARED_ROWS = 64, /* more have threads enough to do, and much to merge */
  SHARED_KEYS = 4 * TILE
};

static pte_attention plan(const pte_call *call) {
  const pte_tensor *const *in = call->in;
  pte_attention a = {.call = call, .attrs = call->attrs, .q = in[0], .k = in[1], .v = in[2]};
  a.mask = in[3], a.k_scale = in[5], a.v_scale = in[6];
  const float *bias = in[7] != NULL ? in[7]->data : NULL; /* at prepare there are shapes only */
  if (bias != NULL) a.slope = bias, a.sink = bias + in[7]->shape[1];
  a.heads = a.q->shape[1];
  a.groups = a.k->shape[1];
  a.queries = a.q->shape[2];
  a.block_heads = a.queries >= ALONE ? 1 : a.groups > 0 ? a.heads / a.groups : 0;
  a.blocks = a.block_heads > 0 ? a.heads / a.block_heads : 0;
  a.keys = a.v->shape[2];
  a.most = a.attrs->ring > 0 ? a.attrs->ring : a.keys;
  a.panels = a.k->rank == 5;
  a.d = a.q->shape[3];
  a.e = a.v->shape[3];
  a.staged = a.k->dtype != PTE_F32 && !a.panels ? TILE * a.d : 0;
  a.e_padded = (a.e + LANES - 1) / LANES * LANES;
  a.rows = a.block_heads * a.queries;
  a.items_per_block = (a.rows + ROWS - 1) / ROWS;
  /* Keys are laid out anew for each item: few items, but three a thread. */
  int64_t blocks = a.q->shape[0] * a.blocks, wanted = 3 * (int64_t)call->threads;
  if (call->threads > 1 && blocks > 0 && blocks * a.items_per_block < wanted)
    a.items_per_block =
        pte_least_i64((wanted + blocks - 1) / blocks, (a.rows + ROWS_LEAST - 1) / ROWS_LEAST);
  if (a.items_per_block > 0) { /* items of like size, in whole register tiles */
    int64_t rows = (a.rows + a.items_per_block - 1) / a.items_per_block;
    a.rows_per_item = (rows + TALL - 1) / TALL * TALL;
  }
  a.strip = pte_least_i64(a.rows_per_item, STRIP);
  a.shared = call->threads > 1 && blocks * a.items_per_block < 2 * (int64_t)call->threads &&
             a.rows <= SHARED_ROWS && a.keys >= SHARED_KEYS && a.attrs->left_window < 0;
  a.strips = (a.rows_per_item + STRIP - 1) / STRIP;
  a.queries_meet =
      pte_machine_same_set(pte_call_machine(call), 2 * sizeof(float) * (size_t)a.q->stride[2]);
  a.side = (a.strip + LANES - 1) / LANES * LANES;
  a.slot = 2 * a.side + a.strip * a.e_padded;
  return a;
}

void pte_attention_find(const pte_attention *a, int64_t batch, int64_t block, int64_t keys,
                        int64_t first, int64_t count, pte_attention_row *row) {
  const pte_attention_attrs *attrs = a->attrs;
  bool counted = a->call->in[4] != NULL && attrs->causal == PTE_ATTENTION_CAUSAL_NONE;
  bool from_end = counted || attrs->causal == PTE_ATTENTION_CAUSAL_BOTTOM_RIGHT;
  const int64_t none[4] = {0}, *step = a->mask == NULL ? none : a->mask->stride, *q = a->q->stride;
  int64_t head = block * a->block_heads + first / a->queries, query = first % a->queries;
  int64_t q_at = 0, mask_at = 0, heads = a->heads;
  float *y = NULL;
  for (int64_t i = 0; i < count; i++) {
    if (query == a->queries) query = 0, head++;
    if (i == 0 || query == 0) { /* from one query of a head to the next it is a step */
      q_at = batch * q[0] + head * q[1] + query * q[2];
      mask_at = batch * step[0] + head * step[1] + query * step[2];
      y = (float *)a->call->out[0]->data + ((batch * a->queries + query) * heads + head) * a->e;
    }
    int64_t position = query + (from_end ? keys - a->queries : 0);
    int64_t low = pte_most_i64(keys - a->keys, 0), high = keys;
    if (attrs->causal != PTE_ATTENTION_CAUSAL_NONE) high = pte_least_i64(high, position + 1);
    if (attrs->right_window >= 0) high = pte_least_i64(high, position + attrs->right_window + 1);
    if (attrs->left_window >= 0) low = pte_most_i64(low, position - attrs->left_window);
    row[i] = (pte_attention_row){.low = low,
                                 .high = pte_most_i64(low, high),
                                 .q = q_at,
                                 .mask = mask_at,
                                 .position = position,
                                 .head = head,
                                 .y = y};
    query++, q_at += q[2], mask_at += step[2], y += heads * a->e;
  }
}

pte_attention_shared pte_attention_meet(const pte_attention_sight *see, int64_t rows) {
  pte_attention_shared all = {.low = TILE, .end = TILE};
  for (int64_t i = 0; i < rows; i++) {
    all.low = pte_least_i64(all.low, see[i].low), all.begin = pte_most_i64(all.begin, see[i].low);
    all.end = pte_least_i64(all.end, see[i].high);
    if (see[i].high > see[i].low) all.high = pte_most_i64(all.high, see[i].high);
  }
  if (all.begin >= all.end) all.begin = all.end = TILE;
  return all;
}

static int64_t items_of(const pte_attention *a) {
  return a->q->shape[0] * a->blocks * a->items_per_block;
}

static pte_status scratch_of(const pte_attention *a, uint64_t *out_bytes) {
  uint64_t d = (uint64_t)a->d, e = (uint64_t)a->e_padded, rows = (uint64_t)a->rows_per_item;
  uint64_t strip = (uint64_t)a->strip;
  if (d > UINT32_MAX || e > UINT32_MAX) return PTE_NO_MEMORY;
  uint64_t facts = (rows + LANES) * (sizeof(pte_attention_row) + 2 * sizeof(float));
  uint64_t floats = TILE * (d + e + strip + 2) + strip * e + rows * d + (uint64_t)a->staged;
  return pte_align(facts + floats * sizeof(float), 64, out_bytes) ? PTE_OK : PTE_NO_MEMORY;
}

/* Floats of all tiles of a wave; few, because items and rows are. */
static uint64_t tiles_of(const pte_attention *a) {
  return a->shared ? (uint64_t)(items_of(a) * WAVE * a->strips * a->slot) : 0;
}

static pte_status attention_needs(const pte_call *call, pte_needs *out) {
  pte_attention a = plan(call);
  uint64_t bytes, more = tiles_of(&a);
  PTE_TRY(scratch_of(&a, &bytes));
  if (a.shared) more += (uint64_t)(items_of(&a) * 2 * (a.rows_per_item + LANES));
  return pte_mul(bytes, call->threads, &bytes) &&
                 pte_add(bytes, more * sizeof(float), &out->scratch)
             ? PTE_OK
             : PTE_NO_MEMORY;
}

typedef struct job {
  pte_attention a;
  const pte_attention_f32 *variant;
} job;

static float *scratch_for(const job *j, uint32_t thread) {
  return (float *)j->a.call->scratch + j->a.scratch_bytes / sizeof(float) * thread;
}

static void attention_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const job *j = context;
  for (size_t i = begin; i < end; i++) j->variant->item(&j->a, (int64_t)i, scratch_for(j, thread));
}

static void part_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const job *j = context;
  for (int64_t i = (int64_t)begin; i < (int64_t)end; i++)
    j->variant->part(&j->a, i / PARTS, i % PARTS, scratch_for(j, thread));
}

static void merge_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const job *j = context;
  for (size_t i = begin; i < end; i++) j->variant->merge(&j->a, (int64_t)i, scratch_for(j, thread));
}

/* A wave of tiles in all threads, then what they gave, and so on up to `keys`. */
static void run_waves(const pte_call *call, job *j, int64_t keys) {
  size_t items = (size_t)items_of(&j->a);
  j->a.tiles = scratch_for(j, call->threads);
  j->a.kept = j->a.tiles + tiles_of(&j->a);
  do {
    pte_parallel(call, items * PARTS, 1, part_task, j);
    pte_parallel(call, items, 1, merge_task, j);
    j->a.wave += WAVE;
  } while (j->a.wave * TILE < keys);
}

static pte_status attention_run(const pte_call *call) {
  job j = {.a = plan(call), .variant = pte_attention_f32_pick(call->cpu)};
  PTE_TRY(scratch_of(&j.a, &j.a.scratch_bytes));
  if (pte_tensor_count(call->out[0]) == 0) return PTE_OK;
  pte_pace pace = pte_call_pace(call);
  int64_t keys = call->in[4] != NULL ? 0 : j.a.keys;
  for (int64_t b = 0; call->in[4] != NULL && b < j.a.q->shape[0]; b++) {
    if (!pte_pace_go(&pace, 1)) return PTE_CANCELLED;
    int64_t count = ((const int64_t *)call->in[4]->data)[b];
    if (count < 0 || count > j.a.most)
      return pte_kernel_fail(call, PTE_BAD_DATA, "key count out of range", 4, b, count, j.a.most);
    keys = count > keys ? count : keys;
  }
  if (j.a.shared) run_waves(call, &j, keys);
  else pte_parallel(call, (size_t)items_of(&j.a), 1, attention_task, &j);
  return PTE_OK;
}

const pte_kernel pte_attention_kernel = {.needs = attention_needs, .run = attention_run};

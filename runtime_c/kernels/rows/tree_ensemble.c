/* tree_ensemble: y[n, g] = the sum, least or largest weight [c] of the leaves that row x[n] [f]
 * reaches in the t trees of group g, one after the other. x with any strides, the rest dense; no
 * aliasing. A block of rows goes through one tree after the other, so that the tree's nodes stay in
 * the cache; each output is still combined in the order of the trees.
 *
 * Nodes come as data. A next node has a larger number, so a walk ends; what is read is looked at
 * before it is used, and once: whoever owns the data may change it meanwhile. The fault of a run is
 * that of the first walk in row-major order of [n, g, t], whatever the threads do. */
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/rows/rows.h"

enum { BLOCK = 64, LOOK = 1024 }; /* rows; steps between two looks at the watch */

enum { BAD = INT32_MIN, ENDED = INT32_MIN + 1 }; /* instead of a leaf */

typedef struct trees {
  const pte_call *call;
  const int32_t *nodes, *roots;
  const void *thresholds;
  int64_t features, node_count, leaf_count, step; /* of x from feature to feature */
  int64_t groups, per_group, width;
  int64_t *faults; /* a thread: its first walk that failed, or -1 */
} trees;

static int32_t once(const int32_t *at) { return *(const volatile int32_t *)at; }

/* Whether `next`, which node `at` (-1: a root) says, is a node behind it or a leaf. */
static bool is_next(const trees *t, int32_t at, int32_t next) {
  return next < 0 ? -1 - (int64_t)next < t->leaf_count : next > at && next < t->node_count;
}

/* The leaf that a row reaches from `at`; BAD, and then `*out_at` is the node at fault (-1: the
 * root); ENDED: the run is to end. */
#define TREE_WALK(name, type)                                                                      \
  static int32_t name(const trees *t, const void *row, int32_t at, pte_pace *pace, int64_t *steps, \
                      int32_t *out_at) {                                                           \
    const type *thresholds = t->thresholds;                                                        \
    *out_at = -1;                                                                                  \
    if (!is_next(t, -1, at)) return BAD;                                                           \
    while (at >= 0) {                                                                              \
      const int32_t *node = t->nodes + 3 * (int64_t)at;                                            \
      uint32_t split = (uint32_t)once(node), feature = split >> 1;                                 \
      *out_at = at;                                                                                \
      if (feature >= t->features) return BAD;                                                      \
      type value = ((const type *)row)[feature * t->step];                                         \
      bool first = value <= thresholds[at] || (value != value && (split & 1) != 0);                \
      int32_t next = once(node + (first ? 1 : 2));                                                 \
      if (!is_next(t, at, next)) return BAD;                                                       \
      at = next;                                                                                   \
      if (++*steps < LOOK) continue;                                                               \
      if (!pte_pace_go(pace, 4 * LOOK)) return ENDED;                                              \
      *steps = 0;                                                                                  \
    }                                                                                              \
    return -1 - at;                                                                                \
  }

/* y[c] op= weights[leaf, c]; `first`: y has nothing yet, which is the identity of a sum. */
#define TREE_TAKE(name, type)                                                                      \
  static void name(const trees *t, int32_t leaf, bool first, void *to) {                           \
    const pte_tree_ensemble_attrs *attrs = t->call->attrs;                                         \
    const type *weight = (const type *)t->call->in[4]->data + leaf * t->width;                     \
    type *y = to;                                                                                  \
    for (int64_t c = 0; c < t->width; c++) {                                                       \
      type w = weight[c];                                                                          \
      if (attrs->reduction == PTE_TREE_ENSEMBLE_REDUCTION_SUM) y[c] = (first ? 0 : y[c]) + w;      \
      else if (first || w != w ||                                                                  \
               (attrs->reduction == PTE_TREE_ENSEMBLE_REDUCTION_MIN ? w < y[c] : w > y[c]))        \
        y[c] = w;                                                                                  \
    }                                                                                              \
  }

TREE_WALK(walk_f32, float)
TREE_WALK(walk_f64, double)
TREE_TAKE(take_f32, float)
TREE_TAKE(take_f64, double)

static int32_t walk(const trees *t, int64_t row, int32_t root, pte_pace *pace, int64_t *steps,
                    int32_t *out_at) {
  const pte_tensor *x = t->call->in[0];
  const void *from = pte_element(x, row * x->stride[0]);
  return x->dtype == PTE_F32 ? walk_f32(t, from, root, pace, steps, out_at)
                             : walk_f64(t, from, root, pace, steps, out_at);
}

/* Rows begin..end through tree `tree`, counted over all groups; false: the run is to end. */
static bool pass(const trees *t, int64_t begin, int64_t end, int64_t tree, uint32_t thread,
                 pte_pace *pace, int64_t *steps) {
  const pte_tensor *y = t->call->out[0];
  int64_t group = tree / t->per_group, all = t->groups * t->per_group;
  bool first = tree % t->per_group == 0, wide = y->dtype == PTE_F64;
  int32_t root = once(t->roots + tree), at;
  for (int64_t row = begin; row < end; row++) {
    int32_t leaf = walk(t, row, root, pace, steps, &at);
    if (leaf == ENDED || !pte_pace_go(pace, 4 + t->width)) return false;
    int64_t *fault = t->faults + thread, walked = row * all + tree;
    if (leaf == BAD) {
      if (*fault < 0 || walked < *fault) *fault = walked;
      continue;
    }
    void *to = pte_element(y, (row * t->groups + group) * t->width);
    (wide ? take_f64 : take_f32)(t, leaf, first, to);
  }
  return true;
}

static void tree_ensemble_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const trees *t = context;
  int64_t rows = t->call->in[0]->shape[0], steps = 0;
  pte_pace pace = pte_call_pace(t->call);
  for (int64_t block = (int64_t)begin; block < (int64_t)end; block++) {
    int64_t from = block * BLOCK, to = from + BLOCK < rows ? from + BLOCK : rows;
    for (int64_t tree = 0; tree < t->groups * t->per_group; tree++)
      if (!pass(t, from, to, tree, thread, &pace, &steps)) return;
  }
}

/* Says what is wrong with the first walk that failed. */
static pte_status close(const trees *t) {
  int64_t first = -1, steps = 0, all = t->groups * t->per_group;
  for (uint32_t i = 0; i < t->call->threads; i++)
    if (t->faults[i] >= 0 && (first < 0 || t->faults[i] < first)) first = t->faults[i];
  if (first < 0) return PTE_OK;
  int32_t at;
  pte_pace pace = pte_pace_of(NULL);
  walk(t, first / all, once(t->roots + first % all), &pace, &steps, &at);
  if (at < 0)
    return pte_kernel_fail(t->call, PTE_BAD_DATA, "root is no node and no leaf", 3, first % all,
                           once(t->roots + first % all), t->node_count - 1);
  const int32_t *node = t->nodes + 3 * (int64_t)at;
  return pte_kernel_fail(t->call, PTE_BAD_DATA, "node has no such feature or next node", 1,
                         3 * (int64_t)at, once(node) >> 1, t->features - 1);
}

static pte_status tree_ensemble_needs(const pte_call *call, pte_needs *out) {
  return pte_mul(call->threads, sizeof(int64_t), &out->scratch) ? PTE_OK : PTE_NO_MEMORY;
}

static pte_status tree_ensemble_run(const pte_call *call) {
  const pte_tensor *x = call->in[0], *nodes = call->in[1], *roots = call->in[3], *y = call->out[0];
  if (pte_tensor_count(y) == 0) return PTE_OK;
  trees t = {.call = call,
             .nodes = nodes->data,
             .roots = roots->data,
             .thresholds = call->in[2]->data,
             .features = x->shape[1],
             .node_count = nodes->shape[0],
             .leaf_count = call->in[4]->shape[0],
             .step = x->stride[1],
             .groups = roots->shape[0],
             .per_group = roots->shape[1],
             .width = y->shape[2],
             .faults = call->scratch};
  for (uint32_t i = 0; i < call->threads; i++) t.faults[i] = -1;
  size_t blocks = (size_t)((x->shape[0] + BLOCK - 1) / BLOCK);
  pte_parallel(call, blocks, 1, tree_ensemble_task, &t);
  return pte_call_ended(call) ? PTE_CANCELLED : close(&t);
}

const pte_kernel pte_tree_ensemble_kernel = {.needs = tree_ensemble_needs,
                                             .run = tree_ensemble_run};

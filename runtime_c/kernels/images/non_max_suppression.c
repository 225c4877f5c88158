/* non_max_suppression: of each batch's and class's boxes the best by score, then the next best that
 * shares no more than `overlap` (intersection over union) with those kept, until `limit` are. The
 * candidates of a class are a heap, best on top, so that few kept boxes cost few removals. y [m, 3]
 * holds (batch, class, box); m is what was found. Source: Neubeck and Van Gool 2006. */
#include "core/size.h"
#include "gen/ops.h"
#include "kernels/rows/rows.h"

typedef struct candidate {
  float score;
  int64_t index;
} candidate;

typedef struct box {
  float low[2], high[2], area; /* y, x */
} box;

typedef struct work {
  const float *boxes; /* of the batch */
  candidate *heap;
  int64_t count, limit;
  float overlap, threshold;
  bool center;
  pte_pace pace;
} work;

static bool better(candidate a, candidate b) {
  return a.score > b.score || (a.score == b.score && a.index < b.index);
}

static void sink(candidate *heap, int64_t at, int64_t count) {
  candidate moving = heap[at];
  for (;;) {
    int64_t child = 2 * at + 1;
    if (child >= count) break;
    if (child + 1 < count && better(heap[child + 1], heap[child])) child++;
    if (!better(heap[child], moving)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moving;
}

static float least(float a, float b) { return a < b ? a : b; }
static float most(float a, float b) { return a > b ? a : b; }

static box box_at(const work *w, int64_t index) {
  const float *from = w->boxes + index * 4;
  box b;
  for (unsigned i = 0; i < 2; i++) {
    if (w->center) { /* x, y, width, height */
      float half = from[3 - i] / 2.0f;
      b.low[i] = from[1 - i] - half;
      b.high[i] = from[1 - i] + half;
    } else {
      b.low[i] = least(from[i], from[2 + i]);
      b.high[i] = most(from[i], from[2 + i]);
    }
  }
  b.area = (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]);
  return b;
}

static bool shares_more(const box *a, const box *b, float overlap) {
  float sides[2];
  for (unsigned i = 0; i < 2; i++) {
    sides[i] = least(a->high[i], b->high[i]) - most(a->low[i], b->low[i]);
    if (!(sides[i] > 0.0f)) return 0.0f > overlap;
  }
  if (!(a->area > 0.0f) || !(b->area > 0.0f)) return 0.0f > overlap;
  float inside = sides[0] * sides[1];
  return inside / (a->area + b->area - inside) > overlap;
}

/* The candidates of one class: scores above the threshold; a NaN is none. */
static bool fill(work *w, const float *scores, int64_t boxes) {
  w->count = 0;
  for (int64_t i = 0, end = 0; i < boxes; i++) {
    if (i == end && (end += pte_pace_take(&w->pace, boxes - i, 1, 1)) == i) return false;
    if (scores[i] > w->threshold) w->heap[w->count++] = (candidate){scores[i], i};
  }
  for (int64_t i = w->count / 2; i-- > 0; sink(w->heap, i, w->count))
    if (!pte_pace_go(&w->pace, 4)) return false;
  return pte_pace_go(&w->pace, 8); /* for the class itself, which may have no boxes */
}

static candidate take_best(work *w) {
  candidate best = w->heap[0];
  w->heap[0] = w->heap[--w->count];
  if (w->count > 0) sink(w->heap, 0, w->count);
  return best;
}

/* Where the run is to end, it says no. */
static bool is_free(work *w, int64_t index, const int64_t *kept, int64_t kept_count) {
  box b = box_at(w, index);
  for (int64_t i = 0, end = 0; i < kept_count; i++) {
    if (i == end && (end += pte_pace_take(&w->pace, kept_count - i, 8, 1)) == i) return false;
    box other = box_at(w, kept[3 * i + 2]);
    if (shares_more(&b, &other, w->overlap)) return false;
  }
  return true;
}

static float scalar_f32(const pte_tensor *t, float otherwise) {
  return t == NULL ? otherwise : *(const float *)t->data;
}

static pte_status non_max_suppression_needs(const pte_call *call, pte_needs *out) {
  if (!pte_mul((uint64_t)call->in[1]->shape[2], sizeof(candidate), &out->scratch))
    return PTE_NO_MEMORY;
  return PTE_OK;
}

static pte_status non_max_suppression_run(const pte_call *call) {
  const pte_non_max_suppression_attrs *a = call->attrs;
  const pte_tensor *scores = call->in[1], *limit = call->in[2];
  pte_tensor *y = call->out[0];
  int64_t classes = scores->shape[1], boxes = scores->shape[2], found = 0;
  int64_t *to = y->data;
  work w = {.heap = call->scratch, .center = a->center != 0, .pace = pte_call_pace(call)};
  w.limit = limit == NULL ? 0 : *(const int64_t *)limit->data;
  w.overlap = scalar_f32(call->in[3], 0.0f);
  w.threshold = scalar_f32(call->in[4], -__builtin_inff());
  for (int64_t row = 0; row < scores->shape[0] * classes; row++) {
    int64_t *kept = to + 3 * found, kept_count = 0;
    w.boxes = (const float *)call->in[0]->data + row / classes * boxes * 4;
    if (!fill(&w, (const float *)scores->data + row * boxes, boxes)) return PTE_CANCELLED;
    while (w.count > 0 && kept_count < w.limit) {
      if (!pte_pace_go(&w.pace, 64)) return PTE_CANCELLED; /* the heap's depth */
      int64_t index = take_best(&w).index;
      if (!is_free(&w, index, kept, kept_count)) continue;
      if (found == y->shape[0])
        return pte_kernel_fail(call, PTE_LIMIT, "more boxes than the dimension's capacity", 128, -1,
                               found + 1, y->shape[0]);
      int64_t place[3] = {row / classes, row % classes, index};
      memcpy(to + 3 * found++, place, sizeof place);
      kept_count++;
    }
  }
  y->shape[0] = found;
  return PTE_OK;
}

const pte_kernel pte_non_max_suppression_kernel = {.needs = non_max_suppression_needs,
                                                   .run = non_max_suppression_run};

/* The next token of logits: the same one everywhere for (seed, stream, position).
 *
 * Philox4x32-10 makes the draw of a position, whatever was drawn before, so a session that went
 * back, forked or was restored goes on with the same text. Candidates have one order, (logit, then
 * id); their weights are integers of 2^-30, whose sums have none. Salmon et al. 2011; Holtzman et
 * al. 2020 (top-p). */
#include <string.h>

#include "core/error.h"
#include "core/kept.h"
#include "core/kernel.h"
#include "core/math.h"
#include "core/size.h"
#include "core/sized.h"
#include "pteron/pteron.h"

typedef struct candidate {
  float logit;
  uint32_t id, weight;
} candidate;

static void philox(uint32_t counter[4], uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)0xD2511F53u * counter[0], b = (uint64_t)0xCD9E8D57u * counter[2];
    uint32_t first = (uint32_t)(b >> 32) ^ counter[1] ^ key0;
    uint32_t third = (uint32_t)(a >> 32) ^ counter[3] ^ key1;
    counter[0] = first;
    counter[1] = (uint32_t)b;
    counter[2] = third;
    counter[3] = (uint32_t)a;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
}

static uint32_t low(uint64_t x) { return (uint32_t)x; }
static uint32_t high(uint64_t x) { return (uint32_t)(x >> 32); }

/* floor(u * total / 2^64) for a u of 64 random bits. */
static uint64_t draw(const pte_sampling *o, uint64_t position, uint64_t total) {
  uint32_t c[4] = {low(position), high(position), low(o->stream), high(o->stream)};
  philox(c, low(o->seed), high(o->seed));
  uint64_t u0 = c[0], u1 = c[1], t0 = low(total), t1 = high(total);
  uint64_t middle = u1 * t0 + (u0 * t0 >> 32); /* at most (2^32 - 1)^2 + 2^32 - 1 */
  uint64_t other = u0 * t1 + low(middle);
  return u1 * t1 + high(middle) + high(other);
}

static bool before(const candidate *a, const candidate *b) {
  return a->logit != b->logit ? a->logit > b->logit : a->id < b->id;
}

/* A heap of `count` indices into `all`; the first one (or, `last`, the last one) of the order is on
 * top. */
typedef struct heap {
  const candidate *all;
  uint32_t *at;
  uint32_t count;
  bool last;
} heap;

static bool above(const heap *h, uint32_t a, uint32_t b) {
  return h->last ? before(&h->all[b], &h->all[a]) : before(&h->all[a], &h->all[b]);
}

static void sift(const heap *h, uint32_t i) {
  for (uint32_t moved = h->at[i], child; 2 * (uint64_t)i + 1 < h->count; i = child) {
    child = 2 * i + 1;
    if (child + 1 < h->count && above(h, h->at[child + 1], h->at[child])) child++;
    if (!above(h, h->at[child], moved)) break;
    h->at[i] = h->at[child];
    h->at[child] = moved;
  }
}

static void heapify(heap *h) {
  for (uint32_t i = h->count / 2; i-- > 0;) sift(h, i);
}

/* The first `keep` of the order stay, in order of id. */
static uint32_t cut_to(candidate *all, uint32_t count, uint32_t keep, uint32_t *room) {
  if (keep == 0 || keep >= count) return count;
  heap h = {.all = all, .at = room, .count = keep, .last = true};
  for (uint32_t i = 0; i < keep; i++) room[i] = i;
  heapify(&h);
  for (uint32_t i = keep; i < count; i++)
    if (before(&all[i], &all[room[0]])) room[0] = i, sift(&h, 0);
  const candidate end = all[room[0]];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!before(&end, &all[i])) all[kept++] = all[i];
  return kept;
}

/* Weights e^((logit - top) / temperature) in 2^-30; those of 0 and below min_p go. */
static uint32_t weigh(candidate *all, uint32_t count, float top, const pte_sampling *o) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++) {
    candidate c = all[i];
    float p = c.logit == top ? 1.0f : pte_exp((c.logit - top) / o->temperature);
    c.weight = (uint32_t)(p * 1073741824.0f);
    if (c.weight != 0 && p >= o->min_p) all[kept++] = c;
  }
  return kept;
}

/* As many of the first in order stay as make `top_p` of all weights, in order of id. */
static uint32_t nucleus(candidate *all, uint32_t count, float top_p, uint32_t *room) {
  uint64_t whole = 0, sum = 0;
  for (uint32_t i = 0; i < count; i++) whole += all[i].weight, room[i] = i;
  uint64_t limit = (uint64_t)((double)whole * (double)top_p);
  heap h = {.all = all, .at = room, .count = count};
  heapify(&h);
  candidate end = all[room[0]];
  while (h.count > 0) {
    end = all[room[0]];
    sum += end.weight;
    if (sum >= limit) break;
    room[0] = room[--h.count];
    sift(&h, 0);
  }
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!before(&end, &all[i])) all[kept++] = all[i];
  return kept;
}

static pte_status check_options(const pte_sampling *given, pte_sampling *o, pte_error *err) {
  PTE_TRY(pte_sized_read(given, o, sizeof *o, "sampling", err));
  if (!(o->temperature >= 0.0f && o->temperature < PTE_INFINITY))
    return pte_fail(err, PTE_BAD_ARGUMENT, "sampling: temperature is negative or no number");
  if (o->top_p == 0.0f) o->top_p = 1.0f;
  if (!(o->top_p > 0.0f && o->top_p <= 1.0f))
    return pte_fail(err, PTE_BAD_ARGUMENT, "sampling: top_p is not between 0 and 1");
  if (!(o->min_p >= 0.0f && o->min_p <= 1.0f))
    return pte_fail(err, PTE_BAD_ARGUMENT, "sampling: min_p is not between 0 and 1");
  return PTE_OK;
}

size_t pte_sample_room(uint32_t count) {
  const size_t each = sizeof(candidate) + sizeof(uint32_t);
  return (size_t)count > SIZE_MAX / each ? SIZE_MAX : (size_t)count * each;
}

pte_status pte_sample(const pte_sampling *options, const float *logits, uint32_t count,
                      uint64_t position, pte_memory room, uint32_t *out_id, pte_error *err) {
  PTE_NEEDS_STATES(err);
  pte_sampling o;
  PTE_TRY(check_options(options, &o, err));
  candidate best = {.weight = 0};
  uint32_t numbers = 0;
  for (uint32_t i = 0; logits != NULL && i < count; i++) {
    candidate c = {.logit = logits[i], .id = i};
    if (c.logit != c.logit) continue;
    if (numbers++ == 0 || before(&c, &best)) best = c;
  }
  if (numbers == 0) return pte_fail(err, PTE_BAD_DATA, "sampling: no logit is a number");
  *out_id = best.id;
  if (o.temperature == 0.0f || o.top_k == 1) return PTE_OK;
  if (room.data == NULL || room.size_bytes < pte_sample_room(count))
    return pte_fail(err, PTE_NO_MEMORY, "sampling: got %llu bytes of room, needs %llu",
                    (uint64_t)room.size_bytes, (uint64_t)pte_sample_room(count));
  candidate *all = room.data;
  uint32_t *order = (uint32_t *)(void *)(all + count), kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (logits[i] == logits[i]) all[kept++] = (candidate){.logit = logits[i], .id = i};
  kept = cut_to(all, kept, o.top_k, order);
  kept = weigh(all, kept, best.logit, &o);
  if (o.top_p < 1.0f) kept = nucleus(all, kept, o.top_p, order);
  uint64_t total = 0;
  for (uint32_t i = 0; i < kept; i++) total += all[i].weight;
  uint64_t at = draw(&o, position, total);
  uint32_t i = 0;
  while (at >= all[i].weight) at -= all[i++].weight; /* at < total */
  *out_id = all[i].id;
  return PTE_OK;
}

/* Byte pair encoding: of all neighbours that a rank merges, those of the lowest are merged first,
 * the leftmost of equal ones. Sennrich, Haddow and Birch 2016.
 *
 * Short words look through their pairs each time; long ones keep them in a heap. A pair's rank is
 * looked up once: merges only make pieces longer, so an entry of the heap whose pieces were merged
 * since names a pair that is no longer there, and is dropped. */
#include "tokenizer/text.h"

#define SHORT 32 /* pieces */

typedef struct piece {
  uint32_t id, before, after; /* places; PTE_NONE at the ends. id is PTE_NONE once it is merged */
} piece;

/* A pair that can be merged: the piece that it begins with, and the ids that it was seen with. */
typedef struct pair {
  uint32_t rank, at, left, right;
} pair;

typedef struct heap {
  pair *pairs;
  uint32_t count;
} heap;

static uint32_t rank_of(const pte_text *t, uint32_t left, uint32_t right) {
  const pte_text_part *table = &t->parts[PTE_TEXT_PART_MERGES];
  if (table->count == 0) return PTE_NONE;
  uint32_t hash = left * 0x9E3779B1u ^ (right + 0x7F4A7C15u) * 0x85EBCA6Bu;
  hash ^= hash >> 15;
  hash *= 0xC2B2AE35u;
  hash ^= hash >> 13;
  for (uint32_t probe = 0; probe < PTE_TEXT_MOST_PROBES; probe++) {
    pte_text_merge merge;
    memcpy(&merge, table->data + (size_t)((hash + probe) & (table->count - 1)) * sizeof merge,
           sizeof merge);
    if (merge.left == left && merge.right == right)
      return merge.rank < t->parts[PTE_TEXT_PART_MERGED].count ? merge.rank : PTE_NONE;
    if (merge.left == PTE_NONE) return PTE_NONE;
  }
  return PTE_NONE;
}

/* The id that a rank makes. */
static uint32_t merged(const pte_text *t, uint32_t rank) {
  return pte_text_u32(t, PTE_TEXT_PART_MERGED, rank);
}

/* --- what a word begins as -------------------------------------------------------------------- */

/* The pieces of one character; `*last` is the unknown one that a neighbour may be fused with. */
static size_t units_of(const pte_text *t, const uint8_t *s, size_t size, bool *fuses,
                       uint32_t *out) {
  uint32_t id = pte_text_look(t, s, size);
  if (id != PTE_NONE) {
    *fuses = false;
    *out = id;
    return 1;
  }
  if (t->head.unit == PTE_TEXT_UNIT_FALLBACK) {
    for (size_t i = 0; i < size; i++) out[i] = pte_text_u32(t, PTE_TEXT_PART_UNITS, s[i]);
    *fuses = false;
    return size;
  }
  if (t->head.unknown == PTE_NONE || (*fuses && t->head.fuse != 0)) return 0;
  *fuses = true;
  *out = t->head.unknown;
  return 1;
}

/* Ids of a word before anything is merged, at most one a byte. */
static size_t units(const pte_text *t, pte_text_span word, uint32_t *ids) {
  size_t count = 0;
  if (t->head.unit == PTE_TEXT_UNIT_BYTE) {
    for (size_t i = 0; i < word.size; i++) {
      ids[count] = pte_text_u32(t, PTE_TEXT_PART_UNITS, word.data[i]);
      count += ids[count] != PTE_NONE;
    }
    return count;
  }
  bool fuses = false;
  for (size_t i = 0, size; i < word.size; i += size) {
    pte_text_code(word.data + i, word.size - i, &size);
    count += units_of(t, word.data + i, size, &fuses, ids + count);
  }
  return count;
}

/* --- short words ------------------------------------------------------------------------------ */

static void merge_short(pte_text_encoder *e, uint32_t *ids, size_t count) {
  const pte_text *t = e->text;
  uint32_t ranks[SHORT];
  for (size_t i = 0; i + 1 < count; i++) ranks[i] = rank_of(t, ids[i], ids[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; i++)
      if (ranks[i] < ranks[best]) best = i;
    if (ranks[best] == PTE_NONE) break;
    ids[best] = merged(t, ranks[best]);
    count--;
    for (size_t i = best + 1; i < count; i++) ids[i] = ids[i + 1];
    for (size_t i = best + 1; i + 1 < count; i++) ranks[i] = ranks[i + 1];
    if (best > 0) ranks[best - 1] = rank_of(t, ids[best - 1], ids[best]);
    if (best + 1 < count) ranks[best] = rank_of(t, ids[best], ids[best + 1]);
  }
  for (size_t i = 0; i < count; i++) pte_text_put(e, ids[i]);
}

/* --- long words ------------------------------------------------------------------------------- */

static bool goes_first(const pair *a, const pair *b) {
  return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void push(heap *h, pair one) {
  uint32_t at = h->count++;
  for (uint32_t up; at > 0 && goes_first(&one, &h->pairs[up = (at - 1) / 2]); at = up)
    h->pairs[at] = h->pairs[up];
  h->pairs[at] = one;
}

static pair pop(heap *h) {
  pair first = h->pairs[0], last = h->pairs[--h->count];
  uint32_t at = 0;
  for (uint32_t down; (down = 2 * at + 1) < h->count; at = down) {
    if (down + 1 < h->count && goes_first(&h->pairs[down + 1], &h->pairs[down])) down++;
    if (!goes_first(&h->pairs[down], &last)) break;
    h->pairs[at] = h->pairs[down];
  }
  h->pairs[at] = last;
  return first;
}

static void offer(const pte_text *t, const piece *pieces, heap *h, uint32_t at) {
  uint32_t after = pieces[at].after;
  if (after == PTE_NONE) return;
  uint32_t rank = rank_of(t, pieces[at].id, pieces[after].id);
  if (rank != PTE_NONE) push(h, (pair){rank, at, pieces[at].id, pieces[after].id});
}

static void merge_long(const pte_text *t, piece *pieces, heap *h, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) offer(t, pieces, h, i);
  while (h->count > 0) {
    pair best = pop(h);
    piece *left = &pieces[best.at];
    if (left->id != best.left || left->after == PTE_NONE) continue;
    piece *right = &pieces[left->after];
    if (right->id != best.right) continue;
    left->id = merged(t, best.rank);
    right->id = PTE_NONE;
    left->after = right->after;
    if (left->after != PTE_NONE) pieces[left->after].before = best.at;
    if (left->before != PTE_NONE) offer(t, pieces, h, left->before);
    offer(t, pieces, h, best.at);
  }
}

/* Each merge takes a pair out of the heap and puts in two at most: 2 n pairs are never reached. */
static pte_status bpe_long(pte_text_encoder *e, pte_text_span word) {
  const pte_text *t = e->text;
  uint64_t used = e->room.used;
  void *ids = NULL, *pieces = NULL, *pairs = NULL;
  PTE_TRY(pte_arena_take(&e->room, word.size, sizeof(piece), 8, &pieces));
  PTE_TRY(pte_arena_take(&e->room, 2 * (uint64_t)word.size, sizeof(pair), 8, &pairs));
  ids = pairs; /* which are read before the first pair is written: each is smaller */
  uint32_t count = (uint32_t)units(t, word, ids);
  piece *all = pieces;
  for (uint32_t i = 0; i < count; i++)
    all[i] = (piece){((uint32_t *)ids)[i], i - 1, i + 1 < count ? i + 1 : PTE_NONE};
  heap h = {pairs, 0};
  merge_long(t, all, &h, count);
  for (uint32_t i = count > 0 ? 0 : PTE_NONE; i != PTE_NONE; i = all[i].after)
    pte_text_put(e, all[i].id);
  e->room.used = used;
  return PTE_OK;
}

pte_status pte_text_bpe(pte_text_encoder *e, pte_text_span word) {
  uint32_t id = pte_text_look(e->text, word.data, word.size);
  if (id != PTE_NONE && (pte_text_marks(e->text, id) & PTE_TEXT_MARK_WHOLE) != 0) {
    pte_text_put(e, id);
    return PTE_OK;
  }
  if (word.size > SHORT) return bpe_long(e, word);
  uint32_t ids[SHORT];
  merge_short(e, ids, units(e->text, word, ids));
  return PTE_OK;
}

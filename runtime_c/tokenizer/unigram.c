/* The pieces whose scores have the largest sum: one pass over the text keeps the best way to each
 * of its places. Of equal sums the one that was found first stays. Kudo 2018. */
#include "tokenizer/text.h"

typedef struct step {
  double score;
  uint32_t from, id; /* PTE_NONE: not reached yet; an unknown character */
} step;

static double score_of(const pte_text *t, uint32_t id) {
  double score;
  memcpy(&score, t->parts[PTE_TEXT_PART_SCORES].data + (size_t)id * 8, 8);
  return score;
}

static void reach(step *to, double score, uint32_t from, uint32_t id) {
  if (to->from == PTE_NONE || score > to->score) *to = (step){score, from, id};
}

/* Extends the best way to `at` by every piece, and by an unknown character where it is no piece. */
static void extend(const pte_text *t, pte_text_span word, step *steps, size_t at, size_t size) {
  bool single = false;
  uint32_t node = t->head.vocabulary;
  double unknown;
  memcpy(&unknown, &t->head.unknown_score, 8);
  for (size_t end = at; end < word.size; end++) {
    node = pte_text_child(t, node, word.data[end]);
    if (node == PTE_NONE) break;
    uint32_t id = pte_text_value(t, node, t->head.pieces);
    if (id == PTE_NONE) continue;
    reach(&steps[end + 1], score_of(t, id) + steps[at].score, (uint32_t)at, id);
    single = single || end + 1 == at + size;
  }
  if (!single) reach(&steps[at + size], unknown + steps[at].score, (uint32_t)at, PTE_NONE);
}

/* Whether a way's last step goes on with the unknown text of the one before. */
static bool is_unknown(const pte_text *t, uint32_t id) {
  return id == PTE_NONE || id == t->head.unknown;
}

static void put_unknown(pte_text_encoder *e, pte_text_span word, size_t from, size_t to) {
  const pte_text *t = e->text;
  if (t->head.unit != PTE_TEXT_UNIT_FALLBACK) {
    if (t->head.unknown != PTE_NONE) pte_text_put(e, t->head.unknown);
    return;
  }
  for (size_t i = from; i < to; i++)
    pte_text_put(e, pte_text_u32(t, PTE_TEXT_PART_UNITS, word.data[i]));
}

/* Reverses the way: `from` of each place becomes where the next step ends. */
static void reversed(step *steps, size_t size) {
  uint32_t at = (uint32_t)size, next = PTE_NONE, id = PTE_NONE;
  for (;;) {
    step here = steps[at];
    steps[at].from = next;
    steps[at].id = id;
    if (at == 0) return;
    next = at;
    id = here.id;
    at = here.from < at ? here.from : 0;
  }
}

pte_status pte_text_unigram(pte_text_encoder *e, pte_text_span word) {
  const pte_text *t = e->text;
  uint64_t used = e->room.used;
  void *taken = NULL;
  PTE_TRY(pte_arena_take(&e->room, (uint64_t)word.size + 1, sizeof(step), 8, &taken));
  step *steps = taken;
  for (size_t i = 0; i <= word.size; i++) steps[i] = (step){0, PTE_NONE, PTE_NONE};
  steps[0].from = 0;
  for (size_t i = 0, size; i < word.size; i += size) {
    pte_text_code(word.data + i, word.size - i, &size);
    if (steps[i].from != PTE_NONE) extend(t, word, steps, i, size);
  }
  reversed(steps, word.size);
  for (uint32_t at = 0; at < word.size;) {
    uint32_t end = steps[at].from, id = steps[at].id;
    if (end == PTE_NONE || end > word.size) break;
    if (!is_unknown(t, id)) pte_text_put(e, id);
    else {
      while (t->head.fuse != 0 && end < word.size && is_unknown(t, steps[end].id) &&
             steps[end].from <= word.size)
        end = steps[end].from;
      put_unknown(e, word, at, end);
    }
    at = end;
  }
  e->room.used = used;
  return PTE_OK;
}

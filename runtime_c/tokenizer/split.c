/* Text to words: each stage is a DFA over classes of characters, whose words the next one splits.
 *
 * Leftmost first, as a backtracking engine would match: export resolved the order of alternatives.
 * Bit 15 of a step says that a word may end before the character that is read, so what a pattern
 * looks ahead at is one character, or the end. */
#include "tokenizer/text.h"

#define ENDS 0x8000u

/* Where the word ends that begins at `at`; `at` where none does. */
static size_t word_end(const pte_text *t, const pte_text_stage *stage, pte_text_span text,
                       size_t at) {
  uint32_t classes = t->parts[PTE_TEXT_PART_TRAITS].count, state = 1;
  size_t end = at;
  for (size_t i = at, size = 0;; i += size) {
    uint32_t class = classes;
    if (i < text.size)
      class = pte_text_class(t, pte_text_code(text.data + i, text.size - i, &size));
    uint32_t step =
        pte_text_u16(t, PTE_TEXT_PART_STEPS, stage->steps + state * (classes + 1) + class);
    if ((step & ENDS) != 0) end = i;
    state = step & (ENDS - 1);
    if (state == 0 || state >= stage->states || i >= text.size) return end;
  }
}

/* A stage at work. `open` is a word that what comes next may be put to. */
typedef struct splitter {
  pte_text_encoder *encoder;
  pte_text_span text;
  uint32_t stage;
  uint8_t keep;
  bool found; /* whether the last part was found, or lay between */
  size_t open, open_end;
} splitter;

static pte_status give(splitter *s, size_t begin, size_t end) {
  if (begin >= end) return PTE_OK;
  return pte_text_split(s->encoder, s->stage + 1,
                        (pte_text_span){s->text.data + begin, end - begin});
}

static pte_status close_word(splitter *s) {
  size_t begin = s->open, end = s->open_end;
  s->open = s->open_end = 0;
  return give(s, begin, end);
}

/* Whether this part belongs to the word that is open. */
static bool belongs(const splitter *s, bool found) {
  if (s->open == s->open_end) return false;
  if (s->keep == PTE_TEXT_KEEP_PREVIOUS) return found && !s->found;
  if (s->keep == PTE_TEXT_KEEP_NEXT) return !found && s->found;
  return found && s->found;
}

/* Takes a part of the text, which was found or lies between. */
static pte_status take(splitter *s, bool found, size_t begin, size_t end) {
  if (begin >= end) return PTE_OK;
  if (s->keep == PTE_TEXT_KEEP_BOTH) return give(s, begin, end);
  if (s->keep == PTE_TEXT_KEEP_BETWEEN) return found ? PTE_OK : give(s, begin, end);
  if (s->keep == PTE_TEXT_KEEP_FOUND) return found ? give(s, begin, end) : PTE_OK;
  if (!belongs(s, found)) {
    PTE_TRY(close_word(s));
    s->open = begin;
  }
  s->open_end = end;
  s->found = found;
  return PTE_OK;
}

static pte_status word(pte_text_encoder *e, pte_text_span text) {
  switch (e->text->head.model) {
  case PTE_TEXT_MODEL_BPE: return pte_text_bpe(e, text);
  case PTE_TEXT_MODEL_UNIGRAM: return pte_text_unigram(e, text);
  default: return pte_text_word_piece(e, text);
  }
}

pte_status pte_text_split(pte_text_encoder *e, uint32_t stage, pte_text_span text) {
  const pte_text *t = e->text;
  if (stage >= t->parts[PTE_TEXT_PART_STAGES].count) return word(e, text);
  const pte_text_stage *row = &t->stages[stage];
  splitter s = {e, text, stage, row->keep, false, 0, 0};
  size_t gap = 0;
  for (size_t at = 0, size; at < text.size;) {
    size_t end = word_end(t, row, text, at);
    if (end == at) {
      pte_text_code(text.data + at, text.size - at, &size);
      at += size;
      continue;
    }
    PTE_TRY(take(&s, false, gap, at));
    PTE_TRY(take(&s, true, at, end));
    gap = at = end;
  }
  PTE_TRY(take(&s, false, gap, text.size));
  return close_word(&s);
}

/* WordPiece: the longest piece that the rest of a word begins with, each time; a word that cannot
 * be put together so is unknown as a whole. Schuster and Nakajima 2012. */
#include "tokenizer/text.h"

static bool is_longer(pte_text_span word, uint32_t most) {
  uint32_t characters = 0;
  for (size_t i = 0; i < word.size; i++) characters += (word.data[i] & 0xC0) != 0x80;
  return characters > most;
}

/* The longest piece at `at`, and where it ends. */
static uint32_t longest(const pte_text *t, pte_text_span word, size_t at, size_t *out_end) {
  uint32_t node = at == 0 ? t->head.vocabulary : t->head.inside, found = PTE_NONE;
  for (size_t end = at; end < word.size && node != PTE_NONE; end++) {
    node = pte_text_child(t, node, word.data[end]);
    uint32_t id = node == PTE_NONE ? PTE_NONE : pte_text_value(t, node, t->head.pieces);
    if (id == PTE_NONE) continue;
    found = id;
    *out_end = end + 1;
  }
  return found;
}

pte_status pte_text_word_piece(pte_text_encoder *e, pte_text_span word) {
  const pte_text *t = e->text;
  uint64_t before = e->sink.count;
  bool known = !is_longer(word, t->head.longest);
  for (size_t at = 0; known && at < word.size;) {
    uint32_t id = longest(t, word, at, &at);
    known = id != PTE_NONE;
    if (known) pte_text_put(e, id);
  }
  if (known) return PTE_OK;
  e->sink.count = before;
  if (t->head.unknown != PTE_NONE) pte_text_put(e, t->head.unknown);
  return PTE_OK;
}

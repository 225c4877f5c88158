/* Pieces by their bytes: a hash table, tries, and what is UTF-8. */
#include "tokenizer/text.h"

uint32_t pte_text_look(const pte_text *t, const uint8_t *s, size_t n) {
  const pte_text_part *table = &t->parts[PTE_TEXT_PART_LOOKUP];
  uint32_t hash = 0x811C9DC5u;
  if (table->count == 0) return PTE_NONE;
  for (size_t i = 0; i < n; i++) hash = (hash ^ s[i]) * 0x01000193u;
  hash ^= hash >> 15;
  for (uint32_t probe = 0; probe < PTE_TEXT_MOST_PROBES; probe++) {
    uint32_t id = pte_text_u32(t, PTE_TEXT_PART_LOOKUP, (hash + probe) & (table->count - 1));
    if (id >= t->head.pieces) return PTE_NONE;
    pte_text_span piece = pte_text_bytes(t, PTE_TEXT_PART_PIECES, id);
    if (piece.size == n && (n == 0 || memcmp(piece.data, s, n) == 0)) return id;
  }
  return PTE_NONE;
}

uint32_t pte_text_child(const pte_text *t, uint32_t node, uint8_t label) {
  const uint8_t *labels = t->parts[PTE_TEXT_PART_LABELS].data;
  uint32_t low = pte_text_u32(t, PTE_TEXT_PART_NODES, 2 * node);
  uint32_t high = pte_text_u32(t, PTE_TEXT_PART_NODES, 2 * node + 2);
  uint32_t nodes = t->parts[PTE_TEXT_PART_LABELS].count;
  if (high > nodes || low > high) return PTE_NONE;
  while (high - low > 4) {
    uint32_t middle = low + (high - low) / 2;
    if (labels[middle] <= label) low = middle;
    else high = middle;
  }
  for (; low < high; low++)
    if (labels[low] == label) return low;
  return PTE_NONE;
}

size_t pte_text_whole(const uint8_t *s, size_t n, size_t *out_bad, bool *out_open) {
  uint32_t lead = s[0];
  uint8_t low = 0x80, high = 0xBF;
  *out_bad = 1;
  *out_open = false;
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (size_t i = 1; i < size; i++) {
    *out_bad = i;
    if (i == n) {
      *out_open = true;
      return 0;
    }
    if (s[i] < low || s[i] > high) return 0;
    low = 0x80;
    high = 0xBF;
  }
  return size;
}

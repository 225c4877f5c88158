/* Text to ids: added tokens are cut out, what lies between is normalized, split into words, and
 * these into pieces. */
#include "core/size.h"
#include "tokenizer/text.h"

/* --- what is no UTF-8 ------------------------------------------------------------------------- */

static const uint8_t REPLACEMENT[3] = {0xEF, 0xBF, 0xBD};

/* Bytes of `text` with U+FFFD for what is no UTF-8; written where `out` is not NULL. */
static uint64_t clean(pte_text_span text, uint8_t *out) {
  uint64_t total = 0;
  for (size_t i = 0, bad; i < text.size;) {
    bool open;
    size_t size = pte_text_whole(text.data + i, text.size - i, &bad, &open);
    const uint8_t *from = size > 0 ? text.data + i : REPLACEMENT;
    if (out != NULL) memcpy(out + total, from, size > 0 ? size : 3);
    total += size > 0 ? size : 3;
    i += size > 0 ? size : bad;
  }
  return total;
}

static bool is_clean(pte_text_span text) {
  for (size_t i = 0, size, bad; i < text.size; i += size) {
    bool open;
    size = pte_text_whole(text.data + i, text.size - i, &bad, &open);
    if (size == 0) return false;
  }
  return true;
}

/* --- added tokens ----------------------------------------------------------------------------- */

/* A search of added tokens in a text: `root` is `added` or `normal` of the head. */
typedef struct search {
  const pte_text *text;
  const uint32_t *begins;
  pte_text_span in;
  uint32_t root;
  size_t at;
} search;

typedef struct match {
  pte_text_added row;
  size_t begin, end;
} match;

/* The longest token that begins at `s->at`, PTE_NONE: none. */
static uint32_t longest(const search *s, size_t *out_end) {
  uint32_t node = s->root, found = PTE_NONE;
  uint32_t limit = s->text->parts[PTE_TEXT_PART_ADDED].count;
  for (size_t i = s->at; i < s->in.size; i++) {
    node = pte_text_child(s->text, node, s->in.data[i]);
    if (node == PTE_NONE) break;
    uint32_t value = pte_text_value(s->text, node, limit);
    if (value == PTE_NONE) continue;
    found = value;
    *out_end = i + 1;
  }
  return found;
}

static bool next_match(search *s, match *out) {
  for (; s->at < s->in.size; s->at++) {
    uint8_t byte = s->in.data[s->at];
    size_t end = 0;
    if ((s->begins[byte / 32] >> byte % 32 & 1) == 0) continue;
    uint32_t i = longest(s, &end);
    if (i == PTE_NONE) continue;
    memcpy(&out->row, s->text->parts[PTE_TEXT_PART_ADDED].data + (size_t)i * sizeof out->row,
           sizeof out->row);
    out->begin = s->at;
    out->end = s->at = end;
    return true;
  }
  return false;
}

static bool has_before(const pte_text *t, pte_text_span text, size_t at, uint32_t trait,
                       size_t *out_begin) {
  size_t size, begin = at - 1;
  while (begin > 0 && (text.data[begin] & 0xC0) == 0x80) begin--;
  *out_begin = begin;
  return pte_text_has(t, pte_text_code(text.data + begin, at - begin, &size), trait);
}

/* Whether the token counts here; takes the spaces around it that are its own. */
static bool accept(pte_text_encoder *e, pte_text_span text, size_t done, match *found) {
  const pte_text *t = e->text;
  size_t side;
  if (found->row.special != 0 && (e->flags & PTE_TEXT_PLAIN) != 0) return false;
  if (found->row.id >= t->head.pieces) return false;
  if (found->row.single != 0) {
    if (found->begin > 0 && has_before(t, text, found->begin, PTE_TEXT_TRAIT_WORD, &side))
      return false;
    if (found->end < text.size &&
        pte_text_has(t, pte_text_code(text.data + found->end, text.size - found->end, &side),
                     PTE_TEXT_TRAIT_WORD))
      return false;
  }
  while (found->row.left != 0 && found->begin > done &&
         has_before(t, text, found->begin, PTE_TEXT_TRAIT_SPACE, &side))
    found->begin = side;
  for (; found->row.right != 0 && found->end < text.size; found->end += side)
    if (!pte_text_has(t, pte_text_code(text.data + found->end, text.size - found->end, &side),
                      PTE_TEXT_TRAIT_SPACE))
      break;
  return true;
}

typedef pte_status part_of(pte_text_encoder *e, bool first, pte_text_span text);

/* Puts the added tokens of one trie, and what lies between them through `between`. */
static pte_status cut(pte_text_encoder *e, bool normal, bool first, pte_text_span text,
                      part_of *between) {
  const pte_text *t = e->text;
  uint32_t root = normal ? t->head.normal : t->head.added;
  search s = {t, t->begins[normal], text, root, root == PTE_NONE ? text.size : 0};
  size_t done = 0;
  for (match found; next_match(&s, &found);) {
    if (!accept(e, text, done, &found)) continue;
    if (done < found.begin)
      PTE_TRY(
          between(e, first && done == 0, (pte_text_span){text.data + done, found.begin - done}));
    pte_text_put(e, found.row.id);
    done = found.end;
  }
  if (done >= text.size) return PTE_OK;
  return between(e, first && done == 0, (pte_text_span){text.data + done, text.size - done});
}

static pte_status words(pte_text_encoder *e, bool first, pte_text_span text) {
  uint64_t used = e->room.used;
  PTE_TRY(pte_text_normalize(e, true, first, text, &text));
  if (text.size > 0) PTE_TRY(pte_text_split(e, 0, text));
  e->room.used = used;
  return PTE_OK;
}

static pte_status normalized(pte_text_encoder *e, bool first, pte_text_span text) {
  uint64_t used = e->room.used;
  PTE_TRY(pte_text_normalize(e, false, first, text, &text));
  if (text.size > 0) PTE_TRY(cut(e, true, first, text, words));
  e->room.used = used;
  return PTE_OK;
}

/* --- the whole text --------------------------------------------------------------------------- */

uint64_t pte_text_word_room(const pte_text *t, uint64_t n) {
  return t->head.model == PTE_TEXT_MODEL_BPE       ? n * 44 + 64
         : t->head.model == PTE_TEXT_MODEL_UNIGRAM ? (n + 1) * 16 + 64
                                                   : 0;
}

/* Both bounds follow the text through the rules, as if each met all of it. */
static uint64_t follow(const pte_text *t, size_t size_bytes, uint64_t *out_bytes) {
  uint64_t n = size_bytes < PTE_TEXT_MOST_BYTES ? size_bytes : PTE_TEXT_MOST_BYTES;
  uint64_t room = 64, limit = (uint64_t)1 << 48;
  n *= 3;
  room += n;
  for (uint32_t i = 0; i < t->parts[PTE_TEXT_PART_RULES].count; i++) {
    const pte_text_rule *rule = &t->rules[i];
    bool apart = rule->act == PTE_TEXT_ACT_PREPEND; /* once for each part between added tokens */
    n = apart ? n * (1 + rule->bytes) + rule->bytes : pte_text_grown(rule, n);
    if (n > limit) n = limit;
    room += n + 16;
    if (rule->act == PTE_TEXT_ACT_COMPOSE || rule->act == PTE_TEXT_ACT_DECOMPOSE) room += n * 8;
  }
  *out_bytes = n;
  return room;
}

uint64_t pte_text_room(const pte_text *text, size_t size_bytes) {
  uint64_t bytes;
  if (text == NULL) return 0;
  uint64_t room = follow(text, size_bytes, &bytes);
  return room + pte_text_word_room(text, bytes);
}

uint64_t pte_text_most(const pte_text *text, size_t size_bytes) {
  uint64_t bytes;
  if (text == NULL) return 0;
  (void)follow(text, size_bytes, &bytes);
  return bytes + text->parts[PTE_TEXT_PART_FRONT].count + text->parts[PTE_TEXT_PART_BACK].count;
}

static void put_all(pte_text_encoder *e, uint32_t part) {
  if ((e->flags & PTE_TEXT_ENDS) == 0) return;
  for (uint32_t i = 0; i < e->text->parts[part].count; i++)
    pte_text_put(e, pte_text_u32(e->text, part, i));
}

static pte_status encode(pte_text_encoder *e, pte_text_span text) {
  if (!is_clean(text)) {
    void *data = NULL;
    uint64_t size = clean(text, NULL);
    PTE_TRY(pte_arena_take(&e->room, size, 1, 8, &data));
    (void)clean(text, data);
    text = (pte_text_span){data, (size_t)size};
  }
  put_all(e, PTE_TEXT_PART_FRONT);
  PTE_TRY(cut(e, false, true, text, normalized));
  put_all(e, PTE_TEXT_PART_BACK);
  return PTE_OK;
}

pte_status pte_text_encode(const pte_text *text, const char *utf8, size_t size_bytes,
                           uint32_t flags, pte_memory room, uint32_t *ids, size_t capacity,
                           size_t *out_count, pte_error *error) {
  if (text == NULL || out_count == NULL || (utf8 == NULL && size_bytes > 0) ||
      (ids == NULL && capacity > 0) || (room.data == NULL && room.size_bytes > 0))
    return pte_fail(error, PTE_BAD_ARGUMENT, "text_encode: null pointer");
  if ((flags & ~(PTE_TEXT_ENDS | PTE_TEXT_PLAIN)) != 0)
    return pte_fail(error, PTE_BAD_ARGUMENT, "text_encode: flags %u are not known", flags);
  if ((uintptr_t)room.data % 16 != 0)
    return pte_fail(error, PTE_BAD_ARGUMENT, "text_encode: expected room aligned to 16");
  if (size_bytes >= PTE_TEXT_MOST_BYTES)
    return pte_fail(error, PTE_LIMIT, "text_encode: expected a text below %u bytes, got %llu",
                    PTE_TEXT_MOST_BYTES, (uint64_t)size_bytes);
  pte_text_encoder e = {
      text, {ids, capacity, 0},
       pte_arena_open(room), flags
  };
  if (encode(&e, (pte_text_span){(const uint8_t *)utf8, size_bytes}) != PTE_OK)
    return pte_fail(error, PTE_NO_MEMORY, "text_encode: %llu bytes of room are too few; %llu do",
                    (uint64_t)room.size_bytes, pte_text_room(text, size_bytes));
  *out_count = (size_t)e.sink.count;
  if (e.sink.count > capacity)
    return pte_fail(error, PTE_NO_MEMORY, "text_encode: expected place for %llu ids, got %llu",
                    e.sink.count, (uint64_t)capacity);
  return PTE_OK;
}

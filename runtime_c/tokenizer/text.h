/* An open tokenizer: the parts of a text segment, and how its tables are read.
 *
 * Opening verifies every number (open.c). The tables stay where the segment lies, maybe in a mapped
 * file that somebody writes meanwhile: what is read there is compared again before an address is
 * computed from it. */
#ifndef PTE_TOKENIZER_TEXT_H
#define PTE_TOKENIZER_TEXT_H

#include <stdbool.h>
#include <string.h>

#include "core/arena.h"
#include "core/error.h"
#include "gen/text.h"
#include "pteron/text.h"

#define PTE_TEXT_MOST_STAGES 8
#define PTE_TEXT_MOST_RULES  32
#define PTE_TEXT_MOST_PROBES 32 /* places of a hash table that are looked at for one key */
#define PTE_TEXT_MOST_BYTES  (1u << 30)
#define PTE_TEXT_BLOCK       128  /* code points of a block */
#define PTE_TEXT_BLOCKS      8704 /* of them up to U+10FFFF */

typedef struct pte_text_part {
  const uint8_t *data;
  uint32_t count; /* of elements */
} pte_text_part;

struct pte_text {
  pte_text_head head;
  pte_text_part parts[PTE_TEXT_PART_COUNT];
  pte_text_stage stages[PTE_TEXT_MOST_STAGES];
  pte_text_rule rules[PTE_TEXT_MOST_RULES];
  uint32_t longest;      /* bytes of a piece as it is shown */
  uint8_t ascii[128];    /* classes of ASCII */
  uint32_t begins[2][8]; /* a bit a byte: some added token of `added`, `normal` begins so */
};

/* Where ids go; past the capacity they are only counted. */
typedef struct pte_text_sink {
  uint32_t *ids;
  uint64_t capacity, count;
} pte_text_sink;

typedef struct pte_text_span {
  const uint8_t *data;
  size_t size;
} pte_text_span;

/* What a text is encoded with. */
typedef struct pte_text_encoder {
  const pte_text *text;
  pte_text_sink sink;
  pte_arena room;
  uint32_t flags;
} pte_text_encoder;

static inline uint32_t pte_text_u32(const pte_text *t, uint32_t part, uint32_t i) {
  uint32_t value;
  memcpy(&value, t->parts[part].data + (size_t)i * 4, 4);
  return value;
}

static inline uint32_t pte_text_u16(const pte_text *t, uint32_t part, uint32_t i) {
  uint16_t value;
  memcpy(&value, t->parts[part].data + (size_t)i * 2, 2);
  return value;
}

static inline void pte_text_put(pte_text_encoder *e, uint32_t id) {
  if (e->sink.count < e->sink.capacity) e->sink.ids[e->sink.count] = id;
  e->sink.count++;
}

/* The code point at `s` of `n` > 0 bytes and how many it has: at most `n`, whatever they are. */
static inline uint32_t pte_text_code(const uint8_t *s, size_t n, size_t *out_size) {
  uint32_t lead = s[0];
  size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (size > n) size = n;
  uint32_t code = size == 1 ? lead : lead & (0xFFu >> (size + 1));
  for (size_t i = 1; i < size; i++) code = code << 6 | (s[i] & 63u);
  *out_size = size;
  return code < 0x110000 ? code : 0xFFFD;
}

/* Of 128 code points a block: the element of `blocks` for `code`, in elements, or PTE_NONE. */
static inline uint32_t pte_text_at(const pte_text *t, uint32_t index, uint32_t blocks, uint32_t map,
                                   uint32_t code) {
  uint32_t block = pte_text_u16(t, index, map * PTE_TEXT_BLOCKS + code / PTE_TEXT_BLOCK);
  uint64_t place = (uint64_t)block * PTE_TEXT_BLOCK + code % PTE_TEXT_BLOCK;
  return place < t->parts[blocks].count ? (uint32_t)place : PTE_NONE;
}

/* The class of a code point; without classes, and of what is out of them, 0. */
static inline uint32_t pte_text_class(const pte_text *t, uint32_t code) {
  if (code < 128) return t->ascii[code];
  if (t->parts[PTE_TEXT_PART_CLASS_INDEX].count == 0) return 0;
  uint32_t at = pte_text_at(t, PTE_TEXT_PART_CLASS_INDEX, PTE_TEXT_PART_CLASSES, 0, code);
  uint32_t found = at == PTE_NONE ? 0 : t->parts[PTE_TEXT_PART_CLASSES].data[at];
  return found < t->parts[PTE_TEXT_PART_TRAITS].count ? found : 0;
}

static inline bool pte_text_has(const pte_text *t, uint32_t code, uint32_t trait) {
  if (t->parts[PTE_TEXT_PART_TRAITS].count == 0) return false;
  return (t->parts[PTE_TEXT_PART_TRAITS].data[pte_text_class(t, code)] & trait) != 0;
}

/* Marks of piece `id`, which is below head.pieces. */
static inline uint32_t pte_text_marks(const pte_text *t, uint32_t id) {
  return t->parts[PTE_TEXT_PART_MARKS].data[id];
}

/* The bytes of piece `id`, below head.pieces; `part` is PIECES or SHOWN. */
static inline pte_text_span pte_text_bytes(const pte_text *t, uint32_t part, uint32_t id) {
  uint32_t begin = pte_text_u32(t, part, id), end = pte_text_u32(t, part, id + 1);
  if (begin > end || end > t->parts[part + 1].count) return (pte_text_span){NULL, 0};
  return (pte_text_span){t->parts[part + 1].data + begin, end - begin};
}

/* The child of a trie's node that `label` leads to, or PTE_NONE. */
uint32_t pte_text_child(const pte_text *t, uint32_t node, uint8_t label);

/* The value of a node below `limit`, or PTE_NONE. */
static inline uint32_t pte_text_value(const pte_text *t, uint32_t node, uint32_t limit) {
  uint32_t value = pte_text_u32(t, PTE_TEXT_PART_NODES, 2 * node + 1);
  return value < limit ? value : PTE_NONE;
}

/* The id of the piece with these bytes, or PTE_NONE. */
uint32_t pte_text_look(const pte_text *t, const uint8_t *s, size_t n);

/* Bytes of room that a word of `n` bytes needs. */
uint64_t pte_text_word_room(const pte_text *t, uint64_t n);

/* Ids of one word. */
PTE_CHECKED pte_status pte_text_bpe(pte_text_encoder *e, pte_text_span word);
PTE_CHECKED pte_status pte_text_unigram(pte_text_encoder *e, pte_text_span word);
PTE_CHECKED pte_status pte_text_word_piece(pte_text_encoder *e, pte_text_span word);

/* Splits `text` by the stages from `stage` on, and each word into ids. */
PTE_CHECKED pte_status pte_text_split(pte_text_encoder *e, uint32_t stage, pte_text_span text);

/* Normalizes `text` by the early or the late rules into the encoder's room, where it needs any.
 * `first`: it begins where the caller's text does. */
PTE_CHECKED pte_status pte_text_normalize(pte_text_encoder *e, bool late, bool first,
                                          pte_text_span text, pte_text_span *out);

/* Bytes that `n` bytes are after one rule at most. */
uint64_t pte_text_grown(const pte_text_rule *rule, uint64_t n);

/* UTF-8: how many bytes at `s` are one character, 0 where they are none. `*out_bad` is then how
 * many become one U+FFFD, and `*out_open` whether more bytes could make them a character. */
size_t pte_text_whole(const uint8_t *s, size_t n, size_t *out_bad, bool *out_open);

#endif

/* Opening a text segment: every number in it is compared with what it names, in one pass. */
#include "core/size.h"
#include "core/sized.h"
#include "tokenizer/text.h"

#define VERSION 0
#define ALIGN   8
#define MOST    0x7FFFFFFFu /* bytes of a segment */

typedef struct opening {
  pte_text *text;
  const uint8_t *data;
  uint32_t size;
  pte_error *error;
} opening;

/* Bytes of an element, and how many elements are a row. */
typedef struct form {
  char name[12];
  uint8_t element;
  uint32_t row;
} form;

static const form FORMS[PTE_TEXT_PART_COUNT] = {
    [PTE_TEXT_PART_PIECES] = {"pieces",      4,                      1              },
    [PTE_TEXT_PART_PIECE_BYTES] = {"piece_bytes", 1,                      1              },
    [PTE_TEXT_PART_SHOWN] = {"shown",       4,                      1              },
    [PTE_TEXT_PART_SHOWN_BYTES] = {"shown_bytes", 1,                      1              },
    [PTE_TEXT_PART_MARKS] = {"marks",       1,                      1              },
    [PTE_TEXT_PART_LOOKUP] = {"lookup",      4,                      1              },
    [PTE_TEXT_PART_MERGES] = {"merges",      sizeof(pte_text_merge), 1              },
    [PTE_TEXT_PART_MERGED] = {"merged",      4,                      1              },
    [PTE_TEXT_PART_UNITS] = {"units",       4,                      256            },
    [PTE_TEXT_PART_SCORES] = {"scores",      8,                      1              },
    [PTE_TEXT_PART_CLASS_INDEX] = {"class_index", 2,                      PTE_TEXT_BLOCKS},
    [PTE_TEXT_PART_CLASSES] = {"classes",     1,                      PTE_TEXT_BLOCK },
    [PTE_TEXT_PART_TRAITS] = {"traits",      1,                      1              },
    [PTE_TEXT_PART_STEPS] = {"steps",       2,                      1              },
    [PTE_TEXT_PART_STAGES] = {"stages",      sizeof(pte_text_stage), 1              },
    [PTE_TEXT_PART_RULES] = {"rules",       sizeof(pte_text_rule),  1              },
    [PTE_TEXT_PART_MAP_INDEX] = {"map_index",   2,                      PTE_TEXT_BLOCKS},
    [PTE_TEXT_PART_MAPS] = {"maps",        4,                      PTE_TEXT_BLOCK },
    [PTE_TEXT_PART_MAP_BYTES] = {"map_bytes",   1,                      1              },
    [PTE_TEXT_PART_ORDER_INDEX] = {"order_index", 2,                      PTE_TEXT_BLOCKS},
    [PTE_TEXT_PART_ORDERS] = {"orders",      1,                      PTE_TEXT_BLOCK },
    [PTE_TEXT_PART_PAIRS] = {"pairs",       sizeof(pte_text_pair),  1              },
    [PTE_TEXT_PART_NODES] = {"nodes",       sizeof(pte_text_node),  1              },
    [PTE_TEXT_PART_LABELS] = {"labels",      1,                      1              },
    [PTE_TEXT_PART_ADDED] = {"added",       sizeof(pte_text_added), 1              },
    [PTE_TEXT_PART_FRONT] = {"front",       4,                      1              },
    [PTE_TEXT_PART_BACK] = {"back",        4,                      1              },
    [PTE_TEXT_PART_STOPS] = {"stops",       4,                      1              },
};

static uint32_t count_of(const opening *o, uint32_t part) { return o->text->parts[part].count; }

static pte_status bad(const opening *o, uint32_t part, uint32_t i, uint64_t got, uint64_t limit) {
  return pte_fail(o->error, PTE_BAD_PROGRAM, "text.%s[%u]: expected below %llu, got %llu",
                  FORMS[part].name, i, limit, got);
}

static pte_status bad_count(const opening *o, uint32_t part, uint64_t expected) {
  return pte_fail(o->error, PTE_BAD_PROGRAM, "text.%s: expected %llu elements, got %u",
                  FORMS[part].name, expected, count_of(o, part));
}

static pte_status wrong(const opening *o, const char *what, uint32_t got) {
  return pte_fail(o->error, PTE_BAD_PROGRAM, "text.%s: %u is none that is known", what, got);
}

/* --- the head and where parts lie ------------------------------------------------------------- */

static pte_status read_place(const opening *o, uint32_t part) {
  const form *f = &FORMS[part];
  pte_text_place place;
  memcpy(&place, o->data + sizeof(pte_text_head) + part * sizeof place, sizeof place);
  if (place.offset % ALIGN != 0 || place.offset > o->size || place.bytes > o->size - place.offset)
    return pte_fail(o->error, PTE_BAD_PROGRAM, "text.%s: %u bytes from %u are not in the segment",
                    f->name, place.bytes, place.offset);
  if (place.bytes % f->element != 0 || place.bytes / f->element % f->row != 0 ||
      (place.offset == 0 && place.bytes != 0))
    return pte_fail(o->error, PTE_BAD_PROGRAM, "text.%s: %u bytes are no whole rows", f->name,
                    place.bytes);
  o->text->parts[part] = (pte_text_part){o->data + place.offset, place.bytes / f->element};
  return PTE_OK;
}

static pte_status read_head(const opening *o) {
  pte_text_head *h = &o->text->head;
  if (o->size < sizeof *h + PTE_TEXT_PART_COUNT * sizeof(pte_text_place))
    return pte_fail(o->error, PTE_BAD_PROGRAM, "text: %u bytes are too few for its head", o->size);
  memcpy(h, o->data, sizeof *h);
  if (memcmp(h->magic, "PTXT", sizeof h->magic) != 0)
    return pte_fail(o->error, PTE_BAD_PROGRAM, "text.magic: this is no text segment");
  if (h->version != VERSION)
    return pte_fail(o->error, PTE_UNSUPPORTED, "text.version: expected %u, got %u: export again",
                    (uint32_t)VERSION, h->version);
  if (h->bytes != o->size)
    return pte_fail(o->error, PTE_BAD_PROGRAM, "text.bytes: expected %u, got %u", o->size,
                    h->bytes);
  if (h->model > PTE_TEXT_MODEL_WORD_PIECE) return wrong(o, "model", h->model);
  if (h->unit > PTE_TEXT_UNIT_FALLBACK) return wrong(o, "unit", h->unit);
  if (h->fuse > 1) return wrong(o, "fuse", h->fuse);
  if (h->opening > PTE_TEXT_OPENING_LESS_MARKS) return wrong(o, "opening", h->opening);
  for (uint32_t part = 0; part < PTE_TEXT_PART_COUNT; part++) PTE_TRY(read_place(o, part));
  return PTE_OK;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* Every number of a part of u32 is below `limit`, or NONE where it `may` be. */
static pte_status below(const opening *o, uint32_t part, uint64_t limit, bool may) {
  for (uint32_t i = 0; i < count_of(o, part); i++) {
    uint32_t got = pte_text_u32(o->text, part, i);
    if (got >= limit && !(may && got == PTE_NONE)) return bad(o, part, i, got, limit);
  }
  return PTE_OK;
}

/* Blocks of an index of u16 are there. */
static pte_status blocks(const opening *o, uint32_t index, uint32_t part) {
  uint32_t limit = count_of(o, part) / PTE_TEXT_BLOCK;
  for (uint32_t i = 0; i < count_of(o, index); i++) {
    uint32_t got = pte_text_u16(o->text, index, i);
    if (got >= limit) return bad(o, index, i, got, limit);
  }
  return PTE_OK;
}

static pte_status check_id(const opening *o, const char *name, uint32_t id) {
  if (id == PTE_NONE || id < o->text->head.pieces) return PTE_OK;
  return pte_fail(o->error, PTE_BAD_PROGRAM, "text.%s: expected below %u, got %u", name,
                  o->text->head.pieces, id);
}

/* Where pieces begin, and their bytes behind. */
static pte_status check_bytes(const opening *o, uint32_t part) {
  uint32_t pieces = o->text->head.pieces, last = 0;
  if (count_of(o, part) == 0 || count_of(o, part) - 1 != pieces)
    return bad_count(o, part, (uint64_t)pieces + 1);
  for (uint32_t i = 0; i <= pieces; i++) {
    uint32_t at = pte_text_u32(o->text, part, i);
    if (at < last || at > count_of(o, part + 1))
      return bad(o, part, i, at, (uint64_t)count_of(o, part + 1) + 1);
    if (at - last > o->text->longest) o->text->longest = at - last;
    last = at;
  }
  return PTE_OK;
}

static pte_status check_pieces(const opening *o) {
  pte_text *t = o->text;
  PTE_TRY(check_bytes(o, PTE_TEXT_PART_PIECES));
  if (count_of(o, PTE_TEXT_PART_SHOWN) != 0) PTE_TRY(check_bytes(o, PTE_TEXT_PART_SHOWN));
  if (t->longest > PTE_TEXT_MOST_BYTES)
    return bad(o, PTE_TEXT_PART_PIECES, 0, t->longest, PTE_TEXT_MOST_BYTES);
  t->longest = t->longest * 3 + 12; /* each byte as U+FFFD, and what was held */
  if (count_of(o, PTE_TEXT_PART_MARKS) != t->head.pieces)
    return bad_count(o, PTE_TEXT_PART_MARKS, t->head.pieces);
  PTE_TRY(check_id(o, "unknown", t->head.unknown));
  PTE_TRY(check_id(o, "begin", t->head.begin));
  PTE_TRY(check_id(o, "end", t->head.end));
  PTE_TRY(check_id(o, "pad", t->head.pad));
  PTE_TRY(below(o, PTE_TEXT_PART_FRONT, t->head.pieces, false));
  PTE_TRY(below(o, PTE_TEXT_PART_BACK, t->head.pieces, false));
  return below(o, PTE_TEXT_PART_STOPS, t->head.pieces, false);
}

/* A hash table has a power of two of places, or none. */
static pte_status check_table(const opening *o, uint32_t part) {
  uint32_t count = count_of(o, part);
  if ((count & (count - 1)) == 0) return PTE_OK;
  return pte_fail(o->error, PTE_BAD_PROGRAM, "text.%s: expected a power of two, got %u",
                  FORMS[part].name, count);
}

static pte_status check_model(const opening *o) {
  const pte_text *t = o->text;
  uint32_t pieces = t->head.pieces, merged = count_of(o, PTE_TEXT_PART_MERGED);
  PTE_TRY(check_table(o, PTE_TEXT_PART_LOOKUP));
  PTE_TRY(below(o, PTE_TEXT_PART_LOOKUP, pieces, true));
  PTE_TRY(check_table(o, PTE_TEXT_PART_MERGES));
  PTE_TRY(below(o, PTE_TEXT_PART_MERGED, pieces, false));
  for (uint32_t i = 0; i < count_of(o, PTE_TEXT_PART_MERGES); i++) {
    pte_text_merge m;
    memcpy(&m, t->parts[PTE_TEXT_PART_MERGES].data + (size_t)i * sizeof m, sizeof m);
    if (m.left == PTE_NONE) continue;
    if (m.left >= pieces) return bad(o, PTE_TEXT_PART_MERGES, i, m.left, pieces);
    if (m.right >= pieces) return bad(o, PTE_TEXT_PART_MERGES, i, m.right, pieces);
    if (m.rank >= merged) return bad(o, PTE_TEXT_PART_MERGES, i, m.rank, merged);
  }
  bool units = t->head.unit != PTE_TEXT_UNIT_CHARACTER;
  if (count_of(o, PTE_TEXT_PART_UNITS) != (units ? 256 : 0))
    return bad_count(o, PTE_TEXT_PART_UNITS, units ? 256 : 0);
  PTE_TRY(below(o, PTE_TEXT_PART_UNITS, pieces, t->head.unit == PTE_TEXT_UNIT_BYTE));
  bool scores = t->head.model == PTE_TEXT_MODEL_UNIGRAM;
  if (count_of(o, PTE_TEXT_PART_SCORES) != (scores ? pieces : 0))
    return bad_count(o, PTE_TEXT_PART_SCORES, scores ? pieces : 0);
  if (t->head.model != PTE_TEXT_MODEL_BPE && t->head.vocabulary == PTE_NONE)
    return wrong(o, "vocabulary", t->head.vocabulary);
  return PTE_OK;
}

static pte_status check_classes(const opening *o) {
  pte_text *t = o->text;
  uint32_t classes = count_of(o, PTE_TEXT_PART_TRAITS);
  if (classes > 255) return bad_count(o, PTE_TEXT_PART_TRAITS, 255);
  if (count_of(o, PTE_TEXT_PART_CLASS_INDEX) != (classes > 0 ? PTE_TEXT_BLOCKS : 0))
    return bad_count(o, PTE_TEXT_PART_CLASS_INDEX, classes > 0 ? PTE_TEXT_BLOCKS : 0);
  PTE_TRY(blocks(o, PTE_TEXT_PART_CLASS_INDEX, PTE_TEXT_PART_CLASSES));
  for (uint32_t i = 0; i < count_of(o, PTE_TEXT_PART_CLASSES); i++) {
    uint32_t got = t->parts[PTE_TEXT_PART_CLASSES].data[i];
    if (got >= classes) return bad(o, PTE_TEXT_PART_CLASSES, i, got, classes);
  }
  for (uint32_t code = 0; code < 128 && classes > 0; code++) {
    uint32_t at = pte_text_at(t, PTE_TEXT_PART_CLASS_INDEX, PTE_TEXT_PART_CLASSES, 0, code);
    uint32_t class = at == PTE_NONE ? 0 : t->parts[PTE_TEXT_PART_CLASSES].data[at];
    t->ascii[code] = (uint8_t)(class < classes ? class : 0);
  }
  return PTE_OK;
}

static pte_status check_stage(const opening *o, uint32_t i) {
  pte_text_stage *s = &o->text->stages[i];
  uint64_t columns = (uint64_t)count_of(o, PTE_TEXT_PART_TRAITS) + 1, end;
  memcpy(s, o->text->parts[PTE_TEXT_PART_STAGES].data + i * sizeof *s, sizeof *s);
  if (s->keep > PTE_TEXT_KEEP_RUNS) return wrong(o, "stages.keep", s->keep);
  if (s->zero[0] != 0 || s->zero[1] != 0 || s->zero[2] != 0) return wrong(o, "stages.zero", 1);
  if (s->states < 2 || s->states > 0x7FFF) return wrong(o, "stages.states", s->states);
  end = s->steps + columns * s->states;
  if (end > count_of(o, PTE_TEXT_PART_STEPS))
    return bad(o, PTE_TEXT_PART_STAGES, i, end, (uint64_t)count_of(o, PTE_TEXT_PART_STEPS) + 1);
  for (uint64_t at = s->steps; at < end; at++) {
    uint32_t to = pte_text_u16(o->text, PTE_TEXT_PART_STEPS, (uint32_t)at) & 0x7FFF;
    if (to >= s->states) return bad(o, PTE_TEXT_PART_STEPS, (uint32_t)at, to, s->states);
  }
  return PTE_OK;
}

static pte_status check_rule(const opening *o, uint32_t i) {
  pte_text_rule *r = &o->text->rules[i];
  uint32_t bytes = count_of(o, PTE_TEXT_PART_MAP_BYTES);
  memcpy(r, o->text->parts[PTE_TEXT_PART_RULES].data + i * sizeof *r, sizeof *r);
  if (r->act > PTE_TEXT_ACT_STRIP) return wrong(o, "rules.act", r->act);
  if (r->late > 1) return wrong(o, "rules.late", r->late);
  if (r->when > (r->act == PTE_TEXT_ACT_STRIP ? 3u : PTE_TEXT_WHEN_FIRST))
    return wrong(o, "rules.when", r->when);
  if (r->growth == 0) return wrong(o, "rules.growth", r->growth);
  if (r->act <= PTE_TEXT_ACT_COMPOSE) {
    uint32_t maps = count_of(o, PTE_TEXT_PART_MAP_INDEX) / PTE_TEXT_BLOCKS;
    if (r->map >= maps) return bad(o, PTE_TEXT_PART_RULES, i, r->map, maps);
    if (r->act != PTE_TEXT_ACT_MAP && count_of(o, PTE_TEXT_PART_ORDER_INDEX) == 0)
      return bad_count(o, PTE_TEXT_PART_ORDER_INDEX, PTE_TEXT_BLOCKS);
    return PTE_OK;
  }
  uint64_t end = (uint64_t)r->map + r->bytes + r->with;
  if (r->act != PTE_TEXT_ACT_STRIP && (r->bytes == 0 || end > bytes))
    return bad(o, PTE_TEXT_PART_RULES, i, end, (uint64_t)bytes + 1);
  return PTE_OK;
}

static pte_status check_normal(const opening *o) {
  const pte_text *t = o->text;
  uint32_t bytes = count_of(o, PTE_TEXT_PART_MAP_BYTES);
  if (count_of(o, PTE_TEXT_PART_STAGES) > PTE_TEXT_MOST_STAGES)
    return bad_count(o, PTE_TEXT_PART_STAGES, PTE_TEXT_MOST_STAGES);
  if (count_of(o, PTE_TEXT_PART_RULES) > PTE_TEXT_MOST_RULES)
    return bad_count(o, PTE_TEXT_PART_RULES, PTE_TEXT_MOST_RULES);
  for (uint32_t i = 0; i < count_of(o, PTE_TEXT_PART_STAGES); i++) PTE_TRY(check_stage(o, i));
  PTE_TRY(blocks(o, PTE_TEXT_PART_MAP_INDEX, PTE_TEXT_PART_MAPS));
  if (count_of(o, PTE_TEXT_PART_ORDER_INDEX) > PTE_TEXT_BLOCKS)
    return bad_count(o, PTE_TEXT_PART_ORDER_INDEX, PTE_TEXT_BLOCKS);
  PTE_TRY(blocks(o, PTE_TEXT_PART_ORDER_INDEX, PTE_TEXT_PART_ORDERS));
  for (uint32_t i = 0; i < count_of(o, PTE_TEXT_PART_RULES); i++) PTE_TRY(check_rule(o, i));
  for (uint32_t i = 0; i < count_of(o, PTE_TEXT_PART_MAPS); i++) {
    uint32_t at = pte_text_u32(t, PTE_TEXT_PART_MAPS, i);
    if (at == PTE_NONE) continue;
    if (at >= bytes || t->parts[PTE_TEXT_PART_MAP_BYTES].data[at] > bytes - at - 1)
      return bad(o, PTE_TEXT_PART_MAPS, i, at, bytes);
  }
  return PTE_OK;
}

/* --- tries ------------------------------------------------------------------------------------ */

static pte_status check_root(const opening *o, const char *name, uint32_t root) {
  uint32_t nodes = count_of(o, PTE_TEXT_PART_LABELS);
  if (root == PTE_NONE || root < nodes) return PTE_OK;
  return pte_fail(o->error, PTE_BAD_PROGRAM, "text.%s: expected below %u, got %u", name, nodes,
                  root);
}

static void find_begins(pte_text *t, uint32_t root, uint32_t *bits) {
  for (uint32_t byte = 0; byte < 256 && root != PTE_NONE; byte++)
    if (pte_text_child(t, root, (uint8_t)byte) != PTE_NONE) bits[byte / 32] |= 1u << byte % 32;
}

static pte_status check_tries(const opening *o) {
  pte_text *t = o->text;
  uint32_t nodes = count_of(o, PTE_TEXT_PART_LABELS), last = 0;
  if (count_of(o, PTE_TEXT_PART_NODES) != (nodes == 0 ? 0 : nodes + 1))
    return bad_count(o, PTE_TEXT_PART_NODES, (uint64_t)nodes + 1);
  for (uint32_t i = 0; i < count_of(o, PTE_TEXT_PART_NODES); i++) {
    uint32_t first = pte_text_u32(t, PTE_TEXT_PART_NODES, 2 * i);
    if (first < last || first > nodes)
      return bad(o, PTE_TEXT_PART_NODES, i, first, (uint64_t)nodes + 1);
    last = first;
  }
  PTE_TRY(check_root(o, "vocabulary", t->head.vocabulary));
  PTE_TRY(check_root(o, "inside", t->head.inside));
  PTE_TRY(check_root(o, "added", t->head.added));
  PTE_TRY(check_root(o, "normal", t->head.normal));
  for (uint32_t i = 0; i < count_of(o, PTE_TEXT_PART_ADDED); i++) {
    uint32_t id = pte_text_u32(t, PTE_TEXT_PART_ADDED, 2 * i);
    if (id >= t->head.pieces) return bad(o, PTE_TEXT_PART_ADDED, i, id, t->head.pieces);
  }
  find_begins(t, t->head.added, t->begins[0]);
  find_begins(t, t->head.normal, t->begins[1]);
  return PTE_OK;
}

size_t pte_text_size(void) { return sizeof(pte_text); }

pte_status pte_text_open(const void *segment, size_t size_bytes, pte_memory memory,
                         const pte_text **out, pte_error *error) {
  if (segment == NULL || memory.data == NULL || out == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "text_open: null pointer");
  if ((uintptr_t)segment % ALIGN != 0 || (uintptr_t)memory.data % 16 != 0)
    return pte_fail(error, PTE_BAD_ARGUMENT,
                    "text_open: expected the segment aligned to 8, memory to 16");
  if (memory.size_bytes < sizeof(pte_text))
    return pte_fail(error, PTE_NO_MEMORY, "text_open: expected %llu bytes of memory, got %llu",
                    (uint64_t)sizeof(pte_text), (uint64_t)memory.size_bytes);
  if (size_bytes > MOST)
    return pte_fail(error, PTE_BAD_PROGRAM, "text: expected at most %u bytes, got %llu", MOST,
                    (uint64_t)size_bytes);
  pte_text *t = memory.data;
  memset(t, 0, sizeof *t);
  opening o = {t, segment, (uint32_t)size_bytes, error};
  PTE_TRY(read_head(&o));
  PTE_TRY(check_pieces(&o));
  PTE_TRY(check_model(&o));
  PTE_TRY(check_classes(&o));
  PTE_TRY(check_normal(&o));
  PTE_TRY(check_tries(&o));
  *out = t;
  return PTE_OK;
}

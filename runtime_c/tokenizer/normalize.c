/* Rules that change text before it is split: maps of characters, canonical decomposition and
 * composition, text before it or in place of other text. Unicode Standard Annex 15. */
#include "tokenizer/text.h"

#define STARTER    0u
#define COMPOSES   255u /* a starter that may be composed with one before it */
#define HANGUL     0xAC00u
#define HANGUL_END 0xD7A4u

typedef struct writer {
  uint8_t *data;
  size_t size, room;
} writer;

static void put_bytes(writer *out, pte_text_span bytes) {
  if (bytes.size > out->room - out->size) bytes.size = out->room - out->size;
  if (bytes.size > 0) memcpy(out->data + out->size, bytes.data, bytes.size);
  out->size += bytes.size;
}

static void put_code(writer *out, uint32_t code) {
  uint8_t b[4];
  size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  uint32_t rest = code;
  for (size_t i = size; i-- > 1; rest >>= 6) b[i] = (uint8_t)(0x80 | (rest & 63));
  b[0] = (uint8_t)(size == 1 ? rest : (0xF00u >> size & 0xFF) | rest);
  put_bytes(out, (pte_text_span){b, size});
}

/* What map `map` has for a code point; false: nothing, it stays. */
static bool mapped(const pte_text *t, uint32_t map, uint32_t code, pte_text_span *out) {
  uint32_t bytes = t->parts[PTE_TEXT_PART_MAP_BYTES].count;
  uint32_t at = pte_text_at(t, PTE_TEXT_PART_MAP_INDEX, PTE_TEXT_PART_MAPS, map, code);
  if (at == PTE_NONE) return false;
  uint32_t place = pte_text_u32(t, PTE_TEXT_PART_MAPS, at);
  if (place >= bytes) return false;
  uint32_t size = t->parts[PTE_TEXT_PART_MAP_BYTES].data[place];
  if (size > bytes - place - 1) return false;
  *out = (pte_text_span){t->parts[PTE_TEXT_PART_MAP_BYTES].data + place + 1, size};
  return true;
}

static void map_text(const pte_text *t, const pte_text_rule *rule, pte_text_span text,
                     writer *out) {
  for (size_t i = 0, size; i < text.size; i += size) {
    uint32_t code = pte_text_code(text.data + i, text.size - i, &size);
    pte_text_span to = {text.data + i, size};
    (void)mapped(t, rule->map, code, &to);
    put_bytes(out, to);
  }
}

/* --- composition ------------------------------------------------------------------------------ */

/* Code points from one starter to the next, with room for twice as many. */
typedef struct cluster {
  uint32_t *codes;
  size_t count, room;
} cluster;

static uint32_t order_of(const pte_text *t, uint32_t code) {
  uint32_t at = pte_text_at(t, PTE_TEXT_PART_ORDER_INDEX, PTE_TEXT_PART_ORDERS, 0, code);
  return at == PTE_NONE ? STARTER : t->parts[PTE_TEXT_PART_ORDERS].data[at];
}

static bool is_starter(uint32_t order) { return order == STARTER || order == COMPOSES; }

/* Orders the marks behind each starter by their class; equal ones stay. Each class is gathered in
 * turn where there are many, so that the work is linear. */
static void sort_marks(const pte_text *t, uint32_t *codes, size_t count, uint32_t *scratch) {
  if (count <= 16) {
    for (size_t i = 1; i < count; i++) {
      uint32_t code = codes[i], order = order_of(t, code);
      size_t at = i;
      for (; at > 0 && order_of(t, codes[at - 1]) > order; at--) codes[at] = codes[at - 1];
      codes[at] = code;
    }
    return;
  }
  size_t taken = 0;
  for (uint32_t order = 1; order < COMPOSES; order++)
    for (size_t i = 0; i < count; i++)
      if (order_of(t, codes[i]) == order) scratch[taken++] = codes[i];
  memcpy(codes, scratch, count * sizeof *codes);
}

static uint32_t composed(const pte_text *t, uint32_t first, uint32_t second) {
  uint32_t low = 0, high = t->parts[PTE_TEXT_PART_PAIRS].count;
  if (first - 0x1100 < 19 && second - 0x1161 < 21)
    return HANGUL + ((first - 0x1100) * 21 + second - 0x1161) * 28;
  if (first - HANGUL < HANGUL_END - HANGUL && (first - HANGUL) % 28 == 0 && second - 0x11A8 < 27)
    return first + second - 0x11A7;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    pte_text_pair pair;
    memcpy(&pair, t->parts[PTE_TEXT_PART_PAIRS].data + (size_t)middle * sizeof pair, sizeof pair);
    if (pair.first == first && pair.second == second) return pair.composed;
    if (pair.first < first || (pair.first == first && pair.second < second)) low = middle + 1;
    else high = middle;
  }
  return PTE_NONE;
}

/* Composes each mark with the starter before it, unless a mark of its class or a higher one that
 * stays lies between. */
static void compose(const pte_text *t, cluster *c) {
  size_t starter = PTE_NONE, kept = 0;
  uint32_t last = STARTER;
  for (size_t i = 0; i < c->count; i++) {
    uint32_t code = c->codes[i], order = order_of(t, code);
    uint32_t class = order == COMPOSES ? STARTER : order;
    bool beside = starter != PTE_NONE && kept == starter + 1;
    if (starter != PTE_NONE && (beside || (class != STARTER && last < class))) {
      uint32_t both = composed(t, c->codes[starter], code);
      if (both != PTE_NONE) {
        c->codes[starter] = both;
        continue;
      }
    }
    if (class == STARTER) starter = kept;
    last = class;
    c->codes[kept++] = code;
  }
  c->count = kept;
}

/* Writes what was gathered, in order, composed where the rule says so. */
static void flush(const pte_text *t, const pte_text_rule *rule, cluster *c, writer *out) {
  for (size_t i = 0; i < c->count;) {
    size_t end = i + 1;
    if (is_starter(order_of(t, c->codes[i]))) {
      i = end;
      continue;
    }
    while (end < c->count && !is_starter(order_of(t, c->codes[end]))) end++;
    sort_marks(t, c->codes + i, end - i, c->codes + c->room);
    i = end;
  }
  if (rule->act == PTE_TEXT_ACT_COMPOSE) compose(t, c);
  for (size_t i = 0; i < c->count; i++) put_code(out, c->codes[i]);
  c->count = 0;
}

static void gather(const pte_text *t, const pte_text_rule *rule, cluster *c, writer *out,
                   uint32_t code) {
  if (order_of(t, code) == STARTER && c->count > 0) flush(t, rule, c, out);
  if (c->count < c->room) c->codes[c->count++] = code;
}

static void take_apart(const pte_text *t, const pte_text_rule *rule, cluster *c, writer *out,
                       uint32_t code) {
  pte_text_span parts;
  if (code - HANGUL < HANGUL_END - HANGUL) {
    uint32_t at = code - HANGUL;
    gather(t, rule, c, out, 0x1100 + at / 588);
    gather(t, rule, c, out, 0x1161 + at / 28 % 21);
    if (at % 28 != 0) gather(t, rule, c, out, 0x11A7 + at % 28);
  } else if (!mapped(t, rule->map, code, &parts)) gather(t, rule, c, out, code);
  else
    for (size_t i = 0, size; i < parts.size; i += size)
      gather(t, rule, c, out, pte_text_code(parts.data + i, parts.size - i, &size));
}

static pte_status normal_form(pte_text_encoder *e, const pte_text_rule *rule, pte_text_span text,
                              writer *out) {
  const pte_text *t = e->text;
  uint64_t used = e->room.used;
  void *codes = NULL;
  PTE_TRY(pte_arena_take(&e->room, 2 * (uint64_t)out->room, sizeof(uint32_t), 8, &codes));
  cluster c = {codes, 0, out->room};
  for (size_t i = 0, size; i < text.size; i += size) {
    if (text.data[i] < 0x80 && (i + 1 == text.size || text.data[i + 1] < 0x80)) {
      if (c.count > 0) flush(t, rule, &c, out); /* ASCII before ASCII stays */
      put_bytes(out, (pte_text_span){text.data + i, size = 1});
    } else take_apart(t, rule, &c, out, pte_text_code(text.data + i, text.size - i, &size));
  }
  flush(t, rule, &c, out);
  e->room.used = used;
  return PTE_OK;
}

/* --- text before and in place of text --------------------------------------------------------- */

/* Bytes of a rule, from `skip` on; empty where they are not there. */
static pte_text_span bytes_of(const pte_text *t, const pte_text_rule *rule, uint32_t skip,
                              uint32_t size) {
  uint64_t begin = (uint64_t)rule->map + skip;
  if (begin + size > t->parts[PTE_TEXT_PART_MAP_BYTES].count) return (pte_text_span){NULL, 0};
  return (pte_text_span){t->parts[PTE_TEXT_PART_MAP_BYTES].data + begin, size};
}

static bool begins(pte_text_span text, size_t at, pte_text_span with) {
  return with.size > 0 && with.size <= text.size - at &&
         memcmp(text.data + at, with.data, with.size) == 0;
}

static void prepend(const pte_text *t, const pte_text_rule *rule, bool first, pte_text_span text,
                    writer *out) {
  pte_text_span bytes = bytes_of(t, rule, 0, rule->bytes);
  bool there = begins(text, 0, bytes);
  bool wanted = rule->when == PTE_TEXT_WHEN_ALWAYS ||
                (!there && (rule->when == PTE_TEXT_WHEN_UNLESS_THERE || first));
  if (wanted) put_bytes(out, bytes);
  put_bytes(out, text);
}

static void replace(const pte_text *t, const pte_text_rule *rule, pte_text_span text, writer *out) {
  pte_text_span from = bytes_of(t, rule, 0, rule->bytes);
  pte_text_span to = bytes_of(t, rule, rule->bytes, rule->with);
  for (size_t done = 0, i = 0; done < text.size;) {
    while (i < text.size && !begins(text, i, from)) i++;
    put_bytes(out, (pte_text_span){text.data + done, i - done});
    if (i < text.size) put_bytes(out, to);
    done = i += i < text.size ? from.size : 0;
  }
}

static pte_text_span strip(const pte_text *t, uint32_t sides, pte_text_span text) {
  size_t begin = 0, end = text.size;
  for (size_t size; (sides & 1) != 0 && begin < end; begin += size)
    if (!pte_text_has(t, pte_text_code(text.data + begin, end - begin, &size),
                      PTE_TEXT_TRAIT_SPACE))
      break;
  while ((sides & 2) != 0 && end > begin) {
    size_t at = end - 1, size;
    while (at > begin && (text.data[at] & 0xC0) == 0x80) at--;
    if (!pte_text_has(t, pte_text_code(text.data + at, end - at, &size), PTE_TEXT_TRAIT_SPACE))
      break;
    end = at;
  }
  return (pte_text_span){text.data + begin, end - begin};
}

uint64_t pte_text_grown(const pte_text_rule *rule, uint64_t n) {
  if (rule->act == PTE_TEXT_ACT_PREPEND) return n + rule->bytes;
  if (rule->act == PTE_TEXT_ACT_STRIP) return n;
  return n * rule->growth + 16;
}

static pte_status apply(pte_text_encoder *e, const pte_text_rule *rule, bool first,
                        pte_text_span *text) {
  const pte_text *t = e->text;
  void *data = NULL;
  if (rule->act == PTE_TEXT_ACT_STRIP) {
    *text = strip(t, rule->when, *text);
    return PTE_OK;
  }
  uint64_t room = pte_text_grown(rule, text->size);
  PTE_TRY(pte_arena_take(&e->room, room, 1, 8, &data));
  writer out = {data, 0, (size_t)room};
  switch (rule->act) {
  case PTE_TEXT_ACT_MAP: map_text(t, rule, *text, &out); break;
  case PTE_TEXT_ACT_PREPEND: prepend(t, rule, first, *text, &out); break;
  case PTE_TEXT_ACT_REPLACE: replace(t, rule, *text, &out); break;
  default: PTE_TRY(normal_form(e, rule, *text, &out)); break;
  }
  *text = (pte_text_span){out.data, out.size};
  return PTE_OK;
}

pte_status pte_text_normalize(pte_text_encoder *e, bool late, bool first, pte_text_span text,
                              pte_text_span *out) {
  const pte_text *t = e->text;
  for (uint32_t i = 0; i < t->parts[PTE_TEXT_PART_RULES].count; i++) {
    const pte_text_rule *rule = &t->rules[i];
    if (text.size > 0 && (rule->late != 0) == late) PTE_TRY(apply(e, rule, first, &text));
  }
  *out = text;
  return PTE_OK;
}

/* Ids to text, a token at a time: whole characters out, the bytes of one that is not complete yet
 * wait in the stream. */
#include "core/sized.h"
#include "tokenizer/text.h"

#define MARK_BYTES 3
static const uint8_t MARK[MARK_BYTES] = {0xE2, 0x96, 0x81};        /* U+2581 */
static const uint8_t REPLACEMENT[MARK_BYTES] = {0xEF, 0xBF, 0xBD}; /* U+FFFD */

typedef struct output {
  pte_text_stream *stream;
  uint8_t *data;
  size_t size, room;
  bool full;
} output;

static void put(output *out, const uint8_t *data, size_t size) {
  if (size > out->room - out->size) {
    out->full = true;
    return;
  }
  memcpy(out->data + out->size, data, size);
  out->size += size;
}

static void release(output *out, size_t count) {
  pte_text_stream *s = out->stream;
  s->held -= (uint32_t)count;
  for (uint32_t i = 0; i < s->held; i++) s->bytes[i] = s->bytes[i + count];
}

/* Puts out what of the held bytes is decided; all of them at the `end` of the text. */
static void settle(output *out, bool end) {
  pte_text_stream *s = out->stream;
  while (s->held > 0) {
    size_t bad;
    bool open;
    size_t size = pte_text_whole(s->bytes, s->held, &bad, &open);
    if (size == 0 && open && !end) return;
    if (size > 0) put(out, s->bytes, size);
    else put(out, REPLACEMENT, MARK_BYTES);
    release(out, size > 0 ? size : bad);
  }
}

/* A byte of a piece that is one byte: it is part of a character that more of them complete, and
 * what comes between makes U+FFFD of each. */
static void put_broken(output *out) {
  while (out->stream->held > 0) {
    put(out, REPLACEMENT, MARK_BYTES);
    release(out, 1);
  }
}

static void put_byte(output *out, uint8_t byte) {
  out->stream->bytes[out->stream->held++] = byte;
  settle(out, false);
}

/* What `id` is as the first token of a text. */
static void put_first(const pte_text *t, output *out, uint32_t id, pte_text_span shown) {
  pte_text_span piece = pte_text_bytes(t, PTE_TEXT_PART_PIECES, id);
  uint32_t opening = t->head.opening;
  bool whole = opening == PTE_TEXT_OPENING_AS_PIECE;
  bool space = opening == PTE_TEXT_OPENING_LESS_SPACE && shown.size > 0 && shown.data[0] == ' ';
  bool marks = opening == PTE_TEXT_OPENING_LESS_MARKS;
  if (whole || marks) shown = piece;
  for (size_t i = space; i < shown.size;) {
    bool mark = marks && shown.size - i >= MARK_BYTES && memcmp(shown.data + i, MARK, 3) == 0;
    if (!mark) put_byte(out, shown.data[i]);
    i += mark ? MARK_BYTES : 1;
  }
}

static void put_piece(const pte_text *t, output *out, uint32_t id) {
  pte_text_stream *s = out->stream;
  uint32_t part =
      t->parts[PTE_TEXT_PART_SHOWN].count > 0 ? PTE_TEXT_PART_SHOWN : PTE_TEXT_PART_PIECES;
  pte_text_span shown = pte_text_bytes(t, part, id);
  bool fallback = t->head.unit == PTE_TEXT_UNIT_FALLBACK;
  if (fallback && (pte_text_marks(t, id) & PTE_TEXT_MARK_ONE_BYTE) == 0) put_broken(out);
  if (s->begun == 0 && (s->flags & PTE_TEXT_INSIDE) == 0) put_first(t, out, id, shown);
  else
    for (size_t i = 0; i < shown.size; i++) put_byte(out, shown.data[i]);
  s->begun = 1;
}

pte_status pte_text_decode(const pte_text *text, pte_text_stream *stream, uint32_t id, char *out,
                           size_t capacity, size_t *out_bytes, pte_error *error) {
  if (text == NULL || stream == NULL || out == NULL || out_bytes == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "text_decode: null pointer");
  if (stream->size != sizeof *stream || stream->held > 4 ||
      (stream->flags & ~(PTE_TEXT_SKIP | PTE_TEXT_INSIDE)) != 0)
    return pte_fail(error, PTE_BAD_ARGUMENT, "text_decode: the stream is none");
  if (id >= text->head.pieces)
    return pte_fail(error, PTE_BAD_DATA, "text_decode: expected an id below %u, got %u",
                    text->head.pieces, id);
  if ((stream->flags & PTE_TEXT_SKIP) != 0 &&
      (pte_text_marks(text, id) & PTE_TEXT_MARK_SPECIAL) != 0) {
    *out_bytes = 0;
    return PTE_OK;
  }
  pte_text_stream before = *stream;
  output o = {stream, (uint8_t *)out, 0, capacity, false};
  put_piece(text, &o, id);
  if (o.full) {
    *stream = before;
    return pte_fail(error, PTE_NO_MEMORY, "text_decode: expected %u bytes, got %llu", text->longest,
                    (uint64_t)capacity);
  }
  *out_bytes = o.size;
  return PTE_OK;
}

size_t pte_text_decode_end(const pte_text *text, pte_text_stream *stream, char *out) {
  if (text == NULL || stream == NULL || out == NULL || stream->held > 4) return 0;
  output o = {stream, (uint8_t *)out, 0, 12, false};
  if (text->head.unit == PTE_TEXT_UNIT_FALLBACK) put_broken(&o);
  else settle(&o, true);
  return o.size;
}

pte_status pte_text_get_info(const pte_text *t, pte_text_info *out) {
  if (t == NULL) return PTE_BAD_ARGUMENT;
  const pte_text_part *stops = &t->parts[PTE_TEXT_PART_STOPS];
  pte_text_info info = {.pieces = t->head.pieces,
                        .begin = t->head.begin,
                        .end = t->head.end,
                        .unknown = t->head.unknown,
                        .pad = t->head.pad,
                        .stop_count = stops->count,
                        .longest = t->longest,
                        .stops = (const uint32_t *)(const void *)stops->data};
  return pte_sized_write(out, &info, sizeof info);
}

/* An added token, or a piece. */
pte_status pte_text_find(const pte_text *t, const char *piece, size_t size_bytes, uint32_t *out) {
  if (t == NULL || out == NULL || (piece == NULL && size_bytes > 0)) return PTE_BAD_ARGUMENT;
  const uint8_t *bytes = (const uint8_t *)piece;
  uint32_t roots[2] = {t->head.added, t->head.normal};
  for (size_t r = 0; r < 2; r++) {
    uint32_t node = roots[r];
    for (size_t i = 0; i < size_bytes && node != PTE_NONE; i++)
      node = pte_text_child(t, node, bytes[i]);
    if (node == PTE_NONE || size_bytes == 0) continue;
    uint32_t i = pte_text_value(t, node, t->parts[PTE_TEXT_PART_ADDED].count);
    if (i == PTE_NONE) continue;
    uint32_t id = pte_text_u32(t, PTE_TEXT_PART_ADDED, 2 * i); /* a row is an id and four bytes */
    if (id >= t->head.pieces) continue;
    *out = id;
    return PTE_OK;
  }
  uint32_t id = pte_text_look(t, bytes, size_bytes);
  if (id == PTE_NONE) return PTE_BAD_DATA;
  *out = id;
  return PTE_OK;
}

/* What a session knows, as bytes: the states, of those with a row a token only the rows in use.
 *
 *   offset  bytes
 *        0      8  "PTESTATE"
 *        8     32  BLAKE2s-256 of the digests of the program's segments, but manifest and names
 *       40      8  method
 *       48      8  position: tokens that the session holds
 *       56      8  written: tokens that it held before it went back, at least position
 *       64      8  bytes that follow the digest
 *       72     32  BLAKE2s-256 of bytes 0 to 71 and of those that follow
 *      104         the states in order, dense, one behind the other; panels of 16 tokens whole,
 *                  zeros in place of tokens behind the position; a ring that is full whole
 *
 * Numbers are little-endian, as elements are. Nothing here is an address or an index but the
 * position, which is compared with the room there is. */
#include <string.h>

#include "core/error.h"
#include "core/kept.h"
#include "core/size.h"
#include "program/blake2s.h"
#include "session/session.h"
#include "session/state.h"

enum { HEAD = 72, DIGEST = 32, BODY = HEAD + DIGEST };
static const char MAGIC[8] = {'P', 'T', 'E', 'S', 'T', 'A', 'T', 'E'};

typedef struct head {
  char magic[8];
  uint8_t program[DIGEST];
  uint64_t method, position, written, bytes;
} head;
_Static_assert(sizeof(head) == HEAD, "head");

static const pte_file_state *file_state(const pte_session *s, uint32_t i) {
  return &s->program->states[pte_session_file_value(s, s->state_values[i])->base];
}

enum { PANEL = PTE_PANEL_TOKENS };

/* Tokens of a row along the file's axis: one, or a panel of them; 0: it has no rows of tokens. */
static int64_t row_of(const pte_session *s, uint32_t i) {
  uint8_t role = file_state(s, i)->role;
  return role == PTE_ROLE_TOKENS ? 1 : role == PTE_ROLE_PANELS ? PANEL : 0;
}

/* A state as `count` pieces, of which the first `used` of each `stride` bytes are in use. Of the
 * rows of tokens in these, token i's at i modulo `rows`, those of tokens `from` to `to` are not. */
typedef struct pieces {
  unsigned char *data;
  uint64_t count, used, stride, row;
  size_t each; /* of panels: bytes of an element */
  int64_t rows, from, to;
} pieces;

/* How far a session came: the tokens that it holds, and those that it held before it went back. */
typedef struct past {
  int64_t position, written;
} past;

static pieces pieces_of(const pte_session *s, uint32_t i, past at) {
  const pte_file_state *file = file_state(s, i);
  const pte_tensor *t = &s->tensors[s->state_values[i]];
  uint64_t bytes = s->slots[s->state_values[i]].room_bytes;
  pieces p = {.data = t->data, .count = 1, .used = bytes, .stride = bytes};
  int64_t tokens = row_of(s, i);
  if (tokens == 0 || bytes == 0) return p;
  p.count = (uint64_t)pte_tensor_span(t, 0, file->axis);
  p.stride = bytes / p.count;
  p.row = p.stride / (uint64_t)t->shape[file->axis];
  p.rows = t->shape[file->axis] * tokens;
  p.from = at.position;
  int64_t whole = (at.position + tokens - 1) / tokens * tokens;
  bool full = file->reach != 0 && at.written > p.rows;
  p.to = full ? at.written : whole;
  p.used = p.row * (uint64_t)((full || whole > p.rows ? p.rows : whole) / tokens);
  p.each = tokens == 1 ? 0 : pte_dtype_bits(t->dtype) / 8;
  return p;
}

/* A piece as bytes, of it only the tokens in use: what was forgotten is not told. */
static void write_piece(const pieces *p, uint64_t piece, unsigned char *to) {
  memcpy(to, p->data + piece * p->stride, (size_t)p->used);
  size_t line = PANEL * p->each;
  for (int64_t i = p->from; i < p->to && i - p->from < p->rows; i++) {
    size_t at = (size_t)(i % p->rows);
    if (line == 0) memset(to + at * p->row, 0, (size_t)p->row);
    unsigned char *panel = to + at / PANEL * p->row + at % PANEL * p->each;
    for (size_t b = 0; line != 0 && b < p->row; b += line) memset(panel + b, 0, p->each);
  }
}

/* The state that counts tokens; NULL: there is none, or it is no I64 [1]. */
static int64_t *position_of(const pte_session *s) {
  for (uint32_t i = 0; i < s->state_count; i++) {
    const pte_tensor *t = &s->tensors[s->state_values[i]];
    bool one = t->dtype == PTE_I64 && t->rank == 1 && t->shape[0] == 1;
    if (file_state(s, i)->role == PTE_ROLE_POSITION && one) return t->data;
  }
  return NULL;
}

/* Tokens that a state has rows for; INT64_MAX: it has none. */
static int64_t rows_of(const pte_session *s, uint32_t i) {
  if (row_of(s, i) == 0) return INT64_MAX;
  int64_t rows = s->tensors[s->state_values[i]].shape[file_state(s, i)->axis];
  return rows < INT64_MAX / row_of(s, i) ? rows * row_of(s, i) : INT64_MAX;
}

/* The fewest rows that a state has that is no ring, or what the position says; else no end. */
static int64_t room_of(const pte_session *s) {
  int64_t least = INT64_MAX - PANEL;
  for (uint32_t i = 0; i < s->state_count; i++) {
    const pte_file_state *file = file_state(s, i);
    int64_t room = file->reach == 0 ? rows_of(s, i) : INT64_MAX;
    if (file->role == PTE_ROLE_POSITION && file->reach != 0) room = file->reach;
    if (room < least) least = room;
  }
  return least;
}

static pte_status check_prepared(const pte_session *s, pte_error *err) {
  if (s != NULL && s->prepared) return PTE_OK;
  return pte_fail(err, PTE_BAD_ARGUMENT, "session: not prepared");
}

/* What `set_state` or a run left there may be anything: no more rows than there are. */
static int64_t position_within(const pte_session *s) {
  const int64_t *position = position_of(s);
  int64_t room = room_of(s);
  if (position == NULL || *position < 0) return 0;
  return *position < room ? *position : room;
}

pte_status pte_session_position(const pte_session *s, int64_t *out_position, int64_t *out_room,
                                pte_error *err) {
  PTE_NEEDS_STATES(err);
  PTE_TRY(check_prepared(s, err));
  if (position_of(s) == NULL)
    return pte_fail(err, PTE_BAD_ARGUMENT, "session: its program keeps no context of tokens");
  if (out_position != NULL) *out_position = position_within(s);
  if (out_room != NULL) *out_room = room_of(s);
  return PTE_OK;
}

/* The first position at which rings still hold what a run reads; 0: all have room for all tokens.
 */
static int64_t first_of(const pte_session *s, past at) {
  int64_t first = 0;
  for (uint32_t i = 0; i < s->state_count; i++) {
    int64_t rows = rows_of(s, i), reach = file_state(s, i)->reach;
    if (reach == 0 || rows >= at.written) continue;
    if (at.written - rows + reach > first) first = at.written - rows + reach;
  }
  return first;
}

/* Whether a session can have come so: it never went back, or by no more than its rings still hold.
 * What is saved is such a past, and what is restored must be. */
static bool is_past(const pte_session *s, past at) {
  if (at.position < 0 || at.position > room_of(s)) return false;
  if (position_of(s) == NULL) return at.position == 0 && at.written == 0;
  if (at.written == at.position) return true;
  if (at.written < at.position || at.written > INT64_MAX / 2) return false;
  int64_t first = first_of(s, at);
  return first != 0 && at.position >= first;
}

/* `set_state`, a run or memory that was adopted may have left a position from which none went back.
 */
static past past_of(const pte_session *s, int64_t position) {
  past at = {position, s->written};
  return is_past(s, at) ? at : (past){position, position};
}

pte_status pte_session_rewind(pte_session *s, int64_t position, pte_error *err) {
  PTE_NEEDS_STATES(err);
  int64_t now;
  PTE_TRY(pte_session_position(s, &now, NULL, err));
  for (uint32_t i = 0; i < s->state_count; i++)
    if (row_of(s, i) == 0 && file_state(s, i)->role != PTE_ROLE_POSITION)
      return pte_fail(err, PTE_BAD_ARGUMENT, "state %s: holds no row a token, it cannot go back",
                      pte_program_string(s->program, file_state(s, i)->name));
  past at = past_of(s, now);
  int64_t first = first_of(s, at);
  if (position < 0 || position > now)
    return pte_fail(err, PTE_BAD_ARGUMENT, "rewind: expected a position of 0 to %lld, got %lld",
                    now, position);
  if (position != 0 && position != now && position < first)
    return pte_fail(err, PTE_BAD_ARGUMENT,
                    "rewind: expected 0 or a position of %lld to %lld, got %lld: a window's tokens "
                    "before that are written over",
                    first, now, position);
  s->written = position == 0 || first == 0 ? 0 : at.written;
  *position_of(s) = position;
  return PTE_OK;
}

static uint64_t body_bytes(const pte_session *s, past at) {
  uint64_t bytes = 0; /* no more than the state block, whose size fits */
  for (uint32_t i = 0; i < s->state_count; i++) {
    pieces p = pieces_of(s, i, at);
    bytes += p.count * p.used;
  }
  return bytes;
}

/* By what decides what runs give: not by names of nodes, which may be stripped. */
static void name_program(const pte_program *p, uint8_t digest[DIGEST]) {
  pte_blake2s hash;
  pte_blake2s_begin(&hash, DIGEST);
  for (uint32_t i = 0; i < p->segment_count; i++) {
    const pte_segment *segment = &p->segments[i];
    if (segment->kind == PTE_SEGMENT_DEBUG || segment->kind == PTE_SEGMENT_MANIFEST) continue;
    pte_blake2s_add(&hash, segment->digest, DIGEST);
  }
  pte_blake2s_end(&hash, digest);
}

static head head_of(const pte_session *s, past at) {
  head h = {.method = s->method_index, .position = (uint64_t)at.position};
  h.written = (uint64_t)at.written;
  h.bytes = body_bytes(s, at);
  memcpy(h.magic, MAGIC, sizeof h.magic);
  name_program(s->program, h.program);
  return h;
}

static void digest_of(const unsigned char *bytes, uint64_t body, uint8_t digest[DIGEST]) {
  pte_blake2s hash;
  pte_blake2s_begin(&hash, DIGEST);
  pte_blake2s_add(&hash, bytes, HEAD);
  pte_blake2s_add(&hash, bytes + BODY, (size_t)body);
  pte_blake2s_end(&hash, digest);
}

pte_status pte_session_save_size(const pte_session *s, uint64_t *out_bytes, pte_error *err) {
  PTE_NEEDS_STATES(err);
  PTE_TRY(check_prepared(s, err));
  *out_bytes = BODY + body_bytes(s, past_of(s, position_within(s)));
  return PTE_OK;
}

pte_status pte_session_save(const pte_session *s, void *data, size_t size_bytes, pte_error *err) {
  PTE_NEEDS_STATES(err);
  uint64_t needed;
  PTE_TRY(pte_session_save_size(s, &needed, err));
  if (data == NULL || size_bytes != needed)
    return pte_fail(err, PTE_BAD_ARGUMENT, "save: expected room for %llu bytes, got %llu", needed,
                    (uint64_t)size_bytes);
  past at_now = past_of(s, position_within(s));
  head h = head_of(s, at_now);
  unsigned char *to = data, *at = to + BODY;
  memcpy(to, &h, HEAD);
  for (uint32_t i = 0; i < s->state_count; i++) {
    pieces p = pieces_of(s, i, at_now);
    if (p.data == (const void *)position_of(s)) /* what it means, not what a caller left there */
      p.data = (unsigned char *)&at_now.position;
    for (uint64_t j = 0; p.used != 0 && j < p.count; j++, at += p.used) write_piece(&p, j, at);
  }
  digest_of(to, h.bytes, to + HEAD);
  return PTE_OK;
}

static pte_status check_saved(const pte_session *s, const unsigned char *from, size_t size_bytes,
                              head *out, pte_error *err) {
  uint8_t digest[DIGEST];
  if (from == NULL || size_bytes < BODY)
    return pte_fail(err, PTE_BAD_DATA, "saved session: %llu bytes are fewer than its head has",
                    (uint64_t)size_bytes);
  memcpy(out, from, HEAD);
  if (memcmp(out->magic, MAGIC, sizeof MAGIC) != 0)
    return pte_fail(err, PTE_BAD_DATA, "saved session: these bytes are none");
  if (out->position > (uint64_t)room_of(s))
    return pte_fail(err, PTE_BAD_DATA, "saved session: holds %llu tokens, there is room for %lld",
                    out->position, room_of(s));
  past at = {(int64_t)out->position, (int64_t)out->written};
  if (!is_past(s, at))
    return pte_fail(err, PTE_BAD_DATA, "saved session: held %llu tokens, cannot go on from %llu",
                    out->written, out->position);
  head own = head_of(s, at);
  if (memcmp(out->program, own.program, DIGEST) != 0)
    return pte_fail(err, PTE_BAD_DATA, "saved session: is of another program");
  if (out->method != own.method)
    return pte_fail(err, PTE_BAD_DATA, "saved session: is of method %llu, not %llu", out->method,
                    own.method);
  if (out->bytes != own.bytes || size_bytes - BODY != own.bytes)
    return pte_fail(err, PTE_BAD_DATA, "saved session: expected %llu bytes of states, got %llu",
                    own.bytes, (uint64_t)size_bytes - BODY);
  digest_of(from, own.bytes, digest);
  if (memcmp(digest, from + HEAD, DIGEST) == 0) return PTE_OK;
  return pte_fail(err, PTE_BAD_DATA, "saved session: its bytes changed since they were written");
}

pte_status pte_session_restore(pte_session *s, const void *data, size_t size_bytes,
                               pte_error *err) {
  PTE_NEEDS_STATES(err);
  head h;
  PTE_TRY(check_prepared(s, err));
  PTE_TRY(check_saved(s, data, size_bytes, &h, err));
  const unsigned char *at = (const unsigned char *)data + BODY;
  for (uint32_t i = 0; i < s->state_count; i++) {
    pieces p = pieces_of(s, i, (past){(int64_t)h.position, (int64_t)h.written});
    for (uint64_t j = 0; p.used != 0 && j < p.count; j++, at += p.used)
      memcpy(p.data + j * p.stride, at, (size_t)p.used);
  }
  int64_t *position = position_of(s);
  if (position != NULL) *position = (int64_t)h.position;
  s->written = (int64_t)h.written;
  return PTE_OK;
}

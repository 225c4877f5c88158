/* A tokenizer of seven pieces: what encoding and decoding promise; little memory, and bytes that
 * were changed, end clean. */
// sources: tokenizer core/error.c core/arena.c core/sized.c program/header.c program/blake2s.c
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "gen/text.h"
#include "pteron/text.h"

enum { A, B, AB, ABB, E_ACUTE_1, E_ACUTE_2, END, PIECES };

/* The segment that a test builds: parts behind the places, each from a multiple of 8. */
typedef struct built {
  _Alignas(64) uint8_t bytes[8192];
  pte_text_head head;
  pte_text_place places[PTE_TEXT_PART_COUNT];
  uint32_t size;
} built;

static void add(built *b, uint32_t part, const void *data, uint32_t size) {
  b->size = (b->size + 7) / 8 * 8;
  b->places[part] = (pte_text_place){b->size, size};
  memcpy(b->bytes + b->size, data, size);
  b->size += size;
}

static uint32_t hash_of_pair(uint32_t left, uint32_t right) {
  uint32_t hash = left * 0x9E3779B1u ^ (right + 0x7F4A7C15u) * 0x85EBCA6Bu;
  hash ^= hash >> 15;
  hash *= 0xC2B2AE35u;
  return hash ^ hash >> 13;
}

static void put_merge(pte_text_merge *table, pte_text_merge row) {
  uint32_t at = hash_of_pair(row.left, row.right) & 15;
  while (table[at].left != PTE_NONE) at = (at + 1) & 15;
  table[at] = row;
}

/* a b ab abb, the two bytes of e acute, and <end>, an added token; a + b before ab + b. */
static void build(built *b) {
  memset(b, 0, sizeof *b);
  b->size = sizeof b->head + sizeof b->places;
  const char text[] = "ababab"
                      "b\xC3\xA9<end>";
  const uint32_t starts[PIECES + 1] = {0, 1, 2, 4, 7, 8, 9, 14};
  const uint8_t marks[PIECES] = {[END] = PTE_TEXT_MARK_SPECIAL};
  const uint32_t merged[] = {AB, ABB}, back[] = {END};
  uint32_t units[256], lookup[16];
  pte_text_merge merges[16];
  const pte_text_node nodes[] = {
      {1, PTE_NONE},
      {2, PTE_NONE},
      {3, PTE_NONE},
      {4, PTE_NONE},
      {5, PTE_NONE},
      {6, 0       },
      {6, PTE_NONE}
  };
  const pte_text_added added[] = {
      {END, 0, 0, 0, 1}
  };
  memset(units, 0xFF, sizeof units);
  memset(lookup, 0xFF, sizeof lookup);
  memset(merges, 0xFF, sizeof merges);
  units['a'] = A;
  units['b'] = B;
  units[0xC3] = E_ACUTE_1;
  units[0xA9] = E_ACUTE_2;
  put_merge(merges, (pte_text_merge){A, B, 0});
  put_merge(merges, (pte_text_merge){AB, B, 1});
  add(b, PTE_TEXT_PART_PIECES, starts, sizeof starts);
  add(b, PTE_TEXT_PART_PIECE_BYTES, text, 14);
  add(b, PTE_TEXT_PART_MARKS, marks, sizeof marks);
  add(b, PTE_TEXT_PART_LOOKUP, lookup, sizeof lookup);
  add(b, PTE_TEXT_PART_MERGES, merges, sizeof merges);
  add(b, PTE_TEXT_PART_MERGED, merged, sizeof merged);
  add(b, PTE_TEXT_PART_UNITS, units, sizeof units);
  add(b, PTE_TEXT_PART_NODES, nodes, sizeof nodes);
  add(b, PTE_TEXT_PART_LABELS, "\0<end>", 6);
  add(b, PTE_TEXT_PART_ADDED, added, sizeof added);
  add(b, PTE_TEXT_PART_BACK, back, sizeof back);
  add(b, PTE_TEXT_PART_STOPS, back, sizeof back);
  b->head = (pte_text_head){
      .magic = {'P', 'T', 'X', 'T'},
      .bytes = b->size,
      .pieces = PIECES,
      .unknown = PTE_NONE,
      .begin = PTE_NONE,
      .end = END,
      .pad = PTE_NONE,
      .vocabulary = PTE_NONE,
      .inside = PTE_NONE,
      .normal = PTE_NONE
  };
  memcpy(b->bytes, &b->head, sizeof b->head);
  memcpy(b->bytes + sizeof b->head, b->places, sizeof b->places);
}

static built sample;
static _Alignas(16) uint8_t memory[16384], room[16384];

static const pte_text *opened(void) {
  const pte_text *text = NULL;
  pte_error error;
  build(&sample);
  CHECK(pte_text_size() <= sizeof memory);
  CHECK(pte_text_open(sample.bytes, sample.size, (pte_memory){memory, sizeof memory}, &text,
                      &error) == PTE_OK);
  return text;
}

static size_t encoded(const char *utf8, uint32_t flags, uint32_t *ids, size_t capacity) {
  size_t count = 0;
  pte_error error;
  CHECK(pte_text_encode(opened(), utf8, strlen(utf8), flags, (pte_memory){room, sizeof room}, ids,
                        capacity, &count, &error) == PTE_OK);
  return count;
}

static void pairs_of_the_lowest_rank_are_merged_first(void) {
  uint32_t ids[16];
  CHECK(encoded("abb", 0, ids, 16) == 1 && ids[0] == ABB);
  CHECK(encoded("bab", 0, ids, 16) == 2 && ids[0] == B && ids[1] == AB);
  CHECK(encoded("", 0, ids, 16) == 0);
}

static void a_long_word_gives_what_short_ones_give(void) {
  char text[100];
  uint32_t ids[100];
  for (size_t i = 0; i < 99; i++) text[i] = "abb"[i % 3];
  text[99] = 0;
  CHECK(encoded(text, 0, ids, 100) == 33);
  for (size_t i = 0; i < 33; i++) CHECK(ids[i] == ABB);
}

static void added_tokens_are_found_unless_the_text_is_plain(void) {
  uint32_t ids[16];
  CHECK(encoded("a<end>b", 0, ids, 16) == 3 && ids[0] == A && ids[1] == END && ids[2] == B);
  /* < e n d > are no pieces: a and b are neighbours then */
  CHECK(encoded("a<end>b", PTE_TEXT_PLAIN, ids, 16) == 1 && ids[0] == AB);
  CHECK(encoded("a", PTE_TEXT_ENDS, ids, 16) == 2 && ids[1] == END);
}

static void more_ids_than_places_are_counted(void) {
  uint32_t ids[2] = {77, 77};
  size_t count = 0;
  pte_error error;
  CHECK(pte_text_encode(opened(), "aaa", 3, 0, (pte_memory){room, sizeof room}, ids, 1, &count,
                        &error) == PTE_NO_MEMORY);
  CHECK(count == 3 && ids[0] == A && ids[1] == 77);
}

static void little_room_fails_clean(void) {
  char text[101];
  uint32_t ids[100];
  const pte_text *t = opened();
  memset(text, 'a', 100);
  text[50] = (char)0xFF; /* no UTF-8: room for a copy, too */
  size_t enough = (size_t)pte_text_room(t, 100);
  CHECK(enough <= sizeof room);
  pte_status last = PTE_NO_MEMORY;
  for (size_t size = 0; size <= enough; size++) {
    uint8_t *exact = aligned_alloc(16, (size + 16) / 16 * 16);
    size_t count = 0;
    pte_error error;
    CHECK(exact != NULL);
    last = pte_text_encode(t, text, 100, 0, (pte_memory){exact, size}, ids, 100, &count, &error);
    CHECK(last == PTE_OK || last == PTE_NO_MEMORY);
    free(exact);
  }
  CHECK(last == PTE_OK);
}

static void decoding_holds_back_what_is_no_whole_character(void) {
  const pte_text *t = opened();
  pte_text_stream stream = {.size = sizeof stream};
  char out[64];
  size_t size = 99;
  pte_error error;
  CHECK(pte_text_decode(t, &stream, E_ACUTE_1, out, sizeof out, &size, &error) == PTE_OK);
  CHECK(size == 0);
  CHECK(pte_text_decode(t, &stream, E_ACUTE_2, out, sizeof out, &size, &error) == PTE_OK);
  CHECK(size == 2 && memcmp(out, "\xC3\xA9", 2) == 0);
  CHECK(pte_text_decode(t, &stream, E_ACUTE_1, out, sizeof out, &size, &error) == PTE_OK);
  CHECK(pte_text_decode(t, &stream, A, out, sizeof out, &size, &error) == PTE_OK);
  CHECK(size == 4 && memcmp(out,
                            "\xEF\xBF\xBD"
                            "a",
                            4) == 0);
  CHECK(pte_text_decode(t, &stream, E_ACUTE_1, out, sizeof out, &size, &error) == PTE_OK);
  CHECK(pte_text_decode_end(t, &stream, out) == 3 && stream.held == 0);
}

static void special_tokens_are_left_out_where_that_is_asked(void) {
  const pte_text *t = opened();
  pte_text_stream stream = {.size = sizeof stream, .flags = PTE_TEXT_SKIP};
  char out[64];
  size_t size = 99;
  pte_error error;
  CHECK(pte_text_decode(t, &stream, END, out, sizeof out, &size, &error) == PTE_OK && size == 0);
  stream.flags = 0;
  CHECK(pte_text_decode(t, &stream, END, out, sizeof out, &size, &error) == PTE_OK && size == 5);
  CHECK(pte_text_decode(t, &stream, END, out, 4, &size, &error) == PTE_NO_MEMORY);
  CHECK(pte_text_decode(t, &stream, PIECES, out, sizeof out, &size, &error) == PTE_BAD_DATA);
}

static void pieces_are_found_and_facts_told(void) {
  const pte_text *t = opened();
  pte_text_info info = {.size = sizeof info};
  uint32_t id = 99;
  CHECK(pte_text_get_info(t, &info) == PTE_OK);
  CHECK(info.pieces == PIECES && info.end == END && info.begin == PTE_NONE);
  CHECK(info.stop_count == 1 && info.stops[0] == END);
  CHECK(pte_text_find(t, "<end>", 5, &id) == PTE_OK && id == END);
  CHECK(pte_text_find(t, "<en", 3, &id) == PTE_BAD_DATA && id == END);
}

/* Opens a copy that ends where it does, so that a sanitizer sees what is read behind it. */
static pte_status open_copy(const uint8_t *bytes, size_t size) {
  const pte_text *text = NULL;
  pte_error error;
  uint8_t *exact = aligned_alloc(64, size / 64 * 64 + 64);
  CHECK(exact != NULL);
  uint8_t *at = exact + (size / 64 * 64 + 64 - size) / 8 * 8;
  memcpy(at, bytes, size);
  pte_status status = pte_text_open(at, size, (pte_memory){memory, sizeof memory}, &text, &error);
  if (status == PTE_OK) {
    uint32_t ids[64];
    size_t count = 0;
    static const char all[] = "ab\xC3\xA9<end>abbabbbbabbabbabbabbabbabbabbabb";
    (void)!pte_text_encode(text, all, sizeof all - 1, 1, (pte_memory){room, sizeof room}, ids, 64,
                           &count, &error);
    pte_text_stream stream = {.size = sizeof stream};
    char out[256];
    for (uint32_t id = 0; id < PIECES; id++)
      (void)!pte_text_decode(text, &stream, id, out, sizeof out, &count, &error);
  }
  free(exact);
  return status;
}

static void every_prefix_is_refused_and_every_changed_byte_is_clean(void) {
  build(&sample);
  for (size_t size = 0; size < sample.size; size++) CHECK(open_copy(sample.bytes, size) != PTE_OK);
  CHECK(open_copy(sample.bytes, sample.size) == PTE_OK);
  for (size_t i = 0; i < sample.size; i++) {
    for (unsigned change = 1; change < 256; change = change * 2 + 1) {
      sample.bytes[i] ^= (uint8_t)change;
      (void)open_copy(sample.bytes, sample.size);
      sample.bytes[i] ^= (uint8_t)change;
    }
  }
}

int main(void) {
  pairs_of_the_lowest_rank_are_merged_first();
  a_long_word_gives_what_short_ones_give();
  added_tokens_are_found_unless_the_text_is_plain();
  more_ids_than_places_are_counted();
  little_room_fails_clean();
  decoding_holds_back_what_is_no_whole_character();
  special_tokens_are_left_out_where_that_is_asked();
  pieces_are_found_and_facts_told();
  every_prefix_is_refused_and_every_changed_byte_is_clean();
  return check_done();
}

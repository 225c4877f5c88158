/* A text segment that somebody bent: opened, and where that goes, used.
 *
 *   hostile SEGMENT COUNT SEED      every prefix, then COUNT mutations
 *
 * Prefixes that the head refuses are opened where the whole lies; every 97th, and all of the head,
 * with a size that fits them, where a sanitizer sees what is read behind them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/text.h"
#include "pteron/text.h"

#define IDS 4096

static uint64_t state;

static uint32_t draw(uint32_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return below == 0 ? 0 : (uint32_t)(state >> 33) % below;
}

static const char *const TEXTS[] = {
    "The sky isn't blue: 12345 (x += y)\r\n\n  \tdef f(x):\n    return x",
    "na\xC3\xAFve \xF0\x9F\x99\x82\xF0\x9F\x91\x8D e\xCC\x81\xCC\xA8 \xEA\xB0\x81 "
    "\xE1\x84\x80\xE1\x85\xA1 \xE2\x96\x81",
    "<s><|im_end|> <mask> ab<|x|>  [SEP]\xFF\xC3 \xE2\x96",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aa",
};

static void use(const pte_text *text) {
  static uint32_t ids[IDS];
  pte_text_info info = {.size = sizeof info};
  pte_error error;
  if (pte_text_get_info(text, &info) != PTE_OK) return;
  for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
    size_t size = strlen(TEXTS[i]), count = 0;
    uint64_t enough = pte_text_room(text, size);
    size_t room = enough < 1 << 20 ? (size_t)enough : 1 << 20;
    void *memory = aligned_alloc(16, room / 16 * 16 + 16);
    if (memory == NULL) abort();
    (void)!pte_text_encode(text, TEXTS[i], size, i % 4, (pte_memory){memory, room}, ids, IDS,
                           &count, &error);
    free(memory);
  }
  size_t capacity = info.longest < 1 << 16 ? info.longest : 1 << 16, size;
  char *out = malloc(capacity);
  if (out == NULL) abort();
  pte_text_stream stream = {.size = sizeof stream, .flags = draw(4)};
  for (uint32_t i = 0; i < 64; i++)
    (void)!pte_text_decode(text, &stream, i < 32 ? i : draw(info.pieces), out, capacity, &size,
                           &error);
  (void)pte_text_decode_end(text, &stream, out);
  for (uint32_t i = 0; i < 4; i++) (void)!pte_text_find(text, TEXTS[i], 4, ids);
  free(out);
}

static pte_status try(const uint8_t *bytes, size_t size) {
  static _Alignas(16) uint8_t memory[1 << 14];
  const pte_text *text = NULL;
  pte_error error;
  if (pte_text_size() > sizeof memory) abort();
  pte_status status =
      pte_text_open(bytes, size, (pte_memory){memory, sizeof memory}, &text, &error);
  if (status == PTE_OK) use(text);
  return status;
}

/* A copy that ends where its memory does, with the size in its head. */
static void try_prefix(const uint8_t *bytes, size_t size) {
  uint8_t *copy = malloc(size == 0 ? 1 : size);
  uint32_t said = (uint32_t)size;
  if (copy == NULL) abort();
  memcpy(copy, bytes, size);
  if (try(copy, size) == PTE_OK) exit(2);
  if (size >= sizeof(pte_text_head))
    memcpy(copy + offsetof(pte_text_head, bytes), &said, sizeof said);
  (void)try(copy, size);
  free(copy);
}

/* Where a change tells: half of them in the head, the places and the small parts. */
static size_t place(const uint8_t *bytes, size_t size) {
  pte_text_place one;
  uint32_t part = draw(PTE_TEXT_PART_COUNT);
  if (draw(4) == 0) return draw(sizeof(pte_text_head) + PTE_TEXT_PART_COUNT * sizeof one);
  memcpy(&one, bytes + sizeof(pte_text_head) + part * sizeof one, sizeof one);
  return one.bytes == 0 ? draw((uint32_t)size) : one.offset + draw(one.bytes);
}

static void mutate(const uint8_t *whole, uint8_t *bytes, size_t size) {
  static const uint32_t telling[] = {0,          1,          2,          127,       128,
                                     255,        256,        0x7FFF,     0x8000,    0xFFFF,
                                     0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF};
  size_t at = place(whole, size);
  if (draw(2) == 0) bytes[at] ^= (uint8_t)(1u << draw(8));
  else if (draw(2) == 0) bytes[at] = (uint8_t)draw(256);
  else {
    uint32_t value = telling[draw(sizeof telling / sizeof *telling)];
    at = at / 4 * 4;
    memcpy(bytes + at, &value, size - at < 4 ? size - at : 4);
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 3;
  FILE *file = fopen(argv[1], "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) return 3;
  size_t size = (size_t)ftell(file);
  uint8_t *whole = malloc(size), *bent = malloc(size);
  rewind(file);
  if (whole == NULL || bent == NULL || fread(whole, 1, size, file) != size) return 3;
  fclose(file);
  state = strtoull(argv[3], NULL, 10);
  if (try(whole, size) != PTE_OK) return 2;
  for (size_t n = 0; n < size; n++) {
    if (n < 1024 || n % (size / 400 + 97) == 0) try_prefix(whole, n);
    else if (try(whole, n) == PTE_OK) return 2;
  }
  unsigned long opened = 0, count = strtoul(argv[2], NULL, 10);
  for (unsigned long i = 0; i < count; i++) {
    memcpy(bent, whole, size);
    for (uint32_t changes = 1 + draw(4); changes > 0; changes--) mutate(whole, bent, size);
    opened += try(bent, size) == PTE_OK;
  }
  printf("%zu prefixes refused, %lu mutations: %lu opened and ran clean\n", size, count, opened);
  free(whole);
  free(bent);
  return 0;
}

/* Reading what a delegate's blob begins with. */
// sources: delegates/payload.c
#include "delegates/payload.h"

#include <stdlib.h>

#include "check.h"

enum { SIZE = 128 + 128 + 5, SECTIONS = 2 };

static void put(unsigned char *at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (unsigned char)(value >> 8 * i);
}

/* Sections 3 (7 bytes at 128) and 9 (5 bytes at 256). */
static void fill(unsigned char *blob) {
  memset(blob, 0, SIZE);
  memcpy(blob, "PTEDLG", 6);
  put(blob + 8, 1, 4);
  put(blob + 12, PTE_PAYLOAD_VGF, 4);
  memcpy(blob + 16, "some-target", 11);
  put(blob + 48, SIZE, 8);
  put(blob + 56, SECTIONS, 4);
  const uint64_t rows[SECTIONS][3] = {
      {3, 128, 7},
      {9, 256, 5}
  };
  for (int i = 0; i < SECTIONS; i++) {
    put(blob + 64 + 24 * i, rows[i][0], 4);
    put(blob + 72 + 24 * i, rows[i][1], 8);
    put(blob + 80 + 24 * i, rows[i][2], 8);
  }
  memcpy(blob + 128, "section", 7);
  memcpy(blob + 256, "other", 5);
}

/* On the heap, `size` bytes and no more, so that the sanitizer sees every byte too many. */
static pte_status read_copy(const unsigned char *blob, size_t size) {
  unsigned char *copy = malloc(size == 0 ? 1 : size);
  pte_payload payload;
  pte_payload_section section;
  pte_error error = {0};
  if (copy == NULL) return PTE_NO_MEMORY;
  memcpy(copy, blob, size);
  pte_status status =
      pte_payload_read(copy, size, PTE_PAYLOAD_VGF, "some-target", &payload, &error);
  unsigned sum = 0;
  for (uint32_t kind = 0; status == PTE_OK && kind < 12; kind++)
    if (pte_payload_find(&payload, kind, &section, &error) == PTE_OK)
      for (uint64_t i = 0; i < section.size; i++) sum += section.data[i];
  CHECK(sum < 1000000);
  CHECK(status == PTE_OK || error.text[0] != 0);
  free(copy);
  return status;
}

static void sections_are_found_by_kind(void) {
  unsigned char blob[SIZE];
  pte_payload payload;
  pte_payload_section section;
  pte_error error = {0};
  fill(blob);
  CHECK_EQUAL(pte_payload_read(blob, SIZE, PTE_PAYLOAD_VGF, "some-target", &payload, &error),
              PTE_OK);
  CHECK_EQUAL(pte_payload_find(&payload, 9, &section, &error), PTE_OK);
  CHECK(section.size == 5 && memcmp(section.data, "other", 5) == 0);
  CHECK_EQUAL(pte_payload_find(&payload, 4, &section, &error), PTE_DELEGATE);
  CHECK_TEXT(error.text, "kind 4 is missing");
}

static void a_kept_section_no_longer_changes(void) {
  unsigned char blob[SIZE], memory[128] __attribute__((aligned(64)));
  pte_payload payload;
  pte_payload_section section;
  pte_payload_room count = {NULL, 0, 0}, room = {memory, sizeof memory, 0}, small = {memory, 63, 0};
  pte_error error = {0};
  fill(blob);
  CHECK_EQUAL(pte_payload_read(blob, SIZE, PTE_PAYLOAD_VGF, "some-target", &payload, &error),
              PTE_OK);
  CHECK_EQUAL(pte_payload_find(&payload, 9, &section, &error), PTE_OK);
  CHECK_EQUAL(pte_payload_keep(&section, &count, &error), PTE_OK);
  CHECK(count.used == 64 && section.data > blob && section.data < blob + SIZE);
  CHECK_EQUAL(pte_payload_keep(&section, &small, &error), PTE_DELEGATE);
  CHECK_EQUAL(pte_payload_keep(&section, &room, &error), PTE_OK);
  memset(blob, 0xff, sizeof blob);
  CHECK(room.used == 64 && memcmp(section.data, "other", 5) == 0);
}

static void a_table_that_changes_names_nothing_outside(void) {
  unsigned char blob[SIZE];
  pte_payload payload;
  pte_payload_section section;
  pte_error error = {0};
  fill(blob);
  CHECK_EQUAL(pte_payload_read(blob, SIZE, PTE_PAYLOAD_VGF, "some-target", &payload, &error),
              PTE_OK);
  put(blob + 72, UINT64_C(1) << 40, 8);
  CHECK_EQUAL(pte_payload_find(&payload, (uint32_t)blob[64], &section, &error), PTE_DELEGATE);
}

static void another_target_or_kind_is_refused(void) {
  unsigned char blob[SIZE];
  pte_payload payload;
  pte_error error = {0};
  fill(blob);
  CHECK_EQUAL(pte_payload_read(blob, SIZE, PTE_PAYLOAD_VGF, "some-targe", &payload, &error),
              PTE_DELEGATE);
  CHECK_EQUAL(pte_payload_read(blob, SIZE, PTE_PAYLOAD_VGF, "some-target-2", &payload, &error),
              PTE_DELEGATE);
  CHECK_EQUAL(pte_payload_read(blob, SIZE, PTE_PAYLOAD_HEXAGON, "some-target", &payload, &error),
              PTE_DELEGATE);
}

static void every_prefix_is_refused(void) {
  unsigned char blob[SIZE];
  fill(blob);
  for (size_t size = 0; size < SIZE; size++) CHECK_EQUAL(read_copy(blob, size), PTE_DELEGATE);
  CHECK_EQUAL(read_copy(blob, SIZE), PTE_OK);
}

static void every_changed_byte_is_refused_or_read_clean(void) {
  static const unsigned char values[] = {0, 1, 2, 127, 128, 255};
  unsigned char blob[SIZE];
  for (size_t at = 0; at < 112; at++)
    for (size_t v = 0; v < sizeof values; v++) {
      fill(blob);
      blob[at] = values[v];
      (void)read_copy(blob, SIZE);
    }
}

int main(void) {
  sections_are_found_by_kind();
  a_kept_section_no_longer_changes();
  a_table_that_changes_names_nothing_outside();
  another_target_or_kind_is_refused();
  every_prefix_is_refused();
  every_changed_byte_is_refused_or_read_clean();
  return check_done();
}

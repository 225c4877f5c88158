/* Constants that lie in a file of their own: the caller gives them by name. */
// sources: library
// samples: yes
#include "check.h"
#include "gen/layout.h"
#include "pteron/pteron.h"
#include "sample.h"

#define ENTRY(i, offset) (64 + 64 * (i) + (offset))
#define CONSTANTS        2 /* segment */

static sample file, data;

static pte_status open_with(const char *name, const void *bytes, size_t size, pte_error *error) {
  const pte_external external = {name, bytes, size};
  pte_open_options options = {.size = sizeof options, .external_count = 1, .externals = &external};
  pte_program *program = NULL;
  size_t needed = 0;
  pte_status status = pte_program_size(file.bytes, file.size, &needed, error);
  if (status != PTE_OK) return status;
  pte_memory room = {sample_memory(needed), needed};
  status = pte_program_open(file.bytes, file.size, &options, room, &program, error);
  if (status == PTE_OK) status = pte_program_check_digests(program, error);
  free(room.data);
  return status;
}

static void refused(const char *name, const void *bytes, size_t size, const char *words) {
  pte_error error = {0};
  CHECK_EQUAL(open_with(name, bytes, size, &error), PTE_BAD_ARGUMENT);
  CHECK_TEXT(error.text, words);
}

static void they_are_asked_for_and_looked_at(void) {
  pte_error error = {0};
  CHECK_EQUAL(open_with("pointwise.bin", data.bytes, data.size, &error), PTE_OK);
  refused("other.bin", data.bytes, data.size, "external 'pointwise.bin' of 12 bytes is needed");
  refused(NULL, data.bytes, data.size, "external 'pointwise.bin' of 12 bytes is needed");
  refused("pointwise.bin", data.bytes, data.size - 1, "expected 12 bytes, got 11");
  refused("pointwise.bin", data.bytes + 4, data.size, "expected data aligned to 64");
  refused("pointwise.bin", NULL, data.size, "expected data aligned to 64");
}

static void changed_ones_are_noticed_when_asked(void) {
  pte_error error = {0};
  data.bytes[3] ^= 1;
  CHECK_EQUAL(open_with("pointwise.bin", data.bytes, data.size, &error), PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "segments[2].digest");
  data.bytes[3] ^= 1;
}

static void a_file_says_where_they_are_by_name_alone(void) {
  static const struct {
    size_t at;
    uint8_t value;
    const char *words;
  } changes[] = {
      {ENTRY(CONSTANTS, 0),  PTE_SEGMENT_COUNT, "segments[2].kind: 7 is not a kind of segment" },
      {ENTRY(CONSTANTS, 0),  0,                 "segments[2].kind: 0 is not a kind of segment" },
      {ENTRY(CONSTANTS, 4),  2,                 "segments[2].flags: 2 has undefined bits"      },
      {ENTRY(CONSTANTS, 8),  64,                "segments[2].offset: expected 0, got 64"       },
      {ENTRY(CONSTANTS, 56), 1,                 "segments[2].external: expected below 1, got 1"},
  };
  for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
    pte_error error = {0};
    uint8_t before = file.bytes[changes[k].at];
    file.bytes[changes[k].at] = changes[k].value;
    sample_reseal(file.bytes, file.size);
    CHECK_EQUAL(open_with("pointwise.bin", data.bytes, data.size, &error), PTE_BAD_PROGRAM);
    CHECK_TEXT(error.text, changes[k].words);
    file.bytes[changes[k].at] = before;
  }
}

int main(void) {
  file = sample_read("build/samples/apart/pointwise.pte");
  data = sample_read("build/samples/apart/pointwise.bin");
  they_are_asked_for_and_looked_at();
  changed_ones_are_noticed_when_asked();
  a_file_says_where_they_are_by_name_alone();
  free(file.bytes);
  free(data.bytes);
  return check_done();
}

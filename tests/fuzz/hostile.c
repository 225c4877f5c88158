/* Loads and runs corrupted copies of files, and counts for each what became of them (each.h).
 *
 * Usage: hostile FILE CASES [FILE CASES ...], all paths. CASES is a list of records, little-endian:
 *   u32 keep     bytes of the file that are kept
 *   u32 reseal   1: all digests are made right again behind the change
 *   u32 edits    then so many times: u32 offset, u32 size (1 to 8), u64 value
 * On stderr stands what case 0 was refused for, too. */
#include "each.h"
#include "sample.h"

typedef struct cases {
  sample file;
  const uint8_t **records;
} cases;

static const uint8_t *skip(const uint8_t *record) {
  return record + 12 + 16 * sample_word(record + 8, 4);
}

static void run(void *context, uint64_t i, exercise_result *result) {
  const cases *all = context;
  const uint8_t *record = all->records[i];
  size_t keep = (size_t)sample_word(record, 4);
  if (keep > all->file.size) keep = all->file.size;
  uint8_t *bytes = sample_memory(keep);
  memcpy(bytes, all->file.bytes, keep);
  for (uint64_t k = 0; k < sample_word(record + 8, 4); k++) {
    const uint8_t *edit = record + 12 + 16 * k;
    uint64_t offset = sample_word(edit, 4), size = sample_word(edit + 4, 4);
    if (size <= 8 && offset <= keep && size <= keep - offset)
      memcpy(bytes + offset, edit + 8, (size_t)size);
  }
  if (sample_word(record + 4, 4) == 1) sample_reseal(bytes, keep);
  exercise(bytes, keep, 1, result);
  free(bytes);
  if (i == 0 && result->text[0] != 0) fprintf(stderr, "case 0: %s\n", result->text);
}

static int attacked(const char *path, const char *records) {
  sample file = sample_read(path), list = sample_read(records);
  cases all = {file, malloc((list.size / 12 + 1) * sizeof *all.records)};
  if (all.records == NULL) return 2;
  uint64_t count = 0;
  for (const uint8_t *at = list.bytes; at < list.bytes + list.size; at = skip(at))
    all.records[count++] = at;
  int status = each_program(count, run, &all, NULL);
  free(all.records);
  free(file.bytes);
  free(list.bytes);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 3 || argc % 2 == 0) return 2;
  int status = 0;
  for (int i = 1; i < argc && status < 2; i += 2) {
    int one = attacked(argv[i], argv[i + 1]);
    if (one > status) status = one;
  }
  return status;
}

/* Loads and runs programs of one file, and says what became of each (each.h).
 *
 * Usage: many PROGRAMS LINES. PROGRAMS: u32 size, then as many bytes, again and again. LINES gets a
 * line for each: how far it came (exercise.h) and the first refusal. */
#include "each.h"
#include "sample.h"

static void run(void *context, uint64_t i, exercise_result *result) {
  const uint8_t *const *records = context;
  size_t size = (size_t)sample_word(records[i], 4);
  exercise(records[i] + 4, size, 1, result);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  sample file = sample_read(argv[1]);
  FILE *lines = fopen(argv[2], "w");
  const uint8_t **records = malloc((file.size / 4 + 1) * sizeof *records);
  if (lines == NULL || records == NULL) return 2;
  uint64_t count = 0;
  for (const uint8_t *at = file.bytes; at < file.bytes + file.size; at += 4 + sample_word(at, 4))
    records[count++] = at;
  int status = each_program(count, run, records, lines);
  fclose(lines);
  free(records);
  free(file.bytes);
  return status;
}

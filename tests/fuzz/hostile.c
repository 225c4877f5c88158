/* Loads and runs corrupted copies of a file, each in a child process, and counts what became of
 * them.
 *
 * Usage: hostile FILE CASES, both paths. CASES is a list of records, little-endian:
 *   u32 keep     bytes of the file that are kept
 *   u32 reseal   1: all digests are made right again behind the change
 *   u32 edits    then so many times: u32 offset, u32 size (1 to 8), u64 value
 * Prints one line of JSON, and on stderr what case 0 was refused for; a case that crashes, hangs
 * (10 s) or breaks a promise is printed with its number on stderr. Cases run in one child until one
 * of them kills it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exercise.h"
#include "sample.h"

#define SECONDS 10

typedef struct totals {
  uint64_t next; /* the case that runs now */
  uint64_t stages[4];
  uint64_t broken, largest_bytes;
} totals;

typedef struct cases {
  const uint8_t *bytes;
  size_t size;
} cases;

static const uint8_t *skip(const uint8_t *record) {
  return record + 12 + 16 * sample_word(record + 8, 4);
}

static void run_case(const sample *file, const uint8_t *record, exercise_result *result) {
  size_t keep = (size_t)sample_word(record, 4);
  if (keep > file->size) keep = file->size;
  uint8_t *bytes = sample_memory(keep);
  memcpy(bytes, file->bytes, keep);
  for (uint64_t i = 0; i < sample_word(record + 8, 4); i++) {
    const uint8_t *edit = record + 12 + 16 * i;
    uint64_t offset = sample_word(edit, 4), size = sample_word(edit + 4, 4);
    if (size <= 8 && offset <= keep && size <= keep - offset)
      memcpy(bytes + offset, edit + 8, (size_t)size);
  }
  if (sample_word(record + 4, 4) == 1) sample_reseal(bytes, keep);
  exercise(bytes, keep, 1, result);
  free(bytes);
}

static void run_cases(const sample *file, const cases *all, uint64_t first, totals *t) {
  const uint8_t *at = all->bytes;
  for (uint64_t i = 0; at < all->bytes + all->size; at = skip(at), i++) {
    if (i < first) continue;
    exercise_result result;
    t->next = i;
    alarm(SECONDS);
    run_case(file, at, &result);
    t->stages[result.stage]++;
    if (result.largest_bytes > t->largest_bytes) t->largest_bytes = result.largest_bytes;
    if (i == 0 && result.text[0] != 0) fprintf(stderr, "case 0: %s\n", result.text);
    if (result.broken[0] == 0) continue;
    t->broken++;
    fprintf(stderr, "case %llu: %s: %s\n", (unsigned long long)i, result.broken, result.text);
  }
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  sample file = sample_read(argv[1]), list = sample_read(argv[2]);
  cases all = {list.bytes, list.size};
  uint64_t count = 0, crashes = 0, hangs = 0;
  for (const uint8_t *at = all.bytes; at < all.bytes + all.size; at = skip(at)) count++;
  totals *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (t == MAP_FAILED) return 2;
  for (uint64_t first = 0; first < count;) {
    pid_t child = fork();
    if (child == 0) {
      run_cases(&file, &all, first, t);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    hangs += hung;
    crashes += !hung;
    fprintf(stderr, "case %llu: %s\n", (unsigned long long)t->next, hung ? "hangs" : "crashes");
    first = t->next + 1;
  }
  printf("{\"cases\": %llu, \"crashes\": %llu, \"hangs\": %llu, \"broken\": %llu, \"refused\": "
         "%llu, \"opened\": %llu, "
         "\"prepared\": %llu, \"ran\": %llu, \"largest_bytes\": %llu}\n",
         (unsigned long long)count, (unsigned long long)crashes, (unsigned long long)hangs,
         (unsigned long long)t->broken, (unsigned long long)t->stages[0],
         (unsigned long long)t->stages[1], (unsigned long long)t->stages[2],
         (unsigned long long)t->stages[3], (unsigned long long)t->largest_bytes);
  free(file.bytes);
  free(list.bytes);
  return crashes + hangs + t->broken == 0 ? 0 : 1;
}

/* Loads and runs programs of one file, each in a child process, and says what became of each.
 *
 * Usage: many PROGRAMS LINES. PROGRAMS: u32 size, then as many bytes, again and again. LINES gets a
 * line for each: how far it came (exercise.h) and the first refusal. Prints totals as JSON; a
 * program that crashes, hangs (10 s) or breaks a promise is named on stderr. Programs run in one
 * child until one of them kills it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exercise.h"
#include "sample.h"

#define SECONDS 10

typedef struct totals {
  uint64_t next; /* the program that runs now */
  uint64_t stages[4];
  uint64_t broken, most_microseconds;
} totals;

static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void run_one(const uint8_t *record, uint64_t i, totals *t, FILE *lines) {
  exercise_result result;
  size_t size = (size_t)sample_word(record, 4);
  uint8_t *bytes = sample_memory(size);
  memcpy(bytes, record + 4, size);
  t->next = i;
  alarm(SECONDS);
  uint64_t begin = now_us();
  exercise(bytes, size, 1, &result);
  uint64_t took = now_us() - begin;
  free(bytes);
  t->stages[result.stage]++;
  if (took > t->most_microseconds) t->most_microseconds = took;
  fprintf(lines, "%d %s\n", (int)result.stage, result.text);
  fflush(lines);
  if (result.broken[0] == 0) return;
  t->broken++;
  fprintf(stderr, "case %llu: %s: %s\n", (unsigned long long)i, result.broken, result.text);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  sample file = sample_read(argv[1]);
  FILE *lines = fopen(argv[2], "w");
  const uint8_t *end = file.bytes + file.size;
  uint64_t count = 0, crashes = 0, hangs = 0;
  for (const uint8_t *at = file.bytes; at < end; at += 4 + sample_word(at, 4)) count++;
  totals *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (t == MAP_FAILED || lines == NULL) return 2;
  for (uint64_t first = 0; first < count;) {
    pid_t child = fork();
    if (child == 0) {
      const uint8_t *at = file.bytes;
      for (uint64_t i = 0; i < count; i++, at += 4 + sample_word(at, 4))
        if (i >= first) run_one(at, i, t, lines);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    hangs += hung;
    crashes += !hung;
    fprintf(stderr, "case %llu: %s\n", (unsigned long long)t->next, hung ? "hangs" : "crashes");
    fprintf(lines, "%s\n", hung ? "5 hangs" : "4 crashes");
    fflush(lines);
    first = t->next + 1;
  }
  fclose(lines);
  printf(
      "{\"programs\": %llu, \"crashes\": %llu, \"hangs\": %llu, \"broken\": %llu, \"refused\": "
      "%llu, \"opened\": %llu, \"prepared\": %llu, \"ran\": %llu, \"most_microseconds\": %llu}\n",
      (unsigned long long)count, (unsigned long long)crashes, (unsigned long long)hangs,
      (unsigned long long)t->broken, (unsigned long long)t->stages[0],
      (unsigned long long)t->stages[1], (unsigned long long)t->stages[2],
      (unsigned long long)t->stages[3], (unsigned long long)t->most_microseconds);
  free(file.bytes);
  return crashes + hangs + t->broken == 0 ? 0 : 1;
}

#include "each.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 10

typedef unsigned long long word;

/* Shared with the children. */
typedef struct totals {
  uint64_t next; /* the program that runs now */
  uint64_t stages[4];
  uint64_t broken, largest_bytes, most_microseconds;
} totals;

static uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static void run_one(totals *t, uint64_t i, each_run run, void *context, FILE *lines) {
  exercise_result result;
  t->next = i;
  alarm(SECONDS);
  uint64_t begin = now_us();
  run(context, i, &result);
  uint64_t took = now_us() - begin;
  t->stages[result.stage]++;
  if (took > t->most_microseconds) t->most_microseconds = took;
  if (result.largest_bytes > t->largest_bytes) t->largest_bytes = result.largest_bytes;
  if (lines != NULL) {
    fprintf(lines, "%d %s\n", (int)result.stage, result.text);
    fflush(lines);
  }
  if (result.broken[0] == 0) return;
  t->broken++;
  fprintf(stderr, "case %llu: %s: %s\n", (word)i, result.broken, result.text);
}

int each_program(uint64_t count, each_run run, void *context, FILE *lines) {
  totals *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  uint64_t crashes = 0, hangs = 0;
  if (t == MAP_FAILED) return 2;
  for (uint64_t first = 0; first < count;) {
    pid_t child = fork();
    if (child == 0) {
      for (uint64_t i = first; i < count; i++) run_one(t, i, run, context, lines);
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    bool hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    hangs += hung;
    crashes += !hung;
    fprintf(stderr, "case %llu: %s\n", (word)t->next, hung ? "hangs" : "crashes");
    if (lines != NULL) fprintf(lines, "%s\n", hung ? "5 hangs" : "4 crashes");
    if (lines != NULL) fflush(lines);
    first = t->next + 1;
  }
  printf("{\"cases\": %llu, \"crashes\": %llu, \"hangs\": %llu, \"broken\": %llu, ", (word)count,
         (word)crashes, (word)hangs, (word)t->broken);
  printf("\"refused\": %llu, \"opened\": %llu, \"prepared\": %llu, \"ran\": %llu, ",
         (word)t->stages[0], (word)t->stages[1], (word)t->stages[2], (word)t->stages[3]);
  printf("\"largest_bytes\": %llu, \"most_microseconds\": %llu}\n", (word)t->largest_bytes,
         (word)t->most_microseconds);
  return crashes + hangs + t->broken == 0 ? 0 : 1;
}

/* Times a program on this machine: open, first run, percentiles, and what each operator takes.
 *
 *   pte_bench model.pte [--runs N] [--warmup N] [options of tools/model.h]
 *
 * Percentiles are of runs without a tracer; operators' times are of the same number of runs with
 * one, which costs under a microsecond an instruction. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/model.h"

enum { MAX_OPS = 1024 };

typedef struct spent {
  const pte_program *program;
  uint64_t ns[MAX_OPS];
  uint32_t count[MAX_OPS];
  const char *name[MAX_OPS];
} spent;

static void add_event(void *self, uint32_t instr, uint32_t op, uint32_t node, uint64_t begin_ns,
                      uint64_t end_ns) {
  spent *s = self;
  pte_instr_info info = {.size = sizeof info};
  (void)node;
  if (op >= MAX_OPS || pte_program_instr(s->program, instr, &info) != PTE_OK) return;
  s->ns[op] += end_ns - begin_ns;
  s->count[op]++;
  s->name[op] = info.op_name;
}

/* Runs `count` times; took[i]: nanoseconds of each, where it is given. */
static bool run(const settings *s, const model *m, uint32_t count, const pte_tracer *tracer,
                uint64_t *took) {
  pte_error error = {0};
  const pte_run_options options = {.size = sizeof options, .tracer = tracer};
  for (uint32_t i = 0; i < count; i++) {
    uint64_t begin = pte_host_now(NULL);
    pte_status status = pte_host_model_run(m->handle, m->inputs, m->outputs, &options, &error);
    if (status != PTE_OK) return model_fails(s, status, &error);
    if (took != NULL) took[i] = pte_host_now(NULL) - begin;
  }
  return true;
}

static int compare(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static double at(const uint64_t *sorted, uint32_t count, uint32_t percent) {
  return (double)sorted[(uint64_t)(count - 1) * percent / 100] / 1e6;
}

static void print_operators(const spent *all, uint32_t runs) {
  uint64_t sum = 0;
  for (uint32_t op = 0; op < MAX_OPS; op++) sum += all->ns[op];
  for (;;) { /* the greatest first */
    static bool printed[MAX_OPS];
    uint32_t best = MAX_OPS;
    for (uint32_t op = 0; op < MAX_OPS; op++)
      if (all->count[op] != 0 && !printed[op] && (best == MAX_OPS || all->ns[op] > all->ns[best]))
        best = op;
    if (best == MAX_OPS) return;
    printed[best] = true;
    printf("%9.3f ms %5.1f %%  %-20s %u\n", (double)all->ns[best] / 1e6 / runs,
           sum == 0 ? 0.0 : 100.0 * (double)all->ns[best] / (double)sum, all->name[best],
           all->count[best] / runs);
  }
}

static bool bench(const settings *s, const model *m, uint32_t runs, uint32_t warmup) {
  static spent all;
  uint64_t *took = calloc((size_t)runs + 1, sizeof *took);
  if (took == NULL || !run(s, m, 1, NULL, took) || !run(s, m, warmup, NULL, NULL)) return false;
  printf("first run %.3f ms\n", (double)took[0] / 1e6);
  if (!run(s, m, runs, NULL, took)) return false;
  qsort(took, runs, sizeof *took, compare);
  printf("%u runs: p50 %.3f  p90 %.3f  p99 %.3f  min %.3f ms\n", runs, at(took, runs, 50),
         at(took, runs, 90), at(took, runs, 99), at(took, runs, 0));
  all.program = pte_host_model_program(m->handle);
  const pte_tracer tracer = {
      .size = sizeof tracer, .self = &all, .now = pte_host_now, .event = add_event};
  if (!run(s, m, runs, &tracer, NULL)) return false;
  print_operators(&all, runs);
  free(took);
  return true;
}

static int usage(void) {
  fprintf(stderr, "usage: pte_bench model.pte [--runs N] [--warmup N] " SETTINGS_HELP "\n");
  return 2;
}

int main(int count, char **words) {
  static model m;
  settings s = {.threads = pte_host_processors(), .seed = 1};
  uint32_t runs = 50, warmup = 3;
  for (int i = 1; i < count; i++) {
    const bool more = i + 1 < count;
    if (more && strcmp(words[i], "--runs") == 0) runs = (uint32_t)strtoul(words[++i], NULL, 10);
    else if (more && strcmp(words[i], "--warmup") == 0)
      warmup = (uint32_t)strtoul(words[++i], NULL, 10);
    else if (!settings_take(&s, count, words, &i)) return usage();
  }
  if (s.path == NULL || runs == 0) return usage();
  uint64_t begin = pte_host_now(NULL);
  if (!model_open(&s, &m)) return 1;
  printf("%u threads, %u processors; opened and prepared in %.3f ms, arena %llu bytes\n", s.threads,
         pte_host_processors(), (double)(pte_host_now(NULL) - begin) / 1e6,
         (unsigned long long)m.sizes.arena_bytes);
  bool done = bench(&s, &m, runs, warmup);
  pte_host_model_close(m.handle);
  return done ? 0 : 1;
}

/* Runs a program once or many times: shapes, digests of the outputs, times.
 *
 *   pte_run model.pte [--out FOLDER] [--repeat N] [--trace] [options of tools/model.h]
 *
 * Inputs come from .npy or raw files; the others are random, the same for the same seed. Digests
 * are BLAKE2s-256 over the bytes with every NaN replaced by the quiet one, so they compare across
 * machines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/layout.h"
#include "program/blake2s.h"
#include "tools/model.h"

/* --- outputs -------------------------------------------------------------------------------- */

/* Every NaN of a float type becomes the quiet one with nothing else set. */
static void canonicalise(unsigned dtype, unsigned char *data, size_t bytes) {
  static const struct {
    unsigned dtype, size;
    uint64_t infinity, quiet;
  } kinds[] = {
      {PTE_F16,  2, 0x7C00,             0x7E00            },
      {PTE_BF16, 2, 0x7F80,             0x7FC0            },
      {PTE_F32,  4, 0x7F800000,         0x7FC00000        },
      {PTE_F64,  8, 0x7FF0000000000000, 0x7FF8000000000000}
  };
  for (unsigned k = 0; k < 4; k++)
    for (size_t i = 0; kinds[k].dtype == dtype && i + kinds[k].size <= bytes; i += kinds[k].size) {
      uint64_t word = 0;
      memcpy(&word, data + i, kinds[k].size);
      if ((word & (UINT64_MAX >> (65 - 8 * kinds[k].size))) > kinds[k].infinity)
        memcpy(data + i, &kinds[k].quiet, kinds[k].size);
    }
}

static void print_output(const char *folder, const pte_session *session, uint32_t i,
                         const char *name, unsigned char *data) {
  pte_extents e = {.size = sizeof e};
  size_t elements = 1;
  uint8_t digest[32];
  if (pte_session_output(session, i, &e) != PTE_OK) return;
  printf("%s: %s[", name, pte_dtype_names[e.dtype]);
  for (uint32_t axis = 0; axis < e.rank; axis++) {
    printf("%s%lld", axis == 0 ? "" : ", ", (long long)e.shape[axis]);
    elements *= (size_t)e.shape[axis];
  }
  size_t bytes = (elements * pte_dtype_bits(e.dtype) + 7) / 8;
  canonicalise(e.dtype, data, bytes);
  pte_blake2s_256(data, bytes, digest);
  printf("] ");
  for (unsigned d = 0; d < 32; d++) printf("%02x", digest[d]);
  printf("\n");
  if (folder == NULL) return;
  char path[1024];
  snprintf(path, sizeof path, "%s/output_%u.npy", folder, i);
  npy_write(path, e.dtype, e.rank, e.shape, data, bytes);
}

/* --- the run -------------------------------------------------------------------------------- */

static void print_event(void *self, uint32_t instr, uint32_t op, uint32_t node, uint64_t begin_ns,
                        uint64_t end_ns) {
  (void)self;
  printf("%8.1f us  op %u  operator %u  node %d\n", (double)(end_ns - begin_ns) / 1e3, instr, op,
         (int)node);
}

static bool run(const settings *s, const model *m, uint32_t repeat, bool trace,
                const char *folder) {
  pte_error error = {0};
  pte_tracer tracer = {.size = sizeof tracer, .now = pte_host_now, .event = print_event};
  pte_run_options options = {.size = sizeof options, .tracer = trace ? &tracer : NULL};
  uint64_t best = UINT64_MAX, sum = 0;
  for (uint32_t r = 0; r < repeat; r++) {
    uint64_t begin = pte_host_now(NULL);
    pte_status status = pte_host_model_run(m->handle, m->inputs, m->outputs, &options, &error);
    uint64_t took = pte_host_now(NULL) - begin;
    if (status != PTE_OK) return model_fails(s, status, &error);
    sum += took;
    if (took < best) best = took;
  }
  for (uint32_t i = 0; i < m->output_count; i++)
    print_output(folder, pte_host_model_session(m->handle), i, m->out[i].name, m->outputs[i]);
  if (repeat != 0)
    printf("%u runs, best %.3f ms, mean %.3f ms\n", repeat, (double)best / 1e6,
           (double)sum / 1e6 / repeat);
  return true;
}

static int usage(void) {
  fprintf(stderr,
          "usage: pte_run model.pte [--out FOLDER] [--repeat N] [--trace] " SETTINGS_HELP "\n");
  return 2;
}

int main(int count, char **words) {
  static model m;
  settings s = {.threads = 1, .seed = 1};
  const char *folder = NULL;
  uint32_t repeat = 1;
  bool trace = false;
  for (int i = 1; i < count; i++) {
    const bool more = i + 1 < count;
    if (strcmp(words[i], "--trace") == 0) trace = true;
    else if (more && strcmp(words[i], "--out") == 0) folder = words[++i];
    else if (more && strcmp(words[i], "--repeat") == 0)
      repeat = (uint32_t)strtoul(words[++i], NULL, 10);
    else if (!settings_take(&s, count, words, &i)) return usage();
  }
  if (s.path == NULL) return usage();
  if (!model_open(&s, &m)) return 1;
  printf("arena %llu bytes (planned %llu, scratch %llu), states %llu bytes\n",
         (unsigned long long)m.sizes.arena_bytes, (unsigned long long)m.sizes.planned_bytes,
         (unsigned long long)m.sizes.scratch_bytes, (unsigned long long)m.sizes.state_bytes);
  bool done = run(&s, &m, repeat, trace, folder);
  pte_host_model_close(m.handle);
  return done ? 0 : 1;
}

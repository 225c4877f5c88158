/* Attention of one thread and of two against the peak of fused multiply-adds of as many, measured
 * in the same rounds: an encoder's heads, plain and with an additive mask, a decoder's prompt, and
 * a step of decoding over a context of floats, codes or halves. Products count that a query needs:
 * of keys it sees.
 *
 *     make bench-attention, or build/bench-attention [rounds] [mask of PTE_CPU_*, 0: this one's]
 *                                                    [part of a shape's name] [threads]
 *
 * The digest is of the results: two builds that print the same gave the same bits. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "gen/ops.h"
#include "peak.h"
#include "pteron/host.h"

static pte_machine machine = {.size = sizeof machine};

typedef struct shape {
  const char *name;
  int64_t heads, groups, queries, keys, size;
  enum { NONE, KEYS, PAIRS } mask; /* an additive one: a number a key, or a query and key */
  bool causal;
  enum { FLOATS, CODES, HALVES } cache; /* codes: int8, a scale a token; both: keys in panels */
} shape;

static const shape shapes[] = {
    {"ViT-S/16",                  6,  6,  197,  197,  64, NONE,  false, FLOATS},
    {"MiniLM",                    12, 12, 128,  128,  32, NONE,  false, FLOATS},
    {"MiniLM, mask of keys",      12, 12, 128,  128,  32, KEYS,  false, FLOATS},
    {"MiniLM, mask of pairs",     12, 12, 128,  128,  32, PAIRS, false, FLOATS},
    {"prompt of 128, 8 on 2",     8,  2,  128,  128,  64, NONE,  true,  FLOATS},
    {"prompt of 1500, 8 on 2",    8,  2,  1500, 1500, 64, NONE,  true,  FLOATS},
    {"prompt of 1500, int8",      8,  2,  1500, 1504, 64, NONE,  true,  CODES },
    {"a token at 1500, 8 on 2",   8,  2,  1,    1500, 64, NONE,  true,  FLOATS},
    {"a token at 1500, int8",     8,  2,  1,    1504, 64, NONE,  true,  CODES },
    {"a token at 1500, int8, 32", 32, 8,  1,    1504, 64, NONE,  true,  CODES },
    {"a token at 1500, f16, 32",  32, 8,  1,    1504, 64, NONE,  true,  HALVES},
};

static uint32_t seed = 1;
static float number(void) {
  return (float)(int32_t)(seed = seed * 1664525u + 1013904223u) * 0x1p-31f;
}

typedef struct job {
  const shape *s;
  pte_attention_attrs attrs;
  pte_tensor q, k, v, mask, count, k_scale, v_scale, y;
  const pte_tensor *in[8];
  pte_tensor *out[1];
  int64_t known;
  pte_call call;
  pte_fault fault;
} job;

/* Filled with numbers up to `size`; codes: with bytes. */
static pte_tensor tensor(uint8_t dtype, float size, unsigned rank, const int64_t *shape) {
  pte_tensor t = {.dtype = dtype, .rank = (uint8_t)rank};
  int64_t step = 1;
  for (unsigned i = rank; i-- > 0; step *= shape[i]) t.shape[i] = shape[i], t.stride[i] = step;
  t.data = aligned_alloc(64, ((size_t)step * 4 + 127) / 64 * 64);
  for (int64_t i = 0; i < step; i++) {
    if (dtype == PTE_I8) ((int8_t *)t.data)[i] = (int8_t)(127 * number());
    else if (dtype == PTE_F16) ((uint16_t *)t.data)[i] = (uint16_t)(0x3000 + 0x300 * number());
    else ((float *)t.data)[i] = size * number();
  }
  return t;
}

/* [1, tokens, heads, size] as the product before writes it, seen as [1, heads, tokens, size]. */
static pte_tensor heads_of(float size, int64_t tokens, int64_t heads, int64_t depth) {
  pte_tensor t = tensor(PTE_F32, size, 4, (int64_t[]){1, tokens, heads, depth});
  t.shape[1] = heads, t.shape[2] = tokens;
  t.stride[1] = depth, t.stride[2] = heads * depth;
  return t;
}

static void open_job(job *j, const shape *s) {
  seed = 1;
  *j = (job){.s = s, .known = s->cache != FLOATS ? 1500 : s->keys};
  j->attrs = (pte_attention_attrs){.size = sizeof j->attrs,
                                   .scale = 1 / sqrt((double)s->size),
                                   .causal = s->causal ? PTE_ATTENTION_CAUSAL_BOTTOM_RIGHT : 0,
                                   .left_window = -1,
                                   .right_window = -1};
  j->q = heads_of(4, s->queries, s->heads, s->size);
  j->k = heads_of(1, s->keys, s->groups, s->size);
  j->v = heads_of(1, s->keys, s->groups, s->size);
  if (s->cache != FLOATS) {
    uint8_t dtype = s->cache == CODES ? PTE_I8 : PTE_F16;
    free(j->k.data), free(j->v.data);
    j->k = tensor(dtype, 0, 5, (int64_t[]){1, s->groups, s->keys / 16, s->size, 16});
    j->v = tensor(dtype, 0, 4, (int64_t[]){1, s->groups, s->keys, s->size});
  }
  if (s->cache == CODES) {
    int64_t scales[] = {1, s->groups, s->keys, 1};
    j->k_scale = tensor(PTE_F32, 0.01f, 4, scales), j->v_scale = tensor(PTE_F32, 0.01f, 4, scales);
    j->in[5] = &j->k_scale, j->in[6] = &j->v_scale;
  }
  if (s->causal) {
    j->count = tensor(PTE_F32, 0, 1, (int64_t[]){2}), j->count.dtype = PTE_I64;
    memcpy(j->count.data, &j->known, sizeof j->known);
    j->in[4] = &j->count;
  }
  if (s->mask != NONE) {
    j->mask = tensor(PTE_F32, 1, 4, (int64_t[]){1, 1, s->mask == PAIRS ? s->queries : 1, s->keys});
    for (int64_t i = s->keys - 20; s->mask == KEYS && i < s->keys; i++)
      ((float *)j->mask.data)[i] = -10000;
    j->mask.shape[1] = s->heads, j->mask.shape[2] = s->queries;
    j->mask.stride[1] = 0;
    if (s->mask == KEYS) j->mask.stride[2] = 0;
    j->in[3] = &j->mask;
  }
  j->y = tensor(PTE_F32, 0, 4, (int64_t[]){1, s->queries, s->heads, s->size});
  j->in[0] = &j->q, j->in[1] = &j->k, j->in[2] = &j->v, j->out[0] = &j->y;
}

static void close_job(job *j) {
  pte_tensor *all[] = {&j->q, &j->k, &j->v, &j->mask, &j->count, &j->k_scale, &j->v_scale, &j->y};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) free(all[i]->data);
  memory_drop(&j->call);
}

static void prepare(job *j, const pte_pool *pool, uint32_t threads) {
  j->call = (pte_call){.attrs = &j->attrs,
                       .in = j->in,
                       .out = j->out,
                       .in_count = 8,
                       .out_count = 1,
                       .pool = pool,
                       .threads = threads,
                       .cpu = cpu,
                       .machine = &machine,
                       .fault = &j->fault};
  memory_take(&pte_attention_kernel, &j->call);
  if (pte_attention_kernel.run(&j->call) != PTE_OK) exit(1);
}

static uint32_t digest(const pte_tensor *t) {
  uint32_t hash = 2166136261u;
  const uint32_t *word = t->data;
  for (int64_t i = 0; i < pte_tensor_count(t); i++) hash = (hash ^ word[i]) * 16777619u;
  return hash;
}

static double products_of(const shape *s, int64_t known) {
  double pairs = (double)(s->queries * known);
  if (s->causal) pairs -= (double)(s->queries * (s->queries - 1)) / 2;
  return 2 * pairs * (double)(s->heads * s->size);
}

static void measure(const shape *s, int rounds, const pte_pool *pool, uint32_t threads) {
  double share[101], seconds[101];
  job j;
  open_job(&j, s);
  prepare(&j, pool, threads);
  double products = products_of(s, j.known);
  int reps = (int)(1e8 / products) + 1;
  for (int r = 0; r < rounds; r++) {
    double top = peak_of(400000), begin;
    pte_attention_kernel.run(&j.call); /* calls a worker that has gone to sleep meanwhile */
    begin = now();
    for (int i = 0; i < reps; i++) pte_attention_kernel.run(&j.call);
    seconds[r] = (now() - begin) / reps;
    share[r] = 2 * products / seconds[r] / top / threads;
  }
  double middle = median(seconds, rounds); /* sorted then: the least is the first */
  printf("%-28s %u thread%s %9.1f us, least %9.1f, %5.1f %% of peak, digest %08x\n", s->name,
         threads, threads > 1 ? "s" : " ", 1e6 * middle, 1e6 * seconds[0],
         100 * median(share, rounds), digest(&j.y));
  close_job(&j);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 9;
  rounds = rounds < 1 ? 1 : rounds > 101 ? 101 : rounds;
  cpu = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 0;
  if (cpu == 0) cpu = pte_host_cpu();
  if (pte_host_machine(&machine) != PTE_OK) return 1;
  const char *part = argc > 3 ? argv[3] : "";
  uint32_t only = argc > 4 ? (uint32_t)atoi(argv[4]) : 0;
  for (uint32_t threads = 1; threads <= 2; threads++) {
    if (only != 0 && threads != only) continue;
    pte_pool *pool = NULL;
    pte_host_pool_options options = {.size = sizeof options, .threads = threads};
    if (threads > 1 && pte_host_pool_open(&options, &pool, NULL) != PTE_OK) return 1;
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
      if (strstr(shapes[i].name, part) != NULL) measure(&shapes[i], rounds, pool, threads);
    if (pool != NULL) pte_host_pool_close(pool);
  }
  return 0;
}

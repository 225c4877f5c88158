/* Products of few rows of f32, of stored weights by integer execution or exactly, and turned: what
 * a row more costs. The weights are a ring beyond every cache, as those of a network are; the limit
 * is the longer of reading them and of multiplying.
 *
 *     make bench-rows, or build/bench-rows [threads] [rounds] [name of a format [n k [rows, 0: all
 * [mask]]]]
 *
 * with a mask of PTE_CPU_*. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "gen/layout.h"
#include "gen/ops.h"
#include "peak.h"
#include "pteron/host.h"

enum { RING_BYTES = 96 << 20, MOST_ROWS = 128 };

typedef struct way {
  const char *name;
  const pte_kernel *kernel;
  const void *attrs;
  uint8_t format, block;
} way;

static const pte_matmul_attrs plain = {.size = sizeof plain};
static const pte_matmul_int8_attrs blocks = {.size = sizeof blocks};
static const pte_matmul_turned_attrs turned = {.size = sizeof turned};
static const way ways[] = {
    {"f32",    &pte_matmul_kernel,        &plain,  PTE_FORMAT_PLAIN, 0},
    {"turned", &pte_matmul_turned_kernel, &turned, PTE_FORMAT_I8,    0},
    {"I8",     &pte_matmul_int8_kernel,   &blocks, PTE_FORMAT_I8,    0},
    {"NF4",    &pte_matmul_int8_kernel,   &blocks, PTE_FORMAT_NF4,   6},
    {"I4",     &pte_matmul_int8_kernel,   &blocks, PTE_FORMAT_I4,    5},
    {"MXFP4",  &pte_matmul_int8_kernel,   &blocks, PTE_FORMAT_MXFP4, 5},
    {"MXFP6",  &pte_matmul_int8_kernel,   &blocks, PTE_FORMAT_MXFP6, 5},
    {"E4M3",   &pte_matmul_kernel,        &plain,  PTE_FORMAT_E4M3,  0},
    {"MXFP8",  &pte_matmul_kernel,        &plain,  PTE_FORMAT_MXFP8, 5},
};
static const int64_t sizes[][2] = {
    {384,  384 },
    {1536, 384 },
    {384,  1536},
    {4096, 4096}
};
static const int64_t row_counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 64, 128};

static uint8_t *ring;
static pte_pool *pool;
static pte_machine machine = {.size = sizeof machine};
static uint32_t threads = 1;

/* Seconds of a product, the least of `rounds`, each over all of the ring or 8 ms of it. */
static double seconds_of(const way *y, int64_t rows, int64_t n, int64_t k, size_t bytes, float *x,
                         float *out, int rounds) {
  pte_tensor in = {
      x, {rows, k},
       {k,    1},
       PTE_F32, 2, PTE_STRIDED, 0, 0, 0
  };
  pte_tensor to = {
      out, {rows, n},
       {n,    1},
       PTE_F32, 2, PTE_STRIDED, 0, 0, 0
  };
  pte_tensor w = {
      ring,      {n, k},
            {0, 0},
      PTE_F32,   2,        PTE_PANELS,
      y->format, y->block, y->format != PTE_FORMAT_PLAIN
  };
  const pte_tensor *ins[3] = {&in, &w, NULL};
  pte_tensor *outs[1] = {&to};
  pte_tables tables = {0};
  pte_fault fault;
  pte_call call = {.attrs = y->attrs,
                   .in = ins,
                   .out = outs,
                   .in_count = 3,
                   .out_count = 1,
                   .tables = &tables,
                   .pool = pool,
                   .threads = threads,
                   .cpu = cpu,
                   .machine = &machine,
                   .fault = &fault};
  memory_take(y->kernel, &call);
  double best = 1;
  size_t count = RING_BYTES / bytes;
  for (int r = 0; r < rounds; r++) {
    double begin = now(), end = begin;
    size_t done = 0;
    for (; done < count && end - begin < 8e-3; done++, end = now()) {
      w.data = ring + (done + (size_t)r * count / 3) % count * bytes;
      memory_run_anew(y->kernel, &call);
    }
    if ((end - begin) / (double)done < best) best = (end - begin) / (double)done;
  }
  memory_drop(&call);
  return best;
}

static size_t bytes_of(const way *y, int64_t n, int64_t k) {
  const pte_format_row *row = &pte_format_rows[y->format];
  const size_t weights = (size_t)n * (size_t)k;
  if (y->format == PTE_FORMAT_PLAIN) return 4 * weights;
  const size_t scales = y->block ? weights >> y->block : (size_t)n;
  return (weights * row->bits / 8 + scales * pte_dtype_bits(row->scale) / 8 + 63) / 64 * 64;
}

int main(int argc, char **argv) {
  threads = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 9;
  cpu = pte_host_cpu() & (argc > 7 ? (uint32_t)strtoul(argv[7], NULL, 0) : UINT32_MAX);
  if (pte_host_machine(&machine) != PTE_OK) return 1;
  ring = aligned_alloc(1 << 21, RING_BYTES);
  uint32_t seed = 1;
  for (size_t i = 0; i < RING_BYTES; i++) /* 56 .. 63: scales of any type are ordinary numbers */
    ring[i] = (uint8_t)(56 + ((seed = seed * 1664525u + 1013904223u) >> 29));
  pte_host_pool_options options = {.size = sizeof options, .threads = threads};
  if (threads > 1 && pte_host_pool_open(&options, &pool, NULL) != PTE_OK) return 1;
  float *x = aligned_alloc(64, MOST_ROWS * 4096 * sizeof *x),
        *y = aligned_alloc(64, MOST_ROWS * 4096 * sizeof *y);
  for (size_t i = 0; i < MOST_ROWS * 4096; i++)
    x[i] = (float)(int32_t)(seed = seed * 1664525u + 1u) * 0x1p-31f;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
      const int64_t n = sizes[s][0], k = sizes[s][1];
      const size_t bytes = bytes_of(&ways[i], n, k);
      if (argc > 3 && strcmp(argv[3], ways[i].name) != 0) continue;
      if (argc > 5 && (n != atoi(argv[4]) || k != atoi(argv[5]))) continue;
      printf("%-6s %4lld x %4lld, us:", ways[i].name, (long long)n, (long long)k);
      for (size_t r = 0; r < sizeof row_counts / sizeof *row_counts; r++) {
        if (argc > 6 && atoi(argv[6]) != 0 && row_counts[r] != atoi(argv[6])) continue;
        const double t = seconds_of(&ways[i], row_counts[r], n, k, bytes, x, y, rounds);
        printf(" %lld:%.1f", (long long)row_counts[r], 1e6 * t);
      }
      printf("\n");
      fflush(stdout);
    }
  return 0;
}

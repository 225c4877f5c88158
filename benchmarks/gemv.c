/* Row vector times a 4096 x 4096 weight in the storage formats, by integer execution, against
 * reading the same bytes in as many sequential streams: two of codes and two of scales a thread.
 * The weights are a ring beyond every cache. Rounds of both alternate; the best of each counts, for
 * other work on the machine only ever adds time.
 *
 *     cmake -S . -B build/c -DCMAKE_BUILD_TYPE=Release -DPTE_BUILD_TESTS=OFF && cmake --build
 * build/c
 *     cc -O2 -Iruntime_c -Iruntime_c/include benchmarks/gemv.c build/c/runtime_c/libpteron.a
 * -pthread -o build/gemv && build/gemv [rounds] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/cpu.h"
#include "gen/layout.h"
#include "gen/ops.h"
#include "pteron/host.h"

enum { N = 4096, K = 4096, RING_BYTES = 256 << 20, MOST = 201 };

static volatile uint64_t sink;

typedef struct bench {
  const char *name;
  uint16_t format;
  size_t code_bytes, scale_bytes, matrices;
  uint8_t *ring;
  uint32_t threads;
  pte_pool *pool;
  float *x, *y;
  void *scratch;
} bench;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- reading: each thread takes its part of the panels as two halves, codes and scales in step
 * ----------------- */

#if defined(__x86_64__)
#include <immintrin.h>
__attribute__((target("avx2"))) static void eat(const uint8_t *from, size_t bytes, __m256i *sum) {
  for (size_t i = 0; i < bytes; i += 64) {
    sum[0] = _mm256_xor_si256(sum[0], _mm256_load_si256((const void *)(from + i)));
    sum[1] = _mm256_xor_si256(sum[1], _mm256_load_si256((const void *)(from + i + 32)));
  }
}
__attribute__((target("avx2"))) static void read_half(const bench *b, const uint8_t *w,
                                                      size_t begin, size_t end) {
  __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  size_t half = (end - begin) / 2, codes = b->code_bytes / (N / 16),
         scales = b->scale_bytes / (N / 16);
  size_t turn = codes / (scales / 64); /* codes to one line of scales */
  for (size_t p = begin; p < begin + half; p++)
    for (size_t i = 0; i < scales / 64; i++)
      for (size_t side = 0; side < 2; side++) {
        size_t panel = p + side * half;
        eat(w + panel * codes + i * turn, turn, sum);
        eat(w + b->code_bytes + panel * scales + i * 64, 64, sum);
      }
  sum[0] = _mm256_xor_si256(sum[0], sum[1]);
  sink = (uint64_t)_mm256_extract_epi64(sum[0], 0);
}
#else
static void read_half(const bench *b, const uint8_t *w, size_t begin, size_t end) {
  size_t codes = b->code_bytes / (N / 16), half = (end - begin) / 2 * codes;
  const uint64_t *from = (const void *)(w + begin * codes);
  uint64_t sum = 0;
  for (size_t i = 0; i < half / 8; i++) sum ^= from[i] ^ from[i + half / 8];
  sink = sum;
}
#endif

typedef struct reading {
  const bench *b;
  const uint8_t *w;
} reading;

static void read_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const reading *r = context;
  size_t panels = N / 16, threads = r->b->threads;
  (void)thread;
  for (size_t i = begin; i < end; i++)
    read_half(r->b, r->w, panels * i / threads, panels * (i + 1) / threads);
}

static void read_one(const bench *b, const uint8_t *w) {
  reading r = {b, w};
  if (b->pool == NULL) read_task(&r, 0, 1, 0);
  else b->pool->run(b->pool->self, b->threads, 1, read_task, &r);
}

/* --- computing
 * ------------------------------------------------------------------------------------------- */

static void multiply_one(bench *b, const uint8_t *w) {
  static const pte_matmul_int8_attrs attrs = {.size = sizeof attrs};
  pte_tensor x = {
      b->x, {1, K},
       {K, 1},
       PTE_F32, 2, PTE_STRIDED, 0, 0, 0
  };
  pte_tensor y = {
      b->y, {1, N},
       {N, 1},
       PTE_F32, 2, PTE_STRIDED, 0, 0, 0
  };
  pte_tensor weight = {
      (void *)w, {N, K},
        {0, 0},
        PTE_F32, 2, PTE_PANELS, 0, b->format, 1
  };
  const pte_tensor *in[3] = {&x, &weight, NULL};
  pte_tensor *out[1] = {&y};
  pte_tables tables = {0};
  pte_fault fault;
  pte_call call = {.attrs = &attrs,
                   .in = in,
                   .out = out,
                   .in_count = 3,
                   .out_count = 1,
                   .tables = &tables,
                   .scratch = b->scratch,
                   .pool = b->pool,
                   .threads = b->threads,
                   .cpu = pte_cpu_allow(PTE_CPU_DETECT),
                   .fault = &fault};
  uint64_t bytes;
  if (b->scratch == NULL) {
    if (pte_matmul_int8_kernel.check(&call) != PTE_OK ||
        pte_matmul_int8_kernel.scratch(&call, &bytes) != PTE_OK)
      exit(1);
    call.scratch = b->scratch = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
  }
  if (pte_matmul_int8_kernel.run(&call) != PTE_OK) exit(1);
}

static double least(double a, double b) { return a < b ? a : b; }

/* Best times of one matrix, over slices of four matrices of the ring. */
static void measure(bench *b, int rounds) {
  size_t bytes = b->code_bytes + b->scale_bytes, slices = b->matrices / 4;
  double read = 1e9, multiply = 1e9;
  for (size_t i = 0; i < (size_t)rounds * slices; i++)
    for (int side = 0; side < 2; side++) { /* apart by half the ring */
      const uint8_t *w = b->ring + (i + (size_t)side * slices / 2) % slices * 4 * bytes;
      double begin = now();
      for (size_t m = 0; m < 4; m++)
        if (side == 0) read_one(b, w + m * bytes);
        else multiply_one(b, w + m * bytes);
      double seconds = (now() - begin) / 4;
      if (side == 0) read = least(read, seconds);
      else multiply = least(multiply, seconds);
    }
  printf("%-10s %u thread%s  read %6.1f GB/s  product %6.1f GB/s %6.0f us  %5.1f %%\n", b->name,
         b->threads, b->threads > 1 ? "s" : " ", (double)bytes / read / 1e9,
         (double)bytes / multiply / 1e9, multiply * 1e6, 100 * read / multiply);
  fflush(stdout);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 9;
  uint8_t *ring = aligned_alloc(1 << 21, RING_BYTES);
  float *x = aligned_alloc(64, K * sizeof *x), *y = aligned_alloc(64, N * sizeof *y);
  uint32_t seed = 1;
  for (size_t i = 0; i < RING_BYTES; i++) /* 96 .. 111: scales of any type are ordinary numbers */
    ring[i] = (uint8_t)(96 + ((seed = seed * 1664525u + 1013904223u) >> 28));
  for (size_t i = 0; i < K; i++) x[i] = (float)(int32_t)(seed = seed * 1664525u + 1u) * 0x1p-31f;
  for (uint32_t threads = 1; threads <= 2; threads++) {
    pte_pool *pool = NULL;
    if (threads > 1 && pte_host_pool_open(threads, &pool) != PTE_OK) return 1;
    for (uint16_t format = 1; format < PTE_FORMAT_COUNT; format++) {
      const pte_format_row *row = &pte_format_rows[format];
      if (format == PTE_FORMAT_E4M3_CHANNEL || format == PTE_FORMAT_MXFP8) continue;
      bench b = {.name = row->name, .format = format, .threads = threads, .pool = pool};
      b.code_bytes = (size_t)N * K * row->bits / 8;
      b.scale_bytes =
          (size_t)N * (row->block ? K / row->block : 1) * pte_dtype_bits(row->scale) / 8;
      b.matrices = RING_BYTES / (b.code_bytes + b.scale_bytes);
      b.ring = ring, b.x = x, b.y = y;
      measure(&b, rounds);
      free(b.scratch);
    }
    if (pool != NULL) pte_host_pool_close(pool);
  }
  return 0;
}

/* Row vector times a 4096 x 4096 weight in the storage formats, by integer execution, FP8 exactly,
 * against reading the same bytes: the physical limit. Kernels have two or four panels side by side,
 * of each the codes, their upper plane and the scales; the read loop has two or four such
 * sequential streams, without asking for lines or asking 1 KiB ahead into the second or the first
 * cache; the fastest counts. The weights are a ring beyond every cache, and whoever is next takes
 * what comes next in it: the last to read that did so a whole ring ago. Nobody finds in a large L3
 * what another has just read.
 *
 * Reading and multiplying alternate. A round gives the ratio of their times; the median of the
 * ratios counts, for other work on the machine slows both; the best of either is told beside it.
 *
 *     make bench-gemv, or build/bench-gemv [rounds] [mask of PTE_CPU_*] [name of a format] */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "gen/layout.h"
#include "gen/ops.h"
#include "pteron/host.h"

enum { N = 4096, K = 4096, LARGE_PAGE = 2 << 20, LEAST_RING = 256 << 20 };

static const pte_matmul_int8_attrs blocks = {.size = sizeof blocks};
static const pte_matmul_attrs exact = {.size = sizeof exact};
static const struct way {
  const char *name;
  uint8_t format;
  const pte_kernel *kernel;
  const void *attrs;
} formats[] = {
#define FORMAT(name) {#name, PTE_FORMAT_##name, &pte_matmul_int8_kernel, &blocks},
    PTE_DOT_FORMATS(FORMAT)
#undef FORMAT
#define FORMAT(name) {#name, PTE_FORMAT_##name, &pte_matmul_kernel, &exact}
        FORMAT(E4M3),
    FORMAT(E5M2),
    FORMAT(MXFP8),
    FORMAT(MXFP8_E5M2),
#undef FORMAT
};

/* Exponent of the elements that share a scale; 0: the row. */
static uint8_t usual_block(uint8_t format) {
  const bool row =
      format == PTE_FORMAT_I8 || format == PTE_FORMAT_E4M3 || format == PTE_FORMAT_E5M2;
  return row ? 0 : format == PTE_FORMAT_NF4 ? 6 : 5;
}

static volatile uint64_t sink;
static pte_machine machine = {.size = sizeof machine};
static uint32_t cpu;

typedef struct bench {
  const struct way *way;
  uint8_t format, block;
  size_t plane[3]; /* bytes of a panel: codes, the upper plane of 6 bits, scales */
  size_t bytes, matrices;
  uint8_t *ring;
  uint32_t threads;
  pte_pool *pool;
  float *x, *y;
  void *scratch, *kept;
} bench;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* --- reading
 * --------------------------------------------------------------------------------------------- */

enum {
  PLANES = 3,
  TURNS = 32, /* a turn reads 1/32 of a panel: 1 KiB of 4-bit codes */
  AHEAD = 1024,
  WAYS = 6 /* two or four streams, each without asking, into the second cache, the first */
};

#if defined(__x86_64__)
#include <immintrin.h>
__attribute__((target("avx2"))) static void eat(const uint8_t *from, const uint8_t *end,
                                                uint32_t asks, __m256i *sum) {
  for (; from < end; from += 64) {
    if (asks == 1) _mm_prefetch((const char *)(from + AHEAD), _MM_HINT_T1);
    if (asks == 2) _mm_prefetch((const char *)(from + AHEAD), _MM_HINT_T0);
    sum[0] = _mm256_xor_si256(sum[0], _mm256_load_si256((const void *)from));
    sum[1] = _mm256_xor_si256(sum[1], _mm256_load_si256((const void *)(from + 32)));
  }
}

/* Panels begin .. end in `sides` runs side by side. */
__attribute__((target("avx2"))) static void read_panels(const bench *b, const uint8_t *w,
                                                        size_t begin, size_t end, size_t sides,
                                                        uint32_t asks) {
  __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
  size_t run = (end - begin) / sides;
  for (size_t p = begin; p < begin + run; p++)
    for (size_t turn = 0; turn < TURNS; turn++)
      for (size_t side = 0; side < sides; side++) {
        const uint8_t *plane = w;
        for (size_t i = 0; i < PLANES; i++) { /* whole cache lines */
          const uint8_t *panel = plane + (p + side * run) * b->plane[i];
          eat(panel + b->plane[i] * turn / TURNS / 64 * 64,
              panel + b->plane[i] * (turn + 1) / TURNS / 64 * 64, asks, sum);
          plane += b->plane[i] * (N / 16);
        }
      }
  sum[0] = _mm256_xor_si256(sum[0], sum[1]);
  sink = (uint64_t)_mm256_extract_epi64(sum[0], 0);
}
#else
static void read_panels(const bench *b, const uint8_t *w, size_t begin, size_t end, size_t sides,
                        uint32_t asks) {
  const uint8_t *plane = w;
  uint64_t sum = 0;
  (void)asks;
  for (size_t i = 0; i < PLANES; plane += b->plane[i++] * (N / 16)) {
    size_t run = (end - begin) / sides * b->plane[i] / 8;
    const uint64_t *from = (const void *)(plane + begin * b->plane[i]);
    for (size_t j = 0; j < run; j += 8)
      for (size_t side = 0; side < sides; side++)
        for (size_t k = 0; k < 8; k++) sum ^= from[side * run + j + k];
  }
  sink = sum;
}
#endif

typedef struct reading {
  const bench *b;
  const uint8_t *w;
  size_t sides;
  uint32_t asks;
} reading;

static void read_task(void *context, size_t begin, size_t end, uint32_t thread) {
  const reading *r = context;
  size_t panels = N / 16, threads = r->b->threads;
  (void)thread;
  for (size_t i = begin; i < end; i++)
    read_panels(r->b, r->w, panels * i / threads, panels * (i + 1) / threads, r->sides, r->asks);
}

static void read_one(const bench *b, const uint8_t *w, size_t way) {
  reading r = {b, w, way % 2 ? 4 : 2, (uint32_t)way / 2};
  if (b->pool == NULL) read_task(&r, 0, 1, 0);
  else b->pool->run(b->pool->self, b->threads, 1, read_task, &r);
}

/* Twice the last cache, where the system tells its size: servers have more than half a GB. */
static size_t ring_bytes(void) {
  size_t bytes = LEAST_RING;
#ifdef _SC_LEVEL3_CACHE_SIZE
  const long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (last > LEAST_RING / 2) bytes = 2 * (size_t)last;
#endif
  return (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
}

/* --- computing
 * ------------------------------------------------------------------------------------------- */

static void multiply_one(bench *b, const uint8_t *w) {
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
        PTE_F32, 2, PTE_PANELS, b->format, b->block, 1
  };
  const pte_tensor *in[3] = {&x, &weight, NULL};
  pte_tensor *out[1] = {&y};
  pte_tables tables = {0};
  pte_fault fault;
  pte_call call = {.attrs = b->way->attrs,
                   .in = in,
                   .out = out,
                   .in_count = 3,
                   .out_count = 1,
                   .tables = &tables,
                   .scratch = b->scratch,
                   .kept = b->kept,
                   .pool = b->pool,
                   .threads = b->threads,
                   .cpu = cpu,
                   .machine = &machine,
                   .fault = &fault};
  if (b->scratch == NULL) {
    memory_take(b->way->kernel, &call);
    b->scratch = call.scratch, b->kept = call.kept;
  }
  memory_run_anew(b->way->kernel, &call);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static double median(double *values, size_t count) {
  qsort(values, count, sizeof *values, ascending);
  return values[count / 2];
}

/* Seconds of one matrix, over four matrices of the ring; WAYS multiplies, the others read. */
static double seconds_of(bench *b, size_t way, const uint8_t *w) {
  double begin = now();
  for (size_t m = 0; m < 4; m++)
    if (way < WAYS) read_one(b, w + m * b->bytes, way);
    else multiply_one(b, w + m * b->bytes);
  return (now() - begin) / 4;
}

static void measure(bench *b, size_t rounds) {
  size_t slices = b->matrices / 4, count = rounds * slices, best = 0;
  double *seconds[WAYS + 1], *ratio[WAYS], middle[WAYS + 1];
  for (size_t way = 0; way <= WAYS; way++) seconds[way] = malloc(count * sizeof(double));
  for (size_t way = 0; way < WAYS; way++) ratio[way] = malloc(count * sizeof(double));
  for (size_t i = 0, turn = 0; i < count; i++) {
    for (size_t way = 0; way <= WAYS; way++, turn++)
      seconds[way][i] = seconds_of(b, way, b->ring + turn % slices * 4 * b->bytes);
    for (size_t way = 0; way < WAYS; way++) ratio[way][i] = seconds[way][i] / seconds[WAYS][i];
  }
  for (size_t way = 0; way <= WAYS; way++) middle[way] = median(seconds[way], count);
  for (size_t way = 0; way < WAYS; way++) best = middle[way] < middle[best] ? way : best;
  printf(
      "%-10s %u thread%s  read %5.1f GB/s (%zu x%s)  product %5.1f GB/s %5.0f us  %5.1f %%"
      "  best %5.1f and %5.1f GB/s\n",
      b->way->name, b->threads, b->threads > 1 ? "s" : " ", (double)b->bytes / middle[best] / 1e9,
      best % 2 ? (size_t)4 : (size_t)2, (const char *[]){"", ", asked", ", into L1"}[best / 2],
      (double)b->bytes / middle[WAYS] / 1e9, middle[WAYS] * 1e6, 100 * median(ratio[best], count),
      (double)b->bytes / seconds[best][0] / 1e9, (double)b->bytes / seconds[WAYS][0] / 1e9);
  fflush(stdout);
  for (size_t way = 0; way <= WAYS; way++) free(seconds[way]);
  for (size_t way = 0; way < WAYS; way++) free(ratio[way]);
}

int main(int argc, char **argv) {
  size_t rounds = argc > 1 ? (size_t)atoi(argv[1]) : 9;
  cpu = pte_host_cpu() & (argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : UINT32_MAX);
  if (pte_host_machine(&machine) != PTE_OK) return 1;
  const size_t all = ring_bytes();
  uint8_t *ring = aligned_alloc(LARGE_PAGE, all);
  float *x = aligned_alloc(64, K * sizeof *x), *y = aligned_alloc(64, N * sizeof *y);
  uint32_t seed = 1;
  for (size_t i = 0; i < all; i++) /* 56 .. 63: scales of any type are ordinary numbers */
    ring[i] = (uint8_t)(56 + ((seed = seed * 1664525u + 1013904223u) >> 29));
  for (size_t i = 0; i < K; i++) x[i] = (float)(int32_t)(seed = seed * 1664525u + 1u) * 0x1p-31f;
  for (uint32_t threads = 1; threads <= 2; threads++) {
    pte_pool *pool = NULL;
    pte_host_pool_options options = {.size = sizeof options, .threads = threads};
    if (threads > 1 && pte_host_pool_open(&options, &pool, NULL) != PTE_OK) return 1;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
      const uint8_t format = formats[i].format, block = usual_block(format);
      const pte_format_row *row = &pte_format_rows[format];
      if (argc > 3 && strcmp(argv[3], formats[i].name) != 0) continue;
      bench b = {
          .way = &formats[i], .format = format, .block = block, .threads = threads, .pool = pool};
      const size_t weights = (size_t)K * 16,
                   low = row->bits % 3 == 0 ? row->bits / 3 * 2u : row->bits;
      b.plane[0] = weights * low / 8;
      b.plane[1] = weights * (row->bits - low) / 8;
      b.plane[2] = (block ? weights >> block : 16) * pte_dtype_bits(row->scale) / 8;
      b.bytes = (b.plane[0] + b.plane[1] + b.plane[2]) * (N / 16);
      b.matrices = all / b.bytes;
      b.ring = ring, b.x = x, b.y = y;
      measure(&b, rounds);
      free(b.scratch), free(b.kept);
    }
    if (pool != NULL) pte_host_pool_close(pool);
  }
  return 0;
}

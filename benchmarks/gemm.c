/* Matrix kernels against what the processor can do, measured in the same rounds by as many threads:
 * products and convolution layers against the peak of fused multiply-adds, a row vector against
 * one thread's reading of the weights.
 *
 *     make bench-gemm, or build/bench-gemm [rounds] [mask of PTE_CPU_*, 0: all] [threads]
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/ops.h"
#include "peak.h"
#include "pteron/host.h"

enum { MAX_THREADS = 64 };
static pte_machine machine = {.size = sizeof machine};
static uint32_t threads = 1;
static pte_pool *pool; /* NULL: one thread */

/* --- calls
 * ---------------------------------------------------------------------------------------------------------
 */

static float *floats(size_t count) {
  float *p = aligned_alloc(64, (count * sizeof *p + 127) / 64 * 64);
  uint32_t seed = 1;
  for (size_t i = 0; i < count; i++)
    p[i] = (float)(int32_t)(seed = seed * 1664525u + 1013904223u) * 0x1p-31f;
  return p;
}

static pte_tensor tensor(unsigned rank, const int64_t *shape, uint8_t layout) {
  pte_tensor t = {.dtype = PTE_F32, .rank = (uint8_t)rank, .layout = layout};
  int64_t step = 1;
  for (unsigned i = rank; i-- > 0; step *= shape[i]) t.shape[i] = shape[i], t.stride[i] = step;
  t.data =
      floats(layout == PTE_STRIDED ? (size_t)step : (size_t)((shape[0] + 15) / 16 * 16 * shape[1]));
  return t;
}

typedef struct job {
  char name[64];
  const pte_kernel *kernel;
  const void *attrs;
  pte_tables tables;
  pte_tensor in[2], out;
  double flop, bytes;
} job;

/* Memory that a job's kernel asked for; `kept` is filled once. */
typedef struct room {
  void *scratch, *kept;
} room;

/* Asks how much memory is needed where `out_needs` is not NULL, fills what is kept where `keeps`,
 * else runs. */
static void run(job *j, const room *at, pte_needs *out_needs, bool keeps) {
  const pte_tensor *in[3] = {&j->in[0], &j->in[1], NULL};
  pte_tensor *out[1] = {&j->out};
  pte_fault fault;
  pte_call call = {.attrs = j->attrs,
                   .in = in,
                   .out = out,
                   .in_count = 3,
                   .out_count = 1,
                   .tables = &j->tables,
                   .scratch = at == NULL ? NULL : at->scratch,
                   .kept = at == NULL ? NULL : at->kept,
                   .threads = threads,
                   .pool = pool,
                   .cpu = cpu,
                   .machine = &machine,
                   .fault = &fault};
  pte_status status = PTE_OK;
  if (out_needs != NULL) {
    if (j->kernel->check != NULL) status = j->kernel->check(&call);
    if (status == PTE_OK) status = j->kernel->needs(&call, out_needs);
  } else status = keeps ? j->kernel->keep(&call) : j->kernel->run(&call);
  if (status != PTE_OK) exit(1);
}

/* Bytes a second of reading the weights, in four streams and nothing else. */
static double read_rate(const job *j) {
  const uint64_t *w = j->in[1].data;
  size_t quarter = (size_t)j->bytes / sizeof *w / 4;
  uint64_t sum = 0;
  double begin = now();
  for (size_t i = 0; i < quarter; i += 8) /* one word a cache line */
    sum += w[i] + w[quarter + i] + w[2 * quarter + i] + w[3 * quarter + i];
  sink = (float)sum;
  return j->bytes / (now() - begin);
}

static void peak_task(void *context, size_t begin, size_t end, uint32_t thread) {
  double *rate = context;
  (void)thread;
  for (size_t i = begin; i < end; i++) rate[i] = peak_of(500000);
}

/* Of all threads at once. */
static double peak_of_all(void) {
  double rate[MAX_THREADS], sum = 0;
  if (pool == NULL) return peak_of(500000);
  pool->run(pool->self, threads, 1, peak_task, rate);
  for (uint32_t i = 0; i < threads; i++) sum += rate[i];
  return sum;
}

static void measure(job *j, int rounds) {
  double share[101], rate[101];
  pte_needs needs = {0, 0};
  run(j, NULL, &needs, false);
  const room at = {aligned_alloc(64, needs.scratch / 64 * 64 + 64),
                   aligned_alloc(64, needs.kept / 64 * 64 + 64)};
  run(j, &at, NULL, true);
  int reps = (int)(2e8 / j->flop) + 1;
  run(j, &at, NULL, false);
  for (int r = 0; r < rounds; r++) {
    double top = j->bytes > 0 ? read_rate(j) : peak_of_all(), begin = now();
    for (int i = 0; i < reps; i++) run(j, &at, NULL, false);
    double seconds = (now() - begin) / reps;
    rate[r] = (j->bytes > 0 ? j->bytes : j->flop) / seconds;
    share[r] = rate[r] / top;
  }
  printf("%-36s %7.1f %s, %5.1f %% of %s\n", j->name, median(rate, rounds) / 1e9,
         j->bytes > 0 ? "GB/s   " : "GFLOP/s", 100 * median(share, rounds),
         j->bytes > 0 ? "a bare read" : "peak");
  free(at.scratch), free(at.kept), free(j->in[0].data), free(j->in[1].data), free(j->out.data);
}

static void matmul(int64_t m, int64_t n, int64_t k, int rounds) {
  static const pte_matmul_attrs attrs = {.size = sizeof attrs};
  job j = {.kernel = &pte_matmul_kernel,
           .attrs = &attrs,
           .flop = 2.0 * (double)m * (double)n * (double)k};
  j.in[0] = tensor(2, (int64_t[]){m, k}, PTE_STRIDED);
  j.in[1] = tensor(2, (int64_t[]){n, k}, PTE_PANELS);
  j.out = tensor(2, (int64_t[]){m, n}, PTE_STRIDED);
  if (m == 1) j.bytes = (double)n * (double)k * 4;
  snprintf(j.name, sizeof j.name, "matmul %lld x %lld x %lld", (long long)m, (long long)n,
           (long long)k);
  measure(&j, rounds);
}

static void conv(int64_t size, int64_t channels, int64_t columns, int64_t kernel, int64_t stride,
                 bool depthwise, int rounds) {
  int64_t pad = kernel / 2, out = (size + 2 * pad - kernel) / stride + 1;
  int64_t ints[] = {kernel, kernel, stride, stride, 1, 1, pad, pad};
  pte_range k = {0, 2}, s = {2, 2}, one = {4, 2}, p = {6, 2};
  pte_conv_attrs plain = {.size = sizeof plain,
                          .kernel = k,
                          .stride = s,
                          .dilation = one,
                          .begin = p,
                          .end = p,
                          .spread = one,
                          .groups = 1};
  pte_conv_depthwise_attrs deep = {
      .size = sizeof deep, .kernel = k, .stride = s, .dilation = one, .begin = p, .end = p};
  job j = {.kernel = depthwise ? &pte_conv_depthwise_kernel : &pte_conv_kernel,
           .tables = {.ints = ints}};
  j.attrs = depthwise ? (const void *)&deep : &plain;
  int64_t depth = kernel * kernel * (depthwise ? 1 : channels);
  j.flop = 2.0 * (double)(out * out) * (double)columns * (double)depth;
  j.in[0] = tensor(4, (int64_t[]){1, size, size, channels}, PTE_STRIDED);
  j.in[1] = tensor(2, (int64_t[]){columns, depth}, depthwise ? PTE_TAPS : PTE_PANELS);
  j.out = tensor(4, (int64_t[]){1, out, out, columns}, PTE_STRIDED);
  snprintf(j.name, sizeof j.name, "%s %lld^2 x %lld -> %lld, %lldx%lld / %lld",
           depthwise ? "depthwise" : "conv", (long long)size, (long long)channels,
           (long long)columns, (long long)kernel, (long long)kernel, (long long)stride);
  measure(&j, rounds);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 9;
  cpu = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 0;
  if (cpu == 0) cpu = pte_host_cpu();
  if (pte_host_machine(&machine) != PTE_OK) return 1;
  if (argc > 3) threads = (uint32_t)strtoul(argv[3], NULL, 0);
  const pte_host_pool_options options = {.size = sizeof options, .threads = threads};
  if (threads < 1 || threads > MAX_THREADS ||
      (threads > 1 && pte_host_pool_open(&options, &pool, NULL) != PTE_OK))
    return 1;
  matmul(1024, 1024, 1024, rounds);
  matmul(128, 384, 384, rounds);
  matmul(128, 1536, 384, rounds);
  matmul(197, 384, 1536, rounds);
  for (int64_t m = 2; m <= 6; m += 2) matmul(m, 1024, 1024, rounds);
  matmul(1, 4096, 4096, rounds);
  conv(224, 3, 64, 7, 2, false, rounds); /* ResNet-50 */
  conv(56, 64, 64, 1, 1, false, rounds);
  conv(56, 64, 64, 3, 1, false, rounds);
  conv(56, 64, 256, 1, 1, false, rounds);
  conv(56, 128, 128, 3, 2, false, rounds);
  conv(28, 128, 128, 3, 1, false, rounds);
  conv(28, 512, 128, 1, 1, false, rounds);
  conv(14, 256, 256, 3, 1, false, rounds);
  conv(14, 256, 1024, 1, 1, false, rounds);
  conv(7, 512, 512, 3, 1, false, rounds);
  conv(7, 2048, 512, 1, 1, false, rounds);
  conv(224, 3, 32, 3, 2, false, rounds); /* MobileNetV2 */
  conv(112, 16, 96, 1, 1, false, rounds);
  conv(14, 384, 64, 1, 1, false, rounds);
  conv(112, 96, 96, 3, 2, true, rounds);
  conv(56, 144, 144, 3, 1, true, rounds);
  conv(14, 384, 384, 3, 1, true, rounds);
  return 0;
}

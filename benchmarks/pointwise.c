/* Operators that compute little for a byte: codes of int8 and int16, pools of them, f32 to and from
 * codes; beside the time that reading and writing L2 at its peak would take. Operands stay in L2.
 *
 *     make bench-pointwise, or build/bench-pointwise [threads] [rounds] [part of a name] */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "../bindings/peaks.h"
#include "gen/layout.h"
#include "gen/ops.h"
#include "gen/steps.h"
#include "peak.h"
#include "pteron/host.h"

enum { RUNS = 40, MOST_STEPS = 16, BUFFER_BYTES = 1 << 21, LEAST = -128, MOST = 127 };

static pte_pool *pool;
static pte_machine machine = {.size = sizeof machine};
static uint32_t threads = 1;
static int rounds = 9;
static double l2; /* bytes a second */
static const char *wanted = "";
static char *buffer[3];

/* A pointwise program under construction. */
typedef struct program {
  pte_step steps[MOST_STEPS];
  uint64_t literals[MOST_STEPS];
  uint32_t steps_count, literals_count;
} program;

static void step(program *p, unsigned op, unsigned type, unsigned dst, unsigned a, unsigned b,
                 unsigned arg) {
  p->steps[p->steps_count++] = (pte_step){
      (uint8_t)op, (uint8_t)type, (uint8_t)dst, (uint8_t)a, (uint8_t)b, 0, (uint16_t)arg};
}

static void number(program *p, unsigned type, unsigned dst, double value) {
  int64_t whole = (int64_t)value;
  memcpy(&p->literals[p->literals_count], type == PTE_STEP_I64 ? (void *)&whole : (void *)&value,
         sizeof whole);
  step(p, PTE_STEP_LITERAL, type, dst, 0, 0, p->literals_count++);
}

/* What QuantizeLinear becomes. */
static program quantizes(double scale, double zero, double least, double most) {
  program p = {.steps_count = 0};
  step(&p, PTE_STEP_LOAD, PTE_STEP_F32, 0, 0, 0, 0);
  number(&p, PTE_STEP_F32, 1, scale);
  step(&p, PTE_STEP_DIV, PTE_STEP_F32, 0, 0, 1, 0);
  step(&p, PTE_STEP_NEAREST, PTE_STEP_F32, 0, 0, 0, 0);
  number(&p, PTE_STEP_F32, 1, 0x1p20);
  step(&p, PTE_STEP_MIN, PTE_STEP_F32, 0, 0, 1, 0);
  number(&p, PTE_STEP_F32, 1, -0x1p20);
  step(&p, PTE_STEP_MAX, PTE_STEP_F32, 0, 0, 1, 0);
  step(&p, PTE_STEP_CAST, PTE_STEP_I64, 0, 0, PTE_STEP_F32, 0);
  number(&p, PTE_STEP_I64, 1, zero);
  step(&p, PTE_STEP_ADD, PTE_STEP_I64, 0, 0, 1, 0);
  number(&p, PTE_STEP_I64, 1, most);
  step(&p, PTE_STEP_MIN, PTE_STEP_I64, 0, 0, 1, 0);
  number(&p, PTE_STEP_I64, 1, least);
  step(&p, PTE_STEP_MAX, PTE_STEP_I64, 0, 0, 1, 0);
  step(&p, PTE_STEP_STORE, PTE_STEP_I64, 0, 0, 0, 0);
  return p;
}

/* What DequantizeLinear becomes. */
static program dequantizes(double scale, double zero) {
  program p = {.steps_count = 0};
  step(&p, PTE_STEP_LOAD, PTE_STEP_I64, 0, 0, 0, 0);
  number(&p, PTE_STEP_I64, 1, zero);
  step(&p, PTE_STEP_SUB, PTE_STEP_I64, 0, 0, 1, 0);
  step(&p, PTE_STEP_CAST, PTE_STEP_F32, 0, 0, PTE_STEP_I64, 0);
  number(&p, PTE_STEP_F32, 1, scale);
  step(&p, PTE_STEP_MUL, PTE_STEP_F32, 0, 0, 1, 0);
  step(&p, PTE_STEP_STORE, PTE_STEP_F32, 0, 0, 0, 0);
  return p;
}

/* Codes to codes. */
static program clamps(void) {
  program p = {.steps_count = 0};
  step(&p, PTE_STEP_LOAD, PTE_STEP_I64, 0, 0, 0, 0);
  number(&p, PTE_STEP_I64, 1, -7);
  step(&p, PTE_STEP_MAX, PTE_STEP_I64, 0, 0, 1, 0);
  step(&p, PTE_STEP_STORE, PTE_STEP_I64, 0, 0, 0, 0);
  return p;
}

static double bytes_of(const pte_tensor *t) {
  return (double)pte_tensor_count(t) * pte_dtype_bits(t->dtype) / 8;
}

/* A dense tensor of `rank` extents in buffer `place`. */
static pte_tensor tensor(int place, unsigned dtype, unsigned rank, const int64_t *shape) {
  pte_tensor t = {
      .data = buffer[place], .dtype = (uint8_t)dtype, .rank = (uint8_t)rank, .layout = PTE_STRIDED};
  int64_t stride = 1;
  for (unsigned i = rank; i-- > 0; stride *= shape[i]) t.shape[i] = shape[i], t.stride[i] = stride;
  return t;
}

/* The same with axis 1 innermost. */
static pte_tensor channels_last(int place, unsigned dtype, const int64_t *shape) {
  pte_tensor t = tensor(place, dtype, 4, shape);
  t.stride[1] = 1, t.stride[3] = shape[1], t.stride[2] = shape[1] * shape[3];
  return t;
}

static void report(const char *name, const double *seconds, double bytes) {
  const double us = 1e6 * seconds[0];
  printf("%-34s %8.2f us  %5.2f of L2\n", name, us, seconds[0] * l2 / bytes);
  fflush(stdout);
}

static bool is_wanted(const char *name) { return strstr(name, wanted) != NULL; }

/* Runs a kernel of one or two operands; the least of the rounds. */
static void time_kernel(const char *name, const pte_kernel *kernel, const void *attrs,
                        const pte_tables *tables, const pte_tensor *a, const pte_tensor *b,
                        pte_tensor *y) {
  const pte_tensor *ins[2] = {a, b};
  pte_tensor *outs[2] = {y, NULL};
  pte_fault fault;
  pte_call call = {.attrs = attrs,
                   .in = ins,
                   .out = outs,
                   .in_count = b == NULL && kernel == &pte_pointwise_kernel ? 1 : 2,
                   .out_count = kernel == &pte_max_pool_kernel ? 2 : 1,
                   .tables = tables,
                   .pool = pool,
                   .threads = threads,
                   .cpu = cpu,
                   .machine = &machine,
                   .fault = &fault};
  double best = 1;
  if (!is_wanted(name)) return;
  memory_take(kernel, &call);
  for (int r = 0; r < rounds; r++) {
    double begin = now();
    for (int i = 0; i < RUNS; i++)
      if (kernel->run(&call) != PTE_OK) exit(1);
    double seconds = (now() - begin) / RUNS;
    best = seconds < best ? seconds : best;
  }
  memory_drop(&call);
  report(name, &best, bytes_of(a) + (b == NULL ? 0 : bytes_of(b)) + bytes_of(y));
}

static void time_program(const char *name, program p, const pte_tensor *x, pte_tensor *y) {
  const pte_tables tables = {.steps = p.steps, .literals = p.literals};
  const pte_pointwise_attrs attrs = {
      .size = sizeof attrs, .steps = {{0, p.steps_count}, {0, p.literals_count}}
  };
  time_kernel(name, &pte_pointwise_kernel, &attrs, &tables, x, NULL, y);
}

/* TOSA's factor of a real one. */
static void factor_of(double scale, int64_t *multiplier, int64_t *shift) {
  int exponent;
  *multiplier = (int64_t)llround(ldexp(frexp(scale, &exponent), 31));
  *shift = 31 - exponent;
}

/* Ordinary floats, any codes. */
static void buffers_fill(void) {
  uint32_t seed = 1;
  for (int b = 0; b < 3; b++)
    for (size_t i = 0; i < BUFFER_BYTES / 4; i++)
      ((uint32_t *)(void *)buffer[b])[i] =
          ((seed = seed * 1664525u + 1013904223u) & 0x83ffffff) | 0x3c000000;
}

static void time_add(const char *name, double a_scale, double b_scale, double y_scale,
                     bool in_place) {
  const int64_t count = 128 << 10;
  const double common = 2 * (a_scale > b_scale ? a_scale : b_scale) / (1 << 20);
  pte_add_i8_attrs attrs = {
      .size = sizeof attrs, .a_zero = 5, .b_zero = -9, .y_zero = -128, .low = LEAST, .high = MOST};
  const pte_tensor a = tensor(0, PTE_I8, 1, &count), b = tensor(1, PTE_I8, 1, &count);
  pte_tensor y = tensor(in_place ? 0 : 2, PTE_I8, 1, &count);
  factor_of(a_scale / common, &attrs.a_multiplier, &attrs.a_shift);
  factor_of(b_scale / common, &attrs.b_multiplier, &attrs.b_shift);
  factor_of(common / y_scale, &attrs.multiplier, &attrs.shift);
  time_kernel(name, &pte_add_i8_kernel, &attrs, NULL, &a, &b, &y);
  if (in_place) buffers_fill(); /* as floats its sums are subnormal, which are slow on some cores */
}

static void time_pool(const char *name, int64_t side, int64_t channels, int64_t kernel,
                      int64_t stride, int64_t begin) {
  const int64_t lists[] = {kernel, kernel, stride, stride, 1, 1, begin, begin};
  const pte_tables tables = {.ints = lists};
  const pte_max_pool_attrs attrs = {
      .size = sizeof attrs,
      .kernel = {0, 2},
      .stride = {2, 2},
      .dilation = {4, 2},
      .begin = {6, 2}
  };
  const int64_t out = (side + 2 * begin - kernel) / stride + 1;
  const pte_tensor x = tensor(0, PTE_I8, 4, (int64_t[]){1, side, side, channels});
  pte_tensor y = tensor(2, PTE_I8, 4, (int64_t[]){1, out, out, channels});
  time_kernel(name, &pte_max_pool_kernel, &attrs, &tables, &x, NULL, &y);
}

static void time_codes(void) {
  static const struct {
    const char *name;
    unsigned dtype;
    double least, most;
  } types[] = {
      {"i8",  PTE_I8,  LEAST,  MOST },
      {"u8",  PTE_U8,  0,      255  },
      {"i16", PTE_I16, -32768, 32767}
  };
  const int64_t line[] = {96 << 10}, image[] = {1, 64, 40, 40};
  const pte_tensor x = tensor(0, PTE_F32, 1, line);
  pte_tensor planes = tensor(2, PTE_F32, 4, image);
  const pte_tensor from = tensor(0, PTE_F32, 4, image);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    char name[64];
    pte_tensor y = tensor(2, types[i].dtype, 1, line), codes = tensor(1, types[i].dtype, 1, line);
    pte_tensor floats = tensor(0, PTE_F32, 1, line);
    pte_tensor pixels = channels_last(1, types[i].dtype, image);
    const double scale = i == 2 ? 0.0371 / 256 : 0.0371, zero = i == 1 ? 131 : 3;
    snprintf(name, sizeof name, "QuantizeLinear %s", types[i].name);
    time_program(name, quantizes(scale, zero, types[i].least, types[i].most), &x, &y);
    snprintf(name, sizeof name, "QuantizeLinear %s, to pixels", types[i].name);
    time_program(name, quantizes(scale, zero, types[i].least, types[i].most), &from, &pixels);
    snprintf(name, sizeof name, "DequantizeLinear %s", types[i].name);
    floats.data = buffer[2];
    time_program(name, dequantizes(scale, zero), &codes, &floats);
    snprintf(name, sizeof name, "DequantizeLinear %s, of pixels", types[i].name);
    time_program(name, dequantizes(scale, zero), &pixels, &planes);
  }
}

static void time_mean(void) {
  const pte_reduce_attrs attrs = {.size = sizeof attrs, .kind = PTE_REDUCE_KIND_SUM, .count = 2};
  pte_tensor x = tensor(0, PTE_F32, 4, (int64_t[]){1, 10, 10, 1280}); /* as [1, c, h, w] */
  const pte_tensor lies = {
      .data = x.data,
      .shape = {1,      1280, 10,    10  },
      .stride = {128000, 1,    12800, 1280},
      .dtype = PTE_F32,
      .rank = 4,
      .layout = PTE_STRIDED
  };
  pte_tensor y = tensor(2, PTE_F32, 2, (int64_t[]){1, 1280});
  time_kernel("sum over space f32", &pte_reduce_kernel, &attrs, NULL, &lies, NULL, &y);
}

static void time_copy(void) {
  const size_t bytes = 384 << 10;
  double best = 1;
  if (!is_wanted("memcpy")) return;
  for (int r = 0; r < rounds; r++) {
    double begin = now();
    for (int i = 0; i < RUNS; i++) {
      memcpy(buffer[1], buffer[0], bytes);
      __asm__ volatile("" : : : "memory");
    }
    double seconds = (now() - begin) / RUNS;
    best = seconds < best ? seconds : best;
  }
  report("memcpy", &best, 2.0 * bytes);
}

int main(int argc, char **argv) {
  threads = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
  if (argc > 2) rounds = atoi(argv[2]);
  if (argc > 3) wanted = argv[3];
  cpu = pte_host_cpu();
  if (pte_host_machine(&machine) != PTE_OK) return 1;
  pte_host_pool_options options = {.size = sizeof options, .threads = threads};
  if (threads > 1 && pte_host_pool_open(&options, &pool, NULL) != PTE_OK) return 1;
  for (int b = 0; b < 3; b++) /* apart in the sets of caches */
    buffer[b] = (char *)aligned_alloc(1 << 21, 2 * BUFFER_BYTES) + (b * 5 + 1) * 4096 + b * 320;
  buffers_fill();
  const int64_t line = 192 << 10;
  const pte_tensor codes = tensor(0, PTE_I8, 1, &line);
  pte_tensor looked_up = tensor(1, PTE_I8, 1, &line);
  l2 = 1e9 * pteron_peak(PTERON_PEAK_L2, "");
  printf("L2: %.0f GB/s a thread; %u thread(s)\n", 1e-9 * l2, threads);
  time_copy();
  time_add("add_i8", 0.0331, 0.0417, 0.0523, false);
  time_add("add_i8 in place", 0.0331, 0.0417, 0.0523, true);
  time_add("add_i8, powers of two", 0.03125, 0.0625, 0.0625, false);
  time_pool("max_pool i8 3 x 3, stride 2", 80, 64, 3, 2, 1);
  time_pool("max_pool i8 3 x 3, stride 1", 56, 64, 3, 1, 1);
  time_pool("max_pool i8 2 x 2, stride 2", 80, 64, 2, 2, 0);
  time_pool("max_pool i8 5 x 5, stride 1", 40, 128, 5, 1, 2);
  time_program("table i8", clamps(), &codes, &looked_up);
  time_codes();
  time_mean();
  return 0;
}

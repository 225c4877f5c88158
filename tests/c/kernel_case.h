/* Runs one kernel call by every variant of this machine and by 1, 2 and 3 threads (of a pool that
 * runs its chunks one after another, last first) and asks for the same bytes each time. */
#ifndef PTE_TEST_KERNEL_CASE_H
#define PTE_TEST_KERNEL_CASE_H

#include <stdlib.h>

#include "check.h"
#include "core/cpu.h"
#include "core/kernel.h"
#include "core/shape.h"

enum { CASE_TENSORS = 6 };

typedef struct kernel_case {
  const pte_kernel *kernel;
  const void *attrs;
  pte_tables tables;
  pte_tensor in[CASE_TENSORS], out;
  bool present[CASE_TENSORS];
  uint32_t in_count;
  pte_fault fault;
} kernel_case;

static uint32_t case_seed = 1;
static uint32_t case_bits(void) { return (case_seed = case_seed * 1664525u + 1013904223u) >> 8; }
static uint32_t case_below(uint32_t n) { return case_bits() % n; }

/* Mostly ordinary numbers, some small ones, so that the order of a sum shows. */
static inline float case_value(void) {
  float mantissa = (float)case_bits() - 8388608.0f;
  return mantissa * (case_bits() % 16 ? 0x1p-23f : 0x1p-10f);
}

static inline void *case_memory(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (p == NULL) abort();
  return p;
}

static inline pte_tensor case_tensor(uint8_t rank, const int64_t *shape) {
  pte_tensor t = {.dtype = PTE_F32, .rank = rank};
  int64_t step = 1;
  for (unsigned i = rank; i-- > 0; step *= shape[i]) t.shape[i] = shape[i], t.stride[i] = step;
  t.data = case_memory((size_t)step * sizeof(float));
  for (int64_t i = 0; i < step; i++) ((float *)t.data)[i] = case_value();
  return t;
}

/* [n, k] as panels of `groups` groups, from the rows of `plain`. */
static inline pte_tensor case_panels(const pte_tensor *plain, size_t groups) {
  size_t n = (size_t)plain->shape[0] / groups, k = (size_t)plain->shape[1], panels = (n + 15) / 16;
  pte_tensor t = *plain;
  t.layout = PTE_PANELS;
  t.groups = (uint16_t)groups;
  size_t bytes = groups * panels * 16 * k * sizeof(float);
  t.data = memset(case_memory(bytes), 0, bytes);
  for (size_t g = 0; g < groups; g++)
    for (size_t j = 0; j < n; j++)
      for (size_t i = 0; i < k; i++)
        ((float *)t.data)[((g * panels + j / 16) * k + i) * 16 + j % 16] =
            ((const float *)plain->data)[(g * n + j) * k + i];
  return t;
}

static inline void pool_run(void *self, size_t count, size_t grain, pte_task task, void *context) {
  const pte_pool *pool = self;
  size_t chunk = (count + pool->threads - 1) / pool->threads;
  if (chunk < grain) chunk = grain;
  size_t chunks = (count + chunk - 1) / chunk;
  for (size_t i = chunks; i-- > 0;)
    task(context, i * chunk, (i + 1) * chunk < count ? (i + 1) * chunk : count,
         (uint32_t)(i % pool->threads));
}

/* The machine that calls are for: all 0 is a usual one; tests of others set it. */
static pte_machine case_machine;

static inline pte_call case_call(kernel_case *c, const pte_tensor **in, pte_tensor **out,
                                 const pte_pool *pool, uint32_t threads, uint32_t cpu) {
  for (uint32_t i = 0; i < c->in_count; i++) in[i] = c->present[i] ? &c->in[i] : NULL;
  out[0] = &c->out;
  return (pte_call){.attrs = c->attrs,
                    .in = in,
                    .out = out,
                    .in_count = c->in_count,
                    .out_count = 1,
                    .tables = &c->tables,
                    .pool = pool,
                    .threads = threads,
                    .cpu = cpu,
                    .machine = &case_machine,
                    .fault = &c->fault};
}

/* What prepare asks: the operator's row, then its kernel. */
static inline pte_status case_check(kernel_case *c) {
  const pte_tensor *in[CASE_TENSORS];
  pte_tensor *out[1];
  pte_call call = case_call(c, in, out, NULL, 1, 0);
  const pte_op_row *row = NULL;
  for (uint32_t i = 0; i < pte_op_row_count; i++)
    if (pte_op_rows[i].kernel == c->kernel) row = &pte_op_rows[i];
  PTE_TRY(pte_shape_check(row, &call));
  return c->kernel->check == NULL ? PTE_OK : c->kernel->check(&call);
}

/* So many bytes that hold nothing useful. */
static inline void *case_junk(uint64_t bytes) {
  void *memory = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
  memset(memory, 0xa5, (size_t)bytes);
  return memory;
}

static inline void case_run_once(kernel_case *c, uint32_t threads, uint32_t cpu) {
  const pte_tensor *in[CASE_TENSORS];
  pte_tensor *out[1];
  pte_pool pool = {.threads = threads, .run = pool_run};
  pool.self = &pool;
  pte_call call = case_call(c, in, out, threads > 1 ? &pool : NULL, threads, cpu);
  pte_needs needs = {0, 0}, again = {0, 0};
  CHECK_EQUAL(case_check(c), PTE_OK);
  if (c->kernel->needs != NULL) {
    CHECK_EQUAL(c->kernel->needs(&call, &needs), PTE_OK);
    call.cpu = 0;
    CHECK_EQUAL(c->kernel->needs(&call, &again), PTE_OK);
    CHECK_EQUAL(needs.scratch, again.scratch);
    CHECK_EQUAL(needs.kept, again.kept);
    call.cpu = cpu;
  }
  call.scratch = case_junk(needs.scratch), call.kept = case_junk(needs.kept);
  if (c->kernel->keep != NULL) CHECK_EQUAL(c->kernel->keep(&call), PTE_OK);
  CHECK_EQUAL(c->kernel->run(&call), PTE_OK);
  free(call.scratch), free(call.kept);
}

/* `expected` has `count` floats in the order of the output. */
static inline void case_run(kernel_case *c, const float *expected, size_t count) {
  const uint32_t have = pte_cpu_detect(), cpus[] = {0, have & PTE_CPU_AVX2, have};
  for (unsigned v = 0; v < 3; v++)
    for (uint32_t threads = 1; threads <= 3; threads++) {
      memset(c->out.data, 0xff, count * sizeof(float));
      case_run_once(c, threads, cpus[v]);
      CHECK(memcmp(c->out.data, expected, count * sizeof(float)) == 0);
    }
}

#endif

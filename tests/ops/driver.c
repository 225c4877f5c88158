/* Runs one kernel on given tensors, for tests/ops: what a session does around it, in small.
 * The pool is the calling thread: it hands out chunks of odd sizes, last first, to changing thread
 * numbers, so that a kernel that depends on order or mixes up its threads' scratch gives other
 * bytes; and its watch asks for a look once in CHUNK operations, so that every loop that is cut for
 * looks is cut, in odd places. Scratch is exactly what was asked for, full of junk, with a guard
 * behind. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/math.h"
#include "core/op.h"
#include "core/shape.h"
#include "gen/ops.h"
#include "gen/steps.h"
#include "pteron/host.h"
#include "request.h"

enum { GUARD = 64, JUNK = 0xcd, CHUNK = 40 };

typedef struct test_pool {
  uint32_t threads;
} test_pool;

static void pool_run(void *self, size_t count, size_t grain, pte_task task, void *context) {
  const test_pool *pool = self;
  uint32_t thread = 1;
  (void)grain;
  for (size_t end = count, size = 1; end > 0; size = size * 2 + 1) {
    size_t begin = end > size ? end - size : 0;
    task(context, begin, end, thread++ % pool->threads);
    end = begin;
  }
}

uint32_t pte_test_size(uint32_t of);
uint32_t pte_test_has_kernel(uint32_t op);
void pte_test_map(uint32_t function, const float *x, const float *x2, float *y, size_t count);
void pte_test_map_f64(uint32_t function, const double *x, const double *x2, double *y,
                      size_t count);

/* So many bytes of junk, and a guard behind. NULL: there is no memory. */
static unsigned char *junk(uint64_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, bytes + GUARD) != 0) return NULL;
  return memset(memory, JUNK, bytes + GUARD);
}

static bool is_whole(const unsigned char *memory, uint64_t bytes, const char *text,
                     pte_fault *fault) {
  for (unsigned i = 0; i < GUARD; i++)
    if (memory[bytes + i] != JUNK) {
      *fault = (pte_fault){text, i, 0, 0, 255, 0};
      return false;
    }
  return true;
}

/* What the kernel keeps, made of shapes and of the inputs that it says it reads: the others have no
 * address yet, as outputs have none. */
static pte_status keep(const pte_kernel *kernel, const pte_call *call, const test_request *r) {
  enum { MOST = 64 };
  pte_tensor tensors[MOST], *out[MOST];
  const pte_tensor *in[MOST];
  if (kernel->keep == NULL) return PTE_OK;
  if (r->in_count + r->out_count > MOST) return PTE_UNSUPPORTED;
  for (uint32_t i = 0; i < r->in_count; i++) {
    in[i] = r->in[i] == NULL ? NULL : &tensors[i];
    if (in[i] != NULL) tensors[i] = *r->in[i];
    if (i >= 32 || (kernel->reads >> i & 1) == 0) tensors[i].data = NULL;
  }
  for (uint32_t o = 0; o < r->out_count; o++) {
    out[o] = r->out[o] == NULL ? NULL : &tensors[r->in_count + o];
    if (out[o] == NULL) continue;
    *out[o] = *r->out[o];
    out[o]->data = NULL;
  }
  pte_call first = *call;
  first.in = in, first.out = out, first.pool = NULL;
  return kernel->keep(&first);
}

static pte_status run_guarded(const pte_kernel *kernel, pte_call *call, test_request *r) {
  unsigned char *scratch = junk(r->scratch_bytes), *kept = junk(r->kept_bytes);
  pte_status status = scratch == NULL || kept == NULL ? PTE_NO_MEMORY : PTE_OK;
  call->scratch = r->scratch_bytes ? scratch : NULL;
  call->kept = r->kept_bytes ? kept : NULL;
  if (status == PTE_OK) status = keep(kernel, call, r);
  if (status == PTE_OK) status = kernel->run(call);
  if (scratch != NULL &&
      !is_whole(scratch, r->scratch_bytes, "wrote behind its scratch", &r->fault))
    status = PTE_LIMIT;
  if (kept != NULL && !is_whole(kept, r->kept_bytes, "wrote behind what it keeps", &r->fault))
    status = PTE_LIMIT;
  free(scratch), free(kept);
  return status;
}

static uint64_t count_look(void *self) { return atomic_fetch_add((_Atomic uint64_t *)self, 1); }

/* Ends a run at its first look, its second, its third, its fifth ...: nothing of it counts, but it
 * must keep to its memory and come back. */
static void run_ended(const pte_kernel *kernel, pte_call *call, test_request *r) {
  enum { MOST = 8 };
  pte_tensor saved[MOST];
  _Atomic uint64_t looks = 0; /* every thread looks */
  for (uint32_t o = 0; o < r->out_count; o++) {
    if (o == MOST || r->out[o] == NULL) return;
    saved[o] = *r->out[o];
    for (uint32_t i = 0; i < r->in_count; i++)
      if (r->in[i] != NULL && r->in[i]->data == saved[o].data) return; /* it would be lost */
  }
  for (uint64_t last = 1, end = 1, next; end < 1000; next = last + end, last = end, end = next) {
    pte_run_options until = {.deadline_ns = end, .now = count_look, .now_self = &looks};
    pte_watch watch = {.until = &until, .chunk = CHUNK};
    looks = 1;
    call->watch = &watch;
    (void)run_guarded(kernel, call, r);
    for (uint32_t o = 0; o < r->out_count; o++) *r->out[o] = saved[o];
    if (watch.ended == PTE_OK) break;
  }
}

int32_t pte_test_run(test_request *r) {
  static const pte_run_options never = {.size = sizeof never};
  pte_watch watch = {.until = &never, .chunk = CHUNK};
  const pte_op_row *row = pte_op_find(r->op);
  test_pool pool = {r->threads};
  pte_pool face = {sizeof face, r->threads, &pool, pool_run};
  pte_call call = {.attrs = r->attrs,
                   .in = r->in,
                   .out = r->out,
                   .in_count = r->in_count,
                   .out_count = r->out_count};
  call.tables = &r->tables;
  call.pool = r->threads > 1 ? &face : NULL;
  call.threads = r->threads;
  call.cpu = r->cpu;
  call.machine = &r->machine;
  call.fault = &r->fault;
  r->stage = 0;
  r->scratch_bytes = r->kept_bytes = 0;
  if (row == NULL || row->kernel == NULL) return PTE_UNSUPPORTED;
  r->stage = 1;
  pte_status status = pte_shape_check(row, &call);
  if (status == PTE_OK) r->stage = 2;
  if (status == PTE_OK && row->kernel->check != NULL) status = row->kernel->check(&call);
  if (status == PTE_OK) r->stage = 3;
  if (status == PTE_OK && row->kernel->needs != NULL) {
    pte_needs needs = {0, 0};
    status = row->kernel->needs(&call, &needs);
    r->scratch_bytes = needs.scratch, r->kept_bytes = needs.kept;
  }
  if (status == PTE_OK) r->stage = 4;
  if (status == PTE_OK && r->threads > 1) {
    run_ended(row->kernel, &call, r);
    r->fault = (pte_fault){.text = "", .position = -1, .port = 255};
    call.watch = &watch;
  }
  if (status == PTE_OK) status = run_guarded(row->kernel, &call, r);
  if (status == PTE_OK) r->stage = 5;
  return (int32_t)status;
}

uint32_t pte_test_size(uint32_t of) {
  return of == 0 ? (uint32_t)sizeof(pte_tensor) : (uint32_t)sizeof(test_request);
}

uint32_t pte_test_features(void) { return pte_host_cpu(); }

uint32_t pte_test_has_kernel(uint32_t op) {
  const pte_op_row *row = pte_op_find(op);
  return row != NULL && row->kernel != NULL;
}

#define MAP(number, name)                                                                          \
  case number:                                                                                     \
    for (size_t i = 0; i < count; i++) y[i] = name(x[i]);                                          \
    break;
#define MAP_TWO(number, name)                                                                      \
  case number:                                                                                     \
    for (size_t i = 0; i < count; i++) y[i] = name(x[i], x2[i]);                                   \
    break;

/* y = f(x) for the functions of core/math.h, by the opcode of their step. */
void pte_test_map(uint32_t function, const float *x, const float *x2, float *y, size_t count) {
  switch (function) {
    MAP(PTE_STEP_FLOOR, pte_floor)
    MAP(PTE_STEP_CEIL, pte_ceil)
    MAP(PTE_STEP_TRUNC, pte_trunc)
    MAP(PTE_STEP_NEAREST, pte_nearest)
    MAP(PTE_STEP_SQRT, pte_sqrt)
    MAP(PTE_STEP_EXP, pte_exp)
    MAP(PTE_STEP_LOG, pte_log)
    MAP(PTE_STEP_SIN, pte_sin)
    MAP(PTE_STEP_COS, pte_cos)
    MAP(PTE_STEP_TAN, pte_tan)
    MAP(PTE_STEP_ASIN, pte_asin)
    MAP(PTE_STEP_ACOS, pte_acos)
    MAP(PTE_STEP_ATAN, pte_atan)
    MAP(PTE_STEP_SINH, pte_sinh)
    MAP(PTE_STEP_COSH, pte_cosh)
    MAP(PTE_STEP_TANH, pte_tanh)
    MAP(PTE_STEP_ASINH, pte_asinh)
    MAP(PTE_STEP_ACOSH, pte_acosh)
    MAP(PTE_STEP_ATANH, pte_atanh)
    MAP(PTE_STEP_ERF, pte_erf)
    MAP(PTE_STEP_LOG1P, pte_log1p)
    MAP(PTE_STEP_EXPM1, pte_expm1)
    MAP_TWO(PTE_STEP_POW, pte_pow)
    MAP_TWO(PTE_STEP_FMOD, pte_fmod)
  default: break;
  }
}

void pte_test_map_f64(uint32_t function, const double *x, const double *x2, double *y,
                      size_t count) {
  switch (function) {
    MAP(PTE_STEP_FLOOR, pte_floor_f64)
    MAP(PTE_STEP_CEIL, pte_ceil_f64)
    MAP(PTE_STEP_TRUNC, pte_trunc_f64)
    MAP(PTE_STEP_NEAREST, pte_nearest_f64)
    MAP(PTE_STEP_SQRT, pte_sqrt_f64)
    MAP(PTE_STEP_EXP, pte_exp_f64)
    MAP(PTE_STEP_LOG, pte_log_f64)
    MAP(PTE_STEP_SIN, pte_sin_f64)
    MAP(PTE_STEP_COS, pte_cos_f64)
    MAP(PTE_STEP_TAN, pte_tan_f64)
    MAP(PTE_STEP_ASIN, pte_asin_f64)
    MAP(PTE_STEP_ACOS, pte_acos_f64)
    MAP(PTE_STEP_ATAN, pte_atan_f64)
    MAP(PTE_STEP_SINH, pte_sinh_f64)
    MAP(PTE_STEP_COSH, pte_cosh_f64)
    MAP(PTE_STEP_TANH, pte_tanh_f64)
    MAP(PTE_STEP_ASINH, pte_asinh_f64)
    MAP(PTE_STEP_ACOSH, pte_acosh_f64)
    MAP(PTE_STEP_ATANH, pte_atanh_f64)
    MAP(PTE_STEP_ERF, pte_erf_f64)
    MAP(PTE_STEP_LOG1P, pte_log1p_f64)
    MAP(PTE_STEP_EXPM1, pte_expm1_f64)
    MAP_TWO(PTE_STEP_POW, pte_pow_f64)
    MAP_TWO(PTE_STEP_FMOD, pte_fmod_f64)
  default: break;
  }
}

/* Sessions of one program on several threads at once, alone and with a pool that they share: the
 * bytes of one thread. SANITIZE=thread tests/c/run.sh says whether they race. */
// sources: library
// samples: yes
#include <pthread.h>
#include <stdbool.h>

#include "check.h"
#include "pteron/host.h"
#include "pteron/types.h"
#include "sample.h"

enum { THREADS = 3, RUNS = 20, PORTS = 8 };

/* One thread's: a session of a method, its memory, buffers of the caller. */
typedef struct part {
  const pte_program *program;
  const pte_pool *pool;
  pte_session *session;
  uint32_t method, input_count, output_count;
  int64_t extent; /* of each symbolic dimension */
  void *memory, *arena, *state, *inputs[PORTS], *outputs[PORTS];
  uint64_t bytes[PORTS]; /* of an output */
  uint64_t hash;
} part;

static void fill(void *data, uint64_t size, uint8_t dtype) {
  memset(data, 0, size);
  if (dtype == PTE_F32)
    for (uint64_t i = 0; i + 4 <= size; i += 4)
      memcpy((char *)data + i, &(float){(float)(int)(i % 29) / 8 - 1}, 4);
  else if (dtype == PTE_I64)
    for (uint64_t i = 0; i + 8 <= size; i += 8)
      memcpy((char *)data + i, &(int64_t){(int64_t)(i / 8 % 2) + 1}, 8);
  else
    for (uint64_t i = 0; i < size; i++) ((uint8_t *)data)[i] = i % 3 != 1;
}

static bool prepare_part(part *p, pte_error *error) {
  static const int64_t filled[] = {1, 2, 1, 2}; /* as `fill` does */
  int64_t shapes[PORTS][PTE_MAX_RANK];
  const int64_t *shape_of[PORTS], *value_of[PORTS];
  for (uint32_t i = 0; i < p->input_count; i++) {
    pte_port_info info = {.size = sizeof info};
    CHECK_EQUAL(pte_program_input(p->program, p->method, i, &info), PTE_OK);
    for (unsigned axis = 0; axis < info.rank; axis++)
      shapes[i][axis] = info.shape[axis] < 0 ? p->extent : info.shape[axis];
    shape_of[i] = shapes[i];
    value_of[i] = info.shape_input ? filled : NULL;
  }
  pte_prepare_options options = {.size = sizeof options,
                                 .threads = p->pool == NULL ? 1 : p->pool->threads,
                                 .pool = p->pool,
                                 .shapes = shape_of,
                                 .values = value_of};
  pte_sizes sizes = {.size = sizeof sizes};
  if (pte_prepare_size(p->session, &options, &sizes, error) != PTE_OK) return false;
  p->arena = sample_memory((size_t)sizes.arena_bytes);
  p->state = sample_memory((size_t)sizes.state_bytes);
  return pte_session_prepare(p->session, &options,
                             (pte_memory){p->arena, (size_t)sizes.arena_bytes},
                             (pte_memory){p->state, (size_t)sizes.state_bytes}, 0, error) == PTE_OK;
}

static void take_buffers(part *p) {
  pte_extents e = {.size = sizeof e};
  for (uint32_t i = 0; i < p->input_count; i++) {
    CHECK_EQUAL(pte_session_input(p->session, i, &e), PTE_OK);
    p->inputs[i] = sample_memory((size_t)e.size_bytes);
    fill(p->inputs[i], e.size_bytes, e.dtype);
  }
  for (uint32_t i = 0; i < p->output_count; i++) {
    CHECK_EQUAL(pte_session_output(p->session, i, &e), PTE_OK);
    p->outputs[i] = sample_memory((size_t)e.size_bytes);
    memset(p->outputs[i], 0, (size_t)e.size_bytes);
    p->bytes[i] = e.size_bytes;
  }
}

static void free_part(part *p) {
  if (p->session != NULL) pte_session_close(p->session);
  for (uint32_t i = 0; i < PORTS; i++) free(p->inputs[i]), free(p->outputs[i]);
  free(p->arena);
  free(p->state);
  free(p->memory);
}

/* Opens a session, runs it again and again, and keeps a hash (FNV-1a) of all outputs. */
static void *work(void *context) {
  part *p = context;
  pte_error error = {0};
  size_t size = 0;
  bool good = pte_session_size(p->program, p->method, &size, &error) == PTE_OK;
  p->memory = sample_memory(size);
  good = good && pte_session_open(p->program, p->method, (pte_memory){p->memory, size}, &p->session,
                                  &error) == PTE_OK;
  good = good && prepare_part(p, &error);
  if (good) take_buffers(p);
  p->hash = 0xcbf29ce484222325ull;
  for (int run = 0; good && run < RUNS; run++) {
    good = pte_session_run(p->session, (const void *const *)p->inputs, p->outputs, NULL, &error) ==
           PTE_OK;
    for (uint32_t i = 0; i < p->output_count; i++)
      for (uint64_t k = 0; k < p->bytes[i]; k++)
        p->hash = (p->hash ^ ((const uint8_t *)p->outputs[i])[k]) * 0x100000001b3ull;
  }
  if (!good) p->hash = 0, printf("%s\n", error.text);
  return NULL;
}

static void run_method(const pte_program *program, uint32_t method, const pte_pool *pool) {
  pte_method_info info = {.size = sizeof info};
  CHECK_EQUAL(pte_program_method(program, method, &info), PTE_OK);
  part parts[2 * THREADS] = {0};
  pthread_t threads[THREADS];
  for (int i = 0; i < 2 * THREADS; i++)
    parts[i] = (part){.program = program,
                      .method = method,
                      .input_count = info.input_count,
                      .output_count = info.output_count,
                      .extent = 1 + 20 * (i % THREADS),
                      .pool = i < THREADS ? NULL : pool};
  for (int i = 0; i < THREADS; i++) work(&parts[i]);
  for (int i = 0; i < THREADS; i++)
    CHECK_EQUAL(pthread_create(&threads[i], NULL, work, &parts[THREADS + i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    CHECK(parts[i].hash != 0 && parts[i].hash == parts[THREADS + i].hash);
  for (int i = 0; i < 2 * THREADS; i++) free_part(&parts[i]);
}

static void run_program(const char *name, const pte_pool *pool) {
  char path[64];
  snprintf(path, sizeof path, "build/samples/%s.pte", name);
  sample file = sample_read(path);
  pte_program *program = NULL;
  pte_error error = {0};
  size_t size = 0;
  CHECK_EQUAL(pte_program_size(file.bytes, file.size, &size, &error), PTE_OK);
  void *memory = sample_memory(size);
  CHECK_EQUAL(
      pte_program_open(file.bytes, file.size, NULL, (pte_memory){memory, size}, &program, &error),
      PTE_OK);
  for (uint32_t m = 0; m < pte_program_method_count(program); m++) run_method(program, m, pool);
  free(memory);
  free(file.bytes);
}

static void sessions_of_one_program_run_side_by_side(void) {
  static const char *const names[] = {"pointwise", "matmul", "moves",  "state",
                                      "counted",   "grown",  "layers", "wide"};
  pte_host_pool_options two = {.size = sizeof two, .threads = 2};
  pte_pool *pool = NULL;
  CHECK_EQUAL(pte_host_pool_open(&two, &pool, NULL), PTE_OK);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (int shared = 0; shared < 2; shared++) run_program(names[i], shared ? pool : NULL);
  pte_host_pool_close(pool);
}

int main(void) {
  sessions_of_one_program_run_side_by_side();
  return check_done();
}

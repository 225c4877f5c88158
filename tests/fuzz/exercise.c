#include "exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fence.h"
#include "pteron/delegate.h"

#define MAX_PORTS 16

typedef struct subject {
  const pte_program *program;
  uint32_t method;
  pte_session *session;
  uint32_t input_count, output_count;
  int64_t shapes[MAX_PORTS][PTE_MAX_RANK], values[MAX_PORTS][64];
  const int64_t *shape_of[MAX_PORTS], *value_of[MAX_PORTS];
  fence fences[MAX_PORTS];
  const void *inputs[MAX_PORTS];
  void *outputs[MAX_PORTS];
  exercise_result *result;
} subject;

static void broken(exercise_result *r, const char *what, uint64_t number) {
  if (r->broken[0] == 0)
    snprintf(r->broken, sizeof r->broken, "%s (%llu)", what, (unsigned long long)number);
}

/* A failure has a status that says so, a text, and a place at the text's start. */
static bool failed(exercise_result *r, pte_status status, const pte_error *error) {
  if (status == PTE_OK) return false;
  const char *colon = strchr(error->text, ':');
  if (error->status != (int32_t)status) broken(r, "status and error differ", (uint64_t)status);
  else if (colon == NULL || colon - error->text > 70)
    broken(r, "a refusal names no place", (uint64_t)status);
  if (r->text[0] == 0) memcpy(r->text, error->text, sizeof r->text);
  return true;
}

/* Memory of exactly that size, so that the sanitizer sees the byte behind it. */
static void *take(exercise_result *r, uint64_t size, uint64_t cap) {
  if (size > r->largest_bytes) r->largest_bytes = size;
  if (size > cap) {
    broken(r, "asks for more than the cap", size);
    return NULL;
  }
  void *memory = NULL;
  if (posix_memalign(&memory, 64, size == 0 ? 1 : (size_t)size) != 0) return NULL;
  memset(memory, 0x5a, (size_t)size);
  return memory;
}

/* Small numbers that are legal as floats, indices and bools alike; one alone says twice, or yes. */
static void fill(void *data, uint64_t size, uint8_t dtype) {
  uint8_t *bytes = data;
  for (uint64_t i = 0; i < size; i++) bytes[i] = (uint8_t)(i * 37 + 11);
  if (dtype == PTE_BOOL)
    for (uint64_t i = 0; i < size; i++) bytes[i] &= 1;
  if (dtype == PTE_I64)
    for (uint64_t i = 0; i + 8 <= size; i += 8) {
      int64_t small = (int64_t)((i / 8 + 2) % 3);
      memcpy(bytes + i, &small, 8);
    }
  if (dtype == PTE_F32)
    for (uint64_t i = 0; i + 4 <= size; i += 4) {
      float x = (float)(int)(i % 29) / 8 - 1;
      memcpy(bytes + i, &x, 4);
    }
}

static void choose_shapes(subject *s) {
  for (uint32_t i = 0; i < s->input_count; i++) {
    pte_port_info info = {.size = sizeof info};
    if (pte_program_input(s->program, s->method, i, &info) != PTE_OK)
      broken(s->result, "an input cannot be described", i);
    for (unsigned axis = 0; axis < info.rank; axis++) {
      int64_t extent = info.shape[axis];
      if (extent < 0)
        extent = info.minimum[axis] > 3   ? info.minimum[axis]
                 : info.maximum[axis] < 3 ? info.maximum[axis]
                                          : 3;
      s->shapes[i][axis] = extent;
    }
    for (unsigned k = 0; k < 64; k++) s->values[i][k] = 2;
    s->shape_of[i] = s->shapes[i];
    s->value_of[i] = info.shape_input ? s->values[i] : NULL;
  }
}

static bool take_buffers(subject *s) {
  pte_extents e = {.size = sizeof e};
  for (uint32_t i = 0; i < s->input_count; i++) {
    if (pte_session_input(s->session, i, &e) != PTE_OK) return false;
    if (e.size_bytes > EXERCISE_CAP_BYTES)
      return false; /* the caller's own buffers are not capped */
    fence *f = &s->fences[i];
    *f = fence_take((size_t)e.size_bytes);
    fill(f->data, e.size_bytes, e.dtype);
    if (s->value_of[i] != NULL && e.dtype == PTE_I64)
      for (uint64_t k = 0; k < e.size_bytes / 8; k++) ((int64_t *)f->data)[k] = 2;
    fence_shut(f);
    s->inputs[i] = f->data;
  }
  for (uint32_t i = 0; i < s->output_count; i++) {
    if (pte_session_output(s->session, i, &e) != PTE_OK) return false;
    if (e.size_bytes > EXERCISE_CAP_BYTES) return false;
    s->outputs[i] = take(s->result, e.size_bytes, EXERCISE_CAP_BYTES);
  }
  return true;
}

/* Of this thread's work, so that a busy machine changes nothing. */
static uint64_t now_ns(void *self) {
  struct timespec t;
  (void)self;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How long after its deadline a run came back, in ns. */
static uint64_t run_late(subject *s) {
  pte_run_options options = {
      .size = sizeof options, .max_instructions = 20000, .max_iterations = 200, .now = now_ns};
  pte_error error = {0};
  options.deadline_ns = now_ns(NULL) + EXERCISE_DEADLINE_MS * 1000000u;
  pte_status status = pte_session_run(s->session, s->inputs, s->outputs, &options, &error);
  uint64_t end = now_ns(NULL);
  if (!failed(s->result, status, &error)) s->result->stage = STAGE_RAN;
  return end > options.deadline_ns ? end - options.deadline_ns : 0;
}

/* Late is what is late each time: a virtual machine that its host stops for a while has the pause
 * counted as this thread's work. */
static void run(subject *s) {
  for (unsigned k = 0; k < 2; k++) {
    uint64_t least = run_late(s);
    for (unsigned again = 0; again < 4 && least > EXERCISE_SLACK_MS * 1000000u; again++) {
      uint64_t late = run_late(s);
      if (late < least) least = late;
    }
    if (least > EXERCISE_SLACK_MS * 1000000u)
      broken(s->result, "ran beyond its deadline each time, by ms", least / 1000000u);
  }
}

static void prepare_and_run(subject *s) {
  pte_prepare_options options = {.size = sizeof options,
                                 .threads = 1,
                                 .shapes = s->shape_of,
                                 .values = s->value_of,
                                 .max_bytes = EXERCISE_CAP_BYTES,
                                 .max_extent = 64};
  pte_sizes sizes = {.size = sizeof sizes};
  pte_error error = {0};
  choose_shapes(s);
  if (failed(s->result, pte_prepare_size(s->session, &options, &sizes, &error), &error)) return;
  void *arena = take(s->result, sizes.arena_bytes, EXERCISE_CAP_BYTES);
  void *state = take(s->result, sizes.state_bytes, EXERCISE_CAP_BYTES);
  if (arena != NULL && state != NULL) {
    pte_memory a = {arena, (size_t)sizes.arena_bytes}, b = {state, (size_t)sizes.state_bytes};
    if (!failed(s->result, pte_session_prepare(s->session, &options, a, b, 0, &error), &error)) {
      if (s->result->stage < STAGE_PREPARED) s->result->stage = STAGE_PREPARED;
      if (take_buffers(s)) run(s);
    }
  }
  for (uint32_t i = 0; i < MAX_PORTS; i++) {
    fence_drop(&s->fences[i]);
    free(s->outputs[i]);
    s->outputs[i] = NULL;
  }
  free(arena);
  free(state);
}

static void exercise_method(const pte_program *program, uint32_t method, uint64_t file_bytes,
                            exercise_result *out) {
  static subject s;
  pte_method_info info = {.size = sizeof info};
  pte_error error = {0};
  size_t size = 0;
  memset(&s, 0, sizeof s);
  if (pte_program_method(program, method, &info) != PTE_OK)
    broken(out, "a method cannot be described", method);
  if (info.input_count > MAX_PORTS || info.output_count > MAX_PORTS) return;
  s.program = program;
  s.method = method;
  s.result = out;
  s.input_count = info.input_count;
  s.output_count = info.output_count;
  if (failed(out, pte_session_size(program, method, &size, &error), &error)) return;
  void *memory = take(out, size, 65536 + file_bytes * EXERCISE_CAP_TABLES);
  if (memory == NULL) return;
  if (!failed(out,
              pte_session_open(program, method, (pte_memory){memory, size}, &s.session, &error),
              &error))
    prepare_and_run(&s);
  free(memory);
}

static void open_and_run(const uint8_t *bytes, size_t size, int run_it, bool delegate,
                         exercise_result *out) {
  pte_error error = {0};
  size_t needed = 0;
  if (failed(out, pte_program_size(bytes, size, &needed, &error), &error)) return;
  void *memory = take(out, needed, 65536 + size * EXERCISE_CAP_TABLES);
  if (memory == NULL) return;
  const pte_delegate_api *permitted[] = {pte_delegate_null()};
  pte_open_options options = {
      .size = sizeof options, .delegate_count = delegate ? 1 : 0, .delegates = permitted};
  pte_program *program = NULL;
  pte_memory room = {memory, needed};
  if (!failed(out, pte_program_open(bytes, size, &options, room, &program, &error), &error)) {
    if (out->stage == STAGE_REFUSED) out->stage = STAGE_OPENED;
    for (uint32_t m = 0; run_it && m < pte_program_method_count(program) && m < 4; m++)
      exercise_method(program, m, size, out);
  }
  free(memory);
}

void exercise(const uint8_t *bytes, size_t size, int run_it, exercise_result *out) {
  memset(out, 0, sizeof *out);
  fence file = fence_take(size);
  if (size != 0) memcpy(file.data, bytes, size);
  fence_shut(&file);
  open_and_run(file.data, size, run_it, false, out);
  if (run_it && out->stage != STAGE_REFUSED) open_and_run(file.data, size, run_it, true, out);
  fence_drop(&file);
}

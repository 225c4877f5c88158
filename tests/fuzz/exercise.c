#include "exercise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fence.h"
#include "gen/layout.h"
#include "program/blake2s.h"
#include "pteron/delegate.h"
#include "sample.h"

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
  uint64_t output_bytes[MAX_PORTS];
  void *outputs[MAX_PORTS], *before[MAX_PORTS]; /* before: what the first run gave */
  pte_memory arena, state;
  const pte_prepare_options *options;
  const fence *file;
  bool changes;  /* are made to the file between two runs and while one lasts */
  bool changing; /* the file does, whenever the library looks at the clock */
  bool runs;     /* there are buffers for it */
  uint32_t state_count;
  uint64_t draw; /* of the bytes of the file: telling numbers come from it */
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
    s->output_bytes[i] = e.size_bytes;
    s->outputs[i] = take(s->result, e.size_bytes, EXERCISE_CAP_BYTES);
    s->before[i] = take(s->result, e.size_bytes, EXERCISE_CAP_BYTES);
    if (s->outputs[i] == NULL || s->before[i] == NULL) return false;
  }
  return true;
}

static uint64_t draw(subject *s, uint64_t count) {
  s->draw = s->draw * 6364136223846793005u + 1442695040888963407u;
  return count == 0 ? 0 : (s->draw >> 33) % count;
}

/* A byte of a segment of constants becomes another; what follows is that other numbers come out. */
static void change_constant(subject *s) {
  static const uint8_t telling[] = {0, 1, 63, 100, 127, 255};
  uint8_t *file = s->file->data;
  uint64_t segments = sample_word(file + 12, 4);
  const uint8_t *entry = file + 64 + 64 * draw(s, segments);
  for (uint64_t left = segments; left > 0 && sample_word(entry, 4) != PTE_SEGMENT_CONSTANTS; left--)
    entry = file + 64 + 64 * ((uint64_t)(entry - file) / 64 % segments);
  uint64_t offset = sample_word(entry + 8, 8), length = sample_word(entry + 16, 8);
  if (sample_word(entry, 4) == PTE_SEGMENT_CONSTANTS && length != 0)
    file[offset + draw(s, length)] = draw(s, 2) ? telling[draw(s, 6)] : (uint8_t)draw(s, 256);
}

/* Of this thread's work, so that a busy machine changes nothing. The library looks between what a
 * kernel checks and what it then reads, too: the file may be another one by then. */
static uint64_t now_ns(void *self) {
  struct timespec t;
  subject *s = self;
  for (uint64_t left = s->changing ? draw(s, 4) : 0; left > 0; left--) change_constant(s);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How long after its deadline a run came back, in ns; whether it succeeded. */
static uint64_t run_late(subject *s, bool *out_ok) {
  pte_run_options options = {.size = sizeof options,
                             .max_instructions = 20000,
                             .max_iterations = 200,
                             .now = now_ns,
                             .now_self = s};
  pte_error error = {0};
  options.deadline_ns = now_ns(s) + EXERCISE_DEADLINE_MS * 1000000u;
  pte_status status = pte_session_run(s->session, s->inputs, s->outputs, &options, &error);
  uint64_t end = now_ns(s);
  *out_ok = !failed(s->result, status, &error);
  if (*out_ok) s->result->stage = STAGE_RAN;
  return end > options.deadline_ns ? end - options.deadline_ns : 0;
}

/* Late is what is late each time: a virtual machine that its host stops for a while has the pause
 * counted as this thread's work. */
static bool run(subject *s) {
  bool ok;
  uint64_t least = run_late(s, &ok);
  for (unsigned again = 0; again < 4 && least > EXERCISE_SLACK_MS * 1000000u; again++) {
    uint64_t late = run_late(s, &ok);
    if (late < least) least = late;
  }
  if (least > EXERCISE_SLACK_MS * 1000000u)
    broken(s->result, "ran beyond its deadline each time, by ms", least / 1000000u);
  return ok;
}

/* A run from the initial states, prepared in memory that is full of `dirt`. */
static bool run_over(subject *s, int dirt) {
  pte_error error = {0};
  if (s->arena.size_bytes != 0) memset(s->arena.data, dirt, s->arena.size_bytes);
  if (failed(
          s->result,
          pte_session_prepare(s->session, s->options, s->arena, s->state, PTE_STATE_KEEP, &error),
          &error))
    return false;
  for (uint32_t i = 0; i < s->output_count; i++) memset(s->outputs[i], dirt, s->output_bytes[i]);
  if (failed(s->result, pte_session_reset(s->session, &error), &error)) return false;
  return run(s);
}

/* What a run gives follows from inputs, states and file: nothing else is in its outputs. */
static void run_twice(subject *s) {
  pte_extents e = {.size = sizeof e};
  if (!run_over(s, 0x5a)) return;
  for (uint32_t i = 0; i < s->output_count; i++)
    memcpy(s->before[i], s->outputs[i], s->output_bytes[i]);
  if (!run_over(s, 0xa5)) return;
  for (uint32_t i = 0; i < s->output_count; i++)
    if (pte_session_output(s->session, i, &e) == PTE_OK && e.size_bytes <= s->output_bytes[i] &&
        memcmp(s->before[i], s->outputs[i], (size_t)e.size_bytes) != 0)
      broken(s->result, "an output shows memory that the program did not write", i);
}

/* --- what is kept between runs: save, restore, rewind, fork, set_state ------------------------ */

static int64_t telling(subject *s) {
  static const int64_t numbers[] = {0,  1,  2,          7,         8,         15, 16, 17,       31,
                                    32, -1, 1000000007, INT64_MAX, INT64_MIN, 64, 63, INT32_MAX};
  uint64_t kind = draw(s, 24);
  return kind < 17 ? numbers[kind] : (int64_t)draw(s, 48);
}

/* A state becomes what it was, with one number anywhere. */
static void set_state(subject *s, uint32_t i) {
  pte_extents e = {.size = sizeof e};
  pte_error error = {0};
  if (pte_session_state(s->session, i, &e) != PTE_OK) {
    broken(s->result, "a state has no extents", i);
    return;
  }
  uint8_t *data = take(s->result, e.size_bytes, EXERCISE_CAP_BYTES);
  if (data == NULL) return;
  if (failed(s->result, pte_session_get_state(s->session, i, data, e.size_bytes, &error), &error))
    broken(s->result, "a state cannot be read", i);
  int64_t number = telling(s);
  if (e.size_bytes >= 8) memcpy(data + draw(s, e.size_bytes / 8) * 8, &number, 8);
  if (failed(s->result, pte_session_set_state(s->session, i, data, e.size_bytes, &error), &error))
    broken(s->result, "a state cannot be set", i);
  free(data);
}

/* In memory of exactly its size; NULL: it is more than the cap. */
static uint8_t *save(subject *s, pte_session *session, uint64_t *out_bytes) {
  pte_error error = {0};
  if (pte_session_save_size(session, out_bytes, &error) != PTE_OK) {
    broken(s->result, "a prepared session cannot be saved", 0);
    return NULL;
  }
  uint8_t *data = take(s->result, *out_bytes, EXERCISE_CAP_BYTES + 104);
  if (data != NULL && pte_session_save(session, data, (size_t)*out_bytes, &error) != PTE_OK)
    broken(s->result, "save refuses the room that it asked for", *out_bytes);
  return data;
}

static void restore(subject *s, pte_session *session, const uint8_t *saved, uint64_t bytes) {
  pte_error error = {0};
  if (pte_session_restore(session, saved, (size_t)bytes, &error) != PTE_OK)
    broken(s->result, error.text, 0); /* save gives what restore takes */
}

static void save_and_restore(subject *s, pte_session *twin) {
  uint64_t bytes = 0, again_bytes = 0;
  uint8_t *saved = save(s, s->session, &bytes), *again = NULL;
  if (saved != NULL) {
    restore(s, s->session, saved, bytes);
    if (twin != NULL) restore(s, twin, saved, bytes);
    again = save(s, twin == NULL ? s->session : twin, &again_bytes);
  }
  if (again != NULL && (again_bytes != bytes || memcmp(again, saved, (size_t)bytes) != 0))
    broken(s->result, "what was restored saves other bytes", bytes);
  free(again);
  free(saved);
}

/* Bytes of one who means harm: the head's numbers, or the states. */
static void restore_bent(subject *s) {
  enum { DIGEST = 72, BODY = 104 };
  uint64_t bytes = 0;
  uint8_t *saved = save(s, s->session, &bytes);
  pte_error error = {0};
  if (saved == NULL) return;
  for (uint64_t left = 1 + draw(s, 3); left > 0; left--) {
    int64_t number = telling(s);
    uint64_t at = draw(s, 4) != 0 ? 40 + 8 * draw(s, 4) : BODY + 8 * draw(s, (bytes - BODY) / 8);
    if (at + 8 <= bytes) memcpy(saved + at, &number, 8);
  }
  pte_blake2s hash;
  pte_blake2s_begin(&hash, 32);
  pte_blake2s_add(&hash, saved, DIGEST);
  pte_blake2s_add(&hash, saved + BODY, (size_t)(bytes - BODY));
  pte_blake2s_end(&hash, saved + DIGEST);
  (void)failed(s->result, pte_session_restore(s->session, saved, (size_t)bytes, &error), &error);
  free(saved);
}

static void go_back(subject *s) {
  int64_t position = 0, room = 0;
  pte_error error = {0};
  if (pte_session_position(s->session, &position, &room, &error) != PTE_OK) return;
  if (position < 0 || position > room) broken(s->result, "a position beyond the room", 0);
  int64_t to = draw(s, 2) ? (int64_t)draw(s, (uint64_t)position + 1) : telling(s);
  (void)failed(s->result, pte_session_rewind(s->session, to, &error), &error);
}

/* Calls in some order, each followed by saving; `twin` is a fork, or NULL. */
static void call_states(subject *s, pte_session *twin) {
  for (unsigned k = 0; k < 10 && s->result->broken[0] == 0; k++) {
    switch (draw(s, 6)) {
    case 0:
    case 1: set_state(s, (uint32_t)draw(s, s->state_count)); break;
    case 2: restore_bent(s); break;
    case 3: go_back(s); break;
    case 4: {
      bool ok;
      for (uint64_t left = draw(s, 3); s->runs && left > 0; left--) (void)run_late(s, &ok);
      break;
    }
    default: break;
    }
    save_and_restore(s, twin);
  }
}

/* A fork has memory of its own, all of it of exactly its size. */
static void exercise_states(subject *s, const pte_prepare_options *options,
                            const pte_sizes *sizes) {
  size_t size = 0;
  pte_session *twin = NULL;
  if (sizes->state_bytes > EXERCISE_STATE_BYTES) return;
  pte_error error = {0};
  if (pte_session_size(s->program, s->method, &size, &error) != PTE_OK) return;
  void *memory = take(s->result, size, UINT64_MAX);
  void *arena = take(s->result, sizes->arena_bytes, EXERCISE_CAP_BYTES);
  void *state = take(s->result, sizes->state_bytes, EXERCISE_CAP_BYTES);
  pte_memory a = {arena, (size_t)sizes->arena_bytes}, b = {state, (size_t)sizes->state_bytes};
  if (memory == NULL || arena == NULL || state == NULL ||
      pte_session_open(s->program, s->method, (pte_memory){memory, size}, &twin, &error) != PTE_OK)
    broken(s->result, "a second session does not open", size);
  else if (pte_session_prepare(twin, options, a, b, 0, &error) != PTE_OK)
    broken(s->result, "a second session cannot be prepared", size);
  else call_states(s, twin);
  if (twin != NULL) pte_session_close(twin);
  free(state);
  free(arena);
  free(memory);
}

/* --- a file that changes ---------------------------------------------------------------------- */

/* A pool of two that does everything itself. */
static void run_items(void *self, size_t count, size_t grain, pte_task task, void *context) {
  (void)self;
  size_t half = (count + 2 * grain - 1) / (2 * grain) * grain;
  for (uint32_t thread = 0; thread < 2 && thread * half < count; thread++) {
    task(context, thread * half, thread == 0 && half < count ? half : count, thread);
  }
}

enum { SHORT_NS = 1000000 };

/* Runs on over constants that changed after they were checked, short runs some times: a change is
 * to lie between two looks. Leaves the file as it was. */
static void run_changed(subject *s) {
  uint8_t *file = s->file->data, *kept = malloc(s->file->size);
  if (kept == NULL) return;
  memcpy(kept, file, s->file->size);
  fence_open(s->file);
  s->changing = true;
  for (uint64_t began = now_ns(s), k = 0; k < 8 && now_ns(s) - began < SHORT_NS; k++) {
    for (uint64_t left = draw(s, 2) ? draw(s, 16) : 0; left > 0; left--) change_constant(s);
    run(s);
    memcpy(file, kept, s->file->size);
  }
  s->changing = false;
  fence_shut(s->file);
  free(kept);
}

static void prepare_and_run(subject *s) {
  const pte_pool pool = {.size = sizeof pool, .threads = 2, .self = s, .run = run_items};
  const bool alone = !s->changes || draw(s, 2), portable = s->changes && draw(s, 2);
  pte_prepare_options options = {.size = sizeof options,
                                 .threads = alone ? 1 : 2,
                                 .pool = alone ? NULL : &pool,
                                 .cpu = portable ? PTE_CPU_PORTABLE : PTE_CPU_DETECT,
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
      s->arena = a, s->state = b, s->options = &options;
      s->runs = take_buffers(s);
      if (s->runs) run_twice(s);
      if (s->runs && s->changes) run_changed(s);
      if (s->state_count != 0) exercise_states(s, &options, &sizes);
    }
  }
  for (uint32_t i = 0; i < MAX_PORTS; i++) {
    fence_drop(&s->fences[i]);
    free(s->outputs[i]);
    free(s->before[i]);
    s->outputs[i] = s->before[i] = NULL;
  }
  free(arena);
  free(state);
}

/* FNV-1a of all bytes: what is drawn differs between files of one size. */
static uint64_t drawn_of(const uint8_t *bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

static void exercise_method(const pte_program *program, uint32_t method, const fence *file,
                            bool changes, exercise_result *out) {
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
  s.state_count = info.state_count;
  s.file = file;
  s.changes = changes;
  s.draw = drawn_of(file->data, file->size) + method;
  if (failed(out, pte_session_size(program, method, &size, &error), &error)) return;
  void *memory = take(out, size, 65536 + file->size * EXERCISE_CAP_TABLES);
  if (memory == NULL) return;
  if (!failed(out,
              pte_session_open(program, method, (pte_memory){memory, size}, &s.session, &error),
              &error))
    prepare_and_run(&s);
  free(memory);
}

static void open_and_run(const fence *file, int run_it, bool delegate, exercise_result *out) {
  const uint8_t *bytes = file->data;
  const size_t size = file->size;
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
      exercise_method(program, m, file, run_it > 1, out);
  }
  free(memory);
}

void exercise(const uint8_t *bytes, size_t size, int run_it, exercise_result *out) {
  memset(out, 0, sizeof *out);
  fence file = fence_take(size);
  if (size != 0) memcpy(file.data, bytes, size);
  fence_shut(&file);
  open_and_run(&file, run_it, false, out);
  if (run_it && out->stage != STAGE_REFUSED) open_and_run(&file, run_it, true, out);
  fence_drop(&file);
}

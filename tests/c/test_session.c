/* Sessions from bytes to results: memory in two steps, shapes, control flow, states, delegates,
 * caps, threads. */
// sources: library
// samples: yes
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"
#include "core/fp.h"
#include "pteron/delegate.h"
#include "pteron/host.h"
#include "pteron/pteron.h"
#include "stage.h"

static stage open_and_prepare(const char *name, const char *method, const int64_t *const *shapes) {
  stage s = open_stage(name, method, false);
  pte_prepare_options options = shapes_of(shapes);
  pte_status status = prepare(&s, &options);
  if (status != PTE_OK) printf("%s: %s\n", name, s.error.text);
  CHECK_EQUAL(status, PTE_OK);
  return s;
}

/* --- the control word ---------------------------------------------------------------------- */

/* A caller's thread that flushes subnormals and rounds up. */
static void run_flushing(void *self, size_t count, size_t grain, pte_task task, void *context) {
  pte_fp_word before = pte_fp_get();
#if defined(__x86_64__)
  pte_fp_set(PTE_FP_DEFAULT | 0x8040u | 0x4000u);
#elif defined(__aarch64__)
  pte_fp_set(1u << 24 | 1u << 22);
#endif
  pte_fp_word mine = pte_fp_get();
  for (size_t at = 0; at < count; at += grain)
    task(context, at, at + grain < count ? at + grain : count, 1);
  CHECK_EQUAL(pte_fp_get(), mine); /* a task gives it back */
  pte_fp_set(before);
  ++*(int *)self;
}

static void threads_of_the_caller_change_no_bits(void) {
  const int64_t shape[] = {64, 2048}, *const shapes[] = {shape};
  const size_t count = 64 * 2048;
  float *x = sample_memory(count * 4), *y = sample_memory(count * 4);
  for (size_t i = 0; i < count; i++) x[i] = 1e-40f;
  int runs = 0;
  const pte_pool pool = {sizeof pool, 2, &runs, run_flushing};
  stage s = open_stage("wide", NULL, false);
  pte_prepare_options options = shapes_of(shapes);
  options.threads = 2;
  options.pool = &pool;
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  const void *in[] = {x};
  void *out[] = {y};
  CHECK_EQUAL(pte_session_run(s.session, in, out, NULL, &s.error), PTE_OK);
  CHECK(runs > 0);
  for (size_t i = 0; i < count && failures == 0; i++) CHECK(y[i] == x[i] + x[i] && y[i] > 0);
  free(x);
  free(y);
  close_stage(&s);
}

/* --- memory --------------------------------------------------------------------------------- */

static void memory_grows_from_nothing_until_a_session_opens(void) {
  stage s = open_stage("control", NULL, false);
  size_t needed = 0;
  CHECK_EQUAL(pte_session_size(s.program, 0, &needed, &s.error), PTE_OK);
  char text[32];
  snprintf(text, sizeof text, "%zu", needed);
  for (size_t size = 0; size <= needed; size += size + 8 < needed ? 7 : 1) {
    void *memory = sample_memory(size);
    pte_session *session = NULL;
    pte_status status =
        pte_session_open(s.program, 0, (pte_memory){memory, size}, &session, &s.error);
    CHECK_EQUAL(status, size < needed ? PTE_NO_MEMORY : PTE_OK);
    if (status != PTE_OK) CHECK_TEXT(s.error.text, text);
    CHECK((session == NULL) == (status != PTE_OK));
    free(memory);
  }
  close_stage(&s);
}

static void memory_grows_from_nothing_until_it_is_prepared(void) {
  stage s = open_stage("state", "step", false);
  pte_prepare_options options = shapes_of(NULL);
  CHECK_EQUAL(pte_prepare_size(s.session, &options, &s.sizes, &s.error), PTE_OK);
  size_t arena = (size_t)s.sizes.arena_bytes, state = (size_t)s.sizes.state_bytes;
  CHECK(state >= 2 * 8 * 4 * 4);
  for (size_t size = 0; size <= state; size++) {
    void *a = sample_memory(arena), *b = sample_memory(size);
    pte_status status = pte_session_prepare(s.session, &options, (pte_memory){a, arena},
                                            (pte_memory){b, size}, PTE_STATE_KEEP, &s.error);
    CHECK_EQUAL(status, size < state ? PTE_NO_MEMORY : PTE_OK);
    pte_extents extents = {.size = sizeof extents};
    CHECK_EQUAL(pte_session_output(s.session, 0, &extents),
                status == PTE_OK ? PTE_OK : PTE_BAD_ARGUMENT);
    free(a);
    free(b);
  }
  close_stage(&s);
}

static void a_program_needs_its_arena_to_the_last_byte(void) {
  const int64_t shape[] = {8, 3}, *shapes[] = {shape};
  stage s = open_stage("pointwise", NULL, false);
  pte_prepare_options options = shapes_of(shapes);
  CHECK_EQUAL(pte_prepare_size(s.session, &options, &s.sizes, &s.error), PTE_OK);
  size_t needed = (size_t)s.sizes.arena_bytes;
  CHECK_EQUAL(s.sizes.arena_bytes,
              s.sizes.planned_bytes + s.sizes.scratch_bytes + s.sizes.kept_bytes);
  void *memory = sample_memory(needed);
  CHECK_EQUAL(pte_session_prepare(s.session, &options, (pte_memory){memory, needed - 1},
                                  (pte_memory){NULL, 0}, 0, &s.error),
              PTE_NO_MEMORY);
  CHECK_TEXT(s.error.text, "needs");
  CHECK_EQUAL(pte_session_run(s.session, NULL, NULL, NULL, &s.error), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "not prepared");
  free(memory);
  close_stage(&s);
}

static void a_cap_on_memory_is_a_limit(void) {
  const int64_t shape[] = {64, 3}, *shapes[] = {shape};
  stage s = open_stage("pointwise", NULL, false);
  pte_prepare_options options = shapes_of(shapes);
  options.max_bytes = 100;
  CHECK_EQUAL(pte_prepare_size(s.session, &options, &s.sizes, &s.error), PTE_LIMIT);
  CHECK_TEXT(s.error.text, "max_bytes is 100");
  close_stage(&s);
}

/* --- shapes --------------------------------------------------------------------------------- */

static void a_wrong_shape_names_input_axis_and_symbol(void) {
  const int64_t large[] = {1000, 3}, wrong[] = {4, 5}, *a[] = {large}, *b[] = {wrong};
  stage s = open_stage("pointwise", NULL, false);
  pte_prepare_options options = shapes_of(a);
  CHECK_EQUAL(prepare(&s, &options), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "input x axis 0 (n)");
  CHECK_TEXT(s.error.text, "got 1000");
  options = shapes_of(b);
  CHECK_EQUAL(prepare(&s, &options), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "input x axis 1: expected 3, got 5");
  options = shapes_of(NULL);
  CHECK_EQUAL(prepare(&s, &options), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "n");
  close_stage(&s);
}

static void results_are_right_for_every_size(void) {
  float x[64 * 3], y[64 * 3];
  stage s = open_stage("pointwise", NULL, false);
  for (int i = 0; i < 64 * 3; i++) x[i] = (float)i / 100.0f - 0.5f;
  for (int64_t n = 1; n <= 64; n += 9) {
    const int64_t shape[] = {n, 3}, *shapes[] = {shape};
    pte_prepare_options options = shapes_of(shapes);
    CHECK_EQUAL(prepare(&s, &options), PTE_OK);
    const void *inputs[] = {x};
    void *outputs[] = {y};
    CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_OK);
    for (int i = 0; i < n * 3; i++)
      CHECK(fabsf(y[i] - tanhf(x[i] + 0.5f * (float)(1 + i % 3))) < 1e-6f);
  }
  close_stage(&s);
}

static void buffers_are_checked(void) {
  const int64_t shape[] = {2, 3}, *shapes[] = {shape};
  _Alignas(16) char room[64];
  stage s = open_and_prepare("pointwise", NULL, shapes);
  const void *inputs[] = {NULL};
  void *outputs[] = {room};
  CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_BAD_ARGUMENT);
  inputs[0] = room + 1;
  CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "aligned to 4");
  inputs[0] = room + 8;
  CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "overlaps");
  close_stage(&s);
}

static void shape_inputs_and_counted_dimensions(void) {
  const int64_t x_shape[] = {2, 4}, one[] = {1}, *shapes[] = {x_shape, one};
  const int64_t k[] = {3}, *values[] = {NULL, k};
  float x[] = {0, 1, 0, 2, 3, 0, 0, 0}, wide[12];
  int64_t found[16], size[3], want[] = {0, 0, 1, 1, 3, 0};
  stage s = open_stage("counted", NULL, false);
  pte_prepare_options options = shapes_of(shapes);
  CHECK_EQUAL(prepare(&s, &options), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "input shape decides k");
  options.values = values;
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  pte_extents extents = {.size = sizeof extents};
  CHECK_EQUAL(pte_session_output(s.session, 0, &extents), PTE_OK);
  CHECK_EQUAL(extents.shape[1], 8);
  CHECK_EQUAL(extents.size_bytes, 2 * 8 * 8);
  const void *inputs[] = {x, k};
  void *outputs[] = {found, size, wide};
  for (int round = 0; round < 3; round++) {
    CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_OK);
    CHECK_EQUAL(pte_session_output(s.session, 0, &extents), PTE_OK);
    CHECK_EQUAL(extents.shape[1], 3);
    CHECK(memcmp(found, want, 3 * 8) == 0 && found[3] == 1 && found[4] == 3 && found[5] == 0);
    CHECK(size[0] == 4 && size[1] == 3 && size[2] == 9);
    CHECK(memcmp(wide + 8, x, 16) == 0);
  }
  const int64_t other[] = {2};
  inputs[1] = other;
  CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_BAD_ARGUMENT);
  CHECK_TEXT(s.error.text, "prepared for 3, got 2");
  close_stage(&s);
}

/* --- control flow and caps ------------------------------------------------------------------ */

typedef struct control {
  float x[4], y[4];
  bool which, always;
  int64_t trips;
  const void *inputs[4];
  void *outputs[1];
} control;

static void fill_control(control *c, bool which, int64_t trips) {
  *c = (control){
      .x = {0.5f, -1, 0.25f, 2},
        .which = which, .always = true, .trips = trips
  };
  c->inputs[0] = c->x;
  c->inputs[1] = &c->which;
  c->inputs[2] = &c->trips;
  c->inputs[3] = &c->always;
  c->outputs[0] = c->y;
}

static void branches_loops_and_calls_compute(void) {
  stage s = open_and_prepare("control", NULL, NULL);
  for (int64_t trips = 0; trips < 4; trips++) {
    for (int which = 0; which < 2; which++) {
      control c;
      fill_control(&c, which == 1, trips);
      CHECK_EQUAL(pte_session_run(s.session, c.inputs, c.outputs, NULL, &s.error), PTE_OK);
      float sign = which == 1 && trips % 2 == 1 ? -1.0f : 1.0f;
      for (int i = 0; i < 4; i++) CHECK(fabsf(c.y[i] / expf(expf(sign * c.x[i])) - 1) < 1e-5f);
    }
  }
  close_stage(&s);
}

static void caps_end_a_run(void) {
  stage s = open_and_prepare("control", NULL, NULL);
  control c;
  fill_control(&c, true, 1000);
  pte_run_options options = {.size = sizeof options, .max_iterations = 10};
  CHECK_EQUAL(pte_session_run(s.session, c.inputs, c.outputs, &options, &s.error), PTE_LIMIT);
  CHECK_TEXT(s.error.text, "max_iterations");
  options = (pte_run_options){.size = sizeof options, .max_instructions = 50};
  CHECK_EQUAL(pte_session_run(s.session, c.inputs, c.outputs, &options, &s.error), PTE_LIMIT);
  CHECK_TEXT(s.error.text, "max_instructions");
  CHECK(s.error.instr != PTE_NONE);
  fill_control(&c, true, 3);
  CHECK_EQUAL(pte_session_run(s.session, c.inputs, c.outputs, &options, &s.error), PTE_OK);
  close_stage(&s);
}

static uint64_t tick(void *self) { return ++*(uint64_t *)self; }

static void cancel_and_deadline_end_a_run(void) {
  stage s = open_and_prepare("control", NULL, NULL);
  control c;
  fill_control(&c, true, INT64_MAX);
  volatile int cancel = 1;
  uint64_t clock = 0;
  pte_run_options options = {.size = sizeof options, .cancel = &cancel};
  CHECK_EQUAL(pte_session_run(s.session, c.inputs, c.outputs, &options, &s.error), PTE_CANCELLED);
  options = (pte_run_options){
      .size = sizeof options, .deadline_ns = 1000, .now = tick, .now_self = &clock};
  CHECK_EQUAL(pte_session_run(s.session, c.inputs, c.outputs, &options, &s.error), PTE_DEADLINE);
  CHECK_EQUAL(clock, 1000);
  options.now = NULL;
  CHECK_EQUAL(pte_session_run(s.session, c.inputs, c.outputs, &options, &s.error),
              PTE_BAD_ARGUMENT);
  close_stage(&s);
}

static void count_event(void *self, uint32_t instr, uint32_t op, uint32_t node, uint64_t begin,
                        uint64_t end) {
  (void)instr, (void)op, (void)node;
  CHECK(begin < end);
  ++*(uint64_t *)self;
}

static void the_tracer_sees_every_instruction(void) {
  stage s = open_and_prepare("control", NULL, NULL);
  control c;
  uint64_t events = 0;
  fill_control(&c, true, 5);
  pte_tracer tracer = {.size = sizeof tracer, .self = &events, .now = tick, .event = count_event};
  pte_run_options options = {.size = sizeof options, .tracer = &tracer};
  CHECK_EQUAL(pte_session_run(s.session, c.inputs, c.outputs, &options, &s.error), PTE_OK);
  /* if, loop, 5 x (copy, pointwise), 2 x (call, pointwise); the clock shares the counter: three
   * ticks each */
  CHECK_EQUAL(events, 3 * (1 + 1 + 10 + 4));
  close_stage(&s);
}

/* --- states --------------------------------------------------------------------------------- */

static void step(stage *s, float value, int64_t at, float *y) {
  float update[8];
  int64_t where[] = {at, at};
  for (int i = 0; i < 8; i++) update[i] = value;
  const void *inputs[] = {update, where};
  void *outputs[] = {y};
  CHECK_EQUAL(pte_session_run(s->session, inputs, outputs, NULL, &s->error), PTE_OK);
}

static void states_survive_runs_and_prepares(void) {
  stage s = open_and_prepare("state", "step", NULL);
  float y[64], got[64];
  pte_extents extents = {.size = sizeof extents};
  step(&s, 5, 0, y);
  CHECK(y[0] == 5 && y[4] == 1 && y[32] == 5);
  pte_prepare_options options = shapes_of(NULL);
  options.threads = 3;
  CHECK_EQUAL(prepare(&s, &options), PTE_OK);
  step(&s, 7, 9, y); /* circular: 9 mod 8 */
  CHECK(y[0] == 5 && y[4] == 7 && y[8] == 1);
  CHECK_EQUAL(pte_session_state(s.session, 0, &extents), PTE_OK);
  CHECK_EQUAL(extents.size_bytes, sizeof got);
  CHECK_EQUAL(pte_session_get_state(s.session, 0, got, sizeof got, &s.error), PTE_OK);
  CHECK(memcmp(got, y, sizeof got) == 0);
  CHECK_EQUAL(pte_session_get_state(s.session, 0, got, 4, &s.error), PTE_BAD_ARGUMENT);
  got[63] = 42;
  CHECK_EQUAL(pte_session_set_state(s.session, 0, got, sizeof got, &s.error), PTE_OK);
  step(&s, 1, 0, y);
  CHECK(y[63] == 42);
  CHECK_EQUAL(pte_session_reset(s.session, &s.error), PTE_OK);
  step(&s, 1, 0, y);
  CHECK(y[63] == 1 && y[4] == 1);
  CHECK_EQUAL(pte_session_set_state(s.session, 1, got, sizeof got, &s.error), PTE_BAD_ARGUMENT);
  close_stage(&s);
}

static void another_method_adopts_the_states(void) {
  const int64_t shape[] = {3}, *shapes[] = {shape};
  stage a = open_and_prepare("state", "step", NULL), b = open_stage("state", "peek", false);
  float y[64], x[3] = {0}, seen[64];
  step(&a, 9, 2, y);
  pte_prepare_options options = shapes_of(shapes);
  CHECK_EQUAL(pte_prepare_size(b.session, &options, &b.sizes, &b.error), PTE_OK);
  CHECK_EQUAL(a.sizes.state_bytes, b.sizes.state_bytes);
  b.arena = sample_memory((size_t)b.sizes.arena_bytes);
  CHECK_EQUAL(pte_session_prepare(
                  b.session, &options, (pte_memory){b.arena, (size_t)b.sizes.arena_bytes},
                  (pte_memory){a.state, (size_t)a.sizes.state_bytes}, PTE_STATE_ADOPT, &b.error),
              PTE_OK);
  const void *inputs[] = {x};
  void *outputs[] = {seen};
  CHECK_EQUAL(pte_session_run(b.session, inputs, outputs, NULL, &b.error), PTE_OK);
  CHECK(memcmp(seen, y, sizeof y) == 0 && seen[8] == 9);
  close_stage(&b);
  close_stage(&a);
}

/* --- delegates ------------------------------------------------------------------------------ */

static void run_delegated(stage *s, bool placed) {
  pte_prepare_options options = shapes_of(NULL);
  pte_placement placement = {.size = sizeof placement};
  float x[] = {1, 2, 3, 4}, y[4] = {0};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  CHECK_EQUAL(prepare(s, &options), PTE_OK);
  CHECK_EQUAL(pte_session_run(s->session, inputs, outputs, NULL, &s->error), PTE_OK);
  CHECK(memcmp(x, y, sizeof x) == 0);
  CHECK_EQUAL(pte_session_placement(s->session, 0, &placement), PTE_OK);
  CHECK(strcmp(placement.target, "null-1") == 0);
  CHECK_EQUAL(placement.placed, placed);
  CHECK_EQUAL(placement.used, 1);
  CHECK_EQUAL(pte_session_placement(s->session, 1, &placement), PTE_BAD_ARGUMENT);
}

static void a_permitted_delegate_runs_its_part(void) {
  stage s = open_stage("delegated", NULL, true);
  run_delegated(&s, true);
  close_stage(&s);
}

static void without_it_the_fallback_runs(void) {
  stage s = open_stage("delegated", NULL, false);
  run_delegated(&s, false);
  close_stage(&s);
}

/* --- threads -------------------------------------------------------------------------------- */

static void *run_many(void *argument) {
  stage *s = argument;
  for (int i = 0; i < 200; i++) {
    control c;
    fill_control(&c, i % 2 == 0, i % 5);
    pte_status status = pte_session_run(s->session, c.inputs, c.outputs, NULL, &s->error);
    if (status != PTE_OK ||
        fabsf(c.y[0] - expf(expf(i % 2 == 0 && i % 5 % 2 == 1 ? -0.5f : 0.5f))) > 1e-4f)
      return s;
  }
  return NULL;
}

static void two_sessions_of_one_program_run_at_once(void) {
  stage a = open_and_prepare("control", NULL, NULL), b = a;
  size_t bytes = 0;
  b.arena = NULL;
  b.state = NULL;
  CHECK_EQUAL(pte_session_size(a.program, 0, &bytes, &a.error), PTE_OK);
  b.session_memory = sample_memory(bytes);
  CHECK_EQUAL(
      pte_session_open(a.program, 0, (pte_memory){b.session_memory, bytes}, &b.session, &b.error),
      PTE_OK);
  pte_prepare_options options = shapes_of(NULL);
  CHECK_EQUAL(prepare(&b, &options), PTE_OK);
  pthread_t other;
  void *wrong = NULL;
  CHECK_EQUAL(pthread_create(&other, NULL, run_many, &b), 0);
  CHECK(run_many(&a) == NULL);
  pthread_join(other, &wrong);
  CHECK(wrong == NULL);
  free(b.arena);
  free(b.state);
  free(b.session_memory);
  close_stage(&a);
}

static void a_model_opens_prepares_and_runs(void) {
  const int64_t shape[] = {5, 3}, *shapes[] = {shape};
  pte_host_options options = {.size = sizeof options, .threads = 2};
  pte_host_model *model = NULL;
  pte_error error;
  float x[15] = {0}, y[15];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  CHECK_EQUAL(pte_host_model_open("build/samples/pointwise.pte", &options, &model, &error), PTE_OK);
  CHECK_EQUAL(pte_host_model_run(model, inputs, outputs, NULL, &error), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_host_model_prepare(model, shapes, NULL, NULL, &error), PTE_OK);
  CHECK_EQUAL(pte_host_model_run(model, inputs, outputs, NULL, &error), PTE_OK);
  CHECK(fabsf(y[0] - tanhf(0.5f)) < 1e-6f);
  pte_host_model_close(model);
  CHECK_EQUAL(pte_host_model_open("build/samples/none.pte", &options, &model, &error), PTE_IO);
  CHECK_TEXT(error.text, "none.pte");
  CHECK_EQUAL(pte_host_model_open("tests/c/check.h", &options, &model, &error), PTE_BAD_PROGRAM);
}

static void the_callers_rounding_changes_no_bits_and_comes_back(void) {
#if defined(__x86_64__)
  const pte_fp_word flush = 0x8040 | 0x6000, fields = 0xFFC0; /* flush to zero, round to zero */
#elif defined(__aarch64__)
  const pte_fp_word flush = 3u << 22 | 1u << 24, fields = flush;
#else
  const pte_fp_word flush = 0, fields = 0;
#endif
  const int64_t shape[] = {1, 3}, *shapes[] = {shape};
  stage s = open_and_prepare("pointwise", NULL, shapes);
  float x[3] = {-0.5f + 1e-7f, 0.3333333f, 1e-39f}, usual[3], flushed[3];
  const void *inputs[] = {x};
  void *outputs[] = {usual};
  CHECK_EQUAL(pte_session_run(s.session, inputs, outputs, NULL, &s.error), PTE_OK);
  pte_fp_word before = pte_fp_get();
  pte_fp_set(before | flush);
  outputs[0] = flushed;
  pte_status status = pte_session_run(s.session, inputs, outputs, NULL, &s.error);
  pte_fp_word after = pte_fp_get();
  pte_fp_set(before);
  CHECK_EQUAL(status, PTE_OK);
  CHECK_EQUAL(after & fields, (before | flush) & fields);
  CHECK(memcmp(usual, flushed, sizeof usual) == 0);
  close_stage(&s);
}

int main(void) {
  threads_of_the_caller_change_no_bits();
  the_callers_rounding_changes_no_bits_and_comes_back();
  memory_grows_from_nothing_until_a_session_opens();
  memory_grows_from_nothing_until_it_is_prepared();
  a_program_needs_its_arena_to_the_last_byte();
  a_cap_on_memory_is_a_limit();
  a_wrong_shape_names_input_axis_and_symbol();
  results_are_right_for_every_size();
  buffers_are_checked();
  shape_inputs_and_counted_dimensions();
  branches_loops_and_calls_compute();
  caps_end_a_run();
  cancel_and_deadline_end_a_run();
  the_tracer_sees_every_instruction();
  states_survive_runs_and_prepares();
  another_method_adopts_the_states();
  a_permitted_delegate_runs_its_part();
  without_it_the_fallback_runs();
  two_sessions_of_one_program_run_at_once();
  a_model_opens_prepares_and_runs();
  return check_done();
}

/* Delegates that are absent, refuse or fail: the fallback gives the same bytes where it may. */
// sources: library
// samples: yes
#include <stdbool.h>

#include "check.h"
#include "pteron/delegate.h"
#include "pteron/host.h"
#include "sample.h"

/* The null delegate, failing where it is told to. */
typedef struct script {
  const char *refuses;          /* the word for `accepts`, or NULL */
  int size, open, prepare, run; /* 1: fails */
  int waits;                    /* 1: until the run is to end */
  size_t bytes;                 /* of an instance; 0: 100 */
  int sized, opened, prepared, closed, runs;
} script;

static script told;

static void say(pte_error *error, const char *text) {
  snprintf(error->text, sizeof error->text, "%s", text);
}

static int accepts(void *self, const char *target, pte_error *error) {
  (void)self, (void)target;
  if (told.refuses != NULL) say(error, told.refuses);
  return told.refuses == NULL;
}

static pte_status instance_size(void *self, const char *target, const void *blob, size_t bytes,
                                size_t *out, pte_error *error) {
  (void)self, (void)target, (void)blob, (void)bytes;
  *out = told.bytes == 0 ? 100 : told.bytes;
  told.sized++;
  say(error, "size said no");
  return told.size ? PTE_DELEGATE : PTE_OK;
}

static pte_status open_one(void *self, const char *target, const void *blob, size_t bytes,
                           pte_memory memory, void **out, pte_error *error) {
  (void)self, (void)target, (void)blob, (void)bytes;
  *out = memory.data;
  say(error, "open said no");
  if (told.open) return PTE_DELEGATE;
  told.opened++;
  return PTE_OK;
}

static pte_status prepare(void *instance, const pte_delegate_io *io, uint64_t *out_scratch,
                          pte_error *error) {
  (void)instance, (void)io, (void)error;
  *out_scratch = 1 << 20;
  told.prepared++;
  return told.prepare ? PTE_DELEGATE : PTE_OK;
}

/* Waits for the end of the run, if it is told to: a delegate that would never come back. */
static pte_status run(void *instance, const pte_delegate_io *io, void *scratch,
                      const pte_delegate_until *until, pte_error *error) {
  (void)instance, (void)scratch;
  told.runs++;
  while (told.waits && pte_delegate_left_ns(until) > 0) continue;
  if (told.waits) return PTE_DELEGATE;
  if (told.run) {
    memset(io->outputs[0].data, 0x55, 3); /* half written */
    say(error, "the process is gone");
    return PTE_IO;
  }
  memcpy(io->outputs[0].data, io->inputs[0].data, (size_t)io->outputs[0].size_bytes);
  return PTE_OK;
}

static void close_one(void *instance) {
  (void)instance;
  told.closed++;
}

static const pte_delegate_api api = {sizeof(pte_delegate_api),
                                     PTE_DELEGATE_VERSION,
                                     "null",
                                     NULL,
                                     accepts,
                                     instance_size,
                                     open_one,
                                     prepare,
                                     run,
                                     close_one};
static const pte_delegate_api *const permitted[] = {&api};

static pte_host_model *open_model(const char *name, bool permit, pte_error *error) {
  pte_host_options options = {.size = sizeof options,
                              .threads = 1,
                              .delegate_count = permit ? 1 : 0,
                              .delegates = permitted};
  char path[64];
  pte_host_model *model = NULL;
  snprintf(path, sizeof path, "build/samples/%s.pte", name);
  pte_status status = pte_host_model_open(path, &options, &model, error);
  CHECK_EQUAL(status, model == NULL ? PTE_DELEGATE : PTE_OK);
  return model;
}

static pte_sizes prepare_model(pte_host_model *model) {
  static const int64_t shape[] = {4};
  const int64_t *shapes[] = {shape};
  pte_sizes sizes = {.size = sizeof sizes};
  pte_error error = {0};
  CHECK_EQUAL(pte_host_model_prepare(model, shapes, NULL, &sizes, &error), PTE_OK);
  return sizes;
}

static pte_status run_model(pte_host_model *model, pte_error *error) {
  float x[] = {1, 2, 3, 4}, y[4] = {0};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  pte_status status = pte_host_model_run(model, inputs, outputs, NULL, error);
  CHECK_EQUAL(memcmp(x, y, sizeof x) == 0, status == PTE_OK);
  return status;
}

static pte_placement placement_of(pte_host_model *model) {
  pte_placement placement = {.size = sizeof placement};
  CHECK_EQUAL(pte_session_placement(pte_host_model_session(model), 0, &placement), PTE_OK);
  return placement;
}

/* Opens, runs twice on the fallback, says why; whatever was opened is closed once. */
static void falls_back(bool permit, const char *because) {
  pte_error error = {0};
  pte_host_model *model = open_model("delegated", permit, &error);
  prepare_model(model);
  CHECK_EQUAL(run_model(model, &error), PTE_OK);
  CHECK_EQUAL(run_model(model, &error), PTE_OK);
  CHECK_EQUAL(placement_of(model).placed, 0);
  CHECK_TEXT(placement_of(model).reason, because);
  CHECK_TEXT(placement_of(model).reason, "delegate null (null-1)");
  pte_host_model_close(model);
  CHECK_EQUAL(told.opened, told.closed);
}

static void whatever_fails_the_fallback_runs(void) {
  told = (script){0};
  falls_back(false, "not in this build or not permitted");
  told = (script){.refuses = "install it first"};
  falls_back(true, "did not open: install it first");
  told = (script){.size = 1};
  falls_back(true, "did not open: size said no");
  told = (script){.bytes = SIZE_MAX};
  falls_back(true, "did not open: it asks for more memory than there is");
  told = (script){.open = 1};
  falls_back(true, "did not open: open said no");
  CHECK_EQUAL(told.opened, 0);
  told = (script){.prepare = 1};
  falls_back(true, "cannot prepare: it gives no reason");
  CHECK_EQUAL(told.opened, 1);
  told = (script){.run = 1};
  falls_back(true, "failed: the process is gone");
  CHECK_EQUAL(told.runs, 1);
}

/* Asking for sizes and preparing for them is one look at every instruction. */
static void what_was_measured_is_not_measured_again(void) {
  pte_error error = {0};
  told = (script){0};
  pte_host_model *model = open_model("delegated", true, &error);
  pte_sizes before = prepare_model(model);
  CHECK_EQUAL(told.prepared, 1);
  CHECK_EQUAL(run_model(model, &error), PTE_OK);
  CHECK_EQUAL(prepare_model(model).scratch_bytes, before.scratch_bytes);
  CHECK_EQUAL(told.prepared, 1);
  CHECK_EQUAL(run_model(model, &error), PTE_OK);
  pte_session *s = pte_host_model_session(model);
  pte_prepare_options options = {.size = sizeof options, .threads = 3};
  static const int64_t shape[] = {4};
  const int64_t *shapes[] = {shape};
  options.shapes = shapes;
  CHECK_EQUAL(pte_prepare_size(s, &options, &before, &error), PTE_OK);
  CHECK_EQUAL(told.prepared, 2); /* scratch is for so many threads */
  pte_host_model_close(model);
}

static void a_delegate_that_dies_later_leaves_the_session_usable(void) {
  pte_error error = {0};
  told = (script){0};
  pte_host_model *model = open_model("delegated", true, &error);
  prepare_model(model);
  CHECK_EQUAL(run_model(model, &error), PTE_OK);
  CHECK_EQUAL(placement_of(model).placed, 1);
  CHECK_EQUAL(placement_of(model).reason[0], 0);
  told.run = 1;
  CHECK_EQUAL(run_model(model, &error), PTE_OK);
  CHECK_EQUAL(placement_of(model).placed, 0);
  CHECK_EQUAL(told.closed, 1);
  told.run = 0;
  prepare_model(model); /* shapes again: it stays closed */
  CHECK_EQUAL(run_model(model, &error), PTE_OK);
  CHECK_EQUAL(told.runs, 2);
  pte_host_model_close(model);
  CHECK_EQUAL(told.closed, 1);
}

static void scratch_is_for_the_delegate_only_where_it_is_placed(void) {
  pte_error error = {0};
  told = (script){0};
  pte_host_model *placed = open_model("delegated", true, &error);
  CHECK_EQUAL(prepare_model(placed).scratch_bytes, 1 << 20);
  pte_host_model_close(placed);
  told = (script){.prepare = 1};
  pte_host_model *fallen = open_model("delegated", true, &error);
  CHECK_EQUAL(prepare_model(fallen).scratch_bytes, 0);
  pte_host_model_close(fallen);
}

static void where_the_policy_forbids_it_the_error_names_delegate_target_and_words(void) {
  pte_error error = {0};
  told = (script){0};
  CHECK(open_model("delegated_only", false, &error) == NULL);
  CHECK_TEXT(error.text, "delegate null (null-1) did not open: it is not in this build");
  told.open = 1;
  CHECK(open_model("delegated_only", true, &error) == NULL);
  CHECK_TEXT(error.text, "open said no");
  told = (script){.prepare = 1};
  pte_host_model *model = open_model("delegated_only", true, &error);
  static const int64_t shape[] = {4};
  const int64_t *shapes[] = {shape};
  error = (pte_error){.instr = 7, .op = 7, .node = 7};
  CHECK_EQUAL(pte_host_model_prepare(model, shapes, NULL, NULL, &error), PTE_DELEGATE);
  CHECK_TEXT(error.text, "delegate null (null-1) cannot prepare");
  CHECK(error.instr == 0 && error.op != 7 && error.node == UINT32_MAX);
  pte_host_model_close(model);
  told = (script){.run = 1};
  model = open_model("delegated_only", true, &error);
  prepare_model(model);
  CHECK_EQUAL(run_model(model, &error), PTE_DELEGATE);
  CHECK_TEXT(error.text, "delegate null (null-1) failed: the process is gone");
  CHECK_EQUAL(error.instr, 0);
  told.run = 0; /* it came back: nothing was closed */
  CHECK_EQUAL(run_model(model, &error), PTE_OK);
  pte_host_model_close(model);
  CHECK_EQUAL(told.closed, 1);
}

/* A file whose blob has changed since it was written. */
static void a_changed_blob_is_not_given_to_the_delegate(void) {
  sample file = sample_read("build/samples/delegated.pte");
  pte_error error = {0};
  for (size_t i = 0; i + 8 < file.size; i++)
    if (memcmp(file.bytes + i, "blobblob", 8) == 0) {
      file.bytes[i] ^= 1;
      break;
    }
  FILE *changed = fopen("build/samples/changed_blob.pte", "wb");
  CHECK(changed != NULL && fwrite(file.bytes, 1, file.size, changed) == file.size);
  if (changed != NULL) fclose(changed);
  free(file.bytes);
  told = (script){0};
  pte_host_model *model = open_model("changed_blob", true, &error);
  CHECK_TEXT(placement_of(model).reason, "bytes have changed");
  CHECK_EQUAL(told.sized + told.opened, 0);
  pte_host_model_close(model);
  remove("build/samples/changed_blob.pte");
}

static uint64_t tick(void *self) { return ++*(uint64_t *)self; }

static void a_delegate_that_the_deadline_or_a_cancel_ends_is_not_given_up(void) {
  pte_error error = {0};
  uint64_t clock = 0;
  volatile int cancel = 0;
  told = (script){.waits = 1};
  pte_host_model *model = open_model("delegated", true, &error);
  prepare_model(model);
  float x[4] = {1, 2, 3, 4}, y[4];
  const void *inputs[] = {x};
  void *outputs[] = {y};
  pte_run_options options = {
      .size = sizeof options, .deadline_ns = 1000, .now = tick, .now_self = &clock};
  CHECK_EQUAL(pte_host_model_run(model, inputs, outputs, &options, &error), PTE_DEADLINE);
  CHECK_TEXT(error.text, "op 0 (delegate): the deadline has passed");
  CHECK(clock >= 1000);
  options.deadline_ns = 0;
  options.cancel = &cancel;
  told.waits = 0;
  CHECK_EQUAL(pte_host_model_run(model, inputs, outputs, &options, &error), PTE_OK);
  CHECK_EQUAL(told.runs, 2);
  CHECK_EQUAL(told.closed, 0);
  pte_host_model_close(model);
}

int main(void) {
  whatever_fails_the_fallback_runs();
  what_was_measured_is_not_measured_again();
  a_delegate_that_dies_later_leaves_the_session_usable();
  scratch_is_for_the_delegate_only_where_it_is_placed();
  where_the_policy_forbids_it_the_error_names_delegate_target_and_words();
  a_changed_blob_is_not_given_to_the_delegate();
  a_delegate_that_the_deadline_or_a_cancel_ends_is_not_given_up();
  return check_done();
}

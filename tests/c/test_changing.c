/* Memory that somebody changes while it is read: indices of kernels, and the file of a program. */
// samples: yes
// sources: library
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"
#include "core/kernel.h"
#include "gen/ops.h"
#include "pteron/host.h"
#include "pteron/types.h"
#include "sample.h"

enum { COUNT = 4096, RUNS = 300 };

/* --- indices --------------------------------------------------------------------------------- */

typedef struct writer {
  volatile int64_t *at;
  int64_t good, bad;
  atomic_bool stop;
} writer;

/* One of the values is good and bad by turns, so that some runs verify it and then meet the other.
 */
static void wait_a_little(void) {
  for (volatile int i = 0; i < 1000; i++) continue;
}

static void *flip(void *self) {
  writer *w = self;
  while (!atomic_load(&w->stop)) {
    w->at[COUNT / 2] = w->bad;
    wait_a_little();
    w->at[COUNT / 2] = w->good;
    wait_a_little();
  }
  return NULL;
}

static pte_tensor tensor(void *data, uint8_t dtype, unsigned rank, const int64_t *shape) {
  pte_tensor t = {.data = data, .dtype = dtype, .rank = (uint8_t)rank, .layout = PTE_STRIDED};
  int64_t stride = 1;
  for (unsigned axis = rank; axis-- > 0; stride *= shape[axis]) {
    t.shape[axis] = shape[axis];
    t.stride[axis] = stride;
  }
  return t;
}

/* Runs `kernel` again and again while `in[port]`, COUNT integers, changes under it. */
static void run_while_changing(const pte_kernel *kernel, const void *attrs,
                               const pte_tensor *const *in, uint32_t in_count, uint32_t port,
                               pte_tensor *out, int64_t good, int64_t bad) {
  writer w = {.at = in[port]->data, .good = good, .bad = bad};
  pte_tensor *const outs[] = {out};
  const pte_tensor result = *out;
  pthread_t thread;
  for (int64_t i = 0; i < COUNT; i++) w.at[i] = good;
  CHECK_EQUAL(pthread_create(&thread, NULL, flip, &w), 0);
  for (unsigned i = 0; i < RUNS; i++) {
    static const pte_machine usual = {.size = sizeof usual};
    pte_fault fault = {0};
    pte_call call = {.attrs = attrs,
                     .in = in,
                     .out = outs,
                     .in_count = in_count,
                     .out_count = 1,
                     .threads = 1,
                     .machine = &usual,
                     .fault = &fault};
    *out = result;
    pte_status status = kernel->run(&call);
    CHECK(status == PTE_OK || status == PTE_BAD_DATA || status == PTE_LIMIT);
  }
  atomic_store(&w.stop, true);
  pthread_join(thread, NULL);
}

static void indices_that_change_stay_inside(void) {
  const int64_t many[] = {COUNT}, few[] = {4}, tuples[] = {COUNT, 1}, found[] = {1, 0};
  const int64_t caches[] = {COUNT, 1, 2, 1}, one[] = {COUNT, 1, 1, 1};
  int64_t *index = sample_memory(COUNT * 8), *y = sample_memory(COUNT * 16);
  int64_t *x = sample_memory(32), *updates = sample_memory(COUNT * 16);
  memset(x, 0, 32);
  memset(updates, 0, COUNT * 16);
  pte_tensor flat = tensor(index, PTE_I64, 1, many), nested = tensor(index, PTE_I64, 2, tuples);
  pte_tensor from = tensor(x, PTE_I64, 1, few), to = tensor(y, PTE_I64, 1, many);
  pte_tensor source = tensor(updates, PTE_I64, 1, many), same = tensor(x, PTE_I64, 1, few);
  const pte_tensor *const read[] = {&from, &flat}, *const read_nd[] = {&from, &nested};
  const pte_tensor *const write[] = {&from, &flat, &source};
  const pte_tensor *const write_nd[] = {&from, &nested, &source};
  const int64_t far = INT64_C(1) << 40;
  const pte_gather_nd_attrs nd = {.size = sizeof nd};
  const pte_scatter_elements_attrs elements = {.size = sizeof elements};
  const pte_scatter_nd_attrs scatter = {.size = sizeof scatter};
  run_while_changing(&pte_gather_kernel, NULL, read, 2, 1, &to, 3, far);
  run_while_changing(&pte_gather_elements_kernel, NULL, read, 2, 1, &to, -4, -far);
  run_while_changing(&pte_gather_nd_kernel, &nd, read_nd, 2, 1, &to, 3, far);
  run_while_changing(&pte_scatter_elements_kernel, &elements, write, 3, 1, &same, 3, far);
  run_while_changing(&pte_scatter_nd_kernel, &scatter, write_nd, 3, 1, &same, 3, far);

  pte_tensor cache = tensor(updates, PTE_I64, 4, caches), update = tensor(updates, PTE_I64, 4, one);
  pte_tensor after = tensor(y, PTE_I64, 4, caches);
  const pte_tensor *const cached[] = {&cache, &update, &flat};
  const pte_tensor_scatter_attrs straight = {.size = sizeof straight};
  run_while_changing(&pte_tensor_scatter_kernel, &straight, cached, 3, 2, &after, 1, far);

  int64_t *none = sample_memory(0);
  pte_tensor places = tensor(none, PTE_I64, 2, found);
  const pte_tensor *const counted[] = {&flat};
  run_while_changing(&pte_nonzero_kernel, NULL, counted, 1, 0, &places, 0, 1);
  free(none);
  free(index);
  free(updates);
  free(x);
  free(y);
}

/* --- files ----------------------------------------------------------------------------------- */

static const char *const PATH = "build/changing.pte";

static size_t copy_sample(const char *name) {
  char path[200];
  snprintf(path, sizeof path, "build/samples/%s.pte", name);
  sample s = sample_read(path);
  FILE *file = fopen(PATH, "wb");
  CHECK(file != NULL && fwrite(s.bytes, 1, s.size, file) == s.size);
  fclose(file);
  free(s.bytes);
  return s.size;
}

/* The digest of one run of the sample on zeros; what happens to the file in between is `harm`. */
static uint64_t run_after(uint32_t copy, void (*harm)(size_t size)) {
  size_t size = copy_sample("pointwise");
  pte_host_options options = {.size = sizeof options, .threads = 1, .copy = copy};
  pte_host_model *model = NULL;
  pte_error error = {0};
  CHECK_EQUAL(pte_host_model_open(PATH, &options, &model, &error), PTE_OK);
  harm(size);
  const int64_t shape[PTE_MAX_RANK] = {2, 3, 3, 3}, *const shapes[] = {shape, shape, shape};
  pte_status status = pte_host_model_prepare(model, shapes, NULL, NULL, &error);
  if (status != PTE_OK) printf("%s\n", error.text);
  CHECK_EQUAL(status, PTE_OK);
  const void *inputs[4];
  void *outputs[4];
  uint64_t sum = 0;
  pte_extents e = {.size = sizeof e};
  uint32_t ins = 0, outs = 0;
  for (; pte_session_input(pte_host_model_session(model), ins, &e) == PTE_OK; ins++) {
    void *room = sample_memory((size_t)e.size_bytes);
    memset(room, 0, (size_t)e.size_bytes);
    inputs[ins] = room;
  }
  for (; pte_session_output(pte_host_model_session(model), outs, &e) == PTE_OK; outs++)
    outputs[outs] = sample_memory((size_t)e.size_bytes);
  CHECK_EQUAL(pte_host_model_run(model, inputs, outputs, NULL, &error), PTE_OK);
  CHECK_EQUAL(pte_session_output(pte_host_model_session(model), 0, &e), PTE_OK);
  for (size_t i = 0; i < e.size_bytes; i++) sum = sum * 31 + ((uint8_t *)outputs[0])[i];
  for (uint32_t i = 0; i < ins; i++) free((void *)(uintptr_t)inputs[i]);
  for (uint32_t i = 0; i < outs; i++) free(outputs[i]);
  pte_host_model_close(model);
  return sum;
}

static void nothing(size_t size) { (void)size; }

/* All but the constants, which lie at the end of this sample but for its debug information. */
static void scramble(size_t size) {
  uint8_t bytes[64 * 8];
  int file = open(PATH, O_RDWR);
  CHECK(file >= 0 && pread(file, bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes);
  uint64_t count = sample_word(bytes + 12, 4);
  uint8_t *ones = sample_memory(size);
  memset(ones, 0xff, size);
  for (uint64_t i = 0; i < count; i++) {
    const uint8_t *entry = bytes + 64 + 64 * i;
    uint64_t kind = sample_word(entry, 4), offset = sample_word(entry + 8, 8);
    uint64_t length = sample_word(entry + 16, 8);
    if (kind == 3) continue;
    CHECK(pwrite(file, ones, (size_t)length, (off_t)offset) == (ssize_t)length);
  }
  CHECK(pwrite(file, ones, 64, 0) == 64);
  free(ones);
  close(file);
}

static void cut(size_t size) {
  (void)size;
  CHECK_EQUAL(truncate(PATH, 0), 0);
}

static void a_file_that_changes_gives_the_same_run(void) {
  uint64_t before = run_after(0, nothing);
  CHECK(before != 0);
  CHECK_EQUAL(run_after(0, scramble), before);
  CHECK_EQUAL(run_after(1, nothing), before);
  CHECK_EQUAL(run_after(1, scramble), before);
  CHECK_EQUAL(run_after(1, cut), before);
}

int main(void) {
  indices_that_change_stay_inside();
  a_file_that_changes_gives_the_same_run();
  return check_done();
}

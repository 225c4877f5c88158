/* A model from a path, from a part of a file, from bytes; with the caller's memory, pool and log,
 * and constants beside it. */
// sources: library
// samples: yes
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(_WIN32)
#include <windows.h>

#include <tlhelp32.h>
#else
#include <dirent.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

#include "check.h"
#include "pteron/host.h"
#include "sample.h"

static const char *const PART = "build/samples/part.bin";

#if defined(_WIN32)
#define NO_FILE "NUL"

static inline int threads_now(void) {
  HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
  THREADENTRY32 one = {.dwSize = sizeof one};
  int count = 0;
  for (BOOL more = Thread32First(all, &one); more; more = Thread32Next(all, &one))
    count += one.th32OwnerProcessID == GetCurrentProcessId();
  CloseHandle(all);
  return count;
}

#else
#define NO_FILE "/dev/zero"

/* What the system makes of a read: so many bytes at once, a signal before each; none: a fault. */
static struct {
  size_t at_once;
  bool signalled, refused;
  uint64_t end; /* of the part: nobody asks for what is behind */
} reads = {SIZE_MAX, false, false, UINT64_MAX};

ssize_t pread(int file, void *to, size_t size, off_t at) {
  CHECK((uint64_t)at + size <= reads.end);
  if (reads.at_once != SIZE_MAX) reads.signalled = !reads.signalled;
  if (reads.signalled || reads.refused) {
    errno = reads.refused ? EIO : EINTR;
    return -1;
  }
  return (ssize_t)syscall(SYS_pread64, file, to, size < reads.at_once ? size : reads.at_once, at);
}
#endif

/* Runs the sample `pointwise`. */
static bool results(pte_host_model *model, float y[6]) {
  static const int64_t shape[] = {2, 3};
  const int64_t *shapes[] = {shape};
  const float x[6] = {1, 2, 3, 4, 5, 6};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  pte_error error = {0};
  return pte_host_model_prepare(model, shapes, NULL, NULL, &error) == PTE_OK &&
         pte_host_model_run(model, inputs, outputs, NULL, &error) == PTE_OK;
}

static bool runs(pte_host_model *model) {
  float y[6] = {0}, z[6] = {0};
  bool good = results(model, y) && results(model, z);
  return good && memcmp(y, z, sizeof y) == 0 && y[5] > 0.99f && y[0] != y[1];
}

static void bytes_are_used_in_place_or_copied(void) {
  sample s = sample_read("build/samples/pointwise.pte");
  char *room = sample_memory(s.size + 64);
  for (size_t offset = 0; offset <= 64; offset += 4) {
    pte_host_options options = {.size = sizeof options, .threads = 1, .copy = offset == 64};
    pte_host_model *model = NULL;
    pte_error error = {0};
    float y[6] = {0}, z[6] = {0};
    memcpy(room + offset, s.bytes, s.size);
    CHECK_EQUAL(pte_host_model_open_bytes(room + offset, s.size, &options, &model, &error), PTE_OK);
    CHECK(runs(model) && results(model, y));
    memset(room, 0, s.size + 64); /* weights, too: who reads them here gives others */
    CHECK(results(model, z));
    CHECK_EQUAL(memcmp(y, z, sizeof y) != 0, offset == 0);
    pte_host_model_close(model);
  }
  pte_host_model *model = NULL;
  pte_error error;
  CHECK_EQUAL(pte_host_model_open_bytes(NULL, 10, NULL, &model, &error), PTE_BAD_ARGUMENT);
  CHECK_EQUAL(pte_host_model_open_bytes(s.bytes, 0, NULL, &model, &error), PTE_BAD_PROGRAM);
  CHECK_EQUAL(pte_host_model_open_bytes(s.bytes, s.size - 1, NULL, &model, &error),
              PTE_BAD_PROGRAM);
  free(room);
  free(s.bytes);
}

/* The sample in a file, with other bytes before and behind it. */
static int write_part(const sample *s, size_t before) {
  int file = open(PART, O_RDWR | O_CREAT | O_TRUNC, 0600);
  char *other = calloc(1, before + 1);
  CHECK(write(file, other, (unsigned)before) == (ssize_t)before);
  CHECK(write(file, s->bytes, (unsigned)s->size) == (ssize_t)s->size);
  CHECK(write(file, "behind", 6) == 6);
  free(other);
  return file;
}

static void a_part_of_a_file_is_a_program(void) {
  static const size_t offsets[] = {0, 4, 60, 64, 4096, 4096 + 128, 65536 + 4, 65536 + 64};
  sample s = sample_read("build/samples/pointwise.pte");
  for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
    pte_host_options options = {.size = sizeof options, .threads = 1};
    int file = write_part(&s, offsets[i]);
    for (options.copy = 0; options.copy < 2; options.copy++) {
      pte_host_model *model = NULL;
      pte_error error = {0};
      int again = dup(file);
      CHECK_EQUAL(pte_host_model_open_fd(again, offsets[i], s.size, &options, &model, &error),
                  PTE_OK);
      close(again); /* at once */
      CHECK(runs(model));
      pte_host_model_close(model);
    }
    close(file);
  }
  free(s.bytes);
}

static void a_part_that_is_not_there_is_refused(void) {
  sample s = sample_read("build/samples/pointwise.pte");
  int file = write_part(&s, 64);
  const uint64_t whole = 64 + s.size + 6;
  const struct {
    uint64_t offset, length;
    pte_status status;
  } rows[] = {
      {64,             s.size + 6, PTE_BAD_PROGRAM },
      {64,             0,          PTE_BAD_PROGRAM }, /* "behind" is part of it */
      {64,             s.size + 7, PTE_BAD_ARGUMENT},
      {whole,          0,          PTE_BAD_ARGUMENT},
      {UINT64_MAX,     0,          PTE_BAD_ARGUMENT},
      {UINT64_MAX - 1, 2,          PTE_BAD_ARGUMENT},
      {1,              UINT64_MAX, PTE_BAD_ARGUMENT}
  };
  pte_host_model *model = NULL;
  pte_error error;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    CHECK_EQUAL(pte_host_model_open_fd(file, rows[i].offset, rows[i].length, NULL, &model, &error),
                rows[i].status);
  close(file);
  CHECK_EQUAL(pte_host_model_open_fd(file, 0, 0, NULL, &model, &error), PTE_IO);
  CHECK_EQUAL(pte_host_model_open_fd(-1, 0, 0, NULL, &model, &error), PTE_BAD_ARGUMENT);
  file = open(NO_FILE, O_RDONLY);
  CHECK_EQUAL(pte_host_model_open_fd(file, 0, 4096, NULL, &model, &error), PTE_IO);
  close(file);
  CHECK(model == NULL);
  free(s.bytes);
}

#if !defined(_WIN32) /* where the system cannot be put in the place of */
static void a_file_is_read_in_as_many_parts_as_it_comes(void) {
  pte_host_options options = {.size = sizeof options, .threads = 1, .copy = 1};
  pte_host_model *model = NULL;
  pte_error error = {0};
  const char *path = "build/samples/pointwise.pte";
  sample whole = sample_read(path);
  reads.end = whole.size;
  free(whole.bytes);
  for (reads.at_once = 1; reads.at_once < 5000; reads.at_once = 3 * reads.at_once + 100) {
    CHECK_EQUAL(pte_host_model_open(path, &options, &model, &error), PTE_OK);
    CHECK(runs(model));
    pte_host_model_close(model);
  }
  reads.at_once = 0, model = NULL;
  CHECK_EQUAL(pte_host_model_open(path, &options, &model, &error), PTE_IO);
  CHECK_TEXT(error.text, "became shorter while it was read");
  reads.refused = true;
  CHECK_EQUAL(pte_host_model_open(path, &options, &model, &error), PTE_IO);
  CHECK_TEXT(error.text, "cannot be read");
  reads.at_once = SIZE_MAX, reads.refused = reads.signalled = false, reads.end = UINT64_MAX;
  CHECK(model == NULL);
}
#endif

static void constants_of_a_file_of_their_own_lie_beside_or_are_given(void) {
  const char *path = "build/samples/apart/pointwise.pte";
  sample s = sample_read(path), data = sample_read("build/samples/apart/pointwise.bin");
  const pte_external given = {"pointwise.bin", data.bytes, data.size};
  pte_host_options options = {.size = sizeof options, .threads = 1};
  pte_host_model *model = NULL;
  pte_error error = {0};
  for (options.copy = 0; options.copy < 2; options.copy++) {
    CHECK_EQUAL(pte_host_model_open(path, &options, &model, &error), PTE_OK);
    CHECK(runs(model));
    pte_host_model_close(model);
  }
  model = NULL;
  CHECK_EQUAL(pte_host_model_open_bytes(s.bytes, s.size, &options, &model, &error),
              PTE_BAD_ARGUMENT);
  CHECK_TEXT(error.text, "external pointwise.bin: no path to look beside");
  options.external_count = 1;
  CHECK_EQUAL(pte_host_model_open_bytes(s.bytes, s.size, &options, &model, &error),
              PTE_BAD_ARGUMENT);
  CHECK_TEXT(error.text, "externals: NULL");
  options.externals = &given;
  CHECK_EQUAL(pte_host_model_open_bytes(s.bytes, s.size, &options, &model, &error), PTE_OK);
  CHECK(runs(model));
  pte_host_model_close(model);
  free(s.bytes);
  free(data.bytes);
}

static void a_fault_names_where_the_bytes_came_from(void) {
  pte_host_options options = {.size = sizeof options, .threads = 1};
  pte_host_model *model = NULL;
  pte_error error = {0};
  CHECK_EQUAL(pte_host_model_open("build/samples/none.pte", &options, &model, &error), PTE_IO);
  CHECK_TEXT(error.text, "build/samples/none.pte");
  CHECK_EQUAL(pte_host_model_open_bytes(NULL, 10, &options, &model, &error), PTE_BAD_ARGUMENT);
  CHECK_TEXT(error.text, "bytes");
  int empty = open(PART, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK_EQUAL(pte_host_model_open_fd(empty, 0, 0, &options, &model, &error), PTE_BAD_PROGRAM);
  CHECK_TEXT(error.text, "file: is empty");
  close(empty);
}

/* An allocator that counts, and fails at one allocation. */
typedef struct counter {
  uint64_t bytes;
  int taken, live, fails_at;
} counter;

static void *count_allocate(void *self, size_t size_bytes, size_t align) {
  counter *c = self;
  if (++c->taken == c->fails_at) return NULL;
  CHECK(align == 64 && size_bytes != 0);
  c->live++;
  c->bytes += size_bytes;
  return sample_memory(size_bytes);
}

static void count_release(void *self, void *data, size_t size_bytes) {
  counter *c = self;
  c->live--;
  c->bytes -= size_bytes;
  free(data);
}

static void all_memory_is_the_callers_and_comes_back(void) {
  bool whole = false;
  for (int fails_at = 1; !whole && fails_at < 20; fails_at++) {
    counter c = {.fails_at = fails_at};
    pte_host_allocator allocator = {
        .size = sizeof allocator, .self = &c, .allocate = count_allocate, .release = count_release};
    pte_host_options options = {
        .size = sizeof options, .threads = 1, .copy = 1, .allocator = &allocator};
    pte_host_model *model = NULL;
    pte_error error = {0};
    pte_status status =
        pte_host_model_open("build/samples/pointwise.pte", &options, &model, &error);
    CHECK_EQUAL(status, model == NULL ? PTE_NO_MEMORY : PTE_OK);
    if (model != NULL) whole = runs(model);
    pte_host_model_close(model);
    CHECK(c.live == 0 && c.bytes == 0);
  }
  CHECK(whole);
}

enum { WIDTH = 64, FEW = 2, MANY = 4 };

/* Has one block of the states' size, which it gives again, and none for more rows. */
typedef struct stingy {
  float *block;
  bool given;
} stingy;

static void *stingy_allocate(void *self, size_t size_bytes, size_t align) {
  stingy *s = self;
  (void)align;
  if (size_bytes == MANY * WIDTH * sizeof(float)) return NULL;
  if (size_bytes != FEW * WIDTH * sizeof(float) || s->given) return sample_memory(size_bytes);
  s->given = true;
  return s->block;
}

static void stingy_release(void *self, void *data, size_t size_bytes) {
  stingy *s = self;
  (void)size_bytes;
  if (data == s->block) s->given = false;
  else free(data);
}

/* The first sum of the sample `held` for so many rows of ones, or -1. */
static float sum_of_rows(pte_host_model *model, int64_t rows) {
  float x[MANY * WIDTH], y[MANY * WIDTH];
  const int64_t shape[] = {rows, WIDTH}, *shapes[] = {shape};
  const void *inputs[] = {x};
  void *outputs[] = {y};
  pte_error error = {0};
  for (int i = 0; i < MANY * WIDTH; i++) x[i] = 1;
  if (pte_host_model_prepare(model, shapes, NULL, NULL, &error) != PTE_OK) return -1;
  CHECK_EQUAL(pte_host_model_run(model, inputs, outputs, NULL, &error), PTE_OK);
  return y[0];
}

/* Memory that comes back at the same address is no longer what the session knew. */
static void states_whose_memory_went_begin_again(void) {
  stingy s = {sample_memory(FEW * WIDTH * sizeof(float)), false};
  pte_host_allocator allocator = {
      .size = sizeof allocator, .self = &s, .allocate = stingy_allocate, .release = stingy_release};
  pte_host_options options = {.size = sizeof options, .threads = 1, .allocator = &allocator};
  pte_host_model *model = NULL;
  pte_error error = {0};
  CHECK_EQUAL(pte_host_model_open("build/samples/held.pte", &options, &model, &error), PTE_OK);
  CHECK(sum_of_rows(model, FEW) == 1 && sum_of_rows(model, FEW) == 2);
  CHECK(sum_of_rows(model, MANY) == -1);
  CHECK(sum_of_rows(model, FEW) == 1);
  pte_host_model_close(model);
  free(s.block);
}

static void count_lines(void *self, uint32_t level, const char *text) {
  int *lines = self;
  CHECK(strstr(text, level == PTE_HOST_INFO ? "read into memory" : "runs on the CPU") != NULL);
  lines[level]++;
}

static void who_wants_it_is_told_what_is_no_failure(void) {
  int lines[2] = {0};
  pte_host_log log = {.size = sizeof log, .self = lines, .say = count_lines};
  pte_host_options options = {.size = sizeof options, .threads = 1, .log = &log};
  sample s = sample_read("build/samples/delegated.pte");
  int file = write_part(&s, 4);
  const int64_t shape[] = {4}, *shapes[] = {shape};
  pte_host_model *model = NULL;
  pte_error error = {0};
  CHECK_EQUAL(pte_host_model_open_fd(file, 4, s.size, &options, &model, &error), PTE_OK);
  CHECK_EQUAL(pte_host_model_prepare(model, shapes, NULL, NULL, &error), PTE_OK);
  CHECK_EQUAL(lines[PTE_HOST_INFO], 1);
  CHECK_EQUAL(lines[PTE_HOST_WARNING], 1);
  pte_host_model_close(model);
  close(file);
  free(s.bytes);
}

#if !defined(_WIN32)
static int threads_now(void) {
  DIR *tasks = opendir("/proc/self/task");
  int count = 0;
  for (struct dirent *d; tasks != NULL && (d = readdir(tasks)) != NULL;)
    count += d->d_name[0] != '.';
  if (tasks != NULL) closedir(tasks);
  return count;
}
#endif

/* A thread that was joined is seen a moment longer. */
static bool has_threads(int count) {
  for (int i = 0; i < 1000 && threads_now() > count; i++) usleep(1000);
  return threads_now() == count;
}

static void models_may_share_a_pool(void) {
  pte_host_pool_options two = {.size = sizeof two, .threads = 2};
  pte_pool *pool = NULL;
  pte_host_model *models[2] = {NULL, NULL};
  pte_error error = {0};
  CHECK_EQUAL(pte_host_pool_open(&two, &pool, &error), PTE_OK);
  int before = threads_now();
  pte_host_options options = {.size = sizeof options, .pool = pool};
  for (int i = 0; i < 2; i++) {
    CHECK_EQUAL(pte_host_model_open("build/samples/pointwise.pte", &options, &models[i], &error),
                PTE_OK);
    CHECK(runs(models[i]));
  }
  CHECK(has_threads(before));
  for (int i = 0; i < 2; i++) pte_host_model_close(models[i]);
  pte_host_pool_close(pool);
}

static void a_model_has_as_many_threads_as_it_is_told(void) {
  int before = threads_now();
  for (uint32_t threads = 1; threads < 4; threads++) {
    pte_host_options options = {.size = sizeof options, .threads = threads};
    pte_host_model *model = NULL;
    pte_error error = {0};
    CHECK_EQUAL(pte_host_model_open("build/samples/pointwise.pte", &options, &model, &error),
                PTE_OK);
    CHECK(has_threads(before + (int)threads - 1));
    CHECK(runs(model));
    pte_host_model_close(model);
    CHECK(has_threads(before));
  }
}

#if !defined(_WIN32)
static void a_forked_child_runs_on(void) {
  pte_host_options options = {.size = sizeof options, .threads = 3};
  pte_host_model *model = NULL;
  pte_error error = {0};
  CHECK_EQUAL(pte_host_model_open("build/samples/pointwise.pte", &options, &model, &error), PTE_OK);
  CHECK(runs(model));
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    bool good = runs(model);
    pte_host_model_close(model);
    _exit(good ? 0 : 1);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQUAL(status, 0);
  CHECK(runs(model));
  pte_host_model_close(model);
}
#endif

static void structs_without_a_size_are_refused(void) {
  const pte_host_allocator allocator = {.size = sizeof allocator};
  const pte_host_log log = {.size = 1};
  pte_host_options options = {.size = 0};
  pte_host_model *model = NULL;
  pte_error error;
  const char *path = "build/samples/pointwise.pte";
  CHECK_EQUAL(pte_host_model_open(path, &options, &model, &error), PTE_BAD_ARGUMENT);
  CHECK(strstr(error.text, "host options") != NULL);
  options = (pte_host_options){.size = sizeof options, .allocator = &allocator};
  CHECK_EQUAL(pte_host_model_open(path, &options, &model, &error), PTE_BAD_ARGUMENT);
  CHECK(strstr(error.text, "allocator") != NULL);
  options = (pte_host_options){.size = sizeof options, .log = &log};
  CHECK_EQUAL(pte_host_model_open(path, &options, &model, &error), PTE_BAD_ARGUMENT);
  CHECK(strstr(error.text, "log") != NULL && model == NULL);
}

#if defined(__linux__)
/* Whether the system was asked for large pages where `address` lies. */
static bool asked_for_large_pages(const void *address) {
  char line[256];
  bool here = false, asked = false;
  FILE *maps = fopen("/proc/self/smaps", "r");
  for (unsigned long begin, end; maps != NULL && fgets(line, sizeof line, maps) != NULL;) {
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
      here = begin <= (uintptr_t)address && (uintptr_t)address < end;
    asked = asked || (here && strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " hg") != NULL);
  }
  if (maps != NULL) fclose(maps);
  return asked;
}

static void much_memory_is_asked_for_in_large_pages(void) {
  pte_memory much = {NULL, 0}, little = {NULL, 0};
  CHECK_EQUAL(pte_host_alloc((size_t)5 << 20, &much), PTE_OK);
  CHECK_EQUAL(pte_host_alloc(4096, &little), PTE_OK);
  CHECK((uintptr_t)much.data % ((uintptr_t)2 << 20) == 0);
  bool has_them = access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0;
  CHECK_EQUAL(asked_for_large_pages(much.data), has_them);
  CHECK(!asked_for_large_pages(little.data));
  pte_host_free(much);
  pte_host_free(little);
}
#endif

int main(void) {
#if defined(__linux__)
  much_memory_is_asked_for_in_large_pages();
#endif
  bytes_are_used_in_place_or_copied();
  a_part_of_a_file_is_a_program();
  a_part_that_is_not_there_is_refused();
  constants_of_a_file_of_their_own_lie_beside_or_are_given();
  a_fault_names_where_the_bytes_came_from();
  all_memory_is_the_callers_and_comes_back();
  states_whose_memory_went_begin_again();
  who_wants_it_is_told_what_is_no_failure();
  models_may_share_a_pool();
  a_model_has_as_many_threads_as_it_is_told();
  structs_without_a_size_are_refused();
#if !defined(_WIN32)
  a_file_is_read_in_as_many_parts_as_it_comes();
  a_forked_child_runs_on();
#endif
  return check_done();
}

/* What is Windows' own: paths in UTF-8, both separators, files that another program holds,
 * processors and priorities of workers. */
// sources: library
// samples: yes
#include <windows.h>

#include "check.h"
#include "pteron/host.h"
#include "sample.h"

static const wchar_t *const NAME = L"build/samples/\u4e94 \u00e9.pte";
static const char *const UTF8 = "build/samples/\xe4\xba\x94 \xc3\xa9.pte";

static pte_status open_and_close(const char *path, pte_error *error) {
  pte_host_model *model = NULL;
  pte_status status = pte_host_model_open(path, NULL, &model, error);
  pte_host_model_close(model);
  return status;
}

static void a_path_is_utf8(void) {
  pte_error error = {0};
  CHECK(CopyFileW(L"build/samples/pointwise.pte", NAME, FALSE));
  CHECK_EQUAL(open_and_close(UTF8, &error), PTE_OK);
  CHECK(DeleteFileW(NAME));
  CHECK_EQUAL(open_and_close(UTF8, &error), PTE_IO);
  CHECK_TEXT(error.text, "No such file or directory");
  CHECK_EQUAL(open_and_close("\xff.pte", &error), PTE_IO);
  CHECK_TEXT(error.text, "Windows error 0000001113"); /* no character in UTF-8 */
}

static void constants_lie_beside_with_either_separator(void) {
  pte_error error = {0};
  CHECK_EQUAL(open_and_close("build/samples/apart/pointwise.pte", &error), PTE_OK);
  CHECK_EQUAL(open_and_close("build\\samples\\apart\\pointwise.pte", &error), PTE_OK);
  CHECK_EQUAL(open_and_close("build\\samples/apart\\pointwise.pte", &error), PTE_OK);
}

static void a_file_that_another_holds_is_said_to_be(void) {
  pte_error error = {0};
  HANDLE held = CreateFileW(L"build/samples/pointwise.pte", GENERIC_READ, 0, NULL, OPEN_EXISTING,
                            FILE_ATTRIBUTE_NORMAL, NULL);
  CHECK(held != INVALID_HANDLE_VALUE);
  CHECK_EQUAL(open_and_close("build/samples/pointwise.pte", &error), PTE_IO);
  CHECK_TEXT(error.text, "another program has opened it for itself");
  CloseHandle(held);
}

static void a_folder_is_no_file(void) {
  pte_error error = {0};
  CHECK_EQUAL(open_and_close("build/samples", &error), PTE_IO);
  CHECK_TEXT(error.text, "build/samples: cannot be opened");
}

/* What workers see; the caller stays what it is. */
typedef struct place {
  volatile LONG seen, wrong;
  int priority;
} place;

static void look_around(void *context, size_t begin, size_t end, uint32_t thread) {
  place *p = context;
  (void)begin, (void)end;
  if (thread == 0) Sleep(1); /* so that the workers get some */
  const int now = GetThreadPriority(GetCurrentThread());
  if (now != (thread == 0 ? THREAD_PRIORITY_NORMAL : p->priority)) InterlockedIncrement(&p->wrong);
  if (thread != 0) InterlockedIncrement(&p->seen);
}

static void workers_have_the_priority_of_their_niceness(void) {
  static const struct {
    int32_t niceness;
    int priority;
  } rows[] = {
      {0,  THREAD_PRIORITY_NORMAL      },
      {1,  THREAD_PRIORITY_BELOW_NORMAL},
      {10, THREAD_PRIORITY_BELOW_NORMAL},
      {11, THREAD_PRIORITY_LOWEST      },
      {19, THREAD_PRIORITY_LOWEST      }
  };
  static const uint32_t first = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    place p = {.priority = rows[i].priority};
    pte_host_pool_options options = {.size = sizeof options,
                                     .threads = 3,
                                     .niceness = rows[i].niceness,
                                     .processor_count = 1,
                                     .processors = &first};
    pte_pool *pool = NULL;
    CHECK_EQUAL(pte_host_pool_open(&options, &pool, NULL), PTE_OK);
    for (int run = 0; run < 1000 && p.seen == 0; run++)
      pool->run(pool->self, 12, 1, look_around, &p);
    CHECK(p.seen != 0 && p.wrong == 0);
    pte_host_pool_close(pool);
  }
}

static void the_clock_goes_on_in_nanoseconds(void) {
  uint64_t before = pte_host_now(NULL);
  Sleep(30);
  uint64_t took = pte_host_now(NULL) - before;
  CHECK(took > 20u * 1000 * 1000 && took < 20u * 1000 * 1000 * 1000);
}

int main(void) {
  a_path_is_utf8();
  constants_lie_beside_with_either_separator();
  a_file_that_another_holds_is_said_to_be();
  a_folder_is_no_file();
  workers_have_the_priority_of_their_niceness();
  the_clock_goes_on_in_nanoseconds();
  return check_done();
}

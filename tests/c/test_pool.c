/* The pool of threads: every element once, whoever calls, also nested, from two threads, and in a
 * forked child. */
// sources: library
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#if !defined(_WIN32)
#include <sys/resource.h>
#include <sys/wait.h>
#endif

#include "check.h"
#include "core/fp.h"
#include "pteron/host.h"

enum { COUNT = 1000 };

typedef struct job {
  _Atomic uint32_t seen[COUNT];
  _Atomic uint32_t wrong;
  uint32_t threads;
  const pte_pool *pool;
} job;

static void mark(void *context, size_t begin, size_t end, uint32_t thread) {
  job *j = context;
  if (thread >= j->threads) atomic_fetch_add(&j->wrong, 1);
  if (thread != 0 && (pte_fp_get() & ~(pte_fp_word)0x3F) != PTE_FP_DEFAULT)
    atomic_fetch_add(&j->wrong, 1);
  for (size_t i = begin; i < end; i++) atomic_fetch_add(&j->seen[i], 1);
}

static pte_pool *open_pool(uint32_t threads) {
  pte_host_pool_options options = {.size = sizeof options, .threads = threads};
  pte_pool *pool = NULL;
  CHECK_EQUAL(pte_host_pool_open(&options, &pool, NULL), PTE_OK);
  return pool;
}

static bool all_seen(job *j, uint32_t times) {
  for (int i = 0; i < COUNT; i++)
    if (j->seen[i] != times) return false;
  return j->wrong == 0;
}

static void every_element_runs_once(void) {
  for (uint32_t threads = 1; threads <= 5; threads++) {
    pte_pool *pool = open_pool(threads);
    job *j = calloc(1, sizeof *j);
    j->threads = threads;
    CHECK_EQUAL(pool->threads, threads);
    for (size_t grain = 0; grain <= COUNT; grain += 111)
      pool->run(pool->self, COUNT, grain, mark, j);
    CHECK(all_seen(j, 10));
    pool->run(pool->self, 0, 1, mark, j);
    free(j);
    pte_host_pool_close(pool);
  }
}

static void workers_that_were_parked_wake(void) {
  pte_pool *pool = open_pool(3);
  job *j = calloc(1, sizeof *j);
  j->threads = 3;
  for (int round = 0; round < 5; round++) {
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    for (int i = 0; i < 200; i++) pool->run(pool->self, COUNT, 1, mark, j);
  }
  CHECK(all_seen(j, 1000));
  free(j);
  pte_host_pool_close(pool);
}

static void note_others(void *context, size_t begin, size_t end, uint32_t thread) {
  job *j = context;
  for (size_t i = begin; i < end; i++) atomic_fetch_add(&j->seen[thread], 1);
  usleep(1000); /* so that all get some */
}

/* Those that sleep hear of a task, all of them. */
static void parked_workers_take_part_again(void) {
  pte_pool *pool = open_pool(3);
  job *j = calloc(1, sizeof *j);
  for (int i = 0; i < 1000 && (j->seen[1] == 0 || j->seen[2] == 0); i++) {
    usleep(20000); /* far longer than they look for tasks */
    pool->run(pool->self, 12, 1, note_others, j);
  }
  CHECK(j->seen[0] != 0 && j->seen[1] != 0 && j->seen[2] != 0);
  free(j);
  pte_host_pool_close(pool);
}

static void run_inside(void *context, size_t begin, size_t end, uint32_t thread) {
  job *j = context;
  (void)thread;
  for (size_t i = begin; i < end; i++) j->pool->run(j->pool->self, COUNT, 1, mark, j);
}

static void a_task_may_use_the_pool_itself(void) {
  pte_pool *pool = open_pool(4);
  job *j = calloc(1, sizeof *j);
  j->threads = 4;
  j->pool = pool;
  pool->run(pool->self, 20, 1, run_inside, j);
  CHECK(all_seen(j, 20));
  free(j);
  pte_host_pool_close(pool);
}

static void *run_much(void *context) {
  job *j = context;
  for (int i = 0; i < 300; i++) j->pool->run(j->pool->self, COUNT, 1, mark, j);
  return NULL;
}

static void two_sessions_may_share_it(void) {
  pte_pool *pool = open_pool(3);
  job *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
  a->threads = b->threads = 3;
  a->pool = b->pool = pool;
  pthread_t other;
  CHECK_EQUAL(pthread_create(&other, NULL, run_much, a), 0);
  run_much(b);
  pthread_join(other, NULL);
  CHECK(all_seen(a, 300) && all_seen(b, 300));
  free(a);
  free(b);
  pte_host_pool_close(pool);
}

#if !defined(_WIN32) /* which does not fork, and has priorities in place of niceness */
static void a_forked_child_runs_alone(void) {
  pte_pool *pool = open_pool(3);
  job *j = calloc(1, sizeof *j);
  j->threads = 3;
  pool->run(pool->self, COUNT, 1, mark, j);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    for (int i = 0; i < 50; i++) pool->run(pool->self, COUNT, 1, mark, j);
    bool good = all_seen(j, 51);
    pte_host_pool_close(pool);
    _exit(good ? 0 : 1);
  }
  int status = 1;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQUAL(status, 0);
  free(j);
  pte_host_pool_close(pool);
}
#define LAST_PROCESSOR (CPU_SETSIZE - 1)
#else
#define LAST_PROCESSOR 63
#endif

static void what_no_system_has_is_refused(void) {
  static const uint32_t processor[] = {1u << 20}, absent[] = {LAST_PROCESSOR};
  const uint32_t size = sizeof(pte_host_pool_options);
  static const struct {
    pte_host_pool_options options;
    pte_status status;
    const char *text;
  } rows[] = {
      {{.size = 4},                                                                 PTE_BAD_ARGUMENT, "`size`"                         },
      {{.size = size, .threads = 100000},                                           PTE_BAD_ARGUMENT, "at most 256 threads, got 100000"},
      {{.size = size, .threads = 2, .niceness = 20},                                PTE_BAD_ARGUMENT, "got 20"                         },
      {{.size = size, .threads = 2, .niceness = -21},                               PTE_BAD_ARGUMENT, "got -21"                        },
      {{.size = size, .threads = 2, .processor_count = 1},                          PTE_BAD_ARGUMENT, "NULL"                           },
      {{.size = size, .threads = 2, .processor_count = 1, .processors = processor},
       PTE_BAD_ARGUMENT,                                                                              "got 1048576"                    },
      {{.size = size, .threads = 3, .processor_count = 1, .processors = absent},
       PTE_IO,                                                                                        "refused its processors"         },
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    pte_pool *pool = NULL;
    pte_error error = {0};
    CHECK_EQUAL(pte_host_pool_open(&rows[i].options, &pool, &error), rows[i].status);
    CHECK(pool == NULL && strstr(error.text, rows[i].text) != NULL);
  }
  CHECK_EQUAL(pte_host_pool_open(NULL, NULL, NULL), PTE_BAD_ARGUMENT);
  pte_host_pool_close(NULL);
}

#if !defined(_WIN32)
/* The processors and niceness that threads see; `thread` 0 is the caller. */
typedef struct place {
  _Atomic uint32_t seen, wrong;
  cpu_set_t own;
  int own_niceness;
} place;

static void look_around(void *context, size_t begin, size_t end, uint32_t thread) {
  place *p = context;
  cpu_set_t now;
  int niceness = getpriority(PRIO_PROCESS, 0);
  (void)begin, (void)end;
  CPU_ZERO(&now);
  CHECK_EQUAL(sched_getaffinity(0, sizeof now, &now), 0);
  bool right = thread == 0 ? CPU_EQUAL(&now, &p->own) && niceness == p->own_niceness
                           : CPU_COUNT(&now) == 1 && niceness == 19;
  if (!right) atomic_fetch_add(&p->wrong, 1);
  if (thread != 0) atomic_fetch_add(&p->seen, 1);
  usleep(1000); /* so that the workers get some */
}

static void workers_are_where_and_what_the_options_say(void) {
  place p = {.own_niceness = getpriority(PRIO_PROCESS, 0)};
  CPU_ZERO(&p.own);
  CHECK_EQUAL(sched_getaffinity(0, sizeof p.own, &p.own), 0);
  uint32_t first = 0;
  while (!CPU_ISSET(first, &p.own)) first++;
  pte_host_pool_options options = {.size = sizeof options,
                                   .threads = 3,
                                   .niceness = 19,
                                   .processor_count = 1,
                                   .processors = &first};
  pte_pool *pool = NULL;
  CHECK_EQUAL(pte_host_pool_open(&options, &pool, NULL), PTE_OK);
  for (int i = 0; i < 1000 && p.seen == 0; i++) pool->run(pool->self, 12, 1, look_around, &p);
  CHECK(p.seen != 0 && p.wrong == 0);
  pte_host_pool_close(pool);
}

/* `own` is the caller's only processor. */
static void look_for_the_caller(void *context, size_t begin, size_t end, uint32_t thread) {
  place *p = context;
  cpu_set_t now;
  (void)begin, (void)end;
  CPU_ZERO(&now);
  CHECK_EQUAL(sched_getaffinity(0, sizeof now, &now), 0);
  CPU_AND(&now, &now, &p->own);
  if (thread != 0 && CPU_COUNT(&now) != 0) atomic_fetch_add(&p->wrong, 1);
  if (thread != 0) atomic_fetch_add(&p->seen, 1);
  usleep(1000);
}

static void workers_leave_the_processor_of_the_caller(void) {
  cpu_set_t all;
  CPU_ZERO(&all);
  CHECK_EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) == 1) return; /* there is no other */
  pte_pool *pool = open_pool(2);
  for (size_t at = 0, left = 4; at < CPU_SETSIZE && left > 0; at++) {
    if (!CPU_ISSET(at, &all)) continue;
    place p = {.wrong = 1};
    left--;
    CPU_ZERO(&p.own);
    CPU_SET(at, &p.own);
    CHECK_EQUAL(sched_setaffinity(0, sizeof p.own, &p.own), 0);
    for (int i = 0; i < 100 && (p.seen == 0 || p.wrong != 0); i++) {
      usleep(20000); /* so that the worker sleeps: those awake stay where they are */
      p.seen = p.wrong = 0;
      pool->run(pool->self, 12, 1, look_for_the_caller, &p);
    }
    CHECK(p.seen != 0 && p.wrong == 0);
  }
  CHECK_EQUAL(sched_setaffinity(0, sizeof all, &all), 0);
  pte_host_pool_close(pool);
}
#endif

static void a_pool_without_options_has_a_thread_a_processor(void) {
  pte_pool *pool = NULL;
  CHECK_EQUAL(pte_host_pool_open(NULL, &pool, NULL), PTE_OK);
  CHECK_EQUAL(pool->threads, pte_host_processors());
  pte_host_pool_close(pool);
}

int main(void) {
  every_element_runs_once();
  workers_that_were_parked_wake();
  parked_workers_take_part_again();
  a_task_may_use_the_pool_itself();
  two_sessions_may_share_it();
  what_no_system_has_is_refused();
#if !defined(_WIN32)
  a_forked_child_runs_alone();
  workers_are_where_and_what_the_options_say();
  workers_leave_the_processor_of_the_caller();
#endif
  a_pool_without_options_has_a_thread_a_processor();
  return check_done();
}

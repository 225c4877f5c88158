/* A pool of threads. A task's chunks are dealt to the threads in order, each its share, so that a
 * thread meets again what it wrote in the task before: half of an image lies in its cache, the
 * other half in another's. Who is done with its share, helps with those after it.
 *
 * The caller works too, and waits only for workers that have joined: so a forked child, which has
 * none, runs alone. A task is open for joining while `ticket` holds its number; workers join under
 * the count `inside`. One that looks too late finds the shares exhausted or the ticket gone, and
 * touches nothing of the task. */
#include "host/thread.h" /* first: it asks for more of the C library */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/error.h"
#include "core/fp.h"
#include "core/kernel.h"
#include "core/sized.h"
#include "host/system.h"
#include "pteron/host.h"

#define PTE_POOL_MAX_THREADS 256
#define PTE_POOL_SPIN_NS     50000u
#define PTE_POOL_CHUNKS_PER_THREAD                                                                 \
  4u /* enough that a slow thread does not keep the others waiting */

/* A thread's chunks that nobody has taken yet; so far apart that no two are in one cache line. */
typedef struct share {
  _Atomic size_t next;
  size_t end;
  char apart[128 - 2 * sizeof(size_t)];
} share;

typedef struct pool {
  pte_pool public; /* first: handed out */
  pte_thread *workers;
  share *shares; /* public.threads */
  uint32_t worker_count;
  pte_owner owner;

  atomic_flag busy;        /* a run holds it; others do their work themselves */
  _Atomic uint64_t ticket; /* odd: a task is open; a closed one leaves it even */
  _Atomic uint32_t inside; /* workers that may touch the task */
  _Atomic uint32_t awake;  /* workers that are not parked, or called */
  uint32_t called;         /* those that have yet to hear it; under the lock */
  uint32_t most_awake;     /* that find a processor: more would take it from each other */
  _Atomic bool closing;

  pte_task task; /* written while the ticket is even and nobody is inside */
  void *context;
  size_t count, chunk;

  pte_lock lock;
  pte_wake wake;
  pte_places places;          /* under the lock */
  _Atomic pte_thread_id *ids; /* of workers that have begun */

  const pte_host_pool_options *options; /* complete; while the pool is being opened */
  uint32_t settled;                     /* workers that have tried to be what the options say */
  const char *refused;                  /* what the system did not let them be, or NULL */
  int reason;                           /* the system's error */
} pool;

typedef struct worker {
  pool *pool;
  uint32_t index;
  bool special;
} worker;

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
  __asm__ volatile("yield");
#endif
}

static void work(pool *p, uint32_t thread) {
  const uint32_t threads = p->public.threads;
  for (uint32_t i = 0; i < threads; i++) {
    share *s = &p->shares[(thread + i) % threads];
    for (size_t at;
         (at = atomic_fetch_add_explicit(&s->next, p->chunk, memory_order_relaxed)) < s->end;)
      p->task(p->context, at, s->end - at < p->chunk ? s->end : at + p->chunk, thread);
  }
}

/* Joins the open task, if `ticket` is still it. */
static void join(pool *p, uint64_t ticket, uint32_t thread) {
  atomic_fetch_add(&p->inside, 1);
  if (atomic_load(&p->ticket) == ticket) work(p, thread);
  atomic_fetch_sub(&p->inside, 1);
}

static bool has_news(const pool *p, uint64_t seen) {
  uint64_t ticket = atomic_load(&p->ticket);
  return (ticket != seen && (ticket & 1) != 0) || atomic_load(&p->closing);
}

/* Whoever opens a task looks at `awake` then, a worker that goes looks at the task then: one of
 * them sees the other. */
static void park(pool *p, uint64_t seen) {
  pte_lock_take(&p->lock);
  if (atomic_fetch_sub(&p->awake, 1) <= p->most_awake && has_news(p, seen)) {
    atomic_fetch_add(&p->awake, 1);
  } else {
    while (p->called == 0 && !atomic_load(&p->closing)) pte_wake_wait(&p->wake, &p->lock);
    if (p->called > 0) p->called--;
  }
  pte_lock_give(&p->lock);
}

static void wait_for_news(pool *p, uint64_t seen) {
  uint64_t until = pte_host_now(NULL) + PTE_POOL_SPIN_NS;
  bool spare = atomic_load(&p->awake) > p->most_awake;
  for (uint32_t i = 0; !spare && !has_news(p, seen); i++) {
    relax();
    spare = i % 64 == 63 && pte_host_now(NULL) >= until;
  }
  if (spare) park(p, seen);
}

static bool is_special(const pte_host_pool_options *o) {
  return o->niceness != 0 || o->processor_count != 0;
}

static void settle_worker(pool *p) {
  const char *refused = pte_thread_settle(p->options);
  int reason = pte_system_error();
  pte_lock_take(&p->lock);
  if (refused != NULL) p->refused = refused, p->reason = reason;
  p->settled++;
  pte_wake_all(&p->wake);
  pte_lock_give(&p->lock);
}

/* Waits for the workers to settle. */
static pte_status settled(pool *p, pte_error *error) {
  pte_lock_take(&p->lock);
  while (p->settled < p->worker_count) pte_wake_wait(&p->wake, &p->lock);
  pte_lock_give(&p->lock);
  if (p->refused == NULL) return PTE_OK;
  char room[PTE_SYSTEM_ROOM];
  return pte_fail(error, PTE_IO, "pool: the system refused its %s: %s", p->refused,
                  pte_system_text(p->reason, room));
}

PTE_THREAD(worker_main) {
  worker self = *(worker *)argument;
  free(argument);
  uint64_t seen = 0;
  atomic_store(&self.pool->ids[self.index - 1], pte_thread_self());
  if (self.special) settle_worker(self.pool);
  (void)pte_fp_enter();
  for (;;) {
    wait_for_news(self.pool, seen);
    if (atomic_load(&self.pool->closing)) return 0;
    seen = atomic_load(&self.pool->ticket);
    if ((seen & 1) != 0) join(self.pool, seen, self.index);
  }
}

/* Only the process that made the threads may wake them: in a forked child the lock may be held for
 * ever. */
static void wake_parked(pool *p) {
  if (atomic_load(&p->awake) >= p->most_awake || pte_thread_owner() != p->owner) return;
  pte_lock_take(&p->lock);
  pte_places_leave(&p->places, p->worker_count, p->ids);
  for (; atomic_load(&p->awake) < p->most_awake; p->called++) {
    atomic_fetch_add(&p->awake, 1);
    pte_wake_one(&p->wake);
  }
  pte_lock_give(&p->lock);
}

/* A worker that takes long may have lost its processor to us. And long waits ask whether this is a
 * forked child: a worker that was just looking in is inside for ever there. */
static void wait_for_workers(pool *p) {
  for (uint32_t i = 0; atomic_load(&p->inside) != 0; i++) {
    relax();
    if (i % 1024 != 1023) continue;
    if (pte_thread_owner() != p->owner) return;
    pte_thread_yield();
  }
}

/* As many items for each, or as many of `unit` where fewer are not worth a task. */
static void deal(pool *p, size_t unit) {
  const size_t units = p->count / unit + (p->count % unit != 0);
  const size_t each = units / p->public.threads, over = units % p->public.threads;
  for (size_t i = 0, begin = 0; i < p->public.threads; i++) {
    const size_t end = begin + (each + (i < over)) * unit;
    p->shares[i].end = end < p->count ? end : p->count;
    atomic_store_explicit(&p->shares[i].next, begin, memory_order_relaxed);
    begin = end;
  }
}

static void pool_run(void *self, size_t count, size_t grain, pte_task task, void *context) {
  pool *p = self;
  if (count == 0) return;
  if (p->worker_count == 0 || count <= grain || atomic_flag_test_and_set(&p->busy)) {
    task(context, 0, count, 0);
    return;
  }
  size_t even = count / (p->public.threads * PTE_POOL_CHUNKS_PER_THREAD);
  p->task = task;
  p->context = context;
  p->count = count;
  p->chunk = even > grain ? even : (grain == 0 ? 1 : grain);
  deal(p, even > grain ? 1 : p->chunk);
  atomic_fetch_add(&p->ticket, 1);
  wake_parked(p);
  work(p, 0);
  atomic_fetch_add(&p->ticket, 1);
  wait_for_workers(p);
  atomic_flag_clear(&p->busy);
}

/* The caller has a processor of its own, unless the options say where workers are. */
static uint32_t awake_at_most(const pte_host_pool_options *o) {
  uint32_t workers = o->threads - 1, processors = o->processor_count;
  if (processors == 0) processors = pte_host_processors() - 1;
  return workers < processors ? workers : processors;
}

static pte_status start_workers(pool *p, pte_error *error) {
  for (uint32_t i = 0; i + 1 < p->public.threads; i++) {
    worker *self = malloc(sizeof *self);
    if (self == NULL) return pte_fail(error, PTE_NO_MEMORY, "pool: the system has no memory");
    *self = (worker){p, i + 1, is_special(p->options)};
    atomic_fetch_add(&p->awake, 1);
    int refused = pte_thread_start(&p->workers[i], worker_main, self);
    if (refused != 0) {
      char room[PTE_SYSTEM_ROOM];
      free(self);
      return pte_fail(error, PTE_IO, "pool: the system refused thread %u of %u: %s", i + 2,
                      p->public.threads, pte_system_text(refused, room));
    }
    p->worker_count++;
  }
  return is_special(p->options) ? settled(p, error) : PTE_OK;
}

static pte_status read_options(const pte_host_pool_options *given, pte_host_pool_options *out,
                               pte_error *error) {
  PTE_TRY(pte_sized_read(given, out, sizeof *out, "pool options", error));
  if (out->threads == 0) {
    uint32_t processors = pte_host_processors();
    out->threads = processors < PTE_POOL_MAX_THREADS ? processors : PTE_POOL_MAX_THREADS;
  }
  if (out->threads > PTE_POOL_MAX_THREADS)
    return pte_fail(error, PTE_BAD_ARGUMENT, "pool: expected at most %u threads, got %u",
                    PTE_POOL_MAX_THREADS, out->threads);
  if (out->niceness < -20 || out->niceness > 19)
    return pte_fail(error, PTE_BAD_ARGUMENT, "pool: expected a niceness of -20 to 19, got %d",
                    out->niceness);
  if (out->processor_count != 0 && out->processors == NULL)
    return pte_fail(error, PTE_BAD_ARGUMENT, "pool: processors is NULL");
  if (PTE_PROCESSORS_MAX == 0 && is_special(out))
    return pte_fail(error, PTE_UNSUPPORTED, "pool: this system has no niceness of threads");
  for (uint32_t i = 0; i < out->processor_count; i++)
    if (out->processors[i] >= PTE_PROCESSORS_MAX)
      return pte_fail(error, PTE_BAD_ARGUMENT, "pool: expected processors below %u, got %u",
                      (uint32_t)PTE_PROCESSORS_MAX, out->processors[i]);
  return PTE_OK;
}

pte_status pte_host_pool_open(const pte_host_pool_options *given, pte_pool **out,
                              pte_error *error) {
  pte_host_pool_options options;
  if (out == NULL) return pte_fail(error, PTE_BAD_ARGUMENT, "pool: out is NULL");
  PTE_TRY(read_options(given, &options, error));
  pool *p = calloc(1, sizeof *p);
  if (p == NULL) return pte_fail(error, PTE_NO_MEMORY, "pool: the system has no memory");
  p->public = (pte_pool){sizeof p->public, options.threads, p, pool_run};
  p->owner = pte_thread_owner();
  p->most_awake = awake_at_most(&options);
  p->options = &options;
  p->workers = calloc(options.threads, sizeof *p->workers);
  p->ids = calloc(options.threads, sizeof *p->ids);
  p->shares = calloc(options.threads, sizeof *p->shares);
  pte_places_open(&p->places, &options);
  atomic_flag_clear(&p->busy);
  pte_lock_open(&p->lock);
  pte_wake_open(&p->wake);
  pte_status status = p->workers == NULL || p->shares == NULL || p->ids == NULL
                          ? pte_fail(error, PTE_NO_MEMORY, "pool: the system has no memory")
                          : start_workers(p, error);
  p->options = NULL;
  if (status == PTE_OK) *out = &p->public;
  else pte_host_pool_close(&p->public);
  return status;
}

void pte_host_pool_close(pte_pool *public) {
  if (public == NULL) return;
  pool *p = public->self;
  if (pte_thread_owner() == p->owner) {
    atomic_store(&p->closing, true);
    pte_lock_take(&p->lock);
    pte_wake_all(&p->wake);
    pte_lock_give(&p->lock);
    for (uint32_t i = 0; i < p->worker_count; i++) pte_thread_join(p->workers[i]);
  }
  free(p->workers);
  free(p->shares);
  free(p->ids);
  free(p);
}

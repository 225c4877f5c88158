/* Linked into remote.c's program with -Wl,--wrap=pte_parallel: every kernel's work is divided into
 * single items, on real threads, whatever its grain. For the thread sanitizer: what two items touch
 * without saying so is a race. */
#include <pthread.h>
#include <stdlib.h>

#include "core/kernel.h"

enum { MOST = 8 };

void __real_pte_parallel(const pte_call *call, size_t count, size_t grain, pte_task task,
                         void *context);
void __wrap_pte_parallel(const pte_call *call, size_t count, size_t grain, pte_task task,
                         void *context);

typedef struct share {
  pte_task task;
  void *context;
  size_t count, step;
  uint32_t thread;
} share;

static void *run_share(void *self) {
  const share *s = self;
  for (size_t i = s->thread; i < s->count; i += s->step) s->task(s->context, i, i + 1, s->thread);
  return NULL;
}

static void run_apart(void *self, size_t count, size_t grain, pte_task task, void *context) {
  const uint32_t threads = *(const uint32_t *)self;
  pthread_t others[MOST];
  share shares[MOST];
  (void)grain;
  for (uint32_t t = 0; t < threads; t++) {
    shares[t] = (share){task, context, count, threads, t};
    if (t > 0 && pthread_create(&others[t], NULL, run_share, &shares[t]) != 0) abort();
  }
  run_share(&shares[0]);
  for (uint32_t t = 1; t < threads; t++) pthread_join(others[t], NULL);
}

void __wrap_pte_parallel(const pte_call *call, size_t count, size_t grain, pte_task task,
                         void *context) {
  uint32_t threads = call->threads < MOST ? call->threads : MOST;
  const pte_pool apart = {sizeof apart, threads, &threads, run_apart};
  pte_call mine = *call;
  (void)grain;
  mine.pool = &apart;
  mine.threads = threads;
  __real_pte_parallel(&mine, count, 1, task, context);
}

/* Threads of POSIX systems; host/thread.h says what each name is. Included first: Linux has some of
 * it only with _GNU_SOURCE. */
#ifndef PTE_HOST_POSIX_THREAD_H
#define PTE_HOST_POSIX_THREAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif
#include <unistd.h>

#include "pteron/host.h"

typedef pthread_t pte_thread;
typedef pthread_mutex_t pte_lock;
typedef pthread_cond_t pte_wake;
typedef pid_t pte_owner;

#define PTE_THREAD(name) static void *name(void *argument)

static inline int pte_thread_start(pte_thread *out, void *(*main)(void *), void *argument) {
  return pthread_create(out, NULL, main, argument);
}
static inline void pte_thread_join(pte_thread thread) { pthread_join(thread, NULL); }
static inline void pte_thread_yield(void) { sched_yield(); }
static inline pte_owner pte_thread_owner(void) { return getpid(); }

static inline void pte_lock_open(pte_lock *lock) { pthread_mutex_init(lock, NULL); }
static inline void pte_lock_take(pte_lock *lock) { pthread_mutex_lock(lock); }
static inline void pte_lock_give(pte_lock *lock) { pthread_mutex_unlock(lock); }

static inline void pte_wake_open(pte_wake *wake) { pthread_cond_init(wake, NULL); }
static inline void pte_wake_wait(pte_wake *wake, pte_lock *lock) { pthread_cond_wait(wake, lock); }
static inline void pte_wake_one(pte_wake *wake) { pthread_cond_signal(wake); }
static inline void pte_wake_all(pte_wake *wake) { pthread_cond_broadcast(wake); }

#if defined(__linux__)
#define PTE_PROCESSORS_MAX CPU_SETSIZE

static inline const char *pte_thread_settle(const pte_host_pool_options *o) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  for (uint32_t i = 0; i < o->processor_count; i++) CPU_SET(o->processors[i], &allowed);
  if (o->processor_count != 0 && sched_setaffinity(0, sizeof allowed, &allowed) != 0)
    return "processors";
  if (o->niceness != 0 && setpriority(PRIO_PROCESS, 0, o->niceness) != 0) return "niceness";
  return NULL;
}

typedef pid_t pte_thread_id;
typedef struct pte_places {
  cpu_set_t allowed; /* of the thread that opens the pool, which its workers have from it */
  int left;          /* the processor that they do not have now, or -1 */
} pte_places;

static inline pte_thread_id pte_thread_self(void) { return (pid_t)syscall(SYS_gettid); }

static inline void pte_places_open(pte_places *p, const pte_host_pool_options *o) {
  p->left = -1;
  CPU_ZERO(&p->allowed);
  if (o->processor_count == 0) (void)sched_getaffinity(0, sizeof p->allowed, &p->allowed);
}

static inline void pte_places_leave(pte_places *p, size_t count, _Atomic pte_thread_id *threads) {
  const int here = sched_getcpu();
  cpu_set_t others = p->allowed;
  if (here < 0 || here >= CPU_SETSIZE || here == p->left) return;
  CPU_CLR((size_t)here, &others);
  if (CPU_COUNT(&others) == 0) return;
  p->left = here;
  for (size_t i = 0; i < count; i++) {
    pid_t thread = threads[i];
    if (thread != 0) (void)sched_setaffinity(thread, sizeof others, &others);
    else p->left = -1; /* it has not begun: another time */
  }
}
#else
#define PTE_PROCESSORS_MAX 0
PTE_PLACES_UNKNOWN

static inline const char *pte_thread_settle(const pte_host_pool_options *o) {
  (void)o;
  return NULL;
}
#endif

#endif

/* Threads, of the system that this is compiled for. Both files have the same names:
 *
 *   pte_thread, pte_lock, pte_wake  a thread, a mutex, a condition to wait for under one
 *   PTE_THREAD(name)                head of a thread's function; it gets `argument`, returns 0
 *   pte_thread_start                0, or the system's error (pte_system_text)
 *   pte_thread_settle               gives the calling thread the options' niceness and
 *                                   processors: what was refused (pte_system_error), or NULL
 *   pte_thread_owner                of this process; another in a forked child
 *   PTE_PROCESSORS_MAX              numbers of processors are below it; 0: it has no settings
 *   pte_places_leave                before workers are woken: they do not get the processor of
 *                                   the calling thread, where a system would put them together
 *                                   and leave another one idle for milliseconds */
#ifndef PTE_HOST_THREAD_H
#define PTE_HOST_THREAD_H

/* For systems that are not asked. */
#define PTE_PLACES_UNKNOWN                                                                         \
  typedef char pte_thread_id;                                                                      \
  typedef char pte_places;                                                                         \
  static inline pte_thread_id pte_thread_self(void) { return 0; }                                  \
  static inline void pte_places_open(pte_places *p, const pte_host_pool_options *o) {              \
    (void)p, (void)o;                                                                              \
  }                                                                                                \
  static inline void pte_places_leave(pte_places *p, size_t n, _Atomic pte_thread_id *threads) {   \
    (void)p, (void)n, (void)threads;                                                               \
  }

#if defined(_WIN32)
#include "host/win32/thread.h"
#else
#include "host/posix/thread.h"
#endif

#endif

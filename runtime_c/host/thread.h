/* Threads, of the system that this is compiled for. Both files have the same names:
 *
 *   pte_thread, pte_lock, pte_wake    a thread, a mutex, a condition to wait for under one
 *   PTE_THREAD(name)                  head of a thread's function; it gets `argument`, returns 0
 *   pte_thread_start                  0, or the system's error (pte_system_text)
 *   pte_thread_settle                 gives the calling thread the options' niceness and
 * processors: what was refused (pte_system_error), or NULL pte_thread_owner                  of
 * this process; another in a forked child PTE_PROCESSORS_MAX                numbers of processors
 * are below it; 0: it has no settings */
#ifndef PTE_HOST_THREAD_H
#define PTE_HOST_THREAD_H

#if defined(_WIN32)
#include "host/win32/thread.h"
#else
#include "host/posix/thread.h"
#endif

#endif

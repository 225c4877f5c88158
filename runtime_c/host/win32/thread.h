/* Threads of Windows; host/thread.h says what each name is. */
#ifndef PTE_HOST_WIN32_THREAD_H
#define PTE_HOST_WIN32_THREAD_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "pteron/host.h"

typedef HANDLE pte_thread;
typedef SRWLOCK pte_lock;
typedef CONDITION_VARIABLE pte_wake;
typedef DWORD pte_owner;

#define PTE_THREAD(name) static DWORD WINAPI name(void *argument)

static inline int pte_thread_start(pte_thread *out, LPTHREAD_START_ROUTINE main, void *argument) {
  *out = CreateThread(NULL, 0, main, argument, 0, NULL);
  return *out != NULL ? 0 : (int)GetLastError();
}
static inline void pte_thread_join(pte_thread thread) {
  WaitForSingleObject(thread, INFINITE);
  CloseHandle(thread);
}
static inline void pte_thread_yield(void) { SwitchToThread(); }
static inline pte_owner pte_thread_owner(void) { return 0; } /* processes do not fork */

static inline void pte_lock_open(pte_lock *lock) { InitializeSRWLock(lock); }
static inline void pte_lock_take(pte_lock *lock) { AcquireSRWLockExclusive(lock); }
static inline void pte_lock_give(pte_lock *lock) { ReleaseSRWLockExclusive(lock); }

static inline void pte_wake_open(pte_wake *wake) { InitializeConditionVariable(wake); }
static inline void pte_wake_wait(pte_wake *wake, pte_lock *lock) {
  SleepConditionVariableSRW(wake, lock, INFINITE, 0);
}
static inline void pte_wake_one(pte_wake *wake) { WakeConditionVariable(wake); }
static inline void pte_wake_all(pte_wake *wake) { WakeAllConditionVariable(wake); }

PTE_PLACES_UNKNOWN
#define PTE_PROCESSORS_MAX 64 /* of a group: the process's own */

/* Windows has five priorities where others have forty. */
static inline int pte_thread_priority(int32_t niceness) {
  if (niceness < 0) return niceness < -10 ? THREAD_PRIORITY_HIGHEST : THREAD_PRIORITY_ABOVE_NORMAL;
  return niceness > 10 ? THREAD_PRIORITY_LOWEST : THREAD_PRIORITY_BELOW_NORMAL;
}

static inline const char *pte_thread_settle(const pte_host_pool_options *o) {
  DWORD_PTR allowed = 0;
  for (uint32_t i = 0; i < o->processor_count; i++) allowed |= (DWORD_PTR)1 << o->processors[i];
  if (o->processor_count != 0 && SetThreadAffinityMask(GetCurrentThread(), allowed) == 0)
    return "processors";
  if (o->niceness != 0 && !SetThreadPriority(GetCurrentThread(), pte_thread_priority(o->niceness)))
    return "niceness";
  return NULL;
}

#endif

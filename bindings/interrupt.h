/* The interrupt key while a run of the main thread is under way: Python's own handler only notes
 * the signal until the call returns, so it is put behind one that also sets the run's `cancel`.
 * Nothing but a write to a flag happens in the handler; the previous one is put back after the run.
 * Without POSIX signals (or with a handler that is not Python's plain one) the key does what it did
 * before: it waits for the run to end. */
#ifndef PTERON_INTERRUPT_H
#define PTERON_INTERRUPT_H

#include <stddef.h>

static volatile int pteron_interrupted;

#if defined(__unix__) || defined(__APPLE__)
#include <signal.h>

static struct sigaction pteron_before;
static int pteron_is_watching;

static void pteron_on_interrupt(int signal) {
  pteron_interrupted = 1;
  pteron_before.sa_handler(signal);
}

/* The main thread calls both, around a run. NULL: the key is not watched, here or by a run around
 * this one. */
static const int *pteron_interrupt_watch(void) {
  struct sigaction ours;
  if (pteron_is_watching || sigaction(SIGINT, NULL, &pteron_before) != 0) return NULL;
  if ((pteron_before.sa_flags & SA_SIGINFO) != 0 || pteron_before.sa_handler == SIG_DFL ||
      pteron_before.sa_handler == SIG_IGN)
    return NULL;
  pteron_interrupted = 0;
  ours = pteron_before;
  ours.sa_handler = pteron_on_interrupt;
  pteron_is_watching = sigaction(SIGINT, &ours, NULL) == 0;
  return pteron_is_watching ? (const int *)&pteron_interrupted : NULL;
}

static void pteron_interrupt_leave(void) {
  pteron_is_watching = 0;
  (void)sigaction(SIGINT, &pteron_before, NULL);
}
#else
static const int *pteron_interrupt_watch(void) { return NULL; }
static void pteron_interrupt_leave(void) {}
#endif

#endif

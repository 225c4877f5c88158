/* When a run is to end early: its watch, and the pace at which kernels look at it.
 *
 * A run has one watch, which all its threads share. Whoever finds that the run is cancelled or late
 * notes why; the others see that at their next look. A kernel then returns as it stands, with any
 * status: the session says what happened, and results are unspecified.
 *
 * Between two looks a thread does at most PTE_CHUNK elementary operations (an element read, moved
 * or put through one step, one multiply-add) and then what cannot be divided: a register tile, a
 * block of columns, under another PTE_CHUNK. */
#ifndef PTE_WATCH_H
#define PTE_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "pteron/pteron.h"

#define PTE_CHUNK (1 << 20) /* about a millisecond at one operation a nanosecond */

typedef struct pte_watch {
  const pte_run_options *until; /* complete: cancel, deadline_ns, now, now_self */
  int64_t chunk;                /* PTE_CHUNK; tests take less, to meet every border */
  _Atomic uint32_t ended; /* PTE_CANCELLED or PTE_DEADLINE once a look has found it, else PTE_OK */
} pte_watch;

/* Whether the run is to end. From any thread. */
bool pte_watch_look(pte_watch *watch);

/* Counts operations down to the next look; one a thread. */
typedef struct pte_pace {
  pte_watch *watch; /* NULL: nobody ever ends this run */
  int64_t left;
} pte_pace;

static inline pte_pace pte_pace_of(pte_watch *watch) {
  return (pte_pace){watch, watch == NULL ? 0 : watch->chunk};
}

/* How many of the next `left` items of `cost` operations each to do now, a multiple of `unit` or
 * all; 0: the run is to end, or left is 0. Work that has a unit stays whole up to it.
 *
 *     for (int64_t at = 0, count; at < n; at += count) {
 *       if ((count = pte_pace_take(&pace, n - at, 2, 16)) == 0) return;
 *       ... elements at .. at + count
 *     } */
int64_t pte_pace_take(pte_pace *pace, int64_t left, int64_t cost, int64_t unit);

/* The same for work that is done as a whole: false: the run is to end. */
bool pte_pace_go(pte_pace *pace, int64_t cost);

#endif

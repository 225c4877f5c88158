/* What kernels conclude from the machine that a call is for (pte_machine): how rows meet in its
 * first cache, and how many lines it has under way. kernels/blocks.h has the sizes of blocks.
 *
 * What nobody knows is that of a usual machine: a first cache of 32 KiB in eight ways, a second one
 * of 512 KiB. A build for small machines (PTE_SMALL_BUFFERS) is for that one alone, so that all of
 * it is constant. */
#ifndef PTE_MACHINE_H
#define PTE_MACHINE_H

#include "core/kernel.h"

enum {
  PTE_USUAL_L1 = 32 << 10,
  PTE_USUAL_L2 = 512 << 10,
  PTE_USUAL_WAY = 4096,   /* bytes: PTE_USUAL_L1 in its eight ways */
  PTE_MANY_MISSES = 32,   /* keep memory busy: 42 of 64 bytes in 90 ns are 30 GB/s */
  PTE_FAR_MEMORY_NS = 110 /* two streams of a core do not keep it busy */
};

static inline const pte_machine *pte_call_machine(const pte_call *call) {
#ifdef PTE_SMALL_BUFFERS
  static const pte_machine usual = {.size = 0};
  (void)call;
  return &usual;
#else
  return call->machine;
#endif
}

/* Bytes after which the sets of the first cache come again: its lines times its sets. */
static inline size_t pte_machine_way(const pte_machine *m) {
  const size_t way = m->l1.ways == 0 ? 0 : m->l1.bytes / m->l1.ways;
  return way == 0 ? PTE_USUAL_WAY : way;
}

/* Whether lines so many bytes apart fall into one set of the first cache and push each other out
 * where there are more of them than it has ways. */
static inline bool pte_machine_same_set(const pte_machine *m, size_t bytes) {
  return bytes % pte_machine_way(m) == 0;
}

/* Whether the first cache follows so many misses that prefetching each line into it pays. Older
 * processors of x86 follow 10 to 24, fewer than keep memory busy. */
static inline bool pte_machine_many_misses(const pte_machine *m) {
#if defined(__x86_64__) || defined(__i386__)
  return m->misses >= PTE_MANY_MISSES;
#else
  return m->misses == 0 || m->misses >= PTE_MANY_MISSES;
#endif
}

/* Whether memory is so far off that it takes four streams to keep it busy. */
static inline bool pte_machine_far_memory(const pte_machine *m) {
  return m->memory_ns >= PTE_FAR_MEMORY_NS;
}

#endif

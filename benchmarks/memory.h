/* Scratch and kept memory of a kernel that a benchmark calls without a session. */
#ifndef PTE_BENCH_MEMORY_H
#define PTE_BENCH_MEMORY_H

#include <stdlib.h>

#include "core/kernel.h"

static inline void memory_drop(pte_call *call) {
  free(call->scratch), free(call->kept);
  call->scratch = call->kept = NULL;
}

/* What a session does once for these shapes; ends the program where the kernel does not take them.
 */
static inline void memory_take(const pte_kernel *kernel, pte_call *call) {
  pte_needs needs = {0, 0};
  if ((kernel->check != NULL && kernel->check(call) != PTE_OK) ||
      (kernel->needs != NULL && kernel->needs(call, &needs) != PTE_OK))
    exit(1);
  call->scratch = aligned_alloc(64, (size_t)(needs.scratch + 127) / 64 * 64);
  call->kept = aligned_alloc(64, (size_t)(needs.kept + 127) / 64 * 64);
  if (kernel->keep != NULL && kernel->keep(call) != PTE_OK) exit(1);
}

/* A run with weights at another address. */
static inline void memory_run_anew(const pte_kernel *kernel, const pte_call *call) {
  if (kernel->keep != NULL && kernel->keep(call) != PTE_OK) exit(1);
  if (kernel->run(call) != PTE_OK) exit(1);
}

#endif

/* Which delegate runs which subgraph of a session. */
#ifndef PTE_SESSION_DELEGATES_H
#define PTE_SESSION_DELEGATES_H

#include "session/execution.h"

/* Adds to `arena` (measuring) the instances' memory. */
PTE_CHECKED pte_status pte_delegates_measure(const pte_program *program, uint32_t method,
                                             pte_arena *arena, pte_error *err);

/* Opens an instance for each entry that the method uses and a permitted delegate accepts; the
 * others run their fallback. PTE_DELEGATE: there is no delegate for an entry, and no fallback or a
 * policy that forbids it. Then nothing is open. */
PTE_CHECKED pte_status pte_delegates_open(pte_session *s, pte_arena *arena, pte_error *err);

/* Prepares the delegate of instruction `work`, or gives it to its fallback where the delegate fails
 * and that may be. PTE_DELEGATE: it may not. */
PTE_CHECKED pte_status pte_delegate_check(pte_session *s, uint32_t work, uint64_t *out_scratch,
                                          pte_error *err);

/* Runs it, or gives the instruction to its fallback where it fails and that may be. PTE_DELEGATE:
 * it may not; PTE_CANCELLED, PTE_DEADLINE. */
PTE_CHECKED pte_status pte_delegate_run(pte_execution *run, uint32_t work);

#endif

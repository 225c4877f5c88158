/* Which delegate runs which subgraph of a session. */
#ifndef PTE_SESSION_DELEGATES_H
#define PTE_SESSION_DELEGATES_H

#include "session/session.h"

/* Adds to `arena` (measuring) the instances' memory. */
PTE_CHECKED pte_status pte_delegates_measure(const pte_program *program, uint32_t method,
                                             pte_arena *arena, pte_error *err);

/* Opens an instance for each entry that the method uses and a permitted delegate accepts; the
 * others run their fallback. PTE_DELEGATE: there is no delegate for an entry, and no fallback or a
 * policy that forbids it. Then nothing is open. */
PTE_CHECKED pte_status pte_delegates_open(pte_session *s, pte_arena *arena, pte_error *err);

#endif

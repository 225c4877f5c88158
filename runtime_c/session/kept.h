/* What kernels keep from a prepare for all runs behind it: between the planned values and the
 * scratch, a room for each instruction, then one that the late ones share. */
#ifndef PTE_SESSION_KEPT_H
#define PTE_SESSION_KEPT_H

#include "session/session.h"

/* When the session is opened: which instructions are late, those of delegates' fallbacks among
 * them, so that a program that runs on a delegate has no memory for them. */
void pte_kept_mark(pte_session *s);

/* Adds the room of an instruction, whole lines. */
void pte_kept_plan(pte_session *s, uint32_t work, uint64_t bytes);

/* Gives all instructions their rooms from `base` on. */
void pte_kept_place(pte_session *s, unsigned char *base);

/* Fills the rooms of those that are not late; constants have their addresses. */
PTE_CHECKED pte_status pte_kept_fill(pte_session *s, pte_error *err);

/* Runs the kernel of an instruction whose `run` is NULL, and before it, if it is late, its `keep`.
 */
PTE_CHECKED pte_status pte_kept_run(const pte_work *work);

#endif

/* Which memory a run may read before the program wrote it. */
#ifndef PTE_WRITTEN_H
#define PTE_WRITTEN_H

#include "session/session.h"

/* Marks planned values and outputs of which nothing proves that instructions write an element
 * before they, or the caller, read it: PTE_SLOT_CLEAR. Sizes are known. Sets sizes.cleared_bytes.
 */
void pte_written_find(pte_session *s);

/* Clears them; their memory is bound. So what a run gives follows from its inputs, the states and
 * the file: no bytes of an earlier run or of the caller's memory are in it. */
void pte_written_clear(const pte_session *s);

#endif

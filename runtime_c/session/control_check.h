/* What prepare can say of control flow. */
#ifndef PTE_CONTROL_CHECK_H
#define PTE_CONTROL_CHECK_H

#include "session/session.h"

/* Sizes of what an instruction over blocks copies and binds, counted ones left out.
 * PTE_BAD_PROGRAM: they differ. */
PTE_CHECKED pte_status pte_control_check(pte_session *s, uint32_t work, pte_error *err);

#endif

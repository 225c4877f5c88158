/* Where planned values and states lie. */
#ifndef PTE_PLAN_H
#define PTE_PLAN_H

#include "session/session.h"

/* Offsets of planned values and of states, and `sizes` but for scratch. PTE_LIMIT: more than 63
 * bits. */
PTE_CHECKED pte_status pte_plan(pte_session *s, pte_error *err);

#endif

/* Where planned values and states lie. */
#ifndef PTE_PLAN_H
#define PTE_PLAN_H

#include "session/session.h"

/* The offset of value `v` where it is planned or a state, and what that adds to `sizes`. Values
 * come in order, each with its room known. PTE_LIMIT: more than 63 bits. */
PTE_CHECKED pte_status pte_plan_value(pte_session *s, uint32_t v, pte_error *err);

#endif

/* States: memory that outlives runs. */
#ifndef PTE_STATE_H
#define PTE_STATE_H

#include "session/session.h"

/* Gives every state its initial value. */
void pte_states_reset(pte_session *s);

#endif

/* The ports of a session's method. */
#ifndef PTE_PORTS_H
#define PTE_PORTS_H

#include "session/session.h"

/* Names of input and output `index`. Borrowed until the program's memory goes. */
const char *pte_session_input_name(const pte_session *s, uint32_t index);
const char *pte_session_output_name(const pte_session *s, uint32_t index);

#endif

/* The ports of a session's method. */
#ifndef PTE_PORTS_H
#define PTE_PORTS_H

#include "session/session.h"

/* Names of input and output `index`. Borrowed until the program's memory goes. */
const char *pte_session_input_name(const pte_session *s, uint32_t index);
const char *pte_session_output_name(const pte_session *s, uint32_t index);

/* Extents and bytes of value `v` as they are now. PTE_BAD_ARGUMENT: `out` does not say its size. */
PTE_CHECKED pte_status pte_port_extents(const pte_session *s, uint32_t v, pte_extents *out);

#endif

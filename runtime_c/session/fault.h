/* What a kernel says about a failure, as text: instruction, operator, operand, position, got,
 * expected. */
#ifndef PTE_FAULT_H
#define PTE_FAULT_H

#include "core/error.h"
#include "session/session.h"

/* Forgets what an earlier call said: a kernel may fail without a word. */
void pte_fault_clear(pte_session *s);

/* Says in `err` (may be NULL) that its failure is of instruction `work`, with its node's name. */
PTE_COLD void pte_fault_where(const pte_session *s, uint32_t work, pte_error *err);

/* The same of value `v`, which could not be sized: the instruction that makes it, or what it is a
 * view of. */
PTE_COLD void pte_fault_value(const pte_session *s, uint32_t v, pte_error *err);

/* The session's fault, of instruction `work`, as text. Returns `status`. */
PTE_COLD pte_status pte_fault_text(const pte_session *s, uint32_t work, pte_status status,
                                   pte_error *err);

/* A failure of instruction `work` that is no number's: what is wrong with `port` (outputs from 128;
 * 255 = none). Returns `status`. */
PTE_COLD pte_status pte_fault_at(pte_session *s, uint32_t work, pte_status status, const char *text,
                                 uint32_t port, pte_error *err);

/* The same of axis `axis` of `port`, which has another extent than expected. Returns `status`. */
PTE_COLD pte_status pte_fault_extent(const pte_session *s, uint32_t work, pte_status status,
                                     uint32_t port, uint32_t axis, int64_t expected, int64_t got,
                                     pte_error *err);

#endif

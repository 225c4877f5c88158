/* Whether an instruction's operands are what its kernel relies on (prepare.c says what that is). */
#ifndef PTE_SESSION_CHECK_H
#define PTE_SESSION_CHECK_H

#include "session/session.h"

/* Instruction `work` without its kernel's opinion, then with it. `placed`: addresses are real.
 * `out_needs` gets the bytes that the kernel asks for, of kept ones whole lines. */
PTE_CHECKED pte_status pte_check_overlap(pte_session *s, uint32_t work, bool placed,
                                         pte_error *err);
PTE_CHECKED pte_status pte_check_work(pte_session *s, uint32_t work, bool placed,
                                      pte_needs *out_needs, pte_error *err);

/* Whether two tensors of the session lie apart, or are the same elements in the same places, before
 * any has an address. Of overlapping ranges only so many are looked into; the others touch. */
bool pte_check_apart(pte_session *s, const pte_tensor *a, const pte_tensor *b);
bool pte_check_same(const pte_session *s, const pte_tensor *a, const pte_tensor *b);

#endif

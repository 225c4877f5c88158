/* From expressions to tensors: extents, strides, where the first element is, and that it all lies
 * inside its memory. */
#ifndef PTE_VALUES_H
#define PTE_VALUES_H

#include "session/session.h"

/* Shape, strides, first element of value `v` from the expressions. `fix`: its room grows to what
 * these sizes need; else they must fit in the room it has. PTE_BAD_ARGUMENT, PTE_BAD_PROGRAM: an
 * extent or a view is wrong; PTE_LIMIT: it does not fit in its room. */
PTE_CHECKED pte_status pte_value_size(pte_session *s, uint32_t v, bool fix, pte_error *err);

/* The address of value `v` from arena, state, constants or base. INPUT, OUTPUT and PARAM are bound
 * by others. */
void pte_value_place(pte_session *s, uint32_t v);

/* Both for the value that `tensor` is, while running: sizes as counted dimensions now say, the
 * address as bound params now say. PTE_LIMIT: it does not fit in its room. */
PTE_CHECKED pte_status pte_value_refresh(pte_session *s, const pte_tensor *tensor, pte_error *err);

/* Fails with "value <v>: <text>". */
pte_status pte_value_misfit(const pte_session *s, uint32_t v, pte_status status, const char *text,
                            pte_error *err);

#endif

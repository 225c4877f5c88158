/* From the shapes that the caller gives to a value for every dimension and expression. */
#ifndef PTE_BIND_H
#define PTE_BIND_H

#include "session/session.h"

/* Binds dimensions from shapes and shape inputs; evaluates all expressions, sets
 * `*changed` where one is another than last time; checks ports and relations.
 * PTE_BAD_ARGUMENT: a shape does not fit. */
PTE_CHECKED pte_status pte_bind(pte_session *s, const pte_prepare_options *options, bool *changed,
                                pte_error *err);

#endif

/* Evaluates the relations of an operator's row: what must hold between extents, attributes and
 * element types beyond the shape line. schema/relation.py has the language and its meaning. */
#ifndef PTE_RELATION_H
#define PTE_RELATION_H

#include "core/match.h"

/* Evaluates the relations of the match's row, in order, on what its ports bound; extents that are
 * not known, and operands that are absent, decide nothing. `tables->extents` may be NULL.
 * PTE_BAD_PROGRAM: one does not hold; the fault says which name it is about, got and expected. */
PTE_CHECKED pte_status pte_relations_hold(const pte_shape_match *match, const pte_tables *tables,
                                          pte_fault *fault);

#endif

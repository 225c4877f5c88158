/* Runs the shape line and the relations of an operator's row: ranks, types and attributes at
 * verify, extents too at prepare. One row, one code for both. */
#ifndef PTE_SHAPE_H
#define PTE_SHAPE_H

#include "core/match.h"

/* Begins a match; `attrs` is the operator's complete attribute struct. */
void pte_shape_begin(pte_shape_match *match, const pte_op_row *row, const void *attrs);

/* Compares the next port, inputs before outputs in order, absent ones left out. PTE_BAD_PROGRAM:
 * the fault's port is set; position is the axis (-1: the rank). */
PTE_CHECKED pte_status pte_shape_port(pte_shape_match *match, bool output, uint32_t i,
                                      const pte_operand *operand, pte_fault *fault);

/* Both, and the relations, for all tensors of a call. PTE_BAD_PROGRAM: `call->fault` is set. */
PTE_CHECKED pte_status pte_shape_check(const pte_op_row *row, const pte_call *call);

#endif

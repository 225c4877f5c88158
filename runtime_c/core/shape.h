/* Runs the shape line and the relations of an operator's row: ranks, types and attributes at
 * verify, extents too at prepare. One row, one code for both. */
#ifndef PTE_SHAPE_H
#define PTE_SHAPE_H

#include "core/op.h"

/* What a row looks at of a value. */
typedef struct pte_operand {
  const int64_t *shape; /* NULL: the extents are not known yet */
  uint16_t format, groups;
  uint8_t rank, dtype;
} pte_operand;

/* Dimensions, runs and operands bound so far. Shapes given to it are borrowed until the match ends.
 */
typedef struct pte_shape_match {
  const pte_op_row *row;
  const void *attrs;
  int64_t dims[PTE_MAX_SHAPE_SLOTS];
  const int64_t *runs[PTE_MAX_SHAPE_SLOTS]; /* NULL extents: only lengths are compared */
  uint8_t run_ranks[PTE_MAX_SHAPE_SLOTS];
  uint8_t dim_places[PTE_MAX_SHAPE_SLOTS], run_places[PTE_MAX_SHAPE_SLOTS]; /* see place_of */
  pte_operand operands[PTE_MAX_SHAPE_SLOTS];       /* of ports of one value: inputs, then outputs */
  uint32_t dims_bound, runs_bound, operands_bound; /* bit i: slot i is bound */
} pte_shape_match;

/* Begins a match; `attrs` is the operator's complete attribute struct. */
void pte_shape_begin(pte_shape_match *match, const pte_op_row *row, const void *attrs);

/* Compares the next port, inputs before outputs in order, absent ones left out. PTE_BAD_PROGRAM:
 * the fault's port is set; position is the axis (-1: the rank). */
PTE_CHECKED pte_status pte_shape_port(pte_shape_match *match, bool output, uint32_t i,
                                      const pte_operand *operand, pte_fault *fault);

/* Both, and the relations, for all tensors of a call. PTE_BAD_PROGRAM: `call->fault` is set. */
PTE_CHECKED pte_status pte_shape_check(const pte_op_row *row, const pte_call *call);

#endif

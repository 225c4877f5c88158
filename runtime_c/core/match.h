/* What an operator's row has bound of an instruction's operands so far: shape.h fills it in, the
 * relations (relation.h) read it. */
#ifndef PTE_MATCH_H
#define PTE_MATCH_H

#include "core/op.h"

/* What a row looks at of a value. */
typedef struct pte_operand {
  const int64_t *shape; /* NULL: the extents are not known yet */
  uint16_t groups;
  uint8_t format, block, rank, dtype;
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

#endif

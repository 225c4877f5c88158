/* Where a matrix result goes: a tensor of any strides as rows (all axes but the last) of columns.
 */
#ifndef PTE_PLACE_H
#define PTE_PLACE_H

#include "kernels/rows/rows.h"

/* Rows at equal distances, elements one behind the other: then element [row][column] is at row *
 * stride + column. */
static inline bool pte_place_even(const pte_tensor *t, size_t *out_stride) {
  unsigned last = t->rank - 1u;
  pte_rows rows = pte_rows_of(t, 0, last);
  *out_stride = rows.length == 1 ? 0 : (size_t)rows.step;
  return rows.rank == 0 && rows.step >= 0 && (t->stride[last] == 1 || t->shape[last] == 1);
}

/* Copies a block of results to rows row .. row + rows, columns column .. column + columns of `t`.
 */
void pte_place_put(const pte_tensor *t, size_t row, size_t rows, size_t column, size_t columns,
                   const float *block, size_t block_stride);

#endif

/* What happens to a finished sum while it is still in a register: up to two addends (a bias, a
 * residual), then limits (relu, clip). It is what the commonest epilogues say; any other program
 * runs by kernels/gemm/epilogue.h over what was stored. The operations and their order are those
 * of the program, so the bits are too. */
#ifndef PTE_FINISH_H
#define PTE_FINISH_H

#include "core/kernel.h"
#include "kernels/gemm/finish_f32.h"

/* The finish of an operator with a program `steps` over y and in[first_x] ..., and the bias in
 * front of these (NULL: none). Returns whether it says the whole program; else it is the bias
 * alone, and the program is still to be run. */
bool pte_finish_of(const pte_call *call, pte_steps steps, uint32_t first_x, pte_finish_f32 *out);

/* The same, seen from the element at `row`, `column`. */
static inline pte_finish_f32 pte_finish_at(const pte_finish_f32 *finish, size_t row,
                                           size_t column) {
  pte_finish_f32 moved = *finish;
  for (unsigned i = 0; i < PTE_ADDENDS; i++)
    if (moved.add[i] != NULL) moved.add[i] += row * moved.add_stride[i] + column;
  return moved;
}

/* One element. NaN stays, as in the steps min and max; of equals the limit is taken. */
static inline float pte_finish_one(const pte_finish_f32 *finish, float y, size_t row,
                                   size_t column) {
  for (unsigned i = 0; i < PTE_ADDENDS; i++)
    if (finish->add[i] != NULL) y += finish->add[i][row * finish->add_stride[i] + column];
  if (finish->at_least && y <= finish->low) y = finish->low;
  if (finish->at_most && y >= finish->high) y = finish->high;
  return y;
}

/* The same of `count` elements at y, from `column` on. */
void pte_finish_row(const pte_finish_f32 *finish, size_t row, size_t column, size_t count,
                    float *y);

#endif

/* How a scattered element meets the one that is there. */
#ifndef PTE_COMBINE_H
#define PTE_COMBINE_H

#include "core/kernel.h"

/* y[i * y_step] op= u[i * u_step], in the order of i. Integers wrap; max and min are NaN when
 * either is; on bool, add and max are `or`, mul and min are `and`. */
typedef void (*pte_combine)(void *y, int64_t y_step, const void *u, int64_t u_step, int64_t count);

/* `reduction` counts as in scatter_elements and scatter_nd: none, add, mul, max, min. NULL: not for
 * this type. */
pte_combine pte_combine_pick(unsigned dtype, unsigned reduction);

#endif

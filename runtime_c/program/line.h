/* Sizes that are a multiple of one dimension, plus a number: from such an axis comes the
 * dimension's size. */
#ifndef PTE_LINE_H
#define PTE_LINE_H

#include <stdbool.h>

#include "gen/layout.h"

/* factor * dimension + offset; factor > 0. */
typedef struct pte_line {
  int64_t factor, offset;
  uint32_t dim;
} pte_line;

/* Says whether expression `index` of a verified table is written as such a line, and which. */
bool pte_line_of(const pte_file_expr *exprs, uint32_t index, pte_line *out);

/* The line at a size of its dimension; `otherwise` where that does not fit in 64 bits. */
int64_t pte_line_at(const pte_line *line, int64_t size, int64_t otherwise);

/* The size of the dimension at which the line is `value`; false where there is none. */
bool pte_line_solve(const pte_line *line, int64_t value, int64_t *out);

#endif

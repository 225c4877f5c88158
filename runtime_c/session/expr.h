/* Sizes: the program's integer expressions over its dimensions, evaluated for one set of shapes. */
#ifndef PTE_EXPR_H
#define PTE_EXPR_H

#include <stdbool.h>

#include "gen/layout.h"

/* What is known of an expression or dimension. */
typedef enum pte_known {
  PTE_UNBOUND = 0, /* depends on a dimension that nothing has bound */
  PTE_KNOWN = 1,
  PTE_OVERFLOW = 2, /* does not fit in 64 bits */
  PTE_DIVIDED = 3   /* divided by zero */
} pte_known;

/* One evaluation. The tables of the program are borrowed until it ends, the arrays are the
 * caller's: one entry an expression, one a dimension. */
typedef struct pte_exprs {
  const pte_file_expr *exprs;
  const pte_file_dim *dims;
  uint32_t expr_count, dim_count;
  int64_t *values;
  uint8_t *known; /* pte_known of each expression */
  bool *dynamic;  /* depends on a counted dimension */
  bool *used;     /* of interest; pte_exprs_use marks */
  int64_t *dim_values;
  uint8_t *dim_known;
  int64_t *dim_capacity; /* counted dimensions */
  int64_t max_extent;    /* capacity of a counted dimension without an expression */
} pte_exprs;

/* Forgets every dimension. */
void pte_exprs_reset(pte_exprs *exprs);

/* Carries `used` from the expressions that the caller has marked to all that they are computed
 * from, and says which depend on counted dimensions. Once per program: neither depends on sizes. */
void pte_exprs_trace(pte_exprs *exprs);

/* Evaluates all expressions. Counted dimensions are set to their capacities. Sets
 * `*changed` where one is another than it was. */
void pte_exprs_evaluate(pte_exprs *exprs, bool *changed);

/* Evaluates those that depend on counted dimensions again, after one has changed. */
void pte_exprs_refresh(pte_exprs *exprs);

/* Says whether expression `index` is exactly dimension `*out_dim` of that kind. */
bool pte_expr_is_dim(const pte_exprs *exprs, uint32_t index, uint8_t kind, uint32_t *out_dim);

/* The dimension that left expression `index` unbound, or PTE_NONE. */
uint32_t pte_expr_blame(const pte_exprs *exprs, uint32_t index);

#endif

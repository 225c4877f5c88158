/* Weights in panels of 16 rows (docs/format.md draws them), and how many rows of the other operand
 * go together. */
#ifndef PTE_PANELS_H
#define PTE_PANELS_H

#include <stddef.h>

enum {
  PTE_PANEL = 16, /* output columns of a weight panel */
  PTE_STRIP = 6   /* rows of a register tile, and the row stride of a pointer table */
};

static inline size_t pte_panel_count(size_t columns) {
  return columns / PTE_PANEL + (columns % PTE_PANEL != 0);
}

/* Tasks of `worth` products that `count` times `products` of them make: a product of a row may be
 * less than one. */
static inline size_t pte_tasks_worth(size_t products, size_t count, size_t worth) {
  return products / worth * count + products % worth * count / worth;
}

#endif

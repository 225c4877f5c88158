/* Weights in panels of 16 rows (docs/format.md draws them): their size, and packing; and how many
 * rows of the other operand go together. */
#ifndef PTE_PANELS_H
#define PTE_PANELS_H

#include <string.h>

#include "core/kernel.h"

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

/* Writes panel[k][16] from `rows` <= 16 rows of w, whose element [i][j] lies at w + i * row_step +
 * j * step; zeros in the columns of rows that do not exist. */
static inline void pte_panel_pack(size_t rows, size_t k, const float *w, int64_t row_step,
                                  int64_t step, float *panel) {
  for (size_t j = 0; j < k; j++, w += step, panel += PTE_PANEL) {
    if (rows == PTE_PANEL && row_step == 1) memcpy(panel, w, PTE_PANEL * sizeof *panel);
    else
      for (size_t i = 0; i < PTE_PANEL; i++) panel[i] = i < rows ? w[(int64_t)i * row_step] : 0.0f;
  }
}

/* The same, looking at the run's watch: false: the run is to end. */
static inline bool pte_panel_pack_by(pte_pace *pace, size_t rows, size_t k, const float *w,
                                     int64_t row_step, int64_t step, float *panel) {
  for (size_t at = 0, count; at < k; at += count) {
    count = (size_t)pte_pace_take(pace, (int64_t)(k - at), PTE_PANEL, 1);
    if (count == 0) return false;
    pte_panel_pack(rows, count, w + (int64_t)at * step, row_step, step, panel + at * PTE_PANEL);
  }
  return true;
}

#endif

/* Weights in panels of 16 rows (docs/format.md draws them): their size, and packing. */
#ifndef PTE_PANELS_H
#define PTE_PANELS_H

#include <string.h>

#include "core/kernel.h"
#include "kernels/variants.h"

static inline size_t pte_panel_count(size_t columns) {
  return columns / PTE_PANEL + (columns % PTE_PANEL != 0);
}

/* A product of one row: four streams, each a quarter of the panels, so that every one of them is
 * sequential throughout. `run` is for `count` panels at a distance of `stride` floats. */
static inline __attribute__((always_inline)) void
pte_panels_stream(void (*run)(size_t count, size_t k, size_t stride, const float *x,
                              const float *panel, float *y, size_t y_stride),
                  size_t k, size_t panels, const float *x, const float *panel, float *y) {
  size_t quarter = panels / 4, size = k * PTE_PANEL;
  for (size_t p = 0; p < quarter; p++)
    run(4, k, quarter * size, x, panel + p * size, y + p * PTE_PANEL, quarter * PTE_PANEL);
  for (size_t p = quarter * 4; p < panels; p++)
    run(1, k, size, x, panel + p * size, y + p * PTE_PANEL, PTE_PANEL);
}

/* Tasks of `worth` products that `count` times `products` of them make: a product of a row may be
 * less than one. */
static inline size_t pte_tasks_worth(size_t products, size_t count, size_t worth) {
  return products / worth * count + products % worth * count / worth;
}

/* Rows are spread evenly over strips, the first rows % pte_strips(rows) of them having one more: a
 * strip of one to three rows would wait for the latency of the FMA. */
static inline size_t pte_strips(size_t rows) { return (rows + PTE_STRIP - 1) / PTE_STRIP; }

/* A strip of rows and `panels` panels asks for its share of the weights to come, as a burst, which
 * hurts where it is much of them. */
static inline void pte_tile_asks(const pte_tile_f32 *s, size_t strip, size_t panels) {
  if (s->ask == NULL || 4 * s->share > s->taps * s->run + 3) return;
  for (size_t p = 0; p < panels; p++) {
    const float *ask = s->ask + (s->panel[p] - s->panel[0]) + strip * s->share * PTE_PANEL;
    for (size_t k = 0; k < s->share; k++) __builtin_prefetch(ask + k * PTE_PANEL, 0, 2);
  }
}

/* All strips of a tile of one panel; `run` is for `rows` that are a constant, so that the tile
 * lives in registers. */
static inline __attribute__((always_inline)) void
pte_tile_strips(void (*run)(size_t rows, const pte_tile_f32 *s, size_t strip), size_t rows,
                const pte_tile_f32 *s) {
  for (size_t i = 0; i < s->strips; i++) switch (rows) {
    case 1: run(1, s, i); break;
    case 2: run(2, s, i); break;
    case 3: run(3, s, i); break;
    case 4: run(4, s, i); break;
    case 5: run(5, s, i); break;
    default: run(6, s, i); break;
    }
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

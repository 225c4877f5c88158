/* The family of gemm_f32: register tiles of f32, products of few rows, of one. */
#ifndef PTE_GEMM_F32_H
#define PTE_GEMM_F32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm/finish_f32.h"
#include "kernels/panels.h"
#include "kernels/variant.h"

#if PTE_HAVE_AVX512
#define PTE_PARTS true /* a variant has `parts` */
#else
#define PTE_PARTS false
#endif

enum {
  PTE_SPAN = 7,       /* rows of a part of a tile, at most */
  PTE_FEW = 14,       /* rows that read each weight once, at most, */
  PTE_FEW_STORED = 8, /* and of weights that are decoded on the way */
  PTE_ABREAST = 4     /* panels of a register tile, at most */
};

/* Register tiles one below the other: out[rows][16 * panels] (+)= sum over taps t, then i < run, of
 * row[t * PTE_STRIP + m][offset + i] * panel[p][(t * tap_stride + i) * 16 + n], sequential and
 * fused. The next strip's addresses are strip_step behind those of this one, its rows in out and
 * finish follow. */
typedef struct pte_tile_f32 {
  const float *const *row; /* [taps][PTE_STRIP] */
  size_t strips, strip_step;
  size_t taps, tap_stride, offset, run;
  const float *panel[PTE_ABREAST]; /* 64-byte aligned */
  float *out;                      /* 16 columns a panel are read and written; aliases nothing */
  size_t out_stride;
  const float *ask; /* NULL, or weights to come: each strip asks for `share` lines of them */
  size_t share;
  const pte_finish_f32 *finish; /* NULL: the sum goes on */
  unsigned missing;             /* columns of the last panel that do not exist; see `unit` */
  bool first;                   /* the sum starts at +0 and not at the partial sum in out */
} pte_tile_f32;

/* Rows of a tile that lie evenly, in two parts: row m of part i begins at x[i] + m * row_stride and
 * is row row[i] + m of out and finish. The first part has half of the rows, rounded up. */
typedef struct pte_pair_f32 {
  const float *x[2];
  size_t row[2], rows;
} pte_pair_f32;

/* Whether a tile of two panels has time to ask for weights to come. */
static inline bool pte_pair_asks(const pte_pair_f32 *t) { return t->rows >= 4; }

/* Tiles of such rows, the weights of all taps one behind the other. */
typedef struct pte_parts_f32 {
  size_t offset, row_stride, taps, tap_stride, run; /* offset: of the first tap in a row */
  const float *panel[2];                            /* 64-byte aligned */
  const float *ask;       /* of the first panel to come: asked for at first, */
  size_t further, beyond; /* with each step of K so many bytes further; 0: nothing is; and with each
                             tile that asks so many floats */
  float *out;
  size_t out_stride;
  const pte_finish_f32 *finish; /* NULL: the sum goes on */
  unsigned missing;
  bool first;
} pte_parts_f32;

/* Few rows times panels, whole sums. */
typedef struct pte_few_f32 {
  const float *x, *panel; /* rows row_stride apart; panels one behind the other; stored ones NULL */
  size_t rows, row_stride, depth, panels;
  float *out;
  size_t out_stride;
  const pte_finish_f32 *finish;
  unsigned missing; /* columns of the last panel that do not exist */
} pte_few_f32;

typedef struct pte_gemm_f32 {
  /* rows in 1..PTE_STRIP; panels is 1, abreast[rows] or abreast[rows + 1] */
  void (*tile)(size_t rows, size_t panels, const pte_tile_f32 *tile);
  /* `count` tiles of 1..2 * PTE_SPAN rows and one or two panels; knows `missing`. NULL: there is
   * none; builds without PTE_PARTS have none at all. */
  void (*parts)(size_t panels, const pte_parts_f32 *tiles, const pte_pair_f32 *pair, size_t count);
  /* 2 .. PTE_FEW rows times pairs begin .. end of panels: pair i is i and i + panels / 2, the last
   * panel of an odd number a pair of its own; knows `missing`. NULL: as `parts`. */
  void (*few)(const pte_few_f32 *few, size_t begin, size_t end);
  /* y[panels][16] = panels times x[k], whole sums */
  void (*vector)(size_t k, size_t panels, const float *x, const float *panel, float *y);
  uint8_t unit; /* knows a `missing` that is a multiple of this; else a strip goes through copies */
  uint8_t abreast[PTE_STRIP + 1]; /* panels side by side that keep a tile of so many rows busy */
} pte_gemm_f32;

PTE_FAMILY(gemm_f32)

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

#endif

/* FP8 in panels, E4M3 and E5M2: products of few rows that decode it on the way, without one through
 * memory.
 *
 * A code is a sign and a magnitude of seven bits, which are an f32's without the upper bits of its
 * exponent: put in their place they are 2^-120 or 2^-112 of its value, subnormals too, and exact;
 * the scale takes the factor in before the one product that is rounded. That leaves out what no
 * weights of a network have: infinities and NaN, and scales whose product with the factor is none;
 * who finds one has done nothing. Four codes of a row are a word. */
#ifndef PTE_PANEL_FLOATS_H
#define PTE_PANEL_FLOATS_H

#include "kernels/gemm/panel_decode.h"

enum { PTE_FLOATS_SUMS = 8 }; /* rows times panels of a tile, at most */

/* Where a magnitude goes: 16 bits with its byte on top, shifted down, sign and all; on top of a
 * word what is kept of that is 1 / factor of the value. */
typedef struct pte_floats {
  uint32_t down, keep;
  uint8_t limit;    /* the least magnitude that is no number */
  bool many_misses; /* as pte_stored's */
  float factor;
} pte_floats;

pte_floats pte_floats_of(const pte_stored *s);

/* Rows of x by panels side by side. */
typedef struct pte_floats_tile {
  pte_floats f;
  size_t depth, block, scale_bytes; /* elements; the last block may be less */
  const float *x[PTE_FLOATS_SUMS];
  const uint8_t *codes[PTE_FLOATS_SUMS], *scales[PTE_FLOATS_SUMS];
  float sums[PTE_FLOATS_SUMS][PTE_PANEL]; /* [row][panel] */
} pte_floats_tile;

/* A variant's tiles, rows ascending; behind the last one a row of zeros. `run` sets the sums;
 * false: there are weights that it does not take. */
typedef struct pte_floats_way {
  size_t rows, panels;
  bool (*run)(pte_floats_tile *t);
} pte_floats_way;

/* A pte_panels_few by these tiles. */
bool pte_floats_few(const pte_floats_way *ways, const pte_stored *s, size_t panel, size_t count,
                    const pte_few_f32 *few);

#endif

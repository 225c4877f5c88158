/* Tiles of rows by sixteen columns on NEON, where an instruction takes a row's element from a lane:
 * FMLA four k from sixteen bytes of a row, SDOT four quads of k. Whoever includes this names the
 * vectors LANE_VECTOR and the instruction LANE_PRODUCT(i), of lane i, with operands sum, w and x. A
 * tile of six rows has 24 sums, 6 registers of rows and 2 of weights: all there are.
 *
 * Products and reads stand in the order in which a processor in order waits for nothing, which
 * volatile keeps, and in which the compiler needs no copies. Across the products clang would read
 * unless addresses depend on them; GCC does not, and would copy the addresses. */
#ifndef PTE_LANES_NEON_H
#include <arm_neon.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "core/scalar.h"

#ifdef __clang__
#define PTE_BEFORE , "+r"(*at), "+r"(*b)
#else
#define PTE_BEFORE
#endif
#define PTE_LANE(i)                                                                                \
  __asm__ volatile(LANE_PRODUCT(i) : [sum] "+w"(*sum)PTE_BEFORE : [w] "w"(w), [x] "w"(x))

enum {
  LANE_QUADS = 4,              /* registers of weights for a step of K, */
  LANE_FOURS = 4 * LANE_QUADS, /* for four, for which a row has one */
  LANE_ROWS = 6,               /* at most */
  LANE_AHEAD = 3               /* rows that are read among the products of the four steps before */
};

PTE_ALWAYS void lane_add(LANE_VECTOR *sum, LANE_VECTOR w, LANE_VECTOR x, const size_t i,
                         ptrdiff_t *at, const char **b) {
  (void)at, (void)b;
  switch (i) {
  case 0: PTE_LANE(0); break;
  case 1: PTE_LANE(1); break;
  case 2: PTE_LANE(2); break;
  default: PTE_LANE(3); break;
  }
}

PTE_ALWAYS LANE_VECTOR lanes_read(const char *from) {
  LANE_VECTOR x;
  memcpy(&x, from, sizeof x);
  return x;
}

/* Four steps of K `fours` times: rows from a[m] + *at on, weights from *b; both move on. */
PTE_ALWAYS void fours_add(const size_t rows, const size_t fours, const char *const *a,
                          ptrdiff_t *at, const char **b, LANE_VECTOR *sum) {
  LANE_VECTOR x[LANE_ROWS], w = lanes_read(*b);
  const size_t first = rows < LANE_AHEAD ? rows : LANE_AHEAD;
#pragma GCC unroll 3
  for (size_t m = 0; m < first; m++) x[m] = lanes_read(a[m] + *at);
#pragma GCC unroll 32
  for (size_t i = 0; i < fours * LANE_FOURS; i++) {
    const size_t step = i % LANE_FOURS;
    const bool ends = i + 1 == fours * LANE_FOURS, turns = step + 1 == LANE_FOURS && !ends;
    const size_t early = step == 0 && rows > LANE_AHEAD ? LANE_AHEAD - 1 : 0;
    LANE_VECTOR *to = sum + i % LANE_QUADS, next = w;
    if (turns) *at += (ptrdiff_t)sizeof *x;
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++, to += LANE_QUADS) {
      const size_t read = step == 0 ? m + LANE_AHEAD : turns && m < LANE_AHEAD ? m : rows;
      lane_add(to, w, x[m], step / LANE_QUADS, at, b);
      if (read < rows) x[read] = lanes_read(a[read] + *at);
      if (m == early && !ends) next = lanes_read(*b + (i + 1) * sizeof next);
    }
    w = next;
  }
  *at += (ptrdiff_t)sizeof *x, *b += fours * LANE_FOURS * sizeof w;
}

/* One step. */
PTE_ALWAYS void one_add(const size_t rows, const char *const *a, ptrdiff_t at, const char *b,
                        LANE_VECTOR *sum) {
  float x[LANE_ROWS]; /* four bytes, on their way to lane 0 */
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) memcpy(x + m, a[m] + at, sizeof *x);
#pragma GCC unroll 4
  for (size_t q = 0; q < LANE_QUADS; q++) {
    const LANE_VECTOR w = lanes_read(b + q * sizeof w);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) {
      LANE_VECTOR *to = sum + m * LANE_QUADS + q;
      __asm__(LANE_PRODUCT(0) : [sum] "+w"(*to) : [w] "w"(w), [x] "w"(x[m]));
    }
  }
}

/* sum[m][q] += `steps` steps of K of row m, from a[m] on, times the weights from `b` on, 64 bytes a
 * step. `rows` is a constant in each caller, so that the tile lives in registers. The rows' ends
 * are what is counted from, so that one number says how far it is and where. */
PTE_ALWAYS void lanes_add(const size_t rows, size_t steps, const char *const *a, const char *b,
                          LANE_VECTOR *sum) {
  const size_t rest = steps % 4, bytes = (steps - rest) * 4;
  const char *end[LANE_ROWS];
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) end[m] = a[m] + bytes;
  ptrdiff_t at = -(ptrdiff_t)bytes;
  if (bytes % 32 != 0) fours_add(rows, 1, end, &at, &b, sum);
  while (at != 0) fours_add(rows, 2, end, &at, &b, sum);
  for (size_t left = rest; left > 0; left--, at += 4, b += LANE_QUADS * sizeof *sum)
    one_add(rows, end, at, b, sum);
}

#endif

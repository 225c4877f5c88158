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
  LANE_MOVES = LANE_FOURS - 4, /* the one of four that moves on */
  LANE_ROWS = 6                /* at most */
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

/* A register of weights of four steps times all rows. The last reads the next four's, `more`: rows
 * from a[m] + *at on, weights from *b. */
PTE_ALWAYS void lane_step(const size_t rows, const size_t i, const bool more, const char *const *a,
                          ptrdiff_t *at, const char **b, LANE_VECTOR *x, LANE_VECTOR *w,
                          LANE_VECTOR *sum) {
  const bool last = i + 1 == LANE_FOURS, reads = last && more;
  LANE_VECTOR next = *w;
  const ptrdiff_t after = (ptrdiff_t)i + 1 - (i > LANE_MOVES ? LANE_FOURS : 0);
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) {
    lane_add(sum + m * LANE_QUADS + i % LANE_QUADS, *w, x[m], i / LANE_QUADS, at, b);
    if (m == 0 && (more || !last)) next = lanes_read(*b + after * (ptrdiff_t)sizeof next);
    if (i == LANE_MOVES &&
        m == (rows > 2 ? 2 : rows - 1)) { /* long before anything is read there */
      *at += (ptrdiff_t)sizeof next, *b += LANE_FOURS * sizeof next;
      __asm__("" : "+r"(*at)); /* one number, which GCC would make two of */
    }
    if (reads && m % 2 == 0 && m > 0) { /* two together, for a Cortex-A510 */
      x[m - 2] = lanes_read(a[m - 2] + *at), x[m - 1] = lanes_read(a[m - 1] + *at);
    }
  }
#pragma GCC unroll 2
  for (size_t m = (rows - 1) / 2 * 2; reads && m < rows; m++) x[m] = lanes_read(a[m] + *at);
  *w = next;
}

/* All of four steps but the first register of weights. */
PTE_ALWAYS void lane_steps(const size_t rows, const bool more, const char *const *a, ptrdiff_t *at,
                           const char **b, LANE_VECTOR *x, LANE_VECTOR *w, LANE_VECTOR *sum) {
#pragma GCC unroll 16
  for (size_t i = 1; i < LANE_FOURS; i++) lane_step(rows, i, more, a, at, b, x, w, sum);
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
  const size_t fours = steps / 4;
  const ptrdiff_t four = sizeof *sum;
  const char *last[LANE_ROWS];
  ptrdiff_t at = fours > 0 ? four - (ptrdiff_t)fours * four : 0;
#pragma GCC unroll 6
  for (size_t m = 0; m < rows; m++) last[m] = a[m] - at;
  if (fours > 0) {
    LANE_VECTOR x[LANE_ROWS], w = lanes_read(b);
#pragma GCC unroll 6
    for (size_t m = 0; m < rows; m++) x[m] = lanes_read(a[m]);
    lane_step(rows, 0, true, last, &at, &b, x, &w, sum);
    while (at != 0) {
      lane_steps(rows, true, last, &at, &b, x, &w, sum);
      lane_step(rows, 0, true, last, &at, &b, x, &w, sum);
    }
    lane_steps(rows, false, last, &at, &b, x, &w, sum);
  }
  for (size_t left = steps % 4; left > 0; left--, at += 4, b += LANE_QUADS * sizeof *sum)
    one_add(rows, last, at, b, sum);
}

#endif

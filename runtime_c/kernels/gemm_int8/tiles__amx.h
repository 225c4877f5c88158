/* Registers of AMX as products of bytes use them: 0 .. 3 hold sums, 4 and 5 rows of x, 6 and 7
 * quads of a panel as they lie. */
#ifndef PTE_TILES_AMX_H
#define PTE_TILES_AMX_H

#include <immintrin.h>

#include "core/scalar.h"

enum { EDGE = 16, STEP = 4 * EDGE }; /* rows of a register, and bytes of each */

/* GCC's intrinsics do not say that they read memory. */
#define SEEN __asm__ volatile("" ::: "memory")

/* For `rows` of x, of so many bytes each. */
PTE_ALWAYS void tiles_shape(size_t rows, size_t bytes) {
  struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  } s = {.palette = 1};
  for (unsigned i = 0; i < 8; i++) {
    s.row_bytes[i] = i == 4 || i == 5 ? (uint16_t)bytes : STEP;
    s.rows[i] = (uint8_t)(i < 6 ? rows : bytes / 4);
  }
  SEEN;
  _tile_loadconfig(&s);
}

#endif

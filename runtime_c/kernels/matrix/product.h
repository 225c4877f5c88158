/* Small matrix products in register tiles: sums run along K by fused multiply-add, lanes across
 * columns, so every target gives the same bits (docs/numerics.md). */
#ifndef PTE_PRODUCT_H
#define PTE_PRODUCT_H

#include "core/lanes.h"

/* out[rows][columns] (+)= a[rows][k] b[k][columns]; columns in blocks of 16, block p of b starts at
 * b + p * b_block and its row i at i * b_row more. `first`: the sum starts at +0, else at what is
 * in out. Nothing aliases out. */
typedef struct pte_product {
  const float *a, *b;
  float *out;
  int64_t k, a_row, b_row, b_block, out_row;
  bool first;
} pte_product;

/* One register tile; `rows` and `blocks` are constants in each caller. */
PTE_ALWAYS void pte_product_tile(int rows, int blocks, const pte_product *p) {
  pte_lanes sum[PTE_LANE_SUMS];
#pragma GCC unroll 24
  for (int i = 0; i < rows * blocks; i++)
    sum[i] = p->first
                 ? pte_lanes_zero()
                 : pte_lanes_load(p->out + i / blocks * p->out_row + i % blocks * PTE_LANE_COUNT);
  for (int64_t k = 0; k < p->k; k++) {
#pragma GCC unroll 6
    for (int block = 0; block < blocks; block++) {
      pte_lanes b = pte_lanes_load(p->b + block * p->b_block + k * p->b_row);
#pragma GCC unroll 6
      for (int row = 0; row < rows; row++) {
        int i = row * blocks + block;
        sum[i] = pte_lanes_fma(p->a + row * p->a_row + k, b, sum[i]);
      }
    }
  }
#pragma GCC unroll 24
  for (int i = 0; i < rows * blocks; i++)
    pte_lanes_store(p->out + i / blocks * p->out_row + i % blocks * PTE_LANE_COUNT, sum[i]);
}

/* Blocks side by side, so that enough sums are under way and their registers suffice. */
#if PTE_LANE_SUMS >= 24
#define PTE_PRODUCT_WIDE(rows) 4
#else
#define PTE_PRODUCT_WIDE(rows) ((rows) == 1 ? 4 : (rows) <= 3 ? 2 : 1)
#endif

PTE_ALWAYS void pte_product_rows(int rows, int wide, int64_t blocks, pte_product p) {
  for (; blocks >= wide; blocks -= wide, p.b += wide * p.b_block, p.out += wide * PTE_LANE_COUNT)
    pte_product_tile(rows, wide, &p);
  if (wide == 4 && blocks >= 2) { /* one alone has too few chains to keep the units busy */
    pte_product_tile(rows, 2, &p);
    blocks -= 2, p.b += 2 * p.b_block, p.out += 2 * PTE_LANE_COUNT;
  }
  for (; blocks > 0; blocks--, p.b += p.b_block, p.out += PTE_LANE_COUNT)
    pte_product_tile(rows, 1, &p);
}

/* `rows` in 1 .. 6, `blocks` of 16 columns. */
static inline void pte_product_strip(int64_t rows, int64_t blocks, pte_product p) {
#if PTE_LANE_SUMS == 1
  for (int64_t row = 0; row < rows; row++, p.a += p.a_row, p.out += p.out_row)
    pte_product_rows(1, 1, blocks, p);
#else
  switch (rows) {
  case 1: pte_product_rows(1, PTE_PRODUCT_WIDE(1), blocks, p); break;
  case 2: pte_product_rows(2, PTE_PRODUCT_WIDE(2), blocks, p); break;
  case 3: pte_product_rows(3, PTE_PRODUCT_WIDE(3), blocks, p); break;
  case 4: pte_product_rows(4, PTE_PRODUCT_WIDE(4), blocks, p); break;
  case 5: pte_product_rows(5, PTE_PRODUCT_WIDE(5), blocks, p); break;
  default: pte_product_rows(6, PTE_PRODUCT_WIDE(6), blocks, p); break;
  }
#endif
}

#endif

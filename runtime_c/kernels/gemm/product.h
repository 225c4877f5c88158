/* Small matrix products in register tiles: sums run along K by fused multiply-add, lanes across
 * columns, so every target gives the same bits (docs/numerics.md). */
#ifndef PTE_PRODUCT_H
#define PTE_PRODUCT_H

#include "core/lanes_rows.h"
#include "kernels/prefetch.h"

/* out[rows][columns] (+)= a[rows][k] b[k][columns]; columns in blocks of 16, block p of b starts at
 * b + p * b_block and its row i at i * b_row more, all in elements. `first`: the sum starts at +0,
 * else at what is in out. Nothing aliases out. */
typedef struct pte_product {
  const float *a, *b;
  float *out;
  int64_t k, a_row, b_row, b_block, out_row;
  bool first;
  const int64_t *ends; /* of pte_product_steps: row i is done before its k is ends[i], k or more */
  int64_t last;        /* the most of them */
  const void *codes;   /* what pte_product_narrow reads in place of b, */
  int64_t bytes;       /* an element has 1, int8, or 2, halves */
} pte_product;

/* One register tile; `rows`, `blocks` and `steps`, rows of different k, are constants in each
 * caller. Three rows of `a` have an address of their own and two steps: registers for more there
 * are not. */
PTE_ALWAYS void pte_product_tile(int rows, int blocks, bool steps, const pte_product *p) {
  pte_lanes sum[PTE_LANE_SUMS];
  float *out = p->out;
#pragma GCC unroll 12
  for (int row = 0; row < rows; row++, out += p->out_row) {
#pragma GCC unroll 4
    for (int block = 0; block < blocks; block++)
      sum[row * blocks + block] =
          steps || p->first ? pte_lanes_zero() : pte_lanes_load(out + block * PTE_LANE_COUNT);
  }
  const float *a[4] = {p->a, p->a + 3 * p->a_row, p->a + 6 * p->a_row, p->a + 9 * p->a_row};
  const float *b = p->b;
  for (int64_t k = 0; k < p->k; k++, b += p->b_row) {
#if PTE_LANE_SUMS >= 24
    pte_lanes at[4];
#pragma GCC unroll 4
    for (int block = 0; block < blocks; block++) at[block] = pte_lanes_load(b + block * p->b_block);
#pragma GCC unroll 12
    for (int row = 0; row < rows; row++) {
      pte_lanes x = pte_lanes_all(a[row / 3][row % 3 * p->a_row + k]);
#pragma GCC unroll 4
      for (int block = 0; block < blocks; block++)
        sum[row * blocks + block] = pte_lanes_fused(x, at[block], sum[row * blocks + block]);
    }
#else
#pragma GCC unroll 4
    for (int block = 0; block < blocks; block++) {
      pte_lanes at = pte_lanes_load(b + block * p->b_block);
#pragma GCC unroll 12
      for (int row = 0; row < rows; row++)
        sum[row * blocks + block] =
            pte_lanes_fma(a[row / 3] + row % 3 * p->a_row + k, at, sum[row * blocks + block]);
    }
#endif
  }
  for (int64_t k = p->k; steps && k < p->last; k++, b += p->b_row) {
#pragma GCC unroll 12
    for (int row = 0; row < rows; row++) {
      if (k >= p->ends[row]) continue;
#pragma GCC unroll 4
      for (int block = 0; block < blocks; block++)
        sum[row * blocks + block] =
            pte_lanes_fma(a[row / 3] + row % 3 * p->a_row + k,
                          pte_lanes_load(b + block * p->b_block), sum[row * blocks + block]);
    }
  }
  out = p->out;
#pragma GCC unroll 12
  for (int row = 0; row < rows; row++, out += p->out_row) {
#pragma GCC unroll 4
    for (int block = 0; block < blocks; block++)
      pte_lanes_store(out + block * PTE_LANE_COUNT, sum[row * blocks + block]);
  }
}

/* The tiles that a target has registers for: rows and blocks. Each a function, whose registers are
 * its own. */
#if PTE_LANE_SUMS >= 24
#define PTE_PRODUCT_TILES(X)                                                                       \
  X(1, 1)                                                                                          \
  X(1, 2)                                                                                          \
  X(1, 4)                                                                                          \
  X(2, 1)                                                                                          \
  X(2, 2)                                                                                          \
  X(2, 4) X(3, 1) X(3, 2) X(3, 4) X(4, 1) X(4, 2) X(4, 4) X(6, 1) X(6, 2) X(6, 4) X(12, 1) X(12, 2)
#define PTE_PRODUCT_WIDE(rows) 4
#elif PTE_LANE_SUMS > 1
#define PTE_PRODUCT_TILES(X)                                                                       \
  X(1, 1) X(1, 2) X(1, 4) X(2, 1) X(2, 2) X(3, 1) X(3, 2) X(4, 1) X(5, 1) X(6, 1)
#define PTE_PRODUCT_WIDE(rows) ((rows) == 1 ? 4 : (rows) <= 3 ? 2 : 1)
#else
#define PTE_PRODUCT_TILES(X)   X(1, 1)
#define PTE_PRODUCT_WIDE(rows) 1
#endif

#define PTE_PRODUCT_FUNCTION(rows, blocks)                                                         \
  __attribute__((noinline)) static void pte_product_##rows##_##blocks(const pte_product *p) {      \
    pte_product_tile(rows, blocks, false, p);                                                      \
  }
PTE_PRODUCT_TILES(PTE_PRODUCT_FUNCTION)
#undef PTE_PRODUCT_FUNCTION

/* Six rows that end one after the other, and so many blocks; from +0. */
enum { PTE_PRODUCT_STEPPED = PTE_LANE_SUMS >= 24 ? 4 : PTE_LANE_SUMS > 1 ? 1 : 0 };
#if PTE_LANE_SUMS > 1
__attribute__((noinline)) static void pte_product_steps(const pte_product *p) {
  pte_product_tile(6, PTE_PRODUCT_STEPPED, true, p);
}
#else
#define pte_product_steps(p)
#endif

/* Codes are widened on the way to the product: other units do that than those that multiply, and a
 * tile of sums waits for neither. Four blocks of 16 columns. What follows of b is
 * prefetched: the keys and values of a context lie in far memory. */
#if defined(__AVX512F__)
#define PTE_PRODUCT_NARROW 1
PTE_ALWAYS void pte_product_narrow_tile(int rows, const pte_product *p) {
  enum { BLOCKS = 4, LINE = 64 };
  pte_lanes sum[4 * BLOCKS], at[BLOCKS];
#pragma GCC unroll 16
  for (int i = 0; i < rows * BLOCKS; i++)
    sum[i] = p->first
                 ? pte_lanes_zero()
                 : pte_lanes_load(p->out + i / BLOCKS * p->out_row + i % BLOCKS * PTE_LANE_COUNT);
  const int64_t row = p->b_row * p->bytes, block = p->b_block * p->bytes;
  const int64_t step = row < LINE * p->bytes ? LINE * p->bytes : row;
  const char *b = p->codes, *ahead = b + PTE_PREFETCH_NARROW;
  const float *a = p->a, *a_2 = a + 2 * p->a_row;
  for (int64_t k = 0; k < p->k; k++, b += row, ahead += step) {
    __builtin_prefetch(ahead, 0, 1);
    if (p->bytes == 1) {
#pragma GCC unroll 4
      for (int i = 0; i < BLOCKS; i++)
        at[i].all = _mm512_cvtepi32_ps(
            _mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)(b + i * block))));
    } else {
      __builtin_prefetch(ahead + LINE, 0, 1);
#pragma GCC unroll 4
      for (int i = 0; i < BLOCKS; i++)
        at[i].all = _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(b + i * block)));
    }
#pragma GCC unroll 16
    for (int i = 0; i < rows * BLOCKS; i++) {
      const float *from = i / BLOCKS < 2 ? a : a_2;
      sum[i] = pte_lanes_fma(from + i / BLOCKS % 2 * p->a_row + k, at[i % BLOCKS], sum[i]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < rows * BLOCKS; i++)
    pte_lanes_store(p->out + i / BLOCKS * p->out_row + i % BLOCKS * PTE_LANE_COUNT, sum[i]);
}
#define PTE_PRODUCT_FUNCTION(rows)                                                                 \
  __attribute__((noinline)) static void pte_product_narrow_##rows(const pte_product *p) {          \
    pte_product_narrow_tile(rows, p);                                                              \
  }
PTE_PRODUCT_FUNCTION(1)
PTE_PRODUCT_FUNCTION(2)
PTE_PRODUCT_FUNCTION(4)
#undef PTE_PRODUCT_FUNCTION

/* Any number of rows, `blocks` of 16 columns, a multiple of four. */
static void pte_product_narrow(int64_t rows, int64_t blocks, pte_product *p) {
  const char *b = p->codes;
  float *out = p->out;
  for (int64_t now; rows > 0; rows -= now, p->a += now * p->a_row, out += now * p->out_row) {
    now = rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
    p->out = out;
    for (int64_t i = 0; i < blocks; i += 4, p->out += 4 * PTE_LANE_COUNT) {
      p->codes = b + i * p->b_block * p->bytes;
      if (now == 4) pte_product_narrow_4(p);
      else if (now == 2) pte_product_narrow_2(p);
      else pte_product_narrow_1(p);
    }
  }
}
#else
#define PTE_PRODUCT_NARROW 0
#define pte_product_narrow(rows, blocks, p)
#endif

/* Any number of rows, best twelve, `blocks` of 16 columns. One block alone has too few chains to
 * keep the units busy, and so have two of six rows. `p` moves on as it is used: a copy would wait
 * for its parts to be written. */
static void pte_product_strip(int64_t rows, int64_t blocks, pte_product *p) {
  const float *b = p->b;
  float *out = p->out;
  for (int64_t now; rows > 0; rows -= now, p->a += now * p->a_row, out += now * p->out_row) {
    now = PTE_LANE_SUMS >= 24 && rows >= 12 && blocks < 4 ? 12 : PTE_LANE_SUMS > 1 ? 6 : 1;
    if (rows <= now) now = rows;
    else if (now == 6 && rows < 12) now = (rows + 1) / 2; /* 4 and 4, not 6 and 2 */
    if (now == 5 && PTE_LANE_SUMS >= 24) now = 3;         /* and 2: chains enough */
    int64_t wide = PTE_PRODUCT_WIDE(now);
    p->b = b, p->out = out;
    for (int64_t left = blocks; left > 0; left -= wide) {
      while (wide > left) wide /= 2;
      switch (now * 8 + wide) {
#define PTE_PRODUCT_CASE(rows, blocks)                                                             \
  case (rows) * 8 + (blocks): pte_product_##rows##_##blocks(p); break;
        PTE_PRODUCT_TILES(PTE_PRODUCT_CASE)
#undef PTE_PRODUCT_CASE
      }
      p->b += wide * p->b_block, p->out += wide * PTE_LANE_COUNT;
    }
  }
}

#endif

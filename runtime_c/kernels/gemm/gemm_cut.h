/* How products of f32 are cut for a machine: what kernels/blocks.h says of them, kept in the plan,
 * so that a run computes none of it. */
#ifndef PTE_GEMM_CUT_H
#define PTE_GEMM_CUT_H

#include "kernels/blocks.h"

enum { PTE_GEMM_BLOCKS = PTE_BLOCK_GEMM_PANELS + 1 }; /* the first rows there */

typedef struct pte_gemm_cut {
#ifdef PTE_SMALL_BUFFERS
  char none; /* all is constant */
#else
  uint32_t way; /* pte_machine_way */
  uint16_t blocks[PTE_GEMM_BLOCKS];
#endif
  uint8_t span; /* rows of a part of a tile, at most, where they meet in one set of L1 */
} pte_gemm_cut;

pte_gemm_cut pte_gemm_cut_of(const pte_machine *machine);

static inline size_t pte_gemm_block(const pte_gemm_cut *cut, pte_block block) {
#ifdef PTE_SMALL_BUFFERS
  (void)cut;
  return pte_block_of(NULL, block);
#else
  return cut->blocks[block];
#endif
}

/* pte_machine_way, and whether rows so many floats apart meet in a set. */
static inline size_t pte_gemm_way(const pte_gemm_cut *cut) {
#ifdef PTE_SMALL_BUFFERS
  (void)cut;
  return PTE_USUAL_WAY;
#else
  return cut->way;
#endif
}
static inline bool pte_gemm_same_set(const pte_gemm_cut *cut, size_t floats) {
  return floats * sizeof(float) % pte_gemm_way(cut) == 0;
}

/* Floats from one set to another that is far from it: half a way, or less where one is long. */
static inline int64_t pte_gemm_other_set(const pte_gemm_cut *cut) {
  const size_t way = pte_gemm_way(cut);
  return (int64_t)((way < PTE_USUAL_WAY ? way : PTE_USUAL_WAY) / 2 / sizeof(float));
}

#endif
